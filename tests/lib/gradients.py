#!/usr/bin/python3
"""Gradients of networks against torch's, in doubles there: every layer, both
losses, and the CNN that examples train, to 1e-5 of a tensor's largest; and so
that of a training's first step, whose scale nothing was known of.

Without torch (Debian: python3-torch) every test is skipped.
"""
import json
import os
import subprocess
import sys

try:
    import numpy as np
    import torch
    from torch.nn import functional as F
except ImportError:
    torch = None

PROGRAM = os.path.join(os.environ["BUILD"], "tests", "net-gradient")
MASK = (1 << 64) - 1
SEED, STEP = 8, 9

# Net, shape, loss, samples.
CASES = [
    ("dense7", "5x4x3", "softmax", 6),
    ("dense9 tanh dense4 sigmoid dense3", "5x4x3", "squared", 6),
    ("conv3x3x5 relu dense3", "9x8x2", "softmax", 5),
    ("conv5x2x16/2+1 tanh dense3", "9x12x3", "softmax", 5),
    ("conv1x1x16 sigmoid conv3x3x32/2 relu dense4", "9x9x1", "squared", 5),
    ("conv3x3x16 tanh conv3x3x32+1 tanh dense4", "11x9x1", "softmax", 5),
    ("conv3x3x32 relu conv3x3x16 relu pool2 dense4", "12x11x1", "softmax", 5),
    ("conv3x3x4 pool3/2 relu avg2/1 dense3", "12x11x2", "softmax", 5),
    ("avg3 drop.1 dense8 relu drop.5 dense3", "9x9x2", "softmax", 7),
    ("conv3x3x32 relu conv3x3x64 relu pool2 drop.25 dense128 relu drop.5 dense10",
     "28x28x1", "softmax", 16),
    ("conv3x3x32 relu conv3x3x32/2 relu conv3x3x64 relu dense10", "28x28x1",
     "softmax", 16),
]


# --- what is drawn (base/rng.h) ----------------------------------------------

def mix(x):
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9 & MASK
    x = (x ^ x >> 27) * 0x94d049bb133111eb & MASK
    return x ^ x >> 31


def rng_at(seed, a, b):
    x = mix((seed + 0x9e3779b97f4a7c15) & MASK)
    x = mix(x ^ (a + 0xd1b54a32d192ed03) & MASK)
    x = mix((x + (b + 1) * 0x8cb92ba72f3d8dd7) & MASK)
    return mix(x ^ (a << 32 | a >> 32) & MASK)


def kept(layer, sample, count, share):
    """Which numbers a drop layer keeps."""
    key = rng_at(rng_at(SEED, STEP, layer), sample, 0)
    words = [mix((key + (i + 1) * 0x9e3779b97f4a7c15) & MASK)
             for i in range((count + 3) // 4)]
    draws = np.array(words, dtype="<u8").view("<u2")[:count]
    return draws >= share


# --- the same network --------------------------------------------------------

class Net:
    """Images are channels first inside, as torch wants them."""

    def __init__(self, text, parameters):
        self.words = text.split()
        self.rest = parameters
        self.tensors = []

    def take(self, shape):
        count = int(np.prod(shape))
        tensor = torch.tensor(self.rest[:count].reshape(shape),
                              dtype=torch.float64, requires_grad=True)
        self.rest = self.rest[count:]
        self.tensors.append(tensor)
        return tensor

    def conv(self, word, x):
        word, _, pad = word.partition("+")
        word, _, stride = word.partition("/")
        tall, wide, out = map(int, word.split("x"))
        weights = self.take((out, tall, wide, x.shape[1]))
        return F.conv2d(x, weights.permute(0, 3, 1, 2), self.take((out,)),
                        stride=int(stride or 1), padding=int(pad or 0))

    def dense(self, out, x):
        flat = x.permute(0, 2, 3, 1).reshape(len(x), -1)
        weights = self.take((flat.shape[1], out))
        return (flat @ weights + self.take((out,)))[:, :, None, None]

    def drop(self, word, layer, x):
        share = int(float("0" + word) * 65536 + 0.5)
        last = x.permute(0, 2, 3, 1)
        count = last[0].numel()
        mask = np.stack([kept(layer, s, count, share) for s in range(len(x))])
        factor = np.float32(65536) / np.float32(65536 - share)
        by = torch.tensor(mask * float(factor)).reshape(last.shape)
        return (last * by).permute(0, 3, 1, 2)

    def forward(self, x):
        for layer, word in enumerate(self.words):
            name = word.rstrip("0123456789x/+.")
            rest = word[len(name):]
            if name == "conv":
                x = self.conv(rest, x)
            elif name == "dense":
                x = self.dense(int(rest), x)
            elif name in ("pool", "avg"):
                side, _, stride = rest.partition("/")
                pool = F.max_pool2d if name == "pool" else F.avg_pool2d
                x = pool(x, int(side), int(stride or side))
            elif name == "drop":
                x = self.drop(rest, layer, x)
            else:
                x = getattr(torch, name)(x)
        return x.flatten(1)


# --- ours --------------------------------------------------------------------

def ours(net, shape, loss, samples):
    data = subprocess.run([PROGRAM, net, shape, loss, str(samples)], check=True,
                          stdout=subprocess.PIPE).stdout
    parameters, inputs = np.frombuffer(data, "<u8", 2)
    at = 16
    found = []
    for kind, count in (("<f4", parameters), ("<f4", samples * inputs),
                        ("<f8", parameters), ("<f8", 1)):
        found.append(np.frombuffer(data, kind, int(count), at))
        at += found[-1].nbytes
    return found


def differences(net, shape, loss, samples):
    """Of the loss and of each tensor, relative to its largest."""
    parameters, x, gradient, our_loss = ours(net, shape, loss, samples)
    height, width, channels = map(int, shape.split("x"))
    model = Net(net, parameters)
    images = torch.tensor(x.reshape(samples, height, width, channels),
                          dtype=torch.float64).permute(0, 3, 1, 2)
    z = model.forward(images)
    if loss == "softmax":
        labels = torch.arange(samples) % z.shape[1]
        total = F.cross_entropy(z, labels, reduction="sum")
    else:
        total = ((z - 0.5) ** 2).sum() / 2
    total.backward()
    yield abs(total.item() - our_loss[0]) / abs(total.item())
    for tensor in model.tensors:
        theirs = tensor.grad.numpy().ravel()
        mine, gradient = gradient[:theirs.size], gradient[theirs.size:]
        yield np.abs(mine - theirs).max() / np.abs(theirs).max()


# --- the first step of a training ----------------------------------------------

FIRST = "conv3x3x32 relu conv3x3x64 relu pool2 dense128 relu dense10"
RATE = 2.0 ** -8


def saved(path):
    """Tensors of a model, in torch's shapes."""
    with open(path, "rb") as file:
        data = file.read()
    size = int.from_bytes(data[:8], "little")
    head = json.loads(data[8:8 + size])
    tensors = []
    for name in sorted(set(head) - {"__metadata__"},
                       key=lambda name: head[name]["data_offsets"]):
        first, end = head[name]["data_offsets"]
        tensors.append(torch.tensor(
            np.frombuffer(data[8 + size + first:8 + size + end], "<f4")
            .reshape(head[name]["shape"]).astype(float), requires_grad=True))
    return tensors


def first_step():
    """As above, of one step of gradient descent by the program, beyond what is
    lost because it saves weights as floats: little of those near 0."""
    drawn = np.random.RandomState(1)
    images = drawn.uniform(size=(64, 28, 28, 1)).astype("f4")
    labels = np.arange(64) % 10
    np.savez("first.npz", X=images, y=labels)
    for name, rate in (("before", 1e-30), ("after", RATE)):
        subprocess.run([os.environ["MUSTER"], "train", "first.npz", name, "--net", FIRST,
                        "--optim", "gd", "--lr", repr(rate), "--schedule", "constant",
                        "--batch", "64", "--steps", "1", "-q"],
                       check=True, stdout=subprocess.DEVNULL)
    before, after = saved("before"), saved("after")
    x = torch.tensor(images.astype(float)).permute(0, 3, 1, 2)
    x = torch.relu(F.conv2d(x, before[0], before[1]))
    x = F.max_pool2d(torch.relu(F.conv2d(x, before[2], before[3])), 2)
    x = torch.relu(F.linear(x.flatten(1), before[4], before[5]))
    F.cross_entropy(F.linear(x, before[6], before[7]), torch.tensor(labels)).backward()
    for one, other in zip(before, after):
        error = np.abs((one - other).detach().numpy() / RATE - one.grad.numpy())
        lost = np.spacing(np.abs(other.detach().numpy()).astype("f4")) / 2 / RATE
        yield np.maximum(error - lost, 0).max() / np.abs(one.grad.numpy()).max()


def main():
    cases = [(f"{case[0]} ({case[2]})", differences, case) for case in CASES]
    cases.append(("the first step of a training", first_step, ()))
    print(f"1..{len(cases)}")
    failed = False
    for number, (name, measure, case) in enumerate(cases, 1):
        if torch is None:
            print(f"ok {number} - {name} # SKIP no torch in {sys.executable} "
                  "(Debian: python3-torch)")
            continue
        worst = max(measure(*case))
        failed |= not worst <= 1e-5
        print(f"{'ok' if worst <= 1e-5 else 'not ok'} {number} - {name}\n"
              f"# largest difference {worst:.1e}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
