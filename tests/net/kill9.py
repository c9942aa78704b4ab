#!/usr/bin/env python3
"""kill -9, again and again (must hold 3): workers and the coordinator, at
random moments, checkpoints included (every step is made durable, so most kills
of the coordinator hit disk work).  At least 200 kills, shared memory and
sockets in turn; every run must end on the fault-free hash; those that had
joined are counted."""

import os
import random
import select
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from cluster import Tap, Train, alive, kill, train

KILLS = 200
SEED = int(os.environ.get("MUSTER_TEST_SEED", "1"))
DATA = ["gen:gmm:20000,50", "--seed", 4, "--chunk-rows", 64, "--steps", 400]


def written(number):
    """Bytes of a run's journal."""
    path = f"run{number}/journal"
    return os.path.getsize(path) if os.path.exists(path) else 0


def one_run(rng, number, tap, hash_wanted):
    """Kill at random until the run ends; returns (kills, workers killed,
    workers that the run counts as dead)."""
    road = ("shm", "tcp")[number % 2]
    job = Train(*DATA, "-n", 4, "--respawn", "--sync", "--bulk", road,
                "--out", f"run{number}")
    killed = {"w": 0, "c": 0}
    seen = -1
    job.wait_child("coordinator")
    while job.process.poll() is None and killed["w"] + killed["c"] < 25:
        select.select([], [], [], rng.uniform(0.01, 0.06))
        family = [(n, p) for n, p in job.children()
                  if n[0] == "w" and n[1:].isdigit() or n == "coordinator"]
        if not family:
            continue
        # A coordinator needs time to come back; kill it less often, and not
        # before its journal has grown: five deaths in a row without a step
        # end a run, which a busy machine would make of kills by the clock.
        name, pid = rng.choice(family)
        if name == "coordinator" and (rng.random() < 0.3 or
                                      written(number) <= seen):
            continue
        if kill(pid):
            killed[name[0]] += 1
            seen = written(number) if name == "coordinator" else seen
    result = job.finish()
    tap.ok(result["exit"] == 0 and result.get("hash") == hash_wanted,
           f"run {number}, {road}: {killed['w']} workers and {killed['c']} "
           "coordinators killed, same hash",
           f"seed {SEED}: {result}")
    died = result.get("workers", {}).get("died", -1)
    # One killed before it joined, or when the run was over, is not counted.
    tap.ok(0 <= died <= killed["w"],
           f"run {number}: workers.died counts nobody else",
           f"seed {SEED}: killed {killed['w']}, died {died}")
    return killed["w"] + killed["c"], killed["w"], died


def main():
    tap = Tap()
    rng = random.Random(SEED)
    wanted = train(*DATA)["hash"]
    kills = runs = victims = counted = 0
    while kills < KILLS and runs < 20:
        more, workers, died = one_run(rng, runs, tap, wanted)
        kills += more
        victims += workers
        counted += died
        runs += 1
    tap.ok(kills >= KILLS, f"{kills} kills in {runs} runs")
    tap.ok(counted >= .8 * victims, f"{counted} of {victims} killed workers "
           "had joined and are counted")
    tap.done()


main()
