#!/usr/bin/env python3
"""Minibatch steps with eight workers against torch's DistributedDataParallel.

    bench/ddp.py [linear|cnn|threads ...]    # all three

linear   logistic regression, 400,000 x 500, batches of 4,096: -n 8 against DDP
         on gloo with 8 processes
cnn      the MNIST network of the ring's paper, batches of 128 and 1,024: the
         same
threads  the same network, a batch of 128 in one process with 1 .. all threads
         on both sides

Both sides draw random rows of data that every process can read, and step with
the same kind of optimiser (gd, adam).  DDP is tried with one thread a process
and with processors/8; the quicker counts.  Muster runs with its defaults.
Shown is the median step, RUNS runs of each side taken in turn; our steps are
whole: exact sums, receipts, journal (the run's folder lies in memory).  Of one
process the mean is shown, without the first steps, as torch's have none.
Needs torch; without it our figures stand alone."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

from overhead import FOLDER, step_times

HERE = os.path.dirname(os.path.abspath(__file__))
MUSTER = os.environ.get("MUSTER", os.path.join(HERE, "..", "build", "muster"))
RUNS = int(os.environ.get("RUNS", "3"))
WORKERS = int(os.environ.get("WORKERS", "8"))
ROWS, COLS = 400000, 500
NET = ("conv3x3x32 relu conv3x3x64 relu pool2 drop.25 dense128 relu drop.5 "
       "dense10")
IMAGES = 20000
STEPS = {"linear": 200, "cnn": 60}


# --- torch -------------------------------------------------------------------


def torch_model(torch, kind):
    nn = torch.nn
    if kind == "linear":
        return (nn.Linear(COLS, 1),
                nn.functional.binary_cross_entropy_with_logits)
    return nn.Sequential(
        nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(),
        nn.MaxPool2d(2), nn.Dropout(.25), nn.Flatten(), nn.Linear(9216, 128),
        nn.ReLU(), nn.Dropout(.5), nn.Linear(128, 10)
    ), nn.functional.cross_entropy


def torch_data(torch, kind):
    if kind == "linear":
        return torch.rand(ROWS, COLS), torch.randint(0, 2, (ROWS, 1)).float()
    return torch.rand(IMAGES, 1, 28, 28), torch.randint(0, 10, (IMAGES,))


def torch_steps(torch, model, loss, x, y, rows, optimiser, steps, seed):
    drawn = torch.Generator().manual_seed(seed)
    took = []
    for _ in range(steps + 3):
        began = time.perf_counter()
        index = torch.randint(0, len(x), (rows,), generator=drawn)
        optimiser.zero_grad(set_to_none=True)
        loss(model(x[index]), y[index]).backward()
        optimiser.step()
        took.append(time.perf_counter() - began)
    return took[3:]


def optimiser_of(torch, kind, model):
    if kind == "linear":
        return torch.optim.SGD(model.parameters(), lr=.1)
    return torch.optim.Adam(model.parameters())


def rank_main(rank, kind, batch, threads, data, out):
    import torch
    import torch.distributed as dist
    torch.set_num_threads(threads)
    dist.init_process_group("gloo", rank=rank, world_size=WORKERS,
                            init_method=f"file://{out}.meet")
    model, loss = torch_model(torch, kind)
    model = torch.nn.parallel.DistributedDataParallel(model)
    took = torch_steps(torch, model, loss, *data, batch // WORKERS,
                       optimiser_of(torch, kind, model), STEPS[kind], rank)
    if rank == 0:
        with open(out, "w") as file:
            json.dump(took, file)
    dist.barrier()
    dist.destroy_process_group()


def run_ddp(kind, batch, threads):
    """In processes of its own: this one must not have torch's threads."""
    out = subprocess.run(
        [sys.executable, os.path.abspath(__file__), "ddp", kind, str(batch),
         str(threads)], check=True, stdout=subprocess.PIPE)
    return json.loads(out.stdout)


def ddp():
    import torch
    kind, batch, threads = sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    data = [part.share_memory_() for part in torch_data(torch, kind)]
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        out = os.path.join(folder, "steps")
        torch.multiprocessing.spawn(rank_main, (kind, batch, threads, data,
                                                out), nprocs=WORKERS)
        with open(out) as file:
            print(file.read())


def torch_alone():
    import torch
    threads, batch = int(sys.argv[2]), int(sys.argv[3])
    torch.set_num_threads(threads)
    model, loss = torch_model(torch, "cnn")
    print(json.dumps(torch_steps(
        torch, model, loss, *torch_data(torch, "cnn"), batch,
        optimiser_of(torch, "cnn", model), STEPS["cnn"], 1)))


def run_torch(threads, batch):
    out = subprocess.run(
        [sys.executable, os.path.abspath(__file__), "alone", str(threads),
         str(batch)], check=True, stdout=subprocess.PIPE)
    return json.loads(out.stdout)


def has_torch():
    return subprocess.run([sys.executable, "-c", "import torch"],
                          stderr=subprocess.DEVNULL).returncode == 0


# --- Muster ------------------------------------------------------------------


def run_muster(kind, batch, flags, steps):
    """Steps of workers as they were recorded; of one process their mean."""
    data = {"linear": [f"gen:gmm:{ROWS},{COLS}", "--optim", "gd",
                       "--lr", ".1"],
            "cnn": [f"gen:digits:{IMAGES}", "--net", NET]}[kind]
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        record = os.path.join(folder, "times")
        workers = "-n" in flags
        out = subprocess.run(
            [MUSTER, "train", *data, "--batch", str(batch), "--steps",
             str(steps), *flags, "-q", "--format", "json", "--out",
             os.path.join(folder, "run"),
             *(["--record", record] if workers else [])],
            check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        result = json.loads(out.stdout)
        if workers:
            return result["hash"], step_times(record)
        return result["hash"], [result["elapsed_s"] / steps]


def run_alone(batch, threads):
    """A mean without the first steps: that of a long run less a short one."""
    flags = ["--threads", str(threads)]
    few, many = 20, 4 * STEPS["cnn"]
    _, [short] = run_muster("cnn", batch, flags, few)
    model, [long] = run_muster("cnn", batch, flags, many)
    return model, [(long * many - short * few) / (many - few)]


# --- side by side ------------------------------------------------------------


def with_workers(kind, batches):
    cores = len(os.sched_getaffinity(0))
    wrong = False
    for batch in batches:
        mine, theirs, hashes = [], {}, set()
        for _ in range(RUNS):
            model, times = run_muster(kind, batch, ["-n", str(WORKERS)],
                                      STEPS[kind])
            hashes.add(model)
            mine += times
            for threads in {1, max(1, cores // WORKERS)} if TORCH else ():
                theirs.setdefault(threads, []).extend(
                    run_ddp(kind, batch, threads))
        ours = statistics.median(mine)
        line = f"{kind:<8} batch {batch:<5} -n {WORKERS} {ours * 1e3:9.3f} ms"
        if theirs:
            peer, threads = min((statistics.median(times), threads)
                                for threads, times in theirs.items())
            line += (f"   DDP {peer * 1e3:9.3f} ms ({threads} threads each)"
                     f"   {peer / ours:5.2f} x")
        print(line, flush=True)
        wrong |= len(hashes) > 1
    return wrong


def with_threads():
    cores = len(os.sched_getaffinity(0))
    counts = [n for n in (1, 2, 4, 8, 16, 32) if n <= cores]
    mine = {n: [] for n in counts}
    theirs = {n: [] for n in counts}
    hashes = set()
    for _ in range(RUNS):
        for n in counts:
            model, times = run_alone(128, n)
            hashes.add(model)
            mine[n] += times
            if TORCH:
                theirs[n] += run_torch(n, 128)
    for n in counts:
        ours = 128 / statistics.median(mine[n])
        line = f"threads  {n:>2}: {ours:9.0f} images/s"
        if TORCH:
            peer = 128 / statistics.median(theirs[n])
            line += f"   torch {peer:9.0f}   {ours / peer:5.2f} x"
        print(line, flush=True)
    if TORCH:
        best = max(128 / statistics.median(theirs[n]) for n in counts)
        most = max(128 / statistics.median(mine[n]) for n in counts)
        print(f"best of each: {most:.0f} against {best:.0f}: "
              f"{most / best:.2f} x", flush=True)
    return len(hashes) > 1


def main():
    global TORCH
    TORCH = has_torch()
    parts = sys.argv[1:] or ["linear", "cnn", "threads"]
    wrong = False
    if "linear" in parts:
        wrong |= with_workers("linear", [4096])
    if "cnn" in parts:
        wrong |= with_workers("cnn", [128, 1024])
    if "threads" in parts:
        wrong |= with_threads()
    if wrong:
        print("runs of one kind end on different models: WRONG")
    sys.exit(wrong)


if __name__ == "__main__":
    {"ddp": ddp, "alone": torch_alone}.get((sys.argv + [""])[1], main)()
