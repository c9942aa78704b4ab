#!/usr/bin/env python3
"""Commands that README and docs show: all have flags that exist, and those of
the README's first block do what they say, on small data; the network of its
first screen ends on the hash that is shown."""

import os
import random
import re
import shlex
import struct
import subprocess
import sys
import time
from pathlib import Path

ROOT, MUSTER = Path(os.environ["ROOT"]), os.environ["MUSTER"]
os.environ["XDG_CACHE_HOME"] = os.path.abspath("cache-home")
LIMIT_S = 120
# What a page leaves to the reader.
BLANKS = {"HOST:7731": "127.0.0.1:7731", "...": "", "FILE.html": "a.html"}
count = failed = 0


def tap(good, name, detail=""):
    global count, failed
    count += 1
    failed += not good
    print(f"{'ok' if good else 'not ok'} {count} - {name}", flush=True)
    for line in [] if good else str(detail).splitlines():
        print(f"# {line}")


def words_of(line):
    """Without its comment, which # or three spaces begin."""
    words = shlex.split(re.split(r"\s#|\s{3,}", line)[0])
    return [w for w in (BLANKS.get(w, w) for w in words) if w]


def commands(path):
    text = path.read_text(encoding="utf-8").replace("\\\n", " ")
    return [words_of(line.strip()) for line in text.splitlines()
            if line.startswith("    muster ")]


def run(words, **more):
    return subprocess.run([MUSTER, *words[1:]], text=True, timeout=LIMIT_S,
                          capture_output=True, stdin=subprocess.DEVNULL,
                          check=False, **more)


def start(words):
    return subprocess.Popen([MUSTER, *words[1:]], text=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


def finish(process):
    try:
        out, err = process.communicate(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        err += "it did not end"
    return process.returncode, out + err


def rows(name, seed):
    rng = random.Random(seed)
    with open(name, "w", encoding="ascii") as file:
        for _ in range(200):
            x = [rng.gauss(0, 1) for _ in range(3)]
            sign = "+1" if x[0] - x[1] + rng.gauss(0, .3) > 0 else "-1"
            file.write(sign + "".join(f" {j}:{v:.3f}" for j, v in
                                      enumerate(x, 1)) + "\n")


def matrix(name, size):
    """`size` by `size` doubles, npy."""
    head = (f"{{'descr': '<f8', 'fortran_order': False, "
            f"'shape': ({size}, {size}), }}\n").encode()
    with open(name, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head)
        file.write(struct.pack(f"<{size * size}d", *range(size * size)))


def address(folder):
    path, end = Path(folder) / "address", time.monotonic() + LIMIT_S
    while time.monotonic() < end:
        if path.exists() and path.read_text().strip():
            return path.read_text().strip()
        time.sleep(0.01)
    return "127.0.0.1:1"


def together(serve, join, number):
    """A command that listens, and three that join it."""
    folder = f"run{number}"
    swap = {"0.0.0.0:7731": "127.0.0.1:0"}
    host = start([swap.get(w, w) for w in serve] + ["--out", folder])
    where = address(folder)
    joiners = [start([{"127.0.0.1:7731": where, "mine.svm": f"mine{i}.svm"}
                      .get(w, w) for w in join] + ["--name", f"j{i}"])
               for i in range(3)]
    results = [finish(process) for process in (host, *joiners)]
    tap(all(code == 0 for code, _ in results),
        f"README: {' '.join(serve)} and its joiners", results)


def first_block():
    small = {"256": "12", "16": "4"}
    waiting = None
    for number, words in enumerate(commands(ROOT / "README.md")):
        if "--listen" in words:
            waiting = words
        elif words[1] == "join":
            together(waiting, words, number)
        else:
            done = run([small.get(w, w) for w in words])
            tap(done.returncode == 0, f"README: {' '.join(words)}",
                done.stdout + done.stderr)


def network():
    """The network of the first screen ends on the hash that is shown there."""
    text = "".join((ROOT / page).read_text(encoding="utf-8")
                   for page in ("README.md", "docs/networks.md"))
    shown = re.findall(r"\$ (muster train gen:digits .*--net .*)\n"
                       r" +model +(\w{64})", text)
    done = run(shlex.split(shown[0][0]) + ["--threads", "2"])
    tap({f"model      {model}" for _, model in shown} ==
        set(done.stdout.splitlines()[:1]), "README: the network's hash",
        f"{shown}\n{done.stdout}{done.stderr}")


def table():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for line in re.findall(r"`(muster simulate --compare [^`]*)`", text):
        done = run(shlex.split(line.replace("...", "exp:.1")))
        tap(done.returncode == 0, f"README: {line}", done.stderr)


def flags():
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        bad = []
        for words in commands(page):
            done = run(words + ["--print-config"])
            if done.returncode != 0:
                bad.append(f"{' '.join(words)}: {done.stderr}")
        tap(not bad, f"{page.name}: flags that exist", "".join(bad))


for at, file in enumerate(["yours.svm", "test.svm", "mine0.svm", "mine1.svm",
                           "mine2.svm"]):
    rows(file, at)
for file in ("A.npy", "B.npy"):
    matrix(file, 12)
flags()
first_block()
network()
table()
print(f"1..{count}")
sys.exit(1 if failed else 0)
