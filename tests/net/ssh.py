#!/usr/bin/env python3
"""`muster launch ssh` through a real sshd on loopback, to a user of its own.

Workers come, are killed, come again; Ctrl-C and kill -9 of the launcher end
all of them; every way to fail is told once, in words; keys are on no command
line, and no name or path is ever read by a shell.
"""

import contextlib
import os
import select
import shutil
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))
from cluster import (DEADLINE_S, MUSTER, SMALL, Tap, alive,  # noqa: E402
                     children, finish,
                     happens, kill, perfect_hash, result_of, run, status,
                     wait_for, wait_step)
from sshd import Sshd, lacking  # noqa: E402

ODD = """it's a "$(touch pwned)" `touch pwned` \\ folder"""
FOREVER = "1000000"


class Launch:
    """A `muster launch` in progress; what it says is read as it comes."""

    def __init__(self, sshd, hosts, *more, job=(), options=()):
        self.said = ""
        self.process = subprocess.Popen(
            [MUSTER, "launch", "ssh", *hosts, "--ssh-config", str(sshd.config),
             *options, "--", "train", *job, "--format", "json", *more],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)
        os.set_blocking(self.process.stderr.fileno(), False)

    def says(self, words):
        """Wait until it has said so."""
        def look():
            select.select([self.process.stderr], [], [], 0.05)
            self.said += (self.process.stderr.read() or b"").decode()
            return words in self.said or self.process.poll() is not None
        wait_for(look, f"{words!r}")
        if words not in self.said:
            raise AssertionError(f"{words!r} is not in {self.finish()}")

    def finish(self):
        os.set_blocking(self.process.stderr.fileno(), True)
        code, out, err = finish(self.process)
        return code, result_of(out.decode()), self.said + err.decode()


def launch(sshd, *words):
    """To its end: (exit code, what it said)."""
    done = run("launch", "ssh", "--ssh-config", sshd.config, *words)
    return done.returncode, done.stdout + done.stderr


def joins(sshd):
    """{name: pid} of the workers there."""
    return {word.removeprefix("--name="): pid
            for pid, words in sshd.processes() if "join" in words
            for word in words if word.startswith("--name=")}


def on_command_lines(secret):
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and \
                    secret in (entry / "cmdline").read_bytes():
                return True
    return False


def names_of(out):
    now = status(out)
    return sorted(worker["name"] for worker in now["workers"]) if now else []


def nothing_left(sshd, deadline_s=DEADLINE_S):
    try:
        return wait_for(lambda: not joins(sshd) and
                        not list(sshd.remote_tmp.iterdir()), "all to leave",
                        deadline_s)
    except AssertionError:
        return False


def comes_and_ends(tap, sshd, program):
    """A hostfile; a path of every letter that a shell would read."""
    Path("hosts").write_text(f"# mine\nnode1 slots=2\n\n"
                             f"{sshd.user}@node2  # one\n")
    code, said = launch(sshd, "--hostfile", "hosts", "--remote", program, "--",
                        "train", SMALL, "--steps", "60", "--format", "json",
                        "-q", "--out", "plain")
    result = result_of(said[said.index("{"):said.rindex("}") + 1])
    tap.equal((code, result.get("hash")), (0, perfect_hash()),
              "three workers through ssh: one machine's hash")
    tap.equal(result.get("workers", {}).get("joined"), 3, "... all joined")
    tap.ok("node1: 2 workers started" in said and
           f"{sshd.user}@node2: 1 worker started" in said,
           "... and it is said who came", said)
    tap.ok(not list(Path().glob("**/pwned")) and
           not list(sshd.home.glob("**/pwned")),
           "... nothing of an odd path was read by a shell")
    tap.ok(nothing_left(sshd), "... nothing is left there")


def token_there(sshd):
    """(line, mode, mode of its folder) of a worker's token."""
    path = wait_for(lambda: next(sshd.remote_tmp.glob("*/token"), None),
                    "a token")
    return (wait_for(lambda: path.read_text().strip(), "its line"),
            path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777)


def dies_and_comes_again(tap, sshd):
    """kill -9 there, with --restart; then Ctrl-C; then --resume."""
    began = Launch(sshd, ["--hosts", "node1:2,node2"],
                   job=[SMALL, "--steps", FOREVER, "--accuracy", "0"],
                   options=["--restart", "--remote", "./muster"])
    began.says("node2: 1 worker started")
    wait_for(lambda: os.path.exists("muster-runs/latest"), "a run")
    out = os.path.realpath("muster-runs/latest")
    everyone = ["node1-1", "node1-2", "node2"]
    wait_for(lambda: names_of(out) == everyone, "all three")
    token, mode, folder = token_there(sshd)
    tap.equal((mode, folder), (0o600, 0o700),
              "a worker's key lies there closed to others")
    cluster = (Path(out) / "run.token").read_text().split()[-1]
    tap.ok(token.split()[1] in everyone and token.split()[-1] != cluster,
           "... and is good for its own name only", token.split()[:2])
    tap.ok(not on_command_lines(token.split()[-1].encode()) and
           not on_command_lines(cluster.encode()),
           "no key is on a command line")
    kill(joins(sshd)["node1-1"])
    began.says("node1-1 is started again")
    tap.ok(happens(lambda: names_of(out) == everyone),
           "killed there, it is started again and joins")
    wait_step(out, 2)
    began.process.send_signal(signal.SIGINT)
    stopped(tap, sshd, began, "Ctrl-C")

    again = Launch(sshd, ["--hosts", "node2"], job=[f"--resume={out}"],
                   options=["--remote", "./muster"])
    again.says("node2: 1 worker started")
    wait_for(lambda: names_of(out) == ["node2"], "node2")
    code, said = launch(sshd, "--hosts", "node1", "--remote", "./muster", "--",
                        "train", f"--resume={out}")
    tap.ok(code == 1 and "a run is going on in this folder" in said and
           names_of(out) == ["node2"],
           "launched again while it runs: refused, and it goes on", said)
    kill(joins(sshd)["node2"])
    again.says("no worker is left, and none will be started again")
    stopped(tap, sshd, again, "the last worker dead, --resume", 75)


def stopped(tap, sshd, began, name, wanted=130):
    code, result, said = began.finish()
    tap.equal(code, wanted, f"{name}: the exit code")
    tap.ok("go on with: muster launch ssh --hosts node" in said and
           " --remote ./muster -- train --resume=" in said,
           f"{name}: what is typed to go on starts workers, too", said)
    tap.equal(result.get("hash"), perfect_hash(result.get("steps", 0)),
              f"{name}: the hash of that step")
    if not tap.ok(nothing_left(sshd), f"{name}: nothing is left there"):
        print("#", sshd.processes(), said)


def launcher_killed(tap, sshd):
    """Alone its coordinator ends in good order; killed with it, nobody is there
    to tell the workers, who would knock for a minute."""
    for name, both in (("launcher", False), ("launcher and coordinator", True)):
        out = f"orphan-{both}"
        began = Launch(sshd, ["--hosts", "node1,node2"],
                       job=[SMALL, "--steps", FOREVER, "--accuracy", "0",
                            "--out", out],
                       options=["--remote", "./muster"])
        began.says("node2: 1 worker started")
        wait_for(lambda: names_of(out) == ["node1", "node2"], "both")
        inside = [pid for name, pid in children(began.process.pid)
                  if name != "ssh"]
        kill(began.process.pid)
        for pid in inside if both else ():
            kill(pid)
        began.finish()
        tap.ok(nothing_left(sshd, 30), f"kill -9 of {name}: its workers leave")
        tap.ok(happens(lambda: not any(alive(pid) for pid in inside)),
               "... and its coordinator ends")


def told(tap, sshd, name, wanted, *words):
    code, said = launch(sshd, *words, "--", "train", SMALL, "-q")
    hits = said.count(wanted)
    tap.ok(code == 1 and hits == 1 and "nothing was begun" in said,
           f"told once: {name}", f"{code} {hits} {said}")


def fails(tap, sshd):
    there = ["--remote", "./muster"]
    old = sshd.home / "old"
    old.write_text("#!/bin/sh\necho muster 0.0.1\n")
    old.chmod(0o755)
    told(tap, sshd, "nobody listens", "Connection refused; does sshd run",
         "--hosts", "closed:3", *there)
    told(tap, sshd, "the key is refused", f"`ssh-copy-id -F {sshd.config} refused`",
         "--hosts", "refused:3", *there)
    told(tap, sshd, "the host's key is unknown",
         "Host key verification failed; its host key is not known here: "
         f"`ssh -F {sshd.config} stranger` once",
         "--hosts", "stranger:3", *there)
    told(tap, sshd, "no muster there", "there is no ./x$(touch pwned) there",
         "--hosts", "node1:3", "--remote", "./x$(touch pwned)")
    told(tap, sshd, "another version", "another version: muster 0.0.1;",
         "--hosts", "node1:3", "--remote", "./old")
    # Of a shell there that says much and ends, the last words are told.
    profile = sshd.home / ".bashrc"
    profile.write_text("for i in {1..400}; do echo a banner >&2; done\n"
                       "echo 'no entry today' >&2\nexit 0\n")
    told(tap, sshd, "it ended before it was ready", "no entry today; does a",
         "--hosts", "node1:3", *there)
    profile.unlink()
    code, said = launch(sshd, "--hosts", "node1,closed", *there, "--", "train",
                        SMALL, "--steps", "60", "-q", "--format", "json")
    tap.ok(code == 0 and perfect_hash() in said and
           "Connection refused" in said,
           "one of two hosts: trained without the other", said)
    code, said = launch(sshd, "--hosts", "[::1]:1", *there, "--", "train",
                        SMALL, "--steps", "60", "--format", "json")
    tap.ok(code == 0 and perfect_hash() in said and "host--1" in said,
           "an address of colons: a worker with a name", said)


def planted(tap, sshd):
    """Where muster is here, anybody there could have put another program."""
    folder = Path("/tmp") / f"muster-open-{os.getpid()}"
    folder.mkdir()
    try:
        program = Path(shutil.copy(MUSTER, folder / "muster"))
        hosts = ["launch", "ssh", "--ssh-config", str(sshd.config), "--hosts",
                 "node1", "--", "train", SMALL, "--steps", "60", "-q"]
        for mode, code in ((0o777, 1), (0o755, 0)):
            folder.chmod(mode)
            done = subprocess.run([program, *hosts], capture_output=True,
                                  text=True, timeout=DEADLINE_S)
            tap.ok(done.returncode == code and
                   ("nobody else could change" in done.stderr) == (code == 1),
                   f"a program in a folder of mode {mode:o} there", done)
    finally:
        shutil.rmtree(folder)


def only_ever_fails(tap, sshd):
    """Ready there each time, and then its join ends at once."""
    bad = sshd.home / "bad"
    bad.write_text("#!/bin/sh\n[ $1 = version ] && exec ./muster version\n"
                   "echo >>starts\necho it does not work >&2\nexit 1\n")
    bad.chmod(0o755)
    starts = sshd.home / "starts"
    began = Launch(sshd, ["--hosts", "node1"], job=[SMALL, "--out", "fails"],
                   options=["--restart", "--remote", "./bad"])
    wait_for(lambda: starts.exists() and len(starts.read_text()) >= 4,
             "a fourth start")
    began.process.send_signal(signal.SIGINT)
    said = began.finish()[2]
    tap.equal((said.count("it does not work"), said.count("started again")),
              (1, 1), "--restart of what only ever fails: told once")


def refuses(tap, sshd):
    for host in ("=-oProxyCommand=touch pwned", "a b", "a$(touch pwned)",
                 "a;touch pwned", "a'b", 'a"b', "a\\b", "-a", "x@-a", "@a",
                 "a@", "", "a,,b", "a:0", "a:b", "[::1", "a|b", "a\nb"):
        code, said = launch(sshd, f"--hosts={host}", "--", "train", SMALL)
        if code != 2 or "--hosts" not in said:
            tap.ok(False, f"no host: {host!r}", f"{code} {said}")
            return
    tap.ok(not Path("pwned").exists(), "what is no host is refused")


def two_at_once(tap):
    """Two tests on one machine: the one that came first goes first."""
    with contextlib.ExitStack() as later, contextlib.ExitStack() as earlier:
        earlier.enter_context(Sshd())
        second = later.enter_context(Sshd())
        earlier.close()
        said = subprocess.run(
            ["ssh", "-F", str(second.config), "node1", "echo let in"],
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
            check=False)
        tap.ok(said.stdout == "let in\n",
               "two sshd at once: the first may go first", said.stderr)


def main():
    tap = Tap()
    why = lacking()
    if why:
        tap.skip("muster launch ssh", why)
        tap.done()
    with Sshd() as sshd:
        sshd.place(MUSTER)
        comes_and_ends(tap, sshd, sshd.place(MUSTER, ODD))
        dies_and_comes_again(tap, sshd)
        launcher_killed(tap, sshd)
        fails(tap, sshd)
        planted(tap, sshd)
        only_ever_fails(tap, sshd)
        refuses(tap, sshd)
    tap.ok(not sshd.folder.exists(), "sshd's folder is removed")
    two_at_once(tap)
    tap.done()


main()
