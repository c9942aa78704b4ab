#!/usr/bin/env python3
"""What the engine that starts the processes costs: the same training by the
plain local cluster (a star of -n workers), by a ring, in one process, and by
each of ssh, Slurm, the MPIs and Dask that is there, at 1e3 and 1e6 weights; and
what the death of a worker costs under each.

    bench/engines.py [d ...]              # 1000 1000000
    WORKERS=2 RUNS=5                      # processes of each; runs, in turn
    ONLY="ring;Slurm"                     # these and the star

sshd, Slurm's daemons and Dask's are this program's own, on this machine, and run
from its beginning to its end.

A row for each process, so that little is computed.  A step's time is that of the
quickest long run less that of the quickest short one, by the runs' own clocks and
by the steps between; the start is from the command to the end of a short run.
All hashes must be one.

Then one worker (rank) is killed with kill -9 in mid-run.  The pause is the
longest time without a step from then on; of MPI, whose job ends, the time until
another one, with --resume, has made a step and ended.  "all again" is from the
kill until as many work as before.  Ratios are to the star's of the same run."""

import contextlib
import json
import os
import shutil
import statistics
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MUSTER = os.environ["MUSTER"] = os.path.abspath(
    os.environ.get("MUSTER", ROOT / "build/muster"))
RUNS = int(os.environ.get("RUNS", "5"))
WORKERS = os.environ.get("WORKERS", "2")
ONLY = os.environ["ONLY"].split(";") if "ONLY" in os.environ else []
SIZES = (1000, 1000000)
SHORT = 3
STEPS = {1000: 5000, 1000000: 60}
FOREVER = 1000000000
CALM_S = 0.5  # Of steps, after a death.
LIMIT_S = 120  # Against hangs only.
PLAIN = ["--code", "uncoded"]  # As ranks and rings: each its share.
FOLDER = tempfile.TemporaryDirectory(dir=os.environ.get("FOLDER", "/dev/shm"))
os.chdir(FOLDER.name)  # Before cluster.py, whose cache is where it begins.
sys.path[:0] = [str(ROOT / "tests/net/lib"), str(ROOT / "tests/engines/lib")]
from cluster import (child_named, children, kill, run, stat,  # noqa: E402
                     status, wait_for)
import journal  # noqa: E402
import slurm  # noqa: E402
import sshd  # noqa: E402

del os.environ["MUSTER_OPTIM"]  # It would beat the option of a run resumed.


class Lacking(Exception):
    """Something is not installed here."""


def words_of(d, steps):
    return [f"gen:gmm:{WORKERS},{d}", "--chunk-rows", "1", "--optim", "gd",
            "--lr", "1e-3", "--accuracy", "0", "--steps", str(steps),
            "--threads", "1", "-q", "--format", "json"]


def joins(out):
    """Process ids of `muster join` at the address of that run."""
    port = ":" + Path(out, "address").read_text().strip().rpartition(":")[2]
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            words = os.fsdecode((entry / "cmdline").read_bytes()).split("\0")
            if words[1:2] == ["join"] and words[2].endswith(port):
                found.append(int(entry.name))
    return sorted(found)


class Engine:
    """A way to start processes: `before` stands before the words of a training,
    `behind` behind them."""

    def __init__(self, before, *behind, kept=True):
        self.before, self.behind, self.kept = before, behind, kept
        self.key, self.process = [], None

    def open(self, _):
        """Daemons, which end with the stack; Lacking: they cannot be had."""

    def begin(self, out, words):
        more = ["--out", out] if self.kept else []
        with open(f"{out}.json", "wb") as file:
            self.process = subprocess.Popen(
                [*self.before, *words, *self.behind, *more], stdout=file,
                stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def finish(self, out):
        self.process.wait(LIMIT_S)
        return json.loads(Path(f"{out}.json").read_text())

    def tidy(self):
        """Until the next run may begin."""
        if self.process is not None:
            self.process.terminate()
            self.process.wait(LIMIT_S)

    def victim(self, _):
        return child_named(self.process.pid, "w1")

    def is_whole(self, out):
        now = status(out, *self.key)
        return now and now["step"] > 0 and len(now["workers"]) == int(WORKERS)

    def recover(self):
        """(pause, until all work again) in seconds."""
        self.begin("run", words_of(SIZES[0], FOREVER))
        wait_for(lambda: self.is_whole("run"), "all workers")
        pid = self.victim("run")
        with open(min(Path("run").glob("**/journal")), "rb") as file:
            file.seek(0, os.SEEK_END)
            kill(pid)
            found = until_whole(file, lambda: self.is_whole("run"))
        run("stop", "run", *self.key)
        self.finish("run")
        return found


def until_whole(file, is_whole):
    """Of a journal: the longest time without a record from now on, and that
    until a view of the members in which all are there again: not the first,
    and who leaves in good order makes two.  Neither is known before steps have
    come for CALM_S."""
    began = last = ended = time.perf_counter()
    longest, again, views, rest = 0, None, 0, b""
    while (now := time.perf_counter()) - ended < CALM_S or again is None:
        if now - began > LIMIT_S:
            raise OSError("they are not all there again")
        if data := file.read():
            if now - last > longest:
                longest, ended = now - last, now
            rest, last = rest + data, now
        while len(rest) >= journal.RECORD:
            is_view = journal.HEAD.unpack_from(rest)[1] == journal.VIEW
            views, rest = views + is_view, rest[journal.RECORD:]
            if is_view and views > 1 and again is None and is_whole():
                again = now - began
            if is_view:
                last = time.perf_counter()  # To ask took a while.
        time.sleep(.0002)
    return longest, again


class ByJoin(Engine):
    def victim(self, out):
        return joins(out)[-1]


class Ssh(ByJoin):
    def __init__(self):
        super().__init__([], *PLAIN)

    def open(self, stack):
        if reason := sshd.lacking():
            raise Lacking(reason)
        host = stack.enter_context(sshd.Sshd())
        self.before = [MUSTER, "launch", "ssh", "--ssh-config", str(host.config),
                       "--hosts", f"node1:{WORKERS}", "--restart", "--remote",
                       host.place(MUSTER), "--threads", "1", "--", "train"]


class Slurm(ByJoin):
    """Submitted: its end is a file in the folder."""

    cluster = None

    def __init__(self):
        super().__init__([MUSTER, "launch", "slurm", "--workers",
                          f"{WORKERS}:{WORKERS}", "--", "train"], *PLAIN)

    def open(self, stack):
        if reason := slurm.lacking():
            raise Lacking(reason)
        self.cluster = stack.enter_context(slurm.Slurm(
            [f"n{k}" for k in range(int(WORKERS) // 2 + 1)]))

    def finish(self, out):
        def look():
            with contextlib.suppress(OSError, ValueError):
                text = Path(out, "coordinator.log").read_text()
                return json.loads(text[text.index("{"):text.rindex("}") + 1])
        return wait_for(look, "its result", LIMIT_S)

    def tidy(self):
        self.cluster.cancel_all()


class Borrowed:
    """In the cluster of an engine that was opened before."""

    def __init__(self, other):
        super().__init__()
        self.other = other

    def open(self, _):
        self.cluster = self.other.cluster
        if self.cluster is None:
            raise Lacking(f"as {type(self.other).__name__}")


class Requeued(Borrowed, Slurm):
    """Slurm itself kills the element, with all that it runs, and starts another;
    it is told to, as by preemption."""

    def victim(self, out):
        element = next(job for job, _, _ in self.cluster.queue()
                       if job.endswith("_1"))
        pid = super().victim(out)
        self.cluster.call("scontrol", "requeue", element)
        return pid


DASK = """
import sys
from distributed import Client, LocalCluster
import muster.dask
if __name__ == "__main__":
    with LocalCluster(n_workers=int(sys.argv[1]), threads_per_worker=1,
                      dashboard_address=None) as cluster, \\
            Client(cluster) as client:
        while sys.stdin.readline():  # One before each training, one behind.
            with muster.dask.workers(client) as (address, token):
                print(address, token, flush=True)
                sys.stdin.readline()
            print("over", flush=True)
"""


class Dask(ByJoin):
    """A cluster that is there, and whose workers join each training."""

    cluster = None
    python = "/usr/bin/python3"  # Debian's, which the packages are of.

    def __init__(self):
        super().__init__([MUSTER, "train"])

    def open(self, stack):
        if subprocess.run([self.python, "-c", "import numpy, distributed"],
                          capture_output=True, check=False).returncode:
            raise Lacking(f"no distributed for {self.python}")
        Path("cluster_of_dask.py").write_text(DASK)
        self.cluster = stack.enter_context(subprocess.Popen(
            [self.python, "cluster_of_dask.py", WORKERS], text=True, bufsize=1,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": str(ROOT / "python")}))

    def ask(self):
        print(file=self.cluster.stdin)
        return self.cluster.stdout.readline().split()

    def begin(self, out, words):
        address, token = self.ask()
        self.key = ["--token-file", token]
        self.behind = [*PLAIN, *self.key, "--listen", address, "--workers",
                       WORKERS]
        super().begin(out, words)

    def tidy(self):
        super().tidy()
        self.ask()


class DaskWorker(Borrowed, Dask):
    """Dask's own worker is killed; a nanny starts another."""

    def victim(self, out):
        return stat(super().victim(out))[2]


class Mpi(Engine):
    def __init__(self, kind, *flags):
        super().__init__([f"mpirun.{kind}", *flags, "-np", WORKERS, MUSTER,
                          "train"], "--topology", "mpi", kept=False)
        self.kind = kind

    def open(self, _):
        if not shutil.which(self.before[0]) or not os.path.exists(
                f"{os.path.realpath(MUSTER)}-{self.kind}"):
            raise Lacking(f"{self.kind} is not installed (tools/deps.sh mpi)")

    def recover(self):
        self.kept = True
        self.begin("run", words_of(SIZES[0], FOREVER))
        self.kept = False
        wait_for(Path("run/checkpoint.1").exists, "a checkpoint")
        began = time.perf_counter()
        kill(max(ranks_below(self.process.pid)))
        self.process.wait(LIMIT_S)
        subprocess.run([*self.before, "--resume=run", "--max-time", ".001",
                        "-q"], check=True, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        again = time.perf_counter() - began
        return again, again


def ranks_below(pid):
    found = [(name, child) for name, child in children(pid)]
    return [child for name, child in found if name.startswith("muster")] + \
        [rank for _, child in found for rank in ranks_below(child)]


def all_engines():
    local = [MUSTER, "train"]
    slurms, dask = Slurm(), Dask()
    return {
        "star": Engine(local, "-n", WORKERS, "--respawn", *PLAIN),
        "ring": Engine(local, "-n", WORKERS, "--respawn", "--topology", "ring"),
        "one process": Engine(local, kept=False),
        "ssh": Ssh(),
        "Slurm": slurms,
        "Slurm, requeued": Requeued(slurms),
        "Open MPI": Mpi("openmpi", "--allow-run-as-root", "--oversubscribe"),
        "MPICH": Mpi("mpich"),
        "Dask": dask,
        "Dask's worker": DaskWorker(dask),
    }


def opened(stack):
    found, known = {}, all_engines()
    for name in ONLY:
        if name not in known:
            sys.exit(f"ONLY: no engine {name}; there are {'; '.join(known)}")
    for name, engine in known.items():
        if ONLY and name not in ("star", *ONLY):
            continue
        try:
            engine.open(stack)
            found[name] = engine
        except Lacking as reason:
            print(f"{name}: skipped: {reason}")
    return found


@contextlib.contextmanager
def place(engine):
    """A folder of its own to run in, and an end to what runs there."""
    with tempfile.TemporaryDirectory(dir=FOLDER.name) as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            engine.tidy()
            os.chdir(FOLDER.name)


def train(engine, d, steps):
    """(from the command to its end, of it steps, hash)"""
    with place(engine):
        began = time.perf_counter()
        engine.begin("run", words_of(d, steps))
        result = engine.finish("run")
        return time.perf_counter() - began, result["elapsed_s"], result["hash"]


def measure(d, engines):
    steps = STEPS.get(d, max(20, 30000000 // max(d, 10000)))
    start, short, whole_run, hashes = {}, {}, {}, set()
    for _ in range(RUNS):
        for name, engine in engines.items():
            for kept, count in ((short, SHORT), (whole_run, SHORT + steps)):
                took, stepped, model = train(engine, d, count)
                kept[name] = min(kept.get(name, stepped), stepped)
                if kept is short:
                    start[name] = min(start.get(name, took), took)
            hashes.add(model)
    return start, {name: (whole_run[name] - short[name]) / steps
                   for name in engines}, hashes


def overhead(engines):
    """True: they do not agree."""
    wrong = False
    engines = {name: engine for name, engine in engines.items()
               if not hasattr(engine, "other")}
    print(f"{'d':>8} {'':<16}{'start s':>9}{'step ms':>9}{'by star':>9}")
    for d in [int(word) for word in sys.argv[1:]] or SIZES:
        start, step, hashes = measure(d, engines)
        for name in engines:
            print(f"{d:>8} {name:<16}{start[name]:9.3f}{step[name] * 1e3:9.3f}"
                  f"{step[name] / step['star']:9.2f}", flush=True)
        wrong |= len(hashes) > 1
    return wrong


def recovery(engines):
    times = {name: [] for name in engines if name != "one process"}
    for _ in range(RUNS):
        for name, found in times.items():
            with place(engines[name]):
                found.append(engines[name].recover())
    print(f"{'kill -9':>8} {'':<16}{'pause ms':>9}{'by star':>9}"
          f"{'all again s':>13}")
    star = statistics.median(pause for pause, _ in times["star"])
    for name, found in times.items():
        pause, again = (statistics.median(column) for column in zip(*found))
        print(f"{'':>8} {name:<16}{pause * 1e3:9.1f}{pause / star:9.2f}"
              f"{again:13.2f}", flush=True)


def main():
    with contextlib.ExitStack() as stack:
        engines = opened(stack)
        print(f"{WORKERS} processes, {os.cpu_count()} processors, {RUNS} runs: "
              "the least of them, of deaths the median")
        wrong = overhead(engines)
        recovery(engines)
    if wrong:
        print("engines end on different models: WRONG")
    return wrong


if __name__ == "__main__":
    # Daemons are ended on the way out.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with FOLDER:
        sys.exit(main())
