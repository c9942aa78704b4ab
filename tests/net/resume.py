#!/usr/bin/env python3
"""Ends and new beginnings: stop, resume, kill of the whole family, refusal to
overwrite a run or to resume another one; and nothing outlives `muster train`,
however it ends."""

import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from cluster import (Tap, Train, alive, finish, kill, place_of, run, status,
                     train, wait_for, wait_step)
from cluster import start as start_program

ONE = ["gen:gmm:4000,20", "--seed", 6, "--chunk-rows", 64, "--steps", 120]
DATA = [*ONE, "--delay", "exp:0.01"]


def gone(pids):
    wait_for(lambda: not any(alive(p) for p in pids), "children to be gone", 5)
    return True


def start(folder):
    job = Train(*DATA, "-n", 3, "--out", folder)
    job.wait_child("coordinator")
    job.wait_child("w2")
    wait_step(folder, 5)
    return job, [pid for _, pid in job.children()]


def counted_once(tap, result, name):
    """Steps that a second life computed again are steps all the same."""
    classes = result.get("exactness", {})
    tap.equal((sum(classes.values()), result.get("steps")), (120, 120),
              f"{name}: each step is in one class, once")


def stop_and_kill(tap):
    """The coordinator dies between its word that it stops and the boundary."""
    job = Train(*ONE, "-n", 1, "--out", "told", "--delay", "shifted:3600,1")
    wait_for(lambda: (status("told") or {}).get("phase") == "round",
             "a step that takes an hour")
    code, out, err = run("stop", "told")
    kill(job.wait_child("coordinator"))
    result = job.finish(20)
    tap.equal((code, result["exit"], result.get("coordinator_deaths")),
              (0, 75, 1), "an acknowledged stop outlives the coordinator")


def joiners_come_back(tap, wanted):
    """Any port was asked for; the next life has the one of the last, where
    those who joined keep dialling."""
    away = ["--listen", "127.0.0.1:0", "--workers", 2]
    job = Train(*DATA, *away, "--out", "far")
    address = place_of("far")
    joined = [start_program("join", address, "--name", name) for name in ("a", "b")]
    wait_step("far", 5)
    kill(job.pid)
    job.finish()
    again = train(*DATA, *away, "--resume", "far")
    tap.equal(again.get("hash"), wanted, "killed and resumed: its joiners go on")
    tap.equal([finish(process, 20)[0] for process in joined], [0, 0],
              "... and end with it")


def main():
    tap = Tap()
    wanted = train(*ONE)["hash"]

    job, family = start("a")
    second = train(*DATA, "-n", 2, "--resume", "a")
    tap.ok(second["exit"] == 1 and "a run is going on" in second["error"],
           "two coordinators do not share a folder (P4)", second)
    code, out, err = run("stop", "a")
    result = job.finish()
    tap.equal(code, 0, "`muster stop` answers")
    tap.equal(result["exit"], 75, "a stopped run says: saved, start again")
    tap.ok(gone(family), "stop leaves no process")
    again = train(*DATA, "-n", 3, "--resume", "a")
    tap.equal(again.get("hash"), wanted, "stopped and resumed: same hash")
    twice = train(*DATA, "-n", 2, "--resume", "a")
    tap.equal(twice.get("hash"), wanted, "resuming a finished run: same hash")

    for number, name in ((signal.SIGTERM, "SIGTERM"), (signal.SIGINT,
                                                       "SIGINT")):
        job, family = start(name)
        kill(job.pid, number)
        result = job.finish()
        tap.ok(result["exit"] in (75, 128 + number),
               f"{name}: state saved ({result['exit']})", result)
        tap.ok(gone(family), f"{name} leaves no process")
        again = train(*DATA, "-n", 3, "--resume", name)
        tap.equal(again.get("hash"), wanted, f"{name}, resumed: same hash")

    job, family = start("b")
    kill(job.pid)
    job.finish()
    tap.ok(gone(family), "kill -9 of `muster train` leaves no process")
    again = train(*DATA, "-n", 3, "--resume", "b")
    tap.equal(again.get("hash"), wanted, "killed and resumed: same hash")
    counted_once(tap, again, "resumed after a kill")
    lives = train(*DATA, "-n", 3, "--out", "lives", "--chaos",
                  "kill:coordinator@45,kill:coordinator@71")
    tap.equal(lives.get("coordinator_deaths"), 2, "two coordinators die")
    counted_once(tap, lives, "three lives")

    refused = train(*DATA, "-n", 2, "--out", "b")
    tap.ok(refused["exit"] == 2 or refused["exit"] == 1 and
           "resume" in refused.get("error", ""),
           "a folder with a run in it is not overwritten", refused)
    short = train(*DATA, "-n", 2, "--max-time", 0.2, "--out", "c")
    tap.ok(short["exit"] == 0 and not short["finished"] and
           short["steps"] < 120, "--max-time ends at a step boundary", short)
    rest = train(*DATA, "-n", 2, "--resume", "c")
    tap.equal(rest.get("hash"), wanted, "and its rest ends on the same hash")
    stop_and_kill(tap)
    joiners_come_back(tap, wanted)
    tap.ok(run("status", "nowhere").returncode == 1, "status of nothing")
    other = train(*DATA, "-n", 2, "--resume", "a", "--l2", "0.5")
    tap.ok(other["exit"] != 0 and "error" in other,
           "other options do not resume it", other)
    tap.done()


main()
