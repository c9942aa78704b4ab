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
# Batches: a step's work is B of N rows, codes without batches are left out, a
# network's work follows from its flops.
batches() { "$MUSTER" plan -n 8 --delay bimodal:.05,3 --steps 200 --rows 60000 --batch 128 --passes 3 "$@"; }
batches --work 2 | tail -3
batches --work 2 --exact approx | awk '{ print $1 }' | sort -u | grep -x -e mds -e local
batches --work 2 --shuffle local --chunk-rows 500 | awk '$1 == "uncoded" { print "stores", $5 }'
batches --net "conv3x3x32 relu pool2 dense10" --shape 28x28x1 --gflops 40 | tail -2
batches --net "dense10" --shape 28x28 --gflops 40 --format json | python3 -c '
import json, sys
plan = json.load(sys.stdin)
flops = 3 * 2 * 784 * 10 * 128 / 8
print(plan["step"]["rows"], plan["step"]["of"], plan["step"]["steps_a_pass"],
      abs(plan["step"]["work_s"] / (flops / 40e9) - 1) < 0.01)'
# A batch has the chunks that a training cuts, and draws it from.
for more in "" "--shuffle local" "--shuffle local --chunk-rows 500" "--net dense10 --shape 28x28" \
    "--net dense10 --shape 28x28 --shuffle local" "--net dense10 --shape 28x28 --shuffle local --chunk-rows 500"; do
	"$MUSTER" plan -n 8 --delay exp:1 --steps 40 --rows 10000 --batch 128 --work 1 $more --format json |
		python3 -c 'import json, sys; print(json.load(sys.stdin)["step"]["chunks"], "chunks:", *sys.argv[1:])' $more
done
"$MUSTER" train gen:digits --net dense10 --batch 128 --shuffle local --passes 1 -q --format json |
	python3 -c 'import json, sys; print(-(-10000 // json.load(sys.stdin)["config"]["chunk-rows"]["value"]))'
batches --batch-per-worker 16
"$MUSTER" plan -n 8 --delay exp:1 --rows 600 --batch-per-worker 16 --work 1 | tail -1
"$MUSTER" plan -n 4 --delay exp:1 --rows 1000 --batch-per-worker 1073741824 --work 1 | tail -1 | cut -c 1-11
"$MUSTER" plan -n 8 --delay exp:1 --rows 100 --batch 100 --work 1 | tail -1 | cut -c 1-20
"$MUSTER" plan -n 8 --delay exp:1 --batch 100
"$MUSTER" plan -n 8 --delay exp:1 --rows 600 --batch 100 --compare uncoded,mds
"$MUSTER" plan -n 8 --delay exp:1 --net dense10 --shape 28x28
"$MUSTER" plan -n 8 --delay exp:1 --net dense10
"$MUSTER" plan -n 8 --delay exp:1 --gflops 3
