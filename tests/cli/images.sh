# What is an image: as IDX and npy say, in the cache too, or as --shape does.
info() { "$MUSTER" data info "$@" 2>&1 | grep -v -e digest -e density -e labels; }
python3 - <<'END'
import struct
def idx(name, sizes, values):
    with open(name, "wb") as out:
        out.write(struct.pack(">BBBB", 0, 0, 8, len(sizes)))
        out.write(struct.pack(">%dI" % len(sizes), *sizes) + bytes(values))
def npy(name, sizes, values):
    head = "{'descr': '|u1', 'fortran_order': False, 'shape': %s, }" % (sizes,)
    head = head.ljust(117) + "\n"
    with open(name, "wb") as out:
        out.write(b"\x93NUMPY\1\0\x76\0" + head.encode() + bytes(values))
pixels = [i * i % 256 for i in range(72)]
idx("images", (6, 4, 3), pixels)
idx("labels", (6,), [0, 1, 2] * 2)
npy("grey.npy", (6, 3, 4), pixels)
npy("colour.npy", (6, 2, 2, 3), pixels)
npy("flat.npy", (6, 12), pixels)
npy("films.npy", (6, 1, 2, 3, 2), pixels)
END
info images --labels labels
info images --labels labels --cache cache
info images --labels labels --cache cache
info grey.npy --labels labels
info colour.npy --labels labels
info colour.npy --labels labels --scale minmax
info flat.npy --labels labels
info films.npy --labels labels
echo "--- as the user says"
info flat.npy --labels labels --shape 2x3x2
info flat.npy --labels labels --shape 6x2
info flat.npy --labels labels --shape 6x2 --cache cache
info gen:digits:20 --shape 14x56
info gen:digits:20 --shape 28x28x2
info grey.npy --labels labels --shape 5x3
info images --labels labels --shape square
"$MUSTER" data info images --labels labels --format json | tr -d "\n " | grep -o "\"image\":[^]]*]"
echo "--- the same bits as f32 rows"
hash() {
	"$MUSTER" train "$@" --labels labels --model softmax -q --format json |
		sed -n 's/.*"hash": "\(.*\)".*/\1/p'
}
for how in "--steps 5" "--optim adam --batch 4 --passes 3" "--optim gd --batch 1 --passes 2" "-n 2 --steps 5"; do
	for data in images grey.npy; do
		one=$(hash $data $how)
		[ ${#one} = 64 ] && [ $one = "$(hash $data $how --storage f32)" ] &&
			echo "$data $how"
	done
done
echo "--- labels by MNIST's naming"
mkdir m && gzip -c images >m/few-images-idx3-ubyte.gz && gzip -c labels >m/few-labels-idx1-ubyte.gz
cp images m/t.images.idx3-ubyte && cp labels m/t.labels.idx1-ubyte && cp images m/alone-images-idx3-ubyte
printf '\000\000\010\001\000\000\000\004\000\001\002\000' >m/short-labels-idx1-ubyte
cp images m/short-images-idx3-ubyte
digest() { "$MUSTER" data info "$@" --format json | sed -n 's/.*"digest": "\(.*\)".*/\1/p'; }
[ "$(digest images --labels labels)" = "$(digest m/few-images-idx3-ubyte.gz)" ] && echo "the same rows"
"$MUSTER" train m/few-images-idx3-ubyte.gz --test m/t.images.idx3-ubyte --model softmax --steps 2 2>&1 >train.out | grep labels
"$MUSTER" data info m/alone-images-idx3-ubyte 2>&1
"$MUSTER" data info m/short-images-idx3-ubyte 2>&1 || true
echo "--- of rows to be judged, too, where they fit; a table needs them"
"$MUSTER" train m/few-images-idx3-ubyte.gz -q --model softmax --steps 2 m/model >/dev/null
for rows in few-images-idx3-ubyte.gz alone-images-idx3-ubyte short-images-idx3-ubyte; do
    "$MUSTER" predict m/$rows m/model m/out --force --confusion 2>&1
    "$MUSTER" predict m/$rows m/model m/out --force --top 2 2>&1
done
"$MUSTER" predict m/few-images-idx3-ubyte.gz m/model m/out --force --label none 2>&1
