# Labels of more different words than there can be classes are no numbers, whatever
# is said of the model.
awk 'BEGIN { print "x,sku"; for (i = 0; i < 3300; i++) printf "%d,A%04d\n", i % 7, i % 1100 }' >sku.csv
for words in "" "--net dense4" "--model softmax" "--model linear"; do
    "$MUSTER" train sku.csv m.model $words
    echo "exit $?"
    ls m.model 2>/dev/null
done 2>&1
awk 'BEGIN { print "x,sku"; for (i = 0; i < 3072; i++) printf "%d,A%04d\n", i % 7, i % 1024 }' >sku.csv
"$MUSTER" train sku.csv m.model --steps 1 -q | grep -o '^saved.*'
