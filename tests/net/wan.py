#!/usr/bin/env python3
"""Training over bad roads, made by a seeded proxy (lib/proxy.py).

100 ms round trips with jitter and 1 % loss must cost nobody his life; resets,
cuts, half-open connections and flipped bits cost a reconnect; the hash is that
of one machine alone, always.
"""

import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))
from cluster import (Tap, address_of, finish, own_key, perfect_hash,  # noqa: E402
                     result_of, run, start, status, train_args, wait_for,
                     wait_step)
from proxy import DOWN, UP, Proxy, Road  # noqa: E402

STEPS = 40
WORKERS = 3
WAN = dict(delay_s=0.05, jitter_s=0.03, loss=0.01)


class Cluster:
    """A coordinator without workers of its own, and a proxy before it."""

    def __init__(self, out, road, *flags, steps=STEPS, key=()):
        self.out = out
        self.key = list(key)
        self.process = start(*train_args(
            out, "--listen", "127.0.0.1:0", "--workers", str(WORKERS), *flags,
            *key, steps=steps))
        self.proxy = Proxy(address_of(out), road).__enter__()
        self.workers = [self.join(f"w{i}") for i in range(WORKERS)]

    def join(self, name):
        return start("join", self.proxy.address, "--name", name, "--threads",
                     "1", *(self.key or own_key(self.out)))

    def reach(self, step):
        return wait_step(self.out, step, *self.key)

    def end(self):
        code, text, err = finish(self.process)
        for worker in self.workers:
            finish(worker)
        self.proxy.__exit__()
        return code, result_of(text), err

    def kill(self):
        for one in [self.process, *self.workers]:
            if one.poll() is None:
                os.kill(one.pid, signal.SIGKILL)
            one.communicate()
        self.proxy.__exit__()


def guarded(tap, name, cluster, play):
    """Play, or kill everything and say what went wrong."""
    try:
        return play(cluster)
    except (AssertionError, OSError) as error:
        cluster.kill()
        tap.ok(False, name, error)
        return None


def over_wan(tap, wanted, code):
    """No deaths, few suspicions, the same bits."""
    cluster = Cluster(f"wan-{code}", Road(seed=11, **WAN), "--code", code)
    code_, result, err = cluster.end()
    name = f"100 ms, jitter, 1 % loss, {code}"
    tap.ok(code_ == 0 and result.get("hash") == wanted, f"{name}: same hash",
           f"{code_} {result} {err}")
    tap.ok(result.get("workers", {}).get("died") == 0 and
           result["workers"]["joined"] == WORKERS, f"{name}: nobody dies",
           f"{result.get('workers')} {err}")
    suspicions = err.count(" suspect")
    tap.ok(cluster.proxy.stalls >= 3, f"{name}: there was loss",
           f"{cluster.proxy.stalls} stalls")
    tap.ok(suspicions <= cluster.proxy.stalls / 2,
           f"{name}: few suspicions",
           f"{suspicions} of {cluster.proxy.stalls} stalls: {err}")


def over_slow_road(tap, wanted):
    """A thin pipe: what is slow is not sent again, so it gets through."""
    cluster = Cluster("thin", Road(delay_s=0.02, rate=150e3, seed=5),
                      "--code", "rep", steps=20)
    code, result, err = cluster.end()
    tap.ok(code == 0 and result.get("hash") == wanted and
           result["workers"]["died"] == 0, "150 kB/s: same hash, nobody dies",
           f"{code} {result} {err}")


def breaks(tap, wanted, name, fault, mend, key=()):
    """A fault in the middle of a run; workers dial again by themselves."""
    cluster = Cluster(name.replace(" ", "-"), Road(delay_s=0.002, seed=3),
                      "--delay", "exp:0.02", key=key)

    def play(cluster):
        cluster.reach(10)
        fault(cluster.proxy)
        mend(cluster)
        return cluster.end()
    played = guarded(tap, name, cluster, play)
    if played is None:
        return
    code, result, err = played
    tap.ok(code == 0 and result.get("hash") == wanted, f"{name}: same hash",
           f"{code} {result} {err}")


def wait_gone(cluster):
    """Until the coordinator has noticed, then the road is whole again."""
    def look():
        now = status(cluster.out, *cluster.key)
        return now is not None and not any(
            w["state"] == "active" for w in now["workers"])
    wait_for(look, "the workers to be missed")
    cluster.proxy.heal()


def nothing(cluster):
    return None


def main():
    tap = Tap()
    wanted = perfect_hash(STEPS)
    for code in ("steal", "uncoded"):
        over_wan(tap, wanted, code)
    over_slow_road(tap, perfect_hash(20))
    breaks(tap, wanted, "resets", lambda p: p.reset(), nothing)
    breaks(tap, wanted, "half open", lambda p: p.cut(), wait_gone)
    breaks(tap, wanted, "deaf one way", lambda p: p.cut(UP), wait_gone)
    breaks(tap, wanted, "mute one way", lambda p: p.cut(DOWN), wait_gone)
    done = run("token", "new", "cluster.token")
    tap.ok(done.returncode == 0, "token new", done.stderr)
    breaks(tap, wanted, "flipped bits", lambda p: p.flip(5), nothing,
           key=["--token-file", "cluster.token"])
    tap.done()


main()
