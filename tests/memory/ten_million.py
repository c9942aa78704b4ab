#!/usr/bin/env python3
"""10 million rows of 20 columns train in 4 GiB, from text and on two workers:
the kernel refuses more to every process.  Takes a minute or two."""

import json
import os
import random
import resource
import subprocess

MUSTER = os.environ["MUSTER"]
ROWS, COLUMNS, BLOCK = 10_000_000, 20, 10_000
LIMIT = 4 << 30


def write_rows(path):
    rng = random.Random(3)
    block = "".join("%+d %s\n" % (rng.choice((-1, 1)), " ".join(
        "%d:.%d" % (j + 1, rng.randrange(1, 10)) for j in range(COLUMNS)))
        for _ in range(BLOCK)).encode()
    with open(path, "wb") as file:
        for _ in range(ROWS // BLOCK):
            file.write(block)


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))


def train(*words):
    """What the run says, and the most that any of its processes held."""
    child = subprocess.Popen(
        [MUSTER, "train", "rows.svm", "--optim", "agd", "--steps", "3", "--format", "json",
         *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=limit)
    out, err = child.communicate()
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    assert child.returncode == 0, err
    return json.loads(out), peak


def main():
    write_rows("rows.svm")
    alone, peak = train("--threads", "2")
    cluster, _ = train("-n", "2", "--out", "run")
    os.remove("rows.svm")
    points = [(f"alone: peak {peak / 1e6:.0f} MB, training took "
               f"{alone['elapsed_s']:.1f} s", alone["steps"] == 3),
              ("two workers end on the same model",
               cluster["hash"] == alone["hash"])]
    print(f"1..{len(points)}")
    for number, (said, good) in enumerate(points, 1):
        print(f"{'ok' if good else 'not ok'} {number} - {said}")


if __name__ == "__main__":
    main()
