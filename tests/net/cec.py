#!/usr/bin/env python3
"""Coded elastic computing with real processes: machines are killed with
kill -9, leave and join in the middle of rounds, with one copy of the data and
with two; every step is numeric and the weights are those of one machine."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))
import coded  # noqa: E402
from cluster import (SMALL, Tap, finish, kill, place_of,  # noqa: E402
                     result_of, run, start, status, train, wait_for,
                     wait_step)

STEPS = 60
JOB = [SMALL, "--steps", STEPS, "--chunk-rows", 64, "--optim", "gd"]
CODES = {
    "one copy": "cec:l=3:p=16",
    "two copies": "cec:l=3:p=16:copies=2",
    "cyclic rule": "cec:l=3:p=16:rule=cyclic",
}
# Of five: never fewer than three are left, but for as long as one takes to
# join.
CHAOS = ("kill:w1@4,join@6,kill:w2@9,join@12,kill:w0@15,join@18,kill:w3@21,"
         "join@24,kill:w4@27,join@30,leave:w5@33,join@36,kill:w6@40,join@44,"
         "kill:coordinator@48,join@52")
KILLS, JOINS = 6, 8
SEARCH_CHAOS = "kill:w1@1,join@1,kill:w0@2,join@3"
# A step takes a millisecond or two, and whoever joins its time to start: every
# answer's first piece is held for so long, or the run would be over by then.
HELD = ["--delay", "shifted:.02,0"]


def same(tap, name, result, path, wanted, steps=STEPS):
    coded.same(tap, name, result, path, wanted, steps, 1e-9)


def test_chaos(tap, wanted, objective):
    for name, code in CODES.items():
        result = train(*JOB, "chaos.model", "-n", 5, "--code", code, "--chaos",
                       CHAOS, *HELD)
        same(tap, name, result, "chaos.model", wanted)
        tap.ok(abs(result["objective"] - objective) <= 1e-9 * abs(objective),
               f"{name}: the objective of one machine",
               (result["objective"], objective))
        tap.equal(result["workers"]["died"], KILLS, f"{name}: kills happened")
        tap.ok(result["workers"]["joined"] >= 5 + JOINS,
               f"{name}: so did joins", result["workers"])


def test_others(tap):
    for name, flags in {
            "agd, svm": ["--optim", "agd", "--model", "svm"],
            "linear": ["--model", "linear"]}.items():
        train(*JOB, *flags, "alone.model")
        wanted = coded.weights("alone.model")
        result = train(*JOB, *flags, "other.model", "-n", 4, "--code",
                       "cec:l=2:p=8", "--chaos", "kill:w1@5,join@9,kill:w0@14")
        same(tap, name, result, "other.model", wanted, result["steps"])


def test_searches(tap):
    """Line searches on scores, and conjugate gradients by products: the
    optimum of one machine, whoever dies and joins in between."""
    for optim in "lbfgs", "newton":
        for name, flags in {
                "logistic": [], "linear": ["--model", "linear"],
                "svm": ["--model", "svm"],
                # Proved to what coded data promise: a proof to 1e-10 wants
                # gradients of 7e-8, their rounding, and then three runs of
                # twenty took 10,000 steps for it.
                "hinge": ["--model", "svm", "--loss", "hinge",
                          "--accuracy", 1e-9]}.items():
            job = [SMALL, "--chunk-rows", 64, "--l2", 1e-3, "--optim", optim,
                   "--accuracy", 1e-12, *flags]
            held = [] if name == "hinge" else HELD  # Hinges take thousands.
            alone = train(*job, "alone.model")
            result = train(*job, "other.model", "-n", 4, "--code",
                           "cec:l=2:p=8", "--chaos", SEARCH_CHAOS, *held)
            tap.ok(result.get("converged") and abs(
                result["objective"] - alone["objective"]) <=
                   1e-9 * alone["objective"],
                   f"{optim}, {name}: the objective of one machine",
                   (result, alone))
            tap.equal(result.get("exactness"),
                      {"bitwise": 0, "numeric": result.get("steps"),
                       "approx": 0}, f"{optim}, {name}: all steps numeric")
            tap.ok(result["workers"]["died"] == 2 and
                   result["workers"]["joined"] >= 6 and
                   result["worst_residual"] <= 1e-9,
                   f"{optim}, {name}: kills and joins happened",
                   result["workers"])


def here(out):
    now = status(out)
    return now and sorted(worker["name"] for worker in now["workers"])


def join(address, name):
    return start("join", address, "--name", name)


def test_waits(tap, name, code):
    """Nobody has rows; fewer than l machines are left, and the step waits,
    says so, and goes on with one who joins and is sent a block."""
    job = [SMALL, "--steps", 100, "--chunk-rows", 64, "--optim", "gd"]
    train(*job, "alone.model")
    wanted = coded.weights("alone.model")
    out = f"waits-{name}"
    process = start("train", *map(str, job), f"{out}.model", "--code", code,
                    "--out", out, "--listen", "127.0.0.1:0", "--workers",
                    "3:6", "--delay", "exp:0.02", "--format", "json")
    address = place_of(out)
    far = [join(address, f"w{i}") for i in range(3)]
    wait_step(out, 3)
    kill(far[1].pid)
    kill(far[2].pid)
    wait_for(lambda: here(out) == ["w0"], "one to be left")
    far += [join(address, "late"), join(address, "later")]
    code, text, err = finish(process)
    same(tap, f"{name}, blocks shipped, below l for a while", result_of(text),
         f"{out}.model", wanted, 100)
    tap.ok("1 machine is here and 2 are needed" in err,
           f"{name}: it says that it waits", err)
    for worker in far:
        finish(worker, 10)


def test_stops(tap):
    """Below l nothing can end: a stop does not wait for the step, which is
    dropped; who knows the folder is told how to join."""
    process = start("train", SMALL, "--steps", "2000", "--optim", "gd", "-n",
                    "3", "--code", "cec:l=3:p=5", "--chaos", "kill:w1@40",
                    "--out", "stops", "--format", "json")
    wait_for(lambda: here("stops") == ["w0", "w2"], "two to be left")
    stopped = run("stop", "stops")
    code, text, err = finish(process)
    result = result_of(text)
    tap.ok(stopped.returncode == 0 and code == 75 and
           result.get("steps") == 40, "a stop below l saves the last step",
           (stopped.stderr, code, result.get("steps"), err))
    tap.ok("muster join stops" in err, "below l it says how to join", err)


def test_together(tap):
    """Three wait for their blocks: each strip is made once for all of them."""
    job = [SMALL, "--steps", 5, "--chunk-rows", 64, "--optim", "gd"]
    process = start("train", *map(str, job), "together.model", "--code",
                    "cec:l=2:p=6", "--out", "together", "--listen",
                    "127.0.0.1:0", "--workers", "3:6", "--format", "json")
    far = [join(place_of("together"), f"w{i}") for i in range(3)]
    code, text, err = finish(process)
    data = result_of(text).get("data", {})
    tap.ok(code == 0 and data["shipped"] >= 3 * data["strip_passes"] > 0,
           "one pass over the rows makes the strips of three blocks",
           (code, err, data))
    for worker in far:
        finish(worker, 10)


def test_narrow(tap, wanted):
    """Blocks kept as fp32: near, said to be no nearer than they are, and not
    to be had where numeric steps are asked for."""
    job = [*JOB, "--storage", "f32", "-n", 5]
    for code in "cec:l=3:p=8", "cec:l=3:p=8:copies=2", "mds:k=3":
        result = train(*job, "narrow.model", "--code", code, "--chaos",
                       "kill:w1@3")
        far = coded.apart("narrow.model", wanted)
        tap.ok(result.get("exit", 0) == 0 and
               result["exactness"]["approx"] > 0 and
               2 ** -24 <= result["worst_residual"] <= 1e-4,
               f"{code}, fp32: the receipts say what the blocks cost",
               {k: result.get(k) for k in ("exit", "error", "stderr",
                                           "exactness", "worst_residual")})
        tap.ok(1e-12 < far <= 1e-4, f"{code}, fp32: weights are as near", far)
    refused(tap, "fp32 blocks are not numeric", "--exact numeric", "-n", 5,
            "--storage", "f32", "--code", "cec:l=3:p=8", "--exact", "numeric")


def refused(tap, name, words, *flags, job=JOB):
    done = run("train", *job, *flags)
    tap.ok(done.returncode != 0 and words in done.stderr and
           done.stderr.count("\n") == 1, name, done.stderr)


def test_refused(tap):
    refused(tap, "l > p", "l=5 cannot be wanted", "-n", 4, "--code",
            "cec:l=5:p=4")
    refused(tap, "n < l", "needs l=5 machines", "-n", 4, "--code",
            "cec:l=5:p=8")
    refused(tap, "n > p", "blocks for p=3 machines", "-n", 4, "--code",
            "cec:l=2:p=3")
    refused(tap, "l > rows", "into l=300 parts", "-n", 300, "--code",
            "cec:l=300:p=400", "--chunk-rows", 4096)
    Path("wide.svm").write_text("".join(
        f"{2 * (i % 2) - 1} {1 + i}:1 1000000:1\n" for i in range(200)),
        encoding="ascii")
    refused(tap, "sparse and wide", "take steal", "-n", 3, "--code",
            "cec:l=2", "--chunk-rows", 16, "--steps", 5,
            job=["wide.svm"])
    refused(tap, "a rule there is not", "expected wrap or cyclic", "-n", 4,
            "--code", "cec:l=2:rule=square")


def main():
    tap = Tap()
    alone = train(*JOB, "alone.model")
    wanted = coded.weights("alone.model")
    test_chaos(tap, wanted, alone["objective"])
    test_others(tap)
    test_searches(tap)
    test_waits(tap, "one copy", "cec:l=2:p=6")
    test_waits(tap, "two copies", "cec:l=2:p=6:copies=2")
    test_stops(tap)
    test_together(tap)
    test_narrow(tap, wanted)
    test_refused(tap)
    tap.done()


main()
