#!/usr/bin/env python3
"""What strangers at the door cost an honest run (P11).

The same run undisturbed and under attack, in turn: silent connections,
garbage, huge lengths, TLS noise, slowloris, from the first step to the last:
RATE a second, 2,000 unless given, which is 10,000 in a run; 0 = as fast as one
process can.  The workers wait most of the time (--delay), so that it is the
coordinator's attention that is measured and not the attacker's share of this
machine's processors.  Medians of steps a second are compared; the limit is
80 %."""

import json
import multiprocessing
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/net/lib"))
os.environ.setdefault("MUSTER", str(ROOT / "build/muster"))
from cluster import address_of, child_named, peak_kib, wait_step  # noqa: E402
from strangers import attack  # noqa: E402

MUSTER = os.environ["MUSTER"]
RUNS = int(os.environ.get("RUNS", "3"))
STEPS = os.environ.get("STEPS", "400")
RATE = float(os.environ.get("RATE", "2000"))
BATCH = 50
LIMIT = 0.8


def strangers(address, seed, made):
    rng = random.Random(seed)
    next_at = time.monotonic()
    while True:
        made.value += attack(address, rng, BATCH, BATCH,
                             b"\x16\x03\x01\x00\x80" + rng.randbytes(128))
        if RATE > 0:
            next_at += BATCH / RATE
            time.sleep(max(0, next_at - time.monotonic()))


def measure(folder, seed, hostile, flags):
    """(steps a second, connections, KiB more, hash)"""
    out = os.path.join(folder, f"run-{seed}-{hostile}")
    process = subprocess.Popen(
        [MUSTER, "train", "gen:gmm:4000,30", "-n", "4", "--optim", "agd", "--steps", STEPS,
         "--delay", "exp:0.01", "--format", "json", "--out", out, *flags],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    address = address_of(out)
    key = flags[flags.index("--token-file"):] if flags else []
    wait_step(out, 1, *key)
    coordinator = child_named(process.pid, "coordinator")
    before = after = peak_kib(coordinator)
    made = multiprocessing.Value("q", 0)
    enemy = multiprocessing.Process(target=strangers,
                                    args=(address, seed, made), daemon=True)
    if hostile:
        enemy.start()
    while process.poll() is None:
        try:
            after = max(after, peak_kib(coordinator))
        except OSError:
            pass
        try:
            process.wait(0.05)
        except subprocess.TimeoutExpired:
            pass
    if hostile:
        enemy.terminate()
        enemy.join()
    result = json.loads(process.stdout.read())
    return (result["steps"] / result["elapsed_s"], made.value, after - before,
            result["hash"])


def main():
    hashes = set()
    bad = False
    with tempfile.TemporaryDirectory() as folder:
        token = os.path.join(folder, "token")
        subprocess.run([MUSTER, "token", "new", token], check=True,
                       stdout=subprocess.DEVNULL)
        for name, flags in (("plain", []),
                            ("sealed", ["--listen", "127.0.0.1:0",
                                        "--token-file", token])):
            calm, attacked = [], []
            for seed in range(RUNS):
                calm.append(measure(folder, f"{name}{seed}", False, flags))
                attacked.append(measure(folder, f"{name}{seed}", True, flags))
            hashes.update(m[3] for m in calm + attacked)
            usual = statistics.median(m[0] for m in calm)
            under = statistics.median(m[0] for m in attacked)
            bad |= under < LIMIT * usual
            print(f"{name}: {usual:.1f} steps/s undisturbed, {under:.1f} under "
                  f"attack: {100 * under / usual:.0f} % (limit "
                  f"{100 * LIMIT:.0f} %); {sum(m[1] for m in attacked)} "
                  f"connections, {max(m[2] for m in attacked)} KiB more",
                  flush=True)
    print(f"{len(hashes)} hash" + ("es: WRONG" if len(hashes) > 1 else ""))
    sys.exit(bad or len(hashes) > 1)


main()
