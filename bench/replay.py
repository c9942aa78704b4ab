#!/usr/bin/env python3
"""Time of `muster simulate --no-compute`: 1,000 workers x 1,000 steps of frc in
under 2 s, 10,000 x 100 in under 5 s, on one core (user time; least of 3)."""

import os
import resource
import subprocess
import sys

MUSTER = os.environ.get("MUSTER", "build/muster")
CASES = ((1000, 1000, 2), (10000, 100, 5))


def user_s(args):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(args, check=True, stdout=subprocess.DEVNULL)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def main():
    slow = 0
    for workers, steps, limit in CASES:
        for delay in ("reference", "exp:1", "pareto:1,1.5/times+exp:.1"):
            took = min(user_s([MUSTER, "simulate", "--no-compute", "-n",
                               str(workers), "--steps", str(steps), "--code",
                               "frc", "--delay", delay, "--work", "1"])
                       for _ in range(3))
            slow += took > limit
            print(f"{workers:>6} x {steps:<5} {delay:<27}{took:6.2f} s "
                  f"(limit {limit})")
    return slow > 0


if __name__ == "__main__":
    sys.exit(main())
