#!/bin/sh
# Elastic coding in virtual time: of N machines of one speed each computes L/N
# of its block, so that a step of cec takes L/N of one of mds with k = L, within
# 5 %, the pieces that a block is cut into.  So it is where delays take the time,
# each piece its share of one for all of a step's work.
set -u
number=0
failed=0

takes="--work 1"

# seconds CODE WORKERS
seconds() {
    # shellcheck disable=SC2086
    "$MUSTER" simulate --no-compute $takes --steps 20 --format json -n "$2" \
        --code "$1" 2>why.txt |
        sed -n 's/.*"mean_step_s": *\([0-9.]*\).*/\1/p'
}

# ratio WORKERS WANTED
ratio() {
    number=$((number + 1))
    cec=$(seconds cec:l=10:p=20 "$1")
    mds=$(seconds mds:k=10 "$1")
    if awk -v a="${cec:-9}" -v b="${mds:-1}" -v r="$2" \
           'BEGIN { d = a / b / r; exit !(d > .999 && d < 1.05) }'; then
        echo "ok $number - with $1 machines a step takes $2 of mds"
    else
        echo "not ok $number - $1 machines: ${cec:-?} s, mds ${mds:-?} s"
        sed 's/^/# /' why.txt
        failed=1
    fi
}

echo 1..7
ratio 10 1
ratio 12 .8333
ratio 15 .6667
ratio 18 .5556
ratio 20 .5
takes="--delay shifted:10,0/share"
ratio 15 .6667
ratio 20 .5
exit $failed
