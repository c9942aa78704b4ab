#!/usr/bin/python3
"""How often networks are right on rows they have not seen, by the plain command.

    bench/accuracy.py [mnist|digits ...] [-- OPTION...]

MNIST is read where it is at hand (../shared/data/mnist beside the repository,
or $MNIST); `muster data get mnist` fetches it.  Options behind -- go to every
training, to compare rates and schedules.  Exit status 1: one is less often right
than it should be.
"""
import json
import os
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
MUSTER = os.environ.get("MUSTER", os.path.join(ROOT, "build", "release", "muster"))
MNIST = os.environ.get("MNIST", os.path.join(ROOT, "..", "shared", "data", "mnist"))

CNN = "conv3x3x32 relu conv3x3x64 relu pool2 drop.25 dense128 relu drop.5 dense10"
MLP = "dense512 relu dense256 relu dense10"
SMALL = "conv5x5x8 relu pool2 dense10"
# data: [(name, what is trained, accuracy to be reached)]
JOBS = {
    "mnist": [("softmax", ["--model", "softmax", "--optim", "lbfgs", "--steps", "50"], 0.92),
              ("MLP 784-512-256-10", ["--net", MLP], 0.98),
              ("CNN of two convolutions", ["--net", CNN], 0.99)],
    "digits": [("softmax", ["--model", "softmax", "--optim", "lbfgs", "--steps", "50"], 0.80),
               ("MLP 784-512-256-10", ["--net", MLP], 0.93),
               ("CNN of one convolution", ["--net", SMALL], 0.97)],
}


def rows_of(data):
    """The rows as arguments; None: they are not at hand."""
    if data == "digits":
        return ["gen:digits"]
    part = {name: os.path.join(MNIST, f"{name}-ubyte.gz") for name in (
        "train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1")}
    if not all(map(os.path.exists, part.values())):
        return None
    train, labels, test, answers = part.values()
    return [train, "--labels", labels, "--test", test, "--test-labels", answers]


def train(rows, what, options):
    done = subprocess.run([MUSTER, "train", *rows, *what, *options, "-q", "--format", "json"],
                          stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def main(arguments):
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    wanted, options = arguments[:cut] or list(JOBS), arguments[cut + 1:]
    good = True
    print("data    model                     steps  seconds  test accuracy  at least  hash")
    for data in wanted:
        rows = rows_of(data)
        if rows is None:
            print(f"{data:7} not at hand: no files in {MNIST}")
            continue
        for name, what, least in JOBS[data]:
            run = train(rows, what, options if "--net" in what else [])
            found = run["metrics"]["accuracy"]
            good &= found >= least
            print(f"{data:7} {name:25} {run['steps']:5} {run['elapsed_s']:8.1f} "
                  f"{100 * found:12.2f} % {100 * least:7.1f} %  {run['hash'][:12]}", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
