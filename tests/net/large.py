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
from cluster import MUSTER, Tap, train

DATA = ["gen:gmm:32,40000", "--chunk-rows", 2, "--lr", "1e-3"]
GD = ["--optim", "gd", "--steps", 24]
CASES = {
    "uncoded": ["-n", 4, "--code", "uncoded"],
    "steal": ["-n", 4, "--code", "steal", "--threads", 2],
    "frc": ["-n", 4, "--code", "frc", "--stragglers", 1],
    "one worker": ["-n", 1],
    "more workers than processors": ["-n", 9, "--code", "steal"],
    "killed workers": ["-n", 4, "--chaos", "kill:w1@3,kill:w2@9"],
    "killed workers, uncoded": ["-n", 4, "--code", "uncoded", "--chaos",
                                "kill:w1@3,kill:w2@9"],
    "killed coordinator": ["-n", 4, "--chaos", "kill:coordinator@7"],
    "killed coordinators and workers": [
        "-n", 4, "--chaos",
        "kill:coordinator@5,kill:w0@5,kill:w3@11,kill:coordinator@17"],
    "stopped and continued": ["-n", 4, "--chaos", "stop:w2@4+3,stop:w1@12+3"],
    "joins and leaves": ["-n", 3, "--chaos", "join@4,leave:w1@9,join@12"],
    "slow answers": ["-n", 4, "--delay", "exp:0.01"],
    "relays": ["-n", 4, "--fanout", 2],
    "relays, killed": ["-n", 4, "--fanout", 2, "--chaos", "kill:w1@5"],
    "answers compared": ["-n", 4, "--verify"],
    "everything at once": [
        "-n", 6, "--respawn", "--delay", "worker:w5=2", "--chaos",
        "kill:w1@4,join@6,stop:w2@8+3,leave:w3@12,kill:coordinator@14"],
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
    "softmax": ["--optim", "gd", "--steps", 6, "--model", "softmax"],
}
KILLS = ["-n", 3, "--chaos", "kill:w1@2,kill:coordinator@3"]


def check(tap, name, want, got):
    tap.ok(got["exit"] == 0 and got.get("hash") == want["hash"], name,
           (got.get("error"), got.get("hash"), want["hash"]))


def main():
    tap = Tap()
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
