#!/usr/bin/env python3
"""Memory of a worker that trains a network: what `muster model show` says, to
10 %, beside what the program and its rows take, which is measured with the
smallest of networks.  The peak is the kernel's (VmHWM), read while the run goes
on.  With `uncoded` a worker computes all that it may at a time."""

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
        "conv3x3x64 relu conv3x3x64 relu pool2 dense10"]


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


def measure(name, net):
    train = subprocess.Popen(
        [MUSTER, "train", "gen:digits:256", "--net", net, "--listen",
         "127.0.0.1:0", "--workers", "1", "--out", name, "--steps", "6",
         "--code", "uncoded", "--quiet"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end = time.monotonic() + DEADLINE_S
    while not (Path(name) / "address").exists():
        assert train.poll() is None and time.monotonic() < end
        select.select([], [], [], 0.01)
    joiner = subprocess.Popen([MUSTER, "join", name, "--threads", "1",
                               "--name", "w0", "--quiet"])
    most = 0
    while train.poll() is None:
        most = max(most, peak(joiner.pid))
        select.select([], [], [], 0.002)
    joiner.wait(DEADLINE_S)
    return most


def said(net):
    shown = json.loads(subprocess.run(
        [MUSTER, "model", "show", net, "--shape", "28x28x1", "--format",
         "json"], capture_output=True, check=True).stdout)["memory"]
    return shown["weights"] + shown["work"]


def main():
    base = measure("smallest", SMALLEST) - said(SMALLEST)
    print(f"1..{len(NETS)}")
    for i, net in enumerate(NETS):
        took, wanted = measure(f"run{i}", net) - base, said(net)
        print(f"# {net}: {took / 1e6:.1f} MB, said {wanted / 1e6:.1f} MB")
        print("ok" if abs(took - wanted) <= wanted / 10 else "not ok", i + 1,
              f"- memory of {net}")


main()
