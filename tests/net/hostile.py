#!/usr/bin/env python3
"""Peers without manners at the coordinator's door while it trains (P11, T10).

Ten thousand connections: silent ones, garbage, 4 GiB lengths, half frames, TLS
noise, slowloris, wrong keys, bytes of an honest handshake played again, workers
of another arithmetic, version or data.  Then servers without the key, on every
road on which we are the one who dials.  The run ends with its hash, in little
more memory; who is refused is told why, and so is the log, in few lines.
"""

import os
import random
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))
from cluster import (Tap, address_of, child_named, finish,  # noqa: E402
                     own_key, peak_kib, perfect_hash, result_of, run, start, train_args,
                     wait_step)
from rogue import rogue_servers  # noqa: E402
from strangers import attack, connect  # noqa: E402
from wire import Peer, hello, record_handshake, reject_text  # noqa: E402

STEPS = 600
SEED = 7
MEMORY_KIB = 64 * 1024
CONNECTIONS = {"plain": 3000, "sealed": 7000}


def refusals(tap, name, address, token):
    """Workers that have the key and may not come in: told why."""
    cases = [
        ("another arithmetic", hello(arithmetic=b"\x11" * 32), "other bits"),
        ("another version", hello(version=999), "protocol version"),
        ("an older version", hello(version=4, rest=b""), "protocol version"),
    ]
    texts = []
    for what, message, words in cases:
        peer = Peer(address, token)
        peer.send(message)
        text = reject_text(peer.receive())
        peer.close()
        texts.append(text)
        tap.ok(words in text, f"{name}: {what} is told so", text)
    return texts


def under_attack(tap, name, wanted, flags, key):
    rng = random.Random(SEED)
    out = name
    process = start(*train_args(out, "-n", "2", "--delay", "exp:0.01", *flags,
                                steps=STEPS))
    told = []
    try:
        address = address_of(out)
        wait_step(out, 1, *key)
        coordinator = child_named(process.pid, "coordinator")
        before = peak_kib(coordinator)
        recorded = record_handshake(["join", None, "--name", "honest",
                                     *(key or own_key(out))])
        if not key:
            told = refusals(tap, name, address, own_key(out)[1])
        made = attack(address, rng, CONNECTIONS[name], 100, recorded)
        after = peak_kib(coordinator)
        asked = run("status", out, "--format", "json", *key)
        if key:
            other = run("token", "new", "other.token")
            intruder = run("join", address, "--token-file", "other.token")
            tap.ok(other.returncode == 0 and intruder.returncode != 0 and
                   "token" in intruder.stderr,
                   f"{name}: a wrong key is told so", intruder)
            told.append("turned away")
    except (AssertionError, OSError) as error:
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        tap.ok(False, name, f"seed {SEED}: {error}")
        return 0
    code, text, err = finish(process, 100)
    result = result_of(text)
    tap.ok(after - before <= MEMORY_KIB, f"{name}: at most 64 MiB more",
           f"{before} KiB, then {after} KiB")
    tap.ok(asked.returncode == 0, f"{name}: honest peers get through", asked)
    tap.ok(code == 0 and result.get("hash") == wanted and
           result["workers"]["died"] == 0, f"{name}: the same hash",
           f"seed {SEED}: {code} {result} {err[-3000:]}")
    tap.ok(all(sentence in err for sentence in told),
           f"{name}: the log says who was turned away, and why", err[-3000:])
    tap.ok(len(err.splitlines()) < 200, f"{name}: a short log",
           f"{len(err.splitlines())} lines")
    return made


def other_job(tap, key):
    """A worker of one job finds another one at the same address."""
    first = start(*train_args("first", "--listen", "127.0.0.1:0", "--workers",
                              "1", "--delay", "exp:0.01", *key, steps=100000))
    address = address_of("first")
    worker = start("join", address, "--name", "stray", *key)
    wait_step("first", 2, *key)
    os.kill(first.pid, signal.SIGKILL)
    first.communicate()
    second = start(*train_args("second", "--listen", address, "--workers", "2",
                               *key, steps=100000))
    there = address_of("second")
    if there != address:
        tap.skip("a worker of another job is told so", "the port was taken")
        os.kill(worker.pid, signal.SIGKILL)
    else:
        code, _, err = finish(worker, 30)
        tap.ok(code != 0 and "another job" in err,
               "a worker of another job is told so", err)
    os.kill(second.pid, signal.SIGKILL)
    _, log = second.communicate()
    if there == address:
        tap.ok("turned away: this worker belongs to another job" in log,
               "... and so is the log", log)


def crowd(tap):
    """Eleven times as many as the door holds, who all say nothing: whoever
    speaks gets its turn before it gives up (5 s)."""
    process = start(*train_args("crowd", "-n", "1", "--delay", "exp:0.01",
                                steps=100000))
    address = address_of("crowd")
    wait_step("crowd", 1)
    silent = [connect(address) for _ in range(700)]
    asked = run("status", "crowd")
    tap.ok(asked.returncode == 0, "behind a crowd of silent strangers", asked)
    os.kill(process.pid, signal.SIGTERM)
    _, _, err = finish(process, 60)
    tap.ok("strangers crowd the door" in err, "... of which the log tells", err)
    for peer in silent:
        peer.close()


def main():
    tap = Tap()
    wanted = perfect_hash(STEPS)
    made = under_attack(tap, "plain", wanted, [], [])
    done = run("token", "new", "cluster.token")
    tap.ok(done.returncode == 0, "token new", done.stderr)
    key = ["--token-file", "cluster.token"]
    rogue_servers(tap, "cluster.token")
    made += under_attack(tap, "sealed", wanted, ["--listen", "0.0.0.0:0", *key],
                         key)
    tap.ok(made >= 9000, "ten thousand connections", f"{made} were made")
    other_job(tap, key)
    crowd(tap)
    tap.done()


main()
