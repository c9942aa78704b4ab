#!/usr/bin/env python3
"""A ring that trains while one with the token says what no peer says, and
strangers without it knock: it goes on, names who lied, and ends on its hash."""

import json
import os
import random
import struct
import sys
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from cluster import (Tap, Train, address_of, happens, peak_kib, run, status,
                     train)
from rogue_peer import RoguePeer, propose, roster, sliced, state
from strangers import attack
from wire import KINDS, Peer, record_handshake

SEED = int(os.environ.get("MUSTER_TEST_SEED", "1"))
KEY = ["--token-file", "cluster.token"]
TASK = ["gen:gmm:8000,40", "--seed", 4, "--chunk-rows", 64, "--lr", "1e-3",
        "--steps"]
CHUNKS = 125
MEMORY_KIB = 64 * 1024
BEAT = bytes([KINDS["BEAT"]]) + bytes(200)


def wrong_slices():
    """name: (what is made of a good SLICE, whether its sender is shut out)"""
    return {
        "chunks of another": (lambda s, own: sliced(s), True),
        "no sums of its chunks": (
            lambda s, own: sliced(s, chunks=own, empty=True), True),
        "cut short": (lambda s, own: sliced(s, chunks=own)[:-3], False),
        "of another view": (
            lambda s, own: sliced(s, chunks=own, view=1), None),
        "of other weights": (
            lambda s, own: sliced(s, chunks=own, weights=1), None),
    }


class Ring:
    def __init__(self):
        self.job = Train(*TASK, 10 ** 7, "-n", 2, "--topology", "ring",
                         "--listen", "127.0.0.1:0", *KEY, "--out", "open")
        self.address = address_of("open")
        happens(lambda: self.step() > 5)
        self.addresses = {peer["name"]: peer["place"]
                          for peer in status("open", *KEY)["workers"]}
        journal = Path("open/w0/journal").read_bytes()
        self.config = journal[80:112] # Of its first record, JOB.
        version = run("version", "--format", "json")
        self.arithmetic = bytes.fromhex(
            json.loads(version.stdout)["arithmetic"])
        self.rogues = 0

    def step(self):
        now = status("open", *KEY)
        return now["step"] if now else 0

    def goes_on(self):
        before = self.step()
        return happens(lambda: self.step() > before + 20)

    def rogue(self):
        self.rogues += 1
        return RoguePeer(f"x{self.rogues}", self.addresses, "cluster.token",
                         self.config, self.arithmetic, CHUNKS)

    def enter(self, until="SLICE"):
        """A rogue in the view, and what it heard there; on a busy machine it
        may be too slow, and is dropped for its silence."""
        for _ in range(10):
            rogue = self.rogue()
            heard = rogue.enter(until)
            if heard:
                return rogue, heard
            rogue.close()
        raise AssertionError("no rogue gets into the ring")


def say_wrong_slices(tap, ring):
    banned = []
    for name, (change, out) in wrong_slices().items():
        rogue, good = ring.enter()
        rogue.say(change(good, rogue.own_chunks()))
        if out is not None:
            tap.ok(rogue.closed(), f"a slice {name}: the rogue is cut off" +
                   (", for good" if out else ""))
        banned.extend([rogue.name] if out else [])
        rogue.close()
        tap.ok(ring.goes_on(), f"a slice {name}: the others go on",
               ring.job.process.poll())
    return banned


def say_wrong_things(tap, ring):
    def view_of(report):
        return struct.unpack_from("<Q", report, 1)[0]

    things = {
        "a huge state": ("REPORT", lambda rogue, heard: rogue.say(
            state(view_of(heard), 1 << 60, bytes(1000)))),
        "the highest number of a view": ("SLICE", lambda rogue, heard:
            rogue.say(propose(2 ** 64 - 1, [rogue.name, *rogue.others]))),
        "... and in a roster": ("SLICE", lambda rogue, heard: rogue.say(
            roster([rogue.name, *rogue.others], 2 ** 64 - 1))),
        "a message without end": ("SLICE", lambda rogue, heard: [
            rogue.say(bytes([KINDS["STATE"]]) + bytes((1 << 20) - 1))
            for _ in range(8)]),
    }
    for name, (until, deed) in things.items():
        rogue, heard = ring.enter(until)
        deed(rogue, heard)
        tap.ok(rogue.closed(), f"{name}: the rogue is cut off")
        rogue.close()
        tap.ok(ring.goes_on(), "... the others go on", ring.job.process.poll())


def flood(tap, ring):
    rogue, _ = ring.enter()
    names = [rogue.name] + [f"y{i}" for i in range(63)]
    for i in range(300):
        rogue.say(roster(names if i % 2 else [rogue.name, *rogue.others]))
        rogue.say(propose(1, [rogue.name, *rogue.others]))
        rogue.say(rogue.greeting, 0)
    again = Peer(ring.address, "cluster.token")
    again.send(rogue.greeting) # The same again, on another link.
    again.close()
    rogue.close()
    tap.ok(ring.goes_on(), "a flood of names, old views and greetings: they "
           "go on", ring.job.process.poll())
    late, heard = ring.enter()
    tap.ok(heard, "... and one who comes after 63 made-up names has a seat")
    late.close()


def strangers(tap, ring):
    """Without the token."""
    pids = [pid for _, pid in ring.job.children()]
    before = [peak_kib(pid) for pid in pids]
    recorded = record_handshake(["join", None, "--name", "honest", *KEY])
    for address in ring.addresses.values():
        attack(address, random.Random(SEED), 400, 50, recorded)
    after = [peak_kib(pid) for pid in pids]
    tap.ok(ring.goes_on(), "800 strangers' connections: they go on")
    tap.ok(all(b - a <= MEMORY_KIB for a, b in zip(before, after)),
           "... in at most 64 MiB more", f"{before} then {after} KiB")


def main():
    tap = Tap()
    assert run("token", "new", "cluster.token").returncode == 0
    ring = Ring()
    try:
        banned = say_wrong_slices(tap, ring)
        say_wrong_things(tap, ring)
        flood(tap, ring)
        strangers(tap, ring)
    finally:
        run("stop", ring.address, *KEY)
    result = ring.job.finish()
    tap.ok(result.get("hash") == train(*TASK, result.get("steps"))["hash"],
           "the hash is that of one process", result)
    said = result["stderr"]
    tap.ok(all(f"{name} is shut out: it sent what cannot be" in said
               for name in banned), "the log names who lied", said)
    tap.ok(len(said.splitlines()) < 300, "... and is short",
           len(said.splitlines()))
    tap.done()


main()
