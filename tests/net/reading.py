#!/usr/bin/env python3
"""A run that still reads its rows can be ended: by `muster stop`, by Ctrl-C and
by SIGTERM, with one sentence on what is kept.  Rows come by a pipe that stays
open, so that reading lasts as long as the test wants."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from cluster import MUSTER, Tap, kill, run, wait_for, wait_step  # noqa: E402

ROWS = "".join(f"{i % 2 * 2 - 1} 1:{i % 7 - 3} 2:{i % 5 + i % 2}\n"
               for i in range(20000))
FEW = "".join(ROWS.splitlines(keepends=True)[:400])
GD = ("--model", "logistic", "--optim", "gd", "--lr", "0.1")
NOTHING = "nothing is kept: start it again"


class Reads:
    """`muster train -` that has read some rows and waits for more."""

    def __init__(self, *args, rows=ROWS, **more):
        self.process = subprocess.Popen(
            [MUSTER, "train", "-", *GD, *args], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)
        # More than a pipe holds: when that is written, somebody reads.
        self.process.stdin.write(rows)
        self.process.stdin.flush()

    def ends(self, number=None):
        """(exit code, stdout, stderr), after a signal if there is one."""
        if number is not None:
            kill(self.process.pid, number)
        try:
            code = self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = "did not end"
        out, err = self.process.stdout.read(), self.process.stderr.read()
        self.process.stdin.close()
        return code, out, err


def held(folder):
    return wait_for(lambda: (Path(folder) / "lock").exists() and folder,
                    f"{folder}/lock")


def signals(tap):
    """The documented exit status, one sentence, nothing left behind."""
    for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143),
                         (signal.SIGHUP, 129), (signal.SIGUSR1, 138)):
        for more in ((), ("-n", "2"), ("-n", "2", "--out", "fresh"),
                     ("-n", "2", "--topology", "ring", "--out", "ringed"),
                     ("-v", "3"), ("--optim", "sgd")):
            before = sorted(os.listdir("."))
            got = Reads(*more).ends(number)
            tap.ok(got[0] == code and got[1] == "" and
                   got[2].count("\n") == 1 and NOTHING in got[2],
                   f"{number.name} while rows are read, {more}", got)
            tap.equal(sorted(os.listdir(".")), before, "... leaves nothing")
    got = Reads("--format", "json").ends(signal.SIGTERM)
    tap.ok(got[0] == 143 and NOTHING in json.loads(got[1])["error"],
           "... and is JSON where that is asked for", got)
    os.mkdir("mine")
    got = Reads("-n", "2", "--out", "mine").ends(signal.SIGTERM)
    tap.equal((got[0], os.listdir("mine")), (143, []),
              "a folder that was there stays, as it was")
    reads = Reads("-n", "2")
    kill(reads.process.pid, signal.SIGINT)
    got = reads.ends(signal.SIGINT)
    tap.ok(got[0] == 130 and NOTHING in got[2],
           "two SIGINT at once (timeout -s INT) are one", got)


def stopped_by(tap, name, reads, *where):
    done = run("stop", *where)
    tap.ok(done.returncode == 0 and "it reads its rows" in done.stdout,
           f"{name}: muster stop is heard", done)
    got = reads.ends()
    tap.ok(got[0] == 75 and NOTHING in got[2], "... the run ends with 75", got)


def stops(tap):
    reads = Reads("-n", "2", "--out", "named")
    held("named")
    done = run("status", "named")
    tap.ok(done.returncode == 1 and "still reads its rows" in done.stderr,
           "status: it reads", done)
    done = run("join", "named")
    tap.ok(done.returncode == 1 and "still reads its rows" in done.stderr,
           "join: it reads", done)
    stopped_by(tap, "a folder", reads, "named")
    tap.ok(not os.path.exists("named"), "... and leaves nothing")
    reads = Reads("-n", "2", "--topology", "ring", "--out", "ring")
    held("ring")
    stopped_by(tap, "a ring", reads, "ring")
    reads = Reads("-n", "2", "-v", "3", "--out", "folds")
    held("folds")
    stopped_by(tap, "folds", reads, "folds")
    reads = Reads("-n", "2")
    wait_for(lambda: list(Path(".").glob("muster-runs/*/lock")), "its folder")
    stopped_by(tap, "no folder named", reads)
    reads = Reads("-n", "2", "--out", "json")
    held("json")
    done = run("stop", "json", "--format", "json")
    tap.equal(json.loads(done.stdout), {"stopping": True, "reading": True},
              "stop --format json")
    reads.ends()


def resumes(tap):
    """What was there before is not touched, and 75 says to go on with it."""
    steps = ("-n", "2", "--steps", "1000000")
    begun = Reads(*steps, "--out", "run", rows=FEW)
    begun.process.stdin.close()
    wait_step("run", 3)
    begun.ends(signal.SIGKILL)  # Its address stays.
    for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 75), (None, 75)):
        reads = Reads(*steps, "--resume=run")
        wait_for(lambda: run("status", "run").stderr.count("still reads"),
                 "it to read")
        if number is None:
            done = run("stop", "run")
            tap.ok("it reads its rows" in done.stdout, "stop of a resumed run",
                   done)
        got = reads.ends(number)
        tap.ok(got[0] == code and "the run is as it was" in got[2] and
               "muster train --resume=run" in got[2],
               f"--resume, {number}: it says how to go on", got)
    again = Reads(*steps, "--resume=run", rows=FEW)
    again.process.stdin.close()
    wait_step("run", 6)
    done = run("stop", "run")
    tap.ok(done.stdout.startswith("stopping after step"), "it goes on", done)
    tap.equal(again.process.wait(timeout=60), 75, "... until it is stopped")
    again.process.stdout.close()
    again.process.stderr.close()


def owners(tap):
    """Who waits for private rows has nothing to save, either."""
    def waits():
        process = subprocess.Popen(
            [MUSTER, "train", *GD, "--owners", "2", "--listen", "127.0.0.1:0",
             "--out", "owned"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        wait_for(lambda: os.path.exists("owned/address"), "its address")
        return process
    process = waits()
    kill(process.pid, signal.SIGTERM)
    err = process.communicate(timeout=60)[1]
    tap.ok(process.returncode == 143 and NOTHING in err,
           "SIGTERM while owners are awaited", err)
    tap.ok(not os.path.exists("owned"), "... leaves nothing")
    process = waits()
    run("stop", "owned")
    err = process.communicate(timeout=60)[1]
    tap.ok(process.returncode == 75 and "nothing was begun" in err,
           "muster stop: 75", err)


def killed(tap):
    """Nothing was begun, and no --resume is advised that would be refused."""
    reads = Reads("-n", "2", "--out", "gone")
    wait_for(lambda: os.path.exists("gone/reading"), "it to read")
    reads.ends(signal.SIGKILL)
    awaits = subprocess.Popen(
        [MUSTER, "train", *GD, "--owners", "2", "--listen", "127.0.0.1:0",
         "--out", "gone2"], stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(lambda: os.path.exists("gone2/address"), "its address")
    kill(awaits.pid, signal.SIGKILL)
    awaits.wait(timeout=60)
    for folder in "gone", "gone2":
        for command in "status", "stop":
            done = run(command, folder)
            tap.ok(done.returncode == 1 and "start it again" in done.stderr and
                   "--resume" not in done.stderr,
                   f"{command} of {folder}, killed before the first step", done)


class Deaf:
    """A listener that hangs up on everybody, and counts them."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.count = 0
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        while True:
            try:
                self.socket.accept()[0].close()
            except OSError:
                return
            self.count += 1

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        self.thread.join()


def sleeps(pid):
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "S"


def stopped_twice(tap):
    """Who comes second is told that it has ended, not that there is no run."""
    for more in (), ("--format", "json"):
        reads = Reads("-n", "2", "--out", "twice")
        wait_for(lambda: os.path.exists("twice/reading"), "it to read")
        kill(reads.process.pid, signal.SIGSTOP)
        run("stop", "twice")
        second = subprocess.Popen(
            [MUSTER, "stop", "twice", *more], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_for(lambda: sleeps(second.pid), "the second to wait")
        kill(reads.process.pid, signal.SIGCONT)
        out, err = second.communicate(timeout=60)
        said = "it has ended" in out if not more else \
            json.loads(out) == {"stopping": True, "ended": True}
        tap.ok(second.returncode == 0 and said, f"stop twice {more}", out + err)
        reads.ends()


def seldom(tap):
    """A run that does not answer is not dialled without end."""
    reads = Reads("-n", "2", "--out", "dialled")
    wait_for(lambda: os.path.exists("dialled/reading"), "it to read")
    kill(reads.process.pid, signal.SIGSTOP)
    os.unlink("dialled/reading")
    run("token", "new", "dialled/run.token")
    deaf = Deaf()
    port = deaf.socket.getsockname()[1]
    Path("dialled/address").write_text(f"127.0.0.1:{port}\n")
    done = run("status", "dialled")
    deaf.close()
    # 20 ms, 40, 80 ... half a second each: 24 in ten seconds.
    tap.ok(done.returncode == 1 and 3 <= deaf.count <= 30,
           "status asks again, and less and less often", (deaf.count, done))
    kill(reads.process.pid, signal.SIGCONT)
    reads.ends()


def products(tap):
    """`muster product`, whose A comes by a pipe and does not end."""
    head = "{'descr': '<f8', 'fortran_order': False, 'shape': (90000, 2), }"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    rows = (b"\x93NUMPY\1\0" + len(head).to_bytes(2, "little") +
            head.encode() + bytes(200000))
    for more, how, code in (((), signal.SIGTERM, 143), ((), signal.SIGINT, 130),
                            (("--out", "product"), signal.SIGTERM, 143),
                            (("--out", "product"), None, 75)):
        process = subprocess.Popen(
            [MUSTER, "product", "/dev/stdin", "B.npy", "C.npy", "-n", "2",
             *more], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)
        process.stdin.write(rows)
        process.stdin.flush()
        if how is None:
            done = run("stop", "product")
            tap.ok("it reads its rows" in done.stdout, "product: stop", done)
        else:
            kill(process.pid, how)
        got = process.wait(timeout=60), process.stderr.read().decode()
        process.stdin.close()
        process.stdout.close()
        tap.ok(got[0] == code and "the same command begins anew" in got[1] and
               not os.path.exists("product"), f"product: {how}, {more}", got)


def main():
    tap = Tap()
    signals(tap)
    stops(tap)
    resumes(tap)
    owners(tap)
    killed(tap)
    stopped_twice(tap)
    seldom(tap)
    products(tap)
    tap.done()


if __name__ == "__main__":
    main()
