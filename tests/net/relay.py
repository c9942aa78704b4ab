#!/usr/bin/env python3
"""Workers behind relays: many of them on this machine, and some that know only
the relay; kill -9 of relays; tokens."""

import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))
from cluster import (Tap, address_of, finish, kill, own_key, place_of,  # noqa: E402
                     perfect_hash, result_of, run, start, status, train,
                     train_args, wait_for, wait_step, Train)

STEPS = 300
WIDE = ["gen:gmm:4000,20", "--chunk-rows", "8", "--steps", "60"]


def local_workers(tap):
    """256 workers in 16 relays, two of which die."""
    wanted = train(*WIDE)["hash"]
    for name, chaos in (("in peace", []),
                        ("two relays and a worker killed",
                         ["--chaos", "kill:r3@15,kill:r0@30,kill:w40@20"])):
        got = train(*WIDE, "-n", "256", "--fanout", "16", "--out",
                    f"wide-{len(chaos)}", *chaos)
        tap.ok(got["exit"] == 0 and got["hash"] == wanted,
               f"256 workers over 16 relays, {name}: the same hash", got)
        tap.equal(got["workers"]["max"], 256, f"{name}: all were there")


def tree(tap):
    """Nobody serves more than four: 8 relays behind 2, and one of each dies."""
    got = train(*WIDE, "-n", "32", "--fanout", "4", "--out", "tree", "--chaos",
                "kill:r9@15,kill:r1@30")
    tap.ok(got["exit"] == 0 and got["hash"] == train(*WIDE)["hash"],
           "relays behind relays, one of each killed: the same hash", got)
    tap.equal(got["workers"]["max"], 32, "and all were there")
    got = train(*WIDE, "-n", "32", "--fanout", "4", "--out", "tree-2")
    tap.ok({one["relay"] for one in got["worker_times"]} == {"r8", "r9"},
           "the coordinator serves two", got["worker_times"])


def codes(tap):
    wanted = perfect_hash()
    for code in ("uncoded", "frc", "steal", "rep", "stream"):
        got = train("gen:gmm:4000,30", "--steps", "60", "-n", "12", "--code",
                    code, "--fanout", "4", "--out", f"code-{code}", "--chaos",
                    "kill:r1@20")
        tap.ok(got["exit"] == 0 and got["hash"] == wanted,
               f"{code}: a relay is killed, the hash is the same", got)


def stopped(tap):
    got = train("gen:gmm:4000,30", "--steps", "60", "-n", "8", "--fanout", "4",
                "--out", "stopped", "--chaos", "stop:r0@20+5")
    tap.ok(got["exit"] == 0 and got["hash"] == perfect_hash(),
           "a relay is stopped and goes on: the same hash", got)


def coordinator_killed(tap):
    got = Train("gen:gmm:4000,30", "--steps", "60", "-n", "8", "--fanout", "4",
                "--out", "both", "--chaos",
                "kill:coordinator@15,kill:r0@16,kill:coordinator@40").finish()
    tap.ok(got["exit"] == 0 and got.get("hash") == perfect_hash() and
           got["coordinator_deaths"] == 2,
           "coordinator and relay killed: the same hash", got)


def relay_at(process):
    """Where a relay that was started says that it listens; from here."""
    words = process.stderr.readline().split()
    port = words[words.index("join") + 1].rsplit(":", 1)[1]
    return f"127.0.0.1:{port}"


def names_of(out, *more):
    now = status(out, *more)
    return [worker["name"] for worker in now["workers"]] if now else []


def joiners_behind(address, names, *more):
    return [start("join", address, "--name", name, *more) for name in names]


def behind_relays(tap, wanted):
    """Workers know two relays, one of them behind the other, and never the
    coordinator; their data come through."""
    out = "behind"
    process = start(*train_args(out, "--listen", "127.0.0.1:0", "--workers",
                                "3:8", "--delay", "exp:0.005", steps=STEPS))
    first = start("relay", place_of(out), "--name", "first")
    near = relay_at(first)
    second = start("relay", near, "--name", "second", *own_key(out))
    far = relay_at(second)
    joiners = joiners_behind(f"{far},{near}", ["a", "b"], *own_key(out))
    joiners += joiners_behind(near, ["c"], *own_key(out))
    try:
        wait_for(lambda: len(names_of(out)) == 3, "all to join")
        wait_step(out, 20)
        kill(second.pid)
        second.communicate()
        tap.ok(bool(wait_for(lambda: sorted(names_of(out)) == ["a", "b", "c"],
                             "them to find another way")),
               "their relay is killed: they come by the other")
    except AssertionError as error:
        tap.ok(False, "workers behind relays are let in", error)
    code, text, err = finish(process)
    result = result_of(text)
    tap.ok(code == 0 and result.get("hash") == wanted,
           "workers that know only relays: the same hash", f"{result} {err}")
    tap.equal([finish(joiner, 10)[0] for joiner in joiners], [0, 0, 0],
              "they end well")
    tap.equal(finish(first, 10)[0], 0, "and so does the relay")


def leaves(tap, wanted):
    """SIGTERM: a relay goes, its workers go past it."""
    out = "leaves"
    process = start(*train_args(out, "--listen", "127.0.0.1:0", "--workers",
                                "2:4", "--delay", "exp:0.005", steps=STEPS))
    relay = start("relay", place_of(out))
    joiners = joiners_behind(f"{relay_at(relay)},{address_of(out)}",
                             ["a", "b"], *own_key(out))
    try:
        wait_step(out, 20)
        relay.send_signal(signal.SIGTERM)
        tap.equal(finish(relay, 10)[0], 0, "a relay leaves on SIGTERM")
    except AssertionError as error:
        tap.ok(False, "a relay leaves on SIGTERM", error)
    code, text, err = finish(process)
    tap.ok(code == 0 and result_of(text).get("hash") == wanted,
           "a relay leaves: the same hash", f"{text} {err}")
    for joiner in joiners:
        finish(joiner, 10)


def refused(tap, name, word, arguments):
    done = run(*arguments)
    tap.ok(done.returncode in (1, 2) and word in done.stdout + done.stderr,
           f"refused in words: {name}", done)


def sealed(tap, wanted):
    out = "sealed"
    run("token", "new", "cluster.token")
    run("token", "new", "other.token")
    run("token", "new", "a.token", "--name", "a", "--from", "cluster.token")
    key = ["--token-file", "cluster.token"]
    process = start(*train_args(out, "--listen", "0.0.0.0:0", "--workers",
                                "2:4", "--delay", "exp:0.005", *key,
                                steps=STEPS))
    above = place_of(out)
    relay = start("relay", above, "--listen", "0.0.0.0:0", *key)
    below = relay_at(relay)
    joiners = [start("join", below, "--token-file", "a.token"),
               start("join", below, "--name", "b", *key)]
    refused(tap, "listening to all without a key", "key",
            ["relay", above, "--listen", "0.0.0.0:0"])
    refused(tap, "a relay without a token", "token", ["relay", above])
    refused(tap, "a relay with a worker's token", "cluster token",
            ["relay", above, "--token-file", "a.token"])
    refused(tap, "a worker without a token", "token",
            ["join", below, "--name", "x"])
    refused(tap, "another cluster's token", "token",
            ["join", below, "--name", "x", "--token-file", "other.token"])
    code, text, err = finish(process)
    tap.ok(code == 0 and result_of(text).get("hash") == wanted,
           "sealed: the same hash", f"{text} {err}")
    tap.equal([finish(one, 10)[0] for one in [*joiners, relay]], [0, 0, 0],
              "sealed: all end well")


def main():
    tap = Tap()
    local_workers(tap)
    tree(tap)
    codes(tap)
    stopped(tap)
    coordinator_killed(tap)
    wanted = perfect_hash(STEPS)
    behind_relays(tap, wanted)
    leaves(tap, wanted)
    sealed(tap, wanted)
    tap.done()


main()
