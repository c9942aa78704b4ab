#!/usr/bin/env python3
"""What the coordinator sends, receives and computes in a step, for 8 to 256
local workers, each on a connection of its own and behind relays.

Bytes are the kernel's count of the coordinator's TCP sockets (`ss -i`), time is
the processor time of its process (/proc/PID/schedstat, nanoseconds), both
between two looks at a run in progress; the steps in between are counted in its
journal.  The time that passes is shown beside it: on a few cores most of it is
spent on the other processes.  Without relays both grow with n.  With a fan-out
of 8 the coordinator has eight children at most, whatever n, because relays are
behind relays.  With eight relays (one worker each at 8) it always has eight, and
what grows with n is only what each worker costs in itself.  `scale.py beside` compares like with like
on few cores: n workers behind eight relays, and eight behind eight while another
job of n has the machine, so that steps take as long and caches are as cold.  Each figure is the least of TRIES runs:
whatever else the machine does adds to it.
"""

import os
import re
import subprocess
import sys
import tempfile
import time

MUSTER = os.environ.get("MUSTER", "build/muster")
COLS = int(os.environ.get("COLS", "5000"))
FANOUT = int(os.environ.get("FANOUT", "8"))
RELAYS = 8
LOOK_S = float(os.environ.get("LOOK_S", "3"))
COUNTS = [int(n) for n in
          os.environ.get("COUNTS", "8,16,32,64,128,256").split(",")]
TRIES = int(os.environ.get("TRIES", "3"))
RECORD_BYTES = 256


def coordinator_of(pid):
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat") as file:
                text = file.read()
        except OSError:
            continue
        if "(muster:coord)" in text and \
                int(text.rsplit(")", 1)[1].split()[1]) == pid:
            return int(entry)
    return None


def processor_seconds(pid):
    """Of all its threads."""
    total = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/schedstat") as file:
            total += int(file.read().split()[0])
    return total / 1e9


def look(coordinator, journal):
    """Steps, bytes, processor seconds and seconds so far."""
    text = subprocess.run(["ss", "-tinpHO"], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    steps = os.path.getsize(journal) / RECORD_BYTES
    count = 0
    for line in text.splitlines():
        if f"pid={coordinator}," in line:
            count += sum(int(n) for n in re.findall(
                r"bytes_(?:sent|received):(\d+)", line))
    return steps, count, processor_seconds(coordinator), time.monotonic()


def start(n, fanout, out):
    road = ["--fanout", str(fanout)] if fanout else ["--bulk", "tcp"]
    return subprocess.Popen(
        [MUSTER, "train", f"gen:gmm:1024,{COLS}", "--chunk-rows", "4",
         "--steps", "1000000", "--code", "uncoded", "-n", str(n), "--out", out,
         "--lr", "0.001", "--optim", "gd", "--format", "json"] + road,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def measure_once(n, fanout):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "run")
        run = start(n, fanout, out)
        journal = os.path.join(out, "journal")
        while not os.path.exists(journal) or \
                os.path.getsize(journal) < 30 * RECORD_BYTES:
            if run.poll() is not None:
                sys.exit(f"n = {n}: the run ended at once")
            time.sleep(0.05)
        coordinator = coordinator_of(run.pid)
        first = look(coordinator, journal)
        time.sleep(LOOK_S)
        last = look(coordinator, journal)
        run.terminate()
        run.communicate()
    steps = last[0] - first[0]
    if steps < 5:
        sys.exit(f"n = {n}: {steps} steps in {LOOK_S} s")
    return [(last[i] - first[i]) / steps for i in (1, 2, 3)]


def measure(n, fanout):
    """Bytes, processor seconds and seconds of a step: the least of each."""
    seen = [measure_once(n, fanout) for _ in range(TRIES)]
    return [min(column) for column in zip(*seen)]


def beside():
    print(f"{'workers':>8}{'ms':>7}{'takes':>7}{'8 beside':>10}{'takes':>7}"
          f"{'ratio':>7}")
    for n in COUNTS:
        own = measure(n, n // RELAYS)
        with tempfile.TemporaryDirectory() as folder:
            other = start(n, n // RELAYS, os.path.join(folder, "run"))
            few = measure(RELAYS, 1)
            other.terminate()
            other.communicate()
        print(f"{n:>8}{own[1] * 1e3:>7.2f}{own[2] * 1e3:>7.1f}"
              f"{few[1] * 1e3:>10.2f}{few[2] * 1e3:>7.1f}"
              f"{own[1] / few[1]:>7.2f}", flush=True)


def main():
    ways = [("direct", lambda n: 0), (f"fan-out {FANOUT}", lambda n: FANOUT if n > FANOUT else 0),
            (f"{RELAYS} relays", lambda n: n // RELAYS)]
    base = {}
    print(f"{COLS} weights; a step costs the coordinator KB and processor ms "
          "(in ratios to the first row), and takes ms")
    print(f"{'':>8}" + "".join(f"{name:>36}" for name, _ in ways))
    print(f"{'workers':>8}" +
          len(ways) * f"{'KB':>10}{'':>6}{'ms':>7}{'':>6}{'takes':>7}")
    for n in COUNTS:
        row = f"{n:>8}"
        for name, fanout in ways:
            if name == ways[2][0] and RELAYS < n < RELAYS * RELAYS:
                row += f"{'more than one level':>36}"
                continue
            count, busy, took = measure(n, fanout(n))
            least = base.setdefault(name, (count, busy))
            row += (f"{count / 1e3:>10.0f}{count / least[0]:>6.2f}"
                    f"{busy * 1e3:>7.2f}{busy / least[1]:>6.2f}"
                    f"{took * 1e3:>7.1f}")
        print(row, flush=True)


if sys.argv[1:] == ["beside"]:
    beside()
else:
    main()
