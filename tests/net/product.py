#!/usr/bin/env python3
"""Coded products with real processes: whichever workers, or the coordinator,
are killed with kill -9, whoever is slow or joins, and in whatever order numbers
lie in the files, A times B is the product that is rounded once, to 1e-12; what
was stopped is gone on with, and only with the same matrices."""

import itertools
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))
import npy  # noqa: E402
from cluster import (MUSTER, Tap, child_named, finish, kill,  # noqa: E402
                     place_of, result_of, run, start, status, wait_for,
                     wait_step)

ROWS, INNER, COUNT = 120, 20, 12
NEAR = 1e-12
A = npy.draw(ROWS, INNER, 1)
def begun(tap):
    """A signal that comes once the matrices are read and nobody works yet."""
    for how in (signal.SIGINT, signal.SIGTERM):
        codes = []
        for _ in range(5):
            process = subprocess.Popen(
                [MUSTER, "product", *FILES, "begun.npy", *CODE, *SLOW],
                stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
            process.stderr.readline()
            kill(process.pid, how)
            process.communicate()
            codes.append(process.returncode)
        tap.equal(set(codes), {128 + how}, f"begun, and {how.name}")


B = npy.draw(INNER, COUNT, 2)
FILES = ["A.npy", "B.npy"]
CODE = ["--code", "mds:k=3", "-n", "5"]
SLOW = ["--delay", "exp:0.2"]  # Columns enough for someone to act meanwhile.


def same(tap, name, done, path, b=B):
    """The product is there, and right."""
    code, out, err = done
    result = result_of(out)
    good = code == 0 and result.get("residual", 1) <= NEAR and \
        result.get("approximate") == 0
    worst = npy.apart(A, b, npy.read(path)[1]) if good else None
    tap.ok(good and worst <= NEAR, f"{name}: the product to 1e-12",
           (code, worst, out, err))
    return result


def product(out, *more, files=None):
    return run("product", *(files or FILES), out, *more, "--format", "json")


def begin(out, *more):
    return start("product", *FILES, out, *more, "--format", "json")


def every_pair(tap):
    for one, two in itertools.combinations(range(5), 2):
        out = f"pair{one}{two}.npy"
        done = product(out, *CODE, "--chaos", f"kill:w{one}@2,kill:w{two}@4")
        same(tap, f"w{one} and w{two} killed", done, out)


def elastic(tap):
    done = product("cec.npy", "--code", "cec:l=2:p=8", "-n", "4", "--chaos",
                   "kill:w0@1,join@2,kill:w1@3,kill:w2@4")
    same(tap, "elastic: three of four killed, one joined", done, "cec.npy")
    done = product("many.npy", "--code", "cec:l=20:p=60", "-n", "30",
                   "--exact", "numeric")
    same(tap, "elastic: any twenty of thirty", done, "many.npy")


def forms(tap):
    npy.write("columns.npy", A, by_columns=True)
    npy.write("vector.npy", B, vector=True)
    done = product("order.npy", *CODE, files=["columns.npy", "B.npy"])
    same(tap, "A by columns", done, "order.npy")
    tap.equal(npy.read("order.npy")[0], (ROWS, COUNT), "a matrix is a matrix")
    first = [row[:1] for row in B]
    done = product("vector-out.npy", *CODE, files=["A.npy", "vector.npy"])
    same(tap, "a vector", done, "vector-out.npy", first)
    tap.equal(npy.read("vector-out.npy")[0], (ROWS,), "a vector is a vector")
    done = product("uncoded.npy", "--code", "uncoded", "-n", "3")
    result = same(tap, "uncoded", done, "uncoded.npy")
    tap.equal(result.get("residual"), 0, "uncoded: nothing to decode")
    same(tap, "one worker", product("one.npy"), "one.npy")
    done = product("code.npy", "--code", "uncoded", "-n", "3", "--chaos",
                   "kill:w1@3")
    result = same(tap, "uncoded, one killed", done, "code.npy")
    tap.equal([result.get(key) for key in ("workers", "enough", "workers_at_end",
                                           "enough_at_end")], [3, 3, 2, 2],
              "the code that it ended with is told beside the first")


def killed(tap):
    """From outside: a worker, then the coordinator, then more than s."""
    process = begin("killed.npy", *CODE, "--out", "killed", *SLOW)
    pids = {name: child_named(process.pid, name)
            for name in ("w0", "w2", "w3", "coordinator")}
    wait_step("killed", 1)
    kill(pids["w2"])
    wait_step("killed", 2)
    kill(pids["coordinator"])
    wait_step("killed", 3)
    kill(pids["w0"])
    kill(pids["w3"])
    result = same(tap, "three workers and the coordinator killed",
                  finish(process), "killed.npy")
    tap.equal(result.get("coordinator_deaths"), 1, "the coordinator died once")


def late_is_in(out):
    now = status(out)
    return now and "late" in [worker["name"] for worker in now["workers"]]


def joined(tap):
    """Nobody has rows; one is killed, and another takes its place."""
    process = begin("joined.npy", "--code", "mds:k=2", "--workers", "3:5",
                    "--listen", "127.0.0.1:0", "--out", "joined", *SLOW)
    place_of("joined")
    far = [start("join", "joined", "--name", f"w{i}") for i in range(3)]
    wait_step("joined", 1)
    kill(far[1].pid)
    far.append(start("join", "joined", "--name", "late"))
    wait_for(lambda: late_is_in("joined"), "the late one to join")
    same(tap, "blocks sent, one killed, one joined", finish(process),
         "joined.npy")
    for worker in far:
        finish(worker, 10)


def stopped(tap):
    """What was stopped wrote nothing, and goes on where it was."""
    args = [*CODE, "--out", "stopped", *SLOW]
    process = begin("stopped.npy", *args)
    wait_step("stopped", 2)
    kill(process.pid, signal.SIGTERM)
    code, out, err = finish(process)
    tap.ok(code == 75 and not Path("stopped.npy").exists()
           and "goes on from" in out, "stopped: nothing is written",
           (code, out, err))
    code, out, err = run("status", "stopped")
    tap.ok(code == 1 and "the command that began it, given again" in err,
           "status says what goes on with it", (code, out, err))
    code, out, err = run("train", "--resume=stopped")
    tap.ok(code == 1 and "the command that began it again" in err,
           "and train what it lacks to do so", (code, out, err))
    npy.write("other.npy", npy.draw(INNER, COUNT, 3))
    code, out, err = run("product", "A.npy", "other.npy", "stopped.npy", *args,
                         "--format", "json")
    tap.ok(code != 0 and not Path("stopped.npy").exists(),
           "another B does not go on with it", (code, out, err))
    process = begin("stopped.npy", *args)
    wait_step("stopped", COUNT - 3)
    kill(process.pid, signal.SIGINT)
    tap.equal(finish(process)[0], 128 + signal.SIGINT, "Ctrl-C: as of train")
    done = product("stopped.npy", *args)
    same(tap, "gone on with", done, "stopped.npy")
    code, out, err = run("product", *FILES, "again.npy", *args)
    tap.ok(code == 0 and "0.000 s, none of them now" in out,
           "columns of an earlier life are not divided by", (code, out, err))


def gone(tap):
    """Without --out there is nothing to go on with: the signal is told."""
    process = begin("gone.npy", *CODE, "--delay", "exp:5")
    child_named(process.pid, "w0")
    kill(process.pid, signal.SIGTERM)
    code, out, err = finish(process)
    tap.ok(code == 128 + signal.SIGTERM, "nothing kept: ended by a signal",
           (code, out, err))


def slow(tap):
    """Any three of five: who is slow, or stopped, is waited for by nobody."""
    done = product("slow.npy", *CODE, "--delay", "bimodal:.3,5+exp:0.01")
    same(tap, "with delays", done, "slow.npy")
    process = begin("held.npy", *CODE, "--out", "held", *SLOW)
    held = [child_named(process.pid, name) for name in ("w1", "w4")]
    wait_step("held", 1)
    for pid in held:
        kill(pid, signal.SIGSTOP)
    same(tap, "two stopped workers", finish(process), "held.npy")


def main():
    tap = Tap()
    npy.write("A.npy", A)
    npy.write("B.npy", B)
    every_pair(tap)
    elastic(tap)
    forms(tap)
    killed(tap)
    joined(tap)
    stopped(tap)
    begun(tap)
    gone(tap)
    slow(tap)
    tap.done()


main()
