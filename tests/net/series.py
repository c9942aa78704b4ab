#!/usr/bin/env python3
"""Folds and grids on workers: whoever is killed, workers, the coordinator or
`muster train` itself, the table is that of one process, bit for bit, and no
training that was over is made again."""

import json
import os
import shutil
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from cluster import (Tap, Train, finish, kill, run, start, train,
                     wait_for, wait_step)

ROWS = ["gen:gmm:6000,20", "--seed", 5, "--chunk-rows", 64, "--steps", 40]
GRID = [*ROWS, "-v", 3, "--grid", "l2=0.1,0.001"]
SLOW = ["--delay", "exp:0.012"]
TRAININGS = 6


def lines(folder):
    """Of the logbook, without its head."""
    try:
        with open(os.path.join(folder, "series")) as file:
            return file.read().splitlines()[1:]
    except OSError:
        return []


def table(result):
    return (result.get("runs"), result.get("best"))


def at_work(folder, over):
    """Wait until so many trainings are over and the next has made steps."""
    wait_for(lambda: len(lines(folder)) >= over, f"{over} trainings")
    wait_step(folder, 3)


def killed_workers(tap, wanted):
    """Two workers and the coordinator, in two trainings."""
    job = Train(*GRID, *SLOW, "-n", 3, "--out", "killed")
    at_work("killed", 1)
    kill(job.wait_child("w0"))
    at_work("killed", 2)
    kill(job.wait_child("coordinator"))
    kill(job.wait_child("w1"))
    result = job.finish()
    tap.ok(table(result) == wanted, "two workers and a coordinator killed: the "
           "table of one process, and its hashes", result)
    tap.equal(len(lines("killed")), TRAININGS, "each training is made once")


def crew_of(pid):
    """{name: pid} of living children."""
    found = {}
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        for child in file.read().split():
            try:
                with open(f"/proc/{child}/stat") as stat:
                    head, tail = stat.read().rsplit(")", 1)
            except OSError:
                continue  # It has gone.
            if tail.split()[0] != "Z":
                found[head.split("muster:")[-1]] = int(child)
    return found


def killed_at_the_end(tap, wanted):
    """The coordinator of a training, when a worker has gone: its result is left
    in memory, and nothing on disk.  The other worker is stopped, and last words
    to it are waited for, so that there is time."""
    job = Train(*GRID, *SLOW, "-n", 2, "--out", "ended")
    at_work("ended", 0)
    other = crew_of(job.pid)["w1"]
    kill(other, signal.SIGSTOP)
    wait_for(lambda: "w0" not in crew_of(job.pid), "the other one to be gone")
    coordinator = crew_of(job.pid).get("coord")
    tap.ok(coordinator is not None and len(lines("ended")) == 0 and
           kill(coordinator), "a coordinator outlives its worker")
    kill(other, signal.SIGCONT)
    result = job.finish()
    tap.ok(table(result) == wanted, "... killed when its training is over: the "
           "table of one process", result)


def deserted(tap, wanted):
    """All workers killed: what is left to do is said as of a single run."""
    job = Train(*GRID, *SLOW, "-n", 2, "--out", "deserted")
    at_work("deserted", 1)
    kill(job.wait_child("w0"))
    kill(job.wait_child("w1"))
    result = job.finish()
    tap.ok(result["exit"] == 75 and "go on with --resume" in
           result.get("error", ""),
           "all workers gone: the exit code says that it can be gone on with",
           result)
    result = train("--resume=deserted")
    tap.ok(table(result) == wanted, "... and it is, to the same table", result)
    tap.equal(len(lines("deserted")), TRAININGS, "... each made once")


def broken_disk(tap):
    """The disk fails where a training is judged: the next one, which has begun,
    is not trained to its end first."""
    train(*ROWS, "--steps", 1, "-n", 2, "--out", "begun")
    os.makedirs("broken/scores-0-0", 0o700)
    shutil.copy("begun/format", "broken")  # A search was begun there once.
    job = Train(*ROWS, "-v", 2, "--grid", "steps=3,1000000", "--tol", 0, *SLOW,
                "-n", 2, "--out", "broken")
    result = job.finish()
    tap.ok(result["exit"] == 1 and "broken/scores-" in result.get("error", ""),
           "a training that cannot be written down ends the search", result)
    os.makedirs("last/scores-0-1", 0o700)
    shutil.copy("begun/format", "last")
    result = Train(*ROWS, "-v", 2, "--steps", 3, "-n", 2, "--out",
                   "last").finish()
    tap.ok(result["exit"] == 1 and "last/scores-" in result.get("error", ""),
           "nor is one whose last cannot be, though it is measured meanwhile",
           result)


def own_seconds(tap):
    """A fold is judged while the next begins: that time is of one of them."""
    result = train("gen:gmm:60000,20", "-v", 6, "--grid", "l2=0.1,0.01",
                   "--steps", 2, "-n", 2, "--out", "seconds")
    took = [float(line.split()[7]) for line in lines("seconds")]
    tap.ok(len(took) == 12 and
           sum(took) <= result["elapsed_s"] + len(took) * .0005,
           "folds take no longer than all of them", (took, result))


def standing(tap, folder, wanted, words):
    """What `muster status` says of a search that nobody is running."""
    told = run("status", folder)
    got = json.loads(run("status", folder, "--format", "json").stdout)
    if got.get("search"):
        got["search"].pop("line")
    tap.ok((told.returncode, got) == (1, wanted) and words in told.stderr,
           f"status: {words}", (told, got))


def killed_whole(tap, wanted):
    """`muster train` dies; --resume goes on with the training at hand."""
    job = Train(*GRID, *SLOW, "-n", 2, "--out", "whole")
    at_work("whole", 2)
    kill(job.pid)
    job.process.communicate()
    before = lines("whole")
    at_hand = [name for name in os.listdir("whole") if name.startswith("trial")]
    tap.ok(2 <= len(before) < TRAININGS and len(at_hand) in (1, 2),
           "killed between two trainings' ends", (before, at_hand))
    standing(tap, "whole", {"running": False, "finished": False,
                            "search": None}, "its search is not finished")
    other = train(*GRID, "--l2", "0.5", "--tol", "0.1", "-n", 2, "--resume",
                  "whole")
    tap.ok(other["exit"] != 0 and "other rows, options or lists" in
           other["error"], "another series is not gone on with", other)
    result = train("--resume=whole")
    after = lines("whole")
    best = result["best"]
    said = f"best l2={best['options']['l2']}: accuracy "
    standing(tap, "whole", {"running": False, "finished": True, "search": {
        "trainings": TRAININGS, "best": f"l2={best['options']['l2']}",
        "metrics": best["metrics"], "diverged": False}},
        f"its search is finished, {TRAININGS} trainings; {said}")
    tap.ok(table(result) == wanted, "resumed: the table of one process", result)
    tap.equal((after[:len(before)], len(after)), (before, TRAININGS),
              "what was over is not made again")
    tap.ok(not any(name.startswith("trial") for name in os.listdir("whole")),
           "nothing is left of the runs themselves")
    again = train("--resume=whole")
    tap.ok(table(again) == wanted and lines("whole") == after,
           "all over: the same table at once", again)
    os.remove("whole/scores-1-2")
    again = train("--resume=whole")
    tap.ok(table(again) == wanted and len(lines("whole")) == TRAININGS + 1,
           "lost scores: that one training is made again", again)


def state_of(pid):
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rsplit(")", 1)[1].split()[0]


def killed_unread(tap, wanted):
    """`muster train` dies when a training has ended, before it knows."""
    job = Train(*GRID, *SLOW, "-n", 2, "--out", "unread")
    at_work("unread", 1)
    kill(job.pid, signal.SIGSTOP)
    before = lines("unread")
    ended = job.wait_child("coordinator")
    wait_for(lambda: state_of(ended) == "Z", "the end of the training")
    files = [name for trial in os.listdir("unread")
             if trial.startswith("trial")
             for name in os.listdir(os.path.join("unread", trial))]
    kill(job.pid)
    job.process.communicate()
    tap.ok("journal" in files and "result" not in files and
           "facts" not in files, "what a training comes to is handed over in "
           "memory: the disk is not waited for", files)
    result = train("--resume=unread")
    tap.ok(table(result) == wanted and len(lines("unread")) == TRAININGS and
           lines("unread")[:len(before)] == before,
           "killed before that was read: gone on from the checkpoint", result)


def stopped(tap, wanted):
    for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 75)):
        folder = f"stopped{number}"
        job = Train(*GRID, *SLOW, "-n", 2, "--out", folder)
        at_work(folder, 1)
        kill(job.pid, number)
        result = job.finish()
        tap.ok(result["exit"] == status and f"--resume={folder}" in
               result["error"] and "are over, and kept" in result["error"],
               f"signal {number} keeps what is over", result)
        again = train(f"--resume={folder}", "--code", "uncoded")
        tap.ok(table(again) == wanted, f"signal {number}, resumed: same table",
               again)


def bytes_of(path):
    with open(path, "rb") as file:
        return file.read()


def refit(tap):
    """The best is trained on all rows by the same workers, kills included."""
    job = ["--grid", "l2=0.1,0.001", "--valid", "0.25"]
    one = train(*ROWS, "one.model", *job)
    calm = train(*ROWS, "calm.model", *job, "-n", 2)
    tap.ok(calm["refit"]["coordinator_deaths"] == 0 and
           "died" not in calm["stderr"],
           "nobody died, and nobody is said to have", calm["stderr"])
    many = Train(*ROWS, "many.model", *job, *SLOW, "-n", 3, "--out", "refit")
    at_work("refit", 2)  # Of two: this is the refit.
    kill(many.wait_child("coordinator"))
    kill(many.wait_child("w0"))
    result = many.finish()
    tap.ok(table(result) == table(one), "a grid with MODEL: same table", result)
    tap.ok(bytes_of("one.model") == bytes_of("many.model"),
           "and the same model")
    stop = Train(*ROWS, "again.model", *job, *SLOW, "-n", 2, "--out", "again")
    at_work("again", 2)
    kill(stop.pid)
    stop.process.communicate()
    result = train("--resume=again")
    tap.ok(result["exit"] == 0 and
           bytes_of("one.model") == bytes_of("again.model"),
           "killed in the refit and resumed: same model", result)


def kinds(tap):
    """Codes that are exact, tables with encoders of their own, networks."""
    with open("table.csv", "w") as file:
        file.write("a,b,kind\n")
        for i in range(400):
            file.write(f"{i * 37 % 101},{i % 13 / 7:.3f},"
                       f"{'xyz'[(i * i + i // 7) % 3]}\n")
    cases = {
        "a table": ["table.csv", "-v", 3, "--scale", "standard"],
        "a network": ["gen:digits:300", "--net", "dense12 relu dense10", "-v",
                      3, "--passes", 2, "--optim", "adam"],
        "batches": ["gen:gmm:900,6", "-v", 3, "--optim", "gd", "--batch", 64,
                    "--passes", 2, "--lr", "0.1"],
        "one that diverges": ["gen:gmm:500,4", "-v", 2, "--grid",
                              "lr=0.1,1e300", "--optim", "gd", "--steps", 5],
    }
    for name, job in cases.items():
        wanted = table(train(*job))
        for code in ("steal", "uncoded", "frc"):
            result = train(*job, "-n", 4, "--code", code)
            tap.ok(table(result) == wanted, f"{name}, {code}: same table",
                   (result, wanted))


def sizes(tap):
    """The number of workers is an axis: time and models for each."""
    job = [*ROWS, "--valid", "0.25", "--grid"]
    one = train(*job, "l2=0.1,0.001", "one.model")
    wanted = [run["hashes"] for run in one["runs"]]
    many = Train(*job, "n=1,2,4 l2=0.1,0.001", "sizes.model", *SLOW, "--out",
                 "sizes")
    at_work("sizes", 3)  # The last of n=2 is at hand.
    counted = sorted(name for name, _ in many.children())
    kill(many.wait_child("w1"))
    at_work("sizes", 4)
    kill(many.pid)
    many.process.communicate()
    before = lines("sizes")
    result = train("--resume=sizes")
    tap.equal(counted, ["coordinator", "w0", "w1"], "n=2: two workers")
    tap.equal([run["options"] for run in result["runs"]],
              [{"n": n, "l2": l2} for l2 in
               [run["options"]["l2"] for run in one["runs"]] for n in "124"],
              "the best first, equals as in the list")
    tap.ok([run["hashes"] for run in result["runs"]] ==
           [hashes for hashes in wanted for _ in range(3)] and
           result["same_models"] is True,
           "killed and resumed: the models of one process for every n", result)
    tap.ok(all(run["seconds"] > 0 for run in result["runs"]) and
           len(lines("sizes")) == 6 and lines("sizes")[:4] == before[:4],
           "each has its time, and was trained once", result["runs"])
    tap.ok(bytes_of("one.model") == bytes_of("sizes.model") and
           result["refit"]["workers"]["max"] == 1,
           "the best is trained by as many as it was", result["refit"])
    other = train("gen:gmm:900,6", "--grid", "n=2,3", "--optim", "gd",
                  "--batch-per-worker", 32, "--passes", 2, "--lr", "0.1")
    tap.ok(other["same_models"] is False and
           sorted(run["steps"] for run in other["runs"]) == [20, 30],
           "batches for each worker: another model for each n", other)


def taken(pid):
    """Bytes that a process has read, from links or files."""
    with open(f"/proc/{pid}/io") as file:
        return int(file.readline().split()[1])


def joined(tap):
    """Who joins over TLS stays to the end, and is sent the rows once."""
    rows = ["gen:gmm:20000,60", "--seed", 7, "--steps", 30, "-v", 3, "--grid",
            "l2=0.1,0.001"]
    size = 20000 * (60 * 4 + 8 + 4)
    wanted = table(train(*rows))
    run("token", "new", "cluster.token")
    key = ["--token-file", "cluster.token"]
    job = Train(*rows, "--delay", "exp:0.01", "--listen", "127.0.0.1:0",
                "--workers", 3, *key, "--out", "joined")
    address = wait_for(lambda: os.path.exists("joined/address") and
                       open("joined/address").read().strip(), "an address")
    join = ["join", address, *key, "--threads", "1", "--name"]
    workers = [start(*join, name, "--chunk-cache", "none") for name in "abc"]
    wait_for(lambda: len(lines("joined")) >= 1, "a training")
    # One sleeps over the end of a training, and does not hear of it.
    kill(workers[0].pid, signal.SIGSTOP)
    wait_for(lambda: len(lines("joined")) >= 2, "another one")
    kill(workers[0].pid, signal.SIGCONT)
    wait_step("joined", 2, *key)
    kill(workers[1].pid)
    kill(job.wait_child("coordinator"))
    late = start(*join, "late")
    wait_for(lambda: len(lines("joined")) >= TRAININGS - 1, "the last one")
    wait_step("joined", 3, *key)
    read = taken(workers[2].pid)
    result = job.finish()
    tap.ok(table(result) == wanted, "joined, left, killed: same table", result)
    tap.ok(size < read < 2 * size, "a worker is sent the rows once, not for "
           f"each of {TRAININGS} trainings: {read / size:.2f} times", read)
    ends = [finish(worker)[0] for worker in (workers[0], workers[2], late)]
    tap.equal(ends, [0, 0, 0], "all others stay to the end")
    workers[1].communicate()


def main():
    tap = Tap()
    joined(tap)
    wanted = table(train(*GRID))
    killed_workers(tap, wanted)
    killed_whole(tap, wanted)
    killed_unread(tap, wanted)
    killed_at_the_end(tap, wanted)
    stopped(tap, wanted)
    deserted(tap, wanted)
    refit(tap)
    sizes(tap)
    kinds(tap)
    broken_disk(tap)
    own_seconds(tap)
    tap.done()


main()
