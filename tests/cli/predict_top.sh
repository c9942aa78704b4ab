# The likeliest labels, and a confusion matrix, of models by hand.
printf 'solver_type L2R_LR\nnr_class 2\nlabel 7 3\nnr_feature 2\nbias 1\nw\n1\n-2\n0.5\n' >m
printf '7 1:1\n3 2:1\n7 2:1 9:5\n3 1:0.5\n' >rows.svm
"$MUSTER" predict rows.svm m --top 1 -q
"$MUSTER" predict rows.svm m out.csv --top 5 --confusion
cat out.csv
# Softmax of four: equal ones in the model's order, and rows of labels that it
# does not know or never says.
printf 'solver_type MCSVM_CS\nnr_class 4\nlabel 5 6 9 1\nnr_feature 2\nbias -1\nw\n1 0 -1 -9\n0 1 0 -9\nmuster softmax\n' >k
printf '5 1:1\n6 2:2\n9 1:-1\n6 1:1 2:1\n5 1:-2\n8 1:1\n1 1:3\n' >rows
"$MUSTER" predict rows k --top 2 --confusion 2>&1
"$MUSTER" predict rows k --top 2 --confusion --format json | python3 -c '
import json, sys
said = json.load(sys.stdin)
print(said["predictions"][0], said["top_accuracy"])
print(said["confusion"])'
# Words.
printf 'kind,x\ncat,1\n"big dog",-1\ncat,2\n"big dog",3\n' >pets.csv
"$MUSTER" train pets.csv pets.model --label kind -q >/dev/null
"$MUSTER" predict pets.csv pets.model out.txt --top 2 --confusion | sed 's/^metrics.*/metrics/'
sed 's/ 0\.[0-9]*/ p/g' out.txt
"$MUSTER" predict pets.csv pets.model out.txt --top 2 --force | tail -n 1
printf 'solver_type L2R_L2LOSS_SVR\nnr_class 2\nnr_feature 1\nbias -1\nw\n0.1\n' >r
printf 'solver_type L2R_L2LOSS_SVC\nnr_class 2\nlabel 1 -1\nnr_feature 1\nbias -1\nw\n0.1\n' >s
{
    "$MUSTER" predict rows r --confusion
    "$MUSTER" predict rows r --top 2
    "$MUSTER" predict rows s --top 2
    "$MUSTER" predict rows k --top 2 -b 1
    "$MUSTER" predict rows k --top 0
} 2>&1
