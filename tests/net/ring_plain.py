#!/usr/bin/env python3
"""A ring whose sums are not sealed (`--bulk plain`): one hash, whoever is
killed; what passes between two of its machines can be read, and is sealed as
soon as one of them does not say `plain`; the token is needed as always; and
whoever is on the way and changes bytes brings nobody down."""

import os
import random
import select
import sys
from collections import Counter

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
import npy
from cluster import Tap, Train, address_of, kill, run, train
from proxy import Proxy
from wire import KINDS

SEED = int(os.environ.get("MUSTER_TEST_SEED", "1"))
RING = ["--topology", "ring", "--bulk", "plain"]
KEY = ["--token-file", "cluster.token"]
TASKS = {
    "logistic": ["gen:gmm:3000,20", "--optim", "newton", "--chunk-rows", 64],
    "long sums": ["gen:gmm:400,200000", "--seed", 4, "--chunk-rows", 50,
                  "--optim", "gd", "--lr", "1e-4", "--steps", 12],
    "network": ["gen:digits:500", "--net", "dense24 relu dense10", "--optim",
                "adam", "--steps", 40],
}
WIDE = ["gen:gmm:400,4000", "--seed", 4, "--chunk-rows", 8, "--optim", "gd",
        "--lr", "1e-4", "--steps", 800]
# Long enough for threads to share the packing and sending of them.
TWO = ["gen:gmm:80,20000", "--seed", 4, "--chunk-rows", 8, "--optim", "gd",
       "--lr", "1e-4", "--steps", 60]
SLICE = bytes([KINDS["SLICE"]])
NAMED = 17  # Kind, job and view: the same in all SLICEs of a view.


def one_hash(tap):
    for name, task in TASKS.items():
        wanted = train(*task)["hash"]
        for peers in (1, 2, 3, 5):
            result = train(*task, "-n", peers, *RING)
            tap.ok(result["exit"] == 0 and result["hash"] == wanted and
                   result["bulk"] == "plain",
                   f"{name}: {peers} peers, not sealed: the same hash", result)
    said = result["stderr"]
    tap.ok("--bulk plain" not in said, "on one machine nobody is warned", said)


def killed(tap):
    rng = random.Random(SEED)
    wanted = train(*WIDE)["hash"]
    job = Train(*WIDE, "-n", 4, *RING, "--respawn", "--out", "killed")
    count = 0
    job.wait_child("w3")
    while job.process.poll() is None and count < 20:
        select.select([], [], [], rng.uniform(.01, .05))
        family = [pid for name, pid in job.children() if name[0] == "w"]
        count += bool(family) and kill(rng.choice(family))
    result = job.finish()
    tap.ok(result["exit"] == 0 and result.get("hash") == wanted and count > 0,
           f"{count} of its peers killed and started again: the same hash",
           f"seed {SEED}: {result}")


def refused(tap):
    for name in ("a.npy", "b.npy"):
        npy.write(name, [[1.0, 2.0], [3.0, 4.0]])
    for what, args, said in (
            ("a star", ["train", "gen:gmm:100,4", "-n", 2, "--bulk", "plain"],
             "--bulk plain is of a ring"),
            ("a product", ["product", "a.npy", "b.npy", "c.npy", "-n", 2,
                           "--bulk", "plain"], "--bulk plain is of a ring"),
            ("private rows", ["train", "--data-private", "a.svm", "--owners", 2,
                              "--save", "m", "--listen", "127.0.0.1:0",
                              "--lr", ".1", *KEY, *RING],
             "--bulk plain does not go with --owners")):
        code, _, err = run(*args)
        tap.ok(code == 2 and said in err, f"{what}: refused", err)


class Spy(Proxy):
    """Sees each connection's bytes from the dialler, and may change any once
    they can be read."""

    def __init__(self, target, change=None):
        super().__init__(target)
        self.seen = {}
        self.change = change
        self.spy = self.look

    def look(self, number, direction, data):
        seen = self.seen.setdefault((number, direction), bytearray())
        seen += data
        if self.change is not None and number % 2 == 1 and \
           len(seen) > len(data):
            data = self.change(data)
        return data

    def readable(self):
        """How often the commonest beginning of a SLICE comes, of the
        connection in which it comes most often."""
        def most(data):
            found = Counter(
                bytes(data[at:at + NAMED]) for at in range(len(data) - NAMED)
                if data[at:at + 1] == SLICE and any(data[at + 1:at + NAMED]))
            return max(found.values(), default=0)
        return max(map(most, self.seen.values()), default=0)


def meet_through(spy_class, one, two, out, token=KEY, change=None):
    """Two machines of one peer each; the second reaches the first through a
    spy.  Results of both, and the spy."""
    common = ["--topology", "ring", "-n", 1, "--listen", "127.0.0.1:0",
              "--workers", 2]
    first = Train(*TWO, *common, *KEY, "--name", "one", "--bulk", one, "--out",
                  f"{out}-one")
    with spy_class(address_of(f"{out}-one"), change) as spy:
        second = Train(*TWO, *common, *token, "--name", "two", "--bulk", two,
                       "--peers", spy.address, "--out", f"{out}-two")
        results = [second.finish(), first.finish(timeout=120)]
    return results[1], results[0], spy


def read_on_the_way(tap, wanted):
    for one, two in (("plain", "plain"), ("plain", "tcp"), ("tcp", "plain")):
        a, b, spy = meet_through(Spy, one, two, f"read-{one}-{two}")
        tap.ok(a.get("hash") == b.get("hash") == wanted,
               f"{one} and {two}: the hash of one process", (a, b))
        times = spy.readable()
        if one == two:
            tap.ok(times >= 60, "both plain: whoever is on the way reads sums",
                   times)
        else:
            tap.ok(times <= 2, f"{one} and {two}: it is sealed", times)


def needs_the_token(tap, wanted):
    a, b, spy = meet_through(Spy, "plain", "plain", "stranger",
                             ["--token-file", "other.token"])
    tap.ok(b["exit"] != 0 and "does not accept this token" in b["stderr"],
           "plain with another token: turned away", b)
    tap.ok(spy.readable() <= 2 and a.get("hash") == wanted,
           "... and the first goes on without it", a)


def changed_on_the_way(tap):
    """A changed sum is believed by who is sent it, as the docs say; so they end
    with some model, or find that they differ.  Nobody crashes of it."""
    def ends(one):
        said = one.get("error", "")
        return one["exit"] >= 0 and ("hash" in one or "was wrong" in said or
                                     "different models" in said)

    for seed in range(SEED, SEED + 4):
        rng = random.Random(seed)
        changed = []

        def change(data):
            if rng.random() > .02:
                return data
            at = rng.randrange(len(data))
            changed.append(at)
            return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + \
                data[at + 1:]

        a, b, _ = meet_through(Spy, "plain", "plain", f"changed{seed}",
                               change=change)
        tap.ok(changed and ends(a) and ends(b),
               f"{len(changed)} bits changed on the way: both end in order",
               f"seed {seed}: {a} {b}")


def main():
    tap = Tap()
    for name in ("cluster", "other"):
        assert run("token", "new", f"{name}.token").returncode == 0
    one_hash(tap)
    killed(tap)
    refused(tap)
    wanted = train(*TWO)["hash"]
    read_on_the_way(tap, wanted)
    needs_the_token(tap, wanted)
    changed_on_the_way(tap)
    tap.done()


main()
