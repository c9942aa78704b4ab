#!/usr/bin/env python3
"""Real partitions: coordinator, relay and workers in network namespaces of
their own, over TLS, with cables pulled, cards downed, packets lost one way.

Four fields run side by side; each plays its events in an order drawn from the
seed (MUSTER_TEST_SEED) and waits for what the coordinator's log says, not for
time: a cut is healed at once, when its victims are suspected, or when they are
declared dead; then all must be back without help.  In the end the run is
stopped, and its hash must be what one machine computes in as many steps, its
journal whole.  What P7 promises is checked as the order of events: a step does
not wait until somebody silent is declared dead, and a coordinator that sees
nobody commits nothing.
"""

import ctypes
import itertools
import json
import os
import random
import re
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))
from cluster import (MUSTER, Tap, children, run, train,  # noqa: E402
                     wait_for)
from field import (CUTS, TWO_WAY, Field, die_with_parent,  # noqa: E402
                   sweep, why_not)
import journal  # noqa: E402

EVENTS_LEAST = 60
SEED = int(os.environ.get("MUSTER_TEST_SEED", "1"))
# A small rate: weights that still move tell a step that was made twice.
SMALL = ["gen:gmm:4000,30", "--chunk-rows", 64, "--lr", "1e-4"]
LARGE = ["gen:gmm:16000,60", "--chunk-rows", 64, "--lr", "1e-4"]
TOKEN = ["--token-file", "cluster.token"]
AWAY = ("suspect", "died", "left")
LINE = re.compile(r"step (\d+): (\S+) (suspect|died|left|joined|cleared)$")


class Lost(AssertionError):
    """An event did not end as it must."""


class Cluster:
    """A coordinator in its namespace, workers in theirs, and what it says."""

    def __init__(self, field, data, workers, *flags):
        self.field, self.data = field, data
        self.names, self.joiners, self.facts = [], [], []
        self.out = "run"
        field.add("c")
        for node in workers:
            field.add(node)
        self.log = Path("train.log")
        self.process = field.start(
            "c", MUSTER, "train", *data, "--steps", 10 ** 6, "--delay",
            "exp:0.01", "--listen", f"{field.address('c')}:0", "--workers",
            f"{len(workers) or 2}:12", "--out", self.out, "--format", "json",
            *TOKEN, *flags, out=open("result.json", "w"),
            err=open(self.log, "w"))
        self.at = self.wait(
            lambda: Path(self.out, "address").exists() and
            Path(self.out, "address").read_text().strip(), "an address")

    def join(self, node, address=None):
        self.joiners.append(self.field.start(
            node, MUSTER, "join", address or self.at, "--name", node,
            "--threads", 1, "--chunk-cache", "none", *TOKEN,
            err=open(f"{node}.log", "w")))
        self.names.append(node)

    def wait(self, look, what):
        def alive():
            if self.process.poll() is not None:
                raise Lost(f"the run ended while waiting for {what}")
            return look()
        return wait_for(alive, what, 40)

    def said(self):
        """[(step, worker, word)] of the log."""
        found = map(LINE.match, self.log.read_text().splitlines())
        return [(int(m[1]), m[2], m[3]) for m in found if m]

    def word(self, name, since=0):
        """The last one about a worker, if there is one since then."""
        return next((word for _, who, word in reversed(self.said()[since:])
                     if who == name), None)

    def wait_word(self, names, words, since):
        self.wait(lambda: all(self.word(name, since) in words
                              for name in names),
                  f"{', '.join(names)} to be {' or '.join(words)}")

    def status(self):
        done = self.field.run("c", MUSTER, "status", self.out, "--format",
                              "json", *TOKEN)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def active(self):
        """Those who have a slot, and are not suspected."""
        now = self.status() or {"workers": []}
        return sorted(worker["name"] for worker in now["workers"]
                      if worker["state"] == "active")

    def roads(self):
        """{worker: whether by a relay} of those who are active."""
        now = self.status() or {"workers": []}
        return {worker["name"]: bool(worker.get("relay"))
                for worker in now["workers"] if worker["state"] == "active"}

    def go_on(self, steps=3):
        """Steps are made."""
        step = journal.last_step(self.out)
        self.wait(lambda: journal.last_step(self.out) >= step + steps, "steps")

    def settle(self):
        """Everybody is there, and steps are made."""
        self.wait(lambda: self.active() == sorted(self.names),
                  "everybody to be there")
        self.go_on()

    def calm(self):
        """All that TCP still owes after the last cut has come: whoever misses
        the goodbye knocks for a minute."""
        while True:
            said = self.said()
            self.settle()
            self.go_on(60)
            if self.said() == said:
                return

    def coordinator(self):
        return self.wait(lambda: dict(children(self.process.pid)).get(
            "coordinator"), "a coordinator")

    def end(self):
        """Stop, and compare: (name, what is wrong or None)."""
        self.calm()
        done = self.field.run("c", MUSTER, "stop", self.out, *TOKEN)
        if done.returncode != 0:
            raise Lost(f"stop: {done.stderr}")
        code = self.process.wait(timeout=40)
        result = json.loads(Path("result.json").read_text())
        alone = train(*self.data, "--steps", result["steps"])
        yield "stopped with its state saved", None if code == 75 else code
        yield (f"{result['steps']} steps, the hash of one machine",
               None if result["hash"] == alone["hash"] else
               f"{result['hash']}, alone {alone['hash']}")
        yield ("the journal has every step once", journal.wrong_with(
            self.out, result["steps"], result["hash"]))
        codes = [joiner.wait(timeout=40) for joiner in self.joiners]
        yield "workers end well", None if not any(codes) else str(codes)


# --- events ------------------------------------------------------------------


def hold_checkpoint(cluster):
    """Stop the coordinator in the middle of writing a checkpoint; its process
    id, or None if it was always quicker than we are."""
    libc = ctypes.CDLL(None, use_errno=True)
    watch = libc.inotify_init1(os.O_CLOEXEC)
    pid = cluster.coordinator()
    libc.inotify_add_watch(watch, cluster.out.encode(), 0x100)  # IN_CREATE
    try:
        for _ in range(30):
            if b"checkpoint.tmp" not in os.read(watch, 4096):
                continue
            os.kill(pid, signal.SIGSTOP)
            if Path(cluster.out, "checkpoint.tmp").exists():
                return pid
            os.kill(pid, signal.SIGCONT)
    finally:
        os.close(watch)
    return None


def cut_all(cluster, nodes, how, moment):
    held = hold_checkpoint(cluster) if moment == "checkpoint" else None
    for node in nodes:
        cluster.field.cut(node, how)
    if moment == "coordinator":
        os.kill(cluster.coordinator(), signal.SIGKILL)
    if held:
        os.kill(held, signal.SIGCONT)
        cluster.facts.append("checkpoint")


def check_order(cluster, since, victims, everyone):
    """P7, from what was said since the cut, which ended with deaths."""
    said = cluster.said()[since:]
    for name in victims:
        suspect = next((s for s, who, word in said
                        if who == name and word == "suspect"), None)
        died = next(s for s, who, word in said if who == name and
                    word == "died")
        if suspect is None:
            continue
        if everyone:
            last = max(s for s, _, word in said if word == "suspect")
            if died != last:
                raise Lost(f"{name} died at step {died}, the last suspicion "
                           f"was at {last}: steps without workers")
            cluster.facts.append("nobody, no step")
        elif died <= suspect:
            raise Lost(f"{name} suspected and dead at step {died}: it was "
                       "waited for")
        else:
            cluster.facts.append("steps under suspicion")


def play(cluster, nodes, how, length, moment):
    """One partition from beginning to end."""
    victims = cluster.names if nodes == ["c"] else nodes
    since = len(cluster.said())
    cut_all(cluster, nodes, how, moment)
    if moment == "coordinator":
        cluster.go_on()  # The new one never knew those who are cut off.
    elif length == "suspect":
        cluster.wait_word(victims, ("suspect", "died"), since)
    elif length == "dead":
        cluster.wait_word(victims, ("died",), since)
        if how in TWO_WAY:
            check_order(cluster, since, victims,
                        len(victims) == len(cluster.names))
    for node in nodes:
        cluster.field.heal(node)
    cluster.settle()


def events_of(rng, workers, moments):
    """Every cut with every length, to one, half or all, at some moment."""
    found = []
    lengths = ("blink", "suspect", "dead")
    sizes = [1, len(workers) // 2, 0, 1]
    rng.shuffle(sizes)
    for (i, how), (j, length) in itertools.product(enumerate(CUTS),
                                                   enumerate(lengths)):
        size = sizes[(i + j) % len(sizes)]
        nodes = rng.sample(workers, size) if size else ["c"]
        found.append((nodes, how, length, "any"))
    for moment in moments:
        nodes = rng.sample(workers, len(workers) // 2)
        found.append((nodes, rng.choice(list(CUTS)),
                      rng.choice(("blink", "suspect")), moment))
    rng.shuffle(found)
    return found


# --- fields ------------------------------------------------------------------


def plain(field, rng, tell, flags):
    """Workers that know the coordinator."""
    workers = ["w0", "w1", "w2", "w3"]
    cluster = Cluster(field, SMALL, workers, *flags)
    for node in workers:
        cluster.join(node)
    cluster.settle()
    moments = ["checkpoint", "checkpoint", "coordinator", "coordinator"]
    for nodes, how, length, moment in events_of(rng, workers, moments):
        tell(f"{how} {'+'.join(nodes)} {length} {moment}")
        play(cluster, nodes, how, length, moment)
    return cluster


def pairs(field, names, other, verb):
    """Nothing passes between these and the other, both ways."""
    for name, (a, b) in itertools.product(names, (("from", "to"),
                                                  ("to", "from"))):
        field.rule(verb, a, name, b, other)


def relayed(field, rng, tell, _flags):
    """Workers that know a relay and the coordinator, and take whichever they
    can reach."""
    workers = ["w0", "w1", "w2"]
    cluster = Cluster(field, SMALL, workers)
    field.add("relay")
    relay = field.start("relay", MUSTER, "relay", cluster.at, "--listen",
                        f"{field.address('relay')}:0", *TOKEN,
                        err=open("relay.log", "w"))
    near = cluster.wait(lambda: Path("relay.log").read_text().endswith("\n")
                        and re.search(r"muster join (\S+)",
                                      Path("relay.log").read_text())[1],
                        "the relay's address")
    for node in workers:
        cluster.join(node, f"{near},{cluster.at}")
    cluster.settle()
    cluster.joiners.append(relay)
    for number in range(3):
        for how in rng.sample(list(CUTS), 2):
            length = rng.choice(("blink", "suspect"))
            tell(f"{how} relay {length} {number}")
            cut_relay(cluster, how, length)
        how = rng.choice(TWO_WAY)
        tell(f"{how} relay: by the other way {number}")
        other_way(cluster, False, lambda: field.cut("relay", how),
                  lambda: field.heal("relay"))
        tell(f"coordinator out of sight: by the relay {number}")
        other_way(cluster, True, lambda: pairs(field, workers, "c", "add"),
                  lambda: pairs(field, workers, "c", "del"))
    return cluster


def cut_relay(cluster, how, length):
    since = len(cluster.said())
    cluster.field.cut("relay", how)
    if length == "suspect":
        cluster.wait_word(cluster.names, AWAY, since)
    cluster.field.heal("relay")
    cluster.settle()


def other_way(cluster, relayed, cut, heal):
    """All their roads are cut but one: they must find it while it lasts.  Who
    went that way before the cut has nothing to find."""
    cut()
    cluster.wait(lambda: cluster.roads() == {
        name: relayed for name in cluster.names},
        "all to come by the other way")
    cluster.settle()
    heal()
    cluster.facts.append("another way")


def shipping(field, rng, tell, _flags):
    """Newcomers are cut off while their data is on the way."""
    cluster = Cluster(field, LARGE, [])
    for node in ("w0", "w1"):
        field.add(node)
        cluster.join(node)
    cluster.settle()
    lengths = ["blink", "suspect", "suspect", "dead", "dead"]
    rng.shuffle(lengths)
    for number, length in enumerate(lengths):
        how = rng.choice(list(CUTS))
        node = f"n{number}"
        tell(f"{how} {node} {length} shipping")
        newcomer(cluster, node, how, length)
    return cluster


def newcomer(cluster, node, how, length):
    field = cluster.field
    field.add(node)
    field.narrow(node, "8mbit")
    cluster.join(node)
    cluster.wait(lambda: field.sent_to(node) > 200000, "its data to come")
    since = len(cluster.said())
    had = answers(cluster, node)
    play_newcomer(cluster, node, how, length, since)
    cluster.wait(lambda: answers(cluster, node), f"{node} to be of use")
    if had == 0:
        cluster.facts.append("shipping")


def play_newcomer(cluster, node, how, length, since):
    cluster.field.cut(node, how)
    if length != "blink":
        cluster.wait_word([node], ("died",) if length == "dead" else
                          ("suspect", "died"), since)
    cluster.field.heal(node)
    cluster.settle()


def answers(cluster, node):
    now = cluster.status() or {"workers": []}
    return sum(w["answers"] for w in now["workers"] if w["name"] == node)


FIELDS = {
    "steal": (plain, ["--code", "steal"]),
    "frc, every step durable": (plain, ["--code", "frc", "--sync"]),
    "relay": (relayed, []),
    "shipping": (shipping, []),
}


# --- one process for each field ----------------------------------------------


def say(**what):
    print(json.dumps(what), flush=True)


def field_main(number, owner):
    """In a process and a folder of its own; a JSON line for every point."""
    die_with_parent()
    name, (script, flags) = list(FIELDS.items())[number]
    rng = random.Random(f"{SEED}/{number}")
    os.makedirs(f"field{number}")
    os.chdir(f"field{number}")
    os.environ["XDG_CACHE_HOME"] = os.path.abspath("cache")
    run("token", "new", "cluster.token")
    done = []
    with Field(owner, number) as field:
        try:
            cluster = script(field, rng, done.append, flags)
            for point, wrong in cluster.end():
                say(ok=wrong is None, name=f"{name}: {point}", detail=wrong)
            say(events=len(done), facts=cluster.facts)
        except (AssertionError, OSError, ValueError,
                subprocess.TimeoutExpired) as error:
            say(ok=False, name=f"{name}: {done[-1] if done else 'start'}",
                detail=f"{error}\nevents so far: {done}\n{tails()}\n"
                f"{field.sockets()}\nended: "
                f"{[one.poll() for one in field.processes]}")
            say(events=len(done) - 1, facts=[])


def tails():
    return "\n".join(f"--- {path}\n" + "\n".join(
        path.read_text().splitlines()[-15:]) for path in sorted(
            Path(".").glob("*.log")))


def gather(tap, processes):
    """Print what the fields say; (events, facts) of all of them."""
    events, facts = 0, []
    for process in processes:
        for line in process.communicate()[0].splitlines():
            told = json.loads(line)
            if "ok" in told:
                tap.ok(told["ok"], told["name"], told["detail"])
            else:
                events += told["events"]
                facts += told["facts"]
        if process.returncode != 0:
            tap.ok(False, "a field ends by itself", process.returncode)
    return events, facts


def judge(tap, events, facts):
    tap.ok(events >= EVENTS_LEAST, f"{events} partitions")
    for fact, name in (
            ("steps under suspicion", "steps go on before a death is declared"),
            ("nobody, no step", "no step without workers"),
            ("another way", "workers take the road that is left"),
            ("shipping", "cut off while data was on its way")):
        tap.ok(fact in facts, f"{name}: {facts.count(fact)} times")
    name = "cut off while a checkpoint was written"
    count = facts.count("checkpoint")
    if count:
        tap.ok(True, f"{name}: {count} times")
    else:
        tap.skip(name, "the disk was always quicker")


def main():
    tap = Tap()
    missing = why_not()
    if missing:
        tap.skip("partitions", missing)
        tap.done()
    sweep()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    processes = [subprocess.Popen(
        [sys.executable, __file__, str(number), str(os.getpid())],
        stdout=subprocess.PIPE, text=True) for number in range(len(FIELDS))]
    try:
        judge(tap, *gather(tap, processes))
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
            process.wait()
        sweep(os.getpid())
        if tap.failed:
            print(f"# REPLAY: seed {SEED} (MUSTER_TEST_SEED={SEED})")
    tap.done()


if __name__ == "__main__":
    if len(sys.argv) == 3:
        field_main(int(sys.argv[1]), int(sys.argv[2]))
    else:
        main()
