#!/usr/bin/env python3
"""A whole training step of a ring, from 1e3 to 1e6 weights, beside the star's
and beside the exchange alone of gloo (torch.distributed), in the same run.

    bench/ring.py [d ...]                 # 1000 10000 100000 1000000
    MUSTER=old/muster bench/ring.py       # from a bundle; nothing is built

A row for each peer, so that little is computed: a step is reading the weights,
rounding, the exchange, the update of all weights at every peer, names,
receipts, journals.  The time of one is that from the opening of a round to the
opening of the next (--trace).  RUNS runs of each, taken in turn; the least and
the median step.  "cpu" is the processor time of a whole run, all processes, by
its steps: what is compared where the machine is shared.  The run folder lies
in memory (FOLDER=... to see a disk).

gloo: all_reduce of as many fp32 and int64, as many processes, one thread each;
the slowest process of each call counts.  It adds, and nothing else: no
gradient, no update.  TORCH=python3 with torch, or none; without it our figures
stand alone.  All hashes must be one."""

import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
MUSTER = os.environ.get("MUSTER", os.path.join(HERE, "..", "build", "muster"))
RUNS = int(os.environ.get("RUNS", "5"))
PEERS = int(os.environ.get("PEERS", "8"))
FOLDER = os.environ.get("FOLDER", "/dev/shm")
TORCH = os.environ.get("TORCH", "python3")
SIZES = (1000, 10000, 100000, 1000000)
STEPS = {1000: 1000, 10000: 500, 100000: 200, 1000000: 40}
ROADS = {"ring shm": ["--topology", "ring", "--bulk", "shm"],
         "ring tcp": ["--topology", "ring", "--bulk", "tcp"],
         "ring plain": ["--topology", "ring", "--bulk", "plain"],
         "star shm": ["--code", "uncoded", "--bulk", "shm"],
         "star tcp": ["--code", "uncoded", "--bulk", "tcp"]}
ROADS = {name: flags for name, flags in ROADS.items()
         if name in os.environ.get("ROADS", ",".join(ROADS)).split(",")}
CALLS = 30


def steps_of(d):
    return STEPS.get(d, max(20, 30000000 // max(d, 10000)))


# --- gloo, in processes of its own -------------------------------------------


def gloo_rank(rank, port, d):
    import torch
    import torch.distributed as dist
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=PEERS,
                            init_method=f"tcp://127.0.0.1:{port}")
    found = {}
    for name, kind in (("fp32", torch.float32), ("int64", torch.int64)):
        vector, took = torch.ones(d, dtype=kind), []
        for _ in range(CALLS + 3):
            dist.barrier()
            began = time.perf_counter()
            dist.all_reduce(vector)
            took.append(time.perf_counter() - began)
            vector.fill_(1)
        slowest = torch.tensor(took[3:])
        dist.all_reduce(slowest, op=dist.ReduceOp.MAX)
        found[name] = slowest.tolist()
    if rank == 0:
        print(json.dumps(found), flush=True)


def has_torch():
    """TORCH=none: nobody wants it.  Another name that is no program is a slip."""
    if TORCH == "none":
        return False
    if shutil.which(TORCH) is None:
        sys.exit(f"ring.py: TORCH={TORCH}: no such program; a python3 with torch, "
                 "or none")
    return subprocess.run([TORCH, "-c", "import torch.distributed"],
                          stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode == 0


def free_port():
    import socket
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def run_gloo(d):
    port = str(free_port())
    ranks = [subprocess.Popen([TORCH, os.path.abspath(__file__), "gloo",
                               str(rank), port, str(d)],
                              stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL)
             for rank in range(PEERS)]
    told = [rank.communicate()[0] for rank in ranks]
    return json.loads(told[0])


# --- Muster ------------------------------------------------------------------


def step_times(trace):
    """From the opening of a round to that of the next; the first steps find
    caches and connections cold."""
    with open(trace) as file:
        opened = sorted(event["ts"] for event in json.load(file)
                        if event["name"] == "round")
    return [(b - a) * 1e-6 for a, b in zip(opened[3:], opened[4:])]


def spent():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run_muster(d, flags):
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        trace = os.path.join(folder, "trace.json")
        before = spent()
        out = subprocess.run(
            [MUSTER, "train", f"gen:gmm:{PEERS},{d}", "--chunk-rows", "1",
             "-n", str(PEERS), "--optim", "gd", "--lr", "1e-3", "--steps",
             str(steps_of(d)), *flags, "--out", os.path.join(folder, "run"),
             "--trace", trace, "-q", "--format", "json"],
            check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        told = json.loads(out.stdout)
        return (told["hash"], step_times(trace),
                (spent() - before) / told["steps"])


# --- side by side ------------------------------------------------------------


def measure(d, torch):
    took, cpu, hashes = {}, {}, set()
    for _ in range(RUNS):
        for name, flags in ROADS.items():
            model, times, used = run_muster(d, flags)
            hashes.add(model)
            took.setdefault(name, []).extend(times)
            cpu.setdefault(name, []).append(used)
        for name, times in run_gloo(d).items() if torch else ():
            took.setdefault(f"gloo {name}", []).extend(times)
    return took, cpu, hashes


def show(d, took, cpu):
    exchange = took.get("gloo int64")
    for name, times in took.items():
        ratio = ""
        if exchange and not name.startswith("gloo"):
            ratio = statistics.median(times) / statistics.median(exchange)
            ratio = f"{ratio:8.2f} x"
        used = f"{min(cpu[name]) * 1e3:9.3f}" if name in cpu else " " * 9
        print(f"{d:>8} {name:<11}{min(times) * 1e3:9.3f}"
              f"{statistics.median(times) * 1e3:9.3f}{used}{ratio}",
              flush=True)


def main():
    sizes = [int(a) for a in sys.argv[1:]] or SIZES
    torch, wrong = has_torch(), False
    print(f"{PEERS} peers, {os.cpu_count()} processors, {RUNS} runs; ms a step; "
          "x: by gloo's int64 all_reduce")
    print(f"{'d':>8} {'':<11}{'least':>9}{'median':>9}{'cpu':>9}")
    for d in sizes:
        took, cpu, hashes = measure(d, torch)
        show(d, took, cpu)
        wrong |= len(hashes) > 1
    if wrong:
        print("the roads end on different models: WRONG")
    sys.exit(wrong)


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] == "gloo":
        gloo_rank(int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
    else:
        main()
