exec 2>&1
# A plan from a model and from a trace; traces made and named.
"$MUSTER" plan -n 12 --delay bimodal:.05,3 --steps 400
"$MUSTER" plan -n 12 --delay shifted:1,0 --steps 40 --exact approx | tail -1
"$MUSTER" plan generate slow.trace -n 10 --steps 60 --work .5 --seed 3
head -3 slow.trace | cut -c 1-60
"$MUSTER" plan choose slow.trace --format json | python3 -c '
import json, sys
plan = json.load(sys.stdin)
print(sorted(plan))
print(sorted(plan["candidates"][0]))
best = [c for c in plan["candidates"] if c["label"] == plan["choice"]][0]
print(best["progress_s"] <= 1.02 * min(c["progress_s"]
                                       for c in plan["candidates"]))
print({c["exactness"] for c in plan["candidates"]})'
"$MUSTER" plan generate exp.trace -n 10 --steps 200 --work 1 --delay exp:.5
"$MUSTER" plan fit exp.trace
"$MUSTER" simulate --no-compute --delay trace:exp.trace -n 10 --steps 200 \
    --work 1 --compare uncoded,steal
