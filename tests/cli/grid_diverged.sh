# A combination that diverges is a row that says so, behind the others; if all
# do, that is an error, as it is of folds.
train() { "$MUSTER" train gen:linear:300,5 --net "dense8 relu dense1" --passes 3 -q "$@" 2>&1; }
train --grid "lr=1e30,0.1,1e35" | sed 's/^[0-9.]* /N /; s/: mse .*/: mse N/'
"$MUSTER" train gen:gmm:300,5 m --grid "optim=gd lr=1e300,1" -v 3 --steps 20 -q --format json >said
python3 - <<'END'
import json
runs = json.load(open("said"))["runs"]
print([(run["options"]["lr"], run["diverged"], run["metrics"].get("accuracy") is None) for run in runs])
END
test -s m && echo "the other one is saved"
train --grid "lr=1e30,1e35" | cut -c 1-30
train --lr 1e30 -v 3 | cut -c 1-30
# All were finite, and the best one, trained on all rows, ends above its start:
# as of `train` alone there is no model, and what was there stays.
echo precious >kept
"$MUSTER" train gen:gmm:400,3 kept --force --optim gd --steps 1 -q --grid "lr=100,200" >said 2>errors
echo "exit $?, $(sed -n 's/^ended *\([A-Z]*\).*/\1/p' said), $(cat errors) $(cat kept)"
"$MUSTER" train gen:gmm:400,3 new --optim gd --steps 1 -q --grid "lr=100,200" --format json >said 2>errors
echo "exit $?"
python3 -c 'import json; refit = json.load(open("said"))["refit"]; print(refit["end"], refit["model"])'
test ! -e new || echo "a model was written"
