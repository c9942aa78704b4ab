#!/usr/bin/env python3
"""Whole clusters under valgrind, every process of them, while some are killed:
shared memory and sockets, relays, coded data, comparison of answers."""

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))
import memcheck  # noqa: E402
from cluster import Tap  # noqa: E402

TIMEOUT_S = 600
DATA = ["gen:gmm:400,8", "--chunk-rows", "8", "--optim", "agd", "--steps", "40"]
RUNS = [
    ("alone", []),
    ("shared memory, a worker and the coordinator killed",
     ["-n", "3", "--bulk", "shm", "--respawn", "--chaos",
      "kill:w1@10,kill:coordinator@15"]),
    ("sockets, a worker and the coordinator killed",
     ["-n", "3", "--bulk", "tcp", "--respawn", "--chaos",
      "kill:w1@10,kill:coordinator@15"]),
    ("relays, one of them, a worker and the coordinator killed",
     ["-n", "4", "--fanout", "2", "--respawn", "--chaos",
      "kill:r1@8,kill:w0@12,kill:coordinator@20"]),
    ("steal, answers compared, a worker killed",
     ["-n", "3", "--code", "steal", "--verify", "--chaos", "kill:w1@10"]),
]


def main():
    tap = Tap()
    memcheck.skip_without_valgrind()
    wanted = None
    for number, (name, options) in enumerate(RUNS):
        status, output, found = memcheck.check(
            [os.environ["MUSTER"], "train", *DATA, *options, "-q", "--out",
             f"run{number}", "--format", "json"], TIMEOUT_S)
        tap.ok(status == 0 and not found, name, found[:6000] or output[-2000:])
        got = json.loads(output[output.find("{"):] or "{}").get("hash")
        wanted = wanted or got
        tap.equal(got, wanted, f"{name}: the same hash")
    tap.done()


main()
