# Whole labels of 2^53 and more are rounded as numbers: they are refused, with a
# cure that keeps every digit; below it all digits are shown, and others are as
# short as they can be.
table() { seq 20 | awk -v a="$1" -v b="$2" -v c="${3:-$2}" 'BEGIN { print "x,y" }
    { print $1 * 7 % 13 "," a; print $1 * 5 % 11 + 9 "," b; print $1 * 3 % 7 + 30 "," c }'; }
rows() { sed 1d "$1" | awk -F, '{ print $2 " 1:" $1 }'; }
try() { "$MUSTER" "$@" 2>&1 >/dev/null | sed -n 1p; }
steam="76561198000000001 76561198900000003"
table 9007199254740992 9007199254740993 9007199254740994 >three.csv
table 9007199254740993 5 >edge.csv
table 76561198000000000 76561198000000001 >same.csv
table $steam >steam.csv
table 400000000001 400000000002 >whole.csv
table 0.1 0.2 >tenths.csv
table 1e15 -9007199254740991 >last.csv
rows steam.csv >steam.svm
for data in three.csv edge.csv same.csv steam.csv steam.svm; do try train $data; done
python3 - <<'END'
import struct
def save(name, kind, shape, *values):
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    with open(name, "wb") as file:
        file.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head)
        file.write(struct.pack(f"<{len(values)}{'d' if kind == '<f8' else 'q'}", *values))
save("x.npy", "<f8", (40, 1), *[i * 7 % 13 for i in range(40)])
save("y.npy", "<i8", (40,), *[76561198000000001, 76561198900000003] * 20)
END
try train x.npy --labels y.npy
try train steam.csv --model softmax
"$MUSTER" train steam.csv --model linear -q >/dev/null && echo "as numbers"
for data in three.csv same.csv steam.csv; do
    try train $data $data.model --categorical auto,y
    "$MUSTER" predict $data $data.model 2>&1 | LC_ALL=C sort | uniq -c
done
# Other digits at the end are another class.
table 76561198000000002 76561198900000003 >others.csv
"$MUSTER" predict others.csv steam.csv.model out --force 2>&1
for data in whole.csv tenths.csv last.csv; do
    try train $data $data.model
    "$MUSTER" predict $data $data.model --confusion 2>&1 | LC_ALL=C sort | uniq -c
    "$MUSTER" model show $data.model | grep labels
done
"$MUSTER" train whole.csv --test tenths.csv -q 2>&1
# A column of ids as categories: as many as there are.
awk -F, 'NR == 1 { print "id," $0; next } { print "7656119800000000" NR % 3 "," $0 }' whole.csv >ids.csv
"$MUSTER" train ids.csv --categorical auto,id 2>&1 | sed -n 1p
