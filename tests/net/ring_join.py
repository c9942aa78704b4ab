#!/usr/bin/env python3
"""`muster join` into a ring: a machine that brings nothing is sent everything
by whichever peers are there, becomes one of them, serves others, and ends with
the same model to the byte; whoever is killed meanwhile."""

import os
import random
import select
import sys
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
import journal
from cluster import (Tap, Train, address_of, child_named, finish, happens,
                     kill, result_of, run, start, status, train, wait_for)

SEED = int(os.environ.get("MUSTER_TEST_SEED", "1"))
KEY = ["--token-file", "cluster.token"]
RING = ["--topology", "ring", "--listen", "127.0.0.1:0", *KEY]
LONG = ["gen:gmm:20000,40", "--seed", 4, "--chunk-rows", 64, "--lr", "1e-3",
        "--steps"]
ENDLESS = [*LONG, 10 ** 6] # Until somebody says stop.
TASKS = {
    "lbfgs": ["gen:linear:3000,20", "--optim", "lbfgs", "--chunk-rows", 64],
    "a hinge with kinks": ["gen:gmm:3000,20", "--model", "hinge", "--chunk-rows",
                           64, "--steps", 60],
    "softmax": ["gen:digits:500", "--model", "softmax", "--optim", "newton",
                "--steps", 15, "--chunk-rows", 16],
    "words and weights": ["words.csv", "--label", "y", "--weight", "w",
                          "--chunk-rows", 8],
    "sparse rows": ["sparse.svm", "--chunk-rows", 16],
    "held-out rows": ["gen:gmm:3000,20", "--optim", "momentum", "--batch", 200,
                      "--passes", 6, "--patience", 3],
    "sparse rows held out": ["sparse.svm", "--optim", "adam", "--batch", 32,
                             "--passes", 6, "--patience", 2],
    "a network": ["gen:digits:500", "--net", "dense24 relu dense10", "--optim",
                  "adam", "--steps", 40],
    "a network of numbers, held-out rows": [
        "words.csv", "--label", "size", "--net", "dense8 tanh dense1", "--optim", "adam",
        "--chunk-rows", 5, "--passes", 5, "--batch", 20, "--patience", 3],
}


def write_files():
    rng = random.Random(7)
    lines = ["colour,size,y,w"]
    for _ in range(200):
        colour, size = rng.choice(["red", "blue, dark", "green"]), rng.random()
        y = "yes" if size + (colour == "red") > rng.random() + .4 else "no"
        lines.append(f'"{colour}",{size:.6f},{y},{rng.randint(1, 3)}')
    Path("words.csv").write_text("\n".join(lines) + "\n")
    rows = []
    for _ in range(300):
        columns = sorted(rng.sample(range(1, 3000), rng.randint(1, 30)))
        label = 1 if sum(columns) % 7 < 3 else -1
        rows.append(f"{label} " + " ".join(f"{j}:{rng.gauss(0, 1):.5f}"
                                           for j in columns))
    Path("sparse.svm").write_text("\n".join(rows) + "\n")
    assert run("token", "new", "cluster.token").returncode == 0
    assert run("token", "new", "far.token", "--name", "far", "--from",
               "cluster.token").returncode == 0


def join(address, *more):
    return start("join", address, *KEY, "--threads", "1", "--chunk-cache",
                 "none", "--format", "json", *more)


def joined(process):
    code, out, err = finish(process)
    result = result_of(out)
    result.update(exit=code, stderr=err)
    return result


def is_peer(address, name):
    now = status(address, *KEY) or {"workers": []}
    return any(w["name"] == name and w["state"] == "active"
               for w in now["workers"])


def place_of(address, name):
    """Where others dial this peer."""
    def look():
        now = status(address, *KEY) or {"workers": []}
        return next((w["place"] for w in now["workers"] if w["name"] == name
                     and w["state"] == "active"), None)
    return wait_for(look, f"{name} in a view")


def one_model(tap, number, name, task):
    """Three peers form the first view, so the third must be the joiner."""
    alone = train(*task, f"alone{number}", "--force")
    job = Train(*task, f"ring{number}", "--force", "-n", 2, "--workers", 3,
                *RING, "--out", f"run{number}")
    third = joined(join(address_of(f"run{number}"), "--name", "third",
                        "--save", f"third{number}",
                        # What a star's joiner may say; a ring has none.
                        *(["--ship", "coordinator"] if number == 0 else [])))
    result = job.finish()
    wanted = Path(f"alone{number}").read_bytes()
    tap.ok(third["exit"] == 0 and third.get("hash") == alone["hash"] and
           result.get("hash") == alone["hash"] and
           result["workers"]["joined"] == 3,
           f"{name}: ring and joiner have one process's hash",
           f"{alone.get('hash')} {result} {third}")
    tap.ok(Path(f"third{number}").read_bytes() == wanted,
           f"{name}: the joiner's file is that of one process")


def stop(address):
    done = run("stop", address, *KEY)
    assert done.returncode == 0, done.stderr


def on_the_path(results):
    """All were stopped at one step, with one process's weights of that step."""
    steps = {result.get("steps") for result in results}
    return (len(steps) == 1 and {r.get("hash") for r in results} ==
            {train(*LONG, steps.pop())["hash"]})


def in_mid_run(tap):
    """Joiners of joiners; the peers that began it are killed; two stay."""
    job = Train(*ENDLESS, "-n", 2, *RING, "--out", "mid")
    first = address_of("mid")
    wait_for(lambda: journal.last_step("mid/w0") > 20, "steps")
    one = join(first, "--name", "one")
    place = place_of(first, "one")
    two = join(place, "--name", "two")
    other = place_of(place, "two")
    kill(job.pid)
    job.finish()
    three = join(place, "--name", "three")
    place_of(other, "three")
    kill(child_named(one.pid, "one"))
    one.communicate()
    tap.ok(happens(lambda: is_peer(other, "three") and
                   not is_peer(other, "one")),
           "those who began it and a joiner are killed: two joiners go on")
    stop(other)
    results = [joined(two), joined(three)]
    tap.ok(on_the_path(results), "joined through a joiner: the same hash",
           results)


def killed_on_the_way(tap, rng):
    """At any moment of joining: the joiner itself, or whom it dialled."""
    job = Train(*ENDLESS, "-n", 4, *RING, "--out", "way")
    address = address_of("way")
    wait_for(lambda: journal.last_step("way/w3") > 5, "steps")
    for _ in range(10):
        process = join(address)
        select.select([], [], [], rng.uniform(0, 0.4))
        process.kill()
        process.communicate()
    stayed = []
    for number, pid in enumerate(sorted(p for _, p in job.children())[:3]):
        stayed.append(join(address, "--name", f"stays{number}"))
        while "fetching" not in stayed[-1].stderr.readline():
            pass
        kill(pid) # For good: the rest comes from others.
        wait_for(lambda: address_of("way") != address, "another's address")
        address = address_of("way") # Of the first that lives.
    alive = [happens(lambda: is_peer(address, f"stays{number}"))
             for number in range(len(stayed))]
    tap.ok(all(alive), "joiners whose peer was killed go on with others",
           f"seed {SEED}: {alive}")
    stop(address)
    results = [joined(process) for process in stayed] + [job.finish()]
    tap.ok(on_the_path(results),
           "... and the ring, 10 of whose joiners were killed, is on its path",
           f"seed {SEED}: {results}")


def turned_away(tap):
    job = Train(*ENDLESS, "-n", 1, *RING, "--out", "shut")
    address = address_of("shut")
    own = run("join", address, "--token-file", "far.token")
    tap.ok(own.returncode != 0 and "cluster's token" in own.stderr,
           "a worker's own token opens no ring", own.stderr)
    private = run("join", address, *KEY, "--data-private", "sparse.svm")
    tap.ok(private.returncode != 0 and "--owners" in private.stderr,
           "private rows are told what ring has them",
           private.stderr)
    wrong = run("join", address, *KEY, "--save", "x.csv")
    tap.ok(wrong.returncode == 2 and "x.csv" in wrong.stderr and
           "LIBLINEAR" in wrong.stderr,
           "a name that no model has is refused before training", wrong.stderr)
    leaver = join(address, "--name", "leaver")
    place_of(address, "leaver")
    leaver.terminate()
    left = joined(leaver)
    tap.ok(left["exit"] == 0 and left.get("finished") is False,
           "SIGTERM leaves", left)
    job.process.terminate()
    job.finish()
    local = Train(*ENDLESS, "-n", 1, "--topology", "ring", "--out", "in")
    address_of("in")
    shut = run("join", "in")
    tap.ok(shut.returncode != 0 and "--listen" in shut.stderr,
           "a ring of one machine says how it is joined", shut.stderr)
    local.process.terminate()
    local.finish()


def main():
    tap = Tap()
    rng = random.Random(SEED)
    write_files()
    for number, (name, task) in enumerate(TASKS.items()):
        one_model(tap, number, name, task)
    in_mid_run(tap)
    killed_on_the_way(tap, rng)
    turned_away(tap)
    tap.done()


main()
