# Nobody at the terminal: a worker and the coordinator are killed by script.
# All steps, each in a fifth of the time; the loss falls to the last of them.
"$MUSTER" train --demo --delay exp:0.003+worker:w3=100 --format json -q \
    --out run >card.json
echo "status $?"
python3 - <<'END'
import json
result = json.load(open("card.json"))
card = result["card"]
print("same", card["same"], "lost", card["steps_lost"])
print("killed", card["killed"], "coordinators", result["coordinator_deaths"])
print("faster than waiting", card["time_s"] < card["waiting_for_everyone_s"])
loss = {step["step"]: step["loss"]
        for step in json.load(open("run/history.1.json"))["steps"]}
marks = [1, 50, 100, 150, 200, 250, 300]
print("falls", all(loss[b] < .95 * loss[a] for a, b in zip(marks, marks[1:])))
END
