#!/usr/bin/env python3
"""Another user of the same machine, who can dial every port on it (S1, A5).

A local run is asked for nothing but has a key all the same, in its folder: who
may not read that can neither join nor look nor stop, and is sent no row.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))
from cluster import (MUSTER, Tap, address_of, finish, place_of,  # noqa: E402
                     result_of, run, start, status, wait_for, wait_step,
                     write_rows)

NOBODY = 65534
STEPS = 400
JOB = ["train", "secret.svm", "--steps", str(STEPS), "--format", "json"]


class Neighbour:
    """A home and a program of its own."""

    def __init__(self):
        # The folder that programs of a test run in is closed to others.
        mode = os.stat(tempfile.gettempdir()).st_mode
        if not mode & 0o001:
            os.chmod(tempfile.gettempdir(), mode & 0o777 | 0o011)
        self.home = tempfile.mkdtemp(prefix="neighbour.")
        os.chmod(self.home, 0o755)
        self.program = shutil.copy(MUSTER, self.home)
        os.chmod(self.program, 0o755)
        os.mkdir(f"{self.home}/own")
        os.chown(f"{self.home}/own", NOBODY, NOBODY)

    def run(self, *args):
        return subprocess.run(
            [self.program, *args], cwd=f"{self.home}/own", user=NOBODY,
            group=NOBODY, extra_groups=[], capture_output=True, text=True,
            stdin=subprocess.DEVNULL, timeout=60,
            env={"HOME": f"{self.home}/own", "PATH": os.environ["PATH"]})

    def close(self):
        shutil.rmtree(self.home)


def tries(folder, address):
    """What a neighbour may type."""
    mole = ["--token-file", "mole.token"]
    for what in ("join", "status", "stop", "relay"):
        yield f"{what} ADDRESS", [what, address]
        yield f"{what} ADDRESS with a key of its own", [what, address, *mole]
        yield f"{what} FOLDER", [what, folder]
        yield (f"{what} ADDRESS with the run's file",
               [what, address, "--token-file", f"{folder}/run.token"])


def local_run(tap, neighbour, wanted):
    out = os.path.abspath("run")
    process = start(*JOB, "-n", "2", "--delay", "exp:0.01", "--out", out)
    address = address_of(out)
    wait_step(out, 1)
    modes = [oct(os.stat(path).st_mode & 0o777)
             for path in (out, f"{out}/run.token")]
    tap.equal(modes, ["0o700", "0o600"], "folder and key are the owner's")
    made = neighbour.run("token", "new", "mole.token")
    tap.ok(made.returncode == 0, "the neighbour has a key of its own", made)
    for name, words in tries(out, address):
        done = neighbour.run(*words)
        tap.ok(done.returncode in (1, 2) and done.stdout == "" and
               done.stderr != "", f"another user is refused: {name}", done)
    now = status(out)
    tap.ok(now and sorted(w["name"] for w in now["workers"]) == ["w0", "w1"],
           "nobody came in, and the owner can still look", now)
    code, text, err = finish(process)
    result = result_of(text)
    tap.ok(code == 0 and result.get("hash") == wanted and
           result["data"]["shipped"] == 0 and
           result["workers"]["joined"] == 2, "the same hash, and no row is sent",
           f"{code} {result} {err[-2000:]}")


def gone_on_with(tap, neighbour):
    """A run of another user's is that, and not none."""
    out = os.path.abspath("run")
    done = neighbour.run("train", f"--resume={out}")
    tap.ok(done.returncode == 1 and
           "belongs to another user (0, you are 65534)" in done.stderr and
           "go on with the run as that user" in done.stderr,
           "--resume of another user's run says whose it is", done)


def behind_a_closed_folder(tap, neighbour):
    os.makedirs("closed/run")
    os.chmod("closed", 0o700)
    for what in ("join", "status", "stop"):
        done = neighbour.run(what, os.path.abspath("closed/run"))
        tap.ok(done.returncode == 1 and "permissions" in done.stderr,
               f"{what} of what another user may not see says so", done)


def same_user(tap, wanted):
    """Whoever may read the folder needs nothing else."""
    process = start(*JOB, "-n", "1", "--delay", "exp:0.01", "--listen",
                    "127.0.0.1:0", "--workers", "2", "--out", "mine")
    joiner = start("join", place_of("mine"), "--name", "far", "--chunk-cache", "none")
    wait_for(lambda: len((status("mine") or {"workers": []})["workers"]) == 2,
             "the joiner")
    bare = run("status", address_of("mine"))
    tap.ok(bare.returncode == 2 and "needs a key" in bare.stderr,
           "an address alone is not enough for its owner either", bare)
    code, text, err = finish(process)
    tap.ok(code == 0 and result_of(text).get("hash") == wanted,
           "the owner joins by the folder: the same hash", f"{code} {err}")
    tap.equal(finish(joiner, 20)[0], 0, "and ends well")


def main():
    tap = Tap()
    write_rows("secret.svm", 30, 10, lambda x: x / 1000)
    os.chmod("secret.svm", 0o600)
    wanted = result_of(run(*JOB).stdout).get("hash")
    same_user(tap, wanted)
    if os.geteuid() == 0:
        neighbour = Neighbour()
        try:
            local_run(tap, neighbour, wanted)
            gone_on_with(tap, neighbour)
            behind_a_closed_folder(tap, neighbour)
        finally:
            neighbour.close()
    else:
        tap.skip("another user", "only root can be somebody else")
    tap.done()


main()
