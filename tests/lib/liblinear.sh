#!/bin/sh
# LIBLINEAR's own programs beside ours, both ways: a model of either gives the
# same predictions in both, and for the same flags both end on the same optimum.
set -u
train=$(command -v liblinear-train)
predict=$(command -v liblinear-predict)
tests=46
echo 1..$tests
if [ -z "$train" ] || [ -z "$predict" ]; then
    i=1
    while [ $i -le $tests ]; do
        echo "ok $i - liblinear # SKIP no liblinear-tools here"
        i=$((i + 1))
    done
    exit 0
fi

# Two noisy classes, three classes, and numbers; sparse, with a constant column
# missing so that -B matters.
python3 - <<'END'
import random
random.seed(5)
truth = [random.gauss(0, 1) for _ in range(30)]
def rows(name, count, label):
    with open(name, "w") as out:
        for _ in range(count):
            row = {j: round(random.gauss(0.3, 1), 4)
                   for j in random.sample(range(30), 12)}
            z = sum(truth[j] * v for j, v in row.items()) + random.gauss(0, 1)
            out.write(" ".join([label(z)] + [f"{j + 1}:{row[j]}"
                                             for j in sorted(row)]) + "\n")
two = lambda z: "+1" if z > 0.5 else "-1"
three = lambda z: "3" if z > 2 else "1" if z > -2 else "2"
value = lambda z: f"{z:.5f}"
# Many columns, few of them often: kept as indices, with columns renumbered.
for kind, one in ("ones", True), ("sparse", False):
    for name, count in (kind + ".svm", 1500), (kind + ".test", 300):
        with open(name, "w") as out:
            for _ in range(count):
                columns = sorted(random.sample(
                    range(1, random.choice((40, 3000))), 8))
                z = sum(j * 2654435761 % 1000 / 500 - 1 for j in columns)
                out.write(" ".join([two(z)] + [
                    f"{j}:{1 if one else random.randint(1, 9) / 4}"
                    for j in columns]) + "\n")
for kind, label in ("two", two), ("three", three), ("value", value):
    rows(kind + ".svm", 600, label)
    rows(kind + ".test", 200, label)
END

number=0
check() { # check NAME STATUS
    number=$((number + 1))
    if [ "$2" -eq 0 ]
    then echo "ok $number - $1"
    else echo "not ok $number - $1"
    fi
}

# same A B TOLERANCE: word by word, numbers to within so much.
same() {
    python3 - "$@" <<'END'
import sys
a, b = (open(name).read().split() for name in sys.argv[1:3])
limit = float(sys.argv[3])
def near(x, y):
    try:
        x, y = float(x), float(y)
    except ValueError:
        return x == y
    return abs(x - y) <= limit * max(1, abs(x), abs(y))
bad = [(x, y) for x, y in zip(a, b) if not near(x, y)]
if len(a) != len(b) or not a or bad:
    print(f"# {len(a)} and {len(b)} words, different:", *bad[:3])
    sys.exit(1)
END
}

# The model file of type $1 on data $2, from both programs, read by both.
both_ways() {
    type=$1 data=$2
    shift 2
    "$MUSTER" train -q -s "$type" "$@" "$data.svm" ours.model >/dev/null
    "$predict" "$data.test" ours.model theirs.out >/dev/null &&
        "$MUSTER" predict -q --force "$data.test" ours.model ours.out >/dev/null &&
        same ours.out theirs.out 1e-5
    check "-s $type $*: our model, liblinear-predict" $?
    "$train" -q -s "$type" "$@" "$data.svm" theirs.model >/dev/null
    theirs_read "$data" "-s $type $*"
}

theirs_read() {
    "$predict" "$1.test" theirs.model theirs.out >/dev/null &&
        "$MUSTER" predict -q --force "$1.test" theirs.model ours.out >/dev/null &&
        same ours.out theirs.out 1e-5
    check "$2: their model, muster predict" $?
}

for type in 0 1 2 3 7; do
    both_ways $type two -B 1
done
both_ways 11 value -p 0
both_ways 0 ones -B 1
both_ways 2 sparse
"$train" -q -s 0 three.svm theirs.model
theirs_read three "-s 0, three classes"
"$train" -q -s 4 three.svm theirs.model
theirs_read three "-s 4, three classes"
"$train" -q -s 0 -B 2 two.svm theirs.model
theirs_read two "-s 0 -B 2"

# LIBLINEAR has no softmax; it reads ours, says the same labels, and has no
# probabilities to offer.
for data in two three; do
    "$MUSTER" train -q --model softmax -c 1 -B 1 "$data.svm" ours.model >/dev/null
    "$predict" "$data.test" ours.model theirs.out >/dev/null &&
        "$MUSTER" predict -q --force "$data.test" ours.model ours.out >/dev/null &&
        same ours.out theirs.out 0
    check "softmax, $data classes: our model, liblinear-predict" $?
done
! "$predict" -b 1 three.test ours.model theirs.out >/dev/null 2>&1
check "softmax: liblinear-predict has no probabilities of it" $?

# Probabilities, of two classes and of three.
for data in two three; do
    "$train" -q -s 0 "$data.svm" theirs.model
    "$predict" -b 1 "$data.test" theirs.model theirs.out >/dev/null
    "$MUSTER" predict -q --force -b 1 "$data.test" theirs.model ours.out >/dev/null
    same ours.out theirs.out 1e-5
    check "-b 1: probabilities, $data classes" $?
done

# The same flags, to the end: the same optimum.
# shellcheck disable=SC2086 # flags are words
for flags in "-s 0 -c 0.3 -B 1" "-s 2 -c 2 -w1 3 -w-1 0.5" "-s 0 -c 10"; do
    "$train" -q $flags -e 1e-9 two.svm theirs.model
    "$MUSTER" train -q $flags -e 1e-9 two.svm ours.model >/dev/null
    same ours.model theirs.model 1e-6
    check "$flags: same weights" $?
done
"$train" -q -s 11 -p 0 -c 0.1 -e 1e-10 value.svm theirs.model
"$MUSTER" train -q -s 11 -p 0 -c 0.1 -e 1e-10 value.svm ours.model >/dev/null
same ours.model theirs.model 1e-6
check "-s 11 -p 0: same weights" $?

"$train" -q -s 2 -B 1 -e 1e-9 sparse.svm theirs.model
"$MUSTER" train -q -s 2 -B 1 -e 1e-9 sparse.svm ours.model >/dev/null
same ours.model theirs.model 1e-6
check "-s 2 -B 1, sparse: same weights" $?

# Optima on data of the three kinds: zeros and ones as bits, numbers and
# categories, and ones among many columns.  Objective and weights to 1e-6 of
# the largest; LIBLINEAR's own tolerance is of the gradient and must be small.
python3 - <<'END'
import random
random.seed(9)
def one_hot(groups):
    first = 1
    for size in groups:
        yield first + int(size * random.random() ** 1.7), 1
        first += size
def write(name, rows, draw, spread):
    with open(name, "w") as out:
        for _ in range(rows):
            row = sorted(draw())
            z = spread * sum((j * 2654435761 % 1000 / 500 - 1) * v
                             for j, v in row)
            out.write(" ".join(["+1" if z > random.gauss(0, 1) else "-1"] +
                               [f"{j}:{v:g}" for j, v in row]) + "\n")
write("bits.svm", 3000, lambda: one_hot([10, 2, 5, 3, 13] + [11] * 6), .5)
write("dense.svm", 3000, lambda: [(j, round(random.random(), 4))
                                  for j in range(45, 55)] +
      list(one_hot([4, 40])), 1)
write("index.svm", 3000, lambda: one_hot([400] * 8), .7)
END
optimum() { # optimum DATA STORAGE FLAG...
    data=$1 storage=$2
    shift 2
    "$train" -q "$@" -e 1e-10 "$data.svm" theirs.model &&
        "$MUSTER" train -q "$@" -e 1e-10 --storage "$storage" "$data.svm" \
            ours.model >/dev/null &&
        python3 - "$data.svm" "$2" <<'END'
import math, sys
def read(name):
    lines = open(name).read().split("\n")
    at = lines.index("w")
    sign = float(next(l for l in lines if l.startswith("label")).split()[1])
    return [sign * float(x) for x in lines[at + 1:] if x.strip()]
def objective(w):
    total = sum(x * x for x in w) / 2
    for line in open(sys.argv[1]):
        label, *rest = line.split()
        z = float(label) * sum(w[int(j) - 1] * float(v) for j, v in
                               (item.split(":") for item in rest))
        if sys.argv[2] == "0":
            total += max(0, -z) + math.log1p(math.exp(-abs(z)))
        else:
            total += max(0, 1 - z) ** 2
    return total
ours, theirs = read("ours.model"), read("theirs.model")
theirs += [0.0] * (len(ours) - len(theirs))
far = max(abs(a - b) for a, b in zip(ours, theirs)) / max(map(abs, ours))
gap = abs(objective(ours) / objective(theirs) - 1)
print(f"# weights {far:.1e}, objective {gap:.1e}")
sys.exit(not (len(ours) == len(theirs) and far < 1e-6 and gap < 1e-6))
END
    check "$data as $storage, $*: the optimum" $?
}
optimum bits bit -s 0
optimum bits bit -s 2
optimum dense f32 -s 0
optimum index index -s 0
optimum index csr -s 0

# The same against scikit-learn, where Debian's python has it.
for data in bits dense index; do
    if ! /usr/bin/python3 -c "import sklearn" 2>/dev/null; then
        number=$((number + 1))
        echo "ok $number - $data, scikit-learn # SKIP no python3-sklearn here"
        continue
    fi
    "$MUSTER" train -q -s 0 -e 1e-10 "$data.svm" ours.model >/dev/null &&
        OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
            /usr/bin/python3 - "$data.svm" <<'END'
import sys
import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import LogisticRegression
x, y = load_svmlight_file(sys.argv[1])
theirs = LogisticRegression(C=1, fit_intercept=False, solver="newton-cg",
                            tol=1e-11, max_iter=1000).fit(x, y).coef_.ravel()
lines = open("ours.model").read().split("\n")
sign = float(next(l for l in lines if l.startswith("label")).split()[1])
ours = sign * np.array([float(v) for v in lines[lines.index("w") + 1:] if v])
def objective(w):
    return .5 * w @ w + np.logaddexp(0, -y * (x @ w)).sum()
far = abs(ours - theirs).max() / abs(theirs).max()
gap = abs(objective(ours) / objective(theirs) - 1)
print(f"# weights {far:.1e}, objective {gap:.1e}")
sys.exit(not (far < 1e-6 and gap < 1e-6))
END
    check "$data: the optimum of scikit-learn" $?
done

# LIBLINEAR draws its folds with rand(): the figure agrees, not the digits.
ours=$("$MUSTER" train -q -s 0 -v 5 two.svm |
       sed -n 's/Cross Validation Accuracy = \(.*\)%/\1/p')
theirs=$("$train" -q -s 0 -v 5 two.svm |
         sed -n 's/Cross Validation Accuracy = \(.*\)%/\1/p')
python3 -c "import sys; sys.exit(abs(${ours:-0} - ${theirs:-99}) > 4)"
check "-v 5: $ours % and $theirs %" $?

# hinge C OPTIM: the hinge has kinks, so weights may differ; the objective may
# not be above LIBLINEAR's, and this is proved.
hinge() {
    "$train" -q -s 3 -c "$1" -e 1e-4 two.svm theirs.model
    "$MUSTER" train -q -s 3 -c "$1" --optim "$2" two.svm ours.model |
        grep "ended      converged: proved" >proved
    python3 - "$1" <<'END'
import sys
def objective(name):
    lines = open(name).read().split("\n")
    w = [float(word) for word in lines[lines.index("w") + 1:] if word.strip()]
    sign = 1 if "label 1" in lines[2] else -1
    total = sum(v * v for v in w) / 2
    for line in open("two.svm"):
        label, *items = line.split()
        z = sum(w[int(j) - 1] * float(v)
                for j, v in (item.split(":") for item in items))
        total += float(sys.argv[1]) * max(0, 1 - sign * float(label) * z)
    return total
ours, theirs = objective("ours.model"), objective("theirs.model")
print(f"# C = {sys.argv[1]}: ours {ours:.8g}, LIBLINEAR {theirs:.8g}")
sys.exit(not (ours <= theirs * (1 + 1e-3) and open("proved").read()))
END
    check "-s 3 -c $1 --optim $2: LIBLINEAR's objective, proved" $?
}
for cost in 0.01 0.1 1 100; do
    hinge $cost newton
    hinge $cost lbfgs
done
