# The model follows the labels and the choice is said, whatever form they have.
said() { "$MUSTER" train "$@" 2>&1 >/dev/null | sed -n '1,2p'; }
rows() { for label; do echo "$label 1:1 2:0.5"; done; }
five() { for _ in 1 2 3 4 5; do rows "$@"; done; }
echo "--- two labels, whatever they are"
rows 1 1 1 7 >a.svm
said a.svm
rows 0.5 0.5 1.25 >a.svm
said a.svm
echo "--- whole numbers, at most 20, each five times"
five 3 1 2 >a.svm
said a.svm
five $(seq 20) >a.svm
said a.svm | cut -c 1-75
five $(seq 21) >a.svm
said a.svm | cut -c 1-75
(five 1 2; rows 3 3 3 3) >a.svm
said a.svm
five 1 2 2.5 >a.svm
said a.svm
said a.svm --model softmax -q
echo "--- words"
printf 'x,kind\n1,cat\n2,dog\n3,cow\n' >a.csv
said a.csv
printf 'x,kind\n1,cat\n2,dog\n3,dog\n' >a.csv
said a.csv
echo "--- other forms"
(echo x,y; for _ in 1 2 3 4 5; do printf '1,0\n2,1\n3,2\n'; done) >a.csv
said a.csv
python3 - <<'END'
import struct
def npy(name, rows, cols, values):
    head = "{'descr': '<f8', 'fortran_order': False, 'shape': (%s), }" % (
        f"{rows}, {cols}" if cols else f"{rows},")
    head += " " * (117 - len(head)) + "\n"
    with open(name, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)))
        out.write(head.encode() + struct.pack(f"<{len(values)}d", *values))
npy("x.npy", 15, 2, [i * j % 7 for i in range(15) for j in (1, 3)])
npy("y.npy", 15, 0, [i % 3 for i in range(15)])
npy("z.npy", 15, 0, [i / 2 for i in range(15)])
END
said x.npy --labels y.npy
said x.npy --labels z.npy
said gen:digits:200
said gen:linear:50,3
# A class of few rows makes numbers of all labels, and is named.
awk 'BEGIN { print "x,y"; for (i = 0; i < 40; i++) print i "," i % 3
             print "5,9" }' >rare.csv
"$MUSTER" train rare.csv 2>&1 | grep 'whole labels,'
# So do more than 20 of them, unless there are so many that they count something.
for count in 30 100 101; do
    awk -v n=$count 'BEGIN { print "x,y"; for (i = 0; i < 10 * n; i++) print i "," i % n }' >many.csv
    "$MUSTER" train many.csv 2>&1 | grep 'taken for numbers' || echo "$count: nothing is said"
done
# More than ten that are far apart are prices, not names; ten, or a few gaps, are not.
price() {
    awk -v n=$1 -v far=$2 'BEGIN { print "x,y"; for (i = 0; i < 10 * n; i++) print i "," 11000 + far * (i % n) }' >price.csv
    "$MUSTER" train price.csv 2>&1 | grep -o 'model [a-z]* ([^)]*)\|.*taken for.*'
}
price 19 1000
price 11 1000
price 10 1000
price 19 2
price 19 3
echo "--- a model that was asked for has no hint"
"$MUSTER" train price.csv --model softmax 2>&1 | grep 'taken for' || echo "nothing is said"
