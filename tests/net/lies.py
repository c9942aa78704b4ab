#!/usr/bin/env python3
"""Real workers that lie on purpose (--chaos lie:NAME@STEP), by mode (P10, T11).

With --verify the hash is that of one machine, the liar is named and shut out,
for every code that has something to compare and every kind of sum; with --audit
it is caught; without either it is believed.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))
from cluster import SMALL, Tap, run, train, write_rows  # noqa: E402

STEPS = 100  # Enough for every worker's answer to be wanted once.
LIAR = ["--chaos", "lie:w1@3"]
CODES = {
    "steal": ["-n", "4"],
    "frc": ["-n", "4", "--code", "frc"],
    "rep, three copies": ["-n", "6", "--code", "rep", "--stragglers", "2"],
    "stream": ["-n", "4", "--code", "stream"],
    "partial-frc": ["-n", "4", "--code", "partial-frc"],
    "uncoded": ["-n", "3", "--code", "uncoded"],
    "two workers": ["-n", "2", "--code", "frc"],
    "auto": ["-n", "4", "--code", "auto"],
}
SUMS = {
    "lbfgs": [SMALL, "--optim", "lbfgs"],
    "newton, Hessian": [SMALL, "--optim", "newton"],
    "newton, conjugate gradients": ["wide.svm", "--optim", "newton"],
    "softmax": ["gen:digits:1000", "--model", "softmax"],
}


def names(result):
    return [one["name"] for one in result["trust"]["banned"]]


def caught(tap, name, data, flags, steps=STEPS):
    wanted = train(*data, "--steps", steps)["hash"]
    result = train(*data, "--steps", steps, *flags, "--verify", *LIAR)
    trust = result.get("trust", {})
    tap.ok(result["exit"] == 0 and result.get("hash") == wanted,
           f"{name}: the honest hash", result)
    tap.ok(names(result) == ["w1"] and trust["poison"]["lie"] >= 3 and
           "w1 is quarantined" in result["stderr"],
           f"{name}: the liar is named", f"{trust} {result['stderr']}")
    tap.equal(trust["unchecked"], 0, f"{name}: nothing of it counted")


def honest(tap):
    """Nobody is suspected who does not lie; what counts was compared."""
    wanted = train(SMALL, "--steps", STEPS)["hash"]
    result = train(SMALL, "--steps", STEPS, "-n", 4, "--verify", "--chaos",
                   "kill:w2@5,kill:coordinator@12,join@20")
    trust = result["trust"]
    tap.ok(result.get("hash") == wanted and trust["checked"] > 0 and
           not any(trust["poison"].values()) and names(result) == [],
           "kills and joins under --verify: no false alarm", result)


def audited(tap):
    result = train(SMALL, "--steps", 200, "-n", 4, "--audit", "20%", *LIAR)
    tap.ok(names(result) == ["w1"] and result["trust"]["unchecked"] > 0,
           "--audit 20% catches it, and says what had counted",
           f"{result['trust']} {result['stderr']}")


def believed(tap):
    wanted = train(SMALL, "--steps", STEPS)["hash"]
    result = train(SMALL, "--steps", STEPS, "-n", 4, "--code", "uncoded", *LIAR)
    tap.ok(result["exit"] == 0 and result["hash"] != wanted and
           not any(result["trust"]["poison"].values()),
           "without either a lie within the bound is believed", result)


def refused(tap):
    for code in ("cyclic", "mds", "ignore", "sgc"):
        done = run("train", SMALL, "-n", "4", "--code", code, "--verify")
        tap.ok(done.returncode == 2 and code in done.stderr and
               "--verify" in done.stderr, f"{code} is refused in a sentence",
               done)


def main():
    tap = Tap()
    write_rows("wide.svm", 3000, 20, lambda x: 1 + x / 500)
    for name, flags in CODES.items():
        caught(tap, name, [SMALL], flags)
    for name, data in SUMS.items():
        caught(tap, name, data, ["-n", "2", "--code", "frc"], steps=8)
    honest(tap)
    audited(tap)
    believed(tap)
    refused(tap)
    tap.done()


main()
