# Labels that look wrong may be another column's: which one was read is said,
# unless somebody named it.
try() { "$MUSTER" train "$@" 2>&1 >/dev/null | tail -n 1; }
seq 60 | awk '{ print $1 % 3 "," $1 * 7 % 13 / 7 "," $1 * 5 % 11 / 4 }' >first.csv
{ echo "kind,a,b"; cat first.csv; } >named.csv
for data in first.csv named.csv; do
    try $data --net "dense8 relu dense3"
    try $data --model svm
    try $data --model softmax
done
seq 20 | awk '{ print $1 * 7 % 13 "," ($1 % 2 ? "yes" : "no") }' >words.csv
try words.csv --model linear
try first.csv --model svm --label 1
try first.csv --net "dense8 relu dense2" --label 1
awk -F, '{ print $1, "1:" $2, "2:" $3 }' first.csv >first.svm
try first.svm --model svm
