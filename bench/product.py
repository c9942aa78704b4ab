#!/usr/bin/env python3
"""Speed-up of coded products over uncoded ones where workers take 1 + Exp(1)
times their share of the work (Lee et al., 2018): k of n against all n.

    bench/product.py virtual [N ...]   in virtual time: the simulator's
                                       coordinator, the best of some k, beside
                                       (1 + H_n) / 3.146, the limit for large n
    bench/product.py real [ROUNDS]     8 workers, real processes, `--delay`:
                                       40 columns uncoded, then with k = 5, 6
                                       and 7, in turn

Virtual time is `muster simulate --no-compute --code mds:k=K`, whose two rounds
of half the work take as long as the one of a product.  Delays of real runs are seconds (`shifted:`), n/k as long where a
block is 1/k: the products themselves take next to nothing here."""

import json
import os
import random
import statistics
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MUSTER = os.environ.get("MUSTER", str(ROOT / "build/muster"))
SIZES = (5, 10, 20, 50, 100, 200, 500, 1000)
DRAWS = 400000  # Steps times workers, and ...
STEPS = 2000     # ... no fewer steps.
LIMIT = 3.146    # x - ln x = 2: T n of the best k/n = 1 - 1/x.
UNIT_S = 0.1     # Real: mean of each of the two terms, uncoded.
REAL = 8
COLUMNS = 40


def harmonic(n):
    return sum(1 / i for i in range(1, n + 1))


def simulate(n, code, work=1.0, steps=None, seed=1, delay="exp:1/scale"):
    """Mean seconds of a step."""
    steps = steps or max(STEPS, DRAWS // n)
    out = subprocess.run(
        [MUSTER, "simulate", "-n", str(n), "--no-compute", "--steps",
         str(steps), "--seed", str(seed), "--delay", delay, "--work",
         repr(work), "--code", code, "--format", "json"],
        capture_output=True, text=True, check=True)
    return json.loads(out.stdout)["mean_step_s"]


def virtual(sizes):
    print(f"{'n':>5} {'uncoded':>8} {'k':>4} {'coded':>7} {'speed-up':>9} "
          f"{'(1+H_n)/3.146':>14} {'off':>6}  exact")
    for n in sizes:
        plain = simulate(n, "uncoded")
        tried = {round(share * n) for share in (.6, .64, .68, .72, .76, .8)}
        time, k = min((simulate(n, f"mds:k={k}"), k) for k in tried if 0 < k < n)
        theory = (1 + harmonic(n)) / LIMIT
        exact = max((1 + harmonic(n)) * j / n /
                    (1 + harmonic(n) - harmonic(n - j)) for j in range(1, n))
        gain = plain / time
        print(f"{n:5} {plain:8.3f} {k:4} {time:7.3f} {gain:9.3f} "
              f"{theory:14.3f} {gain / theory - 1:+6.1%}  {exact:.3f}",
              flush=True)


def write(path, rows, cols, rng):
    head = (f"{{'descr': '<f8', 'fortran_order': False, "
            f"'shape': ({rows}, {cols}), }}\n").encode()
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head)
        file.write(struct.pack(f"<{rows * cols}d", *(
            rng.gauss(0, 1) for _ in range(rows * cols))))


def delay_of(k):
    unit = UNIT_S * REAL / k
    return f"shifted:{unit},{unit}"


def product(k, seed):
    """Mean seconds of a column."""
    code = "uncoded" if k == REAL else f"mds:k={k}"
    out = subprocess.run(
        [MUSTER, "product", "A.npy", "B.npy", "C.npy", "--force", "--quiet",
         "--code", code, "-n", str(REAL), "--delay", delay_of(k), "--seed",
         str(seed), "--format", "json"],
        capture_output=True, text=True, check=True)
    return json.loads(out.stdout)["seconds"] / COLUMNS


def predicted(k, seed):
    """The same draws in virtual time: the first k."""
    return simulate(REAL, f"ignore:s={REAL - k}", 0.0, COLUMNS, seed,
                    delay_of(k))


def real(rounds):
    rng = random.Random(1)
    write("A.npy", 480, 64, rng)
    write("B.npy", 64, COLUMNS, rng)
    ks = (REAL, 5, 6, 7)
    times = {k: [] for k in ks}
    for seed in range(rounds):
        for k in ks:
            times[k].append((product(k, seed), predicted(k, seed)))
    print(f"{'k of 8':>7} {'s a column':>11} {'same draws':>11} "
          f"{'all draws':>10} {'speed-up':>9} {'same draws':>11} "
          f"{'all draws':>10}")
    plain = [statistics.mean(time) for time in zip(*times[REAL])]
    for k in ks:
        exact = UNIT_S * REAL / k * (1 + harmonic(REAL) - harmonic(REAL - k))
        took, same = (statistics.mean(time) for time in zip(*times[k]))
        print(f"{k:7} {took:11.3f} {same:11.3f} {exact:10.3f} "
              f"{plain[0] / took:9.3f} {plain[1] / same:11.3f} "
              f"{UNIT_S * (1 + harmonic(REAL)) / exact:10.3f}")


def main():
    what = sys.argv[1] if len(sys.argv) > 1 else "virtual"
    numbers = [int(word) for word in sys.argv[2:]]
    if what == "virtual":
        virtual(numbers or SIZES)
    else:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            real(numbers[0] if numbers else 5)


main()
