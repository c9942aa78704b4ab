#!/usr/bin/env python3
"""Workers from outside: `muster join` with and without a token.  They are sent
their chunks, may leave with SIGTERM, may be killed, may come with the wrong
key; the hash stays that of one process."""

import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from cluster import MUSTER, Tap, Train, kill, run, train, wait_for, wait_step

ONE = ["gen:gmm:4000,20", "--seed", 7, "--chunk-rows", 64, "--steps", 80]
DATA = [*ONE, "--delay", "exp:0.02"]


def address(folder):
    path = os.path.join(folder, "address")
    return wait_for(lambda: os.path.exists(path) and open(path).read().strip(),
                    "the coordinator's address")


def join(where, name, *flags):
    return subprocess.Popen([MUSTER, "join", where, "--name", name, *flags],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True)


def end(process, timeout=60):
    out, err = process.communicate(timeout=timeout)
    return process.returncode, out + err


def main():
    tap = Tap()
    wanted = train(*ONE)["hash"]

    job = Train(*DATA, "--listen", "127.0.0.1:0", "--workers", "3:6",
                "--out", "a")
    where = address("a")
    first = [join(where, f"j{i}") for i in range(3)]
    wait_step("a", 5)
    late = join(where, "late")
    wait_step("a", 15)
    kill(first[0].pid)
    end(first[0])
    wait_step("a", 25)
    first[1].send_signal(signal.SIGTERM)
    code, text = end(first[1])
    tap.equal(code, 0, "SIGTERM: a worker leaves in good order")
    result = job.finish()
    tap.equal(result.get("hash"), wanted,
              "shipped data, a late joiner, a kill and a leave: same hash")
    for process in (first[2], late):
        tap.equal(end(process)[0], 0, "a worker goes home when all is done")
    tap.ok(result.get("workers", {}).get("left") == 1 and
           result.get("workers", {}).get("died", 0) >= 1,
           "workers: one left, one died", result.get("workers"))

    tap.equal(run("token", "new", "t")[0], 0, "token new")
    tap.equal(os.stat("t").st_mode & 0o777, 0o600, "a token is private")
    tap.equal(run("token", "new", "other")[0], 0, "another token")
    tap.equal(run("token", "new", "--name", "jim", "--from", "t", "tj")[0], 0,
              "a worker's token")
    job = Train(*DATA, "--listen", "127.0.0.1:0", "--workers", "2:4",
                "--token-file", "t", "--out", "b")
    where = address("b")
    wrong = join(where, "wrong", "--token-file", "other")
    code, text = end(wrong)
    tap.ok(code == 1 and "token" in text, "a wrong token is refused: "
           "one sentence", f"{code} {text}")
    plain = join(where, "plain")
    code, text = end(plain)
    tap.ok(code == 1 and text.startswith("muster: "),
           "no token at all is refused", f"{code} {text}")
    workers = [join(where, "ann", "--token-file", "t"),
               join(where, "jim", "--token-file", "tj")]
    result = job.finish()
    tap.equal(result.get("hash"), wanted, "TLS with a token: same hash")
    for process in workers:
        tap.equal(end(process)[0], 0, "a worker with a token goes home")

    code, out, err = run("train", *DATA, "-n", 2, "--listen", "0.0.0.0:0",
                         "--out", "c")
    tap.ok(code != 0 and "token" in err and err.startswith("muster: "),
           "off loopback without a token: refused", f"{code} {err}")
    tap.ok(not os.path.exists("c"), "... and nothing is left behind")
    tap.done()


main()
