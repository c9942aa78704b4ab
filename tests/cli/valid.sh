# A held-out part is drawn from the seed; a file is taken as it is.
"$MUSTER" train gen:gmm:500,5 --valid 0.2 --steps 20 --metric auc |
    sed 's/in [0-9.]* s/in T s/'
printf '+1 1:1\n-1 1:-1\n+1 1:2\n-1 1:-2\n' >a.svm
printf '+1 1:3\n-1 1:3\n' >b.svm
"$MUSTER" train a.svm --valid b.svm --steps 5 --format json >a.json
python3 - <<'END'
import json
a = json.load(open("a.json"))
print(a["metrics"] == a["valid_metrics"], a["valid_metrics"]["accuracy"],
      a["train_metrics"]["accuracy"])
END
try() { "$MUSTER" train a.svm "$@" 2>&1 >/dev/null; echo "exit $?"; }
try --valid 0.9
try --valid absent
try --metric mse
try --model svm --metric logloss
try --metric beauty
try --loss hinge
try --model logistic --loss hinge
try --gap 0.1
echo "--- a part that leaves little to learn from, and the steps of a fold"
"$MUSTER" train gen:gmm:1000,3 --test gen:gmm:50,3 --valid .99 2>&1 >/dev/null | grep holds
"$MUSTER" train gen:gmm:1000,3 --test gen:gmm:50,3 --valid .5 2>&1 >/dev/null | grep -c holds
"$MUSTER" train gen:gmm:300,3 --net dense2 --passes 2 -v 3 2>&1 >/dev/null | grep model
"$MUSTER" train gen:gmm:300,3 --optim gd --batch 50 --passes 1 -v 3 2>&1 >/dev/null | grep model
