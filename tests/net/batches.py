#!/usr/bin/env python3
"""Every row exactly once a pass, under kill -9 in mid-pass: the model counts.

Row i has a 1 in column i and nothing else, so weight i is moved by the batches
that row i is in, and by no others.  With a rate that halves at the end of each
pass a visit in pass p shrinks what weight i still lacks by 1 - q / 2^p: 1/2,
3/4, 7/8, whose powers tell visits of each pass apart (primes 3 and 7).  A short
last batch is divided by its true number of rows and so shrinks by more; how
many rows it has is then seen, too.  No trace is believed: what is counted is
what went into the model."""

import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from cluster import (Tap, Train, finish, held, kill, place_of, start, train,
                     wait_for, wait_step)
from passes import PASSES, SEED, kill_often, names_of, visits


def write_rows(name, rows):
    with open(name, "w", encoding="ascii") as file:
        for row in range(rows):
            file.write(f"{1 if row % 2 else -1} {row + 1}:1\n")


def options(name, rows, batch, share, shuffle):
    """A visit of a batch of that size in pass p shrinks by 1 - share / 2^p."""
    steps = -(-rows // batch)
    return [name, "--model", "linear", "--no-intercept", "--l2", 0, "--optim",
            "gd", "--batch", batch, "--shuffle", shuffle, "--passes", PASSES,
            "--chunk-rows", 4, "--lr", share * batch / 2, "--schedule", "step",
            "--decay", .5, "--decay-every", steps]


def lacking(model, rows):
    """What each weight still lacks of its label, from a model file."""
    with open(model, encoding="ascii") as file:
        lines = file.read().split("\nw\n")[1].split()
    assert len(lines) == rows
    return [abs((1 if row % 2 else -1) - float(w))
            for row, w in enumerate(lines)]


def killed_run(tap, rng, number, rows, batch, share, shuffle, more):
    name = f"rows{rows}"
    write_rows(name, rows)
    base = options(name, rows, batch, share, shuffle)
    wanted = train(*base)["hash"]
    job = Train(*base, "-n", 4, "--respawn", "--sync", "--delay", "exp:0.004",
                *more, "--out", f"run{number}", "--save", f"model{number}")
    job.wait_child("coordinator")
    killed = kill_often(job, rng, 12)
    result = job.finish()
    what = f"{shuffle}, {rows} rows, batches of {batch}{''.join(' ' + m for m in more)}"
    tap.ok(sum(killed.values()) >= 4 and result.get("hash") == wanted,
           f"{what}: {killed['workers']} workers and {killed['coordinators']} "
           "coordinators killed, same hash", f"seed {SEED}: {killed} {result}")
    visits(tap, lacking(f"model{number}", rows), batch, share, shuffle, what)


def resumed_run(tap, shuffle):
    """kill -9 of the whole family in the middle of the second pass."""
    rows, batch, share = 400, 16, .5
    write_rows("again", rows)
    base = options("again", rows, batch, share, shuffle)
    job = Train(*base, "-n", 2, "--delay", "exp:0.01", "--out",
                f"again-{shuffle}")
    wait_step(f"again-{shuffle}", 30)
    kill(job.pid)
    job.finish()
    result = train(*base, "-n", 3, "--resume", f"again-{shuffle}", "--save",
                   f"again-{shuffle}.model")
    tap.equal(result.get("hash"), train(*base)["hash"],
              f"{shuffle}: killed in mid-pass and resumed, same hash")
    visits(tap, lacking(f"again-{shuffle}.model", rows), batch, share, shuffle,
           f"{shuffle}, resumed")


def joined_run(tap, shuffle):
    """All rows, or its own, are sent to each who joins, here and from one to
    the other; one is killed, one comes late."""
    rows, batch, share, out = 390, 16, .25, f"joined-{shuffle}"
    write_rows("joined", rows)
    base = options("joined", rows, batch, share, shuffle)
    job = Train(*base, "--listen", "127.0.0.1:0", "--workers", 3, "--delay",
                "exp:0.01", "--out", out, "--save", f"{out}.model")

    def join(name):
        return start("join", place_of(out), "--name", name, "--chunk-cache",
                     "none")
    first = [join(f"far-{i}") for i in range(3)]
    wait_step(out, 20)
    with held(*first):
        late = join("late")
        wait_for(lambda: "late" in names_of(out), "the late one")
    kill(first[0].pid)
    result = job.finish()
    ends = [finish(joiner, 20)[0] for joiner in (*first[1:], late)]
    tap.ok(result.get("hash") == train(*base)["hash"] and ends == [0, 0, 0],
           f"{shuffle}: joiners work, one dies: same hash", (result, ends))
    sent, chunks = result.get("data", {}), -(-rows // 4)
    if shuffle == "rows":
        tap.ok(sent["shipped"] + sent["peers"] >= 4 * chunks,
               "rows: each is sent all chunks of the data", sent)
    visits(tap, lacking(f"{out}.model", rows), batch, share, shuffle,
           f"{shuffle}, joined")


def main():
    tap = Tap()
    rng = random.Random(SEED)
    number = 0
    for shuffle in ("rows", "local"):
        for rows, batch, share, more in ((384, 16, .5, ["--bulk", "tcp"]),
                                         (390, 16, .25, ["--bulk", "shm"]),
                                         (390, 24, .125, ["--fanout", "2"]),
                                         (384, 16, .5, ["--code", "frc"])):
            killed_run(tap, rng, number, rows, batch, share, shuffle, more)
            number += 1
        resumed_run(tap, shuffle)
        joined_run(tap, shuffle)
    tap.done()


main()
