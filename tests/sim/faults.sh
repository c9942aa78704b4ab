#!/bin/sh
# Seeds with dozens of faults each, through the program: no promise broken, at
# least 50 faults a run, and the same digest when all are run again.
# SIM_SEEDS says how many; violations name the seed that replays them.
set -u
seeds=${SIM_SEEDS:-5000}
failed=0

# say OK NUMBER TEXT
say() {
    [ "$1" = 0 ] && echo "ok $2 - $3" || { echo "not ok $2 - $3"; failed=1; }
}

field() {
    sed -n "s/^$1 *\([0-9a-f]*\).*/\1/p" "$2"
}

echo 1..4
"$MUSTER" simulate --faults --seeds "1:$seeds" >once.txt 2>violations.txt
say $? 1 "$seeds seeds keep every promise"
sed 's/^/# /' violations.txt

faults=$(field faults once.txt)
[ "${faults:-0}" -ge $((50 * seeds)) ]
say $? 2 "at least 50 faults a seed (${faults:-0} in all)"

"$MUSTER" simulate --faults --seeds 1:200 >a.txt 2>&1 &&
    "$MUSTER" simulate --faults --seeds 1:200 >b.txt 2>&1 &&
    [ "$(field digest a.txt)" = "$(field digest b.txt)" ] &&
    [ -n "$(field digest a.txt)" ]
say $? 3 "the same seeds give the same digest"

"$MUSTER" simulate --faults --seed 7 >one.txt 2>trace.txt &&
    grep -q ' starts, life 1$' trace.txt && grep -q 'finished: done$' trace.txt
say $? 4 "one seed shows its trace"
exit $failed
