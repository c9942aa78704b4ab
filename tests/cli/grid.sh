# All combinations, the best first; FILE is the best, trained on all rows.
"$MUSTER" train gen:gmm:400,5 --grid "c=0.001,0.1,10 optim=lbfgs,agd" \
    --metric logloss -v 3
"$MUSTER" train gen:gmm:400,5 m --grid "model=svm,logistic l2=0.1,0.001" \
    --metric auc --valid 0.25 --format json --threads 1 >one.json
"$MUSTER" train gen:gmm:400,5 m2 --grid "model=svm,logistic l2=0.1,0.001" \
    --metric auc --valid 0.25 --format json --threads 2 >two.json
cmp m m2 && echo "same model for any threads"
python3 - <<'END'
import json
one, two = (json.load(open(name)) for name in ("one.json", "two.json"))
print(sorted(one), len(one["runs"]), one["metric"])
scores = [run["metrics"]["auc"] for run in one["runs"]]
print("sorted", scores == sorted(scores, reverse=True))
print("best first", one["best"] == one["runs"][0], one["runs"] == two["runs"])
print("refit", one["refit"]["model"], one["refit"]["config"]["l2"]["value"] ==
      float(one["best"]["options"]["l2"]))
END
try() { "$MUSTER" train gen:gmm:400,5 "$@" 2>&1 >/dev/null; echo "exit $?"; }
try --grid "c=0.1 threads=1,2"
try --grid "c=x"
try --grid "c"
try --grid " "
try --grid "c=1 c=2"
try --grid "c=1,2,1"
try --grid "c=1 l2=1"
try --grid "model=linear,logistic"
try --grid "c=1" -n 2 --record r.json
for n in 0 2; do
    "$MUSTER" train gen:gmm:400,5 n$n --grid "c=1,9" -n $n -q | grep -e c= -e hash
done | sort | uniq -c | sed "s/  *2 .*/twice/" | uniq
cmp n0 n2 && echo "same model for workers"
# The number of workers as an axis.
for more in "" "--code local:h=5 --optim gd --steps 20"; do
    "$MUSTER" train gen:gmm:400,5 --grid "n=1,2,4" -q $more |
        sed "s/[0-9.]\{1,\} *n=/S  n=/"
done
"$MUSTER" train gen:gmm:400,5 --grid "n=2,4" 2>&1 >/dev/null | grep -o "up to.*steal"
try --grid "n=0,2"
try --grid "n=2,4" --listen 127.0.0.1:0
try --grid "n=2,4" --workers 2
try --grid "n=2,3" --code cec:l=3 --chunk-rows 64
try --grid "lr=$(seq -s, 100) l2=$(seq -s, 100)"
# What is minimised is said of the refit, when it is known.
for grid in l2=10 c=2 model=svm,hinge; do
    "$MUSTER" train gen:gmm:400,5 m3 --grid $grid --class-weight -1=2 2>&1 |
        grep muster:
done
