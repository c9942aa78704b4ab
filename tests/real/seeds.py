#!/usr/bin/env python3
"""The seed systems' results on their own data, where it is at hand (../shared/
data beside the repository); each also on a cluster with a kill, same hash."""

import json
import os
import subprocess
import sys
from pathlib import Path

MUSTER = os.environ["MUSTER"]
DATA = Path(os.environ["ROOT"]).resolve().parent / "shared" / "data"
CHAOS = ["-n", "3", "--chaos", "kill:w1@5,kill:coordinator@12"]
# name: (folder, recipe, flags, {(set, metric): (value, within)})
JOBS = {
    "Amazon, 100 AGD steps": (
        "amazon_access", "amazon", ["--optim", "agd", "--lr", "10",
                                    "--no-intercept"],
        {("metrics", "auc"): (.883, .001)}),
    "KC Housing, 100 AGD steps": (
        "kc_housing", "kc", ["--model", "linear", "--optim", "agd", "--lr",
                             "0.098", "--decay", "0.98", "--no-intercept"],
        # The reference's first rate is .1 * .98, and its .0334 is over seven
        # eighths of the training rows: docs/performance.md.
        {("train_metrics", "mse"): (.0318, .0001),
         ("metrics", "mse"): (.0300, .0001)}),
    "Credit, linear SVM optimum": (
        "credit_default", "credit", ["-s", "2", "-c", "0.01"],
        {("metrics", "f1"): (.476, .002), ("metrics", "accuracy"):
         (.825, .001)}),
    "Covertype subset, logistic": (
        "covertype", "covtype", ["--optim", "lbfgs", "--steps", "200",
                                 "--no-intercept"],
        # The reference's .742 is of another optimiser, short of the optimum.
        {("metrics", "accuracy"): (.7483, .0005)}),
    "MNIST, softmax": (
        "mnist", "mnist", ["--model", "softmax", "--optim", "lbfgs",
                           "--steps", "50", "--no-intercept"],
        {("metrics", "accuracy"): (.9262, .001)}),  # At the optimum.
}


def run(*args):
    done = subprocess.run([MUSTER, *args], capture_output=True, text=True)
    try:
        return json.loads(done.stdout)
    except ValueError:
        return {"error": done.stdout + done.stderr}


def check(number, name, job):
    folder, recipe, flags, wanted = job
    if not (DATA / folder).is_dir():
        print(f"ok {number} - {name} # SKIP no ../shared/data/{folder}")
        print(f"ok {number + 1} - {name} # SKIP no ../shared/data/{folder}")
        return True
    run("data", "prepare", recipe, "--raw", str(DATA / folder), "--to",
        recipe)
    train = ["train", f"{recipe}-train.svm", "--test", f"{recipe}-test.svm",
             *flags, "--format", "json"]
    alone = run(*train)
    seen = {key: alone.get(key[0], {}).get(key[1]) for key in wanted}
    good = all(seen[key] is not None and abs(seen[key] - value) <= within
               for key, (value, within) in wanted.items())
    cluster = run(*train, *CHAOS, "--out", f"{recipe}-run")
    same = alone.get("hash") is not None and \
        alone["hash"] == cluster.get("hash")
    print(f"{'ok' if good else 'not ok'} {number} - {name}: {seen}")
    print(f"{'ok' if same else 'not ok'} {number + 1} - {name}: the same hash "
          "on a cluster with kills")
    if not good or not same:
        print(f"# {alone}\n# {cluster}"[:4000])
    return good and same


def main():
    print(f"1..{2 * len(JOBS)}")
    results = [check(2 * i + 1, name, job)
               for i, (name, job) in enumerate(JOBS.items())]
    sys.exit(0 if all(results) else 1)


main()
