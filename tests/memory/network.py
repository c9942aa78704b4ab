#!/usr/bin/env python3
"""Memory of those who train a network: what `muster model show` says, to 10 %
and a megabyte, beside what the program and its rows take, which is measured
with the smallest of networks.  The peak is the kernel's (VmHWM), read while the
run goes on.  With `uncoded` and one worker it computes all that it may at a
time; with `steal` two of them compute microbatches.  The coordinator is the one
child that the training has; of it is said what it takes at most, which not
every run does."""

import itertools
import json
import os
import select
import subprocess
import time
from pathlib import Path

MUSTER = os.environ["MUSTER"]
DEADLINE_S = 100
SMALLEST = "dense10"
NETS = ["dense2048 relu dense1024 relu dense10",
        "conv3x3x32 relu conv3x3x64 relu pool2 drop.25 dense128 relu drop.5 "
        "dense10",
        "conv3x3x64 relu conv3x3x64 relu pool2 dense10",
        "conv3x3x32/2 relu conv3x3x64/2 relu dense10",
        "dense1024 relu dense512 relu dense10"]
CODES = {"uncoded": 1, "steal": 2}  # Workers.
SLACK = 1e6  # By so much program and rows themselves differ from run to run.


def peak(pid):
    """Bytes, or 0 if it is gone."""
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    for line in text.splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def children(pid):
    try:
        return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []


def measure(name, net, code):
    """The peaks of the workers and of the coordinator."""
    train = subprocess.Popen(
        [MUSTER, "train", "gen:digits:256", "--net", net, "--listen",
         "127.0.0.1:0", "--workers", str(CODES[code]), "--out", name, "--steps", "6",
         "--code", code, "--quiet"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end = time.monotonic() + DEADLINE_S
    while not (Path(name) / "address").exists():
        assert train.poll() is None and time.monotonic() < end
        select.select([], [], [], 0.01)
    joiners = [subprocess.Popen([MUSTER, "join", name, "--threads", "1",
                                 "--name", f"w{i}", "--quiet"])
               for i in range(CODES[code])]
    most, steers = [0] * len(joiners), 0
    while train.poll() is None:
        most = [max(m, peak(j.pid)) for m, j in zip(most, joiners)]
        steers = max([steers, *map(peak, children(train.pid))])
        select.select([], [], [], 0.002)
    for joiner in joiners:
        joiner.wait(DEADLINE_S)
    return most, steers


def said(net, code):
    """Of a worker and of the coordinator."""
    shown = json.loads(subprocess.run(
        [MUSTER, "model", "show", net, "--shape", "28x28x1", "--format",
         "json"], capture_output=True, check=True).stdout)["memory"]
    return (shown["weights"] + shown["messages"] + shown[f"{code}_work"],
            shown["coordinator"] + CODES[code] * shown["coordinator_worker"])


def tell(number, what, took, wanted, least=.9):
    print(f"# {what}:", *(f"{t / 1e6:.1f}" for t in took),
          f"MB, said {wanted / 1e6:.1f} MB")
    good = all(least * wanted - SLACK <= t <= 1.1 * wanted + SLACK for t in took)
    print("ok" if good else "not ok", number, f"- memory of {what}", flush=True)


def main():
    workers, steers = measure("smallest", SMALLEST, "uncoded")
    of_worker, of_steers = said(SMALLEST, "uncoded")
    base, steers_base = workers[0] - of_worker, steers - of_steers
    print(f"1..{2 * len(CODES) * len(NETS)}")
    for i, (net, code) in enumerate(itertools.product(NETS, CODES)):
        of_worker, of_steers = said(net, code)
        workers, steers = measure(f"run{i}", net, code)
        tell(2 * i + 1, f"{net}, {code}", [w - base for w in workers], of_worker)
        tell(2 * i + 2, f"{net}, {code}, the coordinator", [steers - steers_base],
             of_steers, .75)


main()
