# Options that mean nothing to rows of that form, or to the optimiser, are not
# passed over; words of
# classes are shown, and marked where blanks are between fields.
try() { "$MUSTER" "$@" 2>&1 >/dev/null; echo "exit $?"; }
printf '1 1:2\n0 1:1\n' >a.svm
printf 'x,y\n1,"a, b"\n2,c\n3,"a, b"\n4,c\n' >t.csv
try train a.svm --label x
try train a.svm --labels t.csv
try train t.csv --labels a.svm
for flag in '--label x' '--drop x' '--scale standard' --zero-based '--header no'
do
    try data info gen:gmm:10,2 $flag
done
"$MUSTER" data info t.csv | grep labels
"$MUSTER" data info t.csv --format json | grep '"label"'
"$MUSTER" train t.csv m -q >/dev/null
"$MUSTER" predict t.csv m out.txt -q >/dev/null && head -2 out.txt
"$MUSTER" predict t.csv m out.txt -q -b 1 --force >/dev/null && cut -d. -f1 out.txt
try train t.csv --momentum 0.9
try train t.csv --momentum 0.9 --optim adam
try train t.csv --lr 0.1
"$MUSTER" train t.csv --lr 0.1 --optim momentum --momentum 0.5 -q | grep -c objective
