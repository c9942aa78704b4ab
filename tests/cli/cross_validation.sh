# Folds are drawn from the seed: same figures for any number of threads.
"$MUSTER" train gen:gmm:400,5 -v 5 -s 2 | sed 's/in [0-9.]* s/in T s/'
"$MUSTER" train gen:gmm:400,5 -v 4 --threads 1 --format json >one.json
"$MUSTER" train gen:gmm:400,5 -v 4 --threads 3 --format json >three.json
"$MUSTER" train gen:gmm:400,5 -v 4 --seed 1 --format json >other.json
python3 - <<'END'
import json
one, three, other = (json.load(open(name + ".json"))
                     for name in ("one", "three", "other"))
print(sorted(one), one["folds"], len(one["runs"]), one["steps"])
print("same for threads", one["runs"] == three["runs"])
print("other for seeds", one["runs"] != other["runs"])
END
# Numbers, with LIBLINEAR's two lines.
for i in 1 2 3 4 5 6 7 8; do echo "$i.5 1:$i 2:1"; done >line.svm
"$MUSTER" train line.svm -v 8 -s 11 -c 1e6 -e 1e-9 -q | head -n 2 |
    sed 's/= [0-9.]*e-[0-9]*$/= nearly 0/'
try() { "$MUSTER" train line.svm "$@" 2>&1 >/dev/null; echo "exit $?"; }
try -v 1
try -v 9
try -v 2 -n 2 --trace t.json
try -v 9 -n 2 -q
[ -e muster-runs ] && echo "and a folder was left"
for n in 0 2; do "$MUSTER" train line.svm -v 4 -n $n -q | grep -v " in "; done |
    sort | uniq -c | sed "s/  *2 .*/twice/" | uniq
try -v 2 --valid 0.5
