exec 2>&1
# Products of small matrices: what is said, what is written, what is refused.
python3 - <<'END'
import struct

def npy(name, shape, kind, values):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (kind, shape)
    head += " " * (-(len(head) + 11) % 64) + "\n"
    with open(name, "wb") as out:
        out.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode())
        out.write(struct.pack("<%d%s" % (len(values), {"<f8": "d", "<i4": "i"}[kind]), *values))

npy("A.npy", "(6, 2)", "<f8", [1, 0, 0, 1, 1, 1, 2, 0, 0, 2, -1, .5])
npy("B.npy", "(2, 3)", "<i4", [1, 2, 3, 4, 5, 6])
npy("x.npy", "(2,)", "<f8", [1, 10])
npy("three.npy", "(3, 1)", "<f8", [1, 2, 3])
npy("deep.npy", "(1, 2, 1)", "<f8", [1, 2])
npy("none.npy", "(0, 2)", "<f8", [])
npy("nan.npy", "(2, 2)", "<f8", [1, 2, 3, float("nan")])
npy("huge.npy", "(4, 1)", "<f8", [1e308] * 4)
npy("tiny.npy", "(4, 2)", "<f8", [1e-200, 1, 2e-200, 2, 3e-200, 3, 0, 4])
npy("uneven.npy", "(4, 2)", "<f8", [1e-8, 2e-8, 1, 1, 2, 2, 3, 3])
npy("spread.npy", "(40, 2)", "<f8", [(i * .7 + j * .3) % 1 / (500 if i % 4 == 0 else 1) for i in range(1, 41) for j in range(2)])
npy("many.npy", "(20, 2)", "<f8", list(range(40)))
npy("huge_b.npy", "(1, 1)", "<f8", [1e308])
END
show() { python3 -c '
import struct, sys
data = open(sys.argv[1], "rb").read()
size = struct.unpack_from("<H", data, 8)[0]
print(data[10:10 + size].decode().strip(), (10 + size) % 64)
flat = struct.unpack("<%dd" % ((len(data) - 10 - size) // 8), data[10 + size:])
print(*(round(value, 9) + 0.0 for value in flat))' "$1"; }
try() { "$MUSTER" product "$@"; echo "exit $?"; }
"$MUSTER" product A.npy B.npy C.npy --code mds:k=2 -n 3 | sed 's/in [0-9.]* s, [0-9.]* s a/in T s, T s a/; s/[0-9.]*e[-+][0-9]* at worst$/R at worst/'
show C.npy
"$MUSTER" product A.npy x.npy y.npy --quiet --format json | python3 -c '
import json, sys
result = json.load(sys.stdin)
print(sorted(result))
print([result[key] for key in ("written", "rows", "inner", "columns", "code", "workers", "enough", "residual")])'
show y.npy
# A name that is no UTF-8 cannot be told in JSON; all else can.
"$MUSTER" product A.npy x.npy "$(printf '\377.npy')" --quiet --format json | python3 -c '
import json, sys
print(sorted(json.load(sys.stdin)))'
try tiny.npy x.npy tiny_out.npy --quiet | grep -v " s a column"
show tiny_out.npy
# Rows that are far smaller than others lose digits where they are added to them.
for code in mds:k=2 cec:l=2 uncoded; do
	"$MUSTER" product uneven.npy x.npy uneven_out.npy --force -n 3 --code $code >/dev/null
done
# That is said with --quiet, too, and the result tells how many.
"$MUSTER" product uneven.npy x.npy uneven_out.npy --force -q -n 3 --code mds:k=2 | sed '/ s a column/d; s/[0-9.]*e[-+][0-9]*/R/g'
for code in mds:k=2 uncoded; do
	"$MUSTER" product uneven.npy x.npy uneven_out.npy --force -q -n 3 --code $code --format json | python3 -c '
import json, sys
result = json.load(sys.stdin)
print(result["code"], abs(result["small_rows_error"] - 1.5e8 * result["residual"]) < 1e-12)'
done
# --exact numeric is of every row: before the start where rounding alone is too
# much, in every step where it depends on who answers.
for code in mds:k=2 mds:k=1 cec:l=2 uncoded; do
	"$MUSTER" product uneven.npy x.npy uneven_out.npy --force -q -n 3 --code $code --exact numeric >/dev/null
	echo "$code: exit $?"
done
try spread.npy x.npy out.npy -n 5 --code mds:k=2 --exact numeric
for code in cec:l=2 cec:l=3; do
	"$MUSTER" product spread.npy B.npy spread_out.npy --force -q -n 5 --code $code --exact numeric --format json | python3 -c '
import json, sys
print(json.load(sys.stdin)["small_rows_error"] <= 1e-12)'
done
try A.npy B.npy out.npy -n 3 --chaos lie:w1@1
try A.npy B.npy one.npy -n 2 --code mds:k=1 | sed '/ s a column/d; s/[0-9.]*e[-+][0-9]* at worst$/R at worst/'
try A.npy B.npy
try A.npy three.npy out.npy
try x.npy B.npy out.npy
try deep.npy B.npy out.npy
try none.npy B.npy out.npy
try nan.npy B.npy out.npy
try A.npy nan.npy out.npy
try three.npy huge_b.npy out.npy -n 6 --code mds:k=5
try A.npy B.npy out.npy -n 3 --code mds:k=4
try A.npy B.npy out.npy -n 3 --code mds:k=0
try A.npy B.npy out.npy -n 3 --code uncoded:k=2
try A.npy B.npy out.npy -n 3 --code steal
try A.npy B.npy out.npy -n 3 --code auto
try many.npy B.npy out.npy -n 30 --code mds:k=20 --exact numeric
try A.npy B.npy C.npy
try A.npy B.npy A.npy --force
try A.npy B.npy nowhere/C.npy
for name in out.csv out.txt out.npz out.npy.gz; do
	try A.npy B.npy $name
done
try missing.npy B.npy out.npy
try A.npy B.npy out.npy --listen 127.0.0.1:0
try huge.npy huge_b.npy out.npy
ls out.*
"$MUSTER" product --help
echo "--- the code that the last columns were computed by"
"$MUSTER" product A.npy B.npy end.npy --code uncoded -n 3 --chaos kill:w1@1 -q | sed -n 's/^product.*; code/code/p'
