#!/usr/bin/env python3
"""ErasureHead's experiment in virtual time: Amazon access data, 30 workers, the
reference delays, 100 AGD steps, learning rate 10, no time to compute.

For each code the virtual seconds to a test AUC of .75, .78, .83 and .85, and
the speed-up over waiting for everyone, beside the paper's (Wang, Charles &
Papailiopoulos, "ErasureHead", 2019, EC2, its compute and network included).
Exits with 1 if a code takes longer per step than in the paper, or if agc gains
less over uncoded than there.  What frc gains at one level is a matter of the
delays of the few steps before it, the same for any implementation.  Skips
without the data."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

MUSTER = os.environ.get("MUSTER", "build/muster")
DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / \
    "amazon_access"
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


def main():
    if not DATA.is_dir():
        print("erasurehead: skipped, there is no ../shared/data/amazon_access")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        base = os.path.join(folder, "amazon")
        subprocess.run([MUSTER, "data", "prepare", "amazon", "--from",
                        str(DATA), "--out", base], check=True,
                       stdout=subprocess.DEVNULL)
        runs = muster("simulate", base + "-train.svm", "--test",
                      base + "-test.svm", "--optim", "agd", "--lr", "10",
                      "--steps", "100", "-n", "30", "--delay", "reference",
                      "--work", "0", "--metric", "auc", "--compare", CODES,
                      "--series", "--format", "json",
                      *sys.argv[1:])["runs"]
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
