# What is said of a run's end is true of the model that is saved.
said() { "$MUSTER" "$@" --format json >out.json 2>err.txt; echo "exit $?"; }
field() { python3 -c '
import json, sys
result = json.load(open("out.json"))
print(*(result[name] for name in sys.argv[1:]))' "$@"; }
data=gen:gmm:400,5
echo "--- the objective of one step is not that of the start"
said train $data m --optim gd --steps 1 -n 2
python3 - <<'END'
import json
result = json.load(open("out.json"))
print(result["objective"] < 0.69, result["objective_at_model"], result["end"])
END
said train $data --optim gd --steps 1 --format json
cp out.json alone.json
said train $data --optim gd --steps 1 -n 2 --format json
python3 - <<'END'
import json
one, two = (json.load(open(name)) for name in ("alone.json", "out.json"))
for name in "hash", "objective", "gradient_norm":
    print(name, one[name] == two[name])
END
echo "--- a code that estimates says no less than the optimum"
said train $data --optim lbfgs --steps 1000 --tol 1e-9
cp out.json best.json
field converged end
said train $data --code ignore --optim gd --steps 300 -n 4
python3 - <<'END'
import json
best, out = (json.load(open(name)) for name in ("best.json", "out.json"))
print(out["objective"] >= best["objective"], out["objective"] < 1.05 * best["objective"])
END
echo "--- an estimate is blamed where there was one, and steps would gain no more"
for late in 0 1; do
    "$MUSTER" train $data --code flexent:s=$late --optim gd --steps 200 -n 3 \
        --delay worker:w1=2000 -q | sed -n 's/.*; \(.*further\|give.*\)/\1/p'
done
"$MUSTER" train $data --code ignore --optim gd --steps 3 -n 4 -q |
    sed -n 's/.*; \(.*further\|give.*\)/\1/p'
echo "--- a result in words"
"$MUSTER" train $data --optim lbfgs --steps 100 -q | sed -n 's/|gradient|.*/|gradient|/p'
"$MUSTER" train $data --optim gd --steps 3 -q | grep ended
for i in 1 2 3 4 5 6 7 8; do
    echo "$((i % 3)).5 1:$((i % 4))e6 2:0.00000$i 3:1"
done >uneven.svm
"$MUSTER" train uneven.svm --optim gd --steps 3 -q --model linear |
    sed -n 's/|gradient| [^;]*/|gradient| N/; /ended/,/columns/p'
echo "--- who diverges is told, and what was saved stays"
said train $data m --optim lbfgs
cp m good
for how in "gd --lr 50" "agd --lr 50" "momentum --lr 50" "adam --lr 1e3" \
    "gd --lr 50 -n 2" "sgd --lr 1e3"; do
    # shellcheck disable=SC2086 # words
    said train $data m --optim $how -q
    field end converged model
    cat err.txt
    cmp m good
done
"$MUSTER" train $data m --optim gd --lr 50 -q 2>/dev/null | sed -n '/ended/p;/saved/p'
echo "--- also where no number is left"
said train $data m --optim agd --lr 1e4
field error
cmp m good
echo "--- sgd that ends above its start has diverged, too"
said train gen:gmm:2000,20 svm --model hinge --optim sgd --steps 2
field end converged model
test -e svm || echo "no model"
echo "--- out of steps before --accuracy is reached"
"$MUSTER" train $data --optim lbfgs --l2 .1 --steps 8 -q | sed -n 's/|gradient| [^;]*/|gradient| N/; /ended/p'
"$MUSTER" train $data --optim lbfgs --l2 .1 --steps 8 --accuracy 1e-6 -q | sed -n 's/|gradient|.*//; /ended/p'
echo "--- out of time: one rule with those out of steps"
"$MUSTER" train gen:gmm:40,3 --optim gd --l2 .5 --steps 100000000 --max-time 1 -q |
    sed -n 's/|gradient|.*//; /ended/p'
echo "--- stopped before anything ran"
"$MUSTER" token new key >/dev/null
"$MUSTER" train gen:gmm:40,3 --workers 1 --listen 127.0.0.1:0 --token-file key \
    --max-time .1 -q 2>/dev/null | sed -n '/objective/p; /ended/,/steps/p'
echo "--- out of time before the first step: as stopped, and not judged"
"$MUSTER" train gen:gmm:4000,5 --model logistic --max-time .000001 -q >none 2>/dev/null
echo "exit $?"
sed -n '/ended/,/steps/p' none
echo "--- times of day in seconds: what is claimed was reached"
python3 - >times.csv <<'END'
print("c,z,t")
for i in range(200):
    x, z = (i * 37 % 200 - 99.5) / 60, (i * 71 % 199 - 99) / 60
    print(f"{1.7e9 + 50 * x:.0f},{z:.4f},{3 * x + z + (i % 7 - 3) / 50:.4f}")
END
"$MUSTER" train times.csv -q | grep -A 1 ended | sed 's/|gradient| [^;]*/|gradient| N/'
"$MUSTER" train times.csv -q --scale standard | grep ended | sed 's/|gradient|.*//'
said train times.csv --storage f64
python3 - <<'END'
import json
result = json.load(open("out.json"))
print(result["objective"] < 0.1 or not result["converged"])
END
echo "--- rows that a line tells apart"
seq 20 | awk '{ print $1 "," ($1 > 10 ? "b" : "a") }' >apart.csv
"$MUSTER" train apart.csv -q --l2 0 | sed -n 's/|gradient|.*//; /ended/,/steps/{/steps/!p}'
"$MUSTER" train apart.csv -q | sed -n 's/|gradient|.*//; /ended/,/steps/{/steps/!p}'
echo "--- an easy first batch is no objective to rise above"
for seed in 1 2 4; do
    "$MUSTER" train gen:linear:1000,5 --batch 4 --steps 5 --lr 1e-9 --seed $seed -q 2>&1 | sed -n 's/|gradient|.*//; /ended/p'
done
"$MUSTER" train gen:digits:256 --net "dense64 relu dense10" --steps 6 --lr 1e-6 -q 2>&1 | grep ended
"$MUSTER" train gen:digits:256 --net "dense32 relu dense10" --steps 60 --lr 1000 -q 2>&1 | grep -A 1 ended | sed 's/was [0-9.]*/was N/; /steps/d'
echo "--- who gave passes reads of them"
seq 300 | awk '{ x = $1 * 37 % 101; printf "%d,%.1f\n", x, 1000 * x + $1 % 7 }' >passes.csv
for flags in "--epochs 4" "--passes 4 --lr 1e-12" "--passes 4 --lr 100" "--passes 4 --optim agd" "--steps 4 --optim gd"; do
    "$MUSTER" train passes.csv -q $flags | grep -o "give it more.*\|leave out.*"
done
echo "--- whose numbers run away is told what to turn down, alone and with workers"
wild() { "$MUSTER" train gen:linear:300,5 n.safetensors --net "dense8 relu dense1" "$@" -q 2>&1 | sed 's/step [0-9]*/step N/'; test -e n.safetensors && echo "saved"; }
wild --optim gd --lr 1e5
wild --optim gd --lr 1e5 -n 2
wild --lr 1e30
wild --clip 1 --lr 1e30
printf '%s 1:3e38 2:3e38 3:3e38\n' 1.5 2.5 3.5 >huge.svm
"$MUSTER" train huge.svm --net "dense8 relu dense1" -q --steps 3 2>&1
