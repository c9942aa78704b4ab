#!/usr/bin/env python3
"""Ranks that Open MPI's and MPICH's mpirun start: one hash with one process,
threads, star and ring; an error of any rank is said once and ends all; kill -9
of a rank ends the job, and --resume goes on from its journal."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from cluster import (DEADLINE_S, MUSTER, Done, Tap, finish, happens, kill,
                     place_of, result_of, run, start, train, wait_for)

del os.environ["MUSTER_OPTIM"]  # It would beat the option of a run resumed.
# Open MPI asks before root starts anything, and counts processors; nobody here
# may speak to other machines.
os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                  OMPI_MCA_rmaps_base_oversubscribe="1",
                  OMPI_MCA_hwloc_base_binding_policy="none",
                  OMPI_MCA_btl="self,vader", OMPI_MCA_oob_tcp_if_include="lo",
                  OMPI_MCA_btl_vader_single_copy_mechanism="none",
                  OMPI_MCA_plm_rsh_agent="false", HYDRA_IFACE="lo",
                  # MPICH waits without giving its processor away; these do not.
                  MPICH_NEMESIS_POLLFREQ="1")
MPIS = {"openmpi": "Open MPI", "mpich": "MPICH"}
TASKS = {
    "linear, lbfgs": ["gen:linear:3000,20", "--optim", "lbfgs", "--chunk-rows",
                      64],
    "logistic, newton": ["gen:gmm:3000,20", "--optim", "newton", "--chunk-rows",
                         64],
    "softmax, lbfgs": ["gen:digits:500", "--model", "softmax", "--optim",
                       "lbfgs", "--steps", 15, "--chunk-rows", 16],
    "minibatches": ["gen:gmm:3000,20", "--optim", "momentum", "--batch", 200,
                    "--passes", 4, "--patience", 3],
    "network": ["gen:digits:500", "--net", "dense24 relu dense10", "--optim",
                "adam", "--steps", 40],
}
# How many steps are made does not decide the bits of those that are.
ONE = ["gen:gmm:4000,20", "--seed", 6, "--chunk-rows", 64, "--optim", "gd"]
REFUSED = [["-n", 2], ["--listen", "127.0.0.1:0"], ["--workers", "2:4"],
           ["--peers", "127.0.0.1:9"], ["--code", "frc"], ["--stragglers", 1],
           ["--fanout", 2], ["--verify"], ["--delay", "exp:1"],
           ["--record", "r"], ["--trace", "t"], ["--data-shared", "x"],
           ["--ship", "peers"], ["--optim", "sgd"], ["-v", 3],
           ["--grid", "c=1,2"], ["--chaos", "kill:w1@1"], ["--respawn"],
           ["--sync"], ["--bulk", "tcp"], ["--batch-per-worker", 5],
           ["--preempt-notice", "aws"]]


class Ranks:
    """An mpirun in progress."""

    def __init__(self, mpi, count, *args, program=MUSTER, command=("train",)):
        self.process = subprocess.Popen(
            [f"mpirun.{mpi}", "-np", str(count), program, *command,
             *map(str, args)], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def ranks(self):
        """Process ids of muster under it, however deep."""
        found, look = [], [self.process.pid]
        while look:
            pid = look.pop()
            try:
                words = Path(f"/proc/{pid}/task/{pid}/children").read_text()
                name = Path(f"/proc/{pid}/comm").read_text().strip()
            except OSError:
                continue
            look += [int(word) for word in words.split()]
            if name.startswith("muster"):
                found.append(pid)
        return sorted(found)

    def finish(self):
        try:
            out, err = self.process.communicate(timeout=DEADLINE_S)
        except subprocess.TimeoutExpired:
            self.process.terminate()
            self.process.communicate(timeout=DEADLINE_S)
            raise AssertionError("mpirun did not end")
        return Done(self.process.returncode, out, err)


def mpirun(mpi, count, *args, **more):
    return Ranks(mpi, count, *args, **more).finish()


def mpi_train(mpi, count, *args):
    done = mpirun(mpi, count, *args, "--topology", "mpi", "--format", "json")
    try:
        return {**json.loads(done.stdout), "exit": done.returncode}
    except ValueError:
        return {"exit": done.returncode, "said": done}


def said(done):
    """What muster said; the rest is mpirun's."""
    return [line for line in done.stderr.splitlines()
            if line.startswith("muster: ")]


def one_hash(tap, mpis):
    """Everybody in the first task; in the others what ranks may do otherwise
    than one process: line searches, curvature, classes, batches, followed
    scales."""
    for name, task in TASKS.items():
        wanted = train(*task)["hash"]
        worlds = {"2 threads": ["--threads", 2], "a star": ["-n", 2],
                  "a ring": ["-n", 2, "--topology", "ring"]}
        first = task is next(iter(TASKS.values()))
        for world, more in worlds.items() if first else ():
            tap.equal(train(*task, *more)["hash"], wanted, f"{name}: {world}")
        for mpi in mpis:
            for count in (2, 3) if first else (3,) if mpi == "openmpi" else (2,):
                result = mpi_train(mpi, count, *task)
                tap.ok(result["exit"] == 0 and result.get("hash") == wanted and
                       result["ranks"] == count,
                       f"{name}: {count} ranks of {MPIS[mpi]}", result)


def more_ranks_than_chunks(tap, mpi):
    task = ["gen:gmm:100,5", "--chunk-rows", 64]
    tap.equal(mpi_train(mpi, 4, *task).get("hash"), train(*task)["hash"],
              f"{mpi}: ranks without a chunk")


def one_voice(tap, mpi):
    """The same trouble in all ranks, or in one of them: said once."""
    both = ["--topology", "mpi"]
    Path("here").mkdir(exist_ok=True)
    Path("here/rows.svm").write_text("1 1:2\n0 1:1\n" * 50)
    for name, code, text, args in (
            ("an unknown option", 2, "no option --bad", ["--bad", *both]),
            ("no such file", 1, "no.svm: no such file", ["no.svm", *both]),
            ("no run", 1, "holds no run", ["--resume=none"]),
            ("a folder that has one", 2, "there is a run in it",
             [*ONE, *both, "--out", "held"]),
            ("diverged", 1, "", ["gen:linear:200,5", "--optim", "gd", "--lr",
                                 1e9, *both])):
        if name == "a folder that has one":
            train(*ONE, "--steps", 3, "-n", 1, "--out", "held")
        if mpi == "openmpi" and name != "an unknown option":
            continue  # Its mpirun takes seconds to end a job.
        done = mpirun(mpi, 3, *args, "-q")
        lines = said(done)
        tap.ok(done.returncode == code and len(lines) == 1 and text in lines[0],
               f"{mpi}: {name}: one sentence, exit {code}", done)
    # Rank 1 is in another folder, where there is no such file.
    Path("rank.sh").write_text(
        "#!/bin/sh\n[ \"${OMPI_COMM_WORLD_RANK:-$PMI_RANK}\" = 1 ] || cd here\n"
        f"exec {MUSTER} \"$@\"\n")
    os.chmod("rank.sh", 0o755)
    done = mpirun(mpi, 3, "rows.svm", *both, "-q", program="./rank.sh")
    tap.ok(done.returncode == 1 and
           said(done) == ["muster: rank 1: rows.svm: no such file; check the "
                          "name"], f"{mpi}: a file that one rank lacks", done)
    Path("rows.svm").write_text("1 1:2\n0 1:3\n" * 50)
    done = mpirun(mpi, 3, "rows.svm", *both, "-q", program="./rank.sh")
    os.unlink("rows.svm")
    tap.ok(done.returncode == 1 and len(said(done)) == 1 and
           "rank 1: rows or options are not those of rank 0" in done.stderr,
           f"{mpi}: other rows in one rank", done)
    done = mpirun(mpi, 2, "--help", *both)
    tap.equal(done.stdout.count("Usage:") + done.stdout.count("usage:"),
              run("train", "--help").stdout.lower().count("usage:"),
              f"{mpi}: one help")


def refused(tap, mpi):
    """In one process, as mpirun would: what does not go with ranks."""
    variable = {"openmpi": "OMPI_COMM_WORLD_RANK", "mpich": "PMI_RANK"}[mpi]
    tap.ok(variable not in os.environ, "no launcher started this test")
    program = str(Path(MUSTER).with_name(f"muster-{mpi}"))
    for args in REFUSED:
        done = subprocess.run(
            [program, "train", "gen:gmm:100,5", "--topology", "mpi",
             *map(str, args)], capture_output=True, text=True,
            stdin=subprocess.DEVNULL, timeout=DEADLINE_S)
        flag = "--optim sgd" if "sgd" in args else str(args[0])
        tap.ok(done.returncode == 2 and len(said(done)) == 1 and
               flag in done.stderr and "mpi" in done.stderr,
               f"{flag} is refused", done)


def killed(tap, mpi):
    """kill -9 of a rank: mpirun ends the job, and the journal goes on."""
    out = f"killed-{mpi}"
    job = Ranks(mpi, 3, *ONE, "--steps", 4000000000, "--topology", "mpi",
                "--out", out, "-q")
    journal = Path(out, "journal")
    wait_for(lambda: journal.exists() and
             all(Path(out, f"checkpoint.{i}").exists() for i in (0, 1)),
             "a second checkpoint")
    ranks = job.ranks()
    tap.equal(len(ranks), 3, f"{mpi}: three processes of muster")
    kill(ranks[0 if mpi == "mpich" else -1])
    done = job.finish()
    tap.ok(done.returncode != 0, f"{mpi}: kill -9 of a rank ends the job", done)
    tap.ok(happens(lambda: not any(Path(f"/proc/{pid}").exists()
                                   for pid in ranks)),
           f"{mpi}: nobody is left behind", ranks)
    steps = goes_on(tap, mpi, out, f"{mpi}: killed")
    goes_on_without(tap, mpi, out, steps)
    goes_on_with(tap, mpi)


def goes_on_without(tap, mpi, out, steps):
    """Of ranks, by whoever is there now: how it began does not bind it."""
    for name, more in (("one process", []), ("two workers", ["-n", 2]),
                       ("a star", ["--topology", "star", "-n", 2])):
        steps += 20
        result = train(f"--resume={out}", *more, "--steps", steps)
        tap.ok(result["exit"] == 0 and result.get("hash") ==
               train(*ONE, "--steps", steps)["hash"],
               f"{mpi}: killed: {name} without mpirun", result)
    # So few steps that rank 0 may be done when the other has found it and
    # dials, which one start in three has.
    for again in range(3):
        steps += 20
        done = mpirun(mpi, 2, f"--resume={out}", "--steps", steps, "--format",
                      "json", command=["launch", "ranks", "--", "train"])
        tap.ok(done.returncode == 0 and result_of(done.stdout).get("hash") ==
               train(*ONE, "--steps", steps)["hash"],
               f"{mpi}: killed: launch ranks, {again}", done)


def goes_on_with(tap, mpi):
    """Ranks go on with what two workers began."""
    train(*ONE, "--steps", 20, "-n", 2, "--out", f"star-{mpi}")
    result = mpi_train(mpi, 2, f"--resume=star-{mpi}", "--steps", 40)
    tap.ok(result["exit"] == 0 and result.get("ranks") == 2 and
           result.get("hash") == train(*ONE, "--steps", 40)["hash"],
           f"{mpi}: a star's run is resumed by ranks", result)


def goes_on(tap, mpi, out, name):
    """To the hash of a run that nobody disturbed; how many steps that was."""
    first = mpirun(mpi, 2, f"--resume={out}", "--max-time", .3, "--format",
                   "json")
    steps = json.loads(first.stdout)["steps"] if first.stdout else 0
    tap.ok(first.returncode == 0 and steps > 0,
           f"{name}: --resume with fewer ranks", first)
    tap.equal(json.loads(first.stdout or "{}").get("hash"),
              train(*ONE, "--steps", steps)["hash"],
              f"{name}: the undisturbed hash")
    return steps


def stopped(tap, mpi):
    """SIGTERM to one rank alone: all end, and rank 0 saves the state."""
    job = Ranks(mpi, 3, *ONE, "--steps", 4000000000, "--topology", "mpi",
                "--out", f"stopped-{mpi}", "-q")
    wait_for(Path(f"stopped-{mpi}", "checkpoint.0").exists, "a checkpoint")
    kill(job.ranks()[-1], signal.SIGTERM)
    done = job.finish()
    tap.ok(done.returncode == 75 and len(said(done)) == 1 and
           "state saved; go on with: mpirun ... muster train --resume=stopped-"
           in done.stderr, f"{mpi}: SIGTERM to one rank", done)
    goes_on(tap, mpi, f"stopped-{mpi}", f"{mpi}: stopped")


def led(tap, mpi):
    """`muster launch ranks`: rank 0 coordinates, the others join it; what it
    has to say of a mistake it says once, and nobody waits for it."""
    command = ["launch", "ranks", "--", "train"]
    more = ["--steps", 60, "--format", "json", "--out", f"led-{mpi}"]
    done = mpirun(mpi, 3, *ONE, *more, command=command)
    result = result_of(done.stdout)
    tap.ok(done.returncode == 0 and result.get("workers", {}).get("joined") == 3
           and result.get("hash") == train(*ONE, "--steps", 60)["hash"] and
           "rank1-" in done.stderr and "rank2-" in done.stderr,
           f"{mpi}: launch ranks: three workers, one hash", done)
    for name, code, text, args in (
            ("the folder has a run", 2, "there is a run in it", [*ONE, *more]),
            ("no folder", 2, "in which folder", ONE),
            ("no such file", 1, "no.svm: no such file",
             ["no.svm", "--out", f"none-{mpi}"])):
        if mpi == "mpich":  # Whose mpirun does not end the others.
            done = mpirun(mpi, 3, *args, "-q", command=command)
            tap.ok(done.returncode == code and
                   (done.stderr + done.stdout).count(text) == 1,
                   f"{mpi}: launch ranks: {name}: told once", done)


def called_in(tap, mpi):
    """`mpirun muster join RUN`: workers by their ranks."""
    out = f"called-{mpi}"
    coordinator = start("train", *map(str, ONE), "--steps", "60", "--listen",
                        "127.0.0.1:0", "--workers", "2", "--format", "json",
                        "--out", out)
    done = mpirun(mpi, 2, place_of(out), command=["join"])
    code, text, told = finish(coordinator)
    tap.ok(done.returncode == 0 and code == 0 and "rank0-" in told and
           "rank1-" in told and result_of(text).get("hash") ==
           train(*ONE, "--steps", 60)["hash"],
           f"{mpi}: ranks join a run, by names of their own", told)


def many_times(tap, mpi):
    """Without a word of ranks it trains as often as it was started, and says
    so, once."""
    done = mpirun(mpi, 2, *ONE, "--steps", 1, "-q")
    tap.ok(done.returncode == 0 and len(said(done)) == 1 and
           "2 processes of this command" in said(done)[0],
           f"{mpi}: two trainings are told", done)
    script = Path("inner.sh")
    script.write_text(f"#!/bin/sh\n{MUSTER} \"$@\"\nexit $?\n")
    script.chmod(0o755)
    done = mpirun(mpi, 2, *ONE, "--steps", 1, "-q", program="./inner.sh")
    tap.ok(done.returncode == 0 and not said(done),
           f"{mpi}: ... of a script's children they are not", done)


def without(tap):
    """A muster that has no program of an MPI beside it."""
    done = run("train", *ONE, "--topology", "mpi")
    tap.ok(done.returncode == 2 and "mpirun -np N muster train" in done.stderr,
           "without mpirun: how it is started", done)
    Path("bare").mkdir()
    shutil.copy(MUSTER, "bare/muster")
    for rank, lines in ((0, 1), (1, 0)):
        done = subprocess.run(["bare/muster", "train", *map(str, ONE),
                               "--topology", "mpi"], capture_output=True,
                              env={**os.environ, "PMI_RANK": str(rank)},
                              text=True, timeout=DEADLINE_S)
        tap.ok(done.returncode == 2 and len(said(done)) == lines and
               ("built without MPI" in done.stderr) == bool(lines),
               f"built without MPI: rank {rank} says {lines} lines", done)


def main():
    tap = Tap()
    mpis = []
    for mpi, name in MPIS.items():
        if (shutil.which(f"mpirun.{mpi}") and
                Path(MUSTER).with_name(f"muster-{mpi}").exists()):
            mpis.append(mpi)
        else:
            tap.skip(f"ranks of {name}",
                     "there is none: tools/deps.sh mpi, then build again")
    one_hash(tap, mpis)
    without(tap)
    for mpi in mpis:
        more_ranks_than_chunks(tap, mpi)
        one_voice(tap, mpi)
        killed(tap, mpi)
        stopped(tap, mpi)
        led(tap, mpi)
        called_in(tap, mpi)
        many_times(tap, mpi)
    if mpis:
        refused(tap, mpis[-1])
    tap.done()


if __name__ == "__main__":
    main()
