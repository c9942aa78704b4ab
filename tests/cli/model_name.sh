# A model is not written under the name of data, nor a folder made under the
# name of a model.
exec 2>&1
printf 'a,y\n1,0\n2,1\n3,0\n4,1\n' >t.csv
for name in x.csv X.CSV x.svm x.libsvm x.tsv x.npy x.parquet x.txt.gz a9a.t x.pkl x.onnx x.json; do
    "$MUSTER" train t.csv $name -q
    echo "exit $?"
done
"$MUSTER" train t.csv x.csv --force -q
for name in m.model m.txt x.csv; do
    "$MUSTER" train t.csv --out $name -q
    echo "exit $?"
done
ls
"$MUSTER" train t.csv --out run | tail -1
"$MUSTER" train --resume=run --save m.model | tail -1
"$MUSTER" train t.csv m.model --out run.2 -q | tail -1
mkdir folder.model
"$MUSTER" train t.csv --out folder.model | grep -c '^run '
ls
