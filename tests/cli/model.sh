# Look into a model and turn it into other forms; back and forth is the same.
printf 'solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 3\nbias 1\nw\n0.5 \n0 \n-2 \n0.25 \n' >m
"$MUSTER" model show m
"$MUSTER" model show m --format json
"$MUSTER" model convert m again
cmp m again && echo "text: same bytes"
for form in csv npy safetensors; do
    "$MUSTER" model convert m m.$form
done
cat m.csv
python3 - <<'END'
import json
import struct
npy = open("m.npy", "rb").read()
length = struct.unpack("<H", npy[8:10])[0]
print(npy[:8], (10 + length) % 64, npy[10:10 + length].decode().split("  ")[0])
print(struct.unpack("<4d", npy[10 + length:]))
tensor = open("m.safetensors", "rb").read()
length = struct.unpack("<Q", tensor[:8])[0]
print(json.loads(tensor[8:8 + length]), length % 8)
print(struct.unpack("<4d", tensor[8 + length:]))
END
