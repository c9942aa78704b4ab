#!/usr/bin/env python3
"""What a plan loses against the best code in hindsight: chosen on the first
half of a trace, paid on the second.  Generated traces of many kinds, and traces
recorded from real runs on this machine (uncoded, with injected delays).  Exits
with 1 if any loses 10 % or more."""

import json
import os
import subprocess
import sys
import tempfile

MUSTER = os.environ.get("MUSTER", "build/muster")
LIMIT = .10
GENERATED = [None, "exp:1/scale", "exp:.3/scale", "exp:1", "pareto:1,1.5/times",
             "pareto:1,3/times", "bimodal:.05,3", "bimodal:.05,10",
             "bimodal:.2,5", "lognormal:.2,1/scale",
             "lognormal:.2,1/scale/persistent", "weibull:.5,.7/scale",
             "bimodal:1,4/burst:.01,.1", "bimodal:1,3/rack:4/burst:.02,.2",
             "exp:.2/scale+dead:.002"]
RECORDED = ["", "exp:.01", "exp:.02+worker:w2=3", "bimodal:.1,4+exp:.002",
            "exp:.01/burst:.05,.2"]


def muster(*args):
    done = subprocess.run([MUSTER, *args], check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL)
    return done.stdout


def plan(path, exact):
    return json.loads(muster("plan", "choose", path, "--exact", exact,
                             "--format", "json"))


def halves(path):
    """The trace as two files, work lines and all."""
    with open(path, encoding="ascii") as trace:
        lines = trace.readlines()
    work = [line for line in lines if line.startswith("# work")][:1]
    rows = [line for line in lines if not line.startswith("#")]
    names = path + ".seen", path + ".hidden"
    middle = len(rows) // 2
    for name, part in zip(names, (rows[:middle], rows[middle:])):
        with open(name, "w", encoding="ascii") as out:
            out.writelines(work + part)
    return names


def regret(path, exact):
    seen, hidden = halves(path)
    choice = plan(seen, exact)["choice"]
    paid = {c["label"]: c["progress_s"]
            for c in plan(hidden, exact)["candidates"]}
    return choice, paid[choice] / min(paid.values()) - 1


def show(name, path, worst):
    for exact in ("bitwise", "approx"):
        choice, lost = regret(path, exact)
        worst = max(worst, lost)
        print(f"{name:<40}{exact:<9}{choice:<14}{100 * lost:6.1f} %",
              flush=True)
    return worst


def main():
    worst = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace")
        for n in (8, 30):
            for seed, delay in enumerate(GENERATED):
                muster("plan", "generate", path, "-n", str(n), "--steps",
                       "600", "--work", "1", "--seed", str(seed),
                       *(["--delay", delay] if delay else []))
                worst = show(f"n={n} {delay or 'realistic'}", path, worst)
        for i, delay in enumerate(RECORDED):
            muster("train", "gen:gmm:8000,50", "-n", "6", "--optim", "agd",
                   "--steps", "200",
                   "--code", "uncoded", "--record", path, "-q", "--out",
                   os.path.join(folder, f"run{i}"),
                   *(["--delay", delay] if delay else []))
            worst = show(f"recorded, {delay or 'no delay'}", path, worst)
    print(f"worst {100 * worst:.1f} % (limit {100 * LIMIT:.0f} %)")
    return worst >= LIMIT


if __name__ == "__main__":
    sys.exit(main())
