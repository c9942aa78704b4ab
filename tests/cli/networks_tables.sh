# Networks on plain tables, by plain commands: what is learnt must not hang on
# the units of columns and labels.
awk 'BEGIN { for (i = 0; i < 300; i++) { a = (i * 37 % 101) / 101; b = (i * 59 % 103) / 103; c = (i * 71 % 97) / 97
    printf "%.6f,%.6f,%.6f,%.6f\n", a, b, c, 5000 + 800 * (a - b) * c + 200 * a } }' >numbers.csv
mse() { sed -n 's/^\(train\|metrics\) *mse \([0-9.e+]*\).*/\2/p'; }
learnt() { awk '{ print $1 < 6000 ? "learnt" : "mse " $1 }'; }
# Numbers far from 0: the mean alone leaves a variance of 55,700.
"$MUSTER" train numbers.csv n.safetensors --net "dense16 relu dense1" --model linear -q --passes 200 | mse >said
learnt <said
"$MUSTER" model show n.safetensors | sed -n 's/^answers *\([0-9]*\).* and \([0-9]*\).*/answers around \1, \2 apart/p'
# Predictions and a training that goes on are in the user's units.
"$MUSTER" predict numbers.csv n.safetensors said.txt 2>/dev/null | mse | cmp - said
"$MUSTER" train numbers.csv --init n.safetensors -q --steps 1 --lr 1e-9 | mse | learnt
# Their unit is no matter: 2^10 times as large is the same network.
awk -F, '{ printf "%s,%s,%s,%.6f\n", $1, $2, $3, $4 * 1024 }' numbers.csv >large.csv
for file in numbers.csv large.csv
do
    "$MUSTER" train $file --net "dense16 relu dense1" --model linear -q --passes 5 | sed -n 's/^model *//p'
done | uniq | wc -l
# The rows held out do not tell the mean.
"$MUSTER" train numbers.csv v.safetensors --net "dense1" --model linear -q --passes 1 --valid 0.5 >valid.txt
test "$("$MUSTER" model show v.safetensors | grep ^answers)" != "$("$MUSTER" model show n.safetensors | grep ^answers)" || echo "held-out rows were looked at"
# Few rows: as many passes as make 1,000 steps, in microbatches of 16, whether a
# batch has all rows or not; and all rows are gd's, whatever the batch is called.
hash() { "$MUSTER" train numbers.csv --net "dense16 relu dense1" --model linear "$@" 2>&1 >out | sed -n 's/.*; adam/adam/p' >&2; sed -n 's/^model *//p' out; }
for same in "|--passes 334 --chunk-rows 16 --batch 128" "--batch 300|--batch 5000 --passes 1000 --chunk-rows 16" "--batch 300 --optim gd --passes 20 --lr 0.1|--batch 999 --optim gd --steps 20 --lr 0.1 --chunk-rows 16 -n 2" \
    "--batch-per-worker 32 -n 2 --passes 20|--batch 64 --lr 0.004 --schedule cosine --warmup 20 --passes 20" "--batch-per-worker 32 -n 2 --passes 20 --lr 0.001|--batch 64 --lr 0.002 --warmup 20 --passes 20"
do
    test "$(hash ${same%|*} 2>>told)" = "$(hash ${same#*|} 2>>told)" || echo "$same: two hashes"
done
sort -u told
# Columns in units of their own are brought to mean 0 and deviation 1, by the
# rows that are trained on; the model does the same to others.
awk -F, '{ printf "%.6f,%.6f,%.6f,%d\n", 1000 + $1, $2 / 1000, 1e6 * $3, ($1 > $2) + ($3 > $1) }' numbers.csv >wild.csv
classes() { "$MUSTER" train wild.csv "$@" --net "dense16 relu dense3"; }
right() { sed -n 's/^\(train\|metrics\) *accuracy \([0-9.]*\).*/\2/p'; }
good() { awk '{ print ($1 > 0.9) ? "told apart" : "accuracy " $1 }'; }
classes w.safetensors 2>notes | tee result | right | good
sed -n 's/.*inputs, //p' notes
"$MUSTER" predict wild.csv w.safetensors out.txt 2>/dev/null | right | good
classes --valid 0.2 -q | sed -n 's/^valid *\(accuracy\).*/\1 of held-out rows/p'
for more in "-n 3" "--threads 2"
do
    test "$(classes -q $more | head -1)" = "$(head -1 result)" || echo "$more: another hash"
done
test "$(classes -q --scale standard | head -1)" = "$(head -1 result)" || echo "--scale standard is another"
test "$(classes -q --scale none | head -1)" != "$(head -1 result)" || echo "--scale none does nothing"
classes --scale standard 2>&1 >/dev/null | sed -n 's/.*inputs, //p'
# What is scaled is not divided as well, images either.
for how in standard minmax
do
    "$MUSTER" train wild.csv --net "conv1x2x2 relu dense3" --shape 1x3 --passes 1 --scale $how 2>&1 | sed -n 's/.*weights, //p'
done
# Other rows are taken as they are: images, LIBSVM's, generated ones.
"$MUSTER" train wild.csv --net "conv1x2x2 relu dense3" --shape 1x3 --passes 1 2>&1 | sed -n 's/.*weights, //p'
awk -F, '{ print $4, "1:" $1, "2:" $2 }' wild.csv >wild.svm
for data in wild.svm gen:gmm:60,3
do
    "$MUSTER" train $data --net "dense4 relu dense$(test $data = wild.svm && echo 3 || echo 2)" --passes 1 2>&1 | sed -n 's/.*weights, //p'
done
# A result says what was done.
for data in "wild.csv" "wild.csv --scale minmax" "wild.csv --shape 1x3" wild.svm
do
    "$MUSTER" train $data --net dense3 --passes 1 -q --format json | sed -n '/"scale"/{n;p}'
done
# One label for all rows is nothing to learn, unless it is said to be a number.
awk -F, '{ print $1 "," $2 ",7" }' wild.csv >constant.csv
"$MUSTER" train constant.csv --net dense1 -q 2>&1
"$MUSTER" train constant.csv --net dense1 -q --model linear --passes 1 | grep -c ^model
