#!/usr/bin/env python3
"""`muster launch ranks` where srun's variables are set by hand: a key of the
user's, a script between launcher and rank, a run that is resumed, and one that
is not there.  Real launchers: mpi.py, tests/engines/slurm.py."""

import contextlib
import fcntl
import json
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from cluster import (DEADLINE_S, MUSTER, Tap, finish, run,  # noqa: E402
                     train)
from rows import Rows  # noqa: E402

del os.environ["MUSTER_OPTIM"]  # It would beat the option of a run resumed.
JOB = ["gen:gmm:2000,10", "--chunk-rows", "64", "--optim", "gd", "--tol", "0",
       "--accuracy", "0"]
RANKS = 2
LATE_S = 15  # Of the minute in which ranks meet.
# A process between the launcher and muster, which stays there.
WRAPPED = ["sh", "-c", '"$@"; exit $?', "sh"]


# What srun starts knows its own number; a script that it starts stays.
STEP = ["sh", "-c", 'export SLURM_TASK_PID=$$; exec "$@"', "sh"]
# Left from an mpirun that started the shell in which srun was called.
STALE = {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "1",
         "OMPI_COMM_WORLD_LOCAL_SIZE": "1", "PMIX_RANK": "0"}
# A daemon of mpirun's, the one task of a step on its machine, which starts
# a rank.
DAEMON = ["sh", "-c", 'export SLURM_TASK_PID=$$; exec sh -c \'env '
          'OMPI_COMM_WORLD_RANK=$RANK OMPI_COMM_WORLD_SIZE=2 '
          'OMPI_COMM_WORLD_LOCAL_SIZE=2 "$@"; exit $?\' sh "$@"', "sh"]


def rank(number, *words, launch=(), wrapped=(), more=()):
    return subprocess.Popen(
        [*wrapped, MUSTER, "launch", "ranks", *launch, "--", "train",
         *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, env={
            **os.environ, "SLURM_PROCID": str(number),
            "SLURM_STEP_NUM_TASKS": str(RANKS), "SLURM_STEP_NUM_NODES": "1",
            "RANK": str(number), **dict(more)})


def all_ranks(*words, launch=(), wrapped=(), more=()):
    """[(status, stdout, stderr)] of each."""
    processes = [rank(i, *words, launch=launch, wrapped=wrapped, more=more)
                 for i in range(RANKS)]
    ends = [process.communicate(timeout=DEADLINE_S) for process in processes]
    return [(process.returncode, *end)
            for process, end in zip(processes, ends)]


def check_all(tap, name, ends, steps):
    """Both ended well, with one machine's model, and both computed."""
    (code, out, err), (other, other_out, other_err) = ends
    tap.ok(code == 0 and other == 0, f"{name}: both end well",
           f"{code}, {other}\n{err}{other_err}")
    result = json.loads(out) if code == 0 else {}
    alone = train(*JOB, "--steps", steps)
    tap.ok(result.get("hash") == alone["hash"], f"{name}: one hash", out)
    tap.ok(result.get("workers", {}).get("joined") == RANKS,
           f"{name}: both computed", out)
    tap.ok(other_out == "", f"{name}: rank 0 alone prints", other_out)


def late(tap):
    """A run that is over is resumed, and one rank comes when the other has
    been and gone: of its own start it is known, of another it is awaited."""
    step = {"SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0"}
    words = ["--steps", 400, "--resume=r"]
    first = rank(0, *words, more=step)
    said = first.communicate(timeout=DEADLINE_S)
    tap.ok(first.returncode == 0, "nothing left to do: rank 0 ends", str(said))
    began = time.monotonic()
    second = rank(1, *words, more=step)
    said = second.communicate(timeout=DEADLINE_S)
    took = time.monotonic() - began
    tap.ok(second.returncode == 0 and said == ("", "") and took < LATE_S,
           "... and a late one soon after it came", f"{took} s {said}")
    other = rank(1, *words, more={**step, "SLURM_STEP_ID": "1"})
    try:
        said = other.communicate(timeout=LATE_S)
        tap.ok(False, "one of another start waits for its rank 0", str(said))
    except subprocess.TimeoutExpired:
        tap.ok(True, "one of another start waits for its rank 0")
    other.kill()
    other.communicate()


def nested(tap, json_out):
    """Variables of two launchers: the nearer one's are true."""
    check_all(tap, "srun in a shell of mpirun's", all_ranks(
        *JOB, "--steps", 200, "--out", "n1", launch=json_out, wrapped=STEP,
        more=STALE), 200)
    check_all(tap, "... in a script", all_ranks(
        *JOB, "--steps", 200, "--out", "n2", launch=json_out,
        wrapped=[*STEP, *WRAPPED], more=STALE), 200)
    check_all(tap, "mpirun in a step of Slurm's", all_ranks(
        *JOB, "--steps", 200, "--out", "n3", launch=json_out, wrapped=DAEMON,
        more={"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "1"}), 200)
    unclear = all_ranks(*JOB, "--steps", 200, "--out", "n4", more=STALE)
    tap.ok(all(code == 2 and "OMPI_COMM_WORLD_RANK says rank 0 and "
               f"SLURM_PROCID rank {i}" in err
               for i, (code, _, err) in enumerate(unclear)),
           "two launchers at once: nobody is believed", str(unclear))


def twice(tap, json_out):
    """A second start of all, while rank 0 of the first reads its rows."""
    place = os.path.join("two", "rank0")
    first, second = ({"SLURM_JOB_ID": job, "SLURM_STEP_ID": "0"}
                     for job in ("7", "8"))
    words = ["--optim", "gd", "--steps", 400, "--tol", "0", "--accuracy", "0",
             "--out", "two"]
    with Rows("rows") as rows, contextlib.ExitStack() as stack:
        def begin(*words, **more):
            process = rank(*words, **more)
            stack.callback(process.communicate)
            stack.callback(process.kill)
            return process

        ours = [begin(0, rows.path, *words, launch=json_out, more=first)]
        rows.wanted()
        before = os.stat(place).st_ino
        turned = begin(0, *JOB[:1], *words, more=second)
        code, _, said = finish(turned)
        tap.ok(code == 1 and "a run is going on" in said,
               "a second rank 0: refused", f"{code} {said}")
        tap.ok(os.path.exists(place) and os.stat(place).st_ino == before,
               "... and the first's place is its own")
        begin(1, *JOB[:1], *words, more=second)
        ours.append(begin(1, rows.path, *words, launch=json_out, more=first))
        rows.come()
        ends = [finish(one) for one in ours]
        tap.ok([end[0] for end in ends] == [0, 0] and
               json.loads(ends[0][1])["workers"]["joined"] == RANKS,
               "... its own ranks join it, and nobody else's", str(ends))


def foreign(tap):
    """A folder that others may write in, and somebody says he is rank 0."""
    os.mkdir("open")
    os.chmod("open", 0o777)
    with open("open/rank0", "w", encoding="ascii") as file:
        fcntl.lockf(file, fcntl.LOCK_EX)
        ends = [finish(rank(i, *JOB, "--steps", 9, "--out", "open"))
                for i in range(RANKS)]
    tap.ok(all(code == 1 and "open" in err for code, _, err in ends),
           "a folder that others may write in: each rank refuses it", str(ends))


def main():
    tap = Tap()
    run("token", "new", "K")
    key = ["--token-file", "K"]
    json_out = ["--format", "json", "-q"]
    check_all(tap, "own key", all_ranks(
        *JOB, "--steps", 200, "--out", "r", *key, launch=json_out), 200)
    check_all(tap, "resumed", all_ranks(
        "--steps", 400, "--resume=r", launch=json_out), 400)
    check_all(tap, "in a script", all_ranks(
        *JOB, "--steps", 200, "--out", "s", launch=json_out,
        wrapped=WRAPPED), 200)
    late(tap)
    nested(tap, json_out)
    twice(tap, json_out)
    foreign(tap)
    lost = all_ranks("--steps", 9, "--resume=typo")
    tap.ok(lost[0][0] != 0 and "typo" in lost[0][2],
           "no run to resume: rank 0 says so", str(lost))
    tap.ok(lost[1][0] != 0 and lost[1][1:] == ("", ""),
           "no run to resume: the other ends, and does not wait", str(lost))
    tap.done()


if __name__ == "__main__":
    main()
