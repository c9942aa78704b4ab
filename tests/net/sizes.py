#!/usr/bin/env python3
"""`muster set RUN size=20%`: samples of another size from the next pass on.  The
run ends with the same model, whether or not its coordinator, or all of it, was
killed after that and made steps again; and what cannot be changed is refused."""

import json
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
import journal
from cluster import (Tap, Train, finish, kill, place_of, run, start, status,
                     wait_for, wait_step)

PASS = 10  # Steps.
STEPS = 4 * PASS
DATA = ["gen:gmm:6000,20", "--steps", STEPS, "--batch", 6000 // PASS, "--seed",
        3, "--chunk-rows", 64, "--optim", "gd", "--listen", "127.0.0.1:0",
        "--workers", 5]
CODE = "flexent:shadows=1:size=10%"
# So slow that it is always the one left out; another is waited for.
SLOW = "worker:w2=20000"
SLOWLY = SLOW + "+worker:w0=1500"


def begin(out, *more, code=CODE, delay=SLOW):
    """A run that waits for its workers, and answers meanwhile."""
    job = Train(*DATA, "--code", code, "--delay", delay, "--out", out, *more)
    place_of(out)
    wait_for(lambda: status(out), "an answer")
    return job


def change(tap, out, size, name):
    code, text, err = run("set", out, f"size={size}", "--format", "json")
    said = json.loads(text) if code == 0 else err
    tap.equal(said, {"size": float(size), "step": PASS}, f"{name}: it is told "
              "from which step on")


def join(out):
    return [start("join", out, "--name", f"w{i}") for i in range(5)]


def end(tap, name, job, workers):
    result = job.finish()
    for worker in workers:
        finish(worker, 20)
    tap.equal((result["exit"], result.get("steps")), (0, STEPS),
              f"{name}: it ends")
    return result


def whole(tap, name, sizes=(), chaos=None):
    """One run, to its end."""
    job = begin(name, *(["--chaos", chaos] if chaos else []))
    for size in sizes:
        change(tap, name, size, name)
    return end(tap, name, job, join(name))


def killed(tap, wanted):
    """Who needs more than a second to dial again is not in the next view, and
    its rows are others': a busy machine has three chances."""
    chaos = f"kill:coordinator@{PASS + 5},kill:coordinator@{2 * PASS + 3}"
    for i in range(3):
        got = whole(tap, f"dead{i}", ["0.2"], chaos)
        if got["hash"] == wanted:
            break
    tap.equal((got["hash"], got.get("coordinator_deaths")), (wanted, 2),
              "the coordinator is killed twice: the same model")


def resumed(tap, name, size):
    """The whole family is killed after the change, which is not in a checkpoint:
    all steps are made again, those before it with the size they had."""
    job = begin(name, delay=SLOWLY)
    change(tap, name, size, name)
    workers = join(name)
    wait_step(name, PASS + 2)
    coordinator = job.wait_child("coordinator")
    kill(job.pid)
    kill(coordinator)
    tap.equal(job.finish()["exit"], -9, f"{name}: killed on its way")
    again = Train(*DATA, "--code", CODE, "--delay", SLOW, "--resume", name)
    place_of(name)
    return end(tap, name, again, workers)


def size_at(out):
    """Where in the journal the change is."""
    for number, record in enumerate(journal.records(out)):
        if record[0] == journal.SIZE:
            return number * journal.RECORD
    raise AssertionError("no change in the journal")


def cut(tap, name):
    """A journal that ends before the change, in words: a run that is further has
    no receipts for some steps, one without a checkpoint misses nothing else."""
    job = begin(name, delay=SLOWLY)
    change(tap, name, "0.2", name)
    shutil.copytree(name, f"{name}-early", ignore=shutil.ignore_patterns(
        "checkpoint*"))
    workers = join(name)
    wait_step(name, PASS + 2)
    tap.equal(run("stop", name)[0], 0, f"{name}: stopped behind the change")
    job.finish()
    for worker in workers:
        finish(worker, 20)
    for folder, lost in ((name, True), (f"{name}-early", False)):
        os.truncate(f"{folder}/journal", size_at(folder))
        again = Train(*DATA, "--code", CODE, "--delay", SLOW, "--resume",
                      folder)
        place_of(folder)
        size = wait_for(lambda: status(folder), "an answer").get("size")
        kill(again.pid)
        said = again.finish()["stderr"]
        tap.ok(size == 0.1 and "samples of size 10%" in said and
               ("a change that `muster set` made" in said) == lost,
               f"{folder}, cut before the change: that is told", (size, said))


def check_refused(tap):
    job = begin("refused")
    for setting, words in (("size=0", "0.1% to 100%"), ("shadows=2", "size="),
                           ("size=2", "0.1% to 100%")):
        code, _, err = run("set", "refused", setting)
        tap.ok(code == 2 and words in err, f"{setting}: refused", (code, err))
    kill(job.pid)
    job.finish()
    other = begin("other", code="uncoded")
    code, _, err = run("set", "other", "size=20%")
    tap.ok(code == 1 and "uncoded draws no samples" in err,
           "another code: refused", (code, err))
    kill(other.pid)
    other.finish()
    search = begin("search", "-v", 2)
    code, _, err = run("set", "search", "size=20%")
    tap.ok(code == 1 and "one training of a search" in err,
           "a search, whose trainings are compared: refused", (code, err))
    kill(search.pid)
    search.finish()


def main():
    tap = Tap()
    old = whole(tap, "old")
    new = whole(tap, "new", ["0.2"])
    tap.ok(new["hash"] != old["hash"], "another size, another model")
    run("report", "new")
    with open("new/report.html", encoding="utf-8") as page:
        tap.ok('"20%"' in page.read(), "the report tells of the change")
    twice = whole(tap, "twice", ["0.5", "0.2"])
    tap.equal(twice["hash"], new["hash"], "the last word of a pass counts")
    killed(tap, new["hash"])
    tap.equal(resumed(tap, "resumed", "0.2")["hash"], new["hash"],
              "all of it is killed, and resumed: the same model")
    cut(tap, "cut")
    check_refused(tap)
    tap.done()


main()
