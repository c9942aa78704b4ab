#!/usr/bin/env python3
"""Folds on two workers beside one process of one thread, in turn: the same
table, and how much sooner.  Limit: 1.6 on two processors that are free.  One
process with two threads, which trains both folds at once, is shown beside."""

import json
import os
import statistics
import subprocess
import tempfile

MUSTER = os.environ.get("MUSTER", "build/muster")
JOB = ["gen:gmm:100000,100", "-v", "2", "--optim", "agd", "--steps", "150",
       "--format", "json", "-q"]
PAIRS = 3


def seconds(folder, *more):
    done = subprocess.run([os.path.abspath(MUSTER), "train", *JOB, *more],
                          cwd=folder, capture_output=True, text=True,
                          check=True)
    result = json.loads(done.stdout)
    return result["elapsed_s"], result["runs"]


def main():
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(PAIRS):
            one, table = seconds(folder, "--threads", "1")
            two, again = seconds(folder, "--threads", "1", "-n", "2")
            assert table == again, "another table than one process's"
            both, _ = seconds(folder, "--threads", "2")
            ratios.append(one / two)
            print(f"one process {one:.2f} s, two workers {two:.2f} s: "
                  f"{one / two:.2f} x; two threads {one / both:.2f} x")
    print(f"median {statistics.median(ratios):.2f} x (limit 1.6, two free "
          "processors); same table, same hashes")


main()
