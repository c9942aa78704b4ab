#!/usr/bin/env python3
"""What leaves the coordinator, and how long the first step takes, when several
workers need the same rows: --ship peers against --ship coordinator.

Eight joiners of one machine under code frc, so that every row is needed by
four of them.  Bytes are those that the coordinator's process wrote (wchar of
/proc/PID/io; weights, journal and TLS included), the time is from the first
round's opening to the first step's end.  Least of several runs of each kind, in
turns."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MUSTER = os.path.abspath(os.environ.get("MUSTER", "build/muster"))
ROWS, COLS, WORKERS, COPIES = 65536, 256, 8, 4
RUNS = 3
LIMIT = 0.35  # A quarter, and what is not rows.


def children(parent):
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                words = Path(f"/proc/{entry}/stat").read_text()
            except OSError:
                continue
            name = words[words.index("(") + 1:words.rindex(")")]
            if int(words[words.rindex(")") + 2:].split()[1]) == parent:
                yield name, int(entry)


def written(pid):
    for line in Path(f"/proc/{pid}/io").read_text().splitlines():
        if line.startswith("wchar:"):
            return int(line.split()[1])
    return 0


def watch(process):
    """The most bytes seen written by its coordinator, until it ends."""
    most, pid = 0, None
    while process.poll() is None:
        try:
            if pid is None:
                pid = next((p for name, p in children(process.pid)
                            if name.startswith("muster:coord")), None)
            else:
                most = max(most, written(pid))
        except OSError:
            pass
        time.sleep(0.005)
    return most


def run(ship, folder):
    out = os.path.join(folder, "run")
    train = subprocess.Popen(
        [MUSTER, "train", f"gen:gmm:{ROWS},{COLS}", "--optim", "agd", "--steps", "5", "--lr",
         "0.1", "--listen", "127.0.0.1:0", "--workers", str(WORKERS), "--code",
         "frc", "--stragglers", str(COPIES - 1), "--ship", ship, "--out", out,
         "--format", "json"], stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True)
    place = Path(out) / "address"
    while not place.exists() or not place.read_text():
        time.sleep(0.01)
    joiners = [subprocess.Popen([MUSTER, "join", out, "--cache", "none",
                                 "--threads", "1"],
                                stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)
               for _ in range(WORKERS)]
    bytes_out = watch(train)
    result = json.loads(train.stdout.read())
    for joiner in joiners:
        joiner.wait()
    return bytes_out, result


def main():
    best = {}
    hashes = set()
    for _ in range(RUNS):
        for ship in ("coordinator", "peers"):
            with tempfile.TemporaryDirectory() as folder:
                bytes_out, result = run(ship, folder)
            hashes.add(result["hash"])
            old = best.get(ship, (bytes_out, None, result["elapsed_s"]))
            best[ship] = (min(old[0], bytes_out), result["data"],
                          min(old[2], result["elapsed_s"]))
    for ship, (bytes_out, data, elapsed) in best.items():
        print(f"--ship {ship:12} {bytes_out / 2**20:8.1f} MiB out, "
              f"{data['shipped']} chunks sent, {data['peers']} from peers, "
              f"{elapsed:.2f} s for 5 steps")
    ratio = best["peers"][0] / best["coordinator"][0]
    print(f"ratio {ratio:.3f} (limit {LIMIT}); hashes: {len(hashes)}")
    return 0 if ratio <= LIMIT and len(hashes) == 1 else 1


sys.exit(main())
