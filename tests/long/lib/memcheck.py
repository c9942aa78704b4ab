"""Programs under valgrind's memcheck, the children they fork included.

Every process writes a log of its own; whatever it says there is a finding,
also if it was killed before it could say how it ended.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "net" / "lib"))

OPTIONS = ["-q", "--leak-check=full", "--show-leak-kinds=definite",
           "--errors-for-leak-kinds=definite",
           f"--suppressions={HERE / 'memcheck.supp'}"]


def skip_without_valgrind():
    if shutil.which("valgrind") is None:
        print("1..0 # SKIP valgrind is not installed")
        sys.exit(0)


def prefix(logs):
    """What to put before a command."""
    return ["valgrind", *OPTIONS, f"--log-file={logs}/%p"]


def findings(logs):
    """What valgrind said of all processes."""
    found = sorted(Path(logs).iterdir())
    if not found:
        return "valgrind wrote no log: nothing was checked"
    return "".join(log.read_text(errors="replace") for log in found)


def check(command, timeout_s):
    """Run it; returns (exit status, its output, findings)."""
    with tempfile.TemporaryDirectory() as logs:
        try:
            done = subprocess.run(prefix(logs) + [str(a) for a in command],
                                  stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True,
                                  errors="replace", timeout=timeout_s,
                                  check=False)
            status, output = done.returncode, done.stdout
        except subprocess.TimeoutExpired:
            status, output = -1, f"still running after {timeout_s} s"
        return status, output, findings(logs)


def wrapper(folder, logs):
    """A program that is muster under valgrind, for scripts that run $MUSTER."""
    path = Path(folder) / "muster"
    words = " ".join(f"'{word}'" for word in
                     [*prefix(logs), os.environ["MUSTER"]])
    path.write_text(f"#!/bin/sh\nexec {words} \"$@\"\n")
    path.chmod(0o755)
    return path
