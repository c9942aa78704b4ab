#!/usr/bin/env python3
"""What the coordinator sends, receives and computes in a step, for 8 to 256
local workers, each on a connection of its own and behind relays.

Bytes are the kernel's count of the coordinator's TCP sockets (`ss -i`), time is
its own processor time (/proc), both between two looks at a run in progress; the
steps in between are counted in its journal.  Without relays both grow with n.
With a fan-out of 16 the coordinator has one child for every 16 workers; with
eight relays, whatever n, it has as many as at the start.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time

MUSTER = os.environ.get("MUSTER", "build/muster")
COLS = int(os.environ.get("COLS", "5000"))
FANOUT = int(os.environ.get("FANOUT", "16"))
RELAYS = 8
LOOK_S = float(os.environ.get("LOOK_S", "3"))
COUNTS = [8, 16, 32, 64, 128, 256]
RECORD_BYTES = 256
TICK_S = 1 / os.sysconf("SC_CLK_TCK")


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


def look(coordinator, journal):
    """Steps, bytes and processor seconds so far."""
    with open(f"/proc/{coordinator}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    text = subprocess.run(["ss", "-tinpHO"], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    steps = os.path.getsize(journal) / RECORD_BYTES
    count = 0
    for line in text.splitlines():
        if f"pid={coordinator}," in line:
            count += sum(int(n) for n in re.findall(
                r"bytes_(?:sent|received):(\d+)", line))
    return steps, count, (int(fields[11]) + int(fields[12])) * TICK_S


def measure(n, fanout):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "run")
        run = subprocess.Popen(
            [MUSTER, "train", f"gen:gmm:1024,{COLS}", "--chunk-rows", "4",
             "--steps", "1000000", "--code", "uncoded", "-n", str(n),
             "--fanout", str(fanout), "--out", out, "--lr", "0.001",
             "--optim", "gd", "--format", "json"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
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
        result = json.loads(run.communicate()[0])
    steps = last[0] - first[0]
    if steps < 5:
        sys.exit(f"n = {n}: {steps} steps in {LOOK_S} s")
    return {"bytes": (last[1] - first[1]) / steps,
            "cpu": (last[2] - first[2]) / steps,
            "steps": steps, "objective": result["objective"]}


def main():
    base = None
    print(f"{COLS} weights; a step costs the coordinator, in ratios to 8 "
          "direct workers")
    print(f"{'':>8}{'direct':>30}{f'fan-out {FANOUT}':>30}"
          f"{f'{RELAYS} relays':>30}")
    print(f"{'workers':>8}" +
          3 * f"{'KB':>10}{'ratio':>6}{'ms':>8}{'ratio':>6}")
    for n in COUNTS:
        row = f"{n:>8}"
        for fanout in (0, FANOUT, n // RELAYS if n > RELAYS else 0):
            seen = measure(n, fanout)
            base = base or seen
            row += (f"{seen['bytes'] / 1e3:>10.0f}"
                    f"{seen['bytes'] / base['bytes']:>6.1f}"
                    f"{seen['cpu'] * 1e3:>8.2f}"
                    f"{seen['cpu'] / base['cpu']:>6.1f}")
        print(row, flush=True)


main()
