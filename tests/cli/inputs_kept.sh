# Nothing that is read is written over, and no file that is no model is taken
# for one to replace.
try() { "$MUSTER" "$@" -q 2>&1 >/dev/null; echo "exit $?"; }
train() { try train --model logistic --optim gd --steps 2 "$@"; }
printf '1 1:1\n-1 1:-1\n' >tr.svm
cp tr.svm te.svm
cp tr.svm te
ln tr.svm hard.svm
ln -s tr.svm soft.svm
train tr.svm m.txt
train tr.svm m.txt
sum=$(cat tr.svm te.svm te m.txt | cksum)
train tr.svm tr.svm
train tr.svm ./te
train tr.svm hard.svm --force
train tr.svm --save soft.svm --force
train tr.svm te.svm --test te.svm --force
train tr.svm te.svm --valid te.svm --force
train --config te.svm tr.svm te.svm
try train - m.txt --model logistic --force <m.txt
try predict te.svm m.txt te.svm
try predict te.svm m.txt m.txt
try predict te.svm m.txt tr.svm
try model convert m.txt ./m.txt
try model convert m.txt te.svm
printf '# muster delays 1\n' >d.trace
train tr.svm -n 2 --delay trace:d.trace --record d.trace
try simulate -n 4 --no-compute --steps 3 --csv a --plot a
try simulate -n 4 --no-compute --steps 3 --csv - --plot /dev/stdout
[ "$sum" = "$(cat tr.svm te.svm te m.txt | cksum)" ] && echo "all as before"
train tr.svm te --force
head -n 1 te
: >empty
train tr.svm empty
# What a network is made from is read as well.
echo 'dense2' >net.txt
try train tr.svm net.txt --net net.txt --passes 1 --force
try train tr.svm m.net --net net.txt --passes 1
try train tr.svm m.net --net net.txt --init m.net --passes 1 --force
cat net.txt
# Whatever has one word in its first line, or a model's first word, is no model
# and no list of predictions; an earlier list could be the labels of a study.
printf '{\n  "model_card": 1\n}\n' >card.json
printf '#!/bin/sh\nexit\n' >script
printf '1\n-1\n' >labels
echo '# solver_type L2R_LR is what the file begins with' | cut -c3- >notes
printf '\002\0\0\0\0\0\0\0{}' >other
for file in card.json script labels notes other; do
    cp $file kept
    try predict te.svm m.txt kept
    train tr.svm kept
    try model convert m.txt kept
    cmp $file kept
done
try predict te.svm m.txt labels --force
