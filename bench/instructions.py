#!/usr/bin/env python3
"""Instructions of one step, counted by callgrind: no clock, so the same on a
busy machine.  Each case runs with few steps and with many, and the difference
is divided by the steps between.

    bench/instructions.py                       build/release/muster
    bench/instructions.py BEFORE AFTER          two programs, and the ratio

A refactoring stays within 1.02."""

import os
import re
import subprocess
import sys

FEW, MANY = 10, 30
# A run keeps its state after two seconds of the clock, which a slow machine
# reaches and a quick one does not; here it can make no folder for it.
NOWHERE = "/proc"
TRAIN = ["train", "--optim", "agd", "--quiet", "--seed", "3"]
SIMULATE = ["simulate", "gen:gmm:500,20", "--chunk-rows", "8", "--optim",
            "agd", "--seed", "3"]
CASES = {
    "one process, 1,000 x 100": [*TRAIN, "gen:gmm:1000,100"],
    "one process, softmax": [*TRAIN, "gen:digits:300", "--model", "softmax"],
    "machines, uncoded, 16 workers": [*SIMULATE, "-n", "16", "--code",
                                      "uncoded"],
    "machines, steal, 16 workers": [*SIMULATE, "-n", "16", "--code", "steal"],
    "machines, cyclic, 16 workers": [*SIMULATE, "-n", "16", "--code",
                                     "cyclic"],
    "machines, uncoded, 10,000 weights": ["simulate", "gen:gmm:64,10000",
                                          "--optim", "agd", "-n", "4",
                                          "--code", "uncoded"],
}


def count(program, args, steps):
    """Instructions of the whole run."""
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
         program, *args, "--steps", str(steps)], cwd=NOWHERE,
        capture_output=True, text=True, timeout=600, check=False)
    found = re.search(r"refs:\s+([\d,]+)", done.stderr)
    if done.returncode != 0 or found is None:
        sys.exit(f"{program} {' '.join(args)}: {done.stderr[-400:]}")
    return int(found.group(1).replace(",", ""))


def of_step(program, args):
    return (count(program, args, MANY) - count(program, args, FEW)) / \
        (MANY - FEW)


def main():
    programs = [os.path.abspath(path)
                for path in sys.argv[1:] or ["build/release/muster"]]
    worst = 0
    for name, args in CASES.items():
        found = [of_step(program, args) for program in programs]
        ratio = found[-1] / found[0]
        worst = max(worst, ratio)
        print(f"{name:<36}" + "".join(f"{n:14,.0f}" for n in found) +
              (f"{ratio:8.3f}" if len(found) > 1 else ""))
    return worst > 1.02


if __name__ == "__main__":
    sys.exit(main())
