#!/usr/bin/env python3
"""One folder, two who want it: trainings and launchers, while the first still
reads its rows and long before it listens.  The second is refused, the first
goes on.  ssh and Slurm are a few lines of shell here; real ones: ssh.py,
tests/engines/slurm.py.  Ranks: ranks.py.

Rows come through a pipe with a name, so the first reads them for as long as the
test wants it to.
"""

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from cluster import (MUSTER, Tap, alive, finish, run,  # noqa: E402
                     wait_step)
from rows import Rows  # noqa: E402

FOREVER = ["--optim", "gd", "--tol", "0", "--accuracy", "0", "--steps",
           "1000000"]
PROGRAMS = {
    # What it is told it does here, or it hangs and hears nothing.
    "ssh": """for word in "$@"; do last=$word; done
if [ -n "$HANGS" ]; then
    trap '' TERM INT HUP
    echo $$ >>"$HANGS"
    sh -c 'echo $$ >>"$HANGS"; exec cat "$GATE"' >/dev/null
fi
export SSH_CONNECTION="127.0.0.1 1 127.0.0.1 22"
exec /bin/sh -c "$last"
""",
    "sbatch": "echo 1\n",
    "squeue": "echo R None\n",
    "scancel": 'echo "$@" >>scancelled\n',
    "scontrol": 'echo "NodeName=$3 NodeAddr=$ADDRESS NodeHostName=x"\n',
    # The nodes' muster, which waits if it is to.
    "slow": f'[ -z "$GATE" ] || cat "$GATE" >/dev/null\nexec "{MUSTER}" "$@"\n',
}


def begin(*words, **more):
    return subprocess.Popen(list(words), stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, env={**os.environ, **more})


@contextlib.contextmanager
def begun(*words, **more):
    """It is gone behind."""
    process = begin(*words, **more)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
        finish(process)


def trained(tap):
    with Rows("rows-t") as rows, \
            begun(MUSTER, "train", rows.path, "-n", "2", "--steps", "20",
                  "--optim", "gd", "--out", "t") as first:
        rows.wanted()
        done = run("train", "gen:gmm:200,3", "-n", "2", "--out", "t")
        tap.ok(done.returncode == 1 and "a run is going on" in done.stderr,
               "train: a folder is taken before rows are read", done)
        rows.come()
        code, _, said = finish(first)
        tap.ok(code == 0, "... and the first goes on", said)
    Path("e").mkdir()
    done = run("train", "nothing.svm", "-n", "2", "--out", "e")
    tap.equal((done.returncode, os.listdir("e")), (1, []),
              "... and rows that are not there leave nothing in a folder")


def slurm_launch(rows):
    return [MUSTER, "launch", "slurm", "--workers", "1:2", "--remote",
            str(Path("bin/slow").resolve()), "--", "train", rows, *FOREVER,
            "--out", "sl"]


def first_is_named():
    """Where workers look for their coordinator."""
    try:
        return Path("sl/coordinator").read_text().startswith("127.0.0.1:")
    except FileNotFoundError:
        return False


def slurm(tap):
    coordinator, over = Path("sl/coordinator"), Path("sl/over")
    script = ["sh", "sl/coordinator.sbatch"]
    with Rows("rows-s") as rows, Rows("gate") as gate, \
            contextlib.ExitStack() as stack:
        code, _, said = finish(begin(*slurm_launch(rows.path)))
        tap.ok(code == 0, "slurm: both scripts are submitted", said)
        first = stack.enter_context(begun(*script, SLURMD_NODENAME="n1",
                                          ADDRESS="127.0.0.1"))
        rows.wanted()
        code, _, said = finish(begin(*slurm_launch(rows.path)))
        tap.ok(code == 1 and "a run is going on" in said,
               "... while the coordinator reads rows: launched again, refused",
               f"{code} {said}")
        # Its own training is not there yet when the first one's address is.
        second = stack.enter_context(begun(
            *script, SLURMD_NODENAME="n2", ADDRESS="127.0.0.2",
            GATE=gate.path))
        gate.wanted()
        worker = stack.enter_context(begun(
            "sh", "sl/workers.sbatch", SLURM_ARRAY_TASK_ID="0",
            SLURM_JOB_ID="9"))
        rows.come()
        wait_step("sl", 5)
        tap.ok(first_is_named(),
               "... a second script does not take the first's address")
        gate.come()
        code, _, said = finish(second)
        log = Path("sl/coordinator.log").read_text()
        tap.ok(code in (1, 2) and "there is a run in it" in log,
               "... and is refused",
               f"{code} {said} {log}")
        tap.ok(first_is_named() and
               not over.exists() and not Path("scancelled").exists() and
               wait_step("sl", 6) and first.poll() is None,
               "... and the run goes on", log)
        run("stop", "sl")
        tap.equal(finish(first)[0], 75, "... until it is stopped")
        tap.ok(not coordinator.exists(), "... and nobody is there any more")
        worker.terminate()


def ssh_launch(rows, out):
    return [MUSTER, "launch", "ssh", "--hosts", "a", "--remote", MUSTER, "--",
            "train", rows, *FOREVER, "--out", out]


def ssh(tap):
    token = Path("s/run.token")
    with Rows("rows-h") as rows, begun(*ssh_launch(rows.path, "s")) as first:
        rows.wanted()
        before = token.read_text()
        code, _, said = finish(begin(*ssh_launch("gen:gmm:200,3", "s")))
        tap.ok(code == 1 and "a run is going on" in said,
               "ssh: while rows are read, launched again: refused",
               f"{code} {said}")
        rows.come()
        workers = wait_step("s", 5)["workers"]
        tap.ok(token.read_text() == before and
               [worker["name"] for worker in workers] == ["a"],
               "... and the first goes on, with its key and worker", workers)
        run("stop", "s")
        tap.equal(finish(first)[0], 75, "... until it is stopped")
    tap.ok(not Path("s/launch.lock").exists(), "... and its lock is gone")


def hangs(tap):
    """ssh hangs and hears no signal, in a child of its own, too."""
    pids = Path("pids")
    with Rows("rows-g") as gate, \
            begun(*ssh_launch("gen:gmm:200,3", "g"), HANGS=str(pids),
                  GATE=gate.path) as first:
        gate.wanted()
        before = Path("g/run.token").read_text()
        code, _, said = finish(begin(*ssh_launch("gen:gmm:200,3", "g")))
        tap.ok(code == 1 and "another `muster launch` is at work" in said and
               Path("g/run.token").read_text() == before,
               "ssh: while hosts are asked, launched again: refused",
               f"{code} {said}")
        first.send_signal(signal.SIGTERM)
        first.send_signal(signal.SIGINT)
        code, _, said = finish(first)
        children = [int(line) for line in pids.read_text().split()]
        tap.ok(code in (128 + signal.SIGTERM, 128 + signal.SIGINT) and
               not any(map(alive, children)) and len(children) == 2,
               "... two signals: ssh that hears none is ended first",
               f"{code} {children} {said}")
        tap.ok(not Path("g").exists(), "... and the folder is gone")
        for pid in filter(alive, children):
            os.kill(pid, signal.SIGKILL)


def main():
    tap = Tap()
    Path("bin").mkdir()
    for name, text in PROGRAMS.items():
        Path("bin", name).write_text(f"#!/bin/sh\n{text}")
        Path("bin", name).chmod(0o755)
    os.environ["PATH"] = f"{Path('bin').resolve()}:{os.environ['PATH']}"
    trained(tap)
    slurm(tap)
    ssh(tap)
    hangs(tap)
    tap.done()


if __name__ == "__main__":
    main()
