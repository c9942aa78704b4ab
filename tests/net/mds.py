#!/usr/bin/env python3
"""Coded data with real processes: whichever s workers are killed with kill -9
or stopped, whoever joins, and whether a worker has the rows or is sent its
block, every step is numeric and the weights are those of one machine to
rounding."""

import itertools
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))
import coded  # noqa: E402
from cluster import (SMALL, Tap, place_of, finish, kill,  # noqa: E402
                     result_of, start, status, train, wait_for, wait_step,
                     write_rows)

STEPS = 25
LONG = 100  # Enough for someone to join meanwhile.
JOB = [SMALL, "--steps", STEPS, "--chunk-rows", 64]
CODE = ["--code", "mds", "--stragglers", 2]
OTHERS = {
    "lbfgs": ["--optim", "lbfgs", "--accuracy", 0],
    "momentum, svm": ["--optim", "momentum", "--lr", "0.01", "--model", "svm"],
    "gd, linear": ["--optim", "gd", "--model", "linear"],
    "weights and intercept": ["--class-weight", "balanced"],
}
TROUBLE = {
    "a worker is stopped": "stop:w1@4+6",
    "more than s are killed": "kill:w0@4,kill:w1@6,kill:w2@8,kill:w4@12",
    "workers join": "join@4,join@6,join@12",
    "one leaves, one joins": "leave:w1@5,join@8",
    "the coordinator is killed": "kill:coordinator@9,kill:w0@15",
}


def same(tap, name, result, path, wanted, steps=STEPS):
    coded.same(tap, name, result, path, wanted, steps, 1e-12)


def alone(*job):
    train(*job, "alone.model")
    return coded.weights("alone.model")


def every_pair(tap, wanted):
    for one, two in itertools.combinations(range(5), 2):
        result = train(*JOB, "pair.model", "-n", 5, *CODE, "--chaos",
                       f"kill:w{one}@3,kill:w{two}@5")
        same(tap, f"w{one} and w{two} killed", result, "pair.model", wanted)
        tap.equal(result.get("workers", {}).get("died"), 2,
                  f"w{one} and w{two}: both were counted")


def other_trouble(tap, wanted):
    for name, chaos in TROUBLE.items():
        result = train(*JOB, "trouble.model", "-n", 5, *CODE, "--chaos", chaos)
        same(tap, name, result, "trouble.model", wanted)


def other_jobs(tap):
    for name, flags in OTHERS.items():
        wanted = alone(*JOB, *flags)
        result = train(*JOB, *flags, "other.model", "-n", 5, *CODE, "--chaos",
                       "kill:w1@3")
        same(tap, name, result, "other.model", wanted, result["steps"])


def join(address, name):
    return start("join", address, "--name", name)


def shipped(tap, name, job):
    """Nobody has rows; one is killed, and another takes its place."""
    job = [*job, "--steps", LONG]
    wanted = alone(*job)
    out = f"shipped-{name}"
    model = f"{out}.model"
    process = start("train", *map(str, job), model, *map(str, CODE), "--out",
                    out, "--listen", "127.0.0.1:0", "--workers", "4:6",
                    "--delay", "exp:0.02", "--format", "json")
    address = place_of(out)
    far = [join(address, f"w{i}") for i in range(4)]
    wait_step(out, 2)
    kill(far[1].pid)
    far.append(join(address, "late"))
    wait_for(lambda: late_is_in(out), "the late one to join")
    code, text, err = finish(process)
    result = result_of(text)
    same(tap, f"{name} rows, blocks shipped", result, model, wanted, LONG)
    tap.ok(code == 0 and result.get("workers", {}).get("joined") == 5,
           f"{name} rows: five joined", (code, err, result.get("workers")))
    for worker in far:
        finish(worker, 10)


def late_is_in(out):
    now = status(out)
    return now and "late" in [worker["name"] for worker in now["workers"]]


def uneven_columns(tap):
    """Coded data have no diagonal to scale by: what an optimiser takes for the
    optimum may be far from it, and is then not called converged."""
    rng = random.Random(5)
    with open("uneven.csv", "w", encoding="ascii") as out:
        print("big,small,other,kind,label", file=out)
        for _ in range(600):
            big, small, other = rng.expovariate(1), rng.gauss(0, 1), rng.gauss(0, 1)
            kind = rng.choice(["red", "blue", "green"])
            label = big - 1 + small + other + (kind == "red") + rng.gauss(0, 1) > 0
            print(f"{1e8 * big:.6g},{small:.4f},{other:.4f},{kind},{int(label)}", file=out)
    least = train("uneven.csv", "--optim", "newton")["objective"]
    for optim in "lbfgs", "newton":
        for code in "mds:k=2", "cec:l=2:p=4":
            plain, scaled = (train("uneven.csv", "-n", 3, "--code", code, "--optim", optim, *more)
                             for more in ([], ["--scale", "standard"]))
            near = plain["objective"] - least <= 1e-5 * least
            tap.ok(near or not plain["converged"], f"{optim}, {code}: unscaled",
                   (plain["objective"], least, plain["end"]))
            tap.ok(scaled["converged"], f"{optim}, {code}: scaled", scaled["end"])


def many_rows(tap):
    """A block may have more rows than a job can have chunks: 65,536."""
    job = ["gen:gmm:140000,2", "--optim", "gd", "--lr", ".1", "--steps", 2]
    wanted = alone(*job)
    for code in "mds:k=2", "cec:l=2:p=4":
        result = train(*job, "many.model", "-n", 3, "--code", code)
        same(tap, f"70,000 rows in a block, {code}", result, "many.model", wanted, 2)


def main():
    tap = Tap()
    wanted = alone(*JOB)
    every_pair(tap, wanted)
    other_trouble(tap, wanted)
    other_jobs(tap)
    uneven_columns(tap)
    many_rows(tap)
    shipped(tap, "dense", [SMALL, "--chunk-rows", 64])
    write_rows("csr.svm", 60, 6, lambda k: "0.3")
    shipped(tap, "csr", ["csr.svm", "--storage", "csr", "--chunk-rows", 32])
    tap.done()


main()
