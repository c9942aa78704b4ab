#!/usr/bin/env python3
"""Coded elastic computing (docs/elastic.md): what it costs, beside `mds`,
uncoded products and the fused kernel.

    bench/elastic.py [WHAT ...]

    time      real processes, `--delay .../share`: seconds a step against N for
              L = 10, P = 20, as a ratio to mds:k=10, in turn; wanted: L/N
              within 15 %
    events    virtual time: one leaves, is killed or joins in mid-step, in
              undisturbed steps (build/release/bench/elastic_rounds)
    sequence  virtual time: N drawn anew with probability .02 a step
    chaos     the same as events with real processes: kill -9 and join at a
              random time of a step
    round     a step on 4 local workers, beside one of uncoded products (l = p
              = n: each multiplies its own rows, no code) and of `steal`, whose
              kernel computes both products in one pass; processor time, too
    storage   what workers are sent, and hold, as a share of the data

A delay makes the time: pieces of a few ms, held for their share of seconds, so
that two cores do.  SECONDS=... is a step's work (40), RUNS=... how often each
is measured (3).  Where others keep the cores busy, `chrt -r 1 bench/elastic.py
time` runs before them: its processes sleep most of the time."""

import json
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MUSTER = os.environ.get("MUSTER", str(ROOT / "build/muster"))
ROUNDS = ROOT / "build/release/bench/elastic_rounds"
RUNS = int(os.environ.get("RUNS", "3"))
WORK_S = float(os.environ.get("SECONDS", "40"))
PARTS = 10
CEC = f"cec:l={PARTS}:p=20"
MDS = f"mds:k={PARTS}"
SMALL = "gen:gmm:2560,100"
SHM = "/dev/shm" if os.path.isdir("/dev/shm") else None
STEP = ["--optim", "gd", "--lr", "1e-3", "--threads", "1"]


def train(folder, *flags):
    """The result and the steps of its history."""
    out = Path(folder) / "run"
    done = subprocess.run(
        [MUSTER, "train", *map(str, flags), *STEP, "--out", str(out),
         "--format", "json", "-q", "--force"],
        capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout), history(out)


def history(out):
    steps = {}
    for path in sorted(Path(out).glob("history.*.json")):
        for step in json.loads(path.read_text())["steps"]:
            steps[step["step"]] = step
    return [steps[number] for number in sorted(steps)]


def seconds(code, n, steps, delay=True):
    """Of the steps after the first, in which blocks are made."""
    with tempfile.TemporaryDirectory() as folder:
        _, took = train(folder, SMALL, "-n", n, "--code", code, "--steps",
                        steps, "--delay", f"shifted:{WORK_S},0/share")
    return [step["took_us"] / 1e6 for step in took[1:]]


def measure_time():
    print(f"seconds a step, {WORK_S:g} s of work, {RUNS} runs in turn")
    print(f"{'N':>3} {'mds':>7} {'cec':>7} {'least':>7} {'most':>7} "
          f"{'ratio':>7} {'L/N':>6} {'off':>7}")
    missed = False
    mds, cec = {}, {}
    for _ in range(RUNS):
        for n in (10, 12, 15, 18, 20):
            mds.setdefault(n, []).extend(seconds(MDS, n, 3))
            cec.setdefault(n, []).extend(seconds(CEC, n, 5))
    for n, took in cec.items():
        usual = statistics.median(mds[n])
        ratio = statistics.median(took) / usual
        off = [step / usual * n / PARTS - 1 for step in took]
        missed |= abs(statistics.median(off)) > .15
        print(f"{n:3} {usual:7.3f} {statistics.median(took):7.3f} "
              f"{min(took):7.3f} {max(took):7.3f} {ratio:7.3f} "
              f"{PARTS / n:6.3f} {statistics.median(off):+7.1%} "
              f"({min(off):+.1%} to {max(off):+.1%}, {len(took)} steps)",
              flush=True)
    return missed


def measure_events():
    subprocess.run([ROUNDS, "events", str(RUNS * 33 + 1)], check=True)


def measure_sequence():
    subprocess.run([ROUNDS, "sequence", str(RUNS + 2)], check=True)


# --- real kills and joins ----------------------------------------------------


def wait_for(what, limit=120):
    end = time.monotonic() + limit
    while time.monotonic() < end:
        got = what()
        if got:
            return got
        time.sleep(.005)
    sys.exit("bench/elastic.py: it did not happen in time")


def status(out):
    done = subprocess.run([MUSTER, "status", str(out), "--format", "json"],
                          capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else None


def event_run(kind, code, n, share, rng):
    """One kill or join at that share of the step after the third; how long
    that step took, in undisturbed ones of the same run."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        process = subprocess.Popen(
            [MUSTER, "train", SMALL, "-n", str(n), "--code", code, "--steps",
             "6", *STEP, "--delay", f"shifted:{WORK_S},0/share", "--out",
             str(out), "--format", "json", "-q", "--listen", "127.0.0.1:0"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        at = wait_for(lambda: (status(out) or {}).get("step", 0) >= 3 and
                      status(out))
        time.sleep(share * WORK_S / n)
        joined = None
        if kind == "kill":
            victim = rng.choice([worker for worker in at["workers"]])
            os.kill(victim["pid"], signal.SIGKILL)
        else:
            joined = subprocess.Popen(
                [MUSTER, "join", str(out)], stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL)
        text, err = process.communicate(timeout=300)
        if process.returncode != 0:
            sys.exit(err)
        if joined is not None:
            joined.wait(timeout=60)
        took = [step["took_us"] / 1e6 for step in history(out)]
        rounds = [step["rounds"] for step in history(out)]
    return took[3] / statistics.median(took[1:3]), rounds[3]


def measure_chaos():
    rng = random.Random(1)
    print(f"one event at a random time of a step, real processes, {WORK_S:g} s "
          f"of work, {4 * RUNS} each: in undisturbed steps")
    print(f"{'code':<24}{'N':>3}  {'':<5}{'least':>7}{'median':>8}{'mean':>7}"
          f"{'most':>7}")
    for code in (CEC, CEC + ":copies=2"):
        for kind in ("kill", "join"):
            seen = [event_run(kind, code, 15, (i + rng.random()) / (4 * RUNS),
                              rng)[0] for i in range(4 * RUNS)]
            print(f"{code:<24}{15:3}  {kind:<5}{min(seen):7.3f}"
                  f"{statistics.median(seen):8.3f}{statistics.mean(seen):7.3f}"
                  f"{max(seen):7.3f}", flush=True)


# --- four local workers ------------------------------------------------------

# Each of the four multiplies a quarter of the data twice.  The first has no
# code and one answer a round: what two rounds cost by themselves.
FOUR = {"uncoded, two rounds": "cec:l=4:p=4:pieces=1",
        "cec:l=4:p=8": "cec:l=4:p=8",
        "cec:l=3:p=8": "cec:l=3:p=8",
        "uncoded, copies=2": "mds:k=4",
        "cec:l=3:p=8:copies=2": "cec:l=3:p=8:copies=2",
        "steal, fused": "steal"}
BIG = "gen:gmm:40000,400"


def costs(code, steps):
    """Milliseconds of the median step, and processor seconds of all."""
    with tempfile.TemporaryDirectory(dir=SHM) as folder:
        before = os.times()
        _, took = train(folder, BIG, "-n", 4, "--code", code, "--steps", steps)
        after = os.times()
    return (statistics.median(step["took_us"] / 1e3 for step in took[2:]),
            after.children_user + after.children_system -
            before.children_user - before.children_system)


def measure_round():
    wall, cpu = {}, {}
    for _ in range(RUNS):
        for name, code in FOUR.items():
            costs(code, 3)
            few, many = costs(code, 10), costs(code, 110)
            wall.setdefault(name, []).append(many[0])
            cpu.setdefault(name, []).append((many[1] - few[1]) * 10)
    print(f"{BIG}, 4 local workers, {RUNS} runs in turn: ms a step, and of "
          "processors")
    for name in FOUR:
        base = "uncoded, copies=2" if "copies" in name else \
            "uncoded, two rounds"
        pairs = [a / b for a, b in zip(wall[name], wall[base])]
        burns = [a / b for a, b in zip(cpu[name], cpu[base])]
        print(f"{name:<22}{statistics.median(wall[name]):8.2f}"
              f"{statistics.median(pairs):7.2f} x"
              f"{statistics.median(cpu[name]):9.2f}"
              f"{statistics.median(burns):7.2f} x", flush=True)
    done = subprocess.run([ROOT / "build/release/bench/elastic"], check=True,
                          stdout=subprocess.PIPE, text=True)
    print("\n".join(re.findall("^L .*decode.*$", done.stdout, re.M)))


# --- storage -----------------------------------------------------------------


def anonymous(pid):
    text = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(re.search(r"RssAnon:\s+(\d+)", text)[1]) * 1024


def held(code, rows, cols):
    """Bytes in the memory of a worker that was sent its block."""
    with tempfile.TemporaryDirectory(dir=SHM) as folder:
        out = Path(folder) / "run"
        process = subprocess.Popen(
            [MUSTER, "train", f"gen:gmm:{rows},{cols}", "--code", code,
             "--steps", "8", *STEP, "--delay", "shifted:.3,0", "--out",
             str(out), "-q", "--listen", "127.0.0.1:0", "--workers", "4:4"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        wait_for(lambda: (out / "run.token").exists())
        far = [subprocess.Popen([MUSTER, "join", str(out)],
                                stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL) for _ in range(4)]
        wait_for(lambda: (status(out) or {}).get("step", 0) >= 4)
        bytes_held = [anonymous(worker.pid) for worker in far]
        err = process.communicate(timeout=300)[1]
        for worker in far:
            worker.wait(timeout=60)
        if process.returncode != 0:
            sys.exit(err)
    return bytes_held


def measure_storage():
    few, many, cols = 8000, 40000, 400
    print(f"memory of joined workers, {many} rows beside {few}, as a share of "
          "the rows between in fp64")
    for code, wanted in (("cec:l=2:p=8", 1 / 2), ("cec:l=4:p=8", 1 / 4),
                         ("cec:l=4:p=8:copies=2", 1 / 2)):
        more = statistics.median(held(code, many, cols)) - \
            statistics.median(held(code, few, cols))
        share = more / (8 * cols * (many - few))
        print(f"{code:<22}{share:8.3f}   wanted {wanted:.3f}", flush=True)


WHAT = {"time": measure_time, "events": measure_events,
        "sequence": measure_sequence, "chaos": measure_chaos,
        "round": measure_round, "storage": measure_storage}


def main():
    missed = False
    for what in sys.argv[1:] or WHAT:
        missed |= bool(WHAT[what]())
    sys.exit(missed)


main()
