#!/usr/bin/env python3
"""A test that is told to end, by the runner or by hand, undoes what it did: the
user that it made, its daemons, its folders."""

import dataclasses
import importlib.util
import os
import pwd
import signal
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "lib"))
from cluster import Tap, alive, finish, happens, wait_for  # noqa: E402
import sshd  # noqa: E402

RUNNER = HERE.parent.parent / "tools" / "run_tests.py"
# What a test of ssh has under way: a user, an sshd, a launcher that nobody ends.
INSIDE = f"""
import os, select, subprocess, sys
sys.path.insert(0, {str(HERE / "lib")!r})
from cluster import MUSTER, wait_for
from sshd import Sshd
with Sshd() as host:
    host.place(MUSTER)
    launcher = subprocess.Popen(
        [MUSTER, "launch", "ssh", "--hosts", "node1", "--ssh-config",
         str(host.config), "--remote", "./muster", "--restart", "--", "train",
         "gen:gmm:400,5", "--steps", "1000000", "--optim", "agd"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(lambda: any("join" in words for _, words in host.processes()),
             "a worker")
    with open(sys.argv[1] + ".part", "w") as file:
        print(host.user, host.folder, os.getcwd(), launcher.pid, file=file)
    os.rename(sys.argv[1] + ".part", sys.argv[1])
    select.select([], [], [], 60)
"""


def runner():
    """tools/run_tests.py as a module."""
    spec = importlib.util.spec_from_file_location("run_tests", RUNNER)
    module = importlib.util.module_from_spec(spec)
    sys.modules["run_tests"] = module
    spec.loader.exec_module(module)
    return module


def has_user(name):
    return any(entry.pw_name == name for entry in pwd.getpwall())


def run_tests(program, noted):
    """As `tools/run_tests.py check` would run the one program."""
    module = runner()
    known = {"name": "inner", "tier": "check", "variant": "-", "jobs": 1,
             "timeout_s": 60, "turn": "once", "kind": "tap",
             "argument": f"exec {sys.executable} {program} {noted}"}
    suite = module.Suite(**{field.name: known[field.name] for field in
                            dataclasses.fields(module.Suite)})
    module.read_suites = lambda _: [suite]
    module.environment = lambda _, folder: dict(os.environ, TMPDIR=folder)
    sys.argv = [str(RUNNER), "check"]
    sys.exit(module.main())


def told_to_end(tap, how, words, number):
    """One process that has all of it under way gets the signal."""
    noted = os.path.abspath(f"noted-{how.replace(' ', '-')}")
    process = subprocess.Popen([sys.executable, *words, noted],
                               stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               text=True)
    wait_for(lambda: os.path.exists(noted) or process.poll() is not None,
             "it to be under way")
    if not os.path.exists(noted):
        tap.ok(False, f"{how}: under way", finish(process)[1])
        return
    user, folder, work, launcher = Path(noted).read_text().split()
    process.send_signal(number)
    said = finish(process)[1]
    tap.ok(not has_user(user), f"{how}: its user is removed", said)
    tap.ok(not os.path.exists(folder), "... and its folder", said)
    if "run_tests" in words:
        tap.ok(not os.path.exists(work), "... and the runner's", said)
        tap.ok(happens(lambda: not alive(int(launcher))),
               "... and who it started is gone", said)
    else:
        os.kill(int(launcher), signal.SIGKILL)


def main():
    tap = Tap()
    if why := sshd.lacking():
        tap.skip("a test that is told to end", why)
        tap.done()
    Path("inside.py").write_text(INSIDE)
    inside = os.path.abspath("inside.py")
    told_to_end(tap, "SIGTERM to a test", [inside], signal.SIGTERM)
    told_to_end(tap, "SIGINT to a test", [inside], signal.SIGINT)
    nested = [os.path.abspath(__file__), "run_tests", inside]
    told_to_end(tap, "SIGTERM to the runner", nested, signal.SIGTERM)
    told_to_end(tap, "SIGINT to the runner", nested, signal.SIGINT)
    tap.done()


if sys.argv[1:2] == ["run_tests"]:
    run_tests(*sys.argv[2:])
main()
