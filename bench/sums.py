#!/usr/bin/env python3
"""What an exact sum costs: against a plain loop, and muster_sum against MPI.

First build/release/bench/sums: the addition alone, in one thread.  Then MEMBERS
processes that add a vector of doubles again and again, by muster_sum over
loopback and by mpi4py's Allreduce (shared memory, sums that round, ends when a
member does), in turn: the least and the median call of RUNS runs, seen by the
first member.

    bench/sums.py [LENGTH ...]            # 1000 100000 1000000"""

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/release"
PYTHON = "/usr/bin/python3"
MEMBERS = int(os.environ.get("MEMBERS", "4"))
RUNS = int(os.environ.get("RUNS", "3"))
SIZES = (1000, 100000, 1000000)
ENV = {**os.environ, "LD_LIBRARY_PATH": str(BUILD / "src"),
       "PYTHONPATH": str(ROOT / "examples"), "PYTHONDONTWRITEBYTECODE": "1",
       "OMPI_MCA_rmaps_base_oversubscribe": "1",
       "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def calls_of(length):
    return max(20, min(1000, 20000000 // length))


def tell(took):
    took = sorted(took[3:])
    print(took[0], statistics.median(took))


def peer(length):
    import numpy as np
    from mpi4py import MPI
    comm = MPI.COMM_WORLD
    mine, total = np.ones(length), np.zeros(length)
    took = []
    for _ in range(calls_of(length)):
        began = time.perf_counter()
        comm.Allreduce(mine, total)
        took.append(time.perf_counter() - began)
    if comm.rank == 0:
        tell(took)


def member(length, address):
    import ctypes as C

    import muster
    import numpy as np
    group = muster.Group(address, least=MEMBERS)
    if not address:
        print(group.address, flush=True)
    mine, took = np.ones(length), []
    info = muster.Info(muster.VERSION)
    values = mine.ctypes.data_as(C.c_void_p)
    for _ in range(calls_of(length)):
        mine[:] = 1
        began = time.perf_counter()
        muster.call(muster.lib.muster_sum, group.handle, values,
                    C.c_uint64(length), 1, C.c_double(0), C.byref(info))
        took.append(time.perf_counter() - began)
    assert mine[0] == MEMBERS
    if not address:
        tell(took)
    group.leave()


def start(*args):
    return subprocess.Popen(list(map(str, args)), env=ENV, text=True,
                            stdout=subprocess.PIPE)


def ours(length):
    host = start(PYTHON, __file__, "member", length)
    address = host.stdout.readline().strip()
    others = [start(PYTHON, __file__, "member", length, address)
              for _ in range(MEMBERS - 1)]
    out = host.communicate()[0]
    for other in others:
        other.communicate()
    return list(map(float, out.split()))


def theirs(length):
    out = start("mpirun", "-n", MEMBERS, PYTHON, __file__, "peer",
                length).communicate()[0]
    return list(map(float, out.split()))


def main(sizes):
    subprocess.run([BUILD / "bench/sums"], check=True)
    print(f"{MEMBERS} members, doubles: least and median ms of a call")
    for length in sizes:
        rows = [(ours(length), theirs(length)) for _ in range(RUNS)]
        least, median, peer_least, peer_median = (
            1e3 * min(row[side][k] for row in rows)
            for side in (0, 1) for k in (0, 1))
        print(f"{length:9} muster_sum {least:8.3f} {median:8.3f}   Allreduce "
              f"{peer_least:8.3f} {peer_median:8.3f}   "
              f"{median / peer_median:.1f} x", flush=True)


if sys.argv[1:2] == ["peer"]:
    peer(int(sys.argv[2]))
elif sys.argv[1:2] == ["member"]:
    member(int(sys.argv[2]), *(sys.argv[3:] or [None]))
else:
    main(list(map(int, sys.argv[1:])) or SIZES)
