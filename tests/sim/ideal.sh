#!/bin/sh
# The ideal table of the delay study, through the program: seconds per step
# with zero latency, zero compute and perfect cancellation, to three digits.
set -u
number=0
failed=0

# cell SECONDS OPTION...
cell() {
    want=$1
    shift
    number=$((number + 1))
    got=$("$MUSTER" simulate --no-compute --delay reference --format json \
              "$@" 2>why.txt | sed -n 's/.*"mean_step_s": *\([0-9.]*\).*/\1/p')
    if awk -v a="${got:-9}" -v b="$want" \
           'BEGIN { d = a - b; exit !(d < .0006 && d > -.0006) }'; then
        echo "ok $number - $* takes $want s"
    else
        echo "not ok $number - $* takes ${got:-nothing}, not $want s"
        sed 's/^/# /' why.txt
        failed=1
    fi
}

echo 1..8
cell 1.986 --code uncoded -n 30 --steps 100
cell 0.804 --code frc -n 30 --stragglers 1 --steps 100
cell 1.254 --code cyclic -n 30 --stragglers 2 --steps 100
cell 0.216 --code agc:collect=11 -n 30 --stragglers 2 --steps 100
cell 1.318 --code uncoded -n 8 --steps 40
cell 0.187 --code frc -n 8 --stragglers 3 --steps 40
cell 0.908 --code cyclic -n 8 --stragglers 1 --steps 40
cell 0.387 --code agc:collect=5 -n 8 --stragglers 1 --steps 40
exit $failed
