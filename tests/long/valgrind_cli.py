#!/usr/bin/env python3
"""The commands of the goldens (tests/cli) under valgrind.  What they print is
compared elsewhere."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))
import memcheck  # noqa: E402
from cluster import Tap  # noqa: E402

TIMEOUT_S = 600


def run_script(script):
    """Returns what valgrind found."""
    with tempfile.TemporaryDirectory() as folder:
        logs = Path(folder) / "logs"
        work = Path(folder) / "work"
        logs.mkdir()
        work.mkdir()
        env = dict(os.environ, MUSTER=str(memcheck.wrapper(folder, logs)))
        try:
            subprocess.run(["sh", str(script)], cwd=work, env=env,
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, timeout=TIMEOUT_S,
                           check=False)
        except subprocess.TimeoutExpired:
            return f"still running after {TIMEOUT_S} s"
        return memcheck.findings(logs)


def main():
    tap = Tap()
    memcheck.skip_without_valgrind()
    folder = Path(os.environ["ROOT"]) / "tests" / "cli"
    for script in sorted(folder.glob("*.sh")):
        found = run_script(script)
        tap.ok(not found, script.stem, found[:6000])
    tap.done()


main()
