#!/usr/bin/env python3
"""SIGTERM comes before every file call of a run that opens its door to owners
of private rows (shim.c): it ends, and leaves nothing."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

MUSTER = os.environ["MUSTER"]
HERE = Path(__file__).resolve().parent
KINDS = ("open", "write", "sync", "rename")
LIMIT_S = 120  # Against hangs only.
WAITS = ["train", "--model", "logistic", "--optim", "gd", "--lr", ".1",
         "--owners", "2", "--listen", "127.0.0.1:0", "--out", "owned",
         "--max-time", "3"]


def call(kind, at):
    env = dict(os.environ, LD_PRELOAD=str(Path("shim.so").resolve()),
               MUSTER_SHIM_KIND=kind, MUSTER_SHIM_AT=str(at),
               MUSTER_SHIM_SIGNAL=str(int(signal.SIGTERM)))
    return subprocess.run([MUSTER, *WAITS], env=env, timeout=LIMIT_S,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)


def sweep(kind):
    """How often it was heard, and what went wrong then."""
    heard, faults = 0, []
    at = 1
    while True:
        shutil.rmtree("owned", ignore_errors=True)
        done = call(kind, at)
        if "the time is up" in done.stderr:  # The door was open before.
            return heard, faults
        if done.returncode > 0:  # Else before anybody listened for signals.
            heard += 1
            if done.returncode != 128 + signal.SIGTERM or os.path.exists("owned"):
                faults.append(f"{kind} {at}: exit {done.returncode}, "
                              f"{sorted(map(str, Path('owned').rglob('*')))}, "
                              f"{done.stderr}")
        at += 1


def main():
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", "shim.so",
                    str(HERE / "shim.c"), "-ldl"], check=True)
    print(f"1..{len(KINDS)}")
    failed = False
    for number, kind in enumerate(KINDS, 1):
        heard, faults = sweep(kind)
        good = heard >= 3 and not faults
        failed |= not good
        print("ok" if good else "not ok", number, "-", kind, flush=True)
        print(f"# heard {heard} times", *faults[:5], sep="\n# ", flush=True)
    sys.exit(failed)


main()
