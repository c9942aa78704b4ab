#!/usr/bin/env python3
"""A run in one process under real signals: its state is saved, the sentence
says how to go on, and it ends on the hash of a run that nobody disturbed.
`muster-runs/latest` leads to the newest run for every command."""

import os
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from cluster import (MUSTER, Tap, Train, finish, kill, run, start, train,
                     wait_for)

del os.environ["MUSTER_OPTIM"]  # It would beat the option of a run resumed.

# For ever, as far as a test is concerned; how many steps are made does not
# decide the bits of those that are.
ONE = ["gen:gmm:4000,20", "--seed", 6, "--chunk-rows", 64, "--optim", "gd"]
ENDLESS = [*ONE, "--steps", 4000000000]
LATEST = Path("muster-runs/latest")


def begin(*more):
    """A run that has saved its state once."""
    job = Train(*ENDLESS, *more)
    wait_for(lambda: (LATEST / "checkpoint.0").exists(), "a first save")
    return job


def counted_once(tap, result, name):
    """Steps from before the interruption and after it, each in one class."""
    tap.equal(sum(result.get("exactness", {}).values()), result.get("steps"),
              f"{name}: as many steps as their classes come to")


def more_steps(tap, folder, steps, name, *more):
    """Go on for 50 steps; the same as without the interruption."""
    wanted = train(*ONE, "--steps", steps + 50)
    again = train(*folder, "--steps", steps + 50, *more)
    tap.ok(again["exit"] == 0 and again.get("hash") == wanted["hash"], name,
           again)
    counted_once(tap, again, name)
    return again


def signals(tap):
    """Each that asks for the end, with the exit code that clusters have."""
    for number, code, more in ((signal.SIGINT, 130, ()), (signal.SIGTERM, 75, ()),
                               (signal.SIGINT, 130, ("-q",))):
        name = " ".join((signal.Signals(number).name, *more))
        job = begin(*more)
        tap.ok(os.path.islink(LATEST), "latest is a link")
        answers = run("status")
        tap.ok(answers.returncode == 1 and "Ctrl-C" in answers.stderr,
               f"status says what kind of run it is", answers)
        kill(job.pid, number)
        ended = job.finish()
        tap.equal(ended["exit"], code, f"{name}: exit code")
        tap.ok(not ended["finished"] and
               f"muster train --resume={ended['run']}" in ended["stderr"],
               f"{name}: says how to go on", ended)
        more_steps(tap, ["--resume"], ended["steps"],
                   f"{name}, resumed: the undisturbed hash")
        tap.ok(not Path("muster-runs").exists(),
               "a run that is over leaves no state", os.listdir("."))


def at_once(tap):
    """kill -9 leaves what was saved last; workers may go on with it."""
    job = begin()
    kill(job.pid)
    job.finish()
    again = train("--resume", "muster-runs/latest", "-n", 2, "--max-time", 1)
    tap.ok(again["exit"] == 0 and again["steps"] > 0,
           "killed: two workers go on with it", again)
    counted_once(tap, again, "killed")
    wanted = train(*ONE, "--steps", again["steps"])
    tap.equal(again["hash"], wanted["hash"], "... to the undisturbed hash")
    page = run("report")
    tap.ok(page.returncode == 0 and (LATEST / "report.html").exists(),
           "report takes the latest run", page)
    other = train("--resume", "--lr", 0.5)
    tap.ok(other["exit"] != 0 and "other data or options" in other["error"],
           "other options are refused", other)
    for path, words in (("status", "nobody is running it"),
                        ("stop", "no run is going on")):
        done = run(path)
        tap.ok(done.returncode == 1 and words in done.stderr,
               f"{path} without an argument looks there too", done)


def status_of_workers(tap):
    """The same words of a run that does answer."""
    job = Train(*ENDLESS, "-n", 2)
    wait_for(lambda: run("status").returncode == 0, "an answer")
    done = run("stop")
    tap.ok(done.returncode == 0 and job.finish()["exit"] == 75,
           "stop without an argument ends the latest run", done)


def latest_goes_back(tap):
    """A run that is over leaves `latest` to the newest there is; without it
    that is meant all the same, and numbers go on."""
    os.mkdir("back")
    os.chdir("back")
    first = train(*ONE, "--steps", 5, "-n", 2)["run"]
    job = Train(*ENDLESS)
    wait_for(lambda: len(list(Path("muster-runs").glob("0002-*/checkpoint.0")))
             == 1, "a first save")
    kill(job.pid, signal.SIGINT)
    ended = job.finish()
    again = train("--resume", "--steps", ended["steps"] + 5)
    tap.equal(again["exit"], 0, "the second run is resumed to its end")
    tap.equal(os.path.basename(os.path.realpath(LATEST)),
              os.path.basename(first), "latest goes back to the first")
    os.unlink(LATEST)
    page = run("report")
    tap.ok(page.returncode == 0 and Path(first, "report.html").exists(),
           "report finds the newest run without a link", page)
    status = run("status")
    tap.ok(first in status.stderr, "status does", status)
    again = train("--resume", "--steps", 8)
    tap.ok(again["exit"] == 0 and again["run"] == first, "--resume does",
           again)
    os.unlink(LATEST)
    second = train(*ONE, "--steps", 5, "-n", 2)["run"]
    tap.ok(second.startswith("muster-runs/0002-"), "numbers go on", second)
    os.chdir("..")


def quick(tap):
    """What is over soon leaves nothing."""
    os.mkdir("quick")
    os.chdir("quick")
    train(*ONE, "--steps", 5)
    tap.equal(os.listdir("."), [], "a quick run leaves no folder")
    os.chdir("..")


def nothing_kept(tap):
    """Folds, grids and sgd end with a sentence."""
    many = [str(word) for word in ONE]
    for name, more in (("-v", ["--steps", "4000000000", "-v", "4"]),
                       ("--grid", ["--steps", "4000000000", "--grid",
                                   "l2=0.1,0.2"])):
        job = start("train", *many, *more)
        wait_for(lambda: trains(job.pid), "the handler")
        kill(job.pid, signal.SIGINT)
        code, _, err = finish(job)
        tap.ok(code == 130 and "of folds and grids nothing is kept" in err,
               f"Ctrl-C during {name}", (code, err))
    job = start("train", *many[:-2], "--optim", "sgd", "--steps",
                "4000000000")
    wait_for(lambda: trains(job.pid), "the handler")
    kill(job.pid, signal.SIGINT)
    code, _, err = finish(job)
    tap.ok(code == 130 and "keeps no state" in err, "Ctrl-C during sgd",
           (code, err))


def caught(pid):
    return Path(f"/proc/{pid}/status").read_text()


def catches(pid, number):
    """Does the process handle that signal?"""
    line = next((each for each in caught(pid).splitlines()
                 if each.startswith("SigCgt:")), "SigCgt: 0")
    return int(line.split()[1], 16) >> (number - 1) & 1


def trains(pid):
    """Are its rows read?  Until then who handles signals has an event, too."""
    try:
        return catches(pid, signal.SIGINT) and not any(
            "eventfd" in os.readlink(entry)
            for entry in Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return False  # A file was closed meanwhile.


def folds_told(tap):
    """Folds that were made are told, those that Ctrl-C left out are not."""
    process = subprocess.Popen(
        [MUSTER, "train", "gen:gmm:20000,50", "-v", "20", "--optim", "gd",
         "--lr", ".1", "--steps", "2000", "--threads", "1"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True)
    first = next((line for line in process.stderr if line.startswith("fold ")),
                 "")
    kill(process.pid, signal.SIGINT)
    rest = process.stderr.read()
    told = [line for line in rest.splitlines() if line.startswith("fold ")]
    tap.ok(process.wait(timeout=60) == 130 and ": 2000 steps" in first and
           not any(": 0 steps" in line for line in told),
           "Ctrl-C between folds tells of none that was not made",
           first + rest)


def main():
    tap = Tap()
    quick(tap)
    latest_goes_back(tap)
    signals(tap)
    at_once(tap)
    status_of_workers(tap)
    nothing_kept(tap)
    folds_told(tap)
    tap.done()


main()
