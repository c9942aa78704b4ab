# Early stopping: rows held out end a run at the end of a pass, and the model is
# that of the best one; one hash for threads, workers, deaths at the ends of
# passes, resumes and the simulator (tests/net/early.py has more of them).
echo "dense16 relu dense10" >layers
linear="gen:gmm:500,60 --batch 32 --lr 1 --l2 0"
net="gen:digits:600 --net layers --lr 0.02"
hash() { "$MUSTER" train $data --schedule constant --patience 2 -q --format json "$@" 2>errors | sed -n 's/.*"hash": "\(.\{12\}\).*/\1/p'; cat errors >&2; }
for data in "$linear" "$net"
do
    "$MUSTER" train $data --schedule constant --patience 2 --passes 40 -q 2>/dev/null | sed -n 's/^model *\(.\{12\}\).*/\1/w one
/^ended/p; /^held/p'
    one=$(cat one)
    for more in "--threads 2" "-n 2" "-n 5" "-n 4 --code frc" "-n 2 --chaos kill:coordinator@15,kill:w0@14"
    do
        test "$(hash --passes 40 $more)" = "$one" || echo "$more: another hash"
    done
    simulated=$("$MUSTER" simulate $data --schedule constant --patience 2 --passes 40 -n 4 2>/dev/null | sed -n 's/^model *\(.\{12\}\).*/\1/p')
    test "$simulated" = "$one" || echo "simulated to another hash"
    # In mid-pass, and on.
    hash --steps 17 -n 2 --out run >/dev/null
    test "$(hash --passes 40 -n 3 --out run --resume)" = "$one" || echo "resumed to another hash"
    "$MUSTER" train $data --schedule constant --patience 3 --passes 40 -q -n 2 --out run --resume 2>&1 | cut -d: -f2-
    rm -r run
done
# Held out and only looked at: the model is the last one.
data="$linear --schedule constant --passes 6"
"$MUSTER" train $data --valid 0.1 -q 2>/dev/null | grep ^held
# A last pass that is cut short is not measured; what was is known after a resume.
data="$linear --schedule constant"
"$MUSTER" train $data --valid 0.1 --steps 20 -q 2>/dev/null | grep ^held
"$MUSTER" train $data --valid 0.1 --steps 20 -q --format json 2>/dev/null | grep -o '"\(held_out\|best\)_step": [0-9]*'
"$MUSTER" train $data --valid 0.1 --steps 20 --patience 9 -q --format json 2>/dev/null | grep -o '"\(held_out\|best\)_step": [0-9]*'
"$MUSTER" train $data --valid 0.1 --steps 16 -n 2 --out run -q >/dev/null 2>&1
"$MUSTER" train $data --valid 0.1 --steps 20 -n 2 --out run --resume -q 2>/dev/null | grep ^held
rm -r run
# sgd has no passes that end with a look at them.
"$MUSTER" train gen:gmm:400,3 --optim sgd --steps 3 -q | grep ^held
# No pass has a finite loss: nobody knows which weights are good.
awk 'BEGIN { for (i = 0; i < 40; i++) print i % 7 "," i % 5 "," i % 7 / 10 }' >rows.csv
echo "1,2,1e200" >huge.csv
"$MUSTER" train rows.csv --net "dense4 relu dense1" --model linear --batch 10 --passes 50 --patience 3 --valid huge.csv --save saved -q >said 2>errors
echo "exit $?, $(grep ^ended said), $(tail -n 1 errors)"
test ! -e saved || echo "a model was written"
try() { "$MUSTER" train gen:gmm:500,60 --patience 2 "$@" 2>&1 >/dev/null | tail -n 1; }
try
try --optim sgd
try --optim gd --tol 0.1
try --batch 32 -v 3
try --batch 32 --grid "lr=0.1,1"
try -n 2 --code local:h=2 --optim gd
try --batch 32 --patience 0
"$MUSTER" train --owners 2 --patience 2 --optim gd --lr 1 2>&1 | tail -n 1
"$MUSTER" simulate gen:gmm:500,60 --patience 2 --no-compute 2>&1 | tail -n 1
