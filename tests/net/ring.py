#!/usr/bin/env python3
"""A ring of peers on one machine: one hash for any number of them, by shared
memory and by sockets, whoever is killed, stopped, started again or joins; any
peer's folder is enough to go on; the last one left finishes alone."""

import os
import random
import select
import signal
import socket
import sys
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
import journal
from cluster import (DEADLINE_S, Tap, Train, address_of, happens, kill, run,
                     status, train, wait_for)
from wire import VERSION, Peer, hello, meet, reject_text

SEED = int(os.environ.get("MUSTER_TEST_SEED", "1"))
KILLS = 100
RING = ["--topology", "ring"]
LONG = ["gen:gmm:8000,40", "--seed", 4, "--chunk-rows", 64, "--lr", "1e-3",
        "--steps", 2500]
# Sums long enough to be lent: each reads what the others have added up.
WIDE = ["gen:gmm:400,4000", "--seed", 4, "--chunk-rows", 8, "--optim", "gd",
        "--lr", "1e-4", "--steps", 800]
TASKS = {
    "linear": ["gen:linear:3000,20", "--optim", "lbfgs", "--chunk-rows", 64],
    "logistic": ["gen:gmm:3000,20", "--optim", "newton", "--chunk-rows", 64],
    "softmax": ["gen:digits:500", "--model", "softmax", "--optim", "lbfgs",
                "--steps", 15, "--chunk-rows", 16],
    "minibatches": ["gen:gmm:3000,20", "--optim", "momentum", "--batch", 200,
                    "--passes", 4, "--patience", 3],
    "network": ["gen:digits:500", "--net", "dense24 relu dense10", "--optim",
                "adam", "--steps", 40],
}


def one_hash(tap):
    for name, task in TASKS.items():
        wanted = train(*task)["hash"]
        tap.equal(train(*task, "-n", 2)["hash"], wanted,
                  f"{name}: a star has one process's hash")
        for peers in range(1, 6):
            road = "tcp" if peers == 3 else "shm"
            result = train(*task, "-n", peers, *RING, "--bulk", road)
            tap.ok(result["exit"] == 0 and result["hash"] == wanted and
                   result["workers"]["joined"] == peers and
                   result["bulk"] == road,
                   f"{name}: {peers} peers by {road}: the same hash", result)


def peers_of(job):
    return [(name, pid) for name, pid in job.children()
            if name[0] == "w" and name[1:].isdigit()]


def kill_and_respawn(tap, rng, number, task, wanted, most):
    """Peers die and come back, all of them alike; how many were killed."""
    job = Train(*task, "-n", 4, *RING, "--respawn", "--out", f"run{number}")
    killed = 0
    job.wait_child("w3")
    while job.process.poll() is None and killed < most:
        select.select([], [], [], rng.uniform(0.005, 0.03))
        family = peers_of(job)
        if family and kill(rng.choice(family)[1]):
            killed += 1
    result = job.finish()
    tap.ok(result["exit"] == 0 and result.get("hash") == wanted,
           f"run {number}: {killed} peers killed and started again, same hash",
           f"seed {SEED}: {result}")
    return killed


def down_to_one(tap, rng, number, task, wanted):
    """Nobody comes back: the last one left has the model."""
    job = Train(*task, "-n", 5, *RING, "--out", f"last{number}")
    order = [f"w{i}" for i in range(5)]
    rng.shuffle(order)
    for name in order[1:]:
        wait_for(lambda: journal.last_step(f"last{number}/{order[0]}") > 20,
                 "steps")
        kill(job.wait_child(name))
    result = job.finish()
    tap.ok(result["exit"] == 0 and result.get("hash") == wanted and
           result["workers"]["died"] == 4,
           f"killed {', '.join(order[1:])}: {order[0]} finishes alone, same "
           "hash", f"seed {SEED}: {result}")
    return 4


def many_kills(tap, wanted):
    rng = random.Random(SEED)
    tasks = ((LONG, wanted), (WIDE, train(*WIDE)["hash"]))
    kills = runs = 0
    while kills < KILLS and runs < 25:
        kills += kill_and_respawn(tap, rng, runs, *tasks[runs % 2], 25)
        kills += down_to_one(tap, rng, runs, *tasks[runs % 2])
        runs += 1
    tap.ok(kills >= KILLS, f"{kills} kills in {2 * runs} runs")


def state_of(folder, name):
    now = status(folder) or {"workers": []}
    return next((w["state"] for w in now["workers"] if w["name"] == name),
                "nobody")


def stop_and_continue(tap, wanted):
    """A stopped peer is left out, and comes back by itself."""
    job = Train(*LONG, "-n", 3, *RING, "--out", "stopped")
    wait_for(lambda: journal.last_step("stopped/w0") > 20, "steps")
    victim = job.wait_child("w2")
    others = [job.wait_child(name) for name in ("w0", "w1")]
    kill(victim, signal.SIGSTOP)
    tap.ok(happens(lambda: state_of("stopped", "w2") == "away"),
           "a stopped peer is left out")
    for pid in others: # The run is not to be over before it is back.
        kill(pid, signal.SIGSTOP)
    kill(victim, signal.SIGCONT)
    for pid in others:
        kill(pid, signal.SIGCONT)
    result = job.finish()
    tap.ok(result["exit"] == 0 and result.get("hash") == wanted,
           "... and the run ends on the same hash", result)


def resume(tap, wanted):
    """Killed as a whole, it goes on from the folder of one peer."""
    job = Train(*LONG, "-n", 3, *RING, "--out", "cut")
    wait_for(lambda: journal.last_step("cut/w2") > 200, "steps")
    job.process.kill()
    job.finish()
    for name in ("w0", "w1"):
        for file in Path("cut", name).iterdir():
            file.unlink()
    result = train("--resume=cut", "-n", 2)
    tap.ok(result["exit"] == 0 and result["hash"] == wanted and
           journal.last_step("cut/w2") == 2500,
           "resumed by two peers from what the third had: same hash", result)
    again = train(*LONG, "-n", 2, *RING, "--max-time", "0.5", "--out", "short")
    tap.ok(not again["finished"] and
           {journal.last_step(f"short/w{i}") for i in (0, 1)} ==
           {again["steps"]},
           "--max-time ends all peers at the same step", again)
    result = train("--resume=short", "-n", 4, "--max-time", 0)
    tap.equal(result["hash"], wanted, "... and four go on: same hash")


def asked(tap):
    """Any peer says who is behind; what only a coordinator knows is not made
    up."""
    job = Train(*LONG[:-1], 10 ** 6, "-n", 2, *RING, "--out", "asked")
    address_of("asked")
    why = wait_for(lambda: (lambda said: said if "2 workers" in said.stdout else
                            None)(run("status", "asked", "--why-slow")),
                   "both peers")
    tap.ok(why.returncode == 0 and "not behind" in why.stdout,
           "--why-slow asks any peer", why)
    job.process.terminate()
    job.finish()
    report = run("report", "asked")
    tap.ok(report.returncode == 0 and "uncoded" not in report.stdout,
           "a report of a ring says nothing of codes", report)
    page = Path("asked/report.html").read_text(encoding="utf8")
    tap.ok('"ring":true' in page and "its matrix is not" not in page,
           "... and its page misses no matrix")


def one_here(tap):
    """Whoever calls a ring need not say that it is of it."""
    result = train("gen:gmm:400,5", "--steps", 3, *RING, "--listen",
                   "127.0.0.1:0")
    tap.ok(result.get("hash") and result["workers"]["joined"] == 1,
           "with --listen and no -n one peer is here", result)


def nobody_there(tap):
    """Alone at an address that was mistyped: the hash is the same, so somebody
    must say it."""
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    task = ["gen:gmm:400,5", "--steps", 3, "-n", 3, *RING]
    for peers, said in (["--peers", f"127.0.0.1:{port}"], 1), ([], 0):
        code, _, err = run("train", *task, *peers)
        tap.ok(code == 0 and err.count("has answered so far") == said,
               f"{said} of --peers did not answer: it is told", err)


def finished(tap):
    """Nobody is told of as having left who only goes home."""
    for number in range(5):
        run("train", "gen:gmm:400,5", "--steps", 3, "-n", 4, *RING, "--out",
            "over")
        code, _, err = run("train", "--resume=over")
        if code != 0 or " left" in err:
            break
    tap.ok(code == 0 and " left" not in err,
           "resumed when it was over: nobody left", err)


def refused(tap):
    cases = {
        "a code": ["--code", "frc"], "relays": ["--fanout", 2],
        "--verify": ["--verify"], "--delay": ["--delay", "exp:0.1"],
        "a grid": ["--grid", "lr=1,2"],
        "a kill of a coordinator": ["--chaos", "kill:w1@2,kill:coordinator@3"],
        "... now and then": ["--chaos", "coordinator=1/s"],
    }
    for name, flags in cases.items():
        code, _, err = run("train", *LONG, "-n", 3, *RING, *flags)
        tap.ok(code == 2 and "ring" in err, f"{name} is refused", err)


def said_to(address, token, message):
    """What a peer of the ring answers to such a greeting."""
    peer = Peer(address, token)
    peer.send(message)
    answer = peer.receive()
    peer.close()
    return reject_text(answer)


def intruders(tap):
    """Nobody gets in who is not of this ring, whatever they say."""
    for flags in (["cluster.token"], ["other.token"],
                  ["far.token", "--name", "far", "--from", "cluster.token"]):
        assert run("token", "new", *flags).returncode == 0
    key = ["--token-file", "cluster.token"]
    job = Train(*LONG[:-1], 10 ** 6, "-n", 2, *RING, "--listen", "127.0.0.1:0",
                *key, "--out", "open")
    address = address_of("open")
    greetings = {
        "a worker's own token": ("far.token", meet(), "cluster's token"),
        "other options": ("cluster.token", meet(), "another training"),
        "another release": ("cluster.token", meet(version=VERSION + 1),
                            "another release"),
        "no such chunks": ("cluster.token", meet(first=2, end=1),
                           "not a REJECT"),
        "a HELLO of other bits": ("cluster.token", hello(), "other bits"),
        "a HELLO by a worker's own token": ("far.token", hello(name="far"),
                                            "cluster's token"),
    }
    for name, (token, message, sentence) in greetings.items():
        said = said_to(address, token, message)
        tap.ok(sentence in said, f"{name}: turned away", said)
    try:
        said_to(address, "other.token", meet())
        tap.ok(False, "another token: no greeting")
    except (AssertionError, OSError):
        tap.ok(True, "another token: no greeting")
    other = train(*LONG[:-1], 10, "-n", 1, *RING, "--peers", address, *key)
    tap.ok("another training" in other.get("error", ""),
           "a ring with other --steps is told why it is not let in", other)
    stop = run("stop", address, *key)
    tap.ok(stop.returncode == 0, "`muster stop` of one peer stops the ring",
           stop.stderr)
    result = job.finish()
    tap.equal(result.get("hash"),
              train(*LONG[:-1], result.get("steps"))["hash"],
              "... and nothing of it changed the hash")


def elsewhere(tap):
    """Of three commands, as on three machines, one is killed: the others say
    so, count it, and do not take it for a worker."""
    key = ["--token-file", "cluster.token"]
    flags = [*LONG[:-1], 10 ** 6, *RING, "--workers", 3, "--listen",
             "127.0.0.1:0", *key]
    first = Train(*flags, "--name", "one", "--out", "m-one")
    more = ["--peers", address_of("m-one")]
    second = Train(*flags, *more, "--name", "two", "--out", "m-two")
    third = Train(*flags, *more, "--name", "three", "--out", "m-three",
                  "--chaos", "kill:three@20")
    gone = third.finish().get("error", "")
    tap.ok("all peers of this machine are gone; the state is saved, go on "
           "with: muster train --resume=m-three, which looks for those of "
           "other machines again" in gone,
           "who loses its peers is told that others may go on", gone)
    for folder in ("m-one", "m-two"):
        now = wait_for(lambda at=folder: [
            now for now in [status(at, *key)] if now and now["died"] == 1],
            f"a death to be noticed in {folder}")[0]
        here = [peer["name"] for peer in now["workers"]
                if peer["state"] != "away"]
        tap.equal(sorted(here), ["one", "two"], f"{folder}: two are left")
        text = run("status", folder, *key).stdout
        tap.ok("2 workers and 1 away" in text, "... and counted", text)
    assert run("stop", "m-one", *key).returncode == 0
    for job, folder in ((first, "m-one"), (second, "m-two")):
        done = job.finish()
        tap.ok("three died; 2 go on" in done["stderr"] and
               done["workers"]["died"] == 1,
               f"{folder}: a death elsewhere is told and counted", done)
        page = run("report", folder)
        text = Path(folder, "report.html").read_text(encoding="utf8")
        tap.ok('"kind":"died","name":"three"' in text, "... and reported",
               page)


def stranger(tap):
    """Where a dead peer was, another program answers: it is dialled again and
    again, and told of once."""
    key = ["--token-file", "cluster.token"]
    flags = [*LONG[:-1], 10 ** 6, *RING, "--workers", 2, "--listen",
             "127.0.0.1:0", *key]
    first = Train(*flags, "--name", "one", "--out", "s-one", "--chaos",
                  "kill:one@20")
    host, port = address_of("s-one").rsplit(":", 1)
    second = Train(*flags, "--name", "two", "--out", "s-two", "--peers",
                   f"{host}:{port}")
    first.finish()
    with socket.socket() as door:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        door.bind((host, int(port)))
        door.listen()
        door.settimeout(DEADLINE_S)
        for _ in range(4):
            guest, _ = door.accept()
            with guest:
                guest.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                guest.settimeout(DEADLINE_S)
                while guest.recv(4096):
                    pass
    assert run("stop", "s-two", *key).returncode == 0
    said = second.finish()["stderr"]
    tap.equal(said.count("does not hold the key"), 1,
              "a stranger at a peer's address is told of once")


def main():
    tap = Tap()
    wanted = train(*LONG)["hash"]
    one_hash(tap)
    many_kills(tap, wanted)
    stop_and_continue(tap, wanted)
    resume(tap, wanted)
    intruders(tap)
    elsewhere(tap)
    stranger(tap)
    asked(tap)
    one_here(tap)
    nobody_there(tap)
    finished(tap)
    refused(tap)
    tap.done()


main()
