#!/usr/bin/env python3
"""Every unit test, and simulated runs with faults, under valgrind: no invalid
access, no use of what was never written, no definite leak."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))
import memcheck  # noqa: E402
from cluster import Tap  # noqa: E402

TIMEOUT_S = 1200

# Valgrind computes 80-bit numbers with 64 and knows neither rounding modes nor
# flush-to-zero; what these assert is about just that.
ARITHMETIC = "asserts arithmetic that valgrind does not have"
NOT_HERE = {
    "math-test_golden": ARITHMETIC,
    "math-test_kernel": ARITHMETIC,
    "math-test_tally": ARITHMETIC,
    "os-test_confine": "valgrind dies where a program may not be started",
}


def programs():
    build = Path(os.environ["BUILD"]) / "tests" / "unit"
    for path in sorted(build.glob("*-test_*")):
        if path.is_file() and os.access(path, os.X_OK):
            yield path.name, [path]
    yield "simulated faults", [os.environ["MUSTER"], "simulate", "--faults",
                               "--seeds", "1:150"]


def main():
    tap = Tap()
    memcheck.skip_without_valgrind()
    for name, command in programs():
        if name in NOT_HERE:
            tap.skip(name, NOT_HERE[name])
            continue
        status, output, found = memcheck.check(command, TIMEOUT_S)
        tap.ok(status == 0 and not found, name,
               found[:6000] or "\n".join(output.splitlines()[-20:]))
    tap.done()


main()
