# A network knows on what scale its pixels were: bytes of IDX and npy are brought
# to it, and other numbers on another scale are refused.
python3 - <<'END'
import random, struct
random.seed(5)
def picture(label):
    return [min(255, max(0, int(random.gauss(200 if (i % 8 < 4) == (label == 1) else 30, 20)))) for i in range(64)]
def idx(name, sizes, values):
    with open(name, "wb") as out:
        out.write(struct.pack(">BBBB", 0, 0, 8, len(sizes)))
        out.write(struct.pack(">%dI" % len(sizes), *sizes) + bytes(values))
def npy(name, sizes, kind, values):
    head = ("{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (kind, sizes)).ljust(117) + "\n"
    with open(name, "wb") as out:
        out.write(b"\x93NUMPY\1\0\x76\0" + head.encode() + struct.pack("<%d%s" % (len(values), {"|u1": "B", "<f4": "f"}[kind]), *values))
labels = [i % 2 for i in range(160)]
pixels = [p for label in labels for p in picture(label)]
idx("images", (160, 8, 8), pixels)
idx("labels", (160,), labels)
npy("bytes.npy", (160, 8, 8), "|u1", pixels)
npy("whole.npy", (160, 8, 8), "<f4", pixels)
npy("unit.npy", (160, 8, 8), "<f4", [p / 255 for p in pixels])
npy("other.npy", (160, 8, 8), "<f4", [(p - 128) / 70 for p in pixels])
npy("sharp.npy", (160, 8, 8), "<f4", [p / 255 + (.001 if p % 2 else -.001) for p in pixels])
night = [p // 120 for p in pixels]
npy("night.npy", (160, 8, 8), "|u1", night)
idx("night", (160, 8, 8), night)
npy("dim.npy", (160, 8, 8), "<f4", [p // 16 / 255 for p in pixels])
npy("dusk.npy", (160, 8, 8), "|u1", [p // 4 for p in pixels])
npy("black.npy", (160, 8, 8), "<f4", [0] * len(pixels))
npy("flash.npy", (160, 8, 8), "<f4", [p * 100.5 if i == 9 else p / 4 for i, p in enumerate(pixels)])
for name, scale in ("bytes.csv", 1), ("sharp.csv", 254.9):
    with open(name, "w") as out:
        for i, label in enumerate(labels):
            out.write(",".join("%g" % (p / scale) for p in pixels[64 * i:64 * i + 64] + [label * scale]) + "\n")
npy("small.npy", (160, 4, 4), "|u1", pixels[:2560])
idx("small", (160, 4, 4), pixels[:2560])
npy("turned.npy", (160, 4, 16), "|u1", pixels)
END
net="conv3x3x2 relu dense2"
forms="images bytes.npy whole.npy unit.npy other.npy"
accuracy() { sed -n 's/.*\(accuracy [0-9.]*\).*/\1/p; s/^muster: //p'; }
for trained in $forms sharp.npy; do
	"$MUSTER" train $trained --labels labels -q --net "$net" --passes 8 --lr .02 --batch 16 $trained.safetensors >/dev/null
	for rows in $forms; do
		echo "$trained, then $rows: $("$MUSTER" predict $rows $trained.safetensors out.txt --force --labels labels 2>&1 | accuracy)"
	done
done
echo "--- what is dark is no other scale, of bytes as of 255ths, nor is a part of the rows"
"$MUSTER" train dusk.npy --labels labels -q --net "$net" --passes 1 dusk.npy.safetensors >/dev/null
told() { sed -n 's/written .*/taken/p; s/^muster: //p'; }
for trained in images bytes.npy unit.npy dusk.npy sharp.npy; do
	for rows in night.npy night dim.npy dusk.npy black.npy bytes.npy; do
		echo "$trained, then $rows: $("$MUSTER" predict $rows $trained.safetensors out.txt --force --label none 2>&1 | told)"
	done
done
"$MUSTER" train flash.npy --labels labels -q --net "$net" --passes 1 --valid .25 2>&1 | grep -c "^valid"
"$MUSTER" train sharp.csv --shape 8x8x1 --scale none -q --net "$net" --passes 1 --valid bytes.csv 2>&1
"$MUSTER" train sharp.npy --labels labels -q --net "$net" --passes 1 --test bytes.npy --test-labels labels 2>&1
"$MUSTER" train bytes.npy --labels labels -q --init sharp.npy.safetensors --passes 1 2>&1
echo "--- rows to measure on, to watch, to go on with"
"$MUSTER" train bytes.npy --labels labels -q --net "$net" --passes 1 --test unit.npy --test-labels labels 2>&1
"$MUSTER" train unit.npy --labels labels -q --init bytes.npy.safetensors --passes 1 2>&1
"$MUSTER" train bytes.npy --labels labels -q --net "$net" --passes 8 --lr .02 --batch 16 --test images --test-labels labels 2>&1 | grep "^test"
"$MUSTER" train images --labels labels -q --init bytes.npy.safetensors --passes 1 2>&1 | grep "^train"
"$MUSTER" train turned.npy --labels labels -q --init images.safetensors --passes 1 2>&1
"$MUSTER" predict turned.npy images.safetensors 2>&1
for rows in small.npy small; do
	"$MUSTER" predict $rows images.safetensors 2>&1
	"$MUSTER" predict $rows images.safetensors --labels labels 2>&1
	"$MUSTER" train $rows --labels labels -q --init images.safetensors --passes 1 2>&1
	"$MUSTER" train bytes.npy --labels labels -q --net "$net" --passes 1 --test $rows --test-labels labels 2>&1
done
echo "--- linear models have bytes brought to their scale, too"
for trained in images bytes.npy unit.npy; do
	"$MUSTER" train $trained --labels labels -q --optim lbfgs --steps 5 $trained.txt >/dev/null
	for rows in images bytes.npy; do
		"$MUSTER" predict $rows $trained.txt out.${rows%.npy} --force --labels labels --format json | grep -o '"accuracy": .*,'
	done
	cmp out.images out.bytes
done
