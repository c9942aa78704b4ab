#!/usr/bin/env python3
"""Two builds against each other, in interleaved pairs: the median of the ratios
after / before of each pair, so that a busy minute slows both sides of a pair.

    bench/pairs.py BEFORE AFTER [overhead|kernels|train|recovery]... [pairs=15]

BEFORE and AFTER are build folders (build/release) of two trees, with their
bench programs.  overhead: a step of eight local workers besides computing, by
both roads.  kernels: a gradient.  train: CPU time to a gap of 1e-6.  recovery:
a run through a fault, from start to end.  A refactoring stays within 1.05."""

import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT = 1.05


def bench(name):
    """The bench of that name, as a module."""
    spec = importlib.util.spec_from_file_location(
        name, os.path.join(HERE, name + ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def output(*command):
    return subprocess.run([str(word) for word in command], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True).stdout


# --- what is measured: {case: function of a build folder -> seconds} ---------

def overhead_cases(_):
    module = bench("overhead")

    def step(build, d, road):
        module.MUSTER = os.path.join(build, "muster")
        return statistics.median(module.run_muster(d, ["--bulk", road])[1])
    return {f"overhead, {d} weights, {road}":
            lambda build, d=d, road=road: step(build, d, road)
            for d in (1000, 10000, 100000) for road in ("shm", "tcp")}


def kernels_cases(_):
    shapes = {"dense": (100000, 500), "sparse": (200000, 100000, 45, 5),
              "softmax": (20000, 784, 10, 5)}

    def gradient(build, kind, shape):
        text = output(os.path.join(build, "bench", "kernels"), kind, *shape)
        return sum(float(line[16:].split()[2]) for line in text.splitlines()
                   if line[:16].strip().startswith(("gradient", "softmax"))) / 1e3
    return {f"kernels, {kind}":
            lambda build, kind=kind, shape=shape: gradient(build, kind, shape)
            for kind, shape in shapes.items()}


def train_cases(folder):
    import numpy as np
    module = bench("train")
    cases = {}

    def add(name, files, rows, model, optim):
        first = output(ours(sys.argv[1]), *files, model, "newton", 1, 1, 0, 0)
        least = module.Judge(rows[0], rows[1], model).objective(
            np.array(first.split("\n", 1)[1].split(), float)) / len(rows[1])

        def run(build):
            line = output(ours(build), *files, model, optim, 1, 3, 1e-6,
                          repr(least))
            return float(line.split()[0])
        cases[f"train, {name}, {model}, {optim}"] = run

    def ours(build):
        return os.path.join(build, "bench", "train_ours")
    x, y = module.covtype_like(100000)
    dense = [os.path.join(folder, name) for name in ("x.npy", "y.npy")]
    np.save(dense[0], x)
    np.save(dense[1], y)
    text = module.text_like(5000)
    sparse = os.path.join(folder, "rows.svm")
    module.write_rows(sparse, *text)
    for optim in "newton", "lbfgs":
        add("covtype", dense, (x, y), "logistic", optim)
    add("text", [sparse, "-"], text, "logistic", "newton")
    add("text", [sparse, "-"], text, "svm", "newton")
    return cases


def recovery_cases(folder):
    module = bench("recovery")

    def run(build, chaos, flags):
        out = os.path.join(folder, "run")
        began = time.perf_counter()
        text = output(os.path.join(build, "muster"), "train", *module.DATA,
                      *flags, "--chaos", chaos, "--out", out, "--format",
                      "json")
        took = time.perf_counter() - began
        assert json.loads(text)["steps"] == 60
        subprocess.run(["rm", "-r", out], check=True)
        return took
    return {f"recovery, {name}":
            lambda build, chaos=chaos, flags=flags: run(build, chaos, flags)
            for name, (chaos, _, flags) in module.KINDS.items()}


CASES = {"overhead": overhead_cases, "kernels": kernels_cases,
         "train": train_cases, "recovery": recovery_cases}


def compare(before, after, case, pairs):
    """Sides take turns in going first."""
    ratios = []
    for i in range(pairs):
        took = {side: case(side) for side in
                ((before, after) if i % 2 == 0 else (after, before))}
        ratios.append(took[after] / took[before])
    return sorted(ratios)


def main():
    words = sys.argv[3:]
    pairs = next((int(w[6:]) for w in words if w.startswith("pairs=")), 15)
    before, after = map(os.path.abspath, sys.argv[1:3])
    wanted = [word for word in words if "=" not in word] or list(CASES)
    worst = 0
    print(f"{pairs} pairs; after / before: least, median, most")
    with tempfile.TemporaryDirectory() as folder:
        for name in wanted:
            for case, run in CASES[name](folder).items():
                seen = compare(before, after, run, pairs)
                middle = statistics.median(seen)
                worst = max(worst, middle)
                print(f"{case:<40}{seen[0]:8.3f}{middle:8.3f}{seen[-1]:8.3f}"
                      + ("  over" if middle > LIMIT else ""), flush=True)
    sys.exit(worst > LIMIT)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main()
