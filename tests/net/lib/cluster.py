"""Real processes for the tests: start, watch, kill, compare.

Waiting is always for an event (a line, a file, an exit, a state in /proc) with
a deadline; nothing is synchronised by sleeping.
"""

import contextlib
import json
import os
import random
import select
import signal
import subprocess
import sys
import time
import typing
from pathlib import Path

MUSTER = os.environ["MUSTER"]
DEADLINE_S = 60
# What joiners keep belongs to the test, not to who runs it.
os.environ["XDG_CACHE_HOME"] = os.path.abspath("cache-home")
# Steps that are all alike, as many as asked for: the default optimiser ends when
# it has converged.
os.environ.setdefault("MUSTER_OPTIM", "agd")


class Tap:
    """Counts and prints test points; the plan comes last."""

    def __init__(self):
        self.count = 0
        self.failed = 0

    def ok(self, good, name, detail=""):
        self.count += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.count} - {name}")
        if not good and detail:
            for line in str(detail).splitlines():
                print(f"# {line}")
        sys.stdout.flush()
        return good

    def equal(self, got, wanted, name):
        return self.ok(got == wanted, name, f"got {got!r}, wanted {wanted!r}")

    def skip(self, name, reason):
        self.count += 1
        print(f"ok {self.count} - {name} # SKIP {reason}")

    def done(self):
        print(f"1..{self.count}")
        sys.exit(1 if self.failed else 0)


ASKED_TO_END = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def leave(number, _frame):
    """Whoever is told to end undoes what it did, as one that fails does; who is
    told twice has begun to already."""
    for other in ASKED_TO_END:
        # Not SIG_IGN, which those that it starts meanwhile would inherit.
        signal.signal(other, lambda *_: None)
    sys.exit(128 + number)


for asked in ASKED_TO_END:
    signal.signal(asked, leave)


@contextlib.contextmanager
def undisturbed():
    """What is done here is done with how it is undone."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ASKED_TO_END)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Setting:
    """What open() builds up, step by step; each says how it is undone
    (self.undo), in the other order, also if a later one fails."""

    def __enter__(self):
        self.undo = contextlib.ExitStack()
        self.cut_short = False  # Then what still runs does not end by itself.
        try:
            self.open()
        except BaseException:
            self.cut_short = True
            self.undo.close()
            raise
        return self

    def __exit__(self, kind, *_):
        self.cut_short = kind is not None
        self.undo.close()


class Done(typing.NamedTuple):
    """How a program ended; may be unpacked."""

    returncode: int
    stdout: str
    stderr: str


def run(*args, timeout=DEADLINE_S):
    """Run muster to its end."""
    done = subprocess.run([MUSTER, *map(str, args)], capture_output=True,
                          stdin=subprocess.DEVNULL, text=True, timeout=timeout)
    return Done(done.returncode, done.stdout, done.stderr)


def train(*args, timeout=DEADLINE_S):
    """`muster train ... --format json`; the parsed object, with its code."""
    code, out, err = run("train", *args, "--format", "json", timeout=timeout)
    try:
        result = json.loads(out)
    except ValueError:
        raise AssertionError(f"exit {code}, no JSON: {out!r} {err!r}")
    result["exit"] = code
    result["stderr"] = err
    return result


class Train:
    """A `muster train` in progress."""

    def __init__(self, *args, stdin=subprocess.DEVNULL):
        self.process = subprocess.Popen(
            [MUSTER, "train", *map(str, args), "--format", "json"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=stdin,
            text=True)
        self.pid = self.process.pid

    def children(self):
        return children(self.pid)

    def wait_child(self, name):
        return child_named(self.pid, name)

    def finish(self, timeout=DEADLINE_S):
        try:
            out, err = self.process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise AssertionError("muster train did not end")
        result = json.loads(out) if out.strip() else {}
        result["exit"] = self.process.returncode
        result["stderr"] = err
        return result


def wait_for(look, what, deadline_s=DEADLINE_S):
    """Poll until look() is true; a deadline, not a delay."""
    end = time.monotonic() + deadline_s
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        select.select([], [], [], 0.002)
    raise AssertionError(f"waited {deadline_s} s for {what}")


def happens(look):
    """Does look() come true before the deadline?"""
    try:
        return bool(wait_for(look, "it to happen"))
    except AssertionError:
        return False


def stat(pid):
    """(name, state, parent) from /proc, or None if it is gone."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            text = file.read()
    except OSError:
        return None
    name = text[text.index("(") + 1:text.rindex(")")]
    rest = text[text.rindex(")") + 2:].split()
    return name, rest[0], int(rest[1])


def children(parent):
    """[(name, pid)] of living children; names without the "muster:"."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        what = stat(entry)
        if what and what[2] == parent and what[1] not in "ZX":
            name = what[0].removeprefix("muster:")
            # The kernel keeps 15 characters of a name.
            name = "coordinator" if name.startswith("coord") else name
            found.append((name, int(entry)))
    return found


def child_named(parent, name):
    """The process id of the child called `name`, once there is one."""
    return wait_for(lambda: next((p for n, p in children(parent) if n == name),
                                 None), f"a process {name}")


def alive(pid):
    what = stat(pid)
    return what is not None and what[1] not in "ZX"


def kill(pid, number=signal.SIGKILL):
    """Send a signal to a process we started; False if it was gone."""
    try:
        os.kill(pid, number)
        return True
    except ProcessLookupError:
        return False


def status(folder, *more):
    """`muster status` of a run, or None while it does not answer."""
    code, out, _ = run("status", folder, "--format", "json", *more)
    return json.loads(out) if code == 0 else None


def wait_step(folder, step, *more):
    """Wait until the run has made `step` updates; its status then."""
    def look():
        now = status(folder, *more)
        return now if now and now["step"] >= step else None
    return wait_for(look, f"step {step}")


SMALL = "gen:gmm:4000,30"


def start(*args):
    """Start muster; finish() waits for it."""
    return subprocess.Popen([MUSTER, *args], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True)


def finish(process, timeout=DEADLINE_S):
    """Wait for a started muster: (exit code, stdout, stderr)."""
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        err = f"{err or ''}\nkilled after {timeout} s"
    return process.returncode, out, err


@contextlib.contextmanager
def held(*processes):
    """These stand still meanwhile: a run that needs them cannot be over before
    what must happen in it has happened, however slow the machine is."""
    for process in processes:
        process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        for process in processes:
            process.send_signal(signal.SIGCONT)


def train_args(out, *more, steps=60):
    return ["train", SMALL, "--steps", str(steps), "--format", "json", "--out",
            out, *more]


def result_of(text):
    """The one JSON object on standard output, or what is wrong with it."""
    try:
        return json.loads(text)
    except ValueError:
        return {"error": f"not JSON: {text!r}"}


def perfect_hash(steps=60):
    """What one machine alone computes of SMALL."""
    return train(SMALL, "--steps", steps)["hash"]


def address_of(out):
    path = Path(out) / "address"
    return wait_for(lambda: path.exists() and path.read_text().strip(),
                    f"{path}")


def place_of(out):
    """The run's folder, once somebody is there: it has the key, too."""
    address_of(out)
    return out


def own_key(out):
    """For those who dial an address: the key of a run that has its own."""
    return ["--token-file", str(Path(out) / "run.token")]


def memory_kib(pid):
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


def peak_kib(pid):
    """The most memory it ever had (VmHWM)."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1])
    return 0


def write_rows(name, columns, entries, value):
    """A LIBSVM file of 2,000 rows with `entries` values each, from a seed."""
    rng = random.Random(5)
    with open(name, "w", encoding="ascii") as file:
        for _ in range(2000):
            row = sorted(rng.sample(range(1, columns + 1), entries))
            sign = "+1" if sum(row) * 2 > entries * (columns + 1) else "-1"
            cells = (f"{j}:{value(rng.randrange(1000))}" for j in row)
            file.write(f"{sign} {' '.join(cells)}\n")
