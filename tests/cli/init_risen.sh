# A training that begins with a good model may end a little above it: it is
# saved, and that is said.  What lost all that the model knew has diverged.
train() { "$MUSTER" train "$@" -q; echo "exit $?"; }
shown() { sed -n 's/^\(objective\|ended\|saved\|exit\|     \).*/&/p'; }
digits="gen:digits:400 --init good.safetensors --passes 1"
"$MUSTER" train gen:digits:400 -q --net "dense16 relu dense10" --passes 30 good.safetensors >/dev/null
echo "--- a network"
train $digits --lr .02 risen.safetensors | shown
train $digits --lr .02 -n 2 risen.safetensors | shown
train $digits --lr .02 --format json risen.safetensors | grep '"warning"'
train $digits --lr 3 lost.safetensors 2>&1 | shown
train $digits --lr 3 -n 2 lost.safetensors 2>&1 | shown
echo "--- linear, over batches and over all rows"
"$MUSTER" train gen:gmm:300,4 -q good.txt >/dev/null
train gen:gmm:300,4 --init good.txt --optim gd --batch 50 --steps 1 --lr 2 risen.txt | shown
train gen:gmm:300,4 --init good.txt --optim gd --batch 50 --steps 1 --lr 20 lost.txt 2>&1 | shown
train gen:gmm:200,4 --init good.txt --optim gd --steps 2 --lr 3 risen.txt | shown
train gen:gmm:200,4 --init good.txt --optim gd --steps 3 --lr 400 lost.txt 2>&1 | shown
ls *.safetensors *.txt | grep -v card
