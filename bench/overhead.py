#!/usr/bin/env python3
"""What a step costs besides computing: eight local workers, d weights.

A row for each worker and one piece each, so that little is computed; beside
it, in the same minute, a parameter server of as many workers written with
mpi4py: rank 0 sends d numbers to all, all answer with d numbers, rank 0 adds
them up.  "buffers" (Isend, Irecv) and "gather" (Bcast, Gather) are two ways to
write that loop; "reduce" is Bcast and Reduce, another algorithm, in which the
ranks add for each other.  Both in fp32 and, as our weights and tallies are 64
bits wide, in fp64.  The peer computes no gradient, its sums are not exact, it
writes no journal, and it ends when a worker does; Muster's step is a whole one.

"floor" (bench/floor.c) is what must be paid for exact 64-bit sums by shared
memory here: processes that wake, read the weights and write integers, and one
that adds them, nothing else; "and hash": with SHA-256 of the weights; "row":
each process computes the gradient of its row, too, and adds up a slice.  By TCP
it is the same through a connection to each process, without frames or checks.

    bench/overhead.py [d ...]            # 1000 10000 100000 1000000
    MUSTER=old/muster bench/overhead.py  # what it was

All sides: the least and the median step of RUNS runs, taken in turn.  "run" is
a whole run's time by its steps, with checkpoints and what a step may have to
wait for after its last answer.  The run folder lies in memory: a disk that
syncs the journal every ten steps is another matter (FOLDER=... to see it).
ROADS=shm leaves out TCP, PEERS=0 all but Muster.  "wanted" is for the median
step by shared memory on 16 cores; here it is beside."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

MUSTER = os.environ.get("MUSTER", "build/muster")
RUNS = int(os.environ.get("RUNS", "5"))
FOLDER = os.environ.get("FOLDER", "/dev/shm")
FLOOR = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "build",
                     "release", "bench", "floor")
PEERS = os.environ.get("PEERS", "1") != "0"
WORKERS = 8
WANTED = {1000: .05, 10000: .1, 100000: .5, 1000000: 3}
SIZES = (1000, 10000, 100000, 1000000)
STEPS = {1000: 2000, 10000: 1000, 100000: 200, 1000000: 40}
ROADS = {"shm": ["--mca", "btl", "self,vader"],
         "tcp": ["--mca", "btl", "self,tcp"]}
ROADS = {road: flags for road, flags in ROADS.items()
         if road in os.environ.get("ROADS", "shm tcp").split()}
FLOORS = {"shm": {"floor": [], "and hash": ["hash"], "row": ["row"]},
          "tcp": {"floor": ["tcp"]}}
LOOPS = ("buffers", "gather", "reduce")


def steps_of(d):
    return STEPS.get(d, max(20, 30000000 // max(d, 10000)))


# --- the peer, under mpirun --------------------------------------------------


def peer_loop(comm, kind, numbers, d, steps):
    import numpy as np
    from mpi4py import MPI
    workers = comm.size - 1
    w, g = np.zeros(d, numbers), np.ones(d, numbers)
    all_g = np.zeros((workers + 1, d), numbers)
    total = np.zeros(d, numbers)
    comm.Barrier()
    took = []
    for _ in range(steps):
        began = time.perf_counter()
        if kind == "buffers" and comm.rank == 0:
            asked = [comm.Isend(w, k) for k in range(1, workers + 1)]
            asked += [comm.Irecv(all_g[k], k) for k in range(1, workers + 1)]
            MPI.Request.Waitall(asked)
            w[:] = all_g[1:].sum(0)
        elif kind == "buffers":
            comm.Recv(w, 0)
            comm.Send(g, 0)
        elif kind == "gather":
            comm.Bcast(w, 0)
            comm.Gather(g, all_g if comm.rank == 0 else None, 0)
            if comm.rank == 0:
                w[:] = all_g[1:].sum(0)
        else:
            comm.Bcast(w, 0)
            comm.Reduce(g, total, root=0)
        took.append(time.perf_counter() - began)
    return took


def peer():
    from mpi4py import MPI
    comm = MPI.COMM_WORLD
    d, steps = int(sys.argv[2]), int(sys.argv[3])
    found = {}
    for numbers in ("float32", "float64"):
        for kind in LOOPS:
            peer_loop(comm, kind, numbers, d, 3)
            found[f"{numbers} {kind}"] = peer_loop(comm, kind, numbers, d,
                                                   steps)
    if comm.rank == 0:
        print(json.dumps(found), flush=True)


def run_peer(d, road):
    env = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1",
               OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    steps = max(8, steps_of(d) // 10)
    out = subprocess.run(
        ["mpirun", "--oversubscribe", *ROADS[road], "--mca",
         "mpi_yield_when_idle", "1", "-np", str(WORKERS + 1),
         "/usr/bin/python3", os.path.abspath(__file__), "peer", str(d),
         str(steps)], check=True, stdout=subprocess.PIPE, env=env)
    return json.loads(out.stdout)


# --- Muster ------------------------------------------------------------------


def step_times(record):
    """From a step's opening to its last answer, which opens the next one.
    Steps without a worker that a busy machine kept silent do not count."""
    with open(record) as file:
        lines = file.read().splitlines()
    work = float(lines[1].split()[-1])
    rows = [line.replace(">", "").split(",") for line in lines[2:]]
    return [work + max(map(float, row)) for row in rows if "dead" not in row]


def run_muster(d, flags):
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        record = os.path.join(folder, "times")
        out = subprocess.run(
            [MUSTER, "train", f"gen:gmm:{WORKERS},{d}", "--chunk-rows", "1",
             "-n", str(WORKERS), "--code", "uncoded", "--optim", "gd",
             "--lr", "1e-3", "--steps", str(steps_of(d)), *flags, "--out",
             os.path.join(folder, "run"), "--record", record, "-q", "--format", "json"],
            check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        told = json.loads(out.stdout)
        return (told["hash"], step_times(record),
                told["elapsed_s"] / told["steps"])


def roads():
    """Builds without shared memory know one road only."""
    text = subprocess.run([MUSTER, "train", "--help", "all"], check=True,
                          stdout=subprocess.PIPE).stdout.decode()
    if "--bulk" not in text:
        return {"tcp": []}
    return {road: ["--bulk", road] for road in ROADS}


# --- the floor ---------------------------------------------------------------


def run_floor(d, flags):
    out = subprocess.run([FLOOR, str(WORKERS), str(d), str(steps_of(d)),
                          *flags], check=True, stdout=subprocess.PIPE)
    return json.loads(out.stdout)


# --- side by side ------------------------------------------------------------


def measure(d):
    mine, theirs, floors, hashes, runs = {}, {}, {}, set(), {}
    for _ in range(RUNS):
        for road in ROADS if PEERS else ():
            for name, times in run_peer(d, road).items():
                theirs.setdefault((road, *name.split()), []).extend(times)
        for road, flags in roads().items():
            model, times, run = run_muster(d, flags)
            hashes.add(model)
            mine.setdefault(road, []).extend(times)
            runs.setdefault(road, []).append(run)
            for name, flags in FLOORS[road].items() if PEERS else ():
                floors.setdefault(road, {}).setdefault(name, []).append(
                    run_floor(d, flags))
    return mine, runs, theirs, floors, hashes


def peer_cells(theirs, road, figure, ours):
    for loop in LOOPS:
        for numbers in ("float32", "float64"):
            took = figure(theirs[road, numbers, loop])
            yield f"{took * 1e3:9.3f}{took / ours:5.2f} x"


def floor_cells(floors, name, ours):
    for runs in floors.values():
        took = min(run[name] for run in runs)
        yield f"{took:9.3f}{ours * 1e3 / took:5.2f} x"


def show(d, mine, runs, theirs, floors):
    for road, times in mine.items():
        for name, figure in (("least", min), ("median", statistics.median)):
            ours = figure(times)
            cells = [*peer_cells(theirs, road, figure, ours),
                     *floor_cells(floors[road], name, ours)] if PEERS else []
            wanted = WANTED.get(d, "") if road == "shm" else ""
            print(f"{d:>8} {road:<4}{name:<7}{ours * 1e3:9.3f}"
                  f"{figure(runs[road]) * 1e3:9.3f}{wanted:>7} "
                  + " ".join(cells), flush=True)


def main():
    sizes = [int(a) for a in sys.argv[1:]] or SIZES
    wrong = False
    print("ms a step; x: how many times less ours is than mpi4py's, how many "
          "times more than the floor")
    heads = [f"{loop} {bits}" for loop in LOOPS for bits in ("fp32", "fp64")]
    heads = heads + ["floor", "and hash", "row"] if PEERS else []
    print(f"{'d':>8} {'road':<4}{'':<7}{'Muster':>9}{'run':>9}{'wanted':>7} "
          + " ".join(f"{head:>16}" for head in heads))
    for d in sizes:
        mine, runs, theirs, floors, hashes = measure(d)
        show(d, mine, runs, theirs, floors)
        wrong |= len(hashes) > 1
    if wrong:
        print("the roads end on different models: WRONG")
    sys.exit(wrong)


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] == "peer":
        peer()
    else:
        main()
