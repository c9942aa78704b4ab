#!/usr/bin/env python3
"""Networks on real processes: one hash for any number of workers and threads,
over relays, with every answer compared, with workers and coordinators killed
with kill -9 in mid-pass, resumed there and joined there, for both shuffles; and
every row exactly once a pass.

Rows are counted as in batches.py, by a network of one dense layer.  Row i has
100,000 in column i and nothing else, which makes what its bias learns too
little to be seen (lib/passes.py compares to 1e-4): a visit shrinks what weight
i lacks by a factor that tells the pass."""

import json
import os
import random
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from cluster import (Tap, Train, address_of, alive, finish, kill, own_key,
                     place_of, start, train, wait_for, wait_step)
from passes import PASSES, SEED, kill_often, names_of, visits
from proxy import DOWN, Proxy

VALUE = 1e5
ROWS = 390
BATCH = 16
SHARE = .25
EACH = -(-ROWS // BATCH)  # Steps of a pass.


def digits(shuffle):
    """A step of 4 microbatches, 10 in a pass, the last of them short."""
    return ["gen:digits:300", "--net", "conv3x3x4/2 relu pool2 drop.25 dense16 tanh dense10",
            "--optim", "adam", "--batch", 32, "--chunk-rows", 8, "--passes", 3, "--seed", 4, "--shuffle", shuffle]


def counted(shuffle, rate=None):
    return ["rows", "--net", "dense1", "--model", "linear", "--l2", 0, "--optim", "gd", "--batch",
            BATCH, "--shuffle", shuffle, "--passes", PASSES, "--chunk-rows", 4, "--lr",
            rate or SHARE * BATCH / VALUE ** 2, "--schedule", "step", "--decay", .5,
            "--decay-every", EACH]


def write_rows():
    with open("rows", "w", encoding="ascii") as file:
        for row in range(ROWS):
            file.write(f"{label(row)} {row + 1}:{VALUE:.0f}\n")


def label(row):
    return 1 if row % 2 else -1


def weights(model):
    """Of the only layer, from a safetensors file; half the labels are 1, half
    -1, so that they are learned as they are."""
    with open(model, "rb") as file:
        data = file.read()
    head = 8 + struct.unpack("<Q", data[:8])[0]
    first, end = json.loads(data[8:head])["0.weight"]["data_offsets"]
    return struct.unpack(f"<{ROWS}f", data[head + first:head + end])


def lacking(model):
    """The share that is left of what each weight lacked at first."""
    return [(label(row) / VALUE - last) / (label(row) / VALUE - first)
            for row, (first, last) in enumerate(zip(weights("first"), weights(model)))]


def count(tap, model, shuffle, name):
    visits(tap, lacking(model), BATCH, SHARE, shuffle, f"{shuffle}, {name}", tolerance=1e-4)


def any_machines(tap, shuffle):
    job = digits(shuffle)
    wanted = train(*job, "--threads", 1)["hash"]
    for more in (["--threads", 2], ["--threads", 4], ["-n", 1], ["-n", 2, "--threads", 2],
                 ["-n", 5], ["-n", 8], ["-n", 4, "--fanout", 2], ["-n", 3, "--verify"],
                 ["-n", 4, "--code", "frc"], ["-n", 3, "--bulk", "tcp"],
                 ["-n", 4, "--fanout", 2, "--verify"]):
        tap.equal(train(*job, *more).get("hash"), wanted,
                  f"{shuffle}: {' '.join(map(str, more))}")


def killed(tap, rng, job, name, more):
    """Workers and coordinators, while it runs."""
    run = Train(*job, "-n", 4, "--respawn", "--sync", "--delay", "exp:0.004", *more, "--out",
                f"run-{name}", "--save", f"{name}.model")
    run.wait_child("coordinator")
    gone = kill_often(run, rng, 10)
    result = run.finish()
    tap.ok(sum(gone.values()) >= 4 and result.get("hash") == train(*job)["hash"],
           f"{name}: {gone['workers']} workers and {gone['coordinators']} coordinators killed "
           f"{' '.join(more)}: same hash", f"seed {SEED}: {gone} {result}")


def killed_runs(tap, rng, shuffle):
    for number, more in enumerate((["--bulk", "tcp"], ["--fanout", "2"], ["--verify"])):
        killed(tap, rng, digits(shuffle), f"{shuffle}-{number}", more)
    for way in ("tcp", "shm"):
        name = f"{shuffle}-{way}"
        killed(tap, rng, counted(shuffle), name, ["--bulk", way])
        count(tap, f"{name}.model", shuffle, f"killed, {way}")


def resumed_run(tap, job, shuffle, step, name):
    """kill -9 of the whole family in mid-pass, at a second's distance from the
    end."""
    folder = f"again-{name}"
    run = Train(*job, "-n", 2, "--delay", "exp:0.05", "--out", folder)
    run.wait_child("coordinator")
    wait_step(folder, step)
    family = [pid for _, pid in run.children()]
    kill(run.pid)
    run.finish()
    wait_for(lambda: not any(alive(pid) for pid in family), "children to be gone")
    result = train(*job, "-n", 3, "--resume", folder, "--save", f"{name}.model")
    tap.equal(result.get("hash"), train(*job)["hash"],
              f"{shuffle}: killed after step {step} and resumed, same hash")


def joined_run(tap, shuffle):
    """Over TLS; one is killed and one comes in mid-pass."""
    job, out = counted(shuffle), f"joined-{shuffle}"
    run = Train(*job, "--listen", "127.0.0.1:0", "--workers", 3, "--delay", "exp:0.02", "--out",
                out, "--save", f"{out}.model")

    def join(name):
        return start("join", place_of(out), "--name", name, "--chunk-cache", "none")
    first = [join(f"far-{i}") for i in range(3)]
    wait_step(out, EACH // 2)
    late = join("late")
    wait_for(lambda: "late" in names_of(out), "the late one")
    kill(first[0].pid)
    result = run.finish()
    ends = [finish(joiner, 20)[0] for joiner in (*first, late)][1:]
    tap.ok(result.get("hash") == train(*job)["hash"] and ends == [0, 0, 0],
           f"{shuffle}: one joins in mid-pass, one dies: same hash", (result, ends))
    count(tap, f"{out}.model", shuffle, "joined")


def narrow(tap):
    """Weights travel as floats.  So many that a ROUND is read where it is
    computed from, which `digits` is too small for."""
    weights, steps, out = 785 * 128 + 129 * 10, 20, "narrow"
    job = ["gen:digits:320", "--net", "dense128 relu dense10", "--optim", "adam",
           "--steps", steps, "--seed", 4]
    wanted = train(*job)["hash"]
    for more in (["--bulk", "tcp"], ["--bulk", "shm"], ["--fanout", 2]):
        tap.equal(train(*job, "-n", 3, *more).get("hash"), wanted,
                  f"{weights} weights, {' '.join(map(str, more))}")
    run = Train(*job, "--listen", "127.0.0.1:0", "--workers", 1, "--out", out)
    with Proxy(address_of(out)) as proxy:
        joiner = start("join", proxy.address, "--name", "far", *own_key(out))
        result = run.finish()
        finish(joiner, 20)
    # Rows, of a byte a pixel, come once; some 30,000 bytes are said besides.
    each = (proxy.carried[DOWN] - 320 * 784) / steps / weights
    tap.ok(result.get("hash") == wanted and 3.9 < each < 4.5,
           "weights travel as floats: same hash, 4 bytes each", f"{each} bytes each: {result}")


def main():
    tap = Tap()
    narrow(tap)
    rng = random.Random(SEED)
    write_rows()
    for shuffle in ("rows", "local"):
        # The weights that it begins with: at this rate a step moves none.
        train(*counted(shuffle, 1e-300)[:-2], "--decay-every", 1, "--save", "first")
        any_machines(tap, shuffle)
        killed_runs(tap, rng, shuffle)
        resumed_run(tap, digits(shuffle), shuffle, 14, f"digits-{shuffle}")
        resumed_run(tap, counted(shuffle), shuffle, EACH + EACH // 2, f"rows-{shuffle}")
        count(tap, f"rows-{shuffle}.model", shuffle, "resumed")
        joined_run(tap, shuffle)
    tap.done()


main()
