# A name that promises another form than the model's is refused before any work.
for name in z.onnx z.npy z.json z.model.gz; do
    "$MUSTER" train gen:gmm:20,3 $name -q 2>&1
    echo "exit $?"
done
ls
