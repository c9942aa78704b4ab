# Four workers, of which one is killed, and a coordinator that is killed: the
# model of one machine, to the bit.
"$MUSTER" train gen:gmm:2000,20 --optim agd --steps 30 --format json >one.json
"$MUSTER" train gen:gmm:2000,20 --optim agd --steps 30 -n 4 --out run --format json -q \
    --chaos kill:w1@10,kill:coordinator@20 >four.json
echo "status $?"
python3 - <<'END'
import json
one, four = (json.load(open(name)) for name in ("one.json", "four.json"))
print("same hash", one["hash"] == four["hash"])
print("same metrics", one["metrics"] == four["metrics"])
print("same objective", one["objective"] == four["objective"])
print(four["steps"], four["exactness"], four["code"], four["run"])
print("died", four["workers"]["died"], "max", four["workers"]["max"],
      "coordinators", four["coordinator_deaths"])
END
"$MUSTER" train gen:gmm:2000,20 --optim agd --steps 30 -n 4 --out run
