#!/usr/bin/env python3
"""`muster launch slurm` on a real Slurm: an element is cancelled, a node dies,
the coordinator is requeued; the model is one machine's."""

import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "net" / "lib"), str(HERE / "lib")]
from cluster import (MUSTER, SMALL, Tap, finish, happens, kill,  # noqa: E402
                     perfect_hash, run, status, wait_for, wait_step)
from slurm import Slurm, lacking  # noqa: E402

NODES = ["n1", "n2", "n3"]
FOREVER = "1000000"
JOB = [SMALL, "--steps", FOREVER, "--accuracy", "0"]
WORKERS = ["slurm-0", "slurm-1", "slurm-2", "slurm-3"]
OUT = "it's $(a) \"run\""


def names():
    now = status(OUT)
    return sorted(worker["name"] for worker in now["workers"]) if now else []


def log():
    return (Path(OUT) / "coordinator.log").read_text()


def printed(tap):
    """The scripts are a shell's, and nothing is begun."""
    done = run("launch", "slurm", "--workers", "2:4", "--print", "--", "train",
               *JOB, "--out", OUT, "it's $(touch pwned) a model")
    good = subprocess.run(["sh", "-n"], input=done.stdout, text=True,
                          check=False).returncode == 0
    tap.ok(done.returncode == 0 and good and "--array=0-3" in done.stdout,
           "--print: two scripts", done)
    tap.ok(not os.path.exists(OUT), "... and nothing is begun")


def submitted(tap):
    done = run("launch", "slurm", "--workers", "2:4", "--", "train", *JOB,
               "--out", OUT)
    jobs = re.findall(r"job (\d+)", done.stdout)
    tap.ok(done.returncode == 0 and len(jobs) == 2, "two jobs are submitted",
           done)
    tap.ok(happens(lambda: names() == WORKERS), "all elements join", log())
    return jobs


def second(tap, slurm):
    """Another coordinator, by mistake: the run that goes on is left alone."""
    done = run("launch", "slurm", "--workers", "2:4", "--", "train",
               f"--resume={OUT}")
    tap.ok(done.returncode == 1 and "a run is going on" in done.stderr,
           "launched again while it runs: refused", done)
    before = (Path(OUT) / "coordinator").read_text()
    job = slurm.call("sbatch", "--parsable",
                     str(Path(OUT) / "coordinator.sbatch")).strip()
    tap.ok(happens(lambda: job not in [row[0] for row in slurm.queue()] and
                   "a run is going on in this folder" in log()),
           "its script submitted again: that job ends", slurm.queue())
    tap.ok((Path(OUT) / "coordinator").read_text() == before and
           not (Path(OUT) / "over").exists() and names() == WORKERS and
           " left" not in log(), "... and the run goes on", log())


def cancelled(tap, slurm, workers):
    slurm.call("scancel", f"{workers}_1")
    tap.ok(happens(lambda: names() == [w for w in WORKERS if w != "slurm-1"]),
           "scancel of an element: the others go on", slurm.queue())
    tap.ok(happens(lambda: "slurm-1 left" in log()),
           "... it left in good order", log())
    wait_for(lambda: f"{workers}_1" not in [row[0] for row in slurm.queue()],
             "it to be gone")


def node_dies(tap, slurm, coordinator, workers):
    where = {job: node for job, state, node in slurm.queue()
             if state == "RUNNING"}
    node = next(node for job, node in sorted(where.items())
                if job.startswith(f"{workers}_") and
                node != where[coordinator])
    lost = sorted(f"slurm-{job.partition('_')[2]}"
                  for job, at in where.items()
                  if at == node and job.startswith(f"{workers}_"))
    slurm.kill_node(node)
    tap.ok(happens(lambda: not set(lost) & set(names())),
           "a node dies with its elements: the others go on", lost)
    tap.ok(happens(lambda: set(lost) <= set(names())),
           "... which Slurm requeues, and they join again",
           f"{lost} {names()} {slurm.queue()}")


def coordinator_requeued(tap, slurm, coordinator):
    """Somebody else takes its processor meanwhile, and all are taken: a worker
    has to give way, or each would wait for the other."""
    other = slurm.call("sbatch", "--parsable", "--output=/dev/null", "--wrap",
                       "sleep 600").strip()
    before = wait_step(OUT, 1)["step"]
    slurm.call("scontrol", "requeue", coordinator)
    wait_for(lambda: "state saved" in log(), "the state to be saved")
    wait_for(lambda: (other, "RUNNING") in [row[:2] for row in slurm.queue()],
             "the other job to take its place")
    tap.ok(happens(lambda: len(names()) >= 2),
           "the coordinator is requeued: it resumes, workers find it",
           f"{slurm.queue()} {log()}")
    tap.ok(wait_step(OUT, before)["step"] >= before, "... from where it was")
    slurm.call("scancel", "--full", other)


def stopped(tap, slurm, name):
    run("stop", OUT)
    tap.ok(happens(lambda: not slurm.queue()),
           f"{name}: every job ends", slurm.queue())
    models = re.findall(r"^model +(\w{64})", log(), re.MULTILINE)
    steps = re.findall(r"^steps +(\d+)", log(), re.MULTILINE)
    tap.equal(models[-1:], [perfect_hash(int(steps[-1]))],
              "... on the hash of one machine")


def resumed(tap):
    before = len(log())
    done = run("launch", "slurm", "--workers", "1:2", "--", "train",
               f"--resume={OUT}")
    tap.ok(happens(lambda: "slurm-0" in names()),
           "submitted again with --resume", f"{done} {log()[before:]}")
    wait_step(OUT, 1)


def finishes(tap, slurm):
    """A run that ends by itself, with more elements than processors."""
    done = run("launch", "slurm", "--workers", "1:9",
               "--sbatch=--comment=short", "--", "train", SMALL, "--steps",
               "60", "--out", "short")
    tap.ok(happens(lambda: os.path.exists("short/over") and not slurm.queue()),
           "a short run: every job ends by itself", f"{done} {slurm.queue()}")
    tap.ok(perfect_hash() in Path("short/coordinator.log").read_text(),
           "... on the hash of one machine")


def by_hand(tap, slurm):
    """The scripts submitted by hand, the workers' first: they wait and say so."""
    Path("bin").mkdir()
    Path("bin/sbatch").write_text("#!/bin/sh\necho 7\n")
    Path("bin/sbatch").chmod(0o755)
    path, os.environ["PATH"] = os.environ["PATH"], f"{os.getcwd()}/bin:{os.environ['PATH']}"
    run("launch", "slurm", "--workers", "1:2", "--", "train", SMALL, "--steps",
        "60", "--out", "hand")
    os.environ["PATH"] = path
    slurm.call("sbatch", "hand/workers.sbatch")
    told = Path("hand/worker-0.log")
    tap.ok(happens(lambda: told.exists() and "waiting ten minutes" in
                   told.read_text()), "workers submitted first wait, and say so")
    slurm.call("sbatch", "hand/coordinator.sbatch")
    tap.ok(happens(lambda: os.path.exists("hand/over") and not slurm.queue()),
           "... until there is a coordinator", slurm.queue())
    tap.ok(perfect_hash() in Path("hand/coordinator.log").read_text(),
           "... on the hash of one machine")


def srun(count, *words, more=()):
    return subprocess.Popen(
        ["srun", "-n", str(count), MUSTER, *words], stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, **dict(more)})


def ranks(tap, slurm):
    """`srun muster launch ranks`: the tasks of a step on two nodes find each
    other; one of them is killed."""
    step = srun(4, "launch", "ranks", "--", "train", *JOB, "--out", "step")

    def here():
        now = status("step")
        return sorted(worker["name"].partition("-")[0]
                      for worker in now["workers"]) if now else []
    tap.ok(happens(lambda: here() == ["rank1", "rank2", "rank3", "w0"]),
           "srun: the ranks of a step meet", here())
    wait_step("step", 1)
    task = next(pid for node in NODES for pid in slurm.jobs_on(node)
                if rank_of(pid) == 3)
    kill(task)
    tap.ok(happens(lambda: here() == ["rank1", "rank2", "w0"]),
           "... one is killed, the others go on", here())
    run("stop", "step")
    _, out, err = finish(step)
    steps = re.search(r"^steps +(\d+)", out, re.MULTILINE)
    tap.ok(steps and perfect_hash(int(steps[1])) in out,
           "... on the hash of one machine", out + err)
    code, out, err = finish(srun(2, "train", SMALL, "--steps", "3", "-q"))
    tap.ok(code == 0 and err.count("2 processes of this command") == 1,
           "srun: two trainings are told", err)
    code, out, err = finish(srun(
        2, "launch", "ranks", "--", "train", SMALL, "--steps", "60", "--out",
        "nested", more={"OMPI_COMM_WORLD_RANK": "0",
                        "OMPI_COMM_WORLD_SIZE": "1"}))
    tap.ok(code == 0 and out.count(perfect_hash()) == 1,
           "srun in a shell of mpirun's: one training by the ranks of Slurm",
           f"{code} {out} {err}")


def rank_of(pid):
    """Of a muster in a step of Slurm's."""
    told = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    return next((int(entry.partition(b"=")[2]) for entry in told
                 if entry.startswith(b"SLURM_PROCID=") and b"launch" in words),
                None)


def main():
    tap = Tap()
    why = lacking()
    if why:
        tap.skip("muster launch slurm", why)
        tap.done()
    printed(tap)
    with Slurm(NODES) as slurm:
        ranks(tap, slurm)
        finishes(tap, slurm)
        by_hand(tap, slurm)
        coordinator, workers = submitted(tap)
        second(tap, slurm)
        cancelled(tap, slurm, workers)
        node_dies(tap, slurm, coordinator, workers)
        coordinator_requeued(tap, slurm, coordinator)
        stopped(tap, slurm, "muster stop")
        resumed(tap)
        stopped(tap, slurm, "... and stopped again")
        tap.ok(not os.path.exists("pwned"), "no word was read by a shell")
    tap.ok(not slurm.folder.exists(), "Slurm's folder is removed")
    tap.done()


main()
