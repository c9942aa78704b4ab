#!/usr/bin/env python3
"""What a fault costs: the pause between two commits around it.

For each kind of fault, runs with one fault each; the pause is the gap between
the commits before and after the fault, less the median gap of the same run.
Compared with the detector's limits: a socket death <= 50 ms and the lost work,
SIGSTOP <= the suspicion limit + 50 ms, the coordinator < 2 s."""

import json
import os
import statistics
import subprocess
import sys
import tempfile

MUSTER = os.environ.get("MUSTER", "build/muster")
RUNS = int(os.environ.get("RUNS", "15"))
DATA = ["gen:gmm:40000,100", "-n", "8", "--optim", "agd", "--steps", "60"]
KINDS = {
    # name: (chaos, limit in s over the usual step)
    "worker kill -9, steal": ("kill:w3@30", 0.050, ["--code", "steal"]),
    "worker kill -9, uncoded": ("kill:w3@30", 0.050, ["--code", "uncoded"]),
    "worker SIGSTOP, steal": ("stop:w3@30+200", 0.350, ["--code", "steal"]),
    "worker SIGSTOP, uncoded": ("stop:w3@30+200", 0.350,
                                ["--code", "uncoded"]),
    "coordinator kill -9": ("kill:coordinator@30", 2.0, ["--code", "steal"]),
}


def pause(chaos, flags):
    with tempfile.TemporaryDirectory() as folder:
        out = subprocess.run(
            [MUSTER, "train", *DATA, *flags, "--chaos", chaos, "--out",
             os.path.join(folder, "run"), "--format", "json"],
            check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    result = json.loads(out.stdout)
    usual = result["elapsed_s"] / result["steps"]
    return result["worst_pause_s"] - usual, usual, result["hash"]


def main():
    hashes = set()
    late = False
    print(f"{'fault':<26}{'usual step':>11}{'pause: least':>13}{'median':>8}"
          f"{'most':>8}{'limit':>8}   ms")
    for name, (chaos, limit, flags) in KINDS.items():
        seen = [pause(chaos, flags) for _ in range(RUNS)]
        hashes.update(h for _, _, h in seen)
        pauses = sorted(p * 1e3 for p, _, _ in seen)
        usual = statistics.median(u for _, u, _ in seen) * 1e3
        middle = statistics.median(pauses)
        late |= middle > limit * 1e3
        print(f"{name:<26}{usual:>11.1f}{pauses[0]:>13.1f}{middle:>8.1f}"
              f"{pauses[-1]:>8.1f}{limit * 1e3:>8.0f}", flush=True)
    print(f"{len(hashes)} hash" + ("es: WRONG" if len(hashes) > 1 else ""))
    sys.exit(late or len(hashes) > 1)


if __name__ == "__main__":
    main()
