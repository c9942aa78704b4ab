# Names that are nearly right, in the wrong case, or another program's.
try() { "$MUSTER" "$@" 2>&1 >/dev/null; echo "exit $?"; }
printf 'Age,Fare,Survived\n1,2,0\n3,4,1\n5,1,0\n1,2,1\n' >t.csv
for flag in --C -C --collect --stop --estimate --decode --parts --pieces --replicas --local --staleness --speeds --copies -o --LABEL --chunk_row --max-iter --random_state --sep -z -i --epoch --epochz --early-stopping --batchsize --learning_rat
do
    try train t.csv $flag 1
done
try predict t.csv m --output out.txt
try train t.csv --label survived
try train t.csv --drop AGE
try train t.csv --weight far
try train t.csv --categorical fare
try train t.csv --label species
for flag in --penalty --nproc_per_node --ntasks --hostfile --hosts; do
    try train t.csv $flag 1
done
try train t.csv --solver lbfgs
try fit t.csv
try run t.csv
try reproduce gradient-codin
for flag in --l1 --kernel --dropout --activation --device --fit_intercept --verbose \
    --decimal --thousands --index-col --usecols --encoding --skiprows --stratify \
    --target-column --eta --max-depth; do
    try train t.csv $flag 1
done
