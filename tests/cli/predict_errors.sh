# Each a sentence; 2 where the command line is to be mended, else 1.
try() { "$MUSTER" "$@" 2>&1 >/dev/null; echo "exit $?"; }
printf 'solver_type L2R_L2LOSS_SVC\nnr_class 2\nlabel 1 -1\nnr_feature 1\nbias -1\nw\n1\n' >m
echo "1 1:1" >rows.svm
try predict rows.svm
try predict rows.svm absent
try predict absent m
try predict rows.svm rows.svm
try predict rows.svm m out -b 1
try predict rows.svm m absent/out
try predict rows.svm m out more
try predict gen:gmm:100,5 m out
try model
try model show
try model show m out
try model convert m
try model melt m
try predict m rows.svm
# A model where rows are wanted is called a model, of either kind.
printf '\100\0\0\0\0\0\0\0{"__metadata__":{}}' >net.safetensors
for model in m net.safetensors; do
    try train $model
    try data info $model
    try train gen:gmm:100,5 --test $model -q
done
