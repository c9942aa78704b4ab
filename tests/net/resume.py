#!/usr/bin/env python3
"""Ends and new beginnings: stop, resume, kill of the whole family, refusal to
overwrite a run or to resume another one; and nothing outlives `muster train`,
however it ends."""

import json
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from cluster import (Tap, Train, alive, finish, kill, place_of, run, status,
                     train, wait_for, wait_step)
from cluster import start as start_program

ONE = ["gen:gmm:4000,20", "--seed", 6, "--chunk-rows", 64, "--steps", 120]
GD = ["--optim", "gd"]
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


def kept(folder, name):
    """What the folder has of an option; None: nothing."""
    with open(os.path.join(folder, "config"), encoding="utf-8") as file:
        for line in file:
            if line.startswith(f"--{name}="):
                return line.rstrip("\n").split("=", 1)[1]
    return None


def last_said(tap, wanted):
    """What is said with --resume holds for the next one, which says nothing."""
    train(*ONE[:-1], 20, "-n", 2, "--out", "said", "--save", "said.model")
    job = Train("--resume=said", "--steps", 120, "--delay", "exp:0.02")
    wait_step("said", 30)
    kill(job.pid)
    job.finish()
    refused = train("--resume=said", "--steps", 60, "--l2", "0.5")
    tap.ok(refused["exit"] == 1, "another model does not go on", refused)
    tap.equal((kept("said", "steps"), kept("said", "l2")), ("120", None),
              "... and is not remembered")
    again = train("--resume=said")
    tap.equal((again.get("steps"), again.get("hash")), (120, wanted),
              "resumed to more steps, killed, resumed: all of them are made")
    with open("said.model.card.json", encoding="utf-8") as file:
        options = json.load(file)["options"]
    tap.equal((options.get("steps"), "resume" in options), (120, False),
              "... and are in the model's card")
    code, out, err = run("report", "said", "--format", "json")
    tap.ok(code == 0 and "--steps=120" in json.loads(out)["command"],
           "... and in the report's command", (code, out[:300], err))
    train("--resume=said", "--save", "copy.model")
    tap.equal(kept("said", "save"), "said.model",
              "a copy of what is over is no other run")


def save_said(tap):
    """The name of the model comes late, and the run is stopped once more."""
    job = Train(*DATA, "-n", 2, "--out", "late")
    wait_step("late", 5)
    kill(job.pid, signal.SIGINT)
    job.finish()
    job = Train("--resume=late", "--save", "late.model", "--delay", "exp:0.05")
    wait_step("late", 6)
    kill(job.pid, signal.SIGINT)
    tap.equal(job.finish()["exit"], 130, "stopped again")
    train("--resume=late")
    tap.ok(os.path.exists("late.model"), "the model is where it was to be")


def alone_said(tap):
    """The same of a run in one process, and what is left out when all is said
    again is gone."""
    rows = ["gen:gmm:40000,20", *GD, "--tol", 0, "--steps", 10000000]
    one = train(*rows, "--max-time", 0.3)["run"]
    more = train(f"--resume={one}", *GD, "--max-time", 0.2, "--steps", 20000000)
    tap.equal((more.get("run"), kept(one, "max-time"), kept(one, "steps")),
              (one, "0.2", "20000000"), "one process: the last said is kept")
    train(f"--resume={one}", *GD, "--l2", 7)
    tap.equal(kept(one, "l2"), None, "... and no option that is refused")
    job = Train(*rows, f"--resume={one}")
    wait_for(lambda: kept(one, "max-time") is None,
             "the command without its limit to be kept")
    kill(job.pid, signal.SIGINT)
    tap.equal(job.finish()["exit"], 130, "... nor one that is said no more")


def search_said(tap):
    """Of a search: the model was to be saved, and all its trainings are over."""
    rows = ["gen:gmm:400,5", *GD, "--steps", 5, "-n", 2, "-v", 2, "--grid",
            "l2=0.1,0.2"]
    train(*rows, "--out", "search")
    other = train("--resume=search", *GD, "--steps", 9)
    tap.equal((other["exit"], kept("search", "steps")), (1, "5"),
              "a search of other steps is refused, and they are not kept")
    train("--resume=search", *GD, "--save", "best.model")
    tap.equal((kept("search", "save"), kept("search", "l2"),
               os.path.exists("best.model")), ("best.model", None, True),
              "a search remembers its model's name, and not its winner")


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
    last_said(tap, wanted)
    save_said(tap)
    alone_said(tap)
    search_said(tap)
    tap.ok(run("status", "nowhere").returncode == 1, "status of nothing")
    other = train(*DATA, "-n", 2, "--resume", "a", "--l2", "0.5")
    tap.ok(other["exit"] != 0 and "error" in other,
           "other options do not resume it", other)
    tap.done()


main()
