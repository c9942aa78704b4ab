#!/usr/bin/env python3
"""Least squares on raw data against the closed form, solved in rational
numbers: prices, columns of 10^6 beside 10^-6, labels of 10^8 and 10^-9, columns
that are tiny altogether.  newton and lbfgs come within 10^-6 of the least
objective and of its predictions, alone and with workers, with one hash; where
columns are too nearly one for that, they do not say that they converged."""

import csv
import gzip
import math
import os
import random
import re
import struct
import subprocess
from fractions import Fraction

MUSTER = os.environ["MUSTER"]
HOUSES = os.path.join(
    os.environ["ROOT"], "..", "shared", "data", "kc_housing", "kc_house_data.csv.gz"
)
ROWS = 300
NEAR = Fraction(1, 10**6)


def stored(x):
    """As rows hold it: fp32."""
    return struct.unpack("f", struct.pack("f", x))[0]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def solve(a, b):
    """a x = b, by elimination: exact, so no pivot is better than another."""
    rows = [row[:] + [right] for row, right in zip(a, b)]
    for k in range(len(rows)):
        pivot = next(r for r in range(k, len(rows)) if rows[r][k] != 0)
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [v / rows[k][k] for v in rows[k]]
        for r in range(len(rows)):
            if r != k and rows[r][k] != 0:
                rows[r] = [v - rows[r][k] * p for v, p in zip(rows[r], rows[k])]
    return [row[-1] for row in rows]


def scaled(columns):
    """Columns as integers and the power of two they were multiplied by:
    integers are added up ten times as fast as fractions."""
    power = 0
    for column in columns:
        for x in column:
            power = max(power, Fraction(x).denominator.bit_length() - 1)
    return [[int(Fraction(x) * 2**power) for x in c] for c in columns], power


class Problem:
    """mean m (z - y)^2 + sum_j penalty_j w_j^2, the constant's column last;
    m are the rows' weights, whole numbers."""

    def __init__(self, columns, y, penalties, rows_weigh=None):
        whole, power = scaled(columns + [[1] * len(y)])
        labels, label_power = scaled([y])
        n = len(y)
        one, two = Fraction(1, 2**power), Fraction(1, 2**label_power)
        self.rows, self.y = list(zip(*columns, [1] * n)), y
        left = [[m * x for m, x in zip(rows_weigh or [1] * n, c)] for c in whole]
        self.h = [[Fraction(dot(a, b), n) * one * one for b in whole] for a in left]
        for j, penalty in enumerate(penalties):
            self.h[j][j] += penalty
        self.g = [Fraction(dot(a, labels[0]), n) * one * two for a in left]
        both = [m * v for m, v in zip(rows_weigh or [1] * n, labels[0])]
        self.yy = Fraction(dot(both, labels[0]), n) * two * two
        self.w = solve(self.h, self.g)
        self.least = self.objective(self.w)

    def objective(self, w):
        return dot(w, [dot(row, w) - 2 * g for row, g in zip(self.h, self.g)]) + self.yy

    def predictions_off(self, w):
        """By how much they differ at most, against the target's deviation."""
        apart = [a - b for a, b in zip(w, self.w)]
        most = max(abs(dot(apart, map(Fraction, row))) for row in self.rows[:ROWS])
        middle = math.fsum(self.y) / len(self.y)
        return most / Fraction(
            math.sqrt(math.fsum((y - middle) ** 2 for y in self.y) / len(self.y))
        )


def weights():
    """Those of the model file: numbers to the end, or to what is not one."""
    with open("model") as file:
        lines = file.read().split("\nw\n")[1].split("\n")
    return [Fraction(float(v)) for v in lines if re.fullmatch(r"[-+.\de]+ ?", v)]


def train(*args):
    if os.path.exists("model"):
        os.remove("model")
    done = subprocess.run(
        [MUSTER, "train", args[0], "model", *args[1:]],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
    )
    if done.returncode != 0 or "not finite" in done.stdout:
        return done.stdout, None
    return "", re.search(r"^model +(\w+)", done.stdout, re.M)[1]


def write_csv(columns, y):
    with open("rows.csv", "w") as file:
        file.write(",".join(f"x{j}" for j in range(len(columns))) + ",y\n")
        for row in zip(*columns, y):
            file.write(",".join(f"{v!r}" for v in row) + "\n")


def write_svm(columns, y):
    with open("rows.svm", "w") as file:
        for row in zip(y, *columns):
            pairs = " ".join(f"{j}:{v!r}" for j, v in enumerate(row[1:], 1))
            file.write(f"{row[0]!r} {pairs}\n")


def complaint(problem, why, found):
    """What is wrong with the model that was written; none: nothing."""
    if found is None:
        return why.strip().split("\n")[-1]
    excess = problem.objective(weights()) - problem.least
    if excess > NEAR * problem.least:
        return f"objective off by {float(excess / problem.least):.2g}"
    apart = problem.predictions_off(weights())
    return f"predictions off by {float(apart):.2g}" if apart > NEAR else ""


def compare(name, columns, y, l2, *more):
    columns = [[stored(x) for x in column] for column in columns]
    problem = Problem(columns, y, [Fraction(float(l2))] * len(columns))
    write_csv(columns, y)
    for optim in ("newton", "lbfgs"):
        args = ["rows.csv", "--model", "linear", "--optim", optim, "--l2", l2]
        args += more or ["--steps", "300"]
        why, alone = train(*args)
        wrong = complaint(problem, why, alone)
        if not wrong:
            why, together = train(*args, "-n", "2")
            if together != alone:
                wrong = "another hash with two workers"
        yield f"{name}, l2 {l2}, {optim}", wrong


def normal(draw, size=1.0):
    return [size * draw.gauss(0, 1) for _ in range(ROWS)]


def mixed(draw, *columns):
    """A target to which every column contributes as much."""
    noise = normal(draw, 0.1)
    sizes = [max(map(abs, column)) for column in columns]
    return [
        sum(x / size for x, size in zip(row, sizes)) + e
        for row, e in zip(zip(*columns), noise)
    ]


def prices(draw):
    year = [1900.0 + draw.randrange(120) for _ in range(ROWS)]
    sqm = [round(50 + 200 * draw.random(), 1) for _ in range(ROWS)]
    return [year, sqm], [
        round(3000 * (a - 1950) + 2000 * b + 10000 * draw.random())
        for a, b in zip(year, sqm)
    ]


def lots(draw):
    """Square feet, lots to 1.6e6, latitudes; prices of 5e5."""
    sqft = [500 + 4000 * draw.random() for _ in range(ROWS)]
    lot = [min(1.6e6, math.exp(7 + 3 * draw.gauss(0, 1))) for _ in range(ROWS)]
    place = [47 + draw.random() for _ in range(ROWS)]
    return [sqft, lot, place], [
        200 * a + b / 2 + 3e5 * (c - 47) + 5e4 * draw.gauss(0, 1)
        for a, b, c in zip(sqft, lot, place)
    ]


def generated():
    draw = random.Random(13)
    yield ("prices", *prices(draw))
    yield ("lots", *lots(draw))
    apart = [normal(draw, 1e6), normal(draw, 1e-6), normal(draw)]
    yield "columns of 1e6 beside 1e-6", apart, mixed(draw, *apart)
    far = [[1e6 + x for x in normal(draw, 1e3)], normal(draw, 1e-6)]
    yield "a column far from 0", far, mixed(draw, *far)
    alike = [normal(draw) for _ in range(4)]
    target = mixed(draw, *alike)
    for size in (1e8, 1e-9, 1e30, 1e-30):
        yield f"labels of {size:g}", alike, [size * y for y in target]
    yield "labels around 1e8", alike, [1e8 + y for y in target]
    for size in (1e-20, 1e20):
        yield f"all columns of {size:g}", [[size * x for x in c] for c in alike], target
    many = [normal(draw, 10.0 ** (j - 6)) for j in range(12)]
    yield "twelve scales", many, mixed(draw, *many)
    near = normal(draw)
    line = [near, [x + 1e-3 * draw.gauss(0, 1) for x in near]]
    yield "two columns nearly one", line, mixed(draw, *line)


def houses():
    """The sales of King County, if they are here; a column that is the
    difference of two others left out."""
    skip = ("id", "date", "price", "sqft_basement")
    with gzip.open(HOUSES, "rt") as file:
        table = list(csv.DictReader(file))[:2000]
    names = [name for name in table[0] if name not in skip]
    columns = [[float(row[name]) for row in table] for name in names]
    return columns, [float(row["price"]) for row in table]


def said(*args):
    done = subprocess.run([MUSTER, "train", *args], capture_output=True, text=True,
                          timeout=60)
    ended = re.search(r"^ended +(.*(?:\n +.*)*)", done.stdout, re.M)
    return ended[1] if ended else done.stderr


def hidden():
    """Columns whose differences the sums do not show: what is reached may be far
    above the least objective, and "converged" would be false."""
    draw = random.Random(5)
    unknown = [normal(draw) for _ in range(3)]
    y = mixed(draw, *unknown)
    for i in range(0, ROWS, 15):
        for column in unknown:
            column[i] = -999999999999.0
    near, apart = normal(draw), normal(draw)
    twins = [near, [x + 1e-8 * z for x, z in zip(near, apart)]]
    whole = [[round(64 * x) for x in column] for column in (near, apart)]
    sums = whole + [[a + b for a, b in zip(*whole)]]
    z = [a + b for a, b in zip(apart, normal(draw, 0.1))]
    doubt = 'NOT CONVERGED: columns x0 and x'
    for name, columns, target, l2, optims, expected in (
        ("one number for the unknown", unknown, y, "0.01", "newton lbfgs",
         (doubt, "column x0 has 20 values as large as -1e+12", "--missing")),
        ("two columns all but one", twins, z, "0", "newton", (doubt, "--drop")),
        ("a column that is a sum", sums, z, "0", "newton lbfgs", ("converged",)),
        ("one that is a sum, penalty", sums, z, ".01", "newton lbfgs", ("converged",)),
    ):
        write_csv(columns, target)
        for optim in optims.split():
            args = ["rows.csv", "--model", "linear", "--storage", "f64", "--optim",
                    optim, "--l2", l2]
            alone, together = said(*args), said(*args, "-n", "2")
            wrong = "" if alone == together else f"{alone} / {together}"
            for text in expected:
                wrong = wrong or ("" if text in alone else alone)
            yield f"{name}, {optim}", wrong.replace("\n", " ")
    write_csv(unknown, [int(v > 0) for v in y])
    found = said("rows.csv", "--model", "svm", "--loss", "hinge")
    good = "NOT CONVERGED" in found and "column x0 has 20 values" in found
    yield "one number for the unknown, hinge", "" if good else found.replace("\n", " ")


def compatible():
    """LIBLINEAR's -s 11: |w|^2/2 + C sum (z - y)^2, the constant included."""
    columns, y = lots(random.Random(7))
    columns = [[stored(x) for x in column] for column in columns]
    write_svm(columns, y)
    problem = Problem(columns, y, [Fraction(1, 2 * len(y))] * (len(columns) + 1))
    why, found = train("rows.svm", "-s", "11", "-p", "0", "-B", "1", "-q")
    if found is None and not why:
        found = "quiet"
    yield "-s 11 -p 0 -B 1", complaint(problem, why, found)


def all_points():
    for i, (name, columns, y) in enumerate(generated()):
        yield from compare(name, columns, y, ("0", "1e-6")[i == 0])
    yield from compatible()
    yield from hidden()
    if os.path.exists(HOUSES):
        # An objective right to 1e-10 leaves predictions of columns that are
        # nearly dependent right to 1e-4 only: to the end of what is there.
        yield from compare("King County", *houses(), "1e-9", "--steps",
                           "20000", "--accuracy", "0")
    else:
        for optim in ("newton", "lbfgs"):
            yield f"King County, {optim} # SKIP it is not here", ""


def main():
    points = list(all_points())
    print(f"1..{len(points)}")
    for i, (name, wrong) in enumerate(points, 1):
        print(f"not ok {i} - {name}: {wrong}" if wrong else f"ok {i} - {name}")


if __name__ == "__main__":
    main()
