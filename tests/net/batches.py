#!/usr/bin/env python3
"""Every row exactly once a pass, under kill -9 in mid-pass: the model counts.

Row i has a 1 in column i and nothing else, so weight i is moved by the batches
that row i is in, and by no others.  With a rate that halves at the end of each
pass a visit in pass p shrinks what weight i still lacks by 1 - q / 2^p: 1/2,
3/4, 7/8, whose powers tell visits of each pass apart (primes 3 and 7).  A short
last batch is divided by its true number of rows and so shrinks by more; how
many rows it has is then seen, too.  No trace is believed: what is counted is
what went into the model."""

import math
import os
import random
import select
import sys
from collections import Counter

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from cluster import (Tap, Train, finish, kill, place_of, start, status, train,
                     wait_for, wait_step)

PASSES = 3
SEED = int(os.environ.get("MUSTER_TEST_SEED", "1"))


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


def fewer(rows, batch, shuffle):
    """Rows of the smaller batches of a pass: of one, of all of them."""
    steps = -(-rows // batch)
    if shuffle == "rows":  # All but the last are full.
        return rows % batch, rows % batch
    least = rows // steps  # They differ by one at most.
    return least, least * (steps - rows % steps) if rows % steps else 0


def lacking(model, rows):
    """What each weight still lacks of its label, from a model file."""
    with open(model, encoding="ascii") as file:
        lines = file.read().split("\nw\n")[1].split()
    assert len(lines) == rows
    return [abs((1 if row % 2 else -1) - float(w))
            for row, w in enumerate(lines)]


def histories(rows, batch, share, shuffle):
    """What is lacking after each history: in which passes the row was in a
    smaller batch.  A row that was left out, or taken twice, has none of them."""
    full = batch if shuffle == "rows" else -(-rows // -(-rows // batch))
    small, some = fewer(rows, batch, shuffle)
    known = {}
    for bits in range(2 ** PASSES if some else 1):
        left = 1.0
        for number in range(PASSES):
            size = small if bits >> number & 1 else full
            left *= 1 - share / 2 ** number * batch / size
        known[bits] = left
    return known


def visits(tap, model, rows, batch, share, shuffle, name):
    known = histories(rows, batch, share, shuffle)
    seen = Counter()
    bad = []
    for row, left in enumerate(lacking(model, rows)):
        close = [bits for bits, wanted in known.items()
                 if math.isclose(left, wanted, rel_tol=1e-9)]
        if len(close) == 1:
            seen[close[0]] += 1
        else:
            bad.append((row, left))
    small = [sum(count for bits, count in seen.items() if bits >> number & 1)
             for number in range(PASSES)]
    wanted = fewer(rows, batch, shuffle)[1]
    tap.ok(not bad and small == [wanted] * PASSES,
           f"{name}: every row once in each of {PASSES} passes",
           f"seed {SEED}: {len(bad)} rows with other visits, as {bad[:5]}; "
           f"smaller batches have {small}, wanted {wanted}")


def names_of(out):
    now = status(out)
    return [worker["name"] for worker in now["workers"]] if now else []


def kill_often(job, rng, most):
    """Kill -9 of workers and the coordinator while the run goes on."""
    killed = Counter()
    while job.process.poll() is None and sum(killed.values()) < most:
        select.select([], [], [], rng.uniform(0.01, 0.04))
        family = [(n, p) for n, p in job.children()
                  if n[0] == "w" and n[1:].isdigit() or n == "coordinator"]
        if not family:
            continue
        name, pid = rng.choice(family)
        if kill(pid):
            killed["workers" if name[0] == "w" else "coordinators"] += 1
    return killed


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
    visits(tap, f"model{number}", rows, batch, share, shuffle, what)


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
    visits(tap, f"again-{shuffle}.model", rows, batch, share,
           shuffle, f"{shuffle}, resumed")


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
    visits(tap, f"{out}.model", rows, batch, share, shuffle,
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
