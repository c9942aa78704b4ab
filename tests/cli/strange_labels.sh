# Labels that the training did not have are named as the file and the training
# set have them, and rows that cannot be measured on are no silence.
table() { echo "x,y"; for i in 1 2 3 4 5 6; do echo "$i,$1"; echo "$((i + 3)),$2"; done; }
table no yes >words.csv
table 0 1 >numbers.csv
table no maybe >maybe.csv
table 0 2 >two.csv
for test in numbers maybe; do
    "$MUSTER" train words.csv --test $test.csv -q 2>&1
done
"$MUSTER" train words.csv --valid maybe.csv -q 2>&1
"$MUSTER" train numbers.csv --test two.csv -q 2>&1
"$MUSTER" train numbers.csv --test words.csv -q 2>&1
"$MUSTER" train words.csv m -q >/dev/null
"$MUSTER" predict numbers.csv m out 2>&1
"$MUSTER" predict maybe.csv m out --force 2>&1
echo "1,2" >one.csv
"$MUSTER" predict --label none one.csv m out --force 2>&1
# Words where the model's labels are numbers.
"$MUSTER" train numbers.csv n -q >/dev/null
"$MUSTER" predict words.csv n out --force 2>&1
"$MUSTER" predict --label none words.csv n out --force 2>&1
