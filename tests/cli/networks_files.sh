# Networks: their files, what they are trained on, and what cannot be.
data=gen:digits:300
net="conv3x3x4 relu pool2 drop.25 dense16 relu dense10"
# Figures are others on the day that a layer is.
bare() { sed 's/[0-9]\.[0-9]*/N/g'; }
# The file holds those weights, and says what the training said.
"$MUSTER" train $data -q --net "$net" --passes 3 a.model 2>/dev/null | grep "^train\|^ended" | bare
"$MUSTER" train $data -q --net "$net" --passes 3 2>/dev/null | sed -n 's/^model *//p' >hash
"$MUSTER" model show a.model | sed "s/$(cat hash)/as trained/" | grep ^hash
echo "$net" >net.txt
"$MUSTER" train $data --net net.txt --passes 1 2>&1 >/dev/null | sed -n 1p
"$MUSTER" train gen:gmm:300,5 --net "dense4 relu dense2" --passes 2 2>&1 | grep "^train" | bare
"$MUSTER" train gen:linear:300,5 --net "dense4 tanh dense1" --passes 2 --optim momentum 2>&1 | grep "^train" | bare
try() { "$MUSTER" train $data --net "$@" 2>&1 >/dev/null | tail -n 1; }
try "conv3x3x4 relu densed10"
try "conv40x3x4 relu dense10"
try "dense16 relu dense9"
try ""
try "$net" --optim lbfgs
try "$net" --optim sgd
try "$net" --tol 0.1
try "$net" --model svm
try "$net" --model linear
try "$net" -n 3 --code mds
try "$net" -n 3 --code local:h=2
try "dense4096 dense4096 dense4096 dense10"
"$MUSTER" train gen:linear:300,49 --net "conv3x3x4 dense1" 2>&1 >/dev/null | tail -n 1
"$MUSTER" train gen:linear:300,49 --net "conv3x3x4 dense1" --shape 7x7 --passes 1 2>&1 >/dev/null | sed -n 1p
echo "--- folds and grids"
"$MUSTER" train $data --net "$net" --passes 1 -v 3 -q | sed 1d | bare
"$MUSTER" train $data --net "$net" --passes 2 -v 2 -q --threads 1 --grid "lr=0.001,0.01" b.model >one
"$MUSTER" train $data --net "$net" --passes 2 -v 2 -q --threads 3 --grid "lr=0.001,0.01" c.model >three
cmp b.model c.model && echo "the same for any threads"
best=$(sed -n 's/^best *\(lr=[0-9.]*\):.*/\1/p' one)
"$MUSTER" train $data --net "$net" --passes 2 -q --lr ${best#lr=} d.model >/dev/null
cmp b.model d.model && echo "the best, trained again, is that of --lr"
python3 - <<'END'
import json
def told(name):
    card = json.load(open(name + ".card.json"))
    return {key: card[key] for key in card if key not in ("model", "options")}
print("and so is what its card says:", told("b.model") == told("d.model"))
END
# A function of each number and dropout are no last layers; a name that is no file's.
try "dense10 relu"
try "dense10 drop.5"
"$MUSTER" train gen:linear:60,5 --net "dense1 tanh" 2>&1 >/dev/null | tail -n 1
try nosuch.txt
try nets/small
printf '# small\ndense16 relu # hidden\n  dense10\n' >noted.txt
"$MUSTER" train $data --net noted.txt --passes 1 2>&1 >/dev/null | sed -n 1p
# One output for each class, also of two; for numbers one.
"$MUSTER" train gen:gmm:300,5 --net "dense4 relu dense1" 2>&1 >/dev/null | tail -n 1
"$MUSTER" train gen:linear:300,5 --net "dense4 relu dense1" -q --l2 0.1 | grep -o "^objective\|, half.*"
echo "--- the objective of numbers is what is announced, in metrics, weights and labels"
awk 'BEGIN { print "a,b,y"; for (i = 0; i < 90; i++) print i % 7 "," i % 11 "," 300 + i % 7 * (i % 11) }' >numbers.csv
"$MUSTER" train numbers.csv numbers.safetensors --net "dense4 relu dense1" --passes 20 --l2 0.1 --format json >out.json 2>err.txt
python3 - <<'END'
import json, re, struct
out = json.load(open("out.json"))
blob = open("numbers.safetensors", "rb").read()
head = 8 + struct.unpack("<Q", blob[:8])[0]
ends = [t["data_offsets"] for k, t in json.loads(blob[8:head]).items() if k != "__metadata__"]
w = [x for a, b in ends for x in struct.unpack(f"<{(b - a) // 4}f", blob[head + a:head + b])]
y = [float(line.split(",")[2]) for line in open("numbers.csv").read().split()[1:]]
var = sum((v - sum(y) / len(y)) ** 2 for v in y) / len(y)
goal = re.search("least (.*?);", open("err.txt").read()).group(1)
terms = {"half the mean squared error": out["train_metrics"]["mse"] / 2,
         "0.1 var(y) |w|^2": .1 * var * sum(x * x for x in w)}
value = sum(terms[t] for t in goal.split(" + "))
print(goal, "as announced" if abs(value / out["objective"] - 1) < 1e-6 else (value, out["objective"]))
END
echo "--- a LIBSVM file is taken as it is: columns that want scaling are named"
python3 - <<'END'
with open("uneven.svm", "w") as out:
    for i in range(60):
        print(i % 3, f"1:{1000 * (i % 3) + 10 * (i % 7)} 2:{(i * 5 % 11) / 10000}", file=out)
END
"$MUSTER" train uneven.svm --net "dense3" --passes 1 2>/dev/null | grep -A1 "^ended"
