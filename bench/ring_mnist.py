#!/usr/bin/env python3
"""A ring's experiment from its paper: one CNN on MNIST, on 1 to 4 peers.

    bench/ring_mnist.py [--passes 12] [--peers 1,2,3,4] [--rows N] [--csv FILE]
                        [--threads T] [--readings multiplied,divided,fixed]
    bench/ring_mnist.py scaling [--peers 1,2,4,8,16] [--batch 1024]

The paper's text says that the learning rate is divided by the number of nodes,
its figure ("3 nodes with .003 LR") and the program it began from that it is
multiplied: both are run, with a batch of 128 on each peer and three passes of
warm-up, so that every number of peers is another experiment, with another hash.
"fixed" is a batch of 128 in all at a rate of .001: the same bits for any number
of peers.  A table of times, and the loss of each pass (mean over its steps, as
they were made) in FILE, a line for each reading, number of peers and pass.
Every peer's model is compared byte for byte with the first one's, and its
journal's hash of every step.

"scaling": strong scaling of a step, one thread a peer, the same batch divided
among more and more of them; from runs of two lengths, so that starting does not
count.  It is cut to take less than three minutes on 16 cores.

Rows are MNIST's where they are at hand (../shared/data/mnist beside the
repository, or $MNIST), of which --rows takes so many; else, and for "scaling",
gen:digits."""

import argparse
import csv
import gzip
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MUSTER = os.environ.get("MUSTER", str(ROOT / "build" / "muster"))
MNIST = Path(os.environ.get("MNIST", ROOT.parent / "shared/data/mnist"))
CNN = ("conv3x3x32 relu conv3x3x64 relu pool2 drop.25 dense128 relu drop.5 "
       "dense10")
WEIGHTS = 32 * 10 + 64 * 289 + 128 * 9217 + 10 * 129
BATCH, RATE, WARM_PASSES = 128, .001, 3
READINGS = {
    # name: (batch, rate) of n peers
    "multiplied": lambda n: (BATCH * n, RATE * n),
    "divided": lambda n: (BATCH * n, RATE / n),
    "fixed": lambda n: (BATCH, RATE),
}
# A record of a journal (src/core/run/journal.h).
RECORD, STEP = 256, 3
HEAD = struct.Struct("<IIQQIIIIIIQddd32s")


def head_of(source, target, rows, item):
    """The first rows of an idx file."""
    with gzip.open(source) as file:
        data = file.read()
    sizes = 4 + 4 * data[3]
    target.write_bytes(data[:4] + struct.pack(">I", rows) + data[8:sizes] +
                       data[sizes:sizes + rows * item])


def data_of(rows, folder):
    """Arguments that name the rows, and how many there are."""
    images = MNIST / "train-images-idx3-ubyte.gz"
    labels = MNIST / "train-labels-idx1-ubyte.gz"
    test = [str(MNIST / f"t10k-{name}-ubyte.gz")
            for name in ("images-idx3", "labels-idx1")]
    if not images.exists():
        count = rows or 10000
        return [f"gen:digits:{count}"], count
    if rows and rows < 60000:
        head_of(images, folder / "images", rows, 28 * 28)
        head_of(labels, folder / "labels", rows, 1)
        images, labels = folder / "images", folder / "labels"
    return [str(images), "--labels", str(labels), "--test", test[0],
            "--test-labels", test[1]], rows or 60000


def train(*args):
    done = subprocess.run([MUSTER, "train", *map(str, args), "-q", "--force",
                           "--format", "json"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    if done.returncode not in (0, 4): # 4: more steps would still help.
        sys.exit(f"ring_mnist: {' '.join(map(str, args))}: {done.stderr}")
    return json.loads(done.stdout)


def steps_of(folder):
    """{step: (objective, hash of the weights)} of a peer's journal.  One that
    was left behind and sent the others' state has no receipts of what it
    missed."""
    data = (folder / "journal").read_bytes()
    steps = {}
    for at in range(0, len(data) // RECORD * RECORD, RECORD):
        fields = HEAD.unpack_from(data, at)
        if fields[1] == STEP:
            steps[fields[4]] = (fields[13], fields[14])
    return steps


def model_of(folder):
    """The weights of a peer's result: doubles before its checksum."""
    return (folder / "result").read_bytes()[-32 - 8 * WEIGHTS:-32]


def alike(run, peers):
    """Are the models equal, and receipts of each step that two of them have?"""
    first, known = model_of(run / "w0"), {}
    return all(model_of(run / f"w{i}") == first and
               all(known.setdefault(step, of) == of
                   for step, of in steps_of(run / f"w{i}").items())
               for i in range(peers))


def all_steps(run, peers):
    known = {}
    for i in range(peers):
        known.update(steps_of(run / f"w{i}"))
    return [known[step] for step in sorted(known)]


def experiment(options, folder):
    data, rows = data_of(options.rows, folder)
    good = True
    hashes = {}
    base = {}
    out = csv.writer(open(options.csv, "w")) if options.csv else None
    if out:
        out.writerow(["reading", "peers", "pass", "loss"])
    print(f"{rows} images, {options.passes} passes, {os.cpu_count()} "
          "processors\n"
          "rate        peers  batch  rate    steps  seconds  times as fast  "
          "last loss  test accuracy  peers' models  hash")
    for reading in options.readings.split(","):
        for peers in map(int, options.peers.split(",")):
            batch, rate = READINGS[reading](peers)
            a_pass = -(-rows // batch)
            run = folder / "run"
            warm = WARM_PASSES * a_pass if peers > 1 and reading != "fixed" \
                else 0
            result = train(*data, "--net", CNN, "--optim", "adam", "--lr",
                           rate, "--schedule", "decay", "--batch", batch,
                           "--warmup", warm, "--passes", options.passes, "-n",
                           peers, "--topology", "ring", "--out", run,
                           *(["--threads", options.threads]
                             if options.threads else []))
            steps = all_steps(run, peers)
            same = alike(run, peers)
            hashes.setdefault(reading, set()).add(result["hash"])
            base.setdefault(reading, result["elapsed_s"])
            good &= same and len(steps) == result["steps"]
            losses = []
            for number in range(options.passes):
                part = steps[number * a_pass:(number + 1) * a_pass]
                losses.append(sum(loss for loss, _ in part) / max(1, len(part)))
                if out:
                    out.writerow([reading, peers, number + 1, losses[-1]])
            accuracy = (result.get("test_metrics") or
                        result["metrics"]).get("accuracy", 0)
            print(f"{reading:<11}{peers:>6}{batch:>7}{rate:>7.4f}"
                  f"{result['steps']:>7}{result['elapsed_s']:>9.1f}"
                  f"{base[reading] / result['elapsed_s']:>15.2f}"
                  f"{losses[-1]:>11.4f}{100 * accuracy:>13.2f} %"
                  f"{'equal' if same else 'DIFFERENT':>15}  "
                  f"{result['hash'][:12]}", flush=True)
            shutil.rmtree(run)
    if "fixed" in hashes:
        good &= len(hashes["fixed"]) == 1
        print("fixed: " + ("one hash for any number of peers"
                           if len(hashes["fixed"]) == 1 else "HASHES DIFFER"))
    return good


def scaling(options, folder):
    short, long = 5, 5 + options.steps
    data = f"gen:digits:{max(2 * options.batch, 4096)}"
    hashes = set()
    alone = None
    print(f"a batch of {options.batch}, one thread a peer, {os.cpu_count()} "
          f"processors\npeers  ms a step  images/s  times as fast  of N  hash")
    for peers in map(int, options.peers.split(",")):
        took = []
        for steps in (short, long):
            result = train(data, "--net", CNN, "--optim", "adam", "--lr", RATE,
                           "--schedule", "decay", "--batch", options.batch,
                           "--steps", steps, "-n", peers, "--threads", 1,
                           "--topology", "ring", "--out", folder / "run")
            took.append(result["elapsed_s"])
            shutil.rmtree(folder / "run")
        hashes.add(result["hash"])
        step = (took[1] - took[0]) / (long - short)
        alone = alone or step * peers
        print(f"{peers:>5}{1e3 * step:>11.1f}{options.batch / step:>10.0f}"
              f"{alone / step:>15.2f}{alone / step / peers:>6.2f}  "
              f"{result['hash'][:12]}", flush=True)
    print("one hash" if len(hashes) == 1 else "HASHES DIFFER")
    return len(hashes) == 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", nargs="?", default="experiment",
                        choices=["experiment", "scaling"])
    parser.add_argument("--passes", type=int, default=12)
    parser.add_argument("--peers")
    parser.add_argument("--readings", default="multiplied,divided,fixed")
    parser.add_argument("--rows", type=int, default=0)
    parser.add_argument("--batch", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--threads", type=int, help="of each peer")
    parser.add_argument("--csv")
    options = parser.parse_args()
    options.peers = options.peers or \
        ("1,2,3,4" if options.what == "experiment" else "1,2,4,8,16")
    with tempfile.TemporaryDirectory(
            dir=os.environ.get("FOLDER")) as folder:
        good = (experiment if options.what == "experiment" else
                scaling)(options, Path(folder))
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
