#!/usr/bin/env python3
"""Every experiment of the papers for real: `muster reproduce all`, with the data
sets that are at hand (../shared/data beside the repository, or $RAW), and the
seconds that each took.  On two processors most of the time is ring-mnist's,
half an hour.

    bench/reproduce.py [NAME]     # all of them without a name

The pages, and of all of them results.md, are left in the folder that the last
line names."""

import itertools
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MUSTER = os.environ.get("MUSTER", str(ROOT / "build" / "muster"))
RAW = Path(os.environ.get("RAW", ROOT.parent / "shared" / "data"))


def main():
    to = tempfile.mkdtemp(prefix="muster-results-")
    raw = ["--raw", str(RAW)] if RAW.is_dir() else []
    run = subprocess.Popen(
        [MUSTER, "reproduce", *(sys.argv[1:] or ["all"]), *raw, "--to", to],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    name, began = None, time.monotonic()
    for line in itertools.chain(run.stderr, ["end: "]):
        if line.startswith(" ") or ": " not in line:
            continue  # A run of the experiment.
        now = time.monotonic()
        if name:
            print(f"{name:<18} {now - began:8.1f} s", flush=True)
        name, began = line.split(":")[0], now
    if run.wait() != 0:
        sys.exit(f"reproduce: exit status {run.returncode}")
    print(to)


main()
