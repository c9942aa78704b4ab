# One row after the other: the same bits for any number of threads and any
# dense storage, others for another seed; each loss; what it has no use for.
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
    echo "$((i % 2)) $((i % 3 + 1)):1 $((i % 2 + 4)):1 $((i % 5 + 6)):1"
done >ones.svm
hash_of() { "$MUSTER" train --optim sgd --l2 0.1 "$@" | sed -n 's/^model *//p'; }
one=$(hash_of ones.svm --storage bit --threads 1)
[ "$one" = "$(hash_of ones.svm --storage bit --threads 2)" ] && echo threads
[ "$one" = "$(hash_of ones.svm --storage f32)" ] && echo storage
[ "$one" = "$(hash_of ones.svm --storage i8)" ] && echo storage
[ "$one" != "$(hash_of ones.svm --seed 1)" ] && echo seed
[ "$(hash_of ones.svm --storage index)" = "$(hash_of ones.svm --storage csr)" ] &&
    echo sparse
for model in "logistic" "svm" "svm --loss hinge" "linear"; do
    # shellcheck disable=SC2086 # two words
    "$MUSTER" train --optim sgd --l2 0.5 --lr 0.1 --model $model --steps 2 \
        ones.svm | grep -e model -e objective
done
"$MUSTER" train --optim sgd --lr 1 --l2 0.01 -v 4 --model svm --loss hinge \
    ones.svm | head -n 1
"$MUSTER" train --optim sgd --l2 0 ones.svm 2>&1
"$MUSTER" train --optim sgd --tol 1e-3 ones.svm 2>&1
"$MUSTER" train --optim sgd --model linear --lr 1e300 --l2 1e-9 ones.svm 2>&1
awk '{ $1 = NR % 3; print }' ones.svm >classes.svm
"$MUSTER" train --optim sgd --model softmax classes.svm 2>&1
"$MUSTER" train --optim sgd --model softmax classes.svm -v 2 2>&1
"$MUSTER" train --optim sgd --model softmax classes.svm -n 2 --code local:h=once 2>&1
"$MUSTER" train --optim gd --batch 1 --model softmax classes.svm -q 2>&1 | grep ^train
"$MUSTER" train --optim sgd ones.svm -n 2 2>&1
echo $?
"$MUSTER" train --optim sgd ones.svm --out run 2>&1
[ ! -e run ] || echo "a run was left behind"
