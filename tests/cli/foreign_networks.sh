# Files of other programs' networks, as a model, a net, rows, or where to save:
# one sentence that says what is read.
printf 'PK\003\004 torch.save' >net.pt
printf '\200\002 older torch.save' >net.pth
printf '\211HDF\r\n\032\n' >net.h5
printf '\010\007 proto' >net.onnx
first() { "$MUSTER" "$@" 2>&1 | head -n 1; }
for net in net.pt net.pth net.h5 net.onnx; do
    first train $net
    first predict gen:digits:20 $net out.txt
    first model show $net
    first train gen:digits:20 -q --net $net
    first train gen:digits:20 -q --init $net
done
first train gen:digits:20 -q --net dense10 new.pt
first train gen:gmm:20,3 -q new.pth
ls
