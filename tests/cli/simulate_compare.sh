exec 2>&1
# Several codes under the same delays, times and gradients, as text, JSON, CSV
# and picture.
delay='bimodal:.2,3+exp:.02'
"$MUSTER" simulate --no-compute -n 12 --work .5 --steps 50 --delay "$delay" \
    --compare uncoded,frc:s=2,ignore:s=2,agc:s=2:collect=6,steal:s=2,cyclic \
    --csv times.csv --plot times.svg
head -3 times.csv
wc -l <times.csv
head -c 4 times.svg
tail -1 times.svg
grep -c '<polyline' times.svg
"$MUSTER" simulate gen:gmm:400,5 -n 4 --steps 5 --work .1 --delay "$delay" \
    --compare uncoded,steal,agc:collect=2 --series --format json --plot b.svg |
    python3 -c '
import json, sys
runs = json.load(sys.stdin)["runs"]
for run in runs:
    times = [point["t_s"] for point in run["series"]]
    print(run["label"], run["exactness"], len(times), times == sorted(times),
          abs(times[-1] - run["total_s"]) < 1e-9, sorted(run["metrics"])[:2],
          "auc" in run["metrics"])
print(runs[0]["hash"] == runs[1]["hash"], runs[0]["hash"] == runs[2]["hash"],
      runs[1]["total_s"] < runs[0]["total_s"])'
"$MUSTER" simulate --no-compute -n 6 --compare uncoded,frc:s=7
"$MUSTER" simulate --no-compute -n 6 --compare uncoded,mist
"$MUSTER" simulate --no-compute -n 6 --compare frc:s=3
"$MUSTER" simulate --no-compute -n 6 --compare ''
"$MUSTER" simulate --no-compute -n 6 --compare agc
