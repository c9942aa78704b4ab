#!/usr/bin/env python3
"""Staleness with real processes: a slow worker's late answers are used, never
older than allowed; the loss ends near that of exact sums; 0 is `ignore`; kills,
restarts and joins end as any run."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from cluster import Tap, train

DATA = ["gen:gmm:6000,20", "--steps", 150, "--seed", 3, "--chunk-rows", 64,
        "--optim", "gd", "-n", 4]
# Slow in proportion, and so slow that it is always the one left out.
SLOW = ["--delay", "worker:w2=20000"]
LATE = ["--delay", "worker:w2=40"]
KILLED = {
    "a worker": "kill:w1@20",
    "the slow one": "kill:w2@20",
    "two at once": "kill:w1@20,kill:w3@20",
    "the coordinator": "kill:coordinator@30",
    "all of it, one joins": "kill:w1@20,kill:coordinator@40,join@60",
}


def numbers(result):
    return result["exit"], result["steps"], result["exactness"]["approx"]


def loss(result):
    """Of the final weights on all rows; `objective` is the last step's guess."""
    return result["train_metrics"]["logloss"]


def check_none(tap):
    ignore = train(*DATA, "--code", "ignore", *SLOW)
    none = train(*DATA, "--code", "ignore:staleness=0", *SLOW)
    tap.equal((none["hash"], none["code"]), (ignore["hash"], "ignore"),
              "0 is ignore, to the bit")
    tap.ok("age" not in none, "0 has no ages to tell", none)


def check_bound(tap):
    exact = train(*DATA, "--code", "uncoded")
    for bound in 1, 2, 5:
        got = train(*DATA, "--code", f"ignore:staleness={bound}", *LATE)
        tap.equal(numbers(got), (0, 150, 150), f"{bound}: it ends, approx")
        tap.ok(1 <= got["age"]["max"] <= bound and
               0 < got["age"]["mean"] <= bound, f"{bound}: ages", got["age"])
        tap.ok(loss(got) < 1.02 * loss(exact), f"{bound}: near the optimum",
               (loss(got), loss(exact)))


def check_kills(tap):
    for name, chaos in KILLED.items():
        got = train(*DATA, "--code", "ignore:staleness=2", *LATE, "--chaos",
                    chaos)
        tap.equal(numbers(got), (0, 150, 150), f"killed: {name}")
        tap.ok(got["age"]["max"] <= 2, f"killed: {name}: ages", got["age"])
        tap.ok(got["train_metrics"]["accuracy"] > 0.9,
               f"killed: {name}: it learned", got["train_metrics"])


def main():
    tap = Tap()
    check_none(tap)
    check_bound(tap)
    check_kills(tap)
    tap.done()


main()
