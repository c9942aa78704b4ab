# Values that are not there: `predict` fills none in, and names no option for it
# that it does not have.
cat >write.py <<'END'
import struct


def write(name, rows):
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }" % (len(rows), len(rows[0]))
    head += " " * (117 - len(head)) + "\n"
    with open(name, "wb") as file:
        file.write(b"\x93NUMPY\x01\0" + struct.pack("<H", len(head)) + head.encode())
        for row in rows:
            file.write(struct.pack("<%df" % len(row), *row))


gap = float("nan")
write("good.npy", [[1, 5, 0], [2, 3, 1], [3, 4, 0], [4, 1, 1]])
write("gap.npy", [[1, 5, 0], [2, gap, 1]])
write("large.npy", [[1, 5, 0], [2, float("inf"), 1]])
END
python3 -B write.py
printf '1,5,0\n2,3,1\n3,4,0\n' >good.csv
printf '1,5,0\n2,,1\n' >gap.csv
printf '1,5,0\n2,inf,1\n' >large.csv
"$MUSTER" train good.npy -q linear >/dev/null
"$MUSTER" train good.npy -q --net "dense2" --passes 2 net.safetensors >/dev/null
"$MUSTER" train good.npy -q --net "dense2" --passes 2 --scale none plain.safetensors >/dev/null
for model in linear net.safetensors plain.safetensors; do
    for rows in gap.npy large.npy gap.csv large.csv; do
        "$MUSTER" predict $rows $model 2>&1 >/dev/null
    done
done
"$MUSTER" train gap.npy -q 2>&1
"$MUSTER" train gap.npy -q --net dense2 2>&1
"$MUSTER" train gap.npy -q --missing mean | grep -c objective
