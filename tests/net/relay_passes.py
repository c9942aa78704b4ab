#!/usr/bin/env python3
"""What goes through a relay besides sums: answers that are compared, late ones,
where the time went, chunks that workers keep; and who sits behind which."""

import json
import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from cluster import (SMALL, Tap, Train, finish, kill, own_key, place_of, result_of,
                     run, start, status, train, wait_for, wait_step)

LATE = ["gen:gmm:6000,20", "--steps", 150, "--seed", 3, "--chunk-rows", 64,
        "--optim", "gd", "-n", 4, "--delay", "worker:w2=40", "--code",
        "ignore:staleness=2"]
KEPT = ["gen:gmm:2048,20", "--chunk-rows", "64", "--steps", "20"]
CHUNKS = 32


def compared(tap):
    """A relay under --verify passes answers on one by one."""
    wanted = train(SMALL, "--steps", 30)["hash"]
    for code in "frc", "steal", "uncoded":
        got = train(SMALL, "--steps", 30, "-n", 4, "--code", code, "--fanout",
                    2, "--verify", "--chaos", "lie:w1@3")
        liars = [one["name"] for one in got["trust"]["banned"]]
        tap.ok(got["exit"] == 0 and got.get("hash") == wanted,
               f"--verify, {code}: the honest hash", got)
        tap.equal((liars, got["trust"]["unchecked"]), (["w1"], 0),
                  f"--verify, {code}: the liar behind a relay is named")
    got = train(SMALL, "--steps", 60, "-n", 4, "--fanout", 2, "--audit", "30%",
                "--chaos", "lie:w1@3,kill:r1@20")
    tap.equal([one["name"] for one in got["trust"]["banned"]], ["w1"],
              "--audit: the same, and a relay is killed")


def late(tap):
    for chaos in "kill:r0@20", "kill:coordinator@30":
        got = train(*LATE, "--fanout", 2, "--chaos", chaos)
        tap.equal((got["exit"], got["steps"], got["exactness"]["approx"]),
                  (0, 150, 150), f"staleness, {chaos}: it ends")
        tap.ok(1 <= got["age"]["max"] <= 2, f"staleness, {chaos}: ages",
               got["age"])
        tap.ok(got["train_metrics"]["accuracy"] > 0.9,
               f"staleness, {chaos}: it learned", got["train_metrics"])


def pulses(tap):
    """Spans and times of every worker, on the coordinator's clock."""
    got = train("gen:gmm:8000,20", "-n", 4, "--fanout", 2, "--steps", 150,
                "--delay", "exp:0.01", "--trace", "t.json", "--out", "p")
    events = json.loads(Path("t.json").read_text())
    names = {e["pid"]: e["args"]["name"] for e in events
             if e["name"] == "process_name"}
    spans = [e for e in events if e["ph"] == "X"]
    who = {names[e["pid"]] for e in spans if e["name"] == "compute"}
    tap.equal(sorted(who), ["w0", "w1", "w2", "w3"],
              "--trace: everybody's spans come through")
    steps = [e for e in spans if e["name"] == "step"]
    first = min(e["ts"] for e in steps)
    last = max(e["ts"] + e["dur"] for e in steps)
    inside = [e for e in spans if e["name"] == "compute" and
              first - 5e4 <= e["ts"] <= last + 5e4]
    tap.equal(len(inside), len([e for e in spans if e["name"] == "compute"]),
              "--trace: they lie within the steps: it is one clock")
    times = got["worker_times"]
    tap.ok(all(w["busy_s"] > 0 and w["round_trip_s"] > 0 for w in times),
           "the result has where everybody's time went", times)
    tap.equal([w["relay"] for w in times], ["r0", "r0", "r1", "r1"],
              "and who was behind which relay")
    page = run("report", "p", "--to", "p.html")
    tap.ok(page.returncode == 0 and '"relay"' in Path("p.html").read_text(),
           "so does the report", page)


def kept_run(out):
    process = start("train", *KEPT, "--format", "json", "--listen",
                    "127.0.0.1:0", "--workers", "2", "--code", "uncoded",
                    "--out", out)
    relay = start("relay", place_of(out), "--name", "between")
    words = relay.stderr.readline().split()
    near = words[words.index("join") + 1]
    joiners = [start("join", near, "--name", f"far-{i}", "--chunk-cache", "kept",
                     *own_key(out))
               for i in range(2)]
    code, text, err = finish(process)
    result = result_of(text)
    ends = [finish(one, 20)[0] for one in [*joiners, relay]]
    return result, f"{code} {ends} {err}"


def kept(tap):
    """Chunks travel once; what is on a worker's disk is told through a relay."""
    wanted = train(*KEPT)["hash"]
    for name, shipped, fetched in ("empty", CHUNKS, 0), ("full", 0, CHUNKS):
        got, detail = kept_run(f"kept-{name}")
        tap.ok(got.get("hash") == wanted, f"{name} disks: the same hash",
               f"{got} {detail}")
        tap.equal((got["data"]["shipped"], got["data"]["fetched"]),
                  (shipped, fetched),
                  f"{name} disks: {shipped} chunks are sent, {fetched} fetched")


def shown(tap):
    job = Train("gen:gmm:20000,40", "-n", 4, "--fanout", 2, "--steps",
                10000000, "--code", "uncoded", "--out", "s")
    victim = job.wait_child("w1")
    now = wait_step("s", 5)
    tap.equal({w["name"]: w["relay"] for w in now["workers"]},
              {"w0": "r0", "w1": "r0", "w2": "r1", "w3": "r1"},
              "status: who is behind which relay")
    tap.ok("via r1" in run("status", "s").stdout, "as text, too")
    kill(victim, signal.SIGSTOP)
    wait_for(lambda: {w["name"]: w["state"] for w in status("s")["workers"]}
             .get("w1") == "suspect", "suspicion")
    said = run("status", "s", "--why-slow").stdout
    tap.ok("relay r0 is there and does not hear it" in said,
           "--why-slow: its relay says that it is silent", said)
    kill(victim, signal.SIGCONT)
    run("stop", "s")
    tap.equal(job.finish().get("finished"), False, "it stops when told to")


def main():
    tap = Tap()
    compared(tap)
    late(tap)
    pulses(tap)
    kept(tap)
    shown(tap)
    tap.done()


main()
