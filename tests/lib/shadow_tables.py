#!/usr/bin/env python3
"""The tables of bench/shadows.py, from runs made up here: cells of several sizes
share the runs of arms that take no sample, and each looks at its own steps."""

import importlib.util
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "net/lib"))
from cluster import Tap

os.environ.pop("QUICK", None)
SPEC = importlib.util.spec_from_file_location(
    "shadows", Path(__file__).resolve().parents[2] / "bench/shadows.py")
shadows = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(shadows)

SEEDS = 5
STEPS = {None: 8, 5: 8, 30: 2}


def run(steps):
    """Errors rise: their mean says how many were looked at."""
    return {"steps": steps, "accuracy": .5, "recall": .5,
            "errors": [float(i) for i in range(steps)]}


def check_cells(tap):
    runs = {(arm, size, seed): run(STEPS[size])
            for arm, size in shadows.codes([5, 30]) for seed in range(SEEDS)}
    cells = {size: shadows.Cell("MLP", "alike", 1, size, runs, SEEDS)
             for size in (5, 30)}
    for arm in "abandon", "rescale", "random":
        tap.equal([cell.value(arm, "error") for cell in cells.values()],
                  [3.5, .5], f"{arm}: each size has the steps it can")
    tap.equal(cells[5].pair(("random", "abandon"), "error"), (0, 0),
              "the same errors are told from nothing")


def check_grid(tap):
    seen = {(model, labels, late, size)
            for model, labels, late, sizes in shadows.cells() for size in sizes}
    tap.equal(seen, {(model, labels, late, size)
                     for model in ("softmax", "MLP", "CNN")
                     for labels in ("alike", "skewed") for late in (1, 2)
                     for size in (5, 10, 20, 30)}, "48 cells")


def check_time(tap):
    tap.equal([shadows.fitting(*times) for times in
               ((40, 1, 1), (40, 3, 1), (40, 2.1, 2.1), (40, 30, 10),
                (20, 30, 10))], [40, 38, 19, 2, 0],
              "steps that end by then, of which the first may take longer")


def main():
    tap = Tap()
    check_cells(tap)
    check_grid(tap)
    check_time(tap)
    tap.done()


main()
