# A network in a file, as others would write it, judges rows: linear, so that
# its answers can be told by hand; and one with a convolution, by torch's order.
cat >write.py <<'END'
from tensors import write


plane = {"net": "dense3", "shape": "1x1x2", "loss": "softmax", "divisor": "2",
         "labels": "5 7 9"}
write("plane.safetensors", plane,
      {"0.weight": ([3, 2], [1, 0, 0, 1, -1, -1]), "0.bias": ([3], [0, 0, .5])})
write("value.safetensors", dict(plane, net="dense1", loss="squared", mean="0", spread="1"),
      {"0.weight": ([1, 2], [1, 2]), "0.bias": ([1], [.5])})
# The kernel looks at the right pixel of two and its first channel: of pixels
# (1, 2) (3, 4) (5, 6) that is 3, 5; less 4: 0, 1.
write("conv.safetensors",
      {"net": "conv1x2x1 relu dense2", "shape": "1x3x2", "loss": "softmax",
       "divisor": "1", "labels": "0 1"},
      {"0.weight": ([1, 2, 1, 2], [0, 1, 0, 0]), "0.bias": ([1], [-4]),
       "3.weight": ([2, 2], [1, 0, 0, 1]), "3.bias": ([2], [.5, 0])})
END
PYTHONPATH=$ROOT/tests/lib/lib python3 -B write.py
printf '5 1:2\n7 2:4\n9 1:-2 2:-2\n5 2:1\n' >rows
"$MUSTER" predict rows plane.safetensors
"$MUSTER" predict rows plane.safetensors --style csv --probability -q
"$MUSTER" predict rows value.safetensors -q
printf '1,2,3,4,5,6,1\n' >pixels.csv
"$MUSTER" predict pixels.csv conv.safetensors --style csv -q
printf '1,2,3,1\n' >short.csv
"$MUSTER" predict short.csv conv.safetensors 2>&1
"$MUSTER" predict conv.safetensors rows 2>&1
echo "--- a layer of 4,194,304 numbers a row: a few rows at a time"
cat >wide.py <<'PYTHON'
import resource
import subprocess
import sys
from tensors import write

write("wide.safetensors",
      {"net": "conv1x1x1024 relu conv1x1x2 relu dense2", "shape": "64x64x1",
       "loss": "softmax", "divisor": "1", "labels": "0 1"},
      {"0.weight": ([1024, 1, 1, 1], [.01] * 1024), "0.bias": ([1024], [0] * 1024),
       "2.weight": ([2, 1024, 1, 1], [.001] * 2048), "2.bias": ([2], [0] * 2),
       "5.weight": ([2, 8192], [.1] * 8192 + [-.1] * 8192), "5.bias": ([2], [0, 1])})
with open("wide.csv", "w") as file:
    for i in range(64):
        file.write(",".join(str((i * j) % 7) for j in range(4096)) + "\n")
subprocess.run([sys.argv[1], "predict", "wide.csv", "wide.safetensors", "wide.txt", "--label", "none"], check=True)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print("below 600 MB" if peak < 600000 else f"{peak} kB")
PYTHON
PYTHONPATH=$ROOT/tests/lib/lib python3 -B wide.py "$MUSTER"
echo "--- a score that is not finite"
printf '5 1:1e38 2:3e38\n' >huge
"$MUSTER" predict huge value.safetensors 2>&1
