#!/usr/bin/env python3
"""Chunks from worker to worker: the coordinator sends about one copy of each,
and whatever becomes of a peer (killed, cut off, wrong, without manners) costs
time, never bits.  The result counts chunks: `shipped` by the coordinator, given
by `peers`, and `peers_failed`."""

import os
import random
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))
from cluster import (MUSTER, Tap, place_of, finish, happens,  # noqa: E402
                     kill, result_of, run, start, wait_for, wait_step)
from field import Field, sweep, why_not  # noqa: E402
from strangers import attack  # noqa: E402
from wire import record_handshake  # noqa: E402

CHUNKS = 64
DATA = ["gen:gmm:4096,50", "--chunk-rows", "64"]
LARGE_CHUNKS = 256
LARGE = ["gen:gmm:65536,256", "--chunk-rows", "256"]
STEPS = 20
SPOILER = Path(MUSTER).resolve().parent / "tests" / "net-spoiler"
LONG = 120


def job(out, workers, *more, data=None, steps=STEPS):
    return ["train", *(data or DATA), "--steps", str(steps), "--format", "json",
            "--listen", "127.0.0.1:0", "--workers", str(workers), "--out", out,
            *more]


def join(address, name, *more):
    return start("join", address, "--name", name, "--chunk-cache", "none", *more)


def ended(process, joiners, timeout=LONG):
    """The result, with how everybody ended."""
    code, text, err = finish(process, timeout)
    result = result_of(text)
    result["exit"], result["stderr"] = code, err
    result["joiners"] = [finish(joiner, 20) for joiner in joiners]
    return result


def well(result, wanted):
    return result["exit"] == 0 and result.get("hash") == wanted


def one_copy(tap, wanted):
    """Four copies of everything are needed, one is sent."""
    process = start(*job("one", 8, "--code", "frc", "--stragglers", "3"))
    address = place_of("one")
    result = ended(process, [join(address, f"far-{i}") for i in range(8)])
    data = result.get("data", {})
    tap.ok(well(result, wanted) and not any(j[0] for j in result["joiners"]),
           "8 joiners, four copies: the same hash", result)
    tap.ok(CHUNKS <= data["shipped"] <= 1.25 * CHUNKS,
           "the coordinator sends one copy", data)
    # What failed for want of time was sent; all the rest came from peers.
    tap.ok(data["peers"] >= 2.75 * CHUNKS and
           data["shipped"] + data["peers"] >= 4 * CHUNKS,
           "... and peers the others", data)
    tap.equal(data["peers_wrong"], 0, "nobody gave wrong bytes")


def alone(tap, wanted):
    """--ship coordinator, of the run, or of one worker."""
    process = start(*job("alone", 2, "--code", "frc", "--stragglers", "1",
                         "--ship", "coordinator"))
    address = place_of("alone")
    result = ended(process, [join(address, f"far-{i}") for i in range(2)])
    data = result.get("data", {})
    tap.ok(well(result, wanted) and
           (data["shipped"], data["peers"]) == (2 * CHUNKS, 0),
           "--ship coordinator: all from there", result)
    process = start(*job("hermit", 2, "--code", "frc", "--stragglers", "1",
                         "--delay", "exp:0.05"))
    address = place_of("hermit")
    hermit = join(address, "hermit", "--ship", "coordinator")
    other = join(address, "other")
    tap.ok(happens(lambda: ports_of(other.pid)), "a joiner opens a port")
    tap.equal(ports_of(hermit.pid), [],
              "... but not with join --ship coordinator")
    result = ended(process, [hermit, other])
    data = result.get("data", {})
    tap.ok(well(result, wanted) and
           (data["shipped"], data["peers"]) == (2 * CHUNKS, 0),
           "... which neither gives nor gets", result)


def keeper(address, name):
    """A joiner that keeps what it gets, where kept() counts it."""
    return start("join", address, "--name", name, "--chunk-cache", f"kept-{name}")


def kept(name):
    folder = Path(f"kept-{name}")
    return len(list(folder.glob("[0-9a-f]*"))) if folder.exists() else 0


def takes_over(tap):
    """One who comes for another has its rows from those who are there."""
    steps = 2000
    wanted = result_of(run("train", *DATA, "--steps", str(steps), "--format",
                           "json").stdout).get("hash")
    process = start(*job("over", 2, "--code", "frc", "--stragglers", "1",
                         "--delay", "exp:0.005", steps=steps))
    address = place_of("over")
    joiners = [keeper(address, f"over-{i}") for i in range(2)]
    wait_for(lambda: all(kept(f"over-{i}") == CHUNKS for i in range(2)),
             "both to have all chunks")
    kill(joiners[0].pid)
    joiners.append(join(address, "late"))
    result = ended(process, joiners)
    data = result.get("data", {})
    tap.ok(well(result, wanted), "a joiner takes over: the same hash", result)
    # The two who began may both have been sent theirs, who came later not.
    tap.ok(data["shipped"] <= 2 * CHUNKS and data["peers"] >= CHUNKS,
           "... and has its rows from a peer", data)


def killed(tap, wanted):
    """Two of four are killed while everybody sends to everybody."""
    process = start(*job("killed", 4, "--code", "frc", "--stragglers", "3",
                         "--delay", "exp:0.2", data=LARGE))
    address = place_of("killed")
    joiners = [keeper(address, f"far-{i}") for i in range(4)]
    wait_for(lambda: all(kept(f"far-{i}") > 0 for i in range(4)),
             "chunks to travel")
    here = [kept(f"far-{i}") for i in range(4)]
    for victim in joiners[:2]:
        kill(victim.pid)
    result = ended(process, joiners)
    tap.ok(min(here) < LARGE_CHUNKS, "not all had come when two were killed",
           here)
    tap.ok(well(result, wanted), "kill -9 of peers: the same hash", result)
    tap.equal(result.get("workers", {}).get("died"), 2, "... and two died")


def spoiled(out, steps):
    process = start(*job(out, 1, "--delay", "exp:0.005", steps=steps))
    address = place_of(out)
    spoiler = subprocess.Popen([SPOILER, address, "bad"], text=True,
                               stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_step(out, 3)  # It has all the rows, and nobody else has any.
    goods = []
    for name in (f"{out}-0", f"{out}-1"):
        goods.append(keeper(address, name))
        # All of them: the next one is sent to who has them.
        wait_for(lambda: kept(name) == CHUNKS, "one who is sent to it")
    return ended(process, [spoiler] + goods)


def wrong(tap):
    """A peer that gives wrong bytes is named, and nobody asks it again.  A
    peer that does not answer within a second is not waited for, and then
    nobody gives anything: a busy machine is given two more chances."""
    steps = 1500
    wanted = result_of(run("train", *DATA, "--steps", str(steps), "--format",
                           "json").stdout).get("hash")
    for chance in range(3):
        out = f"wrong{chance}"
        result = spoiled(out, steps)
        data = result.get("data", {})
        if not well(result, wanted) or data["peers"] > 0:
            break
    tap.ok(well(result, wanted), "wrong bytes: the same hash", result)
    tap.equal(re.findall(rf"(\S+) gave {out}-0 wrong bytes of chunk \d+; "
                         "nobody is sent to it", result["stderr"]), ["bad"],
              "who gave them is named, once")
    tap.ok(data["peers_wrong"] == 1 and data["shipped"] > CHUNKS and
           data["peers"] > 0, "... and counted; another peer goes on giving",
           data)


def ports_of(pid):
    """Ports that the process listens at."""
    inodes, ports = set(), []
    try:
        for entry in os.scandir(f"/proc/{pid}/fd"):
            found = re.match(r"socket:\[(\d+)\]", os.readlink(entry.path))
            inodes |= {found[1]} if found else set()
    except OSError:
        return []
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        words = line.split()
        if words[3] == "0A" and words[9] in inodes:
            ports.append(int(words[1].split(":")[1], 16))
    return ports


def strangers(tap):
    """At a worker's door: noise, other keys, the cluster's own; no chunk."""
    steps = 300
    wanted = result_of(run("train", *DATA, "--steps", str(steps), "--format",
                           "json").stdout).get("hash")
    for name in ("cluster", "other"):
        run("token", "new", f"{name}.token")
    run("token", "new", "w9.token", "--name", "w9", "--from", "cluster.token")
    key = ["--token-file", "cluster.token"]
    process = start(*job("sealed", 2, "--code", "frc", "--stragglers", "1",
                         "--delay", "exp:0.01", *key, steps=steps))
    address = place_of("sealed")
    joiners = [join(address, f"far-{i}", *key) for i in range(2)]
    port = wait_for(lambda: ports_of(joiners[0].pid), "a worker's port")[0]
    door = f"127.0.0.1:{port}"
    wait_step("sealed", 1, *key)
    recorded = record_handshake(["join", None, "--name", "far-1", *key])
    made = attack(door, random.Random(3), 300, 50, recorded)
    refused = [run("join", door, "--token-file", f"{token}.token", "--name",
                   "w9") for token in ("other", "w9", "cluster")]
    result = ended(process, joiners)
    logs = "".join(joiner[2] for joiner in result["joiners"])
    tap.ok(made > 250 and well(result, wanted) and
           result["data"]["peers"] >= CHUNKS,
           "strangers at a worker's door: the same hash", result)
    tap.ok(all(one.returncode != 0 for one in refused),
           "no other key opens it, not even the cluster's", refused)
    tap.ok("was turned away" in result["joiners"][0][2],
           "the worker's log says so", logs)
    tap.ok(len(logs.splitlines()) < 100, "... in few lines", len(logs))
    # 16 bytes of a key, or of a row, would show as that many digits.
    tap.ok(not re.search(r"[0-9a-fA-F]{32}", logs + result["stderr"]),
           "no key in a log", logs)


def cut_off(tap, wanted):
    """Workers that reach the coordinator but not each other."""
    reason = why_not()
    if reason:
        tap.skip("workers that cannot reach each other", reason)
        return
    with Field(os.getpid(), 0) as field:
        for node in ("c", "a", "b"):
            field.add(node)
        field.rule("add", "from", "a", "to", "b")
        field.rule("add", "from", "b", "to", "a")
        run("token", "new", "field.token")
        key = ["--token-file", "field.token"]
        # One of them could make all the steps; they last until both know.
        args = job("cut", 2, "--code", "frc", "--stragglers", "1", "--delay",
                   "exp:0.3", *key)
        args[args.index("127.0.0.1:0")] = f"{field.address('c')}:0"
        with open("cut.json", "w+") as out, open("cut.err", "w+") as err:
            train = field.start("c", MUSTER, *args, out=out, err=err)
            address = place_of("cut")
            joiners = [field.start(node, MUSTER, "join", address, "--name",
                                   node, "--chunk-cache", "none", *key)
                       for node in ("a", "b")]
            code = train.wait(LONG)
            for joiner in joiners:
                joiner.wait(20)
        result = result_of(Path("cut.json").read_text())
        data = result.get("data", {})
        tap.ok(code == 0 and result.get("hash") == wanted,
               "workers that cannot reach each other: the same hash", result)
        tap.equal((data.get("shipped"), data.get("peers"),
                   data.get("peers_failed")), (2 * CHUNKS, 0, CHUNKS),
                  "... all from the coordinator, in the end")
        tap.ok("could not get chunk" in Path("cut.err").read_text(),
               "... and the log says who could not reach whom")


def main():
    tap = Tap()
    sweep()
    wanted, large = (result_of(run("train", *data, "--steps", str(STEPS),
                                   "--format", "json").stdout).get("hash")
                     for data in (DATA, LARGE))
    one_copy(tap, wanted)
    alone(tap, wanted)
    takes_over(tap)
    killed(tap, large)
    wrong(tap)
    strangers(tap)
    cut_off(tap, wanted)
    tap.done()


main()
