# Networks: what one would be, what is in the file of one, and in wrong files.
net='conv3x3x32 relu conv3x3x64 relu pool2 drop.25 dense128 relu drop.5 dense10'
# How much memory layers take is theirs to change.
size='s/[0-9.]* [kM]B/N MB/g; s/work": [0-9]*/work": N/'
"$MUSTER" model show "$net" --shape 28x28x1 | sed "$size"
echo "$net" >net.txt
"$MUSTER" model show net.txt --shape 28x28 --chunk-rows 64 --threads 2 |
    tail -n 4 | sed "$size"
"$MUSTER" model show 'dense3 tanh dense2' --shape 1x1x4 --format json | sed "$size"
for bad in 'conv3x3x8 gelu dense2' 'conv3x3x8 conv3x3' 'conv3x3x8 relu conv27x27x4' \
    'pool2 conv3x3x4+3' 'relu pool2' '' 'dense1048576 dense1048576'; do
    "$MUSTER" model show "$bad" --shape 28x28x1
done 2>&1
{
    "$MUSTER" model show "$net"
    "$MUSTER" model show "$net" --shape 28x28x1x1
    "$MUSTER" model show cnv3x3x8
} 2>&1

# A file as others would write it, in torch's order.
cat >write.py <<'END'
from tensors import write


notes = {"net": "conv2x2x1 relu dense2", "shape": "2x3x1", "loss": "softmax",
         "divisor": "255", "labels": "7 -1"}
tensors = {"0.weight": ([1, 1, 2, 2], [1, 2, 3, 4]), "0.bias": ([1], [.5]),
           "3.weight": ([2, 2], [1, -1, 2, 0]), "3.bias": ([2], [0, 1])}
write("m.safetensors", notes, tensors)
write("other.safetensors", dict(notes, net="conv2x2x1 relu dense3"), tensors)
write("nan.safetensors", notes, dict(tensors, **{"0.bias": ([1], [float("nan")])}))
write("foreign.safetensors", {"format": "pt"}, tensors)
write("changed.safetensors", dict(notes, hash="00"), tensors)
END
PYTHONPATH=$ROOT/tests/lib/lib python3 -B write.py
"$MUSTER" model show m.safetensors | sed "$size"
"$MUSTER" model show m.safetensors --format json | python3 -c '
import json, sys
shown = json.load(sys.stdin)
print({key: shown[key] for key in shown if key not in ("layers", "memory")})'
head -c 100 m.safetensors >cut.safetensors
for bad in other nan foreign changed cut; do
    "$MUSTER" model show $bad.safetensors
done 2>&1

# Back and forth is the same, and the flat form is torch's parameters_to_vector.
"$MUSTER" model convert m.safetensors again.safetensors
"$MUSTER" model convert again.safetensors once.safetensors
cmp again.safetensors once.safetensors && echo "safetensors: same bytes"
"$MUSTER" model convert m.safetensors m.npy
python3 -c '
import struct
npy = open("m.npy", "rb").read()
length = struct.unpack("<H", npy[8:10])[0]
print(npy[10:10 + length].decode().split("  ")[0])
print(struct.unpack("<11f", npy[10 + length:]))'
"$MUSTER" model convert m.safetensors m.txt 2>&1
"$MUSTER" model convert m.safetensors m.csv 2>&1
"$MUSTER" model convert m.safetensors m.onnx 2>&1
ls
echo "--- the words of a table may be megabytes of the header"
python3 -c 'print("a,y"); [print("x" * 250 + f"{i},{i % 2}") for i in range(40000)]' >words.csv
"$MUSTER" train words.csv words.safetensors --net dense2 --steps 1 -q >/dev/null
"$MUSTER" model show words.safetensors 2>&1 | grep -a -E '^(muster|kind|table)'
