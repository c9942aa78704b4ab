#!/usr/bin/env python3
"""A signal that asks a program to end comes before every file call of commands
in one process, and before the first of a run with workers (shim.c).  A training
that is done is saved, one that is not goes on with --resume, to the same model;
one that still reads its rows says so and leaves nothing; what is written is the
old file or the new one, and no file of our own is left beside it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

MUSTER = os.environ["MUSTER"]
HERE = Path(__file__).resolve().parent
ASKING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
KINDS = ("open", "write", "sync", "rename")
LIMIT_S = 120  # Against hangs only.
PLACES_MAX = 40
FIRST = 12  # Calls of a run with workers: until its rows are read, and some.
UNBEGUN = b"nothing is kept: start it again"

TRAIN = ["train", "rows.svm", "made", "--optim", "agd", "--steps", "4", "-q"]
COMMANDS = {
    "train": TRAIN,
    "workers": [*TRAIN, "-n", "2", "--out", "muster-runs"],
    "grid": [*TRAIN, "--grid", "l2=.1,1", "--folds", "2"],
    "predict": ["predict", "rows.svm", "model", "made"],
    "convert": ["model", "convert", "model", "made"],
}
# What goes on.
RESUMED = {"train": "--resume", "workers": "--resume=muster-runs"}


def call(args, **shim):
    env = dict(os.environ, **{f"MUSTER_SHIM_{k}": str(v)
                              for k, v in shim.items()})
    if shim:
        env["LD_PRELOAD"] = str(Path("shim.so").resolve())
    return subprocess.run([MUSTER, *args], env=env, timeout=LIMIT_S,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)


def clean():
    subprocess.run("rm -rf made* muster-runs count", shell=True, check=True)


def made():
    path = Path("made")
    return path.read_bytes() if path.exists() else None


def fault(done, number, want, kept):
    """What is wrong with how it ended, or None.  `kept`: where its run is."""
    left = sorted(str(p) for p in Path(".").rglob("*.tmp*"))
    if left:
        return f"left {left[0]}"
    if made() not in (None, want):
        return "half a file"
    if done.returncode == 0:
        return None if made() == want else "success without a file"
    if done.returncode < 0 and made():
        return None
    if UNBEGUN in done.stderr or done.returncode < 0:
        if made() or Path("muster-runs").exists():
            return "something is left of what had not begun"
        return None if done.returncode in (128 + number, -number) \
            else f"exit {done.returncode}: {done.stderr}"
    if kept and done.returncode in (75, 130):
        call(["train", kept, "-q"])
        return None if made() == want else f"not resumed: {done.stderr}"
    if done.returncode > 0:
        return f"exit {done.returncode}: {done.stderr}"
    return None


def sweep(name, number, kind, want):
    """How many calls there are, and what went wrong at some of them."""
    clean()
    args = COMMANDS[name]
    call(args, KIND=kind, AT=0, COUNT="count", ALONE=1)
    calls = max(int(n) for n in Path("count").read_text().split())
    places = sorted({1 + i * (calls - 1) // (PLACES_MAX - 1)
                     for i in range(PLACES_MAX)}) if calls else []
    if name == "workers":
        places = range(1, FIRST + 1)
    faults, saved = [], 0
    for at in places:
        clean()
        done = call(args, KIND=kind, AT=at, SIGNAL=int(number), ALONE=1)
        what = fault(done, number, want, RESUMED.get(name))
        saved += done.returncode == 0
        if what:
            faults.append(f"{kind} {at} of {calls}: {what}")
    return calls, saved, faults


def main():
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", "shim.so",
                    str(HERE / "shim.c"), "-ldl"], check=True)
    Path("rows.svm").write_text("".join(
        f"{1 if i % 3 else -1} 1:{i % 5} 3:{i % 4 + .5}\n" for i in range(80)))
    call(["train", "rows.svm", "model", "--optim", "agd", "--steps", "2"])
    print(f"1..{len(COMMANDS) * len(ASKING)}")
    failed, count = False, 0
    for name, args in COMMANDS.items():
        clean()
        call(args)
        want = made()
        for number in ASKING:
            calls, saved, faults = 0, 0, []
            for kind in KINDS:
                more = sweep(name, number, kind, want)
                calls, saved = calls + more[0], saved + more[1]
                faults += more[2]
            # The model and its two cards are written, synced and renamed: a
            # training is over before these nine calls.
            good = not faults and want and calls >= 4 and \
                (name not in ("train", "grid") or saved >= 9)
            count += 1
            failed |= not good
            print("ok" if good else "not ok", count, "-", name, "under",
                  number.name, flush=True)
            if not good:
                print(f"# {calls} calls, {saved} saved", *faults[:5],
                      sep="\n# ", flush=True)
    sys.exit(failed)


main()
