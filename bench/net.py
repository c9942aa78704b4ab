#!/usr/bin/python3
"""Networks in training against torch, and products against OpenBLAS.

    bench/net.py [cnn|conv|mlp|gemm ...]

torch is used where /usr/bin/python3 has it (Debian: python3-torch); without it
our figures stand alone.  Images a second at batch 128 with 1 and 2 threads.
Ours and torch take turns, a second each, ROUNDS times; shown is the best of
each, and the median of the ratios of the turns.  Time is the processor's with
one thread, elapsed with two: on a busy machine look at the former.

torch runs in a process of its own per number of threads, which it learns from
OMP_NUM_THREADS: torch.set_num_threads reaches the thread that calls it only,
so that backward passes would use all processors and their time would count.
"""
import os
import statistics
import subprocess
import sys
import time

try:
    import torch
except ImportError:
    torch = None

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "..", "build", "release", "bench", "net")
BATCH = 128
ROUNDS = 5
SECONDS = 1.0

# Name: (net, shape, microbatches)
NETS = {
    "cnn": ("conv3x3x32 relu conv3x3x64 relu pool2 drop.25 dense128 relu "
            "drop.5 dense10", "28x28x1", (16, 32, 64)),
    "conv": ("conv3x3x32 relu conv3x3x32/2 relu conv3x3x64 relu dense10",
             "28x28x1", (16, 32)),
    "mlp": ("dense512 relu dense256 relu dense10", "28x28x1", (16, 64)),
}


def ours(net, shape, micro, threads):
    text = subprocess.run([PROGRAM, "train", net, shape, str(micro),
                           str(threads), str(BATCH), str(SECONDS)], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    return float(text.split()[0])


def torch_layers(net):
    """The same layers; shapes are found when the first images come."""
    nn = torch.nn
    flat = False
    for word in net.split():
        if word.startswith("conv"):
            kernel, _, stride = word[4:].partition("/")
            tall, wide, out = map(int, kernel.split("x"))
            yield nn.LazyConv2d(out, (tall, wide), int(stride or 1))
        elif word.startswith("pool"):
            yield nn.MaxPool2d(int(word[4:]))
        elif word.startswith("drop"):
            yield nn.Dropout(float(word[4:]))
        elif word.startswith("dense"):
            if not flat:
                yield nn.Flatten()
            flat = True
            yield nn.LazyLinear(int(word[5:]))
        else:
            yield nn.ReLU()


class Torch:
    def __init__(self, net, shape):
        height, width, channels = map(int, shape.split("x"))
        self.model = torch.nn.Sequential(*torch_layers(net))
        self.x = torch.rand(BATCH, channels, height, width)
        self.y = torch.arange(BATCH) % 10
        self.model(self.x)
        self.optim = torch.optim.SGD(self.model.parameters(), 0.05)
        self.loss = torch.nn.CrossEntropyLoss()

    def step(self):
        self.optim.zero_grad()
        self.loss(self.model(self.x), self.y).backward()
        self.optim.step()

    def rate(self, clock):
        """Images a second of the best step within a second."""
        best, spent = float("inf"), 0.0
        while spent < SECONDS:
            begin = clock()
            self.step()
            took = clock() - begin
            spent += took
            best = min(best, took)
        return BATCH / best


def serve(name, threads):
    """torch's process: a rate for each line that comes in."""
    torch.set_num_threads(threads)
    peer = Torch(*NETS[name][:2])
    peer.step()
    for _ in sys.stdin:
        clock = time.process_time if threads == 1 else time.perf_counter
        print(peer.rate(clock), flush=True)


class Peer:
    def __init__(self, name, threads):
        self.child = subprocess.Popen(
            [sys.executable, "-W", "ignore", __file__, "--serve", name,
             str(threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, env=dict(os.environ, OMP_NUM_THREADS=str(threads)))

    def rate(self):
        self.child.stdin.write("\n")
        self.child.stdin.flush()
        return float(self.child.stdout.readline())

    def close(self):
        self.child.communicate()


def compare(name):
    net, shape, micros = NETS[name]
    print(f"{name}: {net}")
    for threads in (1, 2):
        peer = Peer(name, threads) if torch else None
        for micro in micros:
            pairs = [(ours(net, shape, micro, threads),
                      peer.rate() if peer else 0.0)
                     for _ in range(ROUNDS)]
            line = (f"  {threads} threads, microbatch {micro:3}: ours "
                    f"{max(a for a, _ in pairs):7.0f}")
            if peer:
                ratio = statistics.median(a / b for a, b in pairs)
                line += (f"  torch {max(b for _, b in pairs):7.0f}  "
                         f"ratio {ratio:.2f}")
            print(line, flush=True)
        if peer:
            peer.close()


def main(names):
    for name in names or ["gemm", *NETS]:
        if name == "gemm":
            print("m x n x k, GFLOP/s: ours, OpenBLAS's, ratio", flush=True)
            subprocess.run([PROGRAM, "gemm"], check=True)
        elif name in NETS:
            compare(name)
        else:
            sys.exit(f"net.py: {name}: there are gemm, {', '.join(NETS)}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(sys.argv[2], int(sys.argv[3]))
    else:
        main(sys.argv[1:])
