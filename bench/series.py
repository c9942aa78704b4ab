#!/usr/bin/env python3
"""Folds on two workers beside one process of one thread, in turn: the same
table, and how much sooner.  Wanted: 1.6 on two processors that are free.

Beside it, what the machine has to give: the one process run twice at the same
time.  If both together take as long as one alone, the limit is 2; where rows
come from memory, two processors may get little more of it than one, and the
limit is that.  Arguments: names of jobs."""

import json
import os
import statistics
import subprocess
import sys
import tempfile

MUSTER = os.path.abspath(os.environ.get("MUSTER", "build/muster"))
ROUNDS = int(os.environ.get("RUNS", "5"))
JOBS = {  # name: data, model and its steps
    "logistic": ["gen:gmm:100000,100", "--optim", "agd", "--steps", "150"],
    "logistic-large": ["gen:gmm:400000,100", "--optim", "agd", "--steps", "150"],
    "svm-small": ["gen:gmm:30000,23", "--model", "svm", "--optim", "agd",
                  "--steps", "2000"],
    "softmax": ["gen:digits:20000", "--model", "softmax", "--optim", "agd",
                "--steps", "60"],
    "network": ["gen:digits:10000", "--net", "conv3x3x8 relu pool2 dense10",
                "--passes", "2"],
}


def start(folder, job, *more):
    return subprocess.Popen(
        [MUSTER, "train", *JOBS[job], "-v", "2", "--format", "json", "-q",
         "--threads", "1", *more], cwd=tempfile.mkdtemp(dir=folder),
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def end(process):
    """(seconds of the series, its table)"""
    result = json.loads(process.communicate()[0])
    assert process.returncode in (0, 3), f"status {process.returncode}"
    return result["elapsed_s"], result["runs"]


def compare(folder, job):
    gains, limits = [], []
    for _ in range(ROUNDS):
        one, table = end(start(folder, job))
        two, again = end(start(folder, job, "-n", "2"))
        assert table == again, "another table than one process's"
        pair = [start(folder, job) for _ in range(2)]
        both = max(end(process)[0] for process in pair)
        gains.append(one / two)
        limits.append(2 * one / both)
        print(f"{job}: one process {one:.2f} s, two workers {two:.2f} s: "
              f"{gains[-1]:.2f} x; limit {limits[-1]:.2f} x", flush=True)
    gain, limit = map(statistics.median, (gains, limits))
    print(f"{job}: median {gain:.2f} x ({min(gains):.2f} to {max(gains):.2f}), "
          f"limit {limit:.2f} x, {gain / limit:.2f} of it; same table, same "
          "hashes")


def main():
    with tempfile.TemporaryDirectory() as folder:
        for job in sys.argv[1:] or JOBS:
            compare(folder, job)


main()
