#!/bin/bash
# bench/run.sh [NAME...] - run the benches, all of them without a name.
# Machines are noisy: every bench compares with a limit or a peer in the same
# run and prints ratios.  docs/performance.md has the figures seen.
set -eu
cd "$(dirname "$0")/.."
tools/build.sh release tests # Some measure with programs of their own.
export MUSTER=$PWD/build/muster
names=${*:-kernels train data overhead cancel delays recovery codes crossover erasurehead
    regret replay hostile scale slowness sums allreduce ship net accuracy product series credit elastic reproduce}
for name in $names; do
    echo "== $name (load $(cut -d' ' -f1-3 /proc/loadavg))"
    python3 "bench/$name.py"
done
