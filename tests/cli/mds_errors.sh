exec 2>&1
# What coded data cannot do, in a sentence each.
try() { "$MUSTER" train "$@" --steps 3 --quiet; echo "exit $?"; }
try gen:gmm:800,20 -n 3 --code mds --stragglers 3
try gen:gmm:800,20 -n 4 --code mds --optim sgd
try gen:digits:300 -n 4 --code mds --model softmax
try gen:gmm:800,20 -n 4 --code mds --storage f32 --optim lbfgs
try gen:gmm:800,20 -n 4 --code mds --exact bitwise
try gen:gmm:800,20 -n 4 --code mds:stop=first:2
try gen:gmm:800,20 -n 4 --code mds:stop=deadline:1
try gen:gmm:800,20 -n 4 --code mds --data-shared here.cache
i=0
while [ $i -lt 600 ]; do
    echo "$((i % 2 * 2 - 1)) 1:1 $((i * 4000 + 2)):1"
    i=$((i + 1))
done > wide.svm
try wide.svm -n 3 --code mds
"$MUSTER" simulate gen:digits:300 --model softmax -n 4 --compare mds:s=1,steal --steps 2
echo "exit $?"
