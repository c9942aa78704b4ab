#!/usr/bin/env python3
"""`status --why-slow` names the cause of real slowness: a process that is
stopped, a processor that others use, a road that is narrow.  Only the class is
judged, never a time."""

import json
import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from cluster import (Tap, Train, address_of, finish, kill, run, start, status,
                     wait_for, wait_step)
from proxy import Proxy

FOREVER = ["--steps", 10000000, "--code", "uncoded"]
RING = ["--steps", 10000000, "--topology", "ring"]
HOGS = 6


def ask(folder, name, *more):
    """What --why-slow says of a worker, or {}."""
    code, out, _ = run("status", folder, "--why-slow", "--format", "json",
                       *more)
    workers = json.loads(out)["workers"] if code == 0 else []
    return next((w for w in workers if w["name"] == name), {})


def behind(folder, name, factor, *more, cause=None):
    """What is said of a worker once it is that many times behind: by then its
    trouble fills the window, unless this machine has troubles of its own; so
    one may wait for the cause to be named."""
    def look():
        now = ask(folder, name, *more)
        return now if (now.get("factor") or 0) > factor and \
            cause in (None, now["cause"]) else None
    return wait_for(look, f"{name} to be behind, cause {cause}")


def end(job, folder):
    run("stop", folder)
    return job.finish()


def test_stopped(tap, where, folder, topology):
    job = Train("gen:gmm:20000,40", "-n", 3, *topology, "--out", folder)
    victim = job.wait_child("w1")
    wait_step(folder, 5)
    wait_for(lambda: ask(folder, "w1").get("factor"), "a factor")

    def silent():
        """Of a ring it is soon left out, and comes back once it goes on."""
        kill(victim, signal.SIGSTOP)
        now = wait_for(lambda: (lambda w: w if w.get("state") != "active" else
                                None)(ask(folder, "w1")), "suspicion")
        kill(victim, signal.SIGCONT)
        back = wait_for(lambda: (lambda w: w if w.get("state") == "active" else
                                 None)(ask(folder, "w1")), "its return")
        return now, back

    def suspected():
        now, _ = silent()
        return now if now.get("state") == "suspect" else None

    said = wait_for(suspected, "suspicion")
    tap.equal((said["cause"], said["factor"]), ("pause", None),
              f"{where}: stopped, silent: a pause, of no known factor")

    def awake():
        """Stopped most of the time, but heard of in between."""
        _, now = silent()
        return now if now.get("cause") else None

    said = wait_for(awake, "a cause")
    tap.equal(said["cause"], "pause",
              f"{where}: stopped again and again: a pause")
    tap.ok("stood still" in said["why"], f"{where}: in words, too", said)
    text = run("status", folder, "--why-slow").stdout
    tap.ok("workers are not behind" in text, f"{where}: as text for people",
           text)
    end(job, folder)


def pin(pid, cpu):
    for task in os.listdir(f"/proc/{pid}/task"):
        try:
            os.sched_setaffinity(int(task), {cpu})
        except ProcessLookupError:
            pass


def test_starved(tap, where, folder, topology):
    name = f"{where}: a processor that others use: compute"
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        tap.skip(name, "needs two processors")
        return
    hogs = []
    job = Train("gen:gmm:60000,60", "-n", 2, *topology, "--out", folder)
    try:
        wait_step(folder, 1)  # All threads are there.
        for child, pid in job.children():
            pin(pid, cpus[0] if child == "w1" else cpus[1])
        for _ in range(HOGS):
            hog = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            hogs.append(hog)
            os.sched_setaffinity(hog.pid, {cpus[0]})
        said = behind(folder, "w1", 3)
        tap.equal(said["cause"], "compute", name)
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()
    end(job, folder)


def test_narrow(tap):
    run("token", "new", "c.token")
    job = Train("gen:gmm:3000,1500", "-n", 2, *FOREVER, "--workers", "3:4",
                "--listen", "127.0.0.1:0", "--token-file", "c.token",
                "--out", "c")
    with Proxy(address_of("c")) as proxy:
        far = start("join", proxy.address, "--token-file", "c.token", "--name",
                    "far")
        wait_for(lambda: any(w["name"] == "far" and w["answers"] > 0
                             for w in (status("c", "--token-file", "c.token") or
                                       {"workers": []})["workers"]),
                 "an answer from far away")
        proxy.narrow(60000)
        said = behind("c", "far", 4, "--token-file", "c.token", cause="network")
        tap.equal(said["cause"], "network", "a narrow road: network")
        run("stop", "c", "--token-file", "c.token")
        job.finish()
        finish(far)


def main():
    tap = Tap()
    for where, topology in (("star", FOREVER), ("ring", RING)):
        test_stopped(tap, where, f"a-{where}", topology)
        test_starved(tap, where, f"b-{where}", topology)
    test_narrow(tap)
    tap.done()


main()
