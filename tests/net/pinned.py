#!/usr/bin/env python3
"""As many local workers as processors: each has one of its own, whatever else
the run may use; with one worker more, or threads of a worker's own, nobody is
tied to any."""

import os
import signal
import sys

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/net/lib"))
from cluster import SMALL, Tap, Train, kill, wait_step

tap = Tap()
MAY = os.sched_getaffinity(0)


def processors(workers, threads):
    """Of each process of a run, by name."""
    out = f"run-{workers}-{threads}"
    train = Train(SMALL, "-n", workers, "--threads", threads, "--steps",
                  100000000, "--optim", "gd", "--out", out)
    wait_step(out, 3)
    found = {name: os.sched_getaffinity(pid)
             for name, pid in train.children()}
    kill(train.pid, signal.SIGTERM)
    train.finish()
    return found


def of_workers(found):
    return [may for name, may in found.items() if name.startswith("w")]


def main():
    if len(MAY) < 2:
        tap.skip("each worker has a processor of its own", "there is one here")
        tap.done()
    found = processors(len(MAY), 1)
    mine = of_workers(found)
    tap.ok(len(mine) == len(MAY) and all(len(may) == 1 for may in mine) and
           set.union(*mine) == MAY, "each worker has a processor of its own",
           found)
    tap.equal(found.get("coordinator"), MAY, "the coordinator has all")
    found = processors(len(MAY) + 1, 1)
    tap.ok(all(may == MAY for may in of_workers(found)),
           "one worker more: nobody is tied to any", found)
    found = processors(len(MAY), 2)
    tap.ok(all(may == MAY for may in of_workers(found)),
           "threads of a worker's own: nobody is tied to any", found)
    tap.done()


main()
