#!/usr/bin/env python3
"""What the peers of a ring send each other over TCP: 2 (N - 1)/N of the model's
coordinates each a step, as `status` counts them."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from cluster import Tap, Train, address_of, run, status, wait_for

WEIGHTS = 8001 # With the intercept; padded to blocks of 8.
TASK = ["gen:gmm:600,8000", "--seed", 4, "--chunk-rows", 16, "--lr", "1e-3", "--steps",
        10 ** 6, "--topology", "ring", "--bulk", "tcp"]
STEPS = 150


def count(tap, peers):
    job = Train(*TASK, "-n", peers, "--out", f"of{peers}")
    address_of(f"of{peers}")
    try:
        first = wait_for(lambda: (now := status(f"of{peers}")) and
                         now["step"] > 5 and now, "steps")
        last = wait_for(lambda: (now := status(f"of{peers}")) and
                        now["step"] > first["step"] + STEPS and now, "steps")
    finally:
        run("stop", f"of{peers}")
    job.finish()
    steps = last["step"] - first["step"]
    each = (last["sent"]["coordinates"] - first["sent"]["coordinates"]) / steps
    share = each / WEIGHTS
    tap.ok(abs(share / (2 * (peers - 1) / peers) - 1) < .03,
           f"{peers} peers send 2 (N - 1)/N coordinates of each weight",
           f"{share:.3f} of each in {steps} steps")


def main():
    tap = Tap()
    for peers in (2, 3, 4):
        count(tap, peers)
    tap.done()


main()
