# All seeds have the code that is named, and draw its settings.
for code in "" "--code frc" "--code uncoded"; do
    "$MUSTER" simulate --faults --seeds 1:10 $code --format json >"out$code"
done
python3 - <<'END'
import glob
import json
runs = [json.load(open(name)) for name in sorted(glob.glob("out*"))]
print(len({run["digest"] for run in runs}), {run["violations"] for run in runs})
END
# No seed slips into another code, nor into a ring: 2 and 25 are cec's and
# flexent's, 13 is a ring's, 7 has three classes.
for code in uncoded mds local; do
    for seed in 2 7 13 25; do
        "$MUSTER" simulate --faults --seed $seed --code $code 2>&1 |
            grep -oE "[a-z]+ code [a-z]+|, code [a-z]+" | sed 1q
    done | sort | uniq -c
done
# An alias is its code.
for code in ignore ksync agc erasurehead; do
    "$MUSTER" simulate --faults --seeds 1:10 --code $code | grep digest
done | uniq -c | sed 's/digest.*//'
for code in nope frc:s=2 cec:l=3:p=8 flexent elastic auto; do
    "$MUSTER" simulate --faults --seeds 1:10 --code $code 2>&1
done
