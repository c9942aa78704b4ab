# Codes that sample rows beside others: batches of all are local unless said
# otherwise; how far gradients were off; digits in the order of their labels.
slow="-n 3 --work 1 --delay worker:w1=9"
"$MUSTER" simulate gen:sorted:200 --net "dense4 relu dense10" --optim gd \
    --lr .1 --batch 100 --chunk-rows 20 --steps 3 $slow -q --series \
    --compare uncoded,flexent:size=50%,flexent:estimate=abandon \
    --format json >out.json
python3 - <<'END'
import json
for run in json.load(open("out.json"))["runs"]:
    errors = [point["gradient_error"] for point in run["series"]]
    print(run["label"], run["exactness"], min(errors) > 0, max(errors) < 2)
END
"$MUSTER" simulate gen:digits:200 --net "dense10" --batch 100 --steps 3 \
    --shuffle rows $slow -q --compare uncoded,flexent 2>&1
echo "exit $?"
"$MUSTER" data entropy gen:sorted:1000 --filters label | grep '^label'
"$MUSTER" train gen:sorted:100 --model softmax --optim gd --steps 1 -q \
    --format json | python3 -c 'import json, sys; print(json.load(sys.stdin)["steps"])'
"$MUSTER" data entropy gen:gmm:500,4 --filters column:0 2>&1
"$MUSTER" data entropy gen:gmm:500,4 --filters column:4 | grep '^column'
# A file's columns of words are several, and have no names by then.
{
    echo city,age,y
    for age in $(seq 20 69); do
        printf 'a,%d,0\nb,%d,1\nc,%d,0\nb,%d,0\na,%d,1\nc,%d,1\n' \
            $age $age $age $age $age $age
    done
} >words.csv
"$MUSTER" data entropy words.csv --label y --filters label+column:age -q 2>&1
"$MUSTER" data entropy words.csv --label y --filters column:5 -q 2>&1
"$MUSTER" data entropy words.csv --label y --filters column:4 -q | grep '^column'
