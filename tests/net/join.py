#!/usr/bin/env python3
"""Machines that join over the network, with and without tokens.

Each "machine" is a `muster join` process on this one; its data is shipped.
"""

import os
import signal
import socket
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))
from cluster import (Tap, place_of, finish, kill,  # noqa: E402
                     perfect_hash, result_of, run, start, status, train_args,
                     wait_for, wait_step, write_rows)

STEPS = 300
QUICK_S = 3.0  # A refusal is not waited for.


def names_of(out, *more):
    now = status(out, *more)
    return [worker["name"] for worker in now["workers"]] if now else []


def join_all(out, count, *more):
    address = place_of(out)
    return [start("join", address, "--name", f"far-{i}", *more)
            for i in range(count)]


def end_all(tap, name, process, joiners, wanted, gone=()):
    code, text, err = finish(process)
    result = result_of(text)
    tap.ok(code == 0 and result.get("hash") == wanted,
              f"{name}: the same hash", f"{code} {result} {err}")
    codes = [finish(joiner, 10)[0] for joiner in joiners]
    tap.ok(all(code == 0 for i, code in enumerate(codes) if i not in gone),
              f"{name}: joiners end well", codes)
    return result


def plain(tap, wanted):
    out = "plain"
    process = start(*train_args(out, "-n", "1", "--delay", "exp:0.005",
                                "--listen", "127.0.0.1:0", steps=STEPS))
    joiners = join_all(out, 3)
    try:
        wait_for(lambda: len(names_of(out)) == 4, "all to join")
        kill(joiners[0].pid)
        joiners[1].send_signal(signal.SIGTERM)
        left, _, err = finish(joiners[1], 10)
        tap.ok(left == 0, "a joiner leaves on SIGTERM", err)
    except AssertionError as error:
        tap.ok(False, "joiners are let in", error)
    result = end_all(tap, "plain", process, joiners, wanted, gone=(0,))
    workers = result.get("workers", {})
    tap.ok(workers.get("died") == 1 and workers.get("left") == 1 and
              workers.get("joined") == 4, "plain: all are counted", workers)
    tap.equal(result.get("code"), "steal",
              "plain: a run that is joined has the code of those who join")


def sealed(tap, wanted):
    out = "sealed"
    for arguments in (["cluster.token"],
                      ["far-0.token", "--name", "far-0", "--from",
                       "cluster.token"],
                      ["other.token"]):
        done = run("token", "new", *arguments)
        tap.ok(done.returncode == 0, f"token new {arguments[0]}",
                  done.stderr)
    key = ["--token-file", "cluster.token"]
    process = start(*train_args(out, "-n", "1", "--delay", "exp:0.01",
                                "--listen", "0.0.0.0:0", *key, steps=STEPS))
    address = place_of(out)
    wait_step(out, 1, *key)
    joiners = [start("join", address, "--token-file", "far-0.token"),
               start("join", address, "--name", "far-1", *key)]
    refused(tap, "no token", "token", ["join", address, "--name", "x"])
    refused(tap, "another cluster's token", "token",
            ["join", address, "--name", "x", "--token-file", "other.token"])
    refused(tap, "another worker's name", "far-0",
            ["join", address, "--name", "x", "--token-file", "far-0.token"])
    refused(tap, "status without a token", "token",
            ["status", out, "--format", "json"])
    worker_stop = run("stop", out, "--token-file", "far-0.token", "--format",
                      "json")
    tap.ok(worker_stop.returncode == 1 and "only the cluster token" in
           worker_stop.stdout + worker_stop.stderr,
           "a worker's token does not stop a run", worker_stop)
    coordinator = run(*train_args("worker-token", "-n", "1", "--token-file",
                                  "far-0.token"))
    tap.ok(coordinator.returncode != 0 and "cluster token" in
              coordinator.stdout + coordinator.stderr,
              "a worker's token does not make a coordinator", coordinator)
    end_all(tap, "sealed", process, joiners, wanted)


def refused(tap, name, word, arguments):
    began = time.monotonic()
    done = run(*arguments)
    took = time.monotonic() - began
    said = done.stdout + done.stderr
    tap.ok(done.returncode == 1 and word in said and took < QUICK_S,
              f"refused quickly and in words: {name}",
              f"{took:.1f} s {done}")


def another_token(tap):
    out = "no-token"
    process = start(*train_args(out, "-n", "1", "--delay", "exp:0.01",
                                steps=1000))
    address = place_of(out)
    wait_step(out, 1)
    refused(tap, "a token that is not the run's", "token",
            ["join", address, "--name", "x", "--token-file", "cluster.token"])
    os.kill(process.pid, signal.SIGTERM)
    finish(process)


def own_key_named(tap):
    """--token-file may be the run's own: then status finds it in the folder."""
    out = "own-key"
    os.mkdir(out, 0o700)
    key = f"{out}/run.token"
    run("token", "new", key)
    process = start(*train_args(out, "-n", "1", "--delay", "exp:0.01",
                                "--listen", "0.0.0.0:0", "--token-file",
                                os.path.abspath(key), steps=1000))
    place_of(out)
    tap.ok(wait_for(lambda: status(out) or process.poll() is not None,
                    "status") not in (None, True) and os.path.exists(key),
           "a run's own key, named: it stays in the folder and opens it")
    os.kill(process.pid, signal.SIGTERM)
    finish(process)


def shipped(tap, name, *flags):
    job = ["train", *flags, "--steps", "30", "--chunk-rows", "64", "--format",
           "json"]
    wanted = result_of(run(*job).stdout).get("hash")
    process = start(*job, "--listen", "127.0.0.1:0", "--workers", "2:3",
                    "--out", f"run-{name}")
    end_all(tap, f"{name} rows", process, join_all(f"run-{name}", 2), wanted)


def shipped_rows(tap):
    """Sparse rows travel, too, and so do classes."""
    for name, value in (("index", "1"), ("csr", "0.3")):
        write_rows(f"{name}.svm", 400, 6, lambda k, value=value: value)
        shipped(tap, name, f"{name}.svm", "--storage", name)
    shipped(tap, "softmax", "gen:digits:600", "--model", "softmax")


def full(tap):
    """--workers 1:2 lets in two; the place of one who is gone is free."""
    out = "full"
    process = start(*train_args(out, "--delay", "exp:0.01", "--listen",
                                "127.0.0.1:0", "--workers", "1:2",
                                steps=100000))
    joiners = join_all(out, 2)
    try:
        wait_for(lambda: len(names_of(out)) == 2, "both to join")
        refused(tap, "no room", "there is no room: --workers lets in 2",
                ["join", place_of(out), "--name", "third"])
        kill(joiners[0].pid)
        wait_for(lambda: len(names_of(out)) == 1, "one to be missed")
        tap.equal((status(out) or {}).get("died"), 1,
                  "status has how many died")
        said = run("status", out).stdout
        tap.ok("1 worker, 1 died, code" in said, "... and says so", said)
        joiners.append(start("join", place_of(out), "--name", "third"))
        wait_for(lambda: "third" in names_of(out), "the third to join")
        tap.ok(True, "the place of a worker that died is taken by the next")
    except AssertionError as error:
        tap.ok(False, "the place of a worker that died is taken by the next",
               error)
    run("stop", out)
    tap.equal(finish(process)[0], 75, "it is stopped")
    for joiner in joiners:
        finish(joiner, 10)


def taken_port(tap):
    """Another port is chosen, and said."""
    with socket.create_server(("127.0.0.1", 0)) as holder:
        port = holder.getsockname()[1]
        done = run(*train_args("taken", "-n", "1", "--listen",
                               f"127.0.0.1:{port}", steps=3))
    tap.ok(done.returncode == 0 and f"port {port} is not free" in done.stderr,
           "a taken port: another one is chosen and printed", done)


def main():
    tap = Tap()
    taken_port(tap)
    shipped_rows(tap)
    wanted = perfect_hash(STEPS)
    plain(tap, wanted)
    sealed(tap, wanted)
    another_token(tap)
    own_key_named(tap)
    full(tap)
    tap.done()


main()
