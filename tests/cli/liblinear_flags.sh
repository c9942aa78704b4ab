# LIBLINEAR's flags: same optimum by either road, and refusals in a sentence.
try() { "$MUSTER" train "$@" 2>&1 >/dev/null; echo "exit $?"; }
"$MUSTER" train gen:gmm:500,8 -s 0 -c 0.5 -e 1e-9 -B 1 --format json >c.json
"$MUSTER" train gen:gmm:500,8 -s 0 -c 0.5 -e 1e-9 --format json >a.json
"$MUSTER" train gen:gmm:500,8 --model logistic --l2 0.002 --no-intercept \
    --optim lbfgs --steps 1000 --tol 1e-9 --format json >b.json
python3 - <<'END'
import json
a, b, c = (json.load(open(name + ".json")) for name in "abc")
# |w|^2/2 + C sum = C N (mean + l2 |w|^2), and N is 500.
print("objective", abs(a["objective"] / (0.5 * 500) / b["objective"] - 1) < 1e-12)
# A weight more, but one with the penalty.
print("-B 1", c["objective"] < a["objective"])
for name in "model", "optim", "steps", "bias", "l2", "cost", "solver":
    print(name, c["config"][name])
END
for type in 1 2 3 7 11 12; do
    "$MUSTER" train gen:gmm:200,5 -q -s $type -c 2 -w1 2 -w-1 0.5 m 2>&1 |
        sed -n 's/^saved/-s '$type' saved/p'
    head -n 1 m
    rm -f m
done
for type in 4 5 6 8 13 21 22; do try gen:gmm:200,5 -s $type; done
try gen:gmm:200,5 -s 0 -B 2
try gen:gmm:200,5 -s 11 -p 0.1
try gen:gmm:200,5 -s 0 --model svm
try gen:gmm:200,5 -c 1 --l2 1
try gen:gmm:200,5 -e 1 --tol 1
try gen:gmm:200,5 -w
try gen:gmm:200,5 -w1
try gen:gmm:200,5 -w1 -3
try gen:gmm:200,5 -w7 2
try gen:gmm:200,5 --class-weight heavy
