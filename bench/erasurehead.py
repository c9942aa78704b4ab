#!/usr/bin/env python3
"""ErasureHead's experiment in virtual time: Amazon access data, 30 workers, the
reference delays, 100 AGD steps, learning rate 10, no time to compute.

For each code the virtual seconds to a test AUC of .75, .78, .83 and .85, and
the speed-up over waiting for everyone, beside the paper's (Wang, Charles &
Papailiopoulos, "ErasureHead", 2019, EC2, its compute and network included).
Exits with 1 if a code takes longer per step than in the paper, or if agc gains
less over uncoded than there.  What frc gains at one level is a matter of the
delays of the few steps before it, the same for any implementation.  Skips
without the data.

`erasurehead.py real [CODES]`: the same on real processes here, delays a tenth as long.
For each code and level the cluster trains as many steps as virtual time needs
to the level; beside the virtual seconds, a tenth of them, are those that it
took and the AUC that it reached."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

MUSTER = os.environ.get("MUSTER", "build/muster")
DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / \
    "amazon_access"
STEPS_REAL = 30  # Enough for the last level.
LEVELS = (.75, .78, .83, .85)
CODES = "uncoded,frc:s=1,frc:s=2,agc:s=1:collect=11,agc:s=2:collect=11"
PAPER = {"agc s=2 k=11": (6.74, 6.06, 5.61, 5.37),
         "frc s=2": (3.83, 3.36, 3.43, 3.38)}
PAPER_STEP_S = {"uncoded": 2.097, "frc s=1": .910, "frc s=2": .604,
                "agc s=1 k=11": .320, "agc s=2 k=11": .316}


def muster(*args):
    out = subprocess.run([MUSTER, *args], check=True, stdout=subprocess.PIPE)
    return json.loads(out.stdout) if out.stdout else None


def time_to(run, level):
    for point in run["series"]:
        if point["auc"] >= level:
            return point["t_s"]
    return None


def show(name, values, form):
    cells = "".join(f"{format(v, form) if v is not None else '-':>9}"
                    for v in values)
    print(f"{name:<28}{cells}")


def job(base):
    return [base + "-train.svm", "--test", base + "-test.svm", "--optim",
            "agd", "--lr", "10", "-n", "30", "--metric", "auc", "--format",
            "json"]


def simulate(base, codes, steps, *more):
    return muster("simulate", *job(base), "--steps", str(steps), "--delay",
                  "reference", "--work", "0", "--compare", codes, "--series",
                  *more)["runs"]


def steps_to(run, level):
    return next((point["step"] for point in run["series"]
                 if point["auc"] >= level), None)


def train(base, code, steps):
    with tempfile.TemporaryDirectory() as out:
        return muster("train", *job(base), "--steps", str(steps), "--delay",
                      "reference:0.05", "--code", code, "--out",
                      os.path.join(out, "run"), "-q")


def real(base, codes):
    print(f"{'':<14}{'AUC':>5}{'steps':>7}{'virtual/10 s':>14}{'real s':>9}"
          f"{'ratio':>7}{'speed-up':>10}{'reached':>9}")
    waits = {}
    for run, code in zip(simulate(base, codes, STEPS_REAL), codes.split(",")):
        for level in LEVELS:
            steps = steps_to(run, level)
            if steps is None:
                continue
            result = train(base, code, steps)
            virtual_s = time_to(run, level) / 10
            took_s = result["elapsed_s"]
            waits.setdefault(level, took_s)
            print(f"{run['label']:<14}{level:5.2f}{steps:7}{virtual_s:14.2f}"
                  f"{took_s:9.2f}{took_s / virtual_s:7.2f}"
                  f"{waits[level] / took_s:10.2f}"
                  f"{result['metrics']['auc']:9.4f}", flush=True)
    return 0


def main():
    if not DATA.is_dir():
        print("erasurehead: skipped, there is no ../shared/data/amazon_access")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        base = os.path.join(folder, "amazon")
        subprocess.run([MUSTER, "data", "prepare", "amazon", "--raw",
                        str(DATA), "--to", base], check=True,
                       stdout=subprocess.DEVNULL)
        if sys.argv[1:2] == ["real"]:
            return real(base, *(sys.argv[2:] or [CODES]))
        runs = simulate(base, CODES, 100, *sys.argv[1:])
    return table(runs)


def table(runs):
    worse = 0
    base = [time_to(runs[0], level) for level in LEVELS]
    show("test AUC", LEVELS, ".2f")
    for run in runs:
        times = [time_to(run, level) for level in LEVELS]
        show(f"{run['label']}: s", times, ".2f")
        step_s = PAPER_STEP_S[run["label"]]
        worse += run["mean_step_s"] > step_s
        print(f"{'':<28}{run['mean_step_s']:9.3f} s/step (the paper's "
              f"{step_s:.3f}), final AUC {run['metrics']['auc']:.4f}")
        if run is runs[0]:
            continue
        gain = [b / t if t else None for b, t in zip(base, times)]
        show("  speed-up", gain, ".2f")
        paper = PAPER.get(run["label"])
        if paper:
            show("  the paper's", paper, ".2f")
            if run["label"].startswith("agc"):
                worse += sum(g is None or g < p for g, p in zip(gain, paper))
    print(f"{worse} worse than the paper's")
    return worse > 0


if __name__ == "__main__":
    sys.exit(main())
