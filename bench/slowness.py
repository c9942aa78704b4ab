#!/usr/bin/env python3
"""Real slowness, not sleeps: what each code takes when one worker of four is
slow because it does not get its processor.

    quota Q %     that worker may run Q ms of every 100 ms: a control group's
                  quota (cpu.max, cpu.cfs_quota_us), or SIGSTOP and SIGCONT
                  in turn where control groups cannot be made (MEANS=stop)
    neighbour     another process burns the core that worker is bound to
    memory        processes that copy memory run on half of the cores
    none          nobody is slow: what a code costs where it cannot win

For every code the same number of steps from the same data: seconds from the
first broadcast to the last commit, and processor seconds of coordinator and
workers (the supervisor, which only makes the data, does not count).  The codes
are taken in turn, RUNS times, least counts; x is the ratio to uncoded under the
same slowness.  Exact codes must end on one hash; an approximate one says how
far its last objective is above theirs.

    bench/slowness.py [condition ...]         RUNS=3 STEPS=100 ROWS=60000
    MUSTER=elsewhere/muster bench/slowness.py --markdown
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

MUSTER = os.environ.get("MUSTER", "build/muster")
RUNS = int(os.environ.get("RUNS", "3"))
STEPS = int(os.environ.get("STEPS", "100"))
ROWS = int(os.environ.get("ROWS", "60000"))
FOLDER = os.environ.get("FOLDER", "/dev/shm")
WORKERS = 4
SLOW = f"w{WORKERS - 1}"
PERIOD_S = 0.1  # What container runtimes take, too.
CODES = {
    "uncoded": ["--code", "uncoded"],
    "ignore": ["--code", "ignore", "--stragglers", "1"],
    "frc": ["--code", "frc", "--stragglers", "1"],
    "steal": ["--code", "steal", "--stragglers", "1"],
    "auto": ["--code", "auto"],
}
COPY = ("a = memoryview(bytearray(1 << 27)); b = memoryview(bytearray(1 << 27))"
        "\nwhile True: b[:] = a")
BURN = "while True: pass"


# --- ways to be slow ---------------------------------------------------------


class Nothing:
    """Nobody is slow."""

    def __init__(self, _pid):
        pass

    def end(self):
        pass


class Group:
    """A control group of the kernel with a processor quota."""

    V1 = Path("/sys/fs/cgroup/cpu")
    V2 = Path("/sys/fs/cgroup")

    def __init__(self, pid, share):
        old = (self.V1 / "cpu.cfs_quota_us").exists() or \
            (self.V1 / "cgroup.procs").exists()
        self.path = (self.V1 if old else self.V2) / f"muster-slow-{os.getpid()}"
        self.path.mkdir()
        period = int(PERIOD_S * 1e6)
        try:
            if old:
                self.write("cpu.cfs_period_us", period)
                self.write("cpu.cfs_quota_us", int(period * share))
            else:
                self.write("cpu.max", f"{int(period * share)} {period}")
            if pid:
                self.write("cgroup.procs", pid)
        except OSError:
            self.path.rmdir()
            raise

    def write(self, name, value):
        (self.path / name).write_text(f"{value}\n")

    def end(self):
        """The worker has ended; its group is empty as soon as it is reaped."""
        for _ in range(1000):
            try:
                self.path.rmdir()
                return
            except OSError:
                time.sleep(0.01)

    @classmethod
    def possible(cls):
        try:
            cls(0, 0.5).end()
            return True
        except OSError:
            return False


class Stopping:
    """SIGSTOP and SIGCONT in turn."""

    def __init__(self, pid, share):
        self.pid, self.share = pid, share
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.turn)
        self.thread.start()

    def turn(self):
        try:
            while not self.over.wait(self.share * PERIOD_S):
                os.kill(self.pid, signal.SIGSTOP)
                self.over.wait((1 - self.share) * PERIOD_S)
                os.kill(self.pid, signal.SIGCONT)
        except ProcessLookupError:
            pass

    def end(self):
        self.over.set()
        self.thread.join()


class Company:
    """Other processes, which end with this."""

    def __init__(self, programs, core=None):
        def settle():
            if core is not None:
                os.sched_setaffinity(0, {core})
        self.processes = [
            subprocess.Popen([sys.executable, "-c", text], preexec_fn=settle)
            for text in programs]

    def end(self):
        for process in self.processes:
            process.kill()
            process.wait()


def threads_of(pid):
    return [int(name) for name in os.listdir(f"/proc/{pid}/task")]


def neighbour(pid):
    """The slow worker and somebody else share one core."""
    core = max(os.sched_getaffinity(0))
    for thread in threads_of(pid):
        os.sched_setaffinity(thread, {core})
    return Company([BURN], core)


def memory(_pid):
    return Company([COPY] * max(1, os.cpu_count() // 2))


def conditions(means):
    return {
        "none": Nothing,
        "quota 50 %": lambda pid: means(pid, 0.5),
        "quota 25 %": lambda pid: means(pid, 0.25),
        "quota 10 %": lambda pid: means(pid, 0.1),
        "neighbour": neighbour,
        "memory": memory,
    }


# --- one run -----------------------------------------------------------------


def child_named(parent, name):
    """The process id of a worker, as soon as it has its name."""
    names = (f"muster:{name}", name)
    while True:
        try:
            found = Path(f"/proc/{parent}/task/{parent}/children").read_text()
        except OSError:
            sys.exit(f"bench/slowness: no worker {name}")
        for pid in found.split():
            try:
                if Path(f"/proc/{pid}/comm").read_text().strip() in names:
                    return int(pid)
            except OSError:
                continue
        time.sleep(0.0005)


def used_by_children(pid):
    """Processor seconds of those for whom `pid`, which has ended but is not
    yet reaped, waited: utime and stime of its children in /proc."""
    text = Path(f"/proc/{pid}/stat").read_text()
    fields = text[text.rindex(")") + 2:].split()
    return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")


def run(flags, slowness):
    """(seconds, processor seconds, result) of one training."""
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        with open(os.path.join(folder, "json"), "w+") as out:
            process = subprocess.Popen(
                [MUSTER, "train", f"gen:digits:{ROWS}", "--model", "softmax",
                 "-n", str(WORKERS), "--threads", "1", "--optim", "agd", "--steps", str(STEPS),
                 *flags, "--out", os.path.join(folder, "run"), "-q",
                 "--format", "json"], stdout=out, stderr=subprocess.DEVNULL)
            slow = slowness(child_named(process.pid, SLOW))
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            used = used_by_children(process.pid)
            code = process.wait()
            slow.end()
            out.seek(0)
            result = json.load(out)
    if code != 0:
        sys.exit(f"bench/slowness: {flags}: {result}")
    return result["elapsed_s"], used, result


class Cell:
    """What was seen of one code under one slowness."""

    def __init__(self):
        self.elapsed, self.cpu, self.results = [], [], []

    def add(self, seen):
        for where, what in zip((self.elapsed, self.cpu, self.results), seen):
            where.append(what)

    def changes(self):
        """How often `auto` took another code, in the run with most of it."""
        return max(r.get("code_changes") or 0 for r in self.results)


def measure(slowness):
    cells = {code: Cell() for code in CODES}
    for _ in range(RUNS):
        for code, flags in CODES.items():
            cells[code].add(run(flags, slowness))
    return cells


def hashes_of(cells):
    return {result["hash"] for code, cell in cells.items() if code != "ignore"
            for result in cell.results}


FORM = "{:<12}{:<9}{:>8}{:>7}{:>8}{:>7}{:>10}{:>9}"


def put(row, markdown):
    print("| " + " | ".join(row) + " |" if markdown else FORM.format(*row),
          flush=True)


def show(name, cells, markdown):
    """A line for each code, beside uncoded."""
    plain = cells["uncoded"]
    exact = plain.results[0]["objective"]
    for code, cell in cells.items():
        took, used = min(cell.elapsed), min(cell.cpu)
        above = max(r["objective"] for r in cell.results) / exact - 1
        put([name, code, f"{took:.2f}", f"{took / min(plain.elapsed):.2f}",
             f"{used:.2f}", f"{used / min(plain.cpu):.2f}",
             f"{above:+.1e}" if above else "same", str(cell.changes() or "")],
            markdown)


def main():
    names = [a for a in sys.argv[1:] if not a.startswith("--")]
    markdown = "--markdown" in sys.argv
    groups = os.environ.get("MEANS", "group") == "group" and Group.possible()
    print(f"{WORKERS} workers, {os.cpu_count()} cores, {ROWS} digits, {STEPS} "
          f"steps, least of {RUNS}; quota by "
          f"{'a control group' if groups else 'SIGSTOP and SIGCONT'}; load "
          f"{os.getloadavg()[0]:.1f}")
    head = ["slowness", "code", "s", "x", "CPU s", "x", "objective", "changes"]
    put(head, markdown)
    if markdown:
        print("|---" * len(head) + "|")
    hashes = set()
    for name, slowness in conditions(Group if groups else Stopping).items():
        if not names or any(name.startswith(n) for n in names):
            cells = measure(slowness)
            hashes |= hashes_of(cells)
            show(name, cells, markdown)
    print(f"{len(hashes)} hash" + ("es: WRONG" if len(hashes) > 1 else ""))
    sys.exit(len(hashes) > 1)


main()
