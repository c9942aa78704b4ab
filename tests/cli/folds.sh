# Every fold has its share of a rare class, and what scales, fills in or tells
# categories apart has not seen the rows that are held out: an outlier spoils
# the folds that learn from it, not the one that is judged on it.
awk 'BEGIN { print "x,y"; for (i = 0; i < 100; i++)
    printf "%g,%d\n", i / 100, (i % 20 == 7) }' >rare.csv
"$MUSTER" train rare.csv -v 5 --metric auc --steps 20 | grep fold |
    grep -c auc
awk 'BEGIN { print "x,y"; for (i = 0; i < 100; i++)
    printf "%g,%d\n", i == 37 ? 1e6 : i / 100, (i >= 50) }' >outlier.csv
"$MUSTER" train outlier.csv -v 5 --scale standard --steps 100 | grep fold |
    sed 's/.*\(auc [0-9.]*\).*/\1/' | sort
echo "--- a part, and a grid"
"$MUSTER" train outlier.csv m --valid 0.2 --scale standard --steps 5 -q \
    --test outlier.csv | grep -c -e valid -e test
"$MUSTER" train outlier.csv -v 5 --grid c=1,10 --scale minmax | head -1 |
    cut -c1-20
printf 'w,x,y\n' >words.csv
awk 'BEGIN { for (i = 0; i < 40; i++)
    printf "%s,%s,%d\n", "w" i % 9, (i % 5 ? i : "NA"), i % 2 }' >>words.csv
"$MUSTER" train words.csv -v 4 --missing mean --steps 5 2>/dev/null |
    grep -c fold
echo "--- one penalty: that of all rows, which is announced"
folds_of() { "$MUSTER" train gen:gmm:300,20 "$@" --format json 2>/dev/null |
    grep -e objective -e auc; }
for way in "-v 3" "-v 3 --grid model=logistic,svm" "--grid optim=newton --valid 0.5"; do
    [ "$(folds_of $way)" = "$(folds_of $way --l2 0.0033333333333333335)" ] &&
        echo "$way: the same"
done
echo "--- what a training alone would say is wrong, once"
awk 'BEGIN { print "a,b,y"; for (i = 0; i < 200; i++)
    printf "%d,%g,%d\n", i * 37 % 200 * 9, i % 7 / 1000, i % 2 }' >sizes.csv
few() { "$MUSTER" train sizes.csv "$@" 2>/dev/null | grep '^ '; }
few --batch 32 --optim gd -v 3
few --batch 32 --optim gd --grid l2=0,0.1
few --batch 32 --optim gd --grid l2=0,0.1 best.model
few --scale standard --batch 32 --optim gd -v 3
few --net "dense8 relu dense2" --passes 3 --scale none --lr 3 -v 3
few --net "dense8 relu dense2" --passes 3 --scale none --grid lr=3,4
