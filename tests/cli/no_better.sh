# Of a model that is no better than a constant that is said, with what to try; of
# one that has learnt something it is not.
field() { python3 -c 'import json, sys; print(json.load(sys.stdin)["beats_constant"])'; }
said() { "$MUSTER" train "$@" -q 2>&1 | grep "no better" || echo "nothing said"; }
seq 200 | awk '{ x = ($1 * 37 % 101) / 101; printf "%.4f,%.4f\n", x, 7 + 3 * x * x }' >numbers.csv
echo "--- numbers"
said numbers.csv --net "dense4 relu dense1" --model linear --lr 1 --seed 1
said numbers.csv --net "dense4 relu dense1" --model linear
"$MUSTER" train numbers.csv --net "dense4 relu dense1" --model linear -q --format json | field
echo "--- classes: what counts is neither the loss alone nor the share alone"
seq 300 | awk '{ x = ($1 * 37 % 101) / 101; print x "," (x > 0.9 ? "rare" : "often") }' >rare.csv
said rare.csv --net "dense4 tanh dense2" --optim gd --lr 1e-9 --steps 3 --clip 1
"$MUSTER" train rare.csv --net "dense4 tanh dense2" --optim gd --lr 1e-9 --steps 3 -q --format json | field
said rare.csv --net "dense4 tanh dense2"
said rare.csv --net "dense4 tanh dense2" --steps 40 --lr 0.01
said rare.csv --net "dense4 tanh dense2" --class-weight balanced
echo "--- linear models, if their steps were over too soon"
seq 200 | awk '{ x = ($1 * 37 % 101) / 101; printf "%.4f,%.1f\n", x, 5e6 + 2e5 * x }' >far.csv
said far.csv --batch 64 --optim adam --passes 20 --scale standard
"$MUSTER" train far.csv --batch 64 --optim adam --passes 20 --scale standard -q | grep ended
"$MUSTER" train far.csv --batch 64 --optim adam --passes 20 --scale standard -q --format json | field
said far.csv --batch 64 --optim adam --passes 20 --scale standard --lr 1e5
said far.csv --batch 64 --passes 20 --scale standard
said far.csv --optim gd --lr 1e-3 --steps 5 --scale standard
said far.csv --optim adam --steps 50 -v 2
for model in logistic svm hinge softmax; do
    said rare.csv --model $model --optim gd --lr 1e-9 --steps 3 --l2 .01
    said rare.csv --model $model --batch 32 --lr .5
done
echo "--- rows that are nobody's to look at, and linear models that converged, are not judged"
"$MUSTER" train rare.csv -q --format json | python3 -c 'import json, sys; print("beats_constant" in json.load(sys.stdin))'
echo "--- a hair above the start is no better, but has not diverged"
seq 30 | awk '{ print ($1 * 37 % 101) / 1e30 "," $1 % 3 }' >tiny.csv
said tiny.csv --net dense3 --scale none --batch 8 --steps 2
echo "--- who says one class of every row is told so, converged or not"
seq 300 | awk 'BEGIN { print "a,b,y" } { print $1 * 37 % 101 / 101 "," $1 * 53 % 97 / 97 "," ($1 % 100 == 50 ? "yes" : "no") }' >three.csv
for model in logistic svm softmax; do
    said three.csv --model $model
done
sed 's/yes/a/; s/no/z/' three.csv >last.csv
said last.csv
said three.csv --class-weight balanced
said three.csv --class-weight no=1,yes=2
awk -F, -v OFS=, 'NR % 50 == 7 { $3 = "perhaps" } 1' three.csv >more.csv
said more.csv
"$MUSTER" train three.csv -q --format json --scale standard | python3 -c 'import json, sys; print(json.load(sys.stdin).get("warning"))'
echo "--- but not who finds a third of three classes that are equally frequent, each in part"
seq 0 59 | awk 'BEGIN { print "a,b,y" } { print $1 "," $1 % 7 "," $1 % 3 }' >even.csv
"$MUSTER" train even.csv -q | grep 'no better\|^train'
