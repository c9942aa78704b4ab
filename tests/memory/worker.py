#!/usr/bin/env python3
"""Most memory that a joined worker ever holds: its chunks, three vectors as
long as the model, and 64 MiB.  Many rows and a small model, then few rows and
a model of 2^20 weights; the peak is the kernel's (VmHWM), read while the run
goes on.  (Larger models take more than three vectors: docs/data.md.)"""

import json
import os
import random
import select
import subprocess
import time
from pathlib import Path

MUSTER = os.environ["MUSTER"]
os.environ["XDG_CACHE_HOME"] = os.path.abspath("cache-home")
SPARE = 64 << 20
DEADLINE_S = 100


def wait_for(look):
    end = time.monotonic() + DEADLINE_S
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        select.select([], [], [], 0.01)
    raise AssertionError("waited in vain")


def address(out):
    path = Path(out) / "address"
    return wait_for(lambda: path.exists() and path.read_text().strip())


def peak(pid):
    """Bytes, or 0 if it is gone."""
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    for line in text.splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def run(name, data, *flags):
    """Two joiners; the larger of their peaks."""
    train = subprocess.Popen(
        [MUSTER, "train", *data, "--format", "json", "--listen",
         "127.0.0.1:0", "--workers", "2", "--code", "uncoded", "--out", name,
         "--steps", "6", "--quiet", *flags], stdout=subprocess.PIPE,
        text=True)
    where = address(name)
    joiners = [subprocess.Popen([MUSTER, "join", where, "--threads", "2",
                                 "--name", f"w{i}", "--quiet"])
               for i in range(2)]
    most = 0
    while train.poll() is None:
        most = max([most] + [peak(joiner.pid) for joiner in joiners])
        select.select([], [], [], 0.002)
    result = json.loads(train.stdout.read())
    for joiner in joiners:
        joiner.wait(DEADLINE_S)
    assert result["data"]["shipped"] > 0, result
    return most


def write_wide(path, rows, columns):
    rng = random.Random(3)
    with open(path, "w", encoding="ascii") as file:
        for i in range(rows):
            row = sorted({rng.randrange(1, columns + 1) for _ in range(20)} |
                         ({columns} if i == 0 else set()))
            file.write(f"{(-1, 1)[i % 2]} " +
                       " ".join(f"{j}:0.3" for j in row) + "\n")


def main():
    points = []
    rows, cols = 400000, 96
    most = run("rows", [f"gen:gmm:{rows},{cols}"])
    chunks = rows // 2 * (8 + 4 * cols)
    points.append(("many rows", most, chunks, cols * 8))
    rows, cols = 2000, 1 << 20
    write_wide("wide.svm", rows, cols)
    most = run("wide", ["wide.svm", "--storage", "csr", "--optim", "gd",
                        "--lr", "0.1"])
    points.append(("a large model", most, rows // 2 * (8 + 8 + 20 * 8),
                   cols * 8))
    print(f"1..{len(points)}")
    for number, (name, most, chunks, vector) in enumerate(points, 1):
        good = 0 < most <= chunks + 3 * vector + SPARE
        print(f"{'ok' if good else 'not ok'} {number} - {name}: peak "
              f"{most / 1e6:.0f} MB, chunks {chunks / 1e6:.0f} MB, a vector "
              f"{vector / 1e6:.1f} MB")


main()
