#!/usr/bin/env python3
"""Run the tests listed in tests/suites.txt and count them.

    run_tests.py [--variant V] [--only TEXT] [--update] [TIER]

TIER is check, test or long, each with all before it.  --variant runs the
suites of the release build on another one.  --only keeps the programs whose
"suite program" contains TEXT.  --update accepts the present output of the
goldens.

Every program speaks TAP (the Test Anything Protocol): a plan `1..N` and N
lines `ok` or `not ok`.  A program that crashes, overruns its time, breaks its
plan or leaves a process behind has failed, whatever it printed.  The last line
is `N passed, M failed, K skipped`, counted in TAP lines; each program's says how
long it took by the clock and of the processor, and the ten most costly, builds
among them, come again at the end.

Suites run in turn, with two exceptions.  Those marked `fill` compute and do not
look at a clock: they run beside the others, at a priority so low that they get
what the others leave, and so do all builds but the first.  A program of a suite
marked `again` that fails runs once more when all else has ended: what passes
then has passed, and is reported as UNSTEADY.
"""

import argparse
import concurrent.futures
import contextlib
import difflib
import functools
import json
import os
import re
import select
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TIERS = ["check", "test", "long"]  # Each holds those before it.
ALONE = ["engines"]  # These by themselves.
GRACE_S = 0.5  # How long after a program's end its children may still die.
UNDO_S = 20  # What a program has to undo what it did, once it is told to end.
TAIL_LINES = 40  # How much of a failed program's output is shown.
DETAIL_CHARS = 400  # Of a line that says how a test failed, in the summary.
TURNS = ["once", "fill", "again"]
COSTLY = 10  # Programs and builds whose costs are told at the end.
AGAIN_AT_MOST = 5  # Programs; when more fail, it is not the machine's load.

sessions = set()  # Of the programs that are running now.
screen = threading.Lock()  # Held while one result is told.
at_work = set()  # Threads that have a folder to remove.
ending = threading.Event()  # Nothing more begins.

POINT = re.compile(r"^(not )?ok\b[ \t]*\d*[ \t]*(?:-[ \t]*)?([^#]*)(#.*)?$")
PLAN = re.compile(r"^1\.\.(\d+)[ \t]*(#.*)?$")
SKIP = re.compile(r"^#[ \t]*skip\b", re.IGNORECASE)


@dataclass
class Suite:
    name: str
    tier: str
    variant: str
    jobs: int
    timeout_s: float
    turn: str
    kind: str
    argument: str


@dataclass
class Program:
    """One thing to run, and what its output means."""

    suite: Suite
    name: str
    argv: list
    golden: Path = None  # The script whose goldens the output must equal.
    tap: bool = True

    @property
    def title(self):
        return f"{self.suite.name} {self.name}"


@dataclass
class Result:
    passed: int = 0
    skipped: int = 0
    failures: list = field(default_factory=list)
    output: str = ""
    seconds: float = 0.0
    processor_s: float = 0.0


def read_suites(path):
    suites = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        words = line.split(None, 6)
        if len(words) < 7 or words[1] not in TIERS + ALONE or \
                words[5] not in TURNS:
            sys.exit(f"{path}: line {number}: expected name, tier "
                     f"({', '.join(TIERS + ALONE)}), variant, jobs, timeout, "
                     f"turn ({', '.join(TURNS)}), what")
        name, tier, variant, jobs, timeout, turn, what = words
        kind, _, argument = what.partition(" ")
        if kind not in ("unit", "dir", "golden", "tap", "exit"):
            sys.exit(f"{path}: line {number}: no kind of suite named {kind}")
        suites.append(Suite(name, tier, variant, int(jobs), float(timeout),
                            turn, kind, argument.strip()))
    return suites


def build_dir(suite):
    return ROOT / "build" / suite.variant


def script_argv(path):
    return [sys.executable if path.suffix == ".py" else "bash", str(path)]


def layers_of(argument):
    """`LAYER...`: these; `but LAYER...`: all others; nothing: all."""
    words = argument.split()
    layers = sorted(path.name for path in (ROOT / "tests" / "unit").iterdir()
                    if path.is_dir())
    if unknown := set(words) - {"but", *layers}:
        sys.exit(f"tests/suites.txt: no layer named {', '.join(unknown)}")
    if words[:1] == ["but"]:
        return [layer for layer in layers if layer not in words]
    return words or layers


def unit_tests(build, layers):
    """Ask meson: the folder may still hold programs of deleted tests."""
    targets = json.loads((build / "meson-info/intro-targets.json").read_text())
    return sorted(Path(target["filename"][0]) for target in targets
                  if target["type"] == "executable"
                  and "/tests/unit/" in target["defined_in"]
                  and target["name"].split("-")[0] in layers)


def programs_of(suite):
    if suite.kind == "unit":
        return [Program(suite, path.name, [str(path)])
                for path in unit_tests(build_dir(suite),
                                       layers_of(suite.argument))]
    if suite.kind == "dir":
        folder = ROOT / suite.argument
        return [Program(suite, path.name, script_argv(path))
                for path in sorted(folder.glob("*.[sp][hy]"))]
    if suite.kind == "golden":
        folder = ROOT / suite.argument
        return [Program(suite, path.stem, script_argv(path), golden=path,
                        tap=False) for path in sorted(folder.glob("*.sh"))]
    return [Program(suite, "", ["sh", "-c", suite.argument],
                    tap=suite.kind == "tap")]


def titles_of(suite):
    """The same before anything is built, when sources tell the unit tests."""
    if suite.kind != "unit":
        return [program.title for program in programs_of(suite)]
    return [f"{suite.name} {layer}-{path.stem}"
            for layer in layers_of(suite.argument)
            for path in (ROOT / "tests" / "unit" / layer).glob("test_*.c")]


def environment(suite, folder):
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(("MUSTER", "MAKE", "MFLAGS"))}
    build = build_dir(suite)
    env.update(
        ROOT=str(ROOT), BUILD=str(build), MUSTER=str(build / "muster"),
        TMPDIR=folder, HOME=folder, LC_ALL="C", TZ="UTC", NO_COLOR="1",
        COLUMNS="80", CMOCKA_MESSAGE_OUTPUT="TAP",
        ASAN_OPTIONS="detect_leaks=1:abort_on_error=1:strict_string_checks=1",
        UBSAN_OPTIONS="print_stacktrace=1",
        TSAN_OPTIONS="halt_on_error=1:second_deadlock_stack=1:"
                     f"suppressions={ROOT}/tests/tsan.supp")
    return env


# In a session of its own a process needs a low priority of the session, too,
# where the kernel has one (autogroup): else sessions share alike.
LOW = ["chrt", "--idle", "0", "sh", "-c",
       '{ echo 19 >/proc/self/autogroup; } 2>/dev/null; exec "$@"', "sh"]


@functools.cache
def launcher(variant):
    """What to put before the command line of a program of the variant."""
    # ThreadSanitizer of gcc 12 cannot live with much address randomness; some
    # containers forbid to switch it off.
    fixed = ["setarch", "--addr-no-randomize"]
    if variant == "tsan" and \
            subprocess.run([*fixed, "true"], stderr=subprocess.DEVNULL,
                           check=False).returncode == 0:
        return fixed
    return []


def alive_in(session, mark):
    """Processes of a session, or that inherited its environment mark."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            stat = (entry / "stat").read_text()
            state, _, _, sid = stat[stat.rindex(")") + 2:].split()[:4]
            if state == "Z":
                continue
            if int(sid) != session and not (
                    mark and mark in (entry / "environ").read_bytes()):
                continue
            name = stat[stat.index("(") + 1:stat.rindex(")")]
            found.append((int(entry.name), name))
        except OSError:
            continue  # It ended while we looked, or is not ours to look at.
    return found


def kill_all(processes):
    for pid, _ in processes:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def sweep(session, mark):
    """Wait a moment for stragglers, kill what is left, and name it."""
    deadline = time.monotonic() + GRACE_S
    while (left := alive_in(session, mark)) and time.monotonic() < deadline:
        time.sleep(0.01)
    kill_all(left)
    return left


@contextlib.contextmanager
def noted(where, what):
    where.add(what)
    try:
        yield
    finally:
        where.discard(what)


def wait(process, timeout_s=None):
    """Wait for a process; return the processor time that it took, with all its
    children that were waited for, or None when the time is over."""
    with open(os.pidfd_open(process.pid), "rb", buffering=0) as ended:
        if not select.select([ended], [], [], timeout_s)[0]:
            return None
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime


def end(process):
    """First so that it can undo what it did: users, daemons, mounts."""
    os.kill(process.pid, signal.SIGTERM)
    taken_s = wait(process, UNDO_S)
    if taken_s is None:
        os.killpg(process.pid, signal.SIGKILL)
        taken_s = wait(process)
    return taken_s


def execute(program):
    """Run in a fresh directory; return (stdout, stderr, status, trouble,
    seconds of processor)."""
    suite = program.suite
    trouble = None
    if ending.is_set():
        raise InterruptedError(program.title)
    with noted(at_work, threading.get_ident()), \
            tempfile.TemporaryDirectory(prefix="muster-test-",
                                        ignore_cleanup_errors=True) as folder, \
            tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        work = Path(folder) / "work"
        work.mkdir()
        env = environment(suite, folder)
        # Files, not pipes: a forgotten child must not keep us waiting.
        process = subprocess.Popen(
            [*(LOW if suite.turn == "fill" else []),
             *launcher(suite.variant), *program.argv], cwd=work, env=env,
            stdin=subprocess.DEVNULL, stdout=out, stderr=err,
            start_new_session=True)
        with noted(sessions, process.pid):
            if ending.is_set():  # It began while `interrupted` looked.
                os.kill(process.pid, signal.SIGTERM)
            processor_s = wait(process, suite.timeout_s)
            if processor_s is None:
                trouble = f"killed after {suite.timeout_s:g} s"
                processor_s = end(process)
        left = sweep(process.pid, f"TMPDIR={folder}\0".encode())
        if ending.is_set():  # How it ended is nobody's failure.
            raise InterruptedError(program.title)
        if left and not trouble:
            names = ", ".join(f"{name} ({pid})" for pid, name in left)
            trouble = f"left processes behind: {names}"
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read().decode("utf-8", "replace"))
    return (*texts, process.returncode, trouble, processor_s)


def status_text(status):
    if status >= 0:
        return f"exit status {status}"
    return f"ended by {signal.Signals(-status).name}"


def read_tap(text, status, result):
    """Count the lines of TAP; return what is wrong with the whole, or None."""
    planned = None
    points = 0
    failing = False  # What follows, after a #, says how.
    for line in text.splitlines():
        if plan := PLAN.match(line):
            planned = (planned or 0) + int(plan[1])
            if int(plan[1]) == 0 and plan[2]:
                result.skipped += 1
        elif point := POINT.match(line):
            points += 1
            if point[3] and SKIP.match(point[3]):
                result.skipped += 1
            elif point[1]:
                result.failures.append(point[2].strip() or f"test {points}")
                failing = True
                continue
            else:
                result.passed += 1
        elif line.startswith("Bail out!"):
            result.failures.append(line)
        elif failing and line.startswith("#"):
            result.failures[-1] += "\n    " + line[:DETAIL_CHARS]
            continue
        failing = False
    if planned is None:
        return f"printed no plan; {status_text(status)}"
    if planned != points:
        return f"planned {planned} tests, ran {points}; {status_text(status)}"
    if status != 0 and not result.failures:
        return status_text(status)
    return None


def compare_golden(program, out, err, status, result, update):
    actual = {".stdout": out, ".stderr": err, ".exit": f"{status}\n"}
    default = {".stdout": "", ".stderr": None, ".exit": "0\n"}
    differ = []
    for suffix, text in actual.items():
        path = program.golden.with_suffix(suffix)
        expected = path.read_text() if path.exists() else default[suffix]
        if expected is None or text == expected:
            continue
        if update:
            path.write_text(text)
            continue
        differ.append(path.name)
        result.output += diff_text(expected, text, path.name)
    if differ:
        result.failures.append(f"other than {', '.join(differ)}")


def diff_text(expected, actual, name):
    return "\n".join(difflib.unified_diff(
        expected.splitlines(), actual.splitlines(), name, "actual",
        lineterm="")) + "\n"


def run(program, update=False):
    result = Result()
    start = time.monotonic()
    out, err, status, trouble, result.processor_s = execute(program)
    result.seconds = time.monotonic() - start
    wrong = None
    if program.golden:
        compare_golden(program, out, err, status, result, update)
        result.output += err
    else:
        result.output = out + err
        if program.tap:
            wrong = read_tap(out, status, result)
        elif status != 0:
            wrong = status_text(status)
    if trouble or wrong:
        result.failures.append(trouble or wrong)
    if not program.tap and not result.failures:
        result.passed = 1
    return result


def report(program, result):
    counts = [f"{result.passed} passed"]
    if result.failures:
        counts.append(f"{len(result.failures)} FAILED")
    if result.skipped:
        counts.append(f"{result.skipped} skipped")
    told = [f"{program.title:<40} {result.seconds:6.2f} s "
            f"{result.processor_s:7.2f} s  {', '.join(counts)}"]
    if result.failures:
        told += [f"    {failure}" for failure in result.failures]
        lines = result.output.splitlines()
        if len(lines) > TAIL_LINES:
            told.append(f"    | ... {len(lines) - TAIL_LINES} lines before")
        told += [f"    | {line}" for line in lines[-TAIL_LINES:]]
        told.append("    again: tools/run_tests.py --only "
                    f"{shlex.quote(program.title)} {program.suite.tier}")
    with screen:
        print("\n".join(told), flush=True)


def targets(suites):
    """What ninja has to build for suites of one variant; nothing means all."""
    wanted = []
    for suite in suites:
        named = re.findall(r"\$BUILD/(\S+)", suite.argument)
        if suite.kind == "unit":
            wanted += [f"unit-{layer}" for layer in
                       (layers_of(suite.argument) if suite.argument
                        else ["tests"])]
        elif suite.kind in ("tap", "exit") and named:
            wanted += named
        else:
            return []
    return wanted


def build(variant, wanted, low):
    """Build what is wanted of a variant; return its result."""
    result = Result()
    start = time.monotonic()
    if ending.is_set():
        raise InterruptedError(f"build {variant}")
    process = subprocess.Popen(
        [*(LOW if low else []), ROOT / "tools" / "build.sh", variant, "tests",
         *wanted], stdin=subprocess.DEVNULL, start_new_session=low)
    if low:
        sessions.add(process.pid)
    result.processor_s = wait(process)
    result.seconds = time.monotonic() - start
    sessions.discard(process.pid)
    if process.returncode != 0:
        result.failures.append(status_text(process.returncode))
    return result


def interrupted(number, _frame):
    """Take the running programs along, then die as asked.  They may undo what
    they did; who asks twice does not wait for that."""
    asked_before = ending.is_set()
    ending.set()
    started = list(sessions)
    deadline = time.monotonic() + (0 if asked_before else UNDO_S)
    for session in started:
        with contextlib.suppress(ProcessLookupError):
            os.kill(session, signal.SIGTERM)
    while sessions & set(started) and time.monotonic() < deadline:
        time.sleep(0.02)
    for session in started:
        kill_all(alive_in(session, None))
    # Who waited for them sweeps up what has another session, and the folder.
    deadline = time.monotonic() + 10 * GRACE_S
    while at_work and time.monotonic() < deadline:
        time.sleep(0.02)
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def chosen_suites(options):
    tiers = [options.tier] if options.tier in ALONE else \
        TIERS[:TIERS.index(options.tier) + 1]
    for suite in read_suites(ROOT / "tests" / "suites.txt"):
        if suite.tier not in tiers:
            continue
        if not any(options.only in title for title in titles_of(suite)):
            continue  # Spare its build.
        if options.variant and suite.variant == "release":
            suite.variant = options.variant
        yield suite


class Runner:
    """Runs suites, and counts."""

    def __init__(self, options, suites):
        self.options = options
        self.suites = suites
        self.began = time.monotonic()
        self.total = Result()
        self.failed = []  # A line for each failure.
        self.again = []  # (program, its first result)
        self.unsteady = []
        self.built = {}  # Variant: how its build went, once it is known.
        self.costs = []  # (title, result) of each program and build.

    def run_all(self):
        """Build in one thread, fill in another, the others in turn in this."""
        variants = dict.fromkeys(suite.variant for suite in self.suites
                                 if suite.variant != "-")
        with concurrent.futures.ThreadPoolExecutor(1) as builder, \
                concurrent.futures.ThreadPoolExecutor(1) as filler:
            for number, variant in enumerate(variants):
                wanted = targets([suite for suite in self.suites
                                  if suite.variant == variant])
                self.built[variant] = builder.submit(
                    build, variant, wanted, low=number > 0)
            filled = filler.submit(self.fill)
            for suite in self.suites:
                if suite.turn != "fill":
                    with concurrent.futures.ThreadPoolExecutor(
                            suite.jobs) as pool:
                        self.start(suite, pool)
            filled.result()
        for variant, built in self.built.items():
            self.costs.append((f"build {variant}", built.result()))
            if built.result().failures:
                self.failed.append(f"build {variant}")
        self.run_again()

    def fill(self):
        for first in list(self.built.values())[:1]:
            first.result()  # It may install packages: one at a time.
        with concurrent.futures.ThreadPoolExecutor(
                max(2, os.cpu_count() or 2)) as pool:
            for suite in self.suites:
                if suite.turn == "fill":
                    self.start(suite, pool)

    def start(self, suite, pool):
        """Have the programs of a suite run as soon as they are built."""
        if suite.variant != "-" and self.built[suite.variant].result().failures:
            return
        for program in programs_of(suite):
            if self.options.only in program.title:
                pool.submit(self.run_one, program).add_done_callback(
                    self.ended)

    def run_one(self, program):
        result = run(program, self.options.update)
        report(program, result)
        with screen:
            self.costs.append((program.title, result))
        if result.failures and program.suite.turn == "again":
            self.again.append((program, result))
        else:
            self.count(program, result)

    def ended(self, done):
        """What goes wrong in the runner itself is a failure, too."""
        if done.exception():
            with screen:
                self.failed.append(f"run_tests.py: {done.exception()!r}")

    def count(self, program, result):
        with screen:
            self.total.passed += result.passed
            self.total.skipped += result.skipped
            self.failed += [f"{program.title}: {failure}"
                            for failure in result.failures]

    def run_again(self):
        """Give the programs that a busy machine may have failed a quiet one."""
        if len(self.again) > AGAIN_AT_MOST:
            print(f"{len(self.again)} programs failed that would run again, "
                  f"more than {AGAIN_AT_MOST}: none does")
            for program, first in self.again:
                self.count(program, first)
            return
        for program, first in self.again:
            print(f"once more, alone: {program.title}", flush=True)
            result = run(program)
            report(program, result)
            self.count(program, result)
            if not result.failures:
                self.unsteady += [f"{program.title}: {failure}"
                                  for failure in first.failures]

    def tell_costs(self):
        """What to make cheaper next, when a run takes too long."""
        if len(self.costs) <= COSTLY:
            return
        self.costs.sort(key=lambda cost: -cost[1].processor_s)
        rest = self.costs[COSTLY:]
        print(f"{'most costly':<40}  clock  processor")
        for title, seconds, processor_s in [
                *((title, result.seconds, result.processor_s)
                  for title, result in self.costs[:COSTLY]),
                (f"{len(rest)} others",
                 sum(result.seconds for _, result in rest),
                 sum(result.processor_s for _, result in rest)),
                ("in all", time.monotonic() - self.began,
                 sum(result.processor_s for _, result in self.costs))]:
            print(f"{title:<40} {seconds:6.0f} s {processor_s:7.0f} s")

    def conclude(self):
        self.tell_costs()
        for line in self.unsteady:
            print(f"UNSTEADY {line}")
        for line in self.failed:
            print(f"FAILED {line}")
        print(f"{self.total.passed} passed, {len(self.failed)} failed, "
              f"{self.total.skipped} skipped")
        return 1 if self.failed or not self.total.passed else 0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("tier", nargs="?", choices=TIERS + ALONE, default="check")
    parser.add_argument("--variant")
    parser.add_argument("--only", default="")
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupted)

    runner = Runner(options, list(chosen_suites(options)))
    runner.run_all()
    return runner.conclude()


if __name__ == "__main__":
    sys.exit(main())
