#!/usr/bin/env python3
"""Instructions that a step costs the coordinator, for 8 to 256 workers behind
relays: what bench/scale.py measures as time, counted by callgrind, so that it
is the same on a busy machine.

The coordinator runs under valgrind, which writes down the counts of each step
by itself; relays and workers join it from outside, as fast as ever.  A quarter
of the steps cost no more than the first figure.  (The least may be one whose
hash was counted with the next.)  The mean also has what comes by the second,
ticks, pulses and checkpoints.  Both have sums that relays sent in two parts
because somebody was late: the slower the steps, the more of that.

`scale_count.py FOLDER` leaves the counts there, for callgrind_annotate.
"""

import glob
import os
import subprocess
import sys
import tempfile
import time

MUSTER = os.environ.get("MUSTER", "build/muster")
COLS = int(os.environ.get("COLS", "5000"))
STEPS = int(os.environ.get("STEPS", "60"))
COUNTS = [int(n) for n in os.environ.get("COUNTS", "8,64,256").split(",")]
RELAYS = 8
FIRST = 30  # Steps that are not counted.
STEP = "round_open"


def wait_for(ready, what, seconds=300):
    until = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > until:
            sys.exit(f"waited in vain for {what}")
        time.sleep(0.02)


def quiet(*words):
    return subprocess.Popen([MUSTER, *words], stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)


def relay(above, name, key):
    process = subprocess.Popen([MUSTER, "relay", above, "--name", name, *key],
                               stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
    words = process.stderr.readline().split()
    port = words[words.index("join") + 1].rsplit(":", 1)[1]
    return process, f"127.0.0.1:{port}"


def tree(address, n, fanout, key):
    """Roads to the coordinator for n workers, and the relays on them."""
    ends, relays = [address], []
    widths = [RELAYS] if fanout is None else []
    while fanout is not None and n > fanout ** (len(widths) + 1):
        widths.insert(0, -(-n // fanout ** (len(widths) + 1)))
    for width in widths:
        above, ends = ends, []
        for i in range(width):
            process, end = relay(above[i * len(above) // width],
                                 f"r{len(relays)}", key)
            relays.append(process)
            ends.append(end)
    return [ends[i * len(ends) // n] for i in range(n)], relays


def number_of(path):
    return int(path.rsplit(".", 1)[1])


def count_of(path):
    """Instructions of one step."""
    with open(path) as file:
        return next(int(line.split()[1]) for line in file
                    if line.startswith("totals:"))


def start(n, out, count):
    return subprocess.Popen(
        ["valgrind", "--tool=callgrind", "-q", f"--dump-before={STEP}",
         f"--callgrind-out-file={count}.%p", MUSTER, "train",
         f"gen:gmm:256,{COLS}", "--chunk-rows", "1", "--steps",
         str(FIRST + STEPS), "--code", "uncoded", "--workers", f"{n}:{n}",
         "--listen", "127.0.0.1:0", "--out", out, "--lr", "0.001", "--optim",
         "gd", "--format", "json"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def measure(n, fanout, kept):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "run")
        count = os.path.join(kept or folder, f"{n}-{fanout or 'relays'}")
        train = start(n, out, count)
        where = os.path.join(out, "address")
        wait_for(lambda: os.path.exists(where), "the coordinator")
        with open(where) as file:
            address = file.read().strip()
        key = ["--token-file", os.path.join(out, "run.token")]
        roads, others = tree(address, n, fanout, key)
        others += [quiet("join", road, "--name", f"w{i}", "--threads", "1",
                         "--cache", "none", "--ship", "coordinator", *key)
                   for i, road in enumerate(roads)]
        wait_for(lambda: train.poll() is not None, "the steps")
        for process in others:
            process.kill()
            process.wait()
        parts = sorted(glob.glob(f"{count}.*.*"), key=number_of)
        seen = sorted(count_of(path) for path in parts[FIRST:])
    return seen[len(seen) // 4], sum(seen) / len(seen)


def main():
    kept = sys.argv[1] if len(sys.argv) > 1 else None
    if kept is not None:
        os.makedirs(kept, exist_ok=True)
    ways = [("fan-out 8", 8), (f"{RELAYS} relays", None)]
    base = {}
    print(f"{COLS} weights; thousands of instructions of the coordinator in a "
          "step: the lower quartile, and the mean")
    for name, fanout in ways:
        for n in COUNTS:
            counts = measure(n, fanout, kept)
            first = base.setdefault(name, counts)
            print(f"{name:>12}{n:>6}" + "".join(
                f"{count / 1e3:>9.0f} ({count / least:.2f})"
                for count, least in zip(counts, first)), flush=True)


main()
