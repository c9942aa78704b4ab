#!/usr/bin/env python3
"""`--trace`: one file, one clock, everybody's spans; whole after a coordinator
was killed, readable after everything was; and no secret in it."""

import json
import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from cluster import (DEADLINE_S, Tap, Train, place_of, finish, kill, run,
                     start, train, wait_for, wait_step)

ONE = ["gen:gmm:8000,20", "--seed", 5, "--chunk-rows", 64]


def named(events, name):
    return [e for e in events if e["name"] == name and e["ph"] == "X"]


def processes(events):
    return {e["args"]["name"]: e["pid"] for e in events
            if e["name"] == "process_name"}


def crossing(events):
    """Two spans of one track that are neither side by side nor one inside the
    other; "" if there are none."""
    tracks = {}
    for e in events:
        if e["ph"] == "X":
            tracks.setdefault((e["pid"], e["tid"]), []).append(
                (e["ts"], -e["dur"]))
    for spans in tracks.values():
        open_ends = []
        for begin, minus in sorted(spans):
            while open_ends and open_ends[-1] <= begin:
                open_ends.pop()
            if open_ends and begin - minus > open_ends[-1]:
                return f"{begin} for {-minus} crosses {open_ends[-1]}"
            open_ends.append(begin - minus)
    return ""


def test_clean(tap):
    result = train(*ONE, "-n", 4, "--code", "frc", "--stragglers", 1,
                   "--delay", "worker:w1=9", "--steps", 400, "--out", "a",
                   "--trace", "a.json")
    events = json.loads(Path("a.json").read_text())
    tap.equal(result["hash"], train(*ONE, "--steps", 400)["hash"],
              "traced: same hash")
    tap.equal(sorted(processes(events)), ["coordinator", "w0", "w1", "w2",
                                          "w3"], "every process has its place")
    tap.equal([len(named(events, "step")), len(named(events, "commit"))],
              [400, 400], "every step and commit is there")
    tap.ok(all([e["args"]["step"] for e in named(events, name)] ==
               list(range(400)) for name in ("step", "commit", "round")),
           "... by the number that its round has")
    tap.ok(len(named(events, "journal")) >= 400, "so is every record")
    pids = {name: {e["pid"] for e in named(events, name)}
            for name in ("compute", "wait", "send")}
    quick = {processes(events)[name] for name in ("w0", "w2", "w3")}
    tap.ok(all(pids[name] >= quick for name in pids),
           "workers compute, wait and send", pids)
    tap.equal({e["pid"] for e in named(events, "delayed")},
              {processes(events)["w1"]}, "one is slow on purpose")
    tap.equal(crossing(events), "", "spans of a track do not cross")
    times = {w["name"]: w for w in result["worker_times"]}
    tap.equal(sorted(times), ["w0", "w1", "w2", "w3"],
              "the result has everybody's times")
    tap.equal(sum(w["chunks"] for w in times.values()) % 400, 0,
              "every chunk was merged once a step")
    tap.ok(all(times[w]["compute_s"] > 0 for w in ("w0", "w2", "w3")),
           "they computed", times)
    trace = result["trace"]
    tap.equal([trace["events"], trace["lost"]], [len(events), 0],
              "events are counted, none is lost")


def test_ring(tap):
    """Each peer tells its own stints; steps are those of whoever was first."""
    task = [*ONE, "--steps", 400]
    result = train(*task, "-n", 3, "--topology", "ring", "--out", "ring",
                   "--trace", "ring.json")
    events = json.loads(Path("ring.json").read_text())
    tap.equal(result["hash"], train(*task)["hash"], "a traced ring: same hash")
    peers = {processes(events).get(name) for name in ("w0", "w1", "w2")}
    pids = {name: {e["pid"] for e in named(events, name)}
            for name in ("compute", "wait")}
    tap.ok(all(pids[name] == peers for name in pids),
           "its peers compute and wait", pids)
    computed = {pid: [e["args"]["step"] for e in named(events, "compute")
                      if e["pid"] == pid] for pid in pids["compute"]}
    tap.ok(len(computed) == 3 and
           all(steps == sorted(set(steps)) and len(steps) > 300
               for steps in computed.values()),
           "each once in every step, but the last moments", computed)
    tap.equal(crossing(events), "", "their spans do not cross")
    tap.equal(len(named(events, "step")), 400, "every step of a ring is there")


def test_cancelled(tap):
    """A delay is no computing, and two that are alike may end together: only a
    worker that stands still within a piece is called off for certain.  So one
    is stopped while others make steps, until that was within a piece."""
    job = Train("gen:gmm:200000,50", "--seed", 5, "-n", 4, "--code", "frc",
                "--stragglers", 1, "--steps", 100000, "--out", "e", "--trace",
                "e.json")
    stopped = job.wait_child("w1")

    def called_off():
        step = status_step("e")
        kill(stopped, signal.SIGSTOP)
        wait_step("e", step + 2)
        kill(stopped, signal.SIGCONT)
        return Path("e.json").read_text().count('"cancelled"') >= 5

    wait_for(called_off, "pieces that are called off")
    run("stop", "e")
    stops = job.finish()["trace"]["cancel_to_stop"]
    tap.ok(stops["count"] > 0 and 0 < stops["median_s"] <= stops["max_s"],
           "the time from cancel to stop is told", stops)


def test_clock(tap):
    """Here all clocks are one, so that the estimate's error is known."""
    job = Train(*ONE, "-n", 2, "--delay", "exp:0.01", "--steps", 100000,
                "--out", "b", "--trace", "b.json")
    wait_for(lambda: '"clock"' in Path("b.json").read_text()
             if Path("b.json").exists() else None, "a clock in the trace")
    kill(job.wait_child("coordinator"))
    wait_step("b", status_step("b") + 5)
    run("stop", "b")
    result = job.finish()
    events = json.loads(Path("b.json").read_text())
    clocks = [e["args"] for e in events if e["name"] == "clock"]
    tap.ok(clocks and all(abs(c["ahead_us"]) <= c["error_us"] + 1
                          for c in clocks),
           "clocks are right within the error they state", clocks)
    tap.equal(result["trace"]["clock_error_s"] is not None, True,
              "the worst error is told")
    views = {e["args"]["view"] for e in named(events, "round")}
    tap.ok(len(views) >= 2, "the trace goes on over the coordinator's death")


def status_step(folder):
    return wait_step(folder, 0)["step"]


def test_killed(tap):
    job = Train(*ONE, "-n", 2, "--delay", "exp:0.01", "--steps", 100000,
                "--out", "c", "--trace", "c.json")
    wait_for(lambda: Path("c.json").exists() and
             Path("c.json").stat().st_size > 100000, "some of the trace")
    kill(job.pid)
    job.process.communicate()
    text = Path("c.json").read_text()
    whole = text[:text.rindex("}")]
    whole = whole[:whole.rindex("\n")].rstrip(",\n")
    tap.ok(len(json.loads(whole + "]")) > 100,
           "what a killed run wrote can be read")


def secrets(path):
    """Every line of a token file that could be one."""
    return [word for word in Path(path).read_text().split() if len(word) >= 16]


def test_no_secret(tap):
    run("token", "new", "canary.token")
    job = Train(*ONE, "-n", 1, "--listen", "127.0.0.1:0", "--token-file",
                "canary.token", "--workers", "2:4", "--steps", 300, "--delay",
                "exp:0.01", "--out", "d", "--trace", "d.json")
    joined = start("join", place_of("d"), "--token-file", "canary.token",
                   "--name", "far")
    result = job.finish()
    finish(joined)
    text = Path("d.json").read_text() + json.dumps(result)
    tap.ok("far" in processes(json.loads(Path("d.json").read_text())),
           "a worker that joined is in the trace")
    found = secrets("canary.token")
    tap.ok(found and not any(word in text for word in found),
           "no secret in trace or result")


def main():
    tap = Tap()
    test_clean(tap)
    test_ring(tap)
    test_cancelled(tap)
    test_clock(tap)
    test_killed(tap)
    test_no_secret(tap)
    done = run("train", *ONE, "-n", 2, "--trace", "no/such/folder.json")
    tap.ok(done.returncode == 1 and "no/such/folder.json" in done.stderr,
           "a trace that cannot be written is said so", done)
    tap.done()


main()
