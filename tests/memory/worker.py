#!/usr/bin/env python3
"""Most memory that a joined worker ever holds: its chunks, three vectors as
long as the model, and 64 MiB, with as many threads as it likes.  Many rows and a
small model, then few rows and models of 2^20, 2^22 and 2^23 weights; the peak is
the kernel's (VmHWM), read while the run goes on.  Of one model of 2^22 every
column is used, so that answers are as long as the model, and there are several
of each worker in a step; once more over TLS."""

import json
import os
import random
import select
import subprocess
import time
from pathlib import Path

MUSTER = os.environ["MUSTER"]
SPARE = 64 << 20
VECTORS = 3
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


def run(name, data, threads, *flags, token=()):
    """Two joiners; the larger of their peaks, and the chunks sent to both."""
    os.environ["XDG_CACHE_HOME"] = os.path.abspath(f"{name}-cache")
    train = subprocess.Popen(
        [MUSTER, "train", *data, "--format", "json", "--listen",
         "127.0.0.1:0", "--workers", "2", "--out", name,
         "--optim", "agd", "--steps", "4", "--quiet", *token, *flags], stdout=subprocess.PIPE,
        text=True)
    address(name)
    joiners = [subprocess.Popen([MUSTER, "join", name, "--threads",
                                 str(threads), "--name", f"w{i}", "--quiet",
                                 *token])
               for i in range(2)]
    most = 0
    while train.poll() is None:
        most = max([most] + [peak(joiner.pid) for joiner in joiners])
        select.select([], [], [], 0.002)
    result = json.loads(train.stdout.read())
    for joiner in joiners:
        joiner.wait(DEADLINE_S)
    assert result["data"]["shipped"] > 0, result
    return most, result["data"]["shipped"]


def write_wide(path, rows, columns):
    """Rows of 20 entries somewhere."""
    rng = random.Random(3)
    with open(path, "w", encoding="ascii") as file:
        for i in range(rows):
            row = sorted({rng.randrange(1, columns + 1) for _ in range(20)} |
                         ({columns} if i == 0 else set()))
            file.write(f"{(-1, 1)[i % 2]} " +
                       " ".join(f"{j}:0.3" for j in row) + "\n")


def write_full(path, rows, columns):
    """Rows that between them have every column."""
    with open(path, "w", encoding="ascii") as file:
        for i in range(rows):
            file.write(f"{(-1, 1)[i % 2]} " + " ".join(
                f"{j}:{j % 7 + .5}"
                for j in range(i + 1, columns + 1, rows)) + "\n")


def csr_bytes(rows, entries):
    return rows * (8 + 8) + entries * 8


def main():
    csr = ["--storage", "csr", "--optim", "gd", "--lr", "0.1"]
    points = []

    def point(name, most, chunks, cols):
        points.append((name, most, chunks, cols * 8))

    rows, cols = 400000, 96
    most, sent = run("rows", [f"gen:gmm:{rows},{cols}"], 2, "--code", "uncoded",
                     "--chunk-rows", "4000")
    # One that the other had to wait for may have been sent all of them.
    held = rows if sent > rows // 4000 else rows // 2
    point("many rows", most, held * (8 + 4 * cols), cols)
    rows = 2000
    for power, threads in (20, 1), (22, 2), (22, 8), (23, 3):
        cols = 1 << power
        write_wide("wide.svm", rows, cols)
        most, _ = run(f"wide{power}-{threads}", ["wide.svm"], threads, "--code",
                      "uncoded", *csr)
        point(f"2^{power} weights, threads: {threads}", most,
              csr_bytes(rows, rows * 20), cols)
    rows, cols = 256, 1 << 22
    write_full("full.svm", rows, cols)
    subprocess.run([MUSTER, "token", "new", "cluster.token"], check=True,
                   stdout=subprocess.DEVNULL)
    for how, token in (("", []), (", TLS", ["--token-file", "cluster.token"])):
        most, _ = run(f"full{len(token)}", ["full.svm"], 1, "--code", "steal",
                      "--chunk-rows", "16", *csr, token=token)
        point(f"2^22 weights, all in use{how}", most, csr_bytes(rows, cols),
              cols)
    print(f"1..{len(points)}")
    for number, (name, most, chunks, vector) in enumerate(points, 1):
        good = 0 < most <= chunks + VECTORS * vector + SPARE
        print(f"{'ok' if good else 'not ok'} {number} - {name}: peak "
              f"{most / 1e6:.0f} MB, chunks {chunks / 1e6:.0f} MB, a vector "
              f"{vector / 1e6:.1f} MB")


main()
