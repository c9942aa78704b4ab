# y = 2 x1 - x2: least squares finds it.
for i in 1 2 3 4 5 6 7 8; do
    for j in 1 2 3; do
        echo "$((2 * i - j + 5)).5 1:$i 2:$j"
    done
done >a.svm
"$MUSTER" train a.svm model.txt --l2 0 --steps 4000 --format json |
    python3 -c '
import json, sys
result = json.load(sys.stdin)
print(sorted(result["train_metrics"]), result["train_metrics"]["mse"] < 0.01)
print(result["config"]["model"])'
sed -n '7p' model.txt | xargs printf '%.4f\n'
echo "--- r2, the share of the labels' spread that is told: more is better"
"$MUSTER" train a.svm -v 3 --metric r2 --l2 0 -q | sed -n 's/^all *\(r2 [0-9.]*\), mse.*/\1/p'
"$MUSTER" train a.svm --grid l2=100,0 -v 3 --metric r2 -q | sed -n 's/^best *\(l2=[0-9]*: r2 [0-9.]*\),.*/\1/p'
"$MUSTER" predict a.svm model.txt out --metric r2 -q | sed "s/mse.*/mse N/"
sed 's/^[0-9.]*/7/' a.svm >same.svm
"$MUSTER" predict same.svm model.txt same -q | sed 's/mse [0-9.]*/mse N/'
"$MUSTER" train gen:gmm:100,3 --metric r2 -q 2>&1 || true
