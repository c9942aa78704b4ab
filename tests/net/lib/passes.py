"""Rows counted by the model: each moves one weight, at a rate that halves with
every pass, so that what a weight still lacks tells in which passes its row was,
and whether in a smaller batch (tests/net/batches.py)."""

import math
import os
import select
from collections import Counter

from cluster import kill, status

PASSES = 3
SEED = int(os.environ.get("MUSTER_TEST_SEED", "1"))


def fewer(rows, batch, shuffle):
    """Rows of the smaller batches of a pass: of one, of all of them."""
    steps = -(-rows // batch)
    if shuffle == "rows":  # All but the last are full.
        return rows % batch, rows % batch
    least = rows // steps  # They differ by one at most.
    return least, least * (steps - rows % steps) if rows % steps else 0


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


def visits(tap, lacking, batch, share, shuffle, name, tolerance=1e-9):
    """lacking[row]: the share that is left of what its weight lacked at first."""
    rows = len(lacking)
    known = histories(rows, batch, share, shuffle)
    seen = Counter()
    bad = []
    for row, left in enumerate(lacking):
        close = [bits for bits, wanted in known.items()
                 if math.isclose(left, wanted, rel_tol=tolerance)]
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
