#!/usr/bin/env python3
"""Most memory that `muster train` ever holds, against the size of the data:
at most 1.3 times that when the rows come from text, 1.15 times and 64 MiB when
they come from the cache.  About 200 MB each, dense and sparse."""

import os
import random
import resource
import subprocess

MUSTER = os.environ["MUSTER"]
BLOCK = 5000  # Random rows, repeated.
LANES = 8  # Dense rows are padded to so many columns.


def write_rows(path, rows, row):
    rng = random.Random(7)
    block = "".join(row(rng) for _ in range(BLOCK)).encode()
    with open(path, "wb") as file:
        for _ in range(rows // BLOCK):
            file.write(block)


def dense_row(rng):
    """Tenths: short, and exact in no form but fp32."""
    return "%+d %s\n" % (rng.choice((-1, 1)), " ".join(
        "%d:.%d" % (j + 1, rng.randrange(1, 10)) for j in range(100)))


def hot_row(rng):
    return "%+d %s\n" % (rng.choice((-1, 1)), " ".join(
        "%d:1" % (1 + f * 4000 + rng.randrange(4000)) for f in range(45)))


def dense_bytes(rows):
    return rows * (8 + 4 * (100 + -100 % LANES))


def hot_bytes(rows):
    """Label, begin of the row, columns."""
    return rows * (8 + 8 + 4 * 45)


def train(path, *words):
    """Peak bytes of one run, and its hash."""
    child = subprocess.Popen(
        [MUSTER, "train", path, "--optim", "agd", "--steps", "2", "--threads", "2", "--quiet",
         *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, said
    return usage.ru_maxrss * 1024, said.split()[1]


def check(name, rows, row, size):
    write_rows("rows.svm", rows, row)
    text, model = train("rows.svm")
    train("rows.svm", "--cache", "cache")
    cached, same = train("rows.svm", "--cache", "cache")
    os.remove("rows.svm")
    for file in os.listdir("cache"):
        os.remove(os.path.join("cache", file))
    assert model == same, "the cache changes the model"
    return [(f"{name} from text: peak {text / 1e6:.0f} MB, data "
             f"{size / 1e6:.0f} MB", text <= 1.3 * size),
            (f"{name} from the cache: peak {cached / 1e6:.0f} MB, data "
             f"{size / 1e6:.0f} MB", cached <= 1.15 * size + (64 << 20))]


def main():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    dense, hot = 480000, 1000000
    points = check("dense", dense, dense_row, dense_bytes(dense)) + \
        check("one-hot", hot, hot_row, hot_bytes(hot))
    print(f"1..{len(points)}")
    for number, (said, good) in enumerate(points, 1):
        print(f"{'ok' if good else 'not ok'} {number} - {said}")


if __name__ == "__main__":
    main()
