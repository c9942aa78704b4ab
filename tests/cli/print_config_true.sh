# What --print-config shows is what a run has: every value that it names is the
# run's, and what it cannot know yet is a rule and no value.
seq 90 | awk '{ print $1 * 7 % 13 "," $1 * 5 % 11 "," $1 % 3 }' >rows.csv
cat >same.py <<'END'
import json, subprocess, sys
command = [sys.argv[1], "train", *sys.argv[2:], "--format", "json", "-q"]
def said(*more):
    return json.loads(subprocess.run([*command, *more], capture_output=True, check=True).stdout)
before, run = said("--print-config"), said()["config"]
wrong = [f"{key}: {one['value']}, and the run has {run[key]['value']}" for key, one in before.items()
         if one["value"] is not None and one["value"] != run[key]["value"]]
print(*(wrong or ["as the run has it:"]), *("%s=%s" % (key, before[key]["value"]) for key in (
    "optim", "lr", "schedule", "batch", "l2", "scale", "warmup", "valid")))
END
same() { python3 same.py "$MUSTER" rows.csv "$@"; }
net="dense4 relu dense3"
same --net "$net" --passes 3
for optim in gd momentum nesterov adamw; do same --net "$net" --passes 3 --optim $optim; done
same --net "$net" --passes 3 --lr 0.01
same --net "$net" --passes 3 --batch 16 --patience 2
same --net "$net" --passes 3 --batch-per-worker 16 -n 2
same --net "$net" --passes 3 --weight-decay 0.1 --schedule constant
same
same --batch 16
same --batch 200
same --batch 16 --optim adam
same --batch 16 --lr 0.001
same --passes 3
same --optim adam
same --batch-per-worker 16 -n 2 --lr 0.001
same --l2 0.1 --optim gd --decay 0.9
"$MUSTER" train rows.csv m.safetensors --net "$net" --passes 1 -q >/dev/null
same --init m.safetensors --passes 2
"$MUSTER" train rows.csv --net "$net" --batch-per-worker 16 -n 2 --print-config |
    grep -e ^scale -e ^optim -e '^lr ' -e ^schedule -e ^warmup -e '^batch ' -e ^steps -e '^l2'
