# One machine, by text file and by standard input: the same model.
for i in 1 2 3 4 5 6 7 8 9 10; do
    echo "+1 1:$i 3:0.5"
    echo "-1 2:$i 3:-0.25"
done >a.svm
"$MUSTER" train a.svm model.txt --steps 20 --test a.svm \
    --format json >one.json
"$MUSTER" train - --steps 20 --isa portable --threads 3 \
    --format json <a.svm >two.json
python3 - <<'END'
import json
one, two = (json.load(open(name)) for name in ("one.json", "two.json"))
print(sorted(one))
print(one["steps"], one["exactness"], one["workers"], one["code"], one["model"])
print(one["metrics"]["accuracy"], sorted(one["metrics"]))
print(one["config"]["steps"], one["config"]["optim"])
print("same hash", one["hash"] == two["hash"], len(one["hash"]))
print("objective below log 2", one["objective"] < 0.6931)
END
head -n 6 model.txt
