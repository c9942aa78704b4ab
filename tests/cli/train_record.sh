# A real run's delays become a trace, which the plan and the simulator read.
# Times are real: only shapes are compared.  On a busy machine workers differ
# for long, and of such traces eight are the fewest that can be fitted.
"$MUSTER" train gen:gmm:3000,5 -n 8 --optim agd --steps 12 --code uncoded --record a.trace \
    --delay exp:.002 -q --out run >out.txt
grep -v '^#' a.trace | wc -l
grep -v '^#' a.trace | awk -F, '{ print NF }' | sort -u
grep -c '^# work' a.trace
"$MUSTER" plan choose a.trace --format json | python3 -c '
import json, sys
plan = json.load(sys.stdin)
print(plan["candidates"][0]["label"], plan["candidates"][0]["predicted_step_s"] > .002)'
"$MUSTER" plan fit a.trace >fit.txt
grep -c '^--delay ' fit.txt
"$MUSTER" train gen:gmm:3000,5 -n 8 --optim agd --steps 5 --delay trace:a.trace -q --out b |
    grep -c '^model'
# Answers that were called off are lower bounds.
"$MUSTER" train gen:gmm:400,5 -n 4 --optim agd --steps 12 --code frc --stragglers 3 \
    --delay exp:.05 --record b.trace -q --out c >out.txt
grep -c '>' b.trace
