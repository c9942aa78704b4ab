#!/usr/bin/env python3
"""Machines that are taken away: the notice of each provider, from a server on
loopback, and a file.  A worker that is told leaves in good order; a run that is
told saves its state, ends with 75 and goes on to the same hash."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))
from cluster import (Tap, place_of, finish, perfect_hash,  # noqa: E402
                     result_of, run, start, status, train_args, wait_for,
                     wait_step)
from metadata import Aws, Azure, Gcp  # noqa: E402

STEPS = 300
PLACES = {"aws": Aws, "gcp": Gcp, "azure": Azure}


class File:
    """The form without a server."""

    def __init__(self, name):
        self.path = Path(name)
        self.looks = 2
        self.wrong = 0

    def take(self):
        self.path.touch()

    def close(self):
        self.path.unlink()


def place(kind):
    """A place to ask, and the flags that say so."""
    if kind == "file":
        one = File("taken")
        return one, ["--preempt-notice", "file:taken"]
    one = PLACES[kind]()
    return one, ["--preempt-notice", kind, "--preempt-address", one.address]


def joined(out):
    now = status(out)
    return now and len(now["workers"]) == 2


def worker(tap, kind, wanted):
    """A joiner is told, and the run goes on without it: a run that takes much
    longer than the four looks that it may need."""
    out = f"worker-{kind}"
    one, flags = place(kind)
    process = start(*train_args(out, "-n", "1", "--delay", "exp:0.04",
                                "--listen", "127.0.0.1:0", steps=STEPS))
    joiner = start("join", place_of(out), "--name", "spot", *flags)
    try:
        wait_for(lambda: joined(out), "the joiner")
        wait_for(lambda: one.looks >= 2, "two looks")
        tap.ok(joiner.poll() is None, f"{kind}: no notice, no leave")
        one.take()
        code, _, err = finish(joiner, 20)
        tap.ok(code == 0 and "taken away" in err,
               f"{kind}: a worker that is told leaves", f"{code} {err}")
    except AssertionError as error:
        tap.ok(False, f"{kind}: a worker that is told leaves", error)
    code, text, err = finish(process)
    result = result_of(text)
    tap.ok(code == 0 and result.get("hash") == wanted,
           f"{kind}: the same hash", f"{code} {result} {err}")
    workers = result.get("workers", {})
    tap.ok(workers.get("left") == 1 and workers.get("died") == 0,
           f"{kind}: it left, it did not die", workers)
    tap.equal(one.wrong, 0, f"{kind}: asked as the provider wants")
    one.close()


def job(tap, kind, wanted):
    """The machine of the coordinator is told."""
    out = f"job-{kind}"
    one, flags = place(kind)
    process = start(*train_args(out, "-n", "2", "--delay", "exp:0.03", *flags,
                                "--max-time", "600", steps=STEPS))
    wait_step(out, 3)
    one.take()
    code, text, err = finish(process)
    result = result_of(text)
    tap.ok(code == 75 and 0 < result.get("steps", 0) < STEPS,
           f"{kind}: the whole job is told: saved, 75", f"{code} {text} {err}")
    one.close()
    again = run("train", "--resume", out, "--format", "json",
                timeout=60)
    tap.equal(result_of(again.stdout).get("hash"), wanted,
              f"{kind}: told and resumed: the same hash")


def nobody_answers(tap, wanted):
    """A provider that cannot be asked is said once, and is no notice."""
    one = Gcp()
    address = one.address
    one.close()
    code, text, err = finish(start(
        *train_args("nobody", "-n", "1", "--delay", "exp:0.01",
                    "--preempt-notice", "gcp", "--preempt-address", address,
                    steps=STEPS)))
    tap.ok(code == 0 and result_of(text).get("hash") == wanted,
           "no answer is no notice", f"{code} {text}")
    tap.equal(err.count("cannot be asked for"), 1, "and is said once")


def main():
    tap = Tap()
    wanted = perfect_hash(STEPS)
    for kind in (*PLACES, "file"):
        worker(tap, kind, wanted)
        job(tap, kind, wanted)
    nobody_answers(tap, wanted)
    tap.done()


main()
