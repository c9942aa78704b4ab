# Softmax regression from the command line: train, judge, save, predict.
hash() { "$MUSTER" train "$@" --format json |
         sed -n 's/.*"hash": *"\([0-9a-f]*\)".*/\1/p'; }
"$MUSTER" train gen:digits:2000 --model softmax --optim lbfgs --steps 40 m \
    --format json >run.json
python3 - <<'PY'
import json
run = json.load(open("run.json"))
print(sorted(run["metrics"]), run["metrics"]["accuracy"] > 0.75)
print(run["config"]["model"])
PY
"$MUSTER" model show m | sed -n '1,3p'
sed -n '1,2p' m; grep '^muster softmax' m
echo "--- predictions: labels, probabilities that add up, the metrics of training"
"$MUSTER" predict gen:digits:2000 m out.csv -b 1 --format json >predict.json
python3 - <<'PY'
import csv, json
run, said = json.load(open("run.json")), json.load(open("predict.json"))
print(said["metrics"] == run["train_metrics"])
rows = list(csv.DictReader(open("out.csv")))
print(list(rows[0])[:2], list(rows[0])[-1])
p = [[float(row[f"p_{k}"]) for k in range(10)] for row in rows]
print(all(abs(sum(q) - 1) < 1e-12 for q in p))
print(all(q.index(max(q)) == int(row["label"]) for q, row in zip(p, rows)))
PY
echo "--- other forms of the file say the same"
"$MUSTER" model convert m again >/dev/null && cmp m again && echo same text
"$MUSTER" model convert m m.csv >/dev/null && head -n 1 m.csv
echo "--- three labels of any kind; of two it is the logistic model"
printf '%s\n' '-7 1:1' '20 2:1' '3 3:1' '3 1:1 3:2' '20 2:2' >three.svm
"$MUSTER" train three.svm t --model softmax --steps 50 -q | grep train
"$MUSTER" predict three.svm t 2>/dev/null | tr '\n' ' '
echo
printf '%s\n' '4 1:1' '8 2:1' '8 3:1' '4 1:1 3:2' '8 2:2' >two.svm
"$MUSTER" train two.svm a --model softmax --l2 0.1 --optim newton --steps 30 -q \
    >/dev/null
"$MUSTER" train two.svm b --model logistic --l2 0.05 --optim newton --steps 30 -q \
    >/dev/null
"$MUSTER" predict two.svm a -b 1 -q | tail -n +2 >a.out
"$MUSTER" predict two.svm b -b 1 -q | tail -n +2 >b.out
python3 - <<'PY'
# The file of two says the larger label first.
a, b = ([[float(x) for x in line.split()] for line in open(name)]
        for name in ("a.out", "b.out"))
print(len(a), max(abs(x[1] - y[2]) for x, y in zip(a, b)) < 1e-6,
      [x[0] for x in a] == [y[0] for y in b])
PY
echo "--- folds, a grid, rows held out, weights of classes"
"$MUSTER" train three.svm --model softmax -v 5 --steps 20 -q | sed -n '1p'
"$MUSTER" train gen:digits:600 --model softmax --grid "l2=1e-3,1" \
    --optim lbfgs --steps 20 --metric logloss -q | sed -n '1p;$p' | cut -c 1-20
"$MUSTER" train gen:digits:600 --model softmax --valid 0.25 --steps 20 -q \
    --metric f1 | grep -c '^valid *f1'
a=$(hash three.svm --model softmax --class-weight 20=2,3=1 --l2 0.1)
b=$(hash three.svm --model softmax -w20 2 --l2 0.1)
c=$(hash three.svm --model softmax --l2 0.1)
[ "$a" = "$b" ] && [ "$a" != "$c" ] && echo "-w20 2 is --class-weight 20=2"
echo "--- the same bits: storages, workers"
for storage in f32 i8 bf16; do hash three.svm --model softmax --storage $storage
done | uniq | wc -l
for storage in csr f32; do
    for workers in "" "-n 2 -q"; do
        # shellcheck disable=SC2086
        hash three.svm --model softmax --chunk-rows 1 --storage $storage $workers
    done | uniq | wc -l
done
