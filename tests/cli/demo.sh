# Nobody at the terminal: a worker and the coordinator are killed by script.
"$MUSTER" train --demo --steps 100 --format json -q \
    --chaos kill:w6@30,kill:coordinator@60 >card.json
echo "status $?"
python3 - <<'END'
import json
result = json.load(open("card.json"))
card = result["card"]
print("same", card["same"], "lost", card["steps_lost"])
print("killed", card["killed"], "coordinators", result["coordinator_deaths"])
print("faster than waiting", card["time_s"] < card["waiting_for_everyone_s"])
END
