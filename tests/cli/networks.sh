# Networks: one hash for threads, instruction sets, workers, codes, relays and
# deaths, resumed in mid-pass.
data=gen:digits:200
net="conv3x3x4 relu pool2 drop.25 dense16 relu dense10"
hash() { "$MUSTER" train $data -q --net "$net" --format json --passes 2 --batch 64 --lr 0.002 "$@" 2>errors | sed -n 's/.*"hash": "\(.\{12\}\).*/\1/p'; cat errors >&2; }
one=$(hash)
test -n "$one" || echo "no hash"
for more in "--threads 2" "--threads 4" "--isa portable" "--isa avx2" "-n 1" "-n 2" "-n 5" "-n 8 --bulk tcp" "-n 4 --code frc" "-n 4 --code rep:s=1" "-n 4 --fanout 2" "-n 3 --verify" "-n 3 --audit 20%" "-n 3 --chaos kill:w1@4 --respawn" "-n 2 --chaos kill:coordinator@5" "-n 3 --chaos lie:w1@3 --verify"
do
    case $more in
    *avx2*) "$MUSTER" train gen:gmm:60,3 -q --isa avx2 >/dev/null 2>&1 || continue ;;
    esac
    test "$(hash $more 2>/dev/null)" = "$one" || echo "$more: another hash"
done
test "$(hash --schedule cosine)" != "$one" || echo "--schedule does nothing"
test "$(hash --seed 1)" != "$one" || echo "the seed does nothing"
test "$(hash --chunk-rows 8)" != "$one" || echo "--chunk-rows does nothing"
local=$(hash --shuffle local)
test "$(hash --shuffle local -n 3)" = "$local" || echo "local: another hash"
# 200 rows, 64 a step, 16 of a chunk: a step has 4 chunks, as with rows.
test "$(hash --shuffle local --chunk-rows 56)" = "$local" || echo "local: other chunks"
whole=$(hash --batch 200 --chunk-rows 32)
test "$(hash --batch 1000 --chunk-rows 32 -n 2)" = "$whole" || echo "all rows: another hash"
simulated=$("$MUSTER" simulate $data --net "$net" --passes 2 --batch 64 --lr 0.002 -n 4 --code frc 2>/dev/null | sed -n 's/^model *\(.\{12\}\).*/\1/p')
test "$simulated" = "$one" || echo "simulated to another hash"
# In mid-pass, and on; alone, and with workers.
for who in "" "-n 2"
do
    rm -rf run
    "$MUSTER" train $data -q --net "$net" --steps 5 --batch 64 --lr 0.002 $who --out run >/dev/null 2>&1 || echo "not begun"
    went=$("$MUSTER" train $data -q --net "$net" --format json --passes 2 --batch 64 --lr 0.002 -n 3 --out run --resume | sed -n 's/.*"hash": "\(.\{12\}\).*/\1/p')
    test "$went" = "$one" || echo "resumed to another hash ($who)"
done
"$MUSTER" train $data -q --net "$net dense10" --passes 2 --batch 64 --lr 0.002 -n 3 --out run --resume 2>&1 | cut -d: -f2-
