#!/usr/bin/env python3
"""How long a worker computes for nothing: from the end of a round to the
standing still of those whose answers it did without.

Real processes; the figures are the run's own (`trace.cancel_to_stop` of the
result with --trace): from the last answer that a round needed, with which the
coordinator begins to decode, to the end of the stint that was called off, laid
on the coordinator's clock.  So the optimiser's step is in it, which CANCEL
leaves after.  Code frc with a spare copy of everything, more workers than
processors: somebody is always called off."""

import json
import os
import subprocess
import sys
import tempfile

MUSTER = os.environ.get("MUSTER", "build/muster")
RUNS = int(os.environ.get("RUNS", "3"))
LIMIT_MS = 10


def stops(folder):
    """What a run says: how many were called off, median and longest in ms."""
    done = subprocess.run(
        [MUSTER, "train", "gen:gmm:120000,200", "-n", "4", "--code", "frc",
         "--threads", "1", "--optim", "agd", "--steps", "1000", "--out",
         os.path.join(folder, "run"), "--trace", os.path.join(folder, "trace"),
         "--format", "json", "-q"], check=True, stdout=subprocess.PIPE)
    trace = json.loads(done.stdout)["trace"]
    said = trace["cancel_to_stop"]
    if said["count"] == 0:
        sys.exit("no worker was called off")
    return (said["count"], said["median_s"] * 1e3, said["max_s"] * 1e3,
            trace["clock_error_s"] * 1e3)


def main():
    middles = []
    for _ in range(RUNS):
        with tempfile.TemporaryDirectory() as folder:
            count, middle, most, error = stops(folder)
        middles.append(middle)
        print(f"{count} called off: {middle:.2f} ms median, {most:.2f} at most"
              f"; clocks agree to {error:.2f} ms; limit {LIMIT_MS} for the "
              "median", flush=True)
    sys.exit(max(middles) > LIMIT_MS)


main()
