"$MUSTER" simulate gen:gmm:2000,10 --workers 4 --steps 10 --code steal \
    --delay exp:0.01 --series --format json >sim.json
"$MUSTER" train gen:gmm:2000,10 --optim agd --steps 10 --format json >train.json
python3 - <<'END'
import json
sim, train = (json.load(open(name)) for name in ("sim.json", "train.json"))
print(sorted(sim))
print(sim["code"], sim["workers"], sim["steps"], sim["coverage"])
print("same hash", sim["hash"] == train["hash"])
print("same metrics", sim["metrics"] == train["metrics"])
print(len(sim["series"]), sorted(sim["series"][0]))
END
