#!/usr/bin/env python3
"""A model of a search cannot be judged for want of memory (shim.c): the search
ends there, and the next training, which the workers have begun, is not made to
its end first."""

import errno
import os
import subprocess
import sys
from pathlib import Path

MUSTER = os.environ["MUSTER"]
HERE = Path(__file__).resolve().parent
LIMIT_S = 60  # Against hangs only.
# The scores of all rows are one long block.
TASK = ["train", "gen:gmm:150000,3", "-v", "2", "-n", "1", "--optim", "gd",
        "--tol", "0", "--accuracy", "0", "-q"]


def search(steps, out, at):
    """(exit status or None if it went on, what it said)."""
    env = dict(os.environ, LD_PRELOAD=str(Path("shim.so").resolve()),
               MUSTER_SHIM_KIND="long", MUSTER_SHIM_AT=str(at),
               MUSTER_SHIM_ERROR=str(errno.ENOMEM), MUSTER_SHIM_ALONE="1",
               MUSTER_SHIM_COUNT=f"{out}.count")
    job = subprocess.Popen([MUSTER, *TASK, "--grid", f"steps={steps}", "--out",
                            out], env=env, stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                           text=True)
    try:
        _, said = job.communicate(timeout=LIMIT_S)
        return job.returncode, said
    except subprocess.TimeoutExpired:
        job.kill()
        _, said = job.communicate()
        return None, said


def fails_judged(at):
    """Is that call one of the first model's scores?  Two trainings began, and
    the first is not written down."""
    out = Path(f"short{at}")
    status, _ = search("3,4", str(out), at)
    return (status == 1 and not (out / "scores-0-0").exists() and
            ((out / "trial-1-0").is_dir() or (out / "scores-1-0").exists()))


def main():
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", "shim.so",
                    str(HERE / "shim.c"), "-ldl"], check=True)
    status, said = search("3,4", "whole", 0)
    calls = max(map(int, Path("whole.count").read_text().split()))
    found = [at for at in range(1, calls + 1) if fails_judged(at)]
    good = status == 0 and len(found) > 0
    print(f"{'ok' if good else 'not ok'} 1 - a model that cannot be judged")
    ends = [search("3,1000000", f"long{at}", at) for at in found]
    good = good and all(status == 1 and "out of memory" in said
                        for status, said in ends)
    print(f"{'ok' if good else 'not ok'} 2 - it ends the search at once")
    if not good:
        print(f"# {status} {said} of {calls}: {found} {ends}")
    print("1..2")
    sys.exit(not good)


main()
