#!/usr/bin/env python3
"""A group between machines, which has no host: members by TLS, and whoever is
killed, also the one that began it and the oldest, the others go on.

First on loopback: members are killed in the middle of calls, one and two at
once, and others come, by any member's address; one is stopped and comes back.
Half of them need nothing sealed (`plain`), so that links of both kinds are cut.
Then so with vectors that links put together in the members' memory.
Then in network namespaces: two are cut off from three, come back when that is
healed, and are told MUSTER_LOST when it is not.  Every sum is that of those it
names, and all who were told of a call were told the same."""

import os
import random
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))
from cluster import Tap, finish, kill, run, wait_for  # noqa: E402
from field import Field, sweep, why_not  # noqa: E402
from sums import (ROOT, build, calls_of, last_call, member,  # noqa: E402
                  said, wanted_sum)

KILLS = 12
LOST = 10  # enum muster_status
SEED = int(os.environ.get("MUSTER_TEST_SEED", "1"))


class Group:
    """Members by name, oldest first; `dead` are those of before."""

    def __init__(self, **environment):
        self.environment = {"DOOR_TOKEN": "cluster.token", **environment}
        self.living, self.dead = {}, {}

    def add(self, name, sponsor=None, *before, **more):
        address = sponsor and self.address(sponsor)
        self.living[name] = member(address, name, *before, **self.environment,
                                   **more)

    def address(self, name):
        return wait_for(lambda: said(Path(f"member.{name}").read_text(),
                                     "address"), f"the address of {name}")

    def wait(self, names=None, witnesses=None):
        """Until calls are of these (all the living), as all of them say."""
        names = set(self.living if names is None else names)
        for one in witnesses or names:
            wait_for(lambda: set(last_call(one)[1].split(",")) == names,
                     f"calls of {sorted(names)}, as {one} says")

    def kill(self, *names):
        for name in names:
            self.dead[name] = self.living.pop(name)
            kill(self.dead[name].pid)

    def check(self, tap, what, least=100):
        """All of them are over; who said what?"""
        for name in list(self.living):
            self.kill(name)
        seen, differ, wrong = {}, [], []
        for name, process in self.dead.items():
            finish(process)
            for call, who, *values in calls_of(name):
                if seen.setdefault(call, (who, values)) != (who, values):
                    differ.append((call, name))
        for call, (who, values) in seen.items():
            if [float.fromhex(v) for v in values] != wanted_sum(who.split(",")):
                wrong.append(call)
        tap.ok(len(seen) > least and not differ, f"{what}: all were told the same",
               f"{len(seen)} {differ[:3]}")
        tap.ok(not wrong, f"{what}: every sum is that of those it names",
               wrong[:3])


def plain(name):
    return {"DOOR_PLAIN": "1"} if ord(name) % 2 else {}


def long_ones(tap):
    """Members come and are killed, or stopped, while long vectors are sent."""
    group = Group(DOOR_LONG="1")
    group.add("h")
    for name in "aceb":
        group.add(name, "h", **plain(name))
    group.wait()
    for name, after in zip("cab", "gik"):
        group.kill(name)
        group.wait()
        group.add(after, "e", **plain(after))
        group.wait()
    os.kill(group.living["e"].pid, signal.SIGSTOP)
    group.wait(set(group.living) - {"e"})
    os.kill(group.living["e"].pid, signal.SIGCONT)
    group.wait()
    tap.ok(True, "members of long vectors come, die, and are stopped")
    group.check(tap, "long vectors", 10)


def killed(tap, rng):
    group = Group()
    fresh = iter("abcdefgijklmnopqrstuvwxyz")
    group.add("h")
    for name in (next(fresh) for _ in range(4)):
        group.add(name, rng.choice(list(group.living)), **plain(name))
    group.wait()
    for turn in range(KILLS):
        oldest = next(iter(group.living))
        group.kill(oldest if turn % 3 == 0 else rng.choice(list(group.living)))
        group.wait()
        name = next(fresh)
        group.add(name, rng.choice(list(group.living)), **plain(name))
        group.wait()
    tap.ok(True, f"{KILLS} members killed, the oldest among them")
    group.kill(*list(group.living)[:2])
    group.wait()
    tap.ok(True, "two of five at once, the oldest among them")
    last = list(group.living)[-1]
    os.kill(group.living[last].pid, signal.SIGSTOP)
    group.wait(set(group.living) - {last})
    os.kill(group.living[last].pid, signal.SIGCONT)
    group.wait()
    tap.ok(True, "one that is stopped is left out, and comes back")
    while len(group.living) > 1:  # It is the oldest, again and again.
        group.kill(list(group.living)[-1])
        group.wait()
    tap.ok(True, "the oldest goes on alone")
    group.check(tap, "killed")


def cut(field, sides, verb):
    for one in sides[0]:
        for other in sides[1]:
            field.rule(verb, "from", one, "to", other)
            field.rule(verb, "to", one, "from", other)


def partitioned(tap, field):
    """The two oldest on the smaller side."""
    group = Group(DOOR_GIVE_UP="8")
    sides = "ha", "bcd"
    for node in "habcd":
        field.add(node)
        group.add(node, None if node == "h" else "h", "ip", "netns", "exec",
                  field.space(node), DOOR_LISTEN=f"{field.address(node)}:0")
        field.processes.append(group.living[node])
    group.wait()
    cut(field, sides, "add")
    group.wait(sides[1])
    cut(field, sides, "del")
    group.wait("habcd")
    tap.ok(True, "cut into 2 + 3, the three go on; healed, all do")
    cut(field, sides, "add")
    group.wait(sides[1])
    alone = [calls_of(one)[-1][0] for one in sides[0]]
    for one in sides[0]:
        group.dead[one] = group.living.pop(one)
        group.dead[one].wait(60)
        tap.equal(said(Path(f"member.{one}").read_text(), "status"), str(LOST),
                  f"{one} is told that the group is lost")
    tap.ok(all(calls_of(one)[-1][0] == call
               for one, call in zip(sides[0], alone)),
           "... and nothing else meanwhile")
    group.wait(sides[1])
    cut(field, sides, "del")
    group.check(tap, "cut off")


def main():
    tap = Tap()
    assert run("token", "new", "cluster.token").returncode == 0
    build(tap, ROOT / "tests/net/lib/door.c", "door")
    killed(tap, random.Random(SEED))
    long_ones(tap)
    reason = why_not()
    if reason:
        tap.skip("a group cut in two in network namespaces", reason)
    else:
        sweep()
        with Field(os.getpid(), 0) as field:
            partitioned(tap, field)
    tap.done()


main()
