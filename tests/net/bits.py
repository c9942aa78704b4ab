#!/usr/bin/env python3
"""One hash for everything (must hold 1): processes, instruction sets, threads,
codes, kills, joins, leaves and coordinator restarts.  Every run below has the
same data and options, so every run must print the same hash."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from cluster import Tap, train, write_rows

DATA = ["gen:gmm:6000,40", "--steps", 40, "--seed", 3, "--chunk-rows", 64]
CASES = {
    "2 workers": ["-n", 2],
    "8 workers": ["-n", 8],
    "2 threads": ["-n", 2, "--threads", 2],
    "1 process, 2 threads": ["--threads", 2],
    "portable": ["-n", 2, "--isa", "portable"],
    "avx2": ["-n", 2, "--isa", "avx2"],
    "avx512": ["-n", 2, "--isa", "avx512"],
    "uncoded": ["-n", 4, "--code", "uncoded"],
    "frc": ["-n", 4, "--code", "frc", "--stragglers", 1],
    "rep of five": ["-n", 5, "--code", "rep", "--stragglers", 1],
    "steal of five": ["-n", 5, "--code", "steal", "--stragglers", 2],
    "stream": ["-n", 5, "--code", "stream", "--stragglers", 2],
    "stream in pieces, shuffled": [
        "-n", 5, "--code", "stream", "--stragglers", 2, "--pieces", 6,
        "--delay", "exp:0.002"],
    "stream, killed": ["-n", 5, "--code", "stream", "--chaos",
                       "kill:w1@5,kill:w2@5,kill:coordinator@9,join@12"],
    "partial-frc": ["-n", 4, "--code", "partial-frc"],
    "partial-frc, killed": ["-n", 4, "--code", "partial-frc", "--parts", 5,
                            "--chaos", "kill:w1@5,kill:coordinator@9"],
    "a deadline nobody misses": [
        "-n", 4, "--code", "rep", "--stop", "deadline:30", "--estimate",
        "ratio"],
    "a slow worker": ["-n", 4, "--delay", "worker:w1=3"],
    "shuffled arrival": ["-n", 8, "--code", "uncoded", "--delay", "exp:0.002"],
    "killed worker": ["-n", 4, "--chaos", "kill:w1@7"],
    "killed worker, uncoded": ["-n", 4, "--code", "uncoded", "--chaos",
                               "kill:w1@7"],
    "all but one killed": ["-n", 4, "--chaos",
                           "kill:w1@7,kill:w2@7,kill:w3@12"],
    "killed coordinator": ["-n", 4, "--chaos", "kill:coordinator@9"],
    "coordinator killed twice, workers too": [
        "-n", 4, "--chaos",
        "kill:coordinator@9,kill:w0@9,kill:w3@15,kill:coordinator@25"],
    "joins": ["-n", 2, "--chaos", "join@5,join@9,join@9"],
    "leaves": ["-n", 4, "--chaos", "leave:w1@8,leave:w2@20"],
    "stopped and continued": ["-n", 4, "--chaos", "stop:w2@6+4"],
    "everything at once": [
        "-n", 6, "--respawn", "--delay", "worker:w5=2", "--chaos",
        "kill:w1@4,join@6,stop:w2@8+3,leave:w3@12,kill:coordinator@14,"
        "kill:w0@20"],
}

# Every optimiser, model and storage: one process against a cluster that loses
# a worker and its coordinator.
METHODS = {
    "momentum": ["--optim", "momentum", "--lr", "0.1"],
    "adam": ["--optim", "adam"],
    "lbfgs": ["--optim", "lbfgs"],
    "newton": ["--optim", "newton"],
    "newton, svm": ["--optim", "newton", "--model", "svm"],
    "lbfgs, too far": ["--optim", "lbfgs", "--lr", "1e25"],
    "lbfgs, linear": ["--optim", "lbfgs", "--model", "linear"],
    "lbfgs, hinge": ["--optim", "lbfgs", "--model", "hinge"],
}
# Softmax regression by every optimiser, ten classes.
SOFTMAX = {
    "gd": ["--optim", "gd"],
    "agd": ["--optim", "agd", "--intercept"],
    "momentum": ["--optim", "momentum", "--lr", "0.01"],
    "adam": ["--optim", "adam", "--class-weight", "balanced"],
    "lbfgs": ["--optim", "lbfgs"],
    "newton": ["--optim", "newton", "--steps", 4],
}
# How values lie in memory, each from a file of its own: the value of entry k.
STORAGES = {
    "index": (400, 6, lambda k: "1"),
    "csr": (400, 6, lambda k: str(0.3 + k % 7)),
    "bit": (24, 8, lambda k: "1"),
    "i8": (24, 12, lambda k: str(k % 100 - 50 or 1)),
    "bf16": (24, 12, lambda k: str(k % 9 / 4 + 0.25)),
}
KILLS = ["-n", 3, "--chaos", "kill:w1@2,kill:coordinator@4"]


def compare(tap, name, job):
    """One process, then a cluster that loses a worker and its coordinator."""
    alone = train(*job)
    cluster = train(*job, *KILLS)
    tap.ok(alone["exit"] == 0 and cluster["exit"] == 0 and
           alone["hash"] == cluster["hash"],
           f"{name}: one process and a cluster with kills",
           (alone.get("error"), cluster.get("error"), alone.get("hash"),
            cluster.get("hash")))
    return alone


def compare_storage(tap, name, common):
    """Logistic and softmax regression; narrow dense rows have f32's bits."""
    job = [f"{name}.svm", *common]
    stored = ["--storage", name]
    softmax = ["--model", "softmax"]
    newton = ["--optim", "newton", "--steps", 4]
    for kind, flags in ("", []), (", softmax", softmax):
        alone = compare(tap, f"{name} rows{kind}", [*job, *stored, *flags])
        compare(tap, f"{name} rows{kind}, newton",
                [*job, *stored, *flags, *newton])
        if name in ("bit", "i8", "bf16"):
            dense = train(*job, *flags, "--storage", "f32")
            tap.equal(dense.get("hash"), alone.get("hash"),
                      f"{name} rows{kind}: the bits of f32")


def runs_here(case):
    flags = open("/proc/cpuinfo").read()
    return case not in ("avx2", "avx512") or \
        {"avx2": " avx2 ", "avx512": " avx512vl "}[case] in flags


# Codes with real coefficients: the model to rounding, every step certified,
# whoever is slow or killed.
NUMERIC = {
    "cyclic": [],
    "cb": [],
    "cb, loads by speed": ["--speeds", "1,2,1,3,1"],
    "partial-cyclic": [],
    "mds": [],
}


def numeric(tap, alone):
    for name, flags in NUMERIC.items():
        code = ["-n", 5, "--code", name.split(",")[0], *flags]
        for trouble in ([], ["--delay", "exp:0.002"],
                        ["--chaos", "kill:w1@5,kill:w2@8"]):
            result = train(*DATA, *code, *trouble)
            tap.ok(result["exit"] == 0 and
                   result["exactness"]["approx"] == 0 and
                   result["worst_residual"] <= 1e-12 and
                   abs(result["objective"] - alone["objective"]) <=
                   1e-9 * alone["objective"],
                   f"{name}: the model to rounding {' '.join(trouble)}",
                   {k: result.get(k) for k in
                    ("exit", "exactness", "worst_residual", "objective",
                     "error")})


# --code auto: long enough for a change of code, and killed after it.
AUTO = ["gen:gmm:6000,40", "--steps", 90, "--seed", 3, "--chunk-rows", 64]
AUTO_TROUBLE = {
    "left alone": "join@88",
    "killed worker": "kill:w1@60",
    "killed coordinator": "kill:coordinator@60,kill:w0@70",
    "killed while it measures": "kill:w2@15,kill:coordinator@30,join@33",
}


def auto(tap):
    alone = train(*AUTO)
    for name, chaos in AUTO_TROUBLE.items():
        result = train(*AUTO, "-n", 6, "--code", "auto", "--delay", "exp:0.02",
                       "--chaos", chaos)
        tap.ok(result["exit"] == 0 and result.get("hash") == alone["hash"] and
               result["code_changes"] > 0,
               f"auto, {name}: the hash of one process, another code",
               {k: result.get(k) for k in
                ("exit", "hash", "stderr", "error", "steps", "code_changes")})


def main():
    tap = Tap()
    alone = train(*DATA)
    tap.ok(alone["exit"] == 0 and len(alone["hash"]) == 64, "one process",
           alone)
    for case, flags in CASES.items():
        if not runs_here(case):
            tap.skip(case, "this processor cannot")
            continue
        result = train(*DATA, *flags)
        tap.ok(result["exit"] == 0 and result.get("hash") == alone["hash"],
               f"{case}: the hash of one process",
               {k: result.get(k) for k in
                ("exit", "hash", "stderr", "error", "steps", "workers")})
    auto(tap)
    numeric(tap, alone)
    common = ["--steps", 8, "--chunk-rows", 64]
    for name, flags in METHODS.items():
        compare(tap, name, ["gen:gmm:3000,20", *common, *flags])
    for name, flags in SOFTMAX.items():
        compare(tap, f"{name}, softmax", ["gen:digits:600", *common, "--model",
                                          "softmax", *flags])
    for name, (columns, entries, value) in STORAGES.items():
        write_rows(f"{name}.svm", columns, entries, value)
        compare_storage(tap, name, common)
    tap.done()


main()
