#!/usr/bin/env python3
"""`muster train` under signals as its parent left them: SIGCHLD ignored, all
blocked, SIGHUP ignored by nohup, SIGINT by `&` in a script.  These survive exec."""

import os
import re
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/net/lib"))
from cluster import MUSTER, SMALL, Tap, kill, perfect_hash, result_of, wait_step

tap = Tap()
LATEST = "muster-runs/latest"
WANTED = perfect_hash()


def start(prepare, *args, **more):
    return subprocess.Popen([MUSTER, "train", SMALL, "--format", "json", *args],
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True,
                            preexec_fn=prepare, **more)


def finish(process):
    try:
        out, err = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        return {"error": "did not end"}, err
    return result_of(out), err


def ignore_children():
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)


def block_all():
    signal.pthread_sigmask(signal.SIG_SETMASK, signal.valid_signals())


def ignore_interrupt():
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def ignore_hangup():
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


got, err = finish(start(ignore_children, "-n", "2", "--steps", "60", "--out",
                        "ignored"))
tap.equal(got.get("hash"), WANTED, "SIGCHLD ignored: it ends, with its hash")
got, err = finish(start(ignore_children, "-n", "2", "--steps", "60", "--out",
                        "killed", "--chaos", "kill:coordinator@20,kill:w1@30"))
tap.equal((got.get("hash"), got.get("coordinator_deaths")), (WANTED, 1),
          "... and a coordinator that is killed is started again")

process = start(block_all, "-n", "2", "--steps", "1000000", "--out", "blocked")
wait_step("blocked", 3)
kill(process.pid, signal.SIGTERM)
got, err = finish(process)
tap.equal(process.returncode, 75, "all blocked: SIGTERM is still heard")

for prepare, number, name in ((ignore_hangup, signal.SIGHUP, "SIGHUP"),
                              (ignore_interrupt, signal.SIGINT, "SIGINT")):
    process = start(prepare, "-n", "2", "--steps", "1000000", "--out", name)
    step = wait_step(name, 3)["step"]
    kill(process.pid, number)
    tap.ok(wait_step(name, step + 50), f"{name} ignored: it does not end it")
    kill(process.pid, signal.SIGTERM)
    finish(process)
    tap.equal(process.returncode, 75, "... SIGTERM does")

# A signal between the run's folder and its first record: the run waits there for
# whoever reads its trace, a pipe that is open already and whose reader left.
for number, name in ((signal.SIGTERM, "SIGTERM"), (signal.SIGHUP, "SIGHUP"),
                     (signal.SIGUSR1, "SIGUSR1"), (signal.SIGINT, "SIGINT")):
    before = os.path.lexists(LATEST) and os.readlink(LATEST)
    fifo = f"{name}.fifo"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    writer = os.open(fifo, os.O_WRONLY)
    os.close(reader)
    process = start(None, "-n", "2", "--steps", "1000000", "--trace",
                    f"/dev/fd/{writer}", pass_fds=(writer,))
    os.close(writer)
    while "; run muster-runs/" not in process.stderr.readline():
        pass
    tap.equal(os.path.lexists(LATEST) and os.readlink(LATEST), before,
              "before its first record a run is not the latest")
    kill(process.pid, number)
    trace = os.open(fifo, os.O_RDWR)
    got, err = finish(process)
    os.close(trace)
    tap.equal(process.returncode, 130 if name == "SIGINT" else 75,
              f"{name} before the first record: it ends in order")
    tap.ok("go on with: muster train --resume=" in err, "... with its state", err)
    got, err = finish(subprocess.Popen(
        [MUSTER, "train", "--resume", "--max-time", "1", "--format", "json"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True))
    tap.ok(got.get("steps", 0) > 0, "... from which it goes on", err)

# SIGTERM again and again, as impatient launchers send it: each is an echo of the
# first until what was asked for is done and told.
for name, more in (("star", ()), ("ring", ("--topology", "ring")), ("alone", None)):
    process = start(None, *(() if more is None else ("-n", "2", *more)), "--steps",
                    "1000000000", "--optim", "gd", "--lr", "0.0001", "--accuracy",
                    "0", "--out", f"echo-{name}")
    if more is None:
        while "step " not in process.stderr.readline():
            pass
    else:
        wait_step(f"echo-{name}", 3)
    for _ in range(900):
        if process.poll() is not None:
            break
        kill(process.pid, signal.SIGTERM)
        try:
            process.wait(timeout=0.001)
        except subprocess.TimeoutExpired:
            pass
    got, err = finish(process)
    tap.ok(process.returncode == 75 and got.get("steps", 0) > 0,
           f"{name}: SIGTERM again and again: one end, with its result",
           f"{process.returncode} {got} {err}")

# A model that nobody reads is saved without end: the first signal asks for what
# is being done, the second ends it.
process = subprocess.Popen([MUSTER, "train", "gen:gmm:50,20000", "-", "--steps", "1",
                            "-q"], stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
os.read(process.stdout.fileno(), 1)  # It writes by now.
for _ in range(50):
    kill(process.pid, signal.SIGTERM)
    try:
        process.wait(timeout=0.2)
        break
    except subprocess.TimeoutExpired:
        pass  # Two at once may have been one.
tap.equal(process.poll(), -signal.SIGTERM, "a second signal ends what saves")
process.kill()
process.communicate()

# The objective that is shown is that of the step that is named.
GD = ("--optim", "gd", "--lr", "0.1", "--format", "text")
process = start(None, "-n", "2", "--steps", "1000000", "--out", "text", *GD)
wait_step("text", 30)
kill(process.pid, signal.SIGTERM)
shown = re.search(r"objective  (\S+) at step (\d+); the model is that of step (\d+)",
                  process.communicate(timeout=60)[0])
tap.ok(shown and int(shown[2]) + 1 == int(shown[3]),
       "stopped: it says of which step the objective is")
if shown:
    alone = start(None, "--steps", shown[2], *GD).communicate(timeout=60)[0]
    tap.ok(f"objective  {shown[1]}\n" in alone, "... and it is that one's")
tap.done()
