# The trace of a simulated run: virtual time, so the same file every time.
"$MUSTER" simulate -n 4 --no-compute --delay reference --code frc \
    --stragglers 1 --steps 5 --work .1 --seed 3 --trace a.json -q >a.txt
"$MUSTER" simulate -n 4 --no-compute --delay reference --code frc \
    --stragglers 1 --steps 5 --work .1 --seed 3 -q >b.txt
cmp a.txt b.txt && echo same times
python3 - <<'EOF'
import collections
import json

events = json.load(open("a.json"))
print(sorted(collections.Counter(
    e["name"] for e in events if e["ph"] == "X").items()))
print([e for e in events if e["name"] == "step"][1])
print(events[-1]["name"], events[-1]["args"])
EOF
"$MUSTER" simulate -n 4 --no-compute --compare frc,uncoded --trace a.json 2>&1
echo "exit $?"
"$MUSTER" simulate --faults --trace a.json 2>&1
echo "exit $?"
"$MUSTER" simulate -n 4 --no-compute --trace no/such/folder/a.json 2>&1
echo "exit $?"
