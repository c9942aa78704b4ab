#!/usr/bin/env python3
"""An all-reduce beside Open MPI's and gloo's: every process has its own result.

Turns of muster_sum, of MPI_Allreduce and of gloo, in short processes one after the
other, PAIRS times; of each the median over the pairs of the median call, and the
median of the ratios within a pair.  Ours is exact and bears deaths; theirs round
as they go, and end when one does.

    bench/allreduce.py [PROCESSES ...]         # 2 4; TURNS=30 PAIRS=5 MOST=104857600
    ROADS=shm,mpi bench/allreduce.py           # some of these:

    shm      muster_sum by shared memory        mpi      Open MPI, as it likes
    plain    muster_sum by TCP, without TLS     mpi-tcp  Open MPI, over its tcp
    tls      muster_sum by TCP, with TLS        gloo     torch's, or GLOO=program
                                                         (allreduce_gloo.cc), by TCP
    bare     the copies and additions that a sum by shared memory needs, in
             memcpy and plain loops, without members who may die; of i64 only
    past     the same, copied past the caches

What goes by memory is compared with "shm", what goes by TCP with "plain"."""

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BENCH = ROOT / "build/release/bench"
PYTHON = os.environ.get("PYTHON", "/usr/bin/python3")
TURNS = os.environ.get("TURNS", "30")
PAIRS = int(os.environ.get("PAIRS", "5"))
MOST = int(os.environ.get("MOST", str(100 << 20)))
SIZES = [size for size in (4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20,
                           16 << 20, 64 << 20, 100 << 20, 256 << 20) if size <= MOST]
ENV = {**os.environ, "LD_LIBRARY_PATH": str(ROOT / "build/release/src"),
       "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1",
       "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "1",
       "GLOO_SOCKET_IFNAME": "lo"}
MPI_TCP = {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,tcp"}
BESIDE = {"mpi": "shm", "bare": "shm", "past": "shm", "mpi-tcp": "plain", "gloo": "plain"}
ROADS = os.environ.get("ROADS", "shm,plain,tls,mpi,mpi-tcp,gloo,bare,past").split(",")


def gloo_rank(rank, world, store, turns, kind, sizes):
    import time

    import torch
    import torch.distributed as dist
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=world,
                            init_method=f"file://{store}")
    of = {"i64": torch.int64, "f32": torch.float32, "f64": torch.float64}[kind]
    for size in sizes:
        count = size // (4 if kind == "f32" else 8)
        ramp = (torch.arange(count) % 1000 + rank).to(of)
        values, took, processor = torch.empty_like(ramp), [], 0.0
        for i in range(-2, turns if size <= 1 << 22 else max(3, turns // 3)):
            values.copy_(ramp)
            dist.barrier()
            began, used = time.perf_counter(), time.process_time()
            dist.all_reduce(values)
            if i >= 0:
                took.append(time.perf_counter() - began)
                processor += time.process_time() - used
        total = torch.tensor([statistics.median(took) / world, processor / len(took)],
                             dtype=torch.float64)
        dist.all_reduce(total)
        if rank == 0:
            print(size, *(1e6 * total).tolist(), flush=True)
    dist.destroy_process_group()


def gloo(world, turns, kind, *sizes):
    import torch.multiprocessing as mp
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(gloo_rank, (int(world), f"{folder}/store", int(turns), kind,
                             [int(size) for size in sizes]), nprocs=int(world))


def figures(environment, *command):
    """{size: (microseconds, of processors)}, or None: it is not there."""
    done = subprocess.run([str(word) for word in command], text=True,
                          env={**ENV, **environment}, capture_output=True)
    if done.returncode != 0:
        sys.stderr.write(done.stderr[-300:])
        return None
    return {int(size): (float(wall), float(cpu)) for size, wall, cpu in
            (line.split() for line in done.stdout.splitlines()
             if line[:1].isdigit())}


def sides(world, kind, token):
    ours = BENCH / "allreduce", world, TURNS, kind
    mpi = "mpirun", "-n", world, BENCH / "allreduce_mpi", TURNS, kind
    gloo = [os.environ["GLOO"]] if "GLOO" in os.environ else [PYTHON, __file__,
                                                              "gloo"]
    every = {"shm": ({}, ours),
             "plain": ({"TOKEN_FILE": token, "PLAIN": "1"}, ours),
             "tls": ({"TOKEN_FILE": token}, ours),
             "bare": ({}, (BENCH / "allreduce_bare", world, TURNS, kind)),
             "past": ({"PAST": "1"}, (BENCH / "allreduce_bare", world, TURNS, kind)),
             "mpi": ({}, mpi), "mpi-tcp": (MPI_TCP, mpi),
             "gloo": ({}, (*gloo, world, TURNS, kind))}
    return [(name, *every[name]) for name in ROADS]


def compare(world, kind, token):
    seen = {}
    for _ in range(PAIRS):
        for name, environment, command in sides(world, kind, token):
            if seen.get(name, True) is not None:
                got = figures(environment, *command, *SIZES)
                seen[name] = got and [*seen.get(name, []), got]
    load = os.getloadavg()[0]
    print(f"{world} processes, {kind} (load {load:.0f}): microseconds of a call "
          "(of all processors); theirs / ours")
    for size in SIZES:
        cells = []
        for name, rows in seen.items():
            if rows is None:
                continue
            wall, cpu = (statistics.median(row[size][k] for row in rows)
                         for k in (0, 1))
            cells.append(f"{name} {wall:10.1f} ({cpu:10.1f})")
            if seen.get(BESIDE.get(name)):
                ratio, saved = (statistics.median(
                    row[size][k] / ours[size][k]
                    for row, ours in zip(rows, seen[BESIDE[name]])) for k in (0, 1))
                cells.append(f"{ratio:5.2f} ({saved:5.2f}) x")
        print(f"{size:10} " + "  ".join(cells), flush=True)


def main(worlds):
    with tempfile.TemporaryDirectory() as folder:
        token = f"{folder}/token"
        subprocess.run([ROOT / "build/muster", "token", "new", token],
                       stdout=subprocess.DEVNULL, check=True)
        for world in worlds:
            for kind in os.environ.get("TYPES", "i64 f32").split():
                compare(world, kind, token)


# Its processes are started anew and read this file, too.
if __name__ == "__main__" and sys.argv[1:2] == ["gloo"]:
    gloo(*sys.argv[2:])
elif __name__ == "__main__":
    main([int(world) for world in sys.argv[1:]] or [2, 4])
