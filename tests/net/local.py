#!/usr/bin/env python3
"""Code `local` with real processes: an average of every step keeps the hash of
plain gd; the same participants give the same model on any machine; kills and
joins change the model, never whether the run ends or what its receipts say."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from cluster import Tap, train

del os.environ["MUSTER_OPTIM"]  # gd, unless sgd is asked for.

DATA = ["gen:gmm:6000,40", "--steps", 60, "--seed", 3, "--chunk-rows", 64]
SGD = ["--optim", "sgd", "--model", "svm", "--loss", "hinge", "--l2", "0.01",
       "--lr", "0.1", "--steps", 6]
KILLED = {
    "a worker": "kill:w1@2",
    "two at once": "kill:w1@2,kill:w2@2",
    "the coordinator": "kill:coordinator@3",
    "a worker and the coordinator, one joins":
        "kill:w1@2,kill:coordinator@3,join@4",
}


def local(every):
    return ["--code", f"local:h={every}"]


def numbers(result):
    return result["exit"], result["steps"], result["exactness"]["approx"]


def check_sums(tap):
    wanted = train(*DATA, "--optim", "gd")["hash"]
    for name, flags in ("four workers", []), \
            ("one killed", ["--chaos", "kill:w1@7"]):
        got = train(*DATA, "-n", 4, *local(1), *flags)
        tap.equal((got["hash"], got["exactness"]["bitwise"]), (wanted, 60),
                  f"an average of every step is gd: {name}")


def check_repeats(tap):
    for name, flags in ("gd", local(10)), ("sgd", [*local(2), *SGD]):
        job = [*DATA, "-n", 4, *flags]
        first = train(*job)
        for other, more in ("threads", ["--threads", 2]), \
                ("portable", ["--isa", "portable"]), \
                ("arrival", ["--delay", "exp:0.01"]):
            tap.equal(train(*job, *more)["hash"], first["hash"],
                      f"{name}: the same model, {other}")
        tap.equal(first["missing"], [], f"{name}: nothing is missing")
    alone = train(*DATA, *SGD)
    tap.equal(train(*DATA, "-n", 1, *local("once"), *SGD)["hash"],
              alone["hash"], "one worker, once: sgd of one machine")


def check_kills(tap):
    for name, chaos in KILLED.items():
        got = train(*DATA, "-n", 4, *local(10), "--chaos", chaos)
        tap.equal(numbers(got), (0, 6, 6), f"killed: {name}")
        tap.ok(got["metrics"]["accuracy"] > 0.9, f"killed: {name}: it learned",
               got["metrics"])
        tap.equal(got["missing"], [], f"killed: {name}: its rows moved on")


def check_missing(tap):
    got = train(*DATA, "-n", 4, *local("10:stop=first:3"), "--delay",
                "worker:w2=5000")
    gone = {(tuple(m["silent"]), tuple(map(tuple, m["rows"])))
            for m in got["missing"]}
    tap.equal(numbers(got), (0, 6, 6), "a slow one is left out")
    tap.equal((len(got["missing"]), gone), (6, {((2,), ((3008, 4480),))}),
              "the receipts say who, and which rows")


def main():
    tap = Tap()
    check_sums(tap)
    check_repeats(tap)
    check_kills(tap)
    check_missing(tap)
    tap.done()


main()
