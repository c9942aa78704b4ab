# A network is saved, read again and gone on from; what is in the file must be
# the same network, on the same inputs, about the same labels.
data=gen:digits:120
net='conv3x3x2 relu pool2 dense10'
train() { "$MUSTER" train $data -q --net "$net" --lr 0.01 --batch 40 --schedule constant "$@"; }
hash() { sed -n 's/.*"hash": "\(.\{12\}\).*/\1/p'; }
train --passes 1 one.safetensors --format json | hash >first
"$MUSTER" model show one.safetensors | grep -c "$(cat first)"
grep '"net"' one.safetensors.card.json
# The file has the fp32 weights of the result: a start that makes no step ends there.
train --passes 1 --lr 1e-300 --init one.safetensors --format json | hash | cmp - first && echo "begins there"
train --passes 1 --init one.safetensors two.safetensors --format json | hash >second
cmp -s first second || echo "goes on"
train --passes 1 --init one.safetensors -n 3 --format json | hash | cmp - second && echo "one hash"
train --passes 1 --init one.safetensors --seed 5 --format json | hash | cmp -s - second || echo "the seed still draws batches"
# Going on after the file was changed is another run.
train --steps 2 --init one.safetensors -n 2 --out run >/dev/null
train --passes 2 --init two.safetensors -n 2 --out run --resume 2>&1 | cut -c 1-60
"$MUSTER" predict $data one.safetensors --format json | grep -c accuracy
{
    "$MUSTER" train $data -q --net 'conv3x3x2 relu pool2 dense16 dense10' --init one.safetensors --passes 1
    "$MUSTER" train $data -q --net 'conv3x3x2 relu pool2 dense10 dense10' --init one.safetensors --passes 1
    printf '1 1:1\n0 2:1\n' >two.svm
    "$MUSTER" train two.svm -q --net dense2 --passes 1 small.safetensors >/dev/null
    printf '1 1:1\n2 2:1\n' >other.svm
    "$MUSTER" train other.svm -q --net dense2 --init small.safetensors --passes 1
    printf '1 1:1\n0 3:1\n' >wide.svm
    "$MUSTER" train wide.svm -q --net dense2 --init small.safetensors --passes 1
    "$MUSTER" train two.svm -q linear.txt >/dev/null
    "$MUSTER" train two.svm -q --net dense2 --init linear.txt
    "$MUSTER" train two.svm -q --net dense2 --init absent
    "$MUSTER" train two.svm -q --net dense2 --init two.svm
    "$MUSTER" train two.svm small.safetensors -q --net dense2 --init small.safetensors
    for name in m.txt m.npy m.csv; do
        "$MUSTER" train two.svm $name -q --net dense2
    done
    "$MUSTER" train two.svm m.safetensors -q
} 2>&1
ls
