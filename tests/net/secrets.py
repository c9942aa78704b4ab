#!/usr/bin/env python3
"""A key with a value one can look for is nowhere but in its file (S4, T13).

A cluster trains with it while workers are killed, strangers refused and the
coordinator restarted; then everything that was written, printed or can be read
of a process is searched for the key: as it stands in the file, upper case, as
bytes, and in base64, whole or in part.
"""

import base64
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))
from cluster import (MUSTER, SMALL, Tap, place_of,  # noqa: E402
                     children, finish, perfect_hash, result_of, run, start,
                     train_args, wait_for, wait_step)

STEPS = 200
NOBODY = 65534
# No two bytes alike, so that a part of it is as good as all.
CANARY = bytes(range(0xa0, 0xc0))


def needles():
    """How the key, or a quarter of it, would look."""
    found = {}
    for at in range(0, len(CANARY), 8):
        part = CANARY[at:at + 8]
        found[f"bytes {at}"] = part
        found[f"hex {at}"] = part.hex().encode()
        found[f"HEX {at}"] = part.hex().upper().encode()
    for shift in range(3):
        text = base64.b64encode(CANARY[shift:shift + 24])
        found[f"base64 {shift}"] = text[4:-4]
    return found


def plant(path):
    """A token file whose key is the canary: an honest one, rewritten."""
    done = run("token", "new", path)
    if done.returncode != 0:
        return done.stderr
    lines = Path(path).read_text().split("\n")
    hex_key = CANARY.hex()
    for i, line in enumerate(lines):
        words = line.split(" ")
        lines[i] = " ".join(hex_key if len(word) == len(hex_key) and
                            all(c in "0123456789abcdef" for c in word)
                            else word for word in words)
    text = "\n".join(lines)
    Path(path).write_text(text)
    os.chmod(path, stat.S_IRUSR | stat.S_IWUSR)
    return "" if hex_key in text else f"no key in {text!r}"


def readable(pid):
    """What /proc shows of a process to others: name -> bytes."""
    seen = {}
    for name in ("cmdline", "environ", "comm", "status", "maps"):
        try:
            seen[f"/proc/{pid}/{name}"] = Path(f"/proc/{pid}/{name}").read_bytes()
        except OSError:
            pass  # Not even readable: better still.
    return seen


def hits(where):
    wanted = needles()
    return [f"{what} in {place}" for place, data in where.items()
            for what, needle in wanted.items() if needle in data]


def dumpable(pid, user):
    """The kernel gives /proc of a process that must not dump core to root."""
    return os.stat(f"/proc/{pid}/environ").st_uid == user


def check_cores(tap):
    """With a key no process may leave a core; without one it may, which shows
    that the question can be answered.  Root must ask as somebody else."""
    name = "no process with a key may leave a core"
    user = os.getuid() or NOBODY
    home = Path("home")
    home.mkdir()
    (home / "key").write_bytes(Path("canary.token").read_bytes())
    os.chmod(home / "key", 0o600)
    for path in (home, home / "key"):
        os.chown(path, user, -1)
    flags = ["train", SMALL, "-n", "2", "--steps", "100000", "-q", "--out"]
    found = []
    for out, key in (("bare", []), ("keyed", ["--token-file", "key"])):
        try:
            process = subprocess.Popen([MUSTER, *flags, out, *key], cwd=home,
                                       user=user, stderr=subprocess.DEVNULL,
                                       stdin=subprocess.DEVNULL)
        except PermissionError as error:
            tap.skip(name, f"the program cannot be run by {user}: {error}")
            return
        wait_for(lambda: len(children(process.pid)) == 3, "the processes")
        pids = [process.pid] + [pid for _, pid in children(process.pid)]
        found.append([dumpable(pid, user) for pid in pids])
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    tap.equal(found, [[True] * 4, [False] * 4], name)


def run_cluster(key):
    """Train with all there is to log; what was printed, and seen of /proc."""
    seen = {}
    process = start(*train_args(
        "run", "-n", "2", "--listen", "127.0.0.1:0", "--verify", "--sync",
        "--record", "delays.trace", "--delay", "exp:0.01", "--chaos",
        "kill:coordinator@30,lie:w1@60,join@90", *key, steps=STEPS))
    address = place_of("run")
    worker = start("join", address, "--name", "far", *key)
    wait_step("run", 10, *key)
    others = [run("status", "run", *key), run("join", address),
              run("stop", address)]
    run("token", "new", "other.token")
    others.append(run("join", address, "--token-file", "other.token"))
    pids = [process.pid, worker.pid] + [p for _, p in children(process.pid)]
    for pid in pids:
        seen.update(readable(pid))
    code, out, err = finish(process)
    worker_code, worker_out, worker_err = finish(worker)
    seen["train: output"] = (out + err).encode()
    seen["join: output"] = (worker_out + worker_err).encode()
    for i, other in enumerate(others):
        seen[f"command {i}"] = (other.stdout + other.stderr).encode()
    return code, result_of(out), err, seen, worker_code


def files(*skip):
    return {str(path): path.read_bytes() for path in Path(".").rglob("*")
            if path.is_file() and path.name not in skip}


def main():
    tap = Tap()
    wanted = perfect_hash(STEPS)
    problem = plant("canary.token")
    tap.equal(problem, "", "a token with a canary")
    key = ["--token-file", "canary.token"]
    code, result, err, seen, worker_code = run_cluster(key)
    tap.ok(code == 0 and result.get("hash") == wanted,
           "a run with everything going on", f"{code} {result} {err}")
    tap.ok(worker_code == 0, "and a worker elsewhere", worker_code)
    tap.ok(hits({"file": Path("canary.token").read_bytes()}) != [],
           "the search finds the key where it is")
    tap.equal(hits(seen), [], "not printed, not in /proc")
    written = files("canary.token")
    tap.ok(any("journal" in name for name in written) and
           any("checkpoint" in name for name in written),
           "there is a journal and a checkpoint", list(written))
    tap.equal(hits(written), [], f"not in {len(written)} files")
    derived = run("token", "new", "--name", "w9", "--from", "canary.token",
                  "w9.token")
    tap.ok(derived.returncode == 0 and
           hits({"w9.token": Path("w9.token").read_bytes()}) == [],
           "not in a worker's token, which is derived", derived)
    check_cores(tap)
    shown = run("train", "gen:gmm", "--print-config", *key)
    tap.equal(hits({"config": (shown.stdout + shown.stderr).encode()}), [],
              "not in --print-config")
    os.chmod("canary.token", 0o644)
    loose = run("join", "127.0.0.1:1", *key)
    tap.ok(loose.returncode != 0 and "chmod 600" in loose.stderr,
           "a key others can read is refused", loose)
    tap.done()


main()
