"""What README and docs show, run: files to stand in for the reader's, commands
and their ends, a coordinator with those who join it, hashes."""

import os
import random
import re
import shlex
import struct
import subprocess
import time
from pathlib import Path

ROOT, MUSTER = Path(os.environ["ROOT"]), os.environ["MUSTER"]
os.environ["XDG_CACHE_HOME"] = os.path.abspath("cache-home")
LIMIT_S = 400  # Of a command; only a hang takes as long.


class Tap:
    """Counts and prints test points; the plan comes last."""

    count = failed = 0

    def ok(self, good, name, detail=""):
        self.count += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.count} - {name}",
              flush=True)
        for line in [] if good else str(detail).splitlines():
            print(f"# {line}")

    def skip(self, name, reason):
        self.ok(True, f"{name} # SKIP {reason}")

    def done(self):
        print(f"1..{self.count}")
        return 1 if self.failed else 0


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
    """Rows in two classes: 200 as LIBSVM, 1,200 as CSV, by the name."""
    rng = random.Random(seed)
    with open(name, "w", encoding="ascii") as file:
        if name.endswith(".csv"):
            file.write("a,b,c,y\n")
        for _ in range(1200 if name.endswith(".csv") else 200):
            x = [rng.gauss(0, 1) for _ in range(3)]
            sign = "+1" if x[0] - x[1] + rng.gauss(0, .3) > 0 else "-1"
            if name.endswith(".csv"):
                file.write(",".join(f"{v:.3f}" for v in x) + f",{sign}\n")
            else:
                file.write(sign + "".join(f" {j}:{v:.3f}" for j, v in
                                          enumerate(x, 1)) + "\n")


def matrix(name, height, width, value=lambda i: i):
    """Doubles, npy; the i-th, row by row, is value(i)."""
    head = (f"{{'descr': '<f8', 'fortran_order': False, "
            f"'shape': ({height}, {width}), }}\n").encode()
    with open(name, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head)
        file.write(struct.pack(f"<{height * width}d",
                               *map(value, range(height * width))))


def address(folder):
    path, end = Path(folder) / "address", time.monotonic() + LIMIT_S
    while time.monotonic() < end:
        if path.exists() and path.read_text().strip():
            return path.read_text().strip()
        time.sleep(0.01)
    return "127.0.0.1:1"


def together(serve, join, number):
    """A command that listens, and three that join it; their ends."""
    folder = f"run{number}"
    host = start(["127.0.0.1:0" if w == "0.0.0.0:7731" else w
                  for w in serve] + ["--out", folder])
    where = address(folder)

    def own(word, i):
        if word in ("mine.svm", "patients.svm"):
            return f"mine{i}.svm"
        return where if word.endswith(":7731") else word
    joiners = [start([own(w, i) for w in join] + ["--name", f"j{i}"])
               for i in range(3)]
    return [finish(process) for process in (host, *joiners)]


def hashes(tap, page, least):
    """Trainings of generated rows that the page shows with their hash, `least`
    or more, end on it; of those shown with the same hash the first is run."""
    shown = {}
    for line, model in re.findall(r"\$ (muster train gen:[^|\n]*).*\n"
                                  r" +model +(\w{64})",
                                  page.read_text(encoding="utf-8")):
        shown.setdefault(model, line)
    for model, line in shown.items():
        done = run(shlex.split(line) + ["--threads", "2"])
        tap.ok(done.stdout.splitlines()[:1] == [f"model      {model}"],
               f"{page.name}: the hash of {line}",
               f"{model}\n{done.stdout}{done.stderr}")
    tap.ok(len(shown) >= least, f"{page.name}: hashes are shown", shown)
