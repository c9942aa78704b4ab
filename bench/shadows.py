#!/usr/bin/env python3
"""Shadows on MNIST under persistent stragglers: the tables of docs/shadows.md.

    bench/shadows.py [--jobs N] [--seeds N] [--keep FILE] [--no-real]
    QUICK=1 bench/shadows.py     a few cells, in about a minute

Ten primary workers and one shadow; one or two primaries are ten times as slow
as the others in every step.  `alike`: images are dealt at random.  `skewed`:
sorted by label and cut into twenty, each primary has two of these.  Softmax
regression takes full steps, the networks batches of each worker's own rows.

All is `muster simulate`, in virtual time: a primary computes its share of a step
in one second, a shadow of size z ten times z as much, and every arm makes as
many steps as end by the same time (a network's first takes longer).  Arms:

    wait      uncoded: all eleven compute, and all are waited for
    steal     exact, too; what is late is computed by others
    abandon   nothing stands for who is late      (flexent, size 5 %)
    rescale   the mean of the others does         (flexent, size 5 %)
    random    a random sample, weighted m/b: the paper's comparison
    entropy   the sample of the largest entropy, as published
    strata    a sample in proportion by cell, unbiased
    shrink    that one, shrunk towards the others' mean: the default

Seeds choose images, their order, who is late, samples and a network's first
weights.  Differences are between arms of the same seed; after them is half of
the 95 % confidence interval (Student's t).  The gradient error is |g^ - g| / |g|
with g the exact gradient at the same weights, its mean over the steps that all
arms of a cell make.  At the end real processes, all arms for the same seconds.
All of it takes half an hour of one core, the CNN more than half of that.

--keep FILE has a line of JSON for each run; those that are in it are not made
again.  MNIST is ../shared/data/mnist beside the repository, or $MNIST."""

import argparse
import concurrent.futures
import gzip
import json
import math
import os
import random
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import mean, stdev

ROOT = Path(__file__).resolve().parent.parent
MUSTER = os.environ.get("MUSTER", str(ROOT / "build" / "muster"))
MNIST = Path(os.environ.get("MNIST", ROOT.parent / "shared/data/mnist"))
QUICK = os.environ.get("QUICK") == "1"
PRIMARIES, ROWS_EACH, TESTED, FACTOR = 10, 300, 2000, 10
PIXELS = 28 * 28
SIZES = [5, 10, 20, 30]
# t at 97.5 % by degrees of freedom.
STUDENT = [None, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262]
NETWORK = ["--optim", "momentum", "--lr", 0.05, "--schedule", "constant"]
# Name: arguments, virtual seconds, rows of a step.
MODELS = {
    "softmax": (["--model", "softmax", "--optim", "gd"], 40, None),
    "MLP": (["--net", "dense32 relu dense10", *NETWORK], 40, 1000),
    "CNN": (["--net", "conv5x5x4 relu pool2 dense10", *NETWORK], 20, 500),
}
SAMPLED = {
    "random": "estimate=shadow:sampler=random",
    "entropy": "estimate=shadow:sampler=entropy",
    "strata": "estimate=shadow:sampler=strata",
    "shrink": "estimate=shrink:sampler=strata",
}
EXACT = {"wait": "uncoded", "steal": "steal"}
BESIDE = {"abandon": "estimate=abandon", "rescale": "estimate=rescale"}
PAIRS = [("random", "abandon"), ("entropy", "random"), ("strata", "random"),
         ("shrink", "random")]


# --- rows -------------------------------------------------------------------

def read(name, head):
    with gzip.open(MNIST / name) as file:
        return file.read()[head:]


def write(folder, name, rows, images, labels):
    """Two IDX files; returns their paths."""
    paths = folder / f"{name}-images", folder / f"{name}-labels"
    paths[0].write_bytes(struct.pack(">4I", 0x803, len(rows), 28, 28) + b"".join(
        images[PIXELS * i:PIXELS * (i + 1)] for i in rows))
    paths[1].write_bytes(struct.pack(">2I", 0x801, len(rows)) +
                         bytes(labels[i] for i in rows))
    return paths


def make_rows(folder, seeds):
    """{(labels, seed): (images, labels)}, and the test rows' two files."""
    images = read("train-images-idx3-ubyte.gz", 16)
    labels = read("train-labels-idx1-ubyte.gz", 8)
    made = {}
    for seed in range(seeds):
        draw = random.Random(seed)
        rows = draw.sample(range(len(labels)), PRIMARIES * ROWS_EACH)
        made["alike", seed] = write(folder, f"alike{seed}", rows, images, labels)
        rows.sort(key=lambda i: labels[i])
        half = ROWS_EACH // 2
        blocks = [rows[i:i + half] for i in range(0, len(rows), half)]
        draw.shuffle(blocks)
        made["skewed", seed] = write(folder, f"skewed{seed}",
                                     [i for block in blocks for i in block],
                                     images, labels)
    tested = write(folder, "test", range(TESTED),
                   read("t10k-images-idx3-ubyte.gz", 16),
                   read("t10k-labels-idx1-ubyte.gz", 8))
    return made, tested


# --- runs -------------------------------------------------------------------

def muster(*args):
    done = subprocess.run([MUSTER, *map(str, args), "-q", "--format", "json"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True)
    if done.returncode not in (0, 4):  # 4: more steps would still help.
        sys.exit(f"shadows: {' '.join(map(str, args))}: {done.stdout}"
                 f"{done.stderr}")
    return json.loads(done.stdout)


def delay(seed, late, factor=FACTOR):
    """The same workers for all arms."""
    slow = random.Random(f"late {seed}").sample(range(PRIMARIES), late)
    return "+".join(f"worker:w{i}={factor}" for i in sorted(slow))


def data(rows, tested):
    return [rows[0], "--labels", rows[1], "--test", tested[0], "--test-labels",
            tested[1]]


def cut(batch):
    """Chunks that primaries share evenly, and batches of each one's rows."""
    if batch is None:
        return ["--chunk-rows", ROWS_EACH // 10]
    return ["--chunk-rows", ROWS_EACH // 2, "--batch", batch, "--shuffle",
            "local"]


def fitting(limit, first, each):
    """Steps that end by then."""
    return max(0, 1 + math.floor((limit - first) / each + 1e-9))


times = {}  # Seconds of the first step and of each other, by what decides them.


def simulate(rows, tested, model, code, late, seed):
    """As many steps as end by the limit.  A network's first step is made again
    until its grids fit, which is known once it was made."""
    what, limit, batch = MODELS[model]
    if QUICK:
        limit /= 2

    def run(steps):
        return muster("simulate", *data(rows, tested), *what, *cut(batch), "-n",
                      PRIMARIES + 1, "--stragglers", late, "--delay",
                      delay(seed, late), "--work", PRIMARIES / (PRIMARIES + 1),
                      "--seed", seed, "--code", code, "--steps", steps,
                      "--series")

    key = model, late, seed, code.split(":estimate")[0]
    if key not in times:
        ends = [point["t_s"] for point in run(3)["series"]]
        times[key] = ends[0], ends[2] - ends[1]
    first, each = times[key]
    steps = fitting(limit, first, each)
    while steps:
        found = run(steps)
        ends = [point["t_s"] for point in found["series"]]
        steps = fitting(limit, ends[0], each)
        if steps == len(ends):
            break
    if not steps:
        return {"accuracy": None, "recall": None, "steps": 0, "total_s": 0,
                "errors": []}
    if not limit - each < ends[-1] + 1e-6 < limit + 2e-6:
        sys.exit(f"shadows: {model}, {code}, seed {seed}: steps of several "
                 "lengths")
    return {"accuracy": found["metrics"]["accuracy"],
            "recall": found["metrics"]["recall"],
            "steps": steps, "total_s": found["total_s"],
            "errors": [point.get("gradient_error", 0)
                       for point in found["series"]]}


def cells():
    """(model, labels, late, sizes)"""
    if QUICK:
        return [("softmax", labels, 1, [10]) for labels in ("alike", "skewed")
                ] + [("MLP", "skewed", 1, [10])]
    return [(model, labels, late, SIZES) for model in MODELS for late in (1, 2)
            for labels in ("alike", "skewed")]


def codes(sizes):
    """{(arm, size or None): code}"""
    return {**{(arm, None): code for arm, code in EXACT.items()},
            **{(arm, None): f"flexent:size=5%:{how}"
               for arm, how in BESIDE.items()},
            **{(arm, size): f"flexent:size={size}%:{how}" for size in sizes
               for arm, how in SAMPLED.items()}}


class Kept:
    """Runs that were made before, and those made now."""

    def __init__(self, path):
        self.path = path
        self.runs = {}
        if path and os.path.exists(path):
            with open(path) as file:
                for line in file:
                    key, run = json.loads(line)
                    self.runs[tuple(key)] = run

    def get(self, key, function, *args):
        if key not in self.runs:
            self.runs[key] = function(*args)
            if self.path:
                with open(self.path, "a") as file:
                    file.write(json.dumps([key, self.runs[key]]) + "\n")
        return self.runs[key]


# --- tables -----------------------------------------------------------------

class Arms:
    """What all seeds of all arms came to: {arm: [run of each seed]}."""

    def __init__(self, runs):
        self.runs = runs

    def value(self, arm, what):
        return mean(run[what] for run in self.runs[arm])

    def percent(self, arm, what):
        """Of an arm that had no time for a step there is none."""
        return f"{100 * self.value(arm, what):.1f}" if all(
            run["steps"] for run in self.runs[arm]) else "-"

    def pair(self, arms, what):
        """Mean difference and half of its 95 % interval."""
        apart = [a[what] - b[what]
                 for a, b in zip(self.runs[arms[0]], self.runs[arms[1]])]
        return mean(apart), (STUDENT[len(apart) - 1] * stdev(apart) /
                             len(apart) ** .5)

    def shown(self, arms, what, scale, digits):
        """In bold where zero is outside of the interval."""
        apart, half = self.pair(arms, what)
        text = f"{scale * apart:+.{digits}f} ± {scale * half:.{digits}f}"
        return f"**{text}**" if abs(apart) > half else text


class Cell(Arms):
    """Of one model, with its errors over the steps that its arms all make."""

    def __init__(self, model, labels, late, size, runs, seeds):
        self.name = f"{model} | {labels} | {late} | {size} %"
        own = {arm: [runs[arm, at, seed] for seed in range(seeds)]
               for arm, at in [(a, None) for a in (*EXACT, *BESIDE)] +
               [(a, size) for a in SAMPLED]}
        common = min(run["steps"] for arm in (*BESIDE, *SAMPLED)
                     for run in own[arm])
        # Copies: the arms that take no sample have the same runs in cells of
        # other sizes, where another number of steps is common.
        super().__init__({arm: [{**run, "error":
                                 mean(run["errors"][:common] or [0])}
                                for run in all_seeds]
                          for arm, all_seeds in own.items()})


def table(title, columns, lines):
    print(f"\n{title}\n\n| model | labels | late | size | "
          f"{' | '.join(columns)} |\n|{'---|' * (4 + len(columns))}")
    for line in lines:
        print(f"| {line} |")
    sys.stdout.flush()


def pair_name(arms):
    return f"{arms[0]} - {arms[1]}"


def show(found):
    arms = [*BESIDE, *SAMPLED]
    table("Relative error of the gradient, its mean over steps and seeds",
          arms + [pair_name(pair) for pair in PAIRS],
          [" | ".join([cell.name] + [f"{cell.value(arm, 'error'):.3f}"
                                     for arm in arms] +
                      [cell.shown(pair, "error", 1, 3) for pair in PAIRS])
           for cell in found])
    for title, what in ("Test accuracy", "accuracy"), ("Macro-recall", "recall"):
        table(f"{title} at equal virtual time, in per cent",
              [*EXACT, *arms] + [pair_name(pair) for pair in PAIRS],
              [" | ".join([cell.name] + [cell.percent(arm, what)
                                         for arm in (*EXACT, *arms)] +
                          [cell.shown(pair, what, 100, 1) for pair in PAIRS])
               for cell in found])


def count_wins(found):
    """Cells in which a difference is above, below or about zero."""
    print("\nCells in which the interval is above zero, below it, has it inside"
          "\n\n| difference | labels | gradient error | accuracy | macro-recall "
          "|\n|---|---|---|---|---|")
    for pair in PAIRS:
        for labels in "alike", "skewed":
            text = []
            for what in "error", "accuracy", "recall":
                seen = [cell.pair(pair, what) for cell in found
                        if f"| {labels} |" in cell.name]
                above = sum(apart > half for apart, half in seen)
                below = sum(apart < -half for apart, half in seen)
                text.append(f"{above}, {below}, {len(seen) - above - below}")
            print(f"| {pair_name(pair)} | {labels} | {' | '.join(text)} |")


# --- real processes ---------------------------------------------------------

REAL = {"wait": "uncoded", "abandon": "flexent:size=10%:estimate=abandon",
        **{arm: f"flexent:size=10%:{how}" for arm, how in SAMPLED.items()}}


TRIES = 6


def real(folder, made, tested, seeds):
    """Full steps of softmax regression, one late, skewed labels; every arm for
    the same seconds by the clock, one after the other for each seed.  They count
    from a run's start: one that took long to start or to stop is made again."""
    limit = 2 if QUICK else 5
    runs = {arm: [] for arm in REAL}
    for seed in range(seeds):
        for arm, code in REAL.items():
            for _ in range(TRIES):
                found = muster(
                    "train", *data(made["skewed", seed], tested), "--model",
                    "softmax", "--optim", "gd", *cut(None), "-n", PRIMARIES + 1,
                    "--threads", 1, "--delay", delay(seed, 1, 300), "--seed",
                    seed, "--code", code, "--steps", 10 ** 6, "--tol", 0,
                    "--max-time", limit, "--out",
                    tempfile.mkdtemp(dir=folder))
                if .9 * limit < found["elapsed_s"] < 1.1 * limit:
                    break
            runs[arm].append({"steps": found["steps"],
                              "elapsed_s": found["elapsed_s"],
                              "accuracy": found["test_metrics"]["accuracy"],
                              "recall": found["test_metrics"]["recall"]})
    print(f"\nReal processes: softmax, skewed, one primary 300 times as slow, "
          f"size 10 %, {limit} s of each\n\n| arm | seconds of steps | steps | "
          "accuracy | macro-recall |\n|---|---|---|---|---|")
    cell = Arms(runs)
    for arm, own in runs.items():
        seconds = [run["elapsed_s"] for run in own]
        steps = [run["steps"] for run in own]
        print(f"| {arm} | {min(seconds):.1f} to {max(seconds):.1f} | "
              f"{min(steps)} to {max(steps)} | "
              f"{cell.percent(arm, 'accuracy')} | "
              f"{cell.percent(arm, 'recall')} |")
    print("\n| difference | accuracy | macro-recall |\n|---|---|---|")
    for pair in [("abandon", "wait"), *PAIRS, ("shrink", "wait")]:
        print(f"| {pair_name(pair)} | {cell.shown(pair, 'accuracy', 100, 1)} | "
              f"{cell.shown(pair, 'recall', 100, 1)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    parser.add_argument("--seeds", type=int, default=2 if QUICK else 5)
    parser.add_argument("--keep", help="file of runs that were made")
    parser.add_argument("--no-real", action="store_true")
    options = parser.parse_args()
    if not 2 <= options.seeds < len(STUDENT):
        parser.error(f"--seeds: 2 to {len(STUDENT) - 1}")
    if not (MNIST / "train-images-idx3-ubyte.gz").exists():
        print(f"shadows: skipped, there is no MNIST in {MNIST}; `muster data get "
              "mnist` fetches it, MNIST=FOLDER says where it is")
        return
    with tempfile.TemporaryDirectory(dir=os.environ.get("FOLDER")) as folder:
        made, tested = make_rows(Path(folder), options.seeds)
        pool = concurrent.futures.ThreadPoolExecutor(options.jobs)
        kept = Kept(options.keep)
        asked = {}
        for model, labels, late, sizes in cells():
            for (arm, size), code in codes(sizes).items():
                for seed in range(options.seeds):
                    key = model, labels, late, arm, size, seed
                    asked[key] = pool.submit(
                        kept.get, key, simulate, made[labels, seed], tested,
                        model, code, late, seed)
        runs = {key: future.result() for key, future in asked.items()}
        pool.shutdown()
        found = []
        for model, labels, late, sizes in cells():
            own = {key[3:]: run for key, run in runs.items()
                   if key[:3] == (model, labels, late)}
            found += [Cell(model, labels, late, size, own, options.seeds)
                      for size in sizes]
        show(found)
        count_wins(found)
        if not options.no_real:
            real(Path(folder), made, tested, options.seeds)


if __name__ == "__main__":
    main()
