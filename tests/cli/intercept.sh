# A constant is learnt, and its size costs nothing: labels that are moved by
# 1000 move the constant alone, in one process and with workers, for every way
# of stepping and for sgd's own loop.  With LIBLINEAR's flags it has the penalty.
for i in 1 2 3 4 5 6 7 8 9; do
    echo "$((i % 4)).25 1:$((i % 3 - 1)) 2:$((i % 2))"
done >near.svm
sed 's/^/100/' near.svm >far.svm
fit() { "$MUSTER" train "$@" m -q >/dev/null && tail -n 3 m | tr '\n' ' '; }
moved() {
    fit near.svm --model linear --l2 0.1 "$@" >near
    fit far.svm --model linear --l2 0.1 "$@" >far
    python3 -c '
near, far = ([float(x) for x in open(name).read().split()]
             for name in ("near", "far"))
near[2] += 1000
print(all(abs(a - b) < 1e-6 for a, b in zip(near, far)), end=" ")'
    echo "$*"
}
moved --optim newton
moved --optim newton -n 2
moved --optim lbfgs --tol 1e-9
moved --optim momentum --steps 20000
moved --optim gd --steps 20000 -n 2 --code local:h=1
fit far.svm -s 11 -p 0 -c 0.1 -e 1e-9 -B 1 | cut -d . -f 1,2 | cut -c 1-4
echo "--- none"
"$MUSTER" train far.svm m --model linear --no-intercept -q >/dev/null
grep bias m
echo "--- one for each class"
printf '%s\n' '1 1:1' '2 1:1' '2 1:2' '3 1:1' '3 1:3' '3 1:2' >c.svm
"$MUSTER" train c.svm m --model softmax --l2 1e9 --optim newton -q >/dev/null
"$MUSTER" predict c.svm m -b 1 -q | sed -n 2p |
    python3 -c 'print(*("%.4f" % float(p) for p in input().split()[1:]))'
