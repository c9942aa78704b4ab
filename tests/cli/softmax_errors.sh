# What softmax regression does not take, in a sentence each, with status 2.
try() { "$MUSTER" train "$@" 2>&1 >/dev/null; echo "exit $?"; }
printf '0 1:1\n0.5 1:2\n2 1:3\n' >numbers.svm
try numbers.svm --model softmax
printf '1 1:1\n1 1:2\n' >one.svm
try one.svm --model softmax
python3 -c 'for i in range(1025): print(i, "1:1")' >many.svm
try many.svm --model softmax
python3 -c 'for i in range(1000): print(i, "20000:1")' >wide.svm
try wide.svm --model softmax
try gen:linear:50,3 --model softmax
try gen:digits:50 --model logistic
try gen:digits:50 --model softmax --metric auc
try gen:digits:50 --model softmax --metric mse
try gen:digits:50 --model softmax --class-weight 11=2
try gen:gmm:50,3 --grid "model=logistic,softmax"
printf '1 1:1\n2 1:2\n3 1:3\n' >three.svm
printf '1 1:1\n4 1:2\n' >other.svm
try three.svm --model softmax --test other.svm
echo "--- a file that is broken behind the weights"
head='solver_type MCSVM_CS\nnr_class 3\nlabel 5 6 9\nnr_feature 1\nbias -1\nw\n1 0 -1\n'
for end in 'muster' 'muster svm' 'muster softmax 7' 'softmax'; do
    printf '%b\n' "$head$end" >bad
    "$MUSTER" model show bad 2>&1
done
printf 'solver_type L2R_LR\nnr_class 2\nlabel 5 6\nnr_feature 1\nbias -1\nw\n1\nmuster softmax\n' >bad
"$MUSTER" model show bad 2>&1
echo "exit $?"
# Prices: whole numbers, of which most are seen once.
seq 100 | awk '{ print $1 * 7919 % 104729 * 1000, "1:" $1 }' >prices.svm
"$MUSTER" train prices.svm --model svm 2>&1
echo "exit $?"
