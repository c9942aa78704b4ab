# A model by hand, rows by hand: every figure below can be checked on paper.
printf 'solver_type L2R_LR\nnr_class 2\nlabel 7 3\nnr_feature 2\nbias 1\nw\n1\n-2\n0.5\n' >m
printf '7 1:1\n3 2:1\n7 2:1 9:5\n3 1:0.5\n' >rows.svm
"$MUSTER" predict rows.svm m 2>/dev/null
echo "--- to a file, with probabilities"
"$MUSTER" predict rows.svm m out.txt -b 1
cat out.txt
echo "--- csv"
"$MUSTER" predict rows.svm m out.csv --probability --metric f1
cat out.csv
echo "--- json"
"$MUSTER" predict rows.svm m --format json
echo "--- no labels, some strange labels"
printf '0 1:1\n0 2:1\n' >none.svm
"$MUSTER" predict none.svm m out.txt --force
printf '7 1:1\n4 2:1\n3 2:1\n' >some.svm
"$MUSTER" predict some.svm m out.txt --force 2>&1
echo "--- numbers"
printf 'solver_type L2R_L2LOSS_SVR\nnr_class 2\nnr_feature 1\nbias -1\nw\n0.1\n' >r
printf '0.5 1:3\n1 1:10\n' >numbers.svm
"$MUSTER" predict numbers.svm r 2>&1
echo "--- three classes: the largest score, the first of equals"
printf 'solver_type MCSVM_CS\nnr_class 3\nlabel 5 6 9\nnr_feature 2\nbias -1\nw\n1 0 -1\n0 1 0\n' >k
printf '5 1:1\n6 2:2\n9 1:-1\n6 1:1 2:1\n' >three.svm
"$MUSTER" predict three.svm k 2>&1
"$MUSTER" predict three.svm k out.csv -q --force
cat out.csv
