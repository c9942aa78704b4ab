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
