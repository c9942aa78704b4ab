#!/usr/bin/env python3
"""SIGSTOP is invisible to sockets: a stopped worker must be suspected, hedged,
declared dead, and come back after SIGCONT without anyone's help; a stopped and
continued coordinator likewise.  Always on the fault-free hash, by shared
memory and by sockets."""

import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from cluster import Tap, Train, happens, kill, status, train, wait_step

ONE = ["gen:gmm:4000,20", "--seed", 5, "--chunk-rows", 64, "--steps", 150]
DATA = [*ONE, "--delay", "exp:0.02"]
AWAY = ("suspect", "gone", "dead")


def worker_state(folder, name):
    now = status(folder)
    return next((w["state"] for w in (now or {}).get("workers", [])
                 if w["name"] == name), "gone")


def stop_and_continue(tap, wanted, road):
    bulk = ["--bulk", road]
    a, b = f"a-{road}", f"b-{road}"
    job = Train(*DATA, "-n", 4, "--code", "uncoded", *bulk, "--out", a)
    victim = job.wait_child("w1")
    wait_step(a, 5)
    kill(victim, signal.SIGSTOP)
    tap.ok(happens(lambda: worker_state(a, "w1") in AWAY),
           f"{road}: a stopped worker is suspected")
    before = status(a)["step"]
    tap.ok(happens(lambda: (status(a) or {}).get("step", 0) >= before + 3),
           f"{road}: the run goes on without it")
    kill(victim, signal.SIGCONT)
    tap.ok(happens(lambda: worker_state(a, "w1") not in AWAY),
           f"{road}: continued, it is back by itself")
    result = job.finish()
    tap.equal(result.get("hash"), wanted, f"{road}: stopped worker: same hash")

    job = Train(*DATA, "-n", 3, *bulk, "--out", b)
    coordinator = job.wait_child("coordinator")
    wait_step(b, 5)
    kill(coordinator, signal.SIGSTOP)
    kill(coordinator, signal.SIGCONT)
    for round_number in range(3):
        kill(job.wait_child(f"w{round_number}"), signal.SIGSTOP)
        kill(job.wait_child(f"w{round_number}"), signal.SIGCONT)
    result = job.finish()
    tap.equal(result.get("hash"), wanted,
              f"{road}: short stops everywhere: same hash")


def main():
    tap = Tap()
    wanted = train(*ONE)["hash"]
    for road in ("shm", "tcp"):
        stop_and_continue(tap, wanted, road)
    tap.done()


main()
