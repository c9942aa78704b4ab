# A table with words: the model keeps its encoder, and predict encodes others
# the same way, whatever they have or lack.
cat >train.csv <<'END'
colour,size,weight,species
red,S,1.5,cat
blue,M,2.5,dog
red,L,3,dog
"light green",S,1,cat
blue,S,1.2,cat
red,M,2,dog
END
cat >rows.csv <<'END'
colour,size,weight
red,S,1
pink,M,2
pink,XL,3
END
printf 'species\tcolour\tsize\tweight\ncat\tred\tS\t1\nfish\tred\tM\t2\n' >first.tsv
"$MUSTER" train train.csv m --categorical all,species --steps 30 -q >/dev/null
"$MUSTER" train train.csv m --categorical colour,size,species --pairs \
    --scale standard --steps 50 --test train.csv -q |
    grep -v -e steps -e model
echo "--- the training table itself"
"$MUSTER" predict train.csv m out.txt
cat out.txt
echo "--- no labels, categories that are new"
"$MUSTER" predict rows.csv m 2>&1
"$MUSTER" predict rows.csv m --format json -q
echo "--- the label elsewhere, a class that is new"
"$MUSTER" predict first.tsv m out.csv --probability 2>&1
sed 's/[0-9]*\.[0-9]*/N/g' out.csv
echo "--- the model"
"$MUSTER" model show m | grep -e labels -e table -e features
"$MUSTER" model show m --format json | grep -A 14 encoder
"$MUSTER" model convert m again && cmp m again && echo "text: same bytes"
echo "--- refusals"
printf 'a,b\n1,2\n' >narrow.csv
"$MUSTER" predict narrow.csv m 2>&1
printf 'colour,size,weight\nred,S,heavy\n' >bad.csv
"$MUSTER" predict bad.csv m 2>&1
sed 's/encoder 2/encoder 3/' m >newer
"$MUSTER" predict rows.csv newer 2>&1
echo "--- rows that are encoded already; a model without an encoder"
echo "0 1:1 2:1" >rows.svm
"$MUSTER" predict rows.svm m 2>/dev/null
sed '/^muster encoder/,$d' m >old
"$MUSTER" predict rows.svm old 2>/dev/null
if command -v liblinear-predict >/dev/null; then
    liblinear-predict rows.svm m theirs >/dev/null && cat theirs
else
    echo 0
fi
# Columns of probabilities: one order for all models, that of the labels.
printf 'x,y,ok\n' >yes.csv
for i in 1 2 3 4 5 6 7 8; do
    printf '%d,%d,yes\n-%d,%d,no\n' $i $((i % 3)) $i $((i % 5)) >>yes.csv
done
"$MUSTER" train yes.csv yes.model -q >/dev/null
"$MUSTER" train yes.csv yes.safetensors --net dense2 --passes 2 -q >/dev/null
for model in yes.model yes.safetensors; do
    "$MUSTER" predict yes.csv $model --style csv --probability -q | head -1
done
"$MUSTER" predict yes.csv yes.model --style csv --probability -q |
    awk -F, 'NR > 1 && ($1 == "yes") != ($4 > $3) { print "swapped", $0 }'
