#!/usr/bin/env python3
"""One training under every engine that can start its processes: alone, threads,
workers of one machine, relays, a ring, ssh, Slurm, two MPIs, Dask, Python.
Prints a line and the model's hash for each; ends with 1 if two differ.

    make engines

The daemons (sshd, munged, slurmctld, slurmd, Dask's) are started for it and
ended with it.  What is not installed here is named as skipped, with the reason;
`tools/deps.sh build test mpi engines` installs all of it.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MUSTER = os.environ.setdefault("MUSTER", str(ROOT / "build/muster"))
FOLDER = tempfile.TemporaryDirectory()
os.chdir(FOLDER.name)  # Before cluster.py, whose cache is where it begins.
sys.path[:0] = [str(ROOT / "tests/net/lib"), str(ROOT / "tests/engines/lib")]
from cluster import happens, run, status, wait_for, wait_step  # noqa: E402
import slurm  # noqa: E402
import sshd  # noqa: E402
from one_hash import Skipped, compare  # noqa: E402

PYTHON = "/usr/bin/python3"  # Debian's, with numpy and Dask.
ROWS, COLUMNS, STEPS = 4000, 8, 3000
JOB = ["rows.csv", "--label", "y", "--model", "logistic", "--optim", "agd",
       "--steps", STEPS, "--l2", 0.001]
SLOWLY = ["--delay", "exp:0.004"]  # So that something can happen meanwhile.
LIMIT_S = 300  # Against hangs only.


def write_rows():
    """Numbers that floats hold exactly, so that it does not matter who reads
    them."""
    draw = random.Random(1)
    with open("rows.csv", "w") as file:
        print(*(f"x{j}" for j in range(COLUMNS)), "y", sep=",", file=file)
        for _ in range(ROWS):
            row = [draw.randrange(-128, 129) / 64 for _ in range(COLUMNS)]
            label = sum(row[:4]) - sum(row[4:]) + draw.gauss(0, 2) > 0
            print(*row, int(label), sep=",", file=file)


def hash_of(model):
    return json.loads(Path(f"{model}.card.json").read_text())["hash"]


def ended(done):
    """Its standard output."""
    if done.returncode != 0:
        raise OSError(f"exit {done.returncode}: {done.stderr[-500:]}")
    return done.stdout


def train(name, *flags):
    ended(run("train", *JOB, "--save", name, "-q", *flags))
    return hash_of(name)


def by_ssh():
    if reason := sshd.lacking():
        raise Skipped(reason)
    with sshd.Sshd() as host:
        ended(run("launch", "ssh", "--ssh-config", host.config, "--hosts",
                  "node1,node2:2", "--", "train", *JOB, "--save", "ssh", "-q",
                  "--out", "ssh-run"))
    return hash_of("ssh")


def by_slurm():
    """An array of three elements, one of which is killed."""
    if reason := slurm.lacking():
        raise Skipped(reason)

    def names():
        now = status("slurm-run")
        return {worker["name"] for worker in now["workers"]} if now else set()
    with slurm.Slurm(["n1", "n2", "n3"]) as cluster:
        ended(run("launch", "slurm", "--workers", "2:3", "--", "train", *JOB,
                  *SLOWLY, "--save", "slurm", "--out", "slurm-run"))
        wait_for(lambda: len(names()) == 3, "three elements")
        wait_step("slurm-run", 20)
        element = next(job for job, _, _ in cluster.queue()
                       if job.endswith("_1"))
        cluster.call("scancel", "--signal=KILL", "--full", element)
        if not happens(lambda: "slurm-1" not in names()):
            raise OSError("the element that was killed is still there")
        wait_for(lambda: not cluster.queue(), "all jobs to end", LIMIT_S)
    return hash_of("slurm")


def by_mpi(kind, launcher):
    """Two ranks: MPICH's wait awake, and more than there are processors would
    wait for each other's time to be over."""
    mpirun = shutil.which(launcher)
    if mpirun is None or not (ROOT / f"build/release/muster-{kind}").exists():
        raise Skipped(f"{kind} is not installed (tools/deps.sh mpi)")
    more = ["--allow-run-as-root", "--oversubscribe"] \
        if kind == "openmpi" else []
    ended(subprocess.run(
        [mpirun, *more, "-np", "2", MUSTER, "train", *map(str, JOB), "--save",
         kind, "-q", "--topology", "mpi"], capture_output=True, text=True,
        stdin=subprocess.DEVNULL, timeout=LIMIT_S, check=False))
    return hash_of(kind)


READ = """
import sys, threading, time, warnings
import numpy as np
warnings.simplefilter("ignore")  # That all steps were made.
rows = np.loadtxt("rows.csv", delimiter=",", skiprows=1)
x, y = rows[:, :-1], rows[:, -1].astype(int)
how = dict(C=1 / (2 * 0.001 * len(x)), solver="agd", max_iter=int(sys.argv[1]))
"""

ESTIMATOR = READ + """
from muster import LogisticRegression
print(LogisticRegression(workers=2, **how).fit(x, y).hash_)
"""

DASK = READ + """
from distributed import Client, LocalCluster
from muster.dask import LogisticRegression

def until(count, client):
    end = time.monotonic() + 60
    while time.monotonic() < end and len(client.scheduler_info()["workers"]) != count:
        time.sleep(0.05)
    return len(client.scheduler_info()["workers"]) == count

def main():
    seen = []
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, \\
            Client(cluster) as client:
        begun, over = threading.Event(), threading.Event()
        def change():
            begun.wait(60)
            for count in (4, 2):
                cluster.scale(count)
                seen.append(until(count, client) and not over.is_set())
        thread = threading.Thread(target=change)
        thread.start()
        made = LogisticRegression(callback=lambda *_: begun.set(),
                                  recipe={"delay": "exp:0.006"}, **how).fit(x, y)
        over.set()
        thread.join()
    if seen != [True, True]:
        sys.exit(f"it was over before the cluster had been scaled: {seen}")
    print(made.hash_)

if __name__ == "__main__":
    main()
"""


def by_python(name, program, needs):
    if subprocess.run([PYTHON, "-c", f"import {needs}"], capture_output=True,
                      check=False).returncode:
        raise Skipped(f"no {needs} for {PYTHON}")
    Path(f"{name}.py").write_text(program)
    return ended(subprocess.run(
        [PYTHON, f"{name}.py", str(STEPS)], capture_output=True, text=True,
        stdin=subprocess.DEVNULL, timeout=LIMIT_S, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT / "python"),
             "TMPDIR": FOLDER.name})).strip()  # Dask leaves a folder there.


ENGINES = [
    ("one process", lambda: train("one", "--threads", 1)),
    ("2 threads", lambda: train("threads", "--threads", 2)),
    ("a star of 4 workers", lambda: train("star", "-n", 4)),
    ("6 workers behind relays", lambda: train("relays", "-n", 6, "--fanout",
                                              2)),
    ("a ring of 3", lambda: train("ring", "-n", 3, "--topology", "ring")),
    ("ssh, 3 workers on 2 hosts", by_ssh),
    ("Slurm, an array of 3, one killed", by_slurm),
    ("Open MPI, 2 ranks", lambda: by_mpi("openmpi", "mpirun.openmpi")),
    ("MPICH, 2 ranks", lambda: by_mpi("mpich", "mpirun.mpich")),
    ("Dask, scaled 2-4-2", lambda: by_python("dask_run", DASK,
                                             "numpy, distributed")),
    ("a Python estimator, 2 workers", lambda: by_python(
        "estimator", ESTIMATOR, "numpy")),
]


with FOLDER:
    write_rows()
    sys.exit(compare(JOB, ENGINES, "engines"))
