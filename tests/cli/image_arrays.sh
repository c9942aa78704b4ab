# Arrays of images: what their dimensions say, what contradicts them, and labels
# of a network whose classes are words.
python3 - <<'PYTHON'
import struct, zipfile, io
def npy(sizes, kind, values):
    head = ("{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (kind, sizes)).ljust(117) + "\n"
    return b"\x93NUMPY\1\0\x76\0" + head.encode() + struct.pack("<%d%s" % (len(values), {"|u1": "B", "<f4": "f"}[kind]), *values)
def save(name, *what):
    with open(name, "wb") as out:
        out.write(npy(*what))
labels = [i % 2 for i in range(40)]
pixels = [200 if (p % 6 < 3) == (label == 1) else 10 + p for label in labels for p in range(36)]
save("grey.npy", (40, 6, 6), "|u1", pixels)
save("one.npy", (40, 1, 6, 6), "|u1", pixels)
save("three.npy", (40, 3, 6, 6), "|u1", pixels * 3)
save("flat.npy", (40, 36), "|u1", pixels)
save("labels.npy", (40,), "|u1", labels)
with zipfile.ZipFile("both.npz", "w") as out:
    out.writestr("x.npy", npy((40, 6, 6), "|u1", pixels))
    out.writestr("y.npy", npy((40,), "|u1", labels))
with zipfile.ZipFile("keras.npz", "w") as out:
    for name, few in (("test", 8), ("train", 40)):
        out.writestr("x_%s.npy" % name, npy((few, 6, 6), "|u1", pixels[:36 * few]))
        out.writestr("y_%s.npy" % name, npy((few,), "|u1", labels[:few]))
with open("words.csv", "w") as out:
    for i, label in enumerate(labels):
        out.write(",".join(map(str, pixels[36 * i:36 * i + 36])) + "," + ("left", "right")[label] + "\n")
PYTHON
net="conv3x3x2 relu dense2"
train() { "$MUSTER" train "$@" -q --net "$net" --passes 2 --batch 8 2>&1 | sed -n 's/^model *//p; s/^muster: //p'; }
same() { [ "$(train "$@")" = "$(cat hash)" ] && echo "as grey.npy: $*"; }
train grey.npy --labels labels.npy >hash
same both.npz
train keras.npz | sed "s/$(cat hash)/the same hash/"
"$MUSTER" train keras.npz --net "$net" --passes 1 2>&1 | grep "left alone"
same one.npy --labels labels.npy
same one.npy --labels labels.npy --shape 6x6x1
same grey.npy --labels labels.npy --shape 6x6
train three.npy --labels labels.npy
train three.npy --labels labels.npy --shape 3x6x6 | wc -l
echo "--- what contradicts the file, and pixels that are no labels"
train grey.npy --labels labels.npy --shape 4x9
train both.npz --shape 9x4x1
train flat.npy --labels labels.npy --shape 5x7
train grey.npy
train grey.npy --label 36
echo "--- classes that are words"
"$MUSTER" train words.csv -q --shape 6x6x1 --net "$net" --passes 8 --batch 8 --lr .02 words.safetensors >/dev/null 2>&1
for rows in words.csv grey.npy flat.npy both.npz; do
    "$MUSTER" predict $rows words.safetensors out.txt --force 2>&1 | sed 's/accuracy.*/accuracy/'
    sort out.txt | uniq -c
done
"$MUSTER" train both.npz -q --init words.safetensors --passes 1 2>&1
