# Standard streams that are closed: the same model, and no socket in their place.
printf '1 1:1\n-1 1:-1\n1 1:2\n-1 1:-2\n' >t.svm
train() {
    "$MUSTER" train t.svm m.txt -n 2 --model logistic --optim gd --steps 3 --chunk-rows 1 --force -q
}
train >/dev/null 2>&1
cp m.txt whole.txt
said() {
    echo "$1: exit $2, $(cmp -s m.txt whole.txt && echo 'the same model')"
    if [ -s err ]; then cat err; fi
    rm -f m.txt err
}
train <&- >/dev/null 2>err; said 0 $?
train >&- 2>err; said 1 $?
train 2>&- >/dev/null; said 2 $?
train <&- >&- 2>err; said '0 and 1' $?
train <&- 2>&- >/dev/null; said '0 and 2' $?
train >&- 2>&-; said '1 and 2' $?
train <&- >&- 2>&-; said 'all' $?
