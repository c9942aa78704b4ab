#!/usr/bin/env python3
"""Real elapsed time under the reference delays, against the ideal.

Eight workers, 40 steps; every worker sleeps its share of the reference stream
after computing and before sending.  The ideal is the sum over steps of the
moment at which the code has enough, with perfect cancellation and no compute:
what `muster simulate --no-compute` prints from the same core.  Real time may
exceed it by 3 %."""

import json
import os
import subprocess
import sys
import tempfile

MUSTER = os.environ.get("MUSTER", "build/muster")
LIMIT = 1.03
CODES = {
    "frc s=3": (7.5, ["--code", "frc", "--stragglers", "3"]),
    "agc s=1 collect 5": (15.5, ["--code", "agc:s=1:collect=5"]),
    "frc s=1": (18.4, ["--code", "frc", "--stragglers", "1"]),
    "steal s=1": (None, ["--code", "steal", "--stragglers", "1"]),
    "cyclic s=1": (36.3, ["--code", "cyclic", "--stragglers", "1"]),
    "uncoded": (52.7, ["--code", "uncoded"]),
}


def muster(*args):
    out = subprocess.run([MUSTER, *args, "--format", "json"], check=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return json.loads(out.stdout)


def main():
    common = ["gen:gmm:2000,20", "-n", "8", "--optim", "agd", "--steps", "40", "--delay",
              "reference", "--chunk-rows", "32"]
    worst = 0
    print(f"{'code':<20}{'published':>10}{'ideal':>10}{'real':>10}{'ratio':>8}")
    for name, (published, flags) in CODES.items():
        ideal = muster("simulate", *common, *flags, "--no-compute")["total_s"]
        with tempfile.TemporaryDirectory() as folder:
            real = muster("train", *common, *flags, "--out",
                          os.path.join(folder, "run"))["elapsed_s"]
        ratio = real / ideal
        worst = max(worst, ratio)
        print(f"{name:<20}{published or '-':>10}{ideal:>10.2f}{real:>10.2f}"
              f"{ratio:>8.3f}", flush=True)
    print(f"worst {worst:.3f} (limit {LIMIT})")
    sys.exit(worst > LIMIT)


main()
