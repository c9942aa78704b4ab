#!/usr/bin/env python3
"""Models whose weights are read where they arrived: long ROUNDs over sockets.

A ROUND from 256 KiB on is put together in memory of the worker's own, which
computes from it and answers from where it computed; the next is read only when
nobody computes from the last.  Kills, stops, joins, leaves, relays, codes,
optimisers, TLS, a coordinator that is replaced: one hash."""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
import journal
from cluster import MUSTER, Tap, train
from ways import WAYS

DATA = ["gen:gmm:32,40000", "--chunk-rows", 2]
GD = ["--optim", "gd", "--lr", "1e-3", "--steps", 24]
CASES = {
    **WAYS,
    "relays": ["-n", 4, "--fanout", 2],
    "relays, killed": ["-n", 4, "--fanout", 2, "--chaos", "kill:w1@5"],
    "answers compared": ["-n", 4, "--verify"],
}
# Answers that the kernel does not take at once: pieces wait for those before.
LONGER = ["gen:gmm:16,600000", "--chunk-rows", 1, "--lr", "1e-3", "--optim",
          "gd", "--steps", 4]
TROUBLE = {
    "long answers": [],
    "long answers, killed": ["--chaos", "kill:w1@1,kill:coordinator@2"],
    "long answers, stopped": ["--chaos", "stop:w1@1+1"],
}
METHODS = {
    "lbfgs": ["--optim", "lbfgs", "--steps", 8],
    "newton": ["--optim", "newton", "--steps", 3],
    "softmax": ["--optim", "gd", "--lr", "1e-3", "--steps", 6, "--model", "softmax"],
}
KILLS = ["-n", 3, "--chaos", "kill:w1@2,kill:coordinator@3"]


def check(tap, name, want, got):
    tap.ok(got["exit"] == 0 and got.get("hash") == want["hash"], name,
           (got.get("error"), got.get("hash"), want["hash"]))


def receipts(folder):
    return [r[-1] for r in journal.records(folder) if r[0] == journal.STEP]


def names(tap):
    """So many weights have a name in receipts, no SHA-256; steps that are
    computed again are compared by it, and come out as without faults."""
    train(*DATA, *GD, "-n", 3, "--out", "calm")
    killed = train(*DATA, *GD, *KILLS, "--out", "killed")
    calm = receipts("calm")
    tap.ok(len(calm) == 24 and len(set(calm)) == 24 and
           all(name.endswith("00" * 23 + "01") for name in calm),
           "a receipt has a name of 64 bits", calm)
    tap.ok(killed["exit"] == 0 and receipts("killed") == calm,
           "killed: the same receipts", killed.get("error"))


def main():
    tap = Tap()
    names(tap)
    alone = train(*DATA, *GD)
    for name, flags in CASES.items():
        check(tap, name, alone, train(*DATA, *GD, "--bulk", "tcp", *flags))
    subprocess.run([MUSTER, "token", "new", "cluster.token"], check=True,
                   stdout=subprocess.DEVNULL)
    sealed = ["--token-file", "cluster.token", "--bulk", "tcp", *GD]
    check(tap, "sealed", alone, train(*DATA, *sealed, "-n", 4))
    check(tap, "sealed, killed", alone, train(*DATA, *sealed, *KILLS))
    for name, flags in METHODS.items():
        check(tap, f"{name}, killed", train(*DATA, *flags),
              train(*DATA, *flags, *KILLS, "--bulk", "tcp"))
    longer = train(*LONGER)
    for name, flags in TROUBLE.items():
        check(tap, name, longer,
              train(*LONGER, "-n", 3, "--code", "steal", "--bulk", "tcp",
                    *flags))
    tap.done()


main()
