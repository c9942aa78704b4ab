#!/usr/bin/env python3
"""Networks by the plain command are as often right as they should be, on drawn
digits and, where it is at hand (../shared/data beside the repository), on MNIST.
`bench/accuracy.py` is the table of all."""

import os
import sys

sys.path.insert(0, os.path.join(os.environ["ROOT"], "bench"))
import accuracy  # noqa: E402

JOBS = [
    ("digits", "softmax"), ("digits", "CNN of one convolution"),
    ("mnist", "MLP 784-512-256-10")]


def main():
    failed = False
    print(f"1..{len(JOBS)}")
    for number, (data, name) in enumerate(JOBS, 1):
        rows = accuracy.rows_of(data)
        what, least = next(job[1:] for job in accuracy.JOBS[data] if job[0] == name)
        said = f"ok {number} - {data}, {name}: at least {least} of unseen rows are told right"
        if rows is None:
            print(f"{said} # SKIP no ../shared/data/{data}")
            continue
        found = accuracy.train(rows, what, [])["metrics"]["accuracy"]
        # A network has nothing to show where a linear model is as good.
        good = found >= least and (data != "digits" or "--net" in what or found < 0.92)
        failed |= not good
        print(said if good else f"not {said}\n# {found}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
