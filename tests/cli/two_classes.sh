# Networks and softmax regression of two classes are judged as logistic
# regression is: by the larger label, and by auc; of more classes there is none.
names() { grep "^$1" | sed 's, (of [^)]*),,' | tr ',' '\n' | awk '{ print $(NF - 1) }' | xargs; }
seq 300 | awk '{ x = ($1 * 37 % 101) / 101; print x "," (x > 0.9 ? "yes" : "no") }' >rare.csv
trained() {
    "$MUSTER" train rare.csv "$@" -q --metric auc --force | names train
    "$MUSTER" predict rare.csv "$1" 2>&1 >/dev/null | names metrics
}
trained m.txt
trained m.txt --model softmax
trained m.safetensors --net dense2
echo "--- one that always says no finds no yes"
"$MUSTER" train rare.csv --net dense2 -q --passes 2 --lr 0.3 --class-weight no=1000 --format json |
    python3 -c 'import json, sys; m = json.load(sys.stdin)["train_metrics"]; print(m["recall"], m["f1"], m["accuracy"] > 0.8)'
echo "--- a file whose labels fall"
printf 'solver_type MCSVM_CS\nnr_class 2\nlabel 2 1\nnr_feature 1\nbias -1\nw\n1 -1\n' >falls
printf 'solver_type MCSVM_CS\nnr_class 2\nlabel 1 2\nnr_feature 1\nbias -1\nw\n-1 1\n' >rises
printf '2 1:2\n1 1:1\n1 1:-1\n2 1:-.5\n2 1:.5\n' >rows
"$MUSTER" predict rows falls 2>one >/dev/null
"$MUSTER" predict rows rises 2>two >/dev/null
diff one two && cat one
"$MUSTER" train gen:digits:60 --net dense10 --metric auc 2>&1 | tail -n 1
echo "--- of words it is said which one f1, precision and recall are about"
for i in 1 2 3 4 5 6 7 8; do echo "$((i % 4)),$((i / 5)),$( ((i % 3)) && echo ok || echo faulty)"; done >words.csv
"$MUSTER" train words.csv words --test words.csv -q | grep -e train -e test
"$MUSTER" predict words.csv words words.txt --metric recall | head -1
"$MUSTER" train words.csv -v 2 --metric precision -q | grep -e all -e 'fold 1'
"$MUSTER" train words.csv --grid c=1,2 --valid .25 -q | grep best
