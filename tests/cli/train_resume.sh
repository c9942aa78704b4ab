# A run that is finished goes on with more steps; the run knows its own data.
"$MUSTER" train gen:gmm:2000,20 --optim agd --steps 40 --format json >whole.json
"$MUSTER" train gen:gmm:2000,20 --optim agd --steps 15 -n 2 --out run -q >first.txt
echo "status $?"
"$MUSTER" train --resume run --steps 40 --format json -q >rest.json
echo "status $?"
python3 - <<'END'
import json
whole, rest = (json.load(open(name)) for name in ("whole.json", "rest.json"))
print("same hash", whole["hash"] == rest["hash"])
print(rest["steps"], rest["config"]["data"], rest["config"]["n"])
END
grep ^workers first.txt
"$MUSTER" train --resume=run --steps 45 -q | grep ^workers
"$MUSTER" train gen:gmm:2000,20 --resume=run --optim gd --lr 0.5 --steps 50 -q
echo "status $?"
"$MUSTER" train --resume=nowhere
