#!/usr/bin/env python3
"""Small limits of the system: a sentence before the start or a run that ends
well, never a run that waits, or one that loses workers and receipts in
silence."""

import os
import re
import resource
import select
import signal
import socket
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/net/lib"))
from cluster import (MUSTER, SMALL, Tap, place_of, happens, kill,
                     perfect_hash, result_of, start, wait_for)

tap = Tap()
WANTED = perfect_hash()


def run(files, *args, kind=resource.RLIMIT_NOFILE, hard=None, env=None):
    """(exit code, result, stderr) of a run under a limit."""
    def prepare():
        resource.setrlimit(kind, (files, hard or files))
    done = subprocess.run([MUSTER, "train", SMALL, "--steps", "60", "--format",
                           "json", *args], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=60,
                          preexec_fn=prepare, check=False,
                          env={**os.environ, **(env or {})})
    return done.returncode, result_of(done.stdout), done.stderr


def said_need(text):
    found = re.search(r"ulimit -n (\d+)", text)
    return int(found[1]) if found else 0


for files, workers in ((128, 60), (64, 30), (40, 10), (20, 4), (12, 1)):
    name = f"{workers} workers, {files} files"
    code, result, err = run(files, "-n", str(workers), "--out",
                            f"few{workers}")
    need = said_need(result.get("error", "") + err)
    tap.ok(code == 1 and need > files, f"{name}: refused in a sentence",
           f"{code} {result} {err}")
    code, result, err = run(need, "-n", str(workers), "--out",
                            f"enough{workers}")
    tap.equal((code, result.get("hash"), result.get("workers", {}).get("joined"),
               "trouble" in err), (0, WANTED, workers, False),
              f"... with the {need} it names all join and nothing is lost")

code, result, err = run(24, "-n", "60", "--out", "raised", hard=1000)
tap.equal((code, result.get("hash"), result.get("workers", {}).get("joined")), (0, WANTED, 60),
          "a soft limit is raised")

# Memory: enough for the run, or a sentence; never a hang at the end.
for kib, args in ((180000, ["--steps", "60"]),
                  (180000, ["-n", "2", "--out", "narrow"])):
    code, result, err = run(kib * 1024, *args, kind=resource.RLIMIT_AS)
    tap.equal((code, result.get("hash")), (0, WANTED),
              f"{kib} KiB of address space {args}: trains and ends")
for kib in range(18000, 34000, 1000):
    code, result, err = run(kib * 1024, "-n", "2", "--out", f"tight{kib}",
                            kind=resource.RLIMIT_AS)
    # 127, or a library's own words: the program could not even be loaded.
    tap.ok(code == 127 or "GnuTLS initialization" in err or (code, result.get("hash")) == (0, WANTED) or
           code == 1 and "memory" in result.get("error", ""),
           f"{kib} KiB: the model, or a sentence about memory",
           f"{code} {result} {err}")

# More joiners than there are descriptors for.
def few_files():
    resource.setrlimit(resource.RLIMIT_NOFILE, (48, 48))


train = subprocess.Popen([MUSTER, "train", SMALL, "--steps", "1000000",
                          "--format", "json", "--listen", "127.0.0.1:0",
                          "--workers", "2:64", "--out", "crowd"],
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=open("crowd.err", "w", encoding="ascii"),
                         text=True, preexec_fn=few_files)
address = place_of("crowd")
joiners = [start("join", address, "--name", f"j{i}", "--chunk-cache", "none")
           for i in range(24)]
tap.ok(happens(lambda: "too many open files" in open("crowd.err").read()),
       "joiners beyond the limit: the coordinator says so",
       open("crowd.err").read())
wait_for(lambda: os.path.exists("crowd/checkpoint.1"), "two checkpoints")
kill(train.pid, signal.SIGTERM)
out, _ = train.communicate(timeout=60)
result = result_of(out)
tap.equal((train.returncode, "trouble" in open("crowd.err").read(),
           result.get("steps", 0) > 0), (75, False, True),
          "... and goes on with its disk and those who are in")
for joiner in joiners:
    joiner.kill()
for joiner in joiners:
    joiner.communicate()


class Strangers(threading.Thread):
    """As many connections as there are descriptors; who is hung up on dials
    again."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.port, self.over, self.full = port, False, threading.Event()

    def run(self):
        poll, held = select.poll(), {}
        while not self.over:
            while len(held) < 60:
                try:
                    one = socket.create_connection(("127.0.0.1", self.port))
                except OSError:
                    return  # The run is over.
                held[one.fileno()] = one
                poll.register(one, select.POLLIN)
            self.full.set()
            for fd, _ in poll.poll(50):
                poll.unregister(fd)
                held.pop(fd).close()
        for one in held.values():
            one.close()


def under_siege():
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))


# Strangers that fill the door leave room for who has the key.
train = subprocess.Popen([MUSTER, "train", SMALL, "--steps", "60", "--format",
                          "json", "--listen", "127.0.0.1:0", "--workers",
                          "2", "--out", "siege"],
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True,
                         preexec_fn=under_siege)
place = place_of("siege")
strangers = Strangers(int(open("siege/address").read().rsplit(":", 1)[1]))
strangers.start()
strangers.full.wait()
joiners = [start("join", place, "--name", f"s{i}", "--chunk-cache", "none")
           for i in range(2)]
try:
    out, err = train.communicate(timeout=60)
except subprocess.TimeoutExpired:
    train.terminate()
    out, err = train.communicate()
strangers.over = True
tap.ok(result_of(out).get("hash") == WANTED,
       "60 strangers under `ulimit -n 64`: honest workers get in", out + err)
for joiner in joiners:
    joiner.kill()
for joiner in joiners:
    joiner.communicate()
strangers.join()
tap.done()
