# How many passes a network makes by itself, and what is said of one whose loss
# was still falling when they were over, rows held out or not.
said() { "$MUSTER" train "$@" --max-time 0.01 2>&1 >/dev/null | grep -o '[0-9]* passes.*'; }
awk 'BEGIN { print "a,b,y"; for (i = 0; i < 3000; i++) {
    a = i * 37 % 101 / 10; b = i * 53 % 103 / 10
    print a "," b "," (int(a / 2) + int(b / 2)) % 3 } }' >t.csv
head -n 201 t.csv >small.csv
echo "--- by the work of a pass, 10 to 200, and 1000 steps"
said t.csv --net "dense8 relu dense3"
said t.csv --net "dense8 relu dense3" --passes 7
said small.csv --net "dense8 relu dense3"
said small.csv --net "dense8 relu dense3" --batch 1
said gen:digits:1000 --batch 4 --net "conv5x5x64 relu conv5x5x128 relu dense10"
echo "--- --patience alone ends a run, not the passes of who says nothing"
said t.csv --net "dense8 relu dense3" --batch 3000 --patience 1
said gen:digits:1000 --batch 4 --net "conv5x5x64 relu conv5x5x128 relu dense10" --patience 1
said t.csv --model softmax --batch 64 --patience 2
echo "--- still falling"
for more in "" "--test small.csv" "--valid 0.2"; do
    "$MUSTER" train t.csv --net "dense32 relu dense3" --passes 10 $more -q | grep -A1 '^ended'
done
"$MUSTER" train t.csv --net "dense32 relu dense3" --passes 10 -n 2 -q | grep -A1 '^ended'
"$MUSTER" train t.csv --net "dense32 relu dense3" --passes 10 -q --format json | grep -o '"unfinished": [a-z]*'
echo "--- a grid that tried other passes knows better, one that did not does not"
for axis in passes=5,10 "batch=128,200 passes=10" lr=.001,.002; do
    "$MUSTER" train t.csv m --net "dense32 relu dense3" --passes 10 --grid "$axis" --valid 0.2 -q | grep -c 'still falling'
done
echo "--- and not"
awk 'BEGIN { print "a,y"; for (i = 0; i < 300; i++) print i % 2 * 10 + i % 7 / 10 "," i % 2 }' >easy.csv
"$MUSTER" train easy.csv --net "dense8 relu dense2" --passes 1000 --test easy.csv -q | grep -A1 '^ended'
"$MUSTER" train easy.csv --net "dense8 relu dense2" --passes 1000 -q --format json | grep -o '"unfinished": [a-z]*'
echo "--- nor where rows held out gain no more: they are learnt by heart"
awk 'BEGIN { r = 11; print "a,b,c,d,e,f,g,h,i,j,k,l,y"; for (i = 0; i < 120; i++) {
    for (j = 0; j < 12; j++) { r = r * 16807 % 2147483647; printf "%s,", r % 1000 / 100 }
    r = r * 16807 % 2147483647; print int(r / 1000) % 2 } }' >noise.csv
"$MUSTER" train noise.csv --net "dense64 relu dense2" --passes 300 --valid .3 -q | grep -A2 '^ended'
"$MUSTER" train noise.csv --net "dense64 relu dense2" --passes 300 --valid .3 -q -n 2 | grep -A2 '^ended'
"$MUSTER" train noise.csv --net "dense64 relu dense2" --passes 300 --valid .3 -q --format json | grep -o '"unfinished": [a-z]*\|"warning": .*'
"$MUSTER" train noise.csv --net "dense64 relu dense2" --passes 300 --valid .3 --patience 300 -q | grep -A1 '^ended'
