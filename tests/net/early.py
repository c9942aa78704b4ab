#!/usr/bin/env python3
"""Early stopping by held-out rows: one hash for any number of workers, and
whoever is killed with kill -9, in mid-pass or at the end of a pass; killed as a
whole and resumed, a run stops after the same pass."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from cluster import Tap, Train, alive, kill, train, wait_for, wait_step

RULE = ["--schedule", "constant", "--passes", 60, "--patience", 3]
JOBS = {
    # Steps of a pass, then options.
    "linear": (15, ["gen:gmm:500,60", "--optim", "gd", "--batch", 32, "--lr", 1, "--l2", 0]),
    "network": (5, ["gen:digits:600", "--net", "dense16 relu dense10", "--optim", "adam",
                    "--lr", .02]),
}


def ended(result):
    return [result.get(key) for key in ("hash", "steps", "best_step", "held_out_loss", "end")]


def killed_and_resumed(tap, name, options, step, wanted):
    """All of it, by kill -9 of supervisor and coordinator in mid-pass."""
    folder = f"{name}-{step}"
    job = Train(*options, "-n", 2, "--out", folder, "--delay", "exp:0.01")
    job.wait_child("coordinator")
    wait_step(folder, step)
    family = [pid for _, pid in job.children()]
    kill(job.pid)
    wait_for(lambda: not any(alive(pid) for pid in family), "children to be gone")
    again = train(*options, "-n", 3, "--resume", folder)
    tap.equal(ended(again), wanted, f"{name}: killed after step {step} and resumed")


def main():
    tap = Tap()
    for name, (each, data) in JOBS.items():
        options = [*data, *RULE]
        wanted = ended(train(*options))
        tap.ok(wanted[4] == "early" and wanted[2] < wanted[1] < 60 * each,
               f"{name}: stops early, the best pass before", wanted)
        for more in (["--threads", 1], ["-n", 1], ["-n", 2], ["-n", 5],
                     ["-n", 4, "--code", "frc"], ["-n", 3, "--verify"],
                     ["-n", 4, "--fanout", 2]):
            tap.equal(ended(train(*options, *more)), wanted, f"{name}: {more}")
        # The step that a pass ends with, the one before, the one after.
        for step in (each - 1, each, each + 1, 2 * each):
            chaos = f"kill:coordinator@{step},kill:w1@{step}"
            tap.equal(ended(train(*options, "-n", 3, "--chaos", chaos, "--respawn")), wanted,
                      f"{name}: {chaos}")
        for step in (each + 2, 2 * each):
            killed_and_resumed(tap, name, options, step, wanted)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
