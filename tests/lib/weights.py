#!/usr/bin/env python3
"""--weight: a row that weighs 2 is two rows; weights of 1 beside 10^12 give the
closed form of weighted least squares; workers, folds and validation carry them;
what is no weight is refused by line and column; predict needs none."""

import json
import os
import random
import struct
import subprocess
import sys

import least_squares
from least_squares import NEAR, Fraction, Problem, stored

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)),
                                "lib"))
import checks  # noqa: E402

MUSTER = os.environ["MUSTER"]
LOGISTIC = ["--optim", "newton", "--steps", "50"]


def muster(*words, rc=0):
    run = subprocess.run([MUSTER, *map(str, words)], capture_output=True,
                         text=True, timeout=120, check=False)
    assert run.returncode == rc, (words, run.returncode, run.stderr)
    return run.stdout if rc == 0 else run.stderr


def train(*words):
    return json.loads(muster("train", *words, "--format", "json"))


def drawn(rows=120, kinds=(1, 2, 3)):
    draw = random.Random(5)
    table = []
    for _ in range(rows):
        x = [stored(draw.gauss(0, 1)), stored(draw.gauss(0, 1))]
        label = int(x[0] + draw.gauss(0, 1) > 0)
        table.append([x[0], draw.choice(kinds), x[1], label])
    return table


def write(name, table, head="a,w,b,y"):
    with open(name, "w", encoding="utf-8") as file:
        for row in [head.split(",")] * (head != "") + table:
            file.write(",".join(map(str, row)) + "\n")


def npy(name, table):
    """Little-endian doubles, as numpy.save writes them."""
    text = "{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }" % (
        len(table), len(table[0]))
    with open(name, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text) + 1))
        file.write(text.encode() + b"\n")
        for row in table:
            file.write(struct.pack(f"<{len(row)}d", *row))


def near(a, b):
    return abs(a - b) <= 1e-9 * abs(b)


def duplicates():
    """Also through a frame, and times class weights."""
    table = drawn()
    write("w.csv", table)
    write("twice.csv", [[r[0], r[2], r[3]] for r in table for _ in range(r[1])],
          "a,b,y")
    for more in ([], ["--scale", "none", "--missing", "mean"],
                 ["--class-weight", "0=3,1=1"]):
        for flags in (["-s", "0", "-c", "0.5", "-e", "1e-9"], LOGISTIC):
            flags = [*flags, *more]
            one = train("w.csv", "m", "--weight", "w", *flags)
            two = train("twice.csv", "n", *flags)
            if flags[0] == "-s":
                assert near(one["objective"], two["objective"]), (one, two)
            muster("predict", "twice.csv", "m", "one.txt", "--force")
            muster("predict", "twice.csv", "n", "two.txt", "--force")
            with open("one.txt") as a, open("two.txt") as b:
                assert a.read() == b.read(), flags


def closed_form():
    draw = random.Random(9)
    columns = [[stored(draw.gauss(0, 1)) for _ in range(300)] for _ in range(3)]
    heavy = [draw.choice([1, 10**12]) for _ in range(300)]
    y = [sum(row) + draw.gauss(0, .3) for row in zip(*columns)]
    problem = Problem(columns, y, [0] * 3, heavy)
    write("t.csv", [list(row) for row in zip(*columns, heavy, y)], "a,b,c,w,y")
    for optim in ("newton", "lbfgs"):
        flags = ["--weight", "w", "--model", "linear", "--l2", "0"]
        flags += ["--optim", optim, "--steps", "300"]
        one = train("t.csv", "model", *flags)
        excess = problem.objective(least_squares.weights()) - problem.least
        assert excess <= NEAR * problem.least, (optim, float(excess))
        assert abs(Fraction(one["objective"]) - problem.least) <= \
            NEAR * problem.least, one["objective"]
        two = train("t.csv", "model", *flags, "-n", "2")
        assert two["hash"] == one["hash"], optim


def forms():
    """By name or number, from text or npy, from the cache: one hash."""
    table = drawn()
    write("t.csv", table)
    write("plain.csv", table, "")
    npy("t.npy", table)
    npy("other.npy", [[r[0], r[1] + 1, r[2], r[3]] for r in table])
    hashes = [train(name, "m", "--weight", column, *more, *LOGISTIC)["hash"]
              for name, column, more in (
                  ("t.csv", "w", []), ("t.csv", "2", []), ("plain.csv", "2", []),
                  ("t.npy", "2", []), ("t.npy", "2", ["--missing", "mean"]),
                  ("t.csv", "w", ["-n", "2"]), ("t.csv", "w", ["--cache", "c"]),
                  ("t.csv", "w", ["--cache", "c"]))]
    assert len(set(hashes)) == 1, hashes
    for name, words in (("t.csv", ["--cache", "c", "--drop", "w"]),
                        ("other.npy", ["--weight", "2"])):
        assert train(name, "m", *words, *LOGISTIC)["hash"] != hashes[0], words


def predicted():
    """The weight's column may be there or not; metrics count rows once."""
    table = drawn()
    write("t.csv", table)
    write("bare.csv", [[r[0], r[2]] for r in table], "a,b")
    write("light.csv", [[r[0], "", r[2], r[3]] for r in table])
    train("t.csv", "m", "--weight", "w", *LOGISTIC)
    said = []
    for name in ("t.csv", "bare.csv", "light.csv"):
        muster("predict", name, "m", "out.txt", "--force")
        with open("out.txt") as file:
            said.append(file.read())
    assert said[0] == said[1] == said[2]
    hits = [int(a) == r[3] for a, r in zip(said[0].split(), table)]
    one = train("t.csv", "m", "--weight", "w", "--test", "light.csv", *LOGISTIC)
    assert near(one["metrics"]["accuracy"], sum(hits) / len(hits)), one["metrics"]


def held_out():
    """Weights of all rows alike change nothing but the objective's scale; of
    folds and of --valid they are those of the rows that are trained on."""
    table = drawn()
    write("one.csv", [[r[0], 1, r[2], r[3]] for r in table])
    write("none.csv", [[r[0], r[2], r[3]] for r in table], "a,b,y")
    write("t.csv", table)
    for more in (["-v", "4"], ["--valid", "0.25"],
                 ["-v", "4", "--scale", "standard"],
                 ["--valid", "0.25", "--scale", "standard"]):
        words = [*LOGISTIC, *more]
        name = [] if "-v" in more else ["m"]
        plain = train("none.csv", *name, *words)
        alike = train("one.csv", *name, "--weight", "w", *words)
        heavy = train("t.csv", *name, "--weight", "w", *words)
        objectives = [run.get("objective") or
                      [fold["objective"] for fold in run["runs"]]
                      for run in (plain, alike, heavy)]
        assert objectives[0] == objectives[1] != objectives[2], objectives
        assert plain["metrics"] == alike["metrics"], more


def refusals():
    for bad in ("0", "-1", "nan", "inf", "2e12", "", "much", "True"):
        table = drawn(10)
        table[3][1] = bad
        write("t.csv", table)
        for more in ([], ["--scale", "standard"]):
            said = muster("train", "t.csv", "m", "--weight", "w", *more, rc=2)
            assert "t.csv: line 5: column 2 (w): " in said, said
            assert f"'{bad}' is no weight" in said, said
        if bad in ("0", "-1", "nan", "2e12"):
            npy("t.npy", [list(map(float, row)) for row in table])
            for more in ([], ["--missing", "mean"]):
                said = muster("train", "t.npy", "m", "--weight", 2, *more, rc=2)
                assert "row 4" in said and "column 2" in said, said
    said = muster("train", "t.csv", "m", "--weight", "v", rc=2)
    assert "--weight: no column 'v'" in said, said
    said = muster("train", "t.csv", "m", "--weight", "y", "--label", "y", rc=2)
    assert "asked for twice" in said, said
    with open("t.svm", "w", encoding="utf-8") as file:
        file.write("1 1:1\n0 1:2\n")
    for name, which in (("t.svm", "tables"), ("gen:gmm", "files")):
        said = muster("train", name, "m", "--weight", 2, rc=2)
        assert "--weight" in said and f"for {which}" in said, said


def networks():
    """Weights of 1 are none to the bit; of 2 they are twice the loss, and at
    half the rate the same network, but for grids; by rows, by class, and on
    workers."""
    table = drawn()
    write("none.csv", [[r[0], r[2], r[3]] for r in table], "a,b,y")
    for w in (1, 2):
        write(f"{w}.csv", [[r[0], w, r[2], r[3]] for r in table])
    write("class.csv", [[r[0], 5 if r[3] else 1, r[2], r[3]] for r in table])
    net = ["--net", "dense8 relu dense2", "--batch", "32", "--passes", "3"]
    plain, ones = train("none.csv", "m", *net), train("1.csv", "m", "--weight",
                                                      "w", *net)
    assert (plain["hash"], plain["objective"]) == (
        ones["hash"], ones["objective"]), (plain, ones)
    net += ["--optim", "gd", "--lr"]
    one, two = train("none.csv", "m", *net, .1), train("2.csv", "m", "--weight",
                                                       "w", *net, .05)
    for key, times in (("objective", 2), ("train_metrics", 1)):
        a, b = ((run[key]["logloss"] if times == 1 else run[key])
                for run in (one, two))  # Grids differ.
        assert abs(b - times * a) <= 1e-6 * a, (key, a, b)
    runs = [train("class.csv", "m", "--weight", "w", *net, .1),
            train("none.csv", "m", "--class-weight", "1=5", *net, .1)]
    runs += [train("class.csv", "m", "--weight", "w", *net, .1, *more)
             for more in (["-n", "3"], ["-n", "2", "--bulk", "tcp"],
                          ["--threads", "1"])]
    assert len({run["hash"] for run in runs}) == 1, runs
    assert runs[0]["hash"] != one["hash"]
    assert len({run["objective"] for run in runs}) == 1, runs


if __name__ == "__main__":
    checks.run_named(duplicates, closed_form, forms, predicted, held_out,
                     refusals, networks)
