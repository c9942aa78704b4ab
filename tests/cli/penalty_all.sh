# Where every column has a small spread, the default penalty leaves next to
# nothing of the weights: a run that converged says so, in text, json and of
# folds, whatever the offset, and is silent once columns are scaled.
awk 'BEGIN { print "a,b,y"; for (i = 0; i < 500; i++) {
    a = i * 37 % 101 / 101; b = i * 53 % 97 / 97
    printf "%.9f,%.9f,%d\n", a * 2e-3, 5 + b * 2e-3, (a + b > 1) } }' >narrow.csv
awk -F, 'NR == 1 { print; next } { printf "%.12f,%.12f,%d\n", $1 * 1e-4, ($2 - 5) * 1e-4, $3 }' narrow.csv >none.csv
said() { echo "$*"; "$MUSTER" train "$@" -q | grep -e '^ ' -e '^ended' -e '^train' | sed 's/|gradient.*//; s/proved.*//; s/, auc.*//; s/mse.*r2/r2/'; }
said narrow.csv
said narrow.csv --model linear
said narrow.csv --model hinge
said narrow.csv --scale standard
said narrow.csv --l2 1e-9
said none.csv
echo json
for file in narrow none; do
    "$MUSTER" train $file.csv -q --format json | python3 -c '
import json, sys
run = json.load(sys.stdin)
print(run["converged"], "%.2g" % run["weights_left"], run["warning"])'
done
"$MUSTER" train narrow.csv -q --scale standard --format json | python3 -c '
import json, sys
run = json.load(sys.stdin)
print(run["weights_left"] > .5, "warning" in run)'
echo folds
"$MUSTER" train narrow.csv -q -v 3 | grep '^  '
