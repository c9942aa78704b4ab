# Minibatches: one hash for threads, instruction sets, workers and deaths; all
# rows give gd's; what has no batches says so.
data=gen:gmm:600,9
hash() { "$MUSTER" train $data -q --format json "$@" 2>errors | sed -n 's/.*"hash": "\(.\{12\}\).*/\1/p'; cat errors >&2; }
for how in rows local
do
    one=$(hash --batch 64 --shuffle $how --lr 0.1 --passes 3)
    test -n "$one" || echo "no hash"
    for more in "--threads 2" "--threads 4" "--isa portable" "-n 1" "-n 2" "-n 5" "-n 8" "-n 4 --code frc" "-n 4 --code uncoded" "-n 4 --code agc:collect=3" "-n 4 --code auto" "-n 4 --fanout 2" "-n 3 --verify" "-n 3 --audit 50%" "-n 3 --chaos kill:w1@7 --respawn" "-n 2 --chaos kill:coordinator@12"
    do
        test "$(hash --batch 64 --shuffle $how --lr 0.1 --passes 3 $more)" = "$one" || echo "$how $more: another hash"
    done
    test "$(hash --batch 64 --shuffle $how --lr 0.1 --passes 3 --seed 1)" != "$one" || echo "$how: the seed does nothing"
done
gd=$(hash --optim gd --lr 0.1 --steps 5 --chunk-rows 32)
for batch in 600 601
do
    test "$(hash --batch $batch --lr 0.1 --passes 5 --chunk-rows 32 -n 2)" = "$gd" || echo "batch $batch is not gd"
done
# In mid-pass, and on.
"$MUSTER" train $data -q --batch 64 --lr 0.1 --steps 13 -n 2 --out run >/dev/null
went=$("$MUSTER" train $data -q --format json --batch 64 --lr 0.1 --passes 3 -n 3 --out run --resume | sed -n 's/.*"hash": "\(.\{12\}\).*/\1/p')
test "$went" = "$(hash --batch 64 --lr 0.1 --passes 3)" || echo "resumed to another hash"
"$MUSTER" train $data -q --batch 65 --lr 0.1 --passes 3 -n 3 --out run --resume 2>&1 | cut -d: -f2-
"$MUSTER" train $data --batch 64 --epochs 2 --lr 0.1 2>&1 >/dev/null | sed -n 2p
"$MUSTER" train $data --batch 64 --epochs 2 --lr 0.1 --threads 2 2>/dev/null | grep ^noise
"$MUSTER" train $data --batch 64 --epochs 2 --lr 0.1 -n 3 --chaos kill:w1@7 2>/dev/null | grep ^noise
# A rate that is worked out falls; adam's own is small and stays (docs/optimisers.md).
for optim in gd momentum adam adamw; do
    "$MUSTER" train $data --batch 64 --optim $optim -q --format json |
        python3 -c 'import json, sys; c = json.load(sys.stdin)["config"]; print(c["optim"]["value"], c["schedule"]["value"])'
done
# Nothing said but the batch: near the optimum all the same.
objective() { "$MUSTER" train $data -q --format json "$@" 2>/dev/null | sed -n 's/.*"objective": \([0-9.e-]*\).*/\1/p'; }
best=$(objective --accuracy 1e-9)
for more in "--batch 1" "--batch 8" "--batch 64 --passes 60" "--batch 8 --optim momentum" "--batch 64 --optim nesterov --shuffle local"
do
    awk -v best="$best" -v got="$(objective $more)" -v more="$more" 'BEGIN { if (got == "" || got > 1.02 * best) print more ": objective " got ", optimum " best }'
done
try() { "$MUSTER" train $data --batch 64 "$@" 2>&1 >/dev/null | tail -n 1; }
try --optim newton
try --optim sgd
try --optim agd
try --tol 0.1
try -n 3 --code mds
try -n 3 --code local:h=2
try -n 3 --code ignore:staleness=1
try --passes 2 --steps 3
try --chunk-rows 1 --batch 500 -n 2 --passes 4294967295
"$MUSTER" train $data --shuffle local 2>&1 >/dev/null | tail -n 1
"$MUSTER" train $data --passes 3 --optim lbfgs 2>&1 >/dev/null | tail -n 1
"$MUSTER" train $data --grid "batch=8,64 lr=0.1" 2>/dev/null | head -n 3
try --grid "optim=gd,newton"
"$MUSTER" train $data -B -1 --batch 64 2>&1 >/dev/null | sed -n 2p
# B rows a worker: the batch of all, the rate of all, whoever dies.
all=$(hash --batch 48 --lr 0.375 --passes 20 --warmup 52)
for more in "-n 3" "-n 3 --chaos kill:w1@7"
do
    test "$(hash --batch-per-worker 16 --lr 0.125 --passes 20 $more)" = "$all" || echo "batch per worker $more: another hash"
done
"$MUSTER" train $data --batch-per-worker 16 2>&1 | tail -n 1
try --batch-per-worker 16 -n 2
simulated=$("$MUSTER" simulate $data --batch 64 --passes 2 --lr 0.1 -n 4 2>&1 | sed -n 's/^model *\(.\{12\}\).*/\1/p')
test "$simulated" = "$(hash --batch 64 --passes 2 --lr 0.1)" || echo "simulated to another hash"
# Of sparse and of weighted rows, too; and every rule of rates.
awk 'BEGIN { for (i = 1; i <= 300; i++) { printf "%d", i * 7 % 3 > 1 ? 1 : -1; for (j = 1; j <= 9; j++) printf " %d:%g", j * 400 + i * j % 390, i * j % 11 - 5; print "" } }' > sparse.svm
awk 'BEGIN { for (i = 1; i <= 300; i++) print i % 4 + 1 "," i * 7 % 13 - 6 "," i * 5 % 11 - 5 "," (i * 3 % 7 > 3) }' > weighted.csv
for data in sparse.svm "weighted.csv --weight 1"
do
    for how in rows local
    do
        test "$(hash --batch 40 --lr 0.01 --passes 3 --shuffle $how -n 3 --chaos kill:w1@7)" = "$(hash --batch 40 --lr 0.01 --passes 3 --shuffle $how --isa portable)" || echo "$data $how: another hash"
    done
done
data=gen:gmm:600,9
for more in "--schedule constant" "--decay 0.99" "--schedule inverse" "--schedule step" "--schedule cosine" "--warmup 5" "--clip 0.1" "--weight-decay 0.01"
do
    test "$(hash --batch 64 --lr 0.1 --passes 3 $more -n 3 --chaos kill:w1@7)" = "$(hash --batch 64 --lr 0.1 --passes 3 $more)" || echo "$more: another hash"
done
"$MUSTER" train $data -q --batch 64 --epochs 2 --lr 0.1 -n 2 --out told >/dev/null
"$MUSTER" report told | grep noise
echo "--- noise in which no gradient is seen"
awk 'BEGIN { r = 11; for (i = 0; i < 40; i++) {
    for (j = 0; j < 3; j++) { r = r * 16807 % 2147483647; x[j] = r % 1000 / 1000 - .5 }
    print (x[0] < 0 ? -1 : 1) " 1:" x[1] " 2:" x[2] } }' >even.svm
"$MUSTER" train even.svm -q --optim gd --batch 4 --passes 1 -n 1 --out even | grep noise
"$MUSTER" report even --to even.html | grep noise
