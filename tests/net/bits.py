#!/usr/bin/env python3
"""One hash for everything (must hold 1): processes, instruction sets, threads,
codes, kills, joins, leaves and coordinator restarts.  Every run below has the
same data and options, so every run must print the same hash; and one process
prints the hash that was recorded (bits.json), so that whoever changes bits
knows it.  RECORD=1 writes them anew, to the folder it runs in."""

import json
import os
import random
import struct
import sys
from fractions import Fraction

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from cluster import Tap, train, write_rows
from ways import WAYS

DATA = ["gen:gmm:6000,40", "--steps", 40, "--seed", 3, "--chunk-rows", 64]
CASES = {
    **WAYS,
    "8 workers": ["-n", 8],
    "1 process, 2 threads": ["--threads", 2],
    "portable": ["-n", 2, "--isa", "portable"],
    "avx2": ["-n", 2, "--isa", "avx2"],
    "avx512": ["-n", 2, "--isa", "avx512"],
    "rep of five": ["-n", 5, "--code", "rep", "--stragglers", 1],
    "stream": ["-n", 5, "--code", "stream", "--stragglers", 2],
    "stream in pieces, shuffled": [
        "-n", 5, "--code", "stream:pieces=6", "--stragglers", 2,
        "--delay", "exp:0.002"],
    "stream, killed": ["-n", 5, "--code", "stream", "--chaos",
                       "kill:w1@5,kill:w2@5,kill:coordinator@9,join@12"],
    "partial-frc": ["-n", 4, "--code", "partial-frc"],
    "partial-frc, killed": ["-n", 4, "--code", "partial-frc:parts=5",
                            "--chaos", "kill:w1@5,kill:coordinator@9"],
    "a deadline nobody misses": [
        "-n", 4, "--code", "rep:stop=deadline:30:estimate=ratio"],
    "a slow worker": ["-n", 4, "--delay", "worker:w1=3"],
    "shuffled arrival": ["-n", 8, "--code", "uncoded", "--delay", "exp:0.002"],
    "all but one killed": ["-n", 4, "--chaos",
                           "kill:w1@7,kill:w2@7,kill:w3@12"],
    "joins": ["-n", 2, "--chaos", "join@5,join@9,join@9"],
    "leaves": ["-n", 4, "--chaos", "leave:w1@8,leave:w2@20"],
    "sockets": ["-n", 4, "--bulk", "tcp"],
    "shared memory": ["-n", 4, "--bulk", "shm"],
    "sockets, killed": ["-n", 4, "--bulk", "tcp", "--chaos",
                        "kill:w1@5,kill:coordinator@9,join@12"],
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
    "newton, hinge": ["--model", "hinge", "--optim", "newton"],
}
# Softmax regression by every optimiser, ten classes.
SOFTMAX = {
    "gd": ["--optim", "gd"],
    "agd": ["--optim", "agd"],
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
    "u8": (24, 12, lambda k: str(k % 200 + 56)),
    "pixel": (24, 12, lambda k: str((k % 255 + 1) / 255)),
    "bf16": (24, 12, lambda k: str(k % 9 / 4 + 0.25)),
    "f64": (24, 12, lambda k: str(k % 9 / 4 + 0.25)),
    "wide": (24, 12, lambda k: str(0.1 * (k % 50 + 1))),
}
with open(os.path.join(os.path.dirname(__file__), "bits.json"),
          encoding="ascii") as recorded_file:
    RECORDED = json.load(recorded_file)
seen = {}
KILLS = ["-n", 3, "--chaos", "kill:w1@2,kill:coordinator@4"]


def compare(tap, name, job):
    """One process, then a cluster that loses a worker and its coordinator, by
    shared memory or by sockets: half of the cases each."""
    road = ("shm", "tcp")[len(name) % 2]
    alone = train(*job)
    seen[name] = alone.get("hash")
    cluster = train(*job, *KILLS, "--bulk", road)
    tap.ok(alone["exit"] == 0 and cluster["exit"] == 0 and
           alone["hash"] == cluster["hash"],
           f"{name}: one process and a cluster with kills",
           (alone.get("error"), cluster.get("error"), alone.get("hash"),
            cluster.get("hash")))
    return alone


def compare_storage(tap, name, common):
    """Logistic and softmax regression; dense rows that hold fp32 values have
    f32's bits, and no others do."""
    job = [f"{name}.svm", *common]
    stored = ["--storage", "f64" if name == "wide" else name]
    softmax = ["--model", "softmax"]
    newton = ["--optim", "newton", "--steps", 4]
    for kind, flags in ("", []), (", softmax", softmax):
        alone = compare(tap, f"{name} rows{kind}", [*job, *stored, *flags])
        compare(tap, f"{name} rows{kind}, newton",
                [*job, *stored, *flags, *newton])
        if name in ("bit", "i8", "bf16", "f64", "wide"):
            dense = train(*job, *flags, "--storage", "f32")
            same = dense.get("hash") == alone.get("hash")
            tap.ok(dense["exit"] == 0 and same == (name != "wide"),
                   f"{name} rows{kind}: the bits of f32, if these hold them",
                   (dense.get("hash"), alone.get("hash")))


def step_of(rows, labels, kept):
    """The weights after one step of gradient descent from 0 at rate 2^-60 of
    linear regression, by exact sums of what is kept of the values."""
    weights = []
    for j in range(len(rows[0])):
        total = sum(Fraction(kept(row[j])) * Fraction(y) * 2
                    for row, y in zip(rows, labels))
        weights.append(float(total / len(rows) / 2**60))
    return weights


def far(found, wanted):
    """The largest relative difference."""
    return max(abs(a - b) / abs(b) for a, b in zip(found, wanted))


def single(value):
    """The value as fp32 holds it."""
    return struct.unpack("f", struct.pack("f", value))[0]


def compare_values(tap):
    """One step of linear regression on values that fp32 does not hold, against
    the exact sums of what is written and of what fp32 makes of it."""
    rng = random.Random(11)
    rows = [[0.1 * rng.randrange(1, 90), 16777217 + 2 * rng.randrange(9),
             rng.uniform(-1, 1)] for _ in range(50)]
    labels = [rng.randrange(-8, 9) / 4 for _ in rows]
    with open("values.csv", "w", encoding="ascii") as file:
        for row, y in zip(rows, labels):
            file.write(",".join(map(repr, [*row, y])) + "\n")
    job = ["values.csv", "values.model", "--model", "linear", "--optim", "gd",
           "--steps", 1, "--lr", repr(2**-60), "--l2", 0, "--no-intercept"]
    for storage, kept, other in ("f64", float, single), ("f32", single, float):
        result = train(*job, "--storage", storage)
        with open("values.model", encoding="ascii") as file:
            weights = file.read().split("\nw\n")[1].split()
        got = [float(w) for w in weights[:3]]
        right = far(got, step_of(rows, labels, kept))
        wrong = far(got, step_of(rows, labels, other))
        tap.ok(result["exit"] == 0 and right < 1e-12 and wrong > 1e-9,
               f"{storage}: one step on the values that it holds, no others",
               (got, right, wrong, result.get("stderr")))


def runs_here(case):
    flags = open("/proc/cpuinfo").read()
    return case not in ("avx2", "avx512") or \
        {"avx2": " avx2 ", "avx512": " avx512vl "}[case] in flags


# Codes with real coefficients: the model to rounding, every step certified,
# whoever is slow or killed.
NUMERIC = {
    "cyclic": "cyclic",
    "cb": "cb",
    "cb, loads by speed": "cb:speeds=1,2,1,3,1",
    "partial-cyclic": "partial-cyclic",
    "mds": "mds",
}


def numeric(tap, alone):
    for name, text in NUMERIC.items():
        code = ["-n", 5, "--code", text]
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
    seen["auto"] = alone.get("hash")
    for name, chaos in AUTO_TROUBLE.items():
        result = train(*AUTO, "-n", 6, "--code", "auto", "--delay", "exp:0.02",
                       "--chaos", chaos)
        tap.ok(result["exit"] == 0 and result.get("hash") == alone["hash"] and
               result["code_changes"] > 0,
               f"auto, {name}: the hash of one process, another code",
               {k: result.get(k) for k in
                ("exit", "hash", "stderr", "error", "steps", "code_changes")})


def compare_recorded(tap):
    """The hashes of this day are those of the day they were recorded."""
    if "RECORD" in os.environ:
        with open("bits.json", "w", encoding="ascii") as file:
            json.dump(seen, file, indent=1)
            file.write("\n")
    tap.ok(seen == RECORDED, "the hashes that were recorded",
           "\n".join(f"{name}: {seen.get(name)}, not {RECORDED.get(name)}"
                     for name in sorted({*seen, *RECORDED})
                     if seen.get(name) != RECORDED.get(name)))


def main():
    tap = Tap()
    alone = train(*DATA)
    seen["one process"] = alone.get("hash")
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
    compare_values(tap)
    compare_recorded(tap)
    tap.done()


main()
