#!/usr/bin/env python3
"""A ring across machines: peers in network namespaces of their own, over TLS.

Some of them do not seal their sums (`--bulk plain`), so that links of both kinds
are cut.  Five of them are cut into two and three: both sides finish, on one machine's
hash.  In a second run the cut is healed while both sides work: they are one
ring again, and say so in their journals."""

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
import journal
from cluster import MUSTER, Tap, run, train, wait_for
from field import Field, sweep, why_not

NODES = ["a", "b", "c", "d", "e"]
SIDES = (NODES[:2], NODES[2:])
DATA = ["gen:gmm:8000,40", "--seed", 4, "--chunk-rows", 64, "--lr", "1e-3"]
TOKEN = ["--token-file", "cluster.token"]
MERGE = 7
PLAIN = "abd"


class Ring:
    """One peer in each namespace."""

    def __init__(self, field, name, steps):
        self.field, self.name, self.steps = field, name, steps
        self.processes = {}
        for node in NODES:
            self.start(node)
        self.wait(lambda: all(self.step(node) > 20 for node in NODES),
                  "all to work together")

    def out(self, node):
        return f"{self.name}-{node}"

    def start(self, node):
        peers = []
        if node != NODES[0]:
            peers = ["--peers", wait_for(self.address, "an address")]
        self.processes[node] = self.field.start(
            node, MUSTER, "train", *DATA, "--steps", self.steps, "-n", 1,
            "--workers", len(NODES), "--topology", "ring", "--listen",
            f"{self.field.address(node)}:0", "--out", self.out(node),
            "--bulk", "plain" if node in PLAIN else "auto",
            "--format", "json", *TOKEN, *peers,
            out=open(f"{self.out(node)}.json", "w"),
            err=open(f"{self.out(node)}.log", "w"))

    def address(self):
        file = Path(self.out(NODES[0]), "address")
        return file.exists() and file.read_text().strip()

    def step(self, node):
        return journal.last_step(Path(self.out(node), "w0"))

    def merges(self, node):
        return [record for record in journal.records(
            Path(self.out(node), "w0")) if record[0] == MERGE]

    def wait(self, look, what):
        def alive():
            assert any(p.poll() is None for p in self.processes.values()), \
                f"the ring ended before {what}"
            return look()
        return wait_for(alive, what)

    def cut(self, verb):
        for one in SIDES[0]:
            for other in SIDES[1]:
                self.field.rule(verb, "from", one, "to", other)
                self.field.rule(verb, "to", one, "from", other)

    def work_apart(self):
        """Both sides make steps of their own: after the silence of the others
        no peer waits for them any more."""
        self.cut("add")
        now = {node: self.step(node) for node in NODES}
        self.wait(lambda: all(self.step(node) > now[node] + 40
                              for node in NODES), "steps on both sides")

    def hashes(self):
        """Of all, at their ends."""
        found = {}
        for node, process in self.processes.items():
            process.wait(timeout=120)
            text = Path(f"{self.out(node)}.json").read_text()
            found[node] = json.loads(text).get("hash") if text else None
        return found


def both_sides(tap, field):
    ring = Ring(field, "apart", 3000)
    ring.work_apart()
    wanted = train(*DATA, "--steps", 3000)["hash"]
    found = ring.hashes()
    ring.cut("del")
    tap.ok(set(found.values()) == {wanted},
           "cut into 2 + 3: both sides finish on one hash", found)
    tap.ok(not any(ring.merges(node) for node in NODES),
           "... and never were together again")
    told = {node: "--bulk plain: peers that both say so" in
            Path(f"{ring.out(node)}.log").read_text() for node in NODES}
    tap.equal(told, {node: node in PLAIN for node in NODES},
              "between machines --bulk plain warns of who may be on the way")


def healed(tap, field):
    ring = Ring(field, "healed", 6000)
    ring.work_apart()
    ring.cut("del")
    ring.wait(lambda: all(ring.merges(node) for node in NODES),
              "both sides to be one again")
    tap.ok(True, "healed in mid-run: a MERGE in every journal")
    wanted = train(*DATA, "--steps", 6000)["hash"]
    found = ring.hashes()
    tap.ok(set(found.values()) == {wanted}, "... and one hash", found)


def main():
    tap = Tap()
    reason = why_not()
    if reason:
        tap.skip("a ring in network namespaces", reason)
        tap.done()
    sweep()
    assert run("token", "new", "cluster.token").returncode == 0
    with Field(os.getpid(), 0) as field:
        for node in NODES:
            field.add(node)
        both_sides(tap, field)
        healed(tap, field)
    tap.done()


main()
