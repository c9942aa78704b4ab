#!/usr/bin/env python3
"""A saved network as others read it: by the documented format, with the
`safetensors` package and with torch where they are installed.  Its answers are
computed again by the definitions of torch.nn, in plain Python: channels first,
Flatten before the first dense layer."""

import csv
import json
import os
import random
import struct
import subprocess

MUSTER = os.environ["MUSTER"]
NET = "conv3x2x3+1 relu pool2 conv2x2x2/2 tanh dense5 sigmoid dense3"
HEIGHT, WIDTH, CHANNELS = 7, 6, 2
NEAR = 1e-5


def write_rows(path, count):
    """Pixels one after the other, channels of a pixel side by side; a label."""
    rng = random.Random(4)
    rows = [[round(rng.uniform(-1, 1), 3)
             for _ in range(HEIGHT * WIDTH * CHANNELS)] for _ in range(count)]
    with open(path, "w", encoding="ascii") as file:
        for i, row in enumerate(rows):
            file.write(",".join(map(str, row)) + f",{i % 3}\n")
    return rows


def read_file(path):
    """The documented format, and nothing else."""
    with open(path, "rb") as file:
        data = file.read()
    length, = struct.unpack("<Q", data[:8])
    head = json.loads(data[8:8 + length])
    notes = head.pop("__metadata__")
    tensors = {}
    for name, said in head.items():
        first, end = said["data_offsets"]
        assert said["dtype"] == "F32"
        tensors[name] = (said["shape"], list(struct.unpack(
            f"<{(end - first) // 4}f",
            data[8 + length + first:8 + length + end])))
    return notes, tensors


def conv(x, weight, bias, stride, pad):
    """x[c][y][x] as torch.nn.Conv2d takes it."""
    (outs, ins, tall, wide), w = weight
    height, width = len(x[0]), len(x[0][0])

    def at(c, y, k):
        return x[c][y][k] if 0 <= y < height and 0 <= k < width else 0.0

    return [[[bias[o] + sum(
        w[((o * ins + c) * tall + dy) * wide + dx] *
        at(c, y * stride + dy - pad, k * stride + dx - pad)
        for c in range(ins) for dy in range(tall) for dx in range(wide))
        for k in range((width + 2 * pad - wide) // stride + 1)]
        for y in range((height + 2 * pad - tall) // stride + 1)]
        for o in range(outs)]


def pool(x):
    return [[[max(c[2 * y][2 * k], c[2 * y][2 * k + 1], c[2 * y + 1][2 * k],
                  c[2 * y + 1][2 * k + 1]) for k in range(len(c[0]) // 2)]
             for y in range(len(c) // 2)] for c in x]


def dense(x, weight, bias):
    (outs, ins), w = weight
    return [bias[o] + sum(w[o * ins + i] * x[i] for i in range(ins))
            for o in range(outs)]


def each(x, function):
    return [[[function(v) for v in row] for row in c] for c in x]


def scores(row, t):
    from math import exp, tanh
    x = [[[row[(y * WIDTH + k) * CHANNELS + c] for k in range(WIDTH)]
          for y in range(HEIGHT)] for c in range(CHANNELS)]
    x = each(conv(x, t["0.weight"], t["0.bias"][1], 1, 1),
             lambda v: max(v, 0.0))
    x = each(conv(pool(x), t["3.weight"], t["3.bias"][1], 2, 0), tanh)
    flat = [v for c in x for row in c for v in row]
    hidden = dense(flat, t["6.weight"], t["6.bias"][1])
    return dense([1 / (1 + exp(-v)) for v in hidden], t["8.weight"],
                 t["8.bias"][1])


def said_scores(path):
    with open(path, encoding="ascii") as file:
        return [[float(row[f"score_{k}"]) for k in range(3)]
                for row in csv.DictReader(file)]


def near(a, b):
    return all(abs(x - y) <= NEAR * (1 + abs(y))
               for r, s in zip(a, b) for x, y in zip(r, s)) and len(a) == len(b)


def by_package(tensors):
    try:
        from safetensors.numpy import load_file
    except ImportError:
        return "# SKIP the safetensors package is not installed"
    loaded = load_file("net.safetensors")
    assert {name: (list(t.shape), t.ravel().tolist())
            for name, t in loaded.items()} == tensors
    return ""


def by_torch(rows, tensors, wanted):
    try:
        import torch
        from torch import nn
    except ImportError:
        return "# SKIP torch is not installed"
    net = nn.Sequential(
        nn.Conv2d(CHANNELS, 3, (3, 2), padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(3, 2, 2, stride=2), nn.Tanh(), nn.Flatten(),
        nn.Linear(tensors["6.weight"][0][1], 5), nn.Sigmoid(), nn.Linear(5, 3))
    net.load_state_dict({name: torch.tensor(values).reshape(shape)
                         for name, (shape, values) in tensors.items()})
    x = torch.tensor(rows).reshape(-1, HEIGHT, WIDTH, CHANNELS)
    with torch.no_grad():
        assert near(net(x.permute(0, 3, 1, 2)).tolist(), wanted)
    return ""


def main():
    rows = write_rows("rows.csv", 30)
    subprocess.run([MUSTER, "train", "rows.csv", "net.safetensors", "--net",
                    NET, "--shape", f"{HEIGHT}x{WIDTH}x{CHANNELS}", "--passes",
                    "30", "--batch", "10", "--lr", "0.02", "--quiet"],
                   check=True, stdout=subprocess.DEVNULL)
    subprocess.run([MUSTER, "predict", "rows.csv", "net.safetensors",
                    "said.csv", "--quiet"], check=True,
                   stdout=subprocess.DEVNULL)
    notes, tensors = read_file("net.safetensors")
    said = said_scores("said.csv")
    print("1..4")
    good = notes["net"] == NET and notes["shape"] == "7x6x2" and \
        notes["labels"] == "0 1 2" and notes["loss"] == "softmax"
    print("ok" if good else "not ok", "1 - the metadata")
    good = near(said, [scores(row, tensors) for row in rows])
    print("ok" if good else "not ok", "2 - answers by torch's definitions")
    print("ok 3 - the safetensors package reads the same", by_package(tensors))
    print("ok 4 - torch answers the same", by_torch(rows, tensors, said))


main()
