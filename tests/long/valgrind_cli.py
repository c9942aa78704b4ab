#!/usr/bin/env python3
"""The commands of the goldens (tests/cli) under valgrind.  What they print is
compared elsewhere."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))
import memcheck  # noqa: E402
from cluster import Tap  # noqa: E402

TIMEOUT_S = 600


def end_group(leader):
    """Whatever the script left running in the background."""
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        pass


def run_script(script):
    """Returns what valgrind found."""
    with tempfile.TemporaryDirectory() as folder:
        logs = Path(folder) / "logs"
        work = Path(folder) / "work"
        logs.mkdir()
        work.mkdir()
        env = dict(os.environ, MUSTER=str(memcheck.wrapper(folder, logs)))
        shell = subprocess.Popen(
            ["sh", str(script)], cwd=work, env=env, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True)
        try:
            shell.wait(TIMEOUT_S)
        except subprocess.TimeoutExpired:
            return f"still running after {TIMEOUT_S} s"
        finally:
            end_group(shell.pid)
            shell.wait()
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
