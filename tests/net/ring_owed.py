#!/usr/bin/env python3
"""Two machines of a ring whose beats reach each other, and whose sums do not:
each is told who owes, both go on and end on the hash of one process; and a stop
does not wait for the step that cannot end."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from cluster import Tap, Train, address_of, happens, run, status, train
from proxy import Proxy

KEY = ["--token-file", "cluster.token"]
TASK = ["gen:gmm:2000,40", "--seed", 4, "--chunk-rows", 64, "--optim", "agd",
        "--lr", "1e-3", "--steps"]
STEPS = 4000
ENDS_S = 40  # Far more than a stop takes.


def step(out):
    now = status(out, *KEY)
    return now["step"] if now else 0


def say_why(out):
    return run("status", out, *KEY, "--why-slow").stdout


def says_who_owes(out):
    said = say_why(out)
    return "two" in said and "its beats come" in said


class Two:
    """One peer each, the second behind a proxy that swallows sums: of each pair
    of connections the second."""

    def __init__(self, name, steps):
        self.folders = [f"{name}-one", f"{name}-two"]
        common = [*TASK, steps, "--topology", "ring", "-n", 1, "--listen",
                  "127.0.0.1:0", "--workers", 2, *KEY]
        self.one = Train(*common, "--name", "one", "--out", self.folders[0])
        self.proxy = Proxy(address_of(self.folders[0])).__enter__()
        self.two = Train(*common, "--name", "two", "--out", self.folders[1],
                         "--peers", self.proxy.address)
        self.run = happens(lambda: step(self.folders[0]) > 20)
        self.proxy.mute(lambda number: number % 2 == 1)
        self.muted_at = step(self.folders[0])

    def finish(self):
        """Whoever does not end is made to."""
        results = []
        for job in (self.one, self.two):
            try:
                results.append(job.finish(timeout=ENDS_S))
            except AssertionError as error:
                results.append({"exit": None, "error": str(error)})
        self.proxy.__exit__()
        return results


def go_on(tap):
    wanted = train(*TASK, STEPS)["hash"]
    two = Two("on", STEPS)
    tap.ok(two.run and two.muted_at < STEPS, "sums stay on their way",
           two.muted_at)
    tap.ok(happens(lambda: says_who_owes("on-one")),
           "--why-slow names who owes", say_why("on-one"))
    results = two.finish()
    tap.ok(all(one["exit"] == 0 and one["hash"] == wanted for one in results),
           "both go on, and end on the hash of one process", results)


def stop(tap):
    two = Two("stop", 10 ** 7)
    code, said, _ = run("stop", "stop-one", *KEY)
    tap.ok(two.run and code == 0 and "stopping" in said, "asked to stop", said)
    results = two.finish()
    tap.ok(all(one["exit"] == 75 for one in results),
           "... both end, without the step that cannot", results)


def main():
    tap = Tap()
    assert run("token", "new", "cluster.token").returncode == 0
    go_on(tap)
    stop(tap)
    tap.done()


main()
