#!/usr/bin/env python3
"""Shadows with real processes: a straggler that always is one is stood for by
samples of its rows, the same in every run; full steps, batches and a network;
receipts tell what to expect of an estimate; kills, restarts and joins end as
any run."""

import json
import os
import re
import sys
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from cluster import Tap, run, train

STEPS = 60
DATA = ["gen:gmm:6000,20", "--steps", STEPS, "--seed", 3, "--chunk-rows", 64,
        "--optim", "gd", "-n", 5]
CODE = "flexent:shadows=1:size=10%"
# So slow that it is always the one left out.
SLOW = ["--delay", "worker:w2=20000"]
KILLED = {
    "a primary": "kill:w1@20",
    "the shadow": "kill:w4@20",
    "two at once": "kill:w1@20,kill:w4@20",
    "the coordinator": "kill:coordinator@30",
    "all of it, one joins": "kill:w1@20,kill:coordinator@30,join@40",
}


def numbers(result):
    return (result["exit"], result.get("steps", result.get("error")),
            result.get("exactness", {}).get("approx"))


def loss(result):
    return result["train_metrics"]["logloss"]


def check_estimates(tap):
    exact = train(*DATA, "--code", "uncoded")
    for estimate in "shrink", "shadow", "rescale", "abandon":
        code = f"{CODE}:estimate={estimate}"
        one = train(*DATA, "--code", code, *SLOW)
        tap.equal(numbers(one), (0, STEPS, STEPS), f"{estimate}: approx")
        tap.ok(loss(one) < 1.1 * loss(exact), f"{estimate}: near the optimum",
               (loss(one), loss(exact)))
        two = train(*DATA, "--code", code, *SLOW)
        tap.equal(one["hash"], two["hash"], f"{estimate}: the same again")
    for sampler in "random", "entropy":
        got = train(*DATA, "--code", f"{CODE}:sampler={sampler}", *SLOW)
        tap.equal(numbers(got), (0, STEPS, STEPS), f"{sampler}: it ends")


def residuals(folder, *more):
    """What the receipts of its approximate steps say; an exact one has 0."""
    train("gen:gmm:2000,10", "--optim", "gd", "--steps", 40, "-n", 5, "--delay",
          "worker:w1=20000", "--out", folder, *more)
    done = run("report", folder, "--format", "json")
    page = re.search(r'id="data"[^>]*>(.*?)</script>',
                     (Path(folder) / "report.html").read_text(), re.S)
    receipts = [one for one in json.loads(page[1])["receipts"]
                if one["class"] == 2]
    return done.returncode, len(receipts), [one["residual"] for one in receipts]


def check_receipts(tap):
    """No estimate is called exact: what the sample cannot tell from noise is
    expected to be off by rows that are alike, and one row tells nothing."""
    for estimate in "shrink", "shadow", "rescale", "abandon":
        code, count, seen = residuals(
            estimate, "--code", f"flexent:size=10%:estimate={estimate}")
        tap.ok(code == 0 and count > 20 and
               all(residual is not None and residual > 0 for residual in seen),
               f"{estimate}: receipts expect an error of every estimate", seen)
    code, count, seen = residuals("row", "--code", "flexent:size=0.1%")
    tap.ok(code == 0 and count > 20 and seen == [None] * count,
           "one row: what is expected is not known", seen)


def check_nobody_late(tap):
    """Without a sample in its sums a step is as exact as any; who is late in
    it is up to the machine."""
    got = train(*DATA, "--code", f"{CODE}:s=0")
    exact = train(*DATA, "--code", "uncoded")
    tap.equal(got["hash"], exact["hash"], "none may be late: one machine's bits")


def check_batches(tap):
    got = train("gen:gmm:6000,20", "--passes", 2, "--batch", 600, "--optim",
                "gd", "-n", 5, "--chunk-rows", 64, "--code", CODE, *SLOW)
    tap.equal((got["exit"], got["steps"]), (0, 20), "batches")
    got = train("gen:digits:600", "--net", "dense32 relu dense10", "--passes",
                2, "--batch", 200, "-n", 3, "--code", "flexent:size=20%",
                "--optim", "adam", "--delay", "worker:w1=20000")
    tap.equal(numbers(got), (0, 6, 6), "a network")
    got = train("gen:digits:600", "--net", "dense32 relu dense10", "--passes",
                1, "-n", 3, "--code", "flexent:size=20%", "--optim", "adam")
    tap.equal(got["exit"], 0, "a network with the batch it has by default")


def check_kills(tap):
    for name, chaos in KILLED.items():
        got = train(*DATA, "--code", CODE, "--chaos", chaos)
        tap.equal((got["exit"], got["steps"]), (0, STEPS), f"killed: {name}")
        tap.ok(got["train_metrics"]["accuracy"] > 0.9, f"killed: {name}: learnt",
               got["train_metrics"])


def main():
    tap = Tap()
    check_estimates(tap)
    check_receipts(tap)
    check_nobody_late(tap)
    check_batches(tap)
    check_kills(tap)
    tap.done()


main()
