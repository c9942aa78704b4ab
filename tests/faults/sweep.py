#!/usr/bin/env python3
"""Every allocation and every file call of ordinary commands is made to fail in
turn, once and for ever (shim.c).  A command must then either give what it gives
without faults, or end with an error sentence: no signal, no hang, no success
with something else, and a model file that is the old one, the new one or not
there.  How many calls there are is checked, so that a shim that catches nothing
fails the test."""

import errno
import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

MUSTER = os.environ["MUSTER"]
HERE = Path(__file__).resolve().parent
EACH_MAX = 250  # Of more calls, so many at equal distances.
LIMIT_S = 120   # Against hangs only.

# Kind, error numbers to try (0 = half a transfer).
KINDS = {
    "memory": (errno.ENOMEM,),
    "long": (errno.ENOMEM,),
    "write": (errno.ENOSPC, errno.EINTR, 0),
    "sync": (errno.EIO,),
    "open": (errno.EMFILE, errno.EACCES),
    "rename": (errno.EIO,),
    "read": (errno.EIO, errno.EINTR, 0),
}

# What: (arguments, fewest calls expected of each kind).
COMMANDS = {
    "train": (["train", "gen:gmm:300,5", "--optim", "agd", "--steps", "4", "--save", "model",
               "--out", "run", "--format", "json"],
              {"memory": 60, "write": 3, "sync": 5, "open": 5, "rename": 2,
               "read": 1}),
    "train a table": (["train", "table.csv", "--label", "y",
                       "--categorical", "b", "--optim", "newton", "--steps",
                       "4", "--save", "model", "--format", "json"],
                      {"memory": 60, "open": 3}),
    "train wide": (["train", "wide.svm", "--optim", "agd", "--steps", "2", "--save", "model",
                    "--format", "json"], {"long": 10}),
    "predict": (["predict", "rows.svm", "old.model", "--format", "json"],
                {"memory": 10, "read": 1, "open": 2}),
    "cache": (["data", "info", "rows.svm", "--cache", "cache"],
              {"memory": 10, "write": 1, "sync": 1, "rename": 1, "open": 2,
               "read": 1}),
    "codes": (["codes", "cb", "-n", "6", "--stragglers", "2"],
              {"memory": 10}),
    "simulate": (["simulate", "-n", "4", "--no-compute", "--steps", "20",
                  "--delay", "exp:1", "--compare", "uncoded,frc:s=1,steal"],
                 {"memory": 60}),
    "plan": (["plan", "-n", "6", "--delay", "exp:1", "--steps", "40"],
             {"memory": 10}),
}
# Of real processes: each of them meets the fault.
CLUSTER = ["train", "gen:gmm:300,5", "--optim", "agd", "--steps", "4", "-n", "2", "--out", "run",
           "--format", "json"]


class Sweep:
    def __init__(self):
        self.shim = str(Path("shim.so").resolve())
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", self.shim,
                        str(HERE / "shim.c"), "-ldl"], check=True)
        self.number = 0
        self.failed = False

    def ok(self, good, text, detail=""):
        self.number += 1
        print(f"{'ok' if good else 'not ok'} {self.number} - {text}",
              flush=True)
        if not good:
            self.failed = True
            print("# " + str(detail).replace("\n", "\n# "), flush=True)

    def run(self, args, kind, at, error, ever=False):
        """Returns (exit status, what it said, result without times)."""
        clean()
        env = dict(os.environ, LD_PRELOAD=self.shim, MUSTER_SHIM_KIND=kind,
                   MUSTER_SHIM_AT=str(at), MUSTER_SHIM_ERROR=str(error),
                   MUSTER_SHIM_COUNT="count", MUSTER_SHIM_EVER=str(int(ever)))
        done = subprocess.run([MUSTER, *args], env=env, timeout=LIMIT_S,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              check=False)
        return done.returncode, done.stderr.decode(), outcome(done.stdout)

    def count(self, args, kind):
        status, said, want = self.run(args, kind, 0, errno.EIO)
        seen = [int(line) for line in Path("count").read_text().split()]
        return max(seen), status, said, want

    def judge(self, result, want):
        """The fault, or None."""
        status, said, got = result
        if status < 0:
            return f"signal {-status}: {said}"
        # What is left out for want of memory is said; so are receipts that
        # the journal lacks.
        if "disk trouble" in said:
            got, want = uncounted(got), uncounted(want)
        if status == 0 and got != want and "out of memory" not in said:
            return f"success with another outcome: {got}\n{said}"
        if status != 0 and not said.strip() and not got[0]:
            return f"exit {status} without a word"
        if model() not in ("old", None, want[1]):
            return f"exit {status} left a model that is neither old nor new"
        return None

    def sweep(self, name, args, kind, fewest):
        calls, status, said, want = self.count(args, kind)
        tried, faults = 0, []
        if status != 0:
            self.ok(False, f"{name}: without faults", said + want[0])
            return
        places = (range(1, calls + 1) if calls <= EACH_MAX else
                  [1 + i * (calls - 1) // (EACH_MAX - 1)
                   for i in range(EACH_MAX)])
        for at in places:
            for error in KINDS[kind]:
                for ever in (False, True) if error and \
                        error != errno.EINTR else (False,):
                    fault = self.judge(self.run(args, kind, at, error, ever),
                                       want)
                    tried += 1
                    if fault:
                        faults.append(f"call {at} error {error} ever {ever}: "
                                      f"{fault}")
        self.ok(not faults, f"{name}: {kind}, {tried} faults at {len(places)} "
                f"of {calls} calls", "\n".join(fault[:400] for fault in faults[:5]))
        self.ok(calls >= fewest, f"{name}: {kind}, at least {fewest} calls "
                "are seen", calls)


def require_scratch():
    """clean() removes the cache of HOME: the runner's folder, nobody's home."""
    home = os.environ["HOME"]
    if home != os.environ.get("TMPDIR") or Path.cwd().parent != Path(home).resolve():
        sys.exit("sweep.py removes ~/.cache: run it as `tools/run_tests.py "
                 "--only 'faults sweep' test`, which gives it a folder of its own")


def clean():
    subprocess.run(["rm", "-rf", "run", "cache", "model", "count",
                    os.path.join(os.environ["HOME"], ".cache")], check=True)
    Path("model").write_bytes(Path("old.model").read_bytes())


def model():
    """Which model file there is: old, None, or the hash of another."""
    path = Path("model")
    if not path.exists():
        return None
    data = path.read_bytes()
    if data == Path("old.model").read_bytes():
        return "old"
    return hashlib.sha256(data).hexdigest()


def outcome(output):
    """What a command printed, without what differs from run to run, and the
    model that it left."""
    text = re.sub(r'"[a-z_]*_(s|us|bytes)": [0-9.e+-]+', "", output.decode())
    text = re.sub(r"in [0-9.]+ s \([0-9]+ a second", "", text)
    # Without memory to share bulk goes over sockets: another road, no loss.
    text = re.sub(r'"bulk": "(shm|tcp)"', "", text)
    # A journal or checkpoint that could not be written is told, and no more.
    text = re.sub(r'"disk_alarms": [0-9]+', "", text)
    return text, model()


def uncounted(result):
    """The same without the number of receipts in the journal."""
    return re.sub(r'"bitwise": [0-9]+', "", result[0]), result[1]


def prepare():
    Path("table.csv").write_text("a,b,y\n" + "".join(
        f"{i % 7},{'xyz'[i % 3]},{i % 2}\n" for i in range(60)))
    Path("rows.svm").write_text("".join(
        f"{1 if i % 3 else -1} 1:{i % 5} 3:{i % 4 + .5}\n" for i in range(80)))
    Path("wide.svm").write_text("".join(
        f"{1 if i % 3 else -1} {i + 1}:1 200000:{i % 5}\n" for i in range(40)))
    subprocess.run([MUSTER, "train", "rows.svm", "--optim", "agd", "--steps", "2", "--save",
                    "old.model", "-q"], check=True, stdout=subprocess.DEVNULL)


def main():
    require_scratch()
    prepare()
    sweep = Sweep()
    for name, (args, kinds) in COMMANDS.items():
        for kind, fewest in kinds.items():
            sweep.sweep(name, args, kind, fewest)
    for kind in ("memory", "write", "sync"):
        sweep.sweep("a cluster", CLUSTER, kind, 1)
    print(f"1..{sweep.number}")
    sys.exit(sweep.failed)


main()
