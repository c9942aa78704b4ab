#!/usr/bin/env python3
"""Early stopping by held-out rows: one hash for any number of workers, and
whoever is killed with kill -9, in mid-pass or at the end of a pass; killed as a
whole and resumed, a run stops after the same pass.  Rows that are only looked at
may be held out from one resume to the next."""

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


def check(tap, result, wanted, name):
    tap.ok(ended(result) == wanted, name,
           f"got {ended(result)}, wanted {wanted}, said {result['stderr']}")


def killed_at(step, folder, *options):
    """A run of it that gets so far, and then kill -9 of all."""
    job = Train(*options, "-n", 2, "--delay", "exp:0.01")
    job.wait_child("coordinator")
    wait_step(folder, step)
    family = [pid for _, pid in job.children()]
    for pid in (job.pid, *family): # The coordinator has no time for a checkpoint.
        kill(pid)
    wait_for(lambda: not any(alive(pid) for pid in family), "children to be gone")


def killed_and_resumed(tap, name, options, step, wanted):
    """All of it, by kill -9 of supervisor and coordinator in mid-pass."""
    folder = f"{name}-{step}"
    killed_at(step, folder, *options, "--out", folder)
    again = train(*options, "-n", 3, "--resume", folder)
    check(tap, again, wanted, f"{name}: killed after step {step} and resumed")


def rows_come_and_go(tap):
    """--valid FILE without --patience decides nothing: it may be given, left out
    and changed at each resume, and the folder can be resumed ever after."""
    # Passes are short: some end between the checkpoint and the journal's end.
    options = ["gen:gmm:500,60", "--optim", "gd", "--batch", 250, "--lr", .1, "--steps", 300]
    for name in "valid", "other":
        with open(name, "w", encoding="ascii") as file:
            for row in range(20):
                cells = (f"{j}:{(row * j + len(name)) % 7 - 3}" for j in range(1, 61))
                file.write(f"{row % 2 * 2 - 1} {' '.join(cells)}\n")
    wanted = train(*options)["hash"]
    folder = "looked"
    killed_at(45, folder, *options, "--out", folder)
    for step, more in ((85, ["--valid", "valid"]), (115, []), (155, ["--valid", "other"])):
        killed_at(step, folder, *options, "--resume", folder, *more)
    again = train(*options, "-n", 2, "--resume", folder, "--valid", "valid")
    tap.equal(again.get("hash"), wanted, "--valid comes and goes at each resume")
    tap.ok("held_out_loss" in again, "and is measured to the end")


def main():
    tap = Tap()
    rows_come_and_go(tap)
    for name, (each, data) in JOBS.items():
        options = [*data, *RULE]
        wanted = ended(train(*options))
        tap.ok(wanted[4] == "early" and wanted[2] < wanted[1] < 60 * each,
               f"{name}: stops early, the best pass before", wanted)
        for more in (["--threads", 1], ["-n", 1], ["-n", 2], ["-n", 5],
                     ["-n", 4, "--code", "frc"], ["-n", 3, "--verify"],
                     ["-n", 4, "--fanout", 2]):
            check(tap, train(*options, *more), wanted, f"{name}: {more}")
        # The step that a pass ends with, the one before, the one after.
        for step in (each - 1, each, each + 1, 2 * each):
            chaos = f"kill:coordinator@{step},kill:w1@{step}"
            check(tap, train(*options, "-n", 3, "--chaos", chaos, "--respawn"), wanted,
                  f"{name}: {chaos}")
        for step in (each + 2, 2 * each):
            killed_and_resumed(tap, name, options, step, wanted)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
