#!/usr/bin/env python3
"""What the peers of a ring send each other over TCP: 2 (N - 1)/N of the model's
coordinates each a step, and the bytes that these are packed to, as `status`
counts them."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from cluster import Tap, Train, address_of, run, status, wait_for

RING = ["--steps", 10 ** 6, "--topology", "ring", "--bulk", "tcp"]
WEIGHTS = 8001 # With the intercept; padded to blocks of 8.
TASK = ["gen:gmm:600,8000", "--seed", 4, "--chunk-rows", 16, "--lr", "1e-3"]
STEPS = 150
NET_WEIGHTS = 784 * 32 + 32 + 32 * 10 + 10
NET = ["gen:digits:2000", "--net", "dense32 relu dense10", "--optim", "adam"]
NET_STEPS = 30
# Of src/math/exact/pack.h: a byte for each block of 64 says how many bits its
# values have, 0 to 64; the last block of a slice is padded to rows of eight.
LEAST, MOST, PAD = 1 / 64, 1 / 64 + 8, 1 + 7 * 8
HEAD = 64, 128 # The rest of a SLICE: key, where it lies, loss.


def watch(folder, steps, *args):
    """What one peer sent, in how many steps."""
    job = Train(*args, "--out", folder)
    address_of(folder)
    try:
        first = wait_for(lambda: (now := status(folder)) and now["step"] > 5 and
                         now, "steps")
        last = wait_for(lambda: (now := status(folder)) and
                        now["step"] > first["step"] + steps and now, "steps")
    finally:
        run("stop", folder)
    job.finish()
    sent = {what: last["sent"][what] - first["sent"][what]
            for what in last["sent"]}
    return last["step"] - first["step"], sent


def test_coordinates(tap, peers, steps, sent):
    share = sent["coordinates"] / steps / WEIGHTS
    tap.ok(abs(share / (2 * (peers - 1) / peers) - 1) < .03,
           f"{peers} peers send 2 (N - 1)/N coordinates of each weight",
           f"{share:.3f} of each in {steps} steps")


def test_bytes(tap, what, sent, limit):
    """Sums go packed, whole, and nothing else is counted with them."""
    least = sent["coordinates"] * LEAST + sent["slices"] * HEAD[0]
    most = sent["coordinates"] * MOST + sent["slices"] * (HEAD[1] + PAD)
    each = sent["bytes"] / sent["coordinates"]
    tap.ok(least < sent["bytes"] < most,
           f"{what}: bytes are those of packed coordinates", sent)
    tap.ok(each < limit, f"{what}: fewer than {limit} bytes a coordinate", sent)
    print(f"# {what}: {each:.2f} bytes a coordinate")


def test_lent(tap):
    """Who reads sums where they lie is sent notes, which are none of them."""
    _, sent = watch("lent", 5, *TASK, *RING[:-2], "-n", 2)
    tap.ok(sent["coordinates"] > 0 and sent["bytes"] == 0,
           "sums that are lent are no bytes on a link", sent)


def main():
    tap = Tap()
    for peers in (2, 3, 4):
        steps, sent = watch(f"of{peers}", STEPS, *TASK, *RING, "-n", peers)
        test_coordinates(tap, peers, steps, sent)
        test_bytes(tap, f"{peers} peers", sent, 8) # Of an int64.
    _, sent = watch("net", NET_STEPS, *NET, *RING, "-n", 2)
    test_bytes(tap, "a network", sent, 4) # Its gradients are of fp32.
    test_lent(tap)
    tap.done()


main()
