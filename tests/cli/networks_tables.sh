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
