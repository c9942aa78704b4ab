#!/usr/bin/env python3
"""muster.train and muster.Group as a Python program meets them: threads, Ctrl-C,
mistakes.

Every program is run by itself with a time limit, which only a hang reaches.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT, BUILD = Path(os.environ["ROOT"]), Path(os.environ["BUILD"])
HEAD = """
import os, signal, sys, threading, time
sys.path.insert(0, %r)
import muster

def bowl(_, w, chunk, g, loss):
    g[0], loss[0] = w[0] - chunk, (w[0] - chunk) ** 2 / 2

JOB = dict(dims=1, chunks=8, rows=8, optim="gd", lr=0.1)
ALONE = muster.train(bowl, steps=20, **JOB)

def busy():
    while True:
        sum(range(1000))

def idle():
    time.sleep(1000)

def crowd(what):
    for _ in range(3):
        threading.Thread(target=what, daemon=True).start()

def later(number):
    # Once it trains: the workers of our helper are there.
    def run():
        me = os.getpid()
        def kids(pid):
            path = f"/proc/{pid}/task/{pid}/children"
            return [int(p) for p in open(path).read().split()]
        while not any(len(kids(p)) >= 3 for p in kids(me)):
            time.sleep(0.01)
        os.kill(me, number)
    threading.Thread(target=run, daemon=True).start()
""" % str(ROOT / "python")

TESTS = {
    "idle threads: the same model": """
crowd(idle)
print(muster.train(bowl, n=2, steps=20, **JOB) == ALONE)
""",
    "busy threads: the same model": """
sys.setswitchinterval(1e-4)
crowd(busy)
print(all(muster.train(bowl, n=2, steps=20, **JOB) == ALONE for _ in range(3)))
""",
    "losses of chunks that cancel are no two answers": """
def cancels(off):
    def part(_, w, chunk, g, loss):
        g[0], loss[0] = w[0] - 3, w[0] ** 2 / 2 - 3 * w[0] + off[chunk]
    return part
for off in [.3, .1, -.4], [1e6, -1e6, 1e-9]:
    for more in dict(optim="gd", lr=0.1), dict(optim="lbfgs"):
        job = dict(dims=1, chunks=3, rows=3, steps=30, **more)
        one = muster.train(cancels(off), **job)
        assert abs(one.weights[0] - 3) < 1, one
        assert muster.train(cancels(off), n=2, **job) == one
print(True)
""",
    "a thread that trains, one that works": """
found = []
thread = threading.Thread(target=lambda: found.append(
    muster.train(bowl, n=2, steps=20, **JOB)))
thread.start()
thread.join()
print(found[0] == ALONE)
""",
    "Ctrl-C beside threads is KeyboardInterrupt, with the model so far": """
crowd(idle)
later(signal.SIGINT)
try:
    muster.train(bowl, n=2, steps=100000000, **JOB)
except KeyboardInterrupt as error:
    print(len(error.model.weights) == 1 and error.model.steps >= 0)
""",
    "SIGTERM stops the training, not the program": """
crowd(idle)
later(signal.SIGTERM)
try:
    muster.train(bowl, n=2, steps=100000000, **JOB)
except muster.Stopped as error:
    print(error.status == 5 and error.model is not None and
          signal.getsignal(signal.SIGTERM) == signal.SIG_DFL)
""",
    "Ctrl-C in one process": """
def interrupts(_, w, chunk, g, loss):
    if w[0] > 1:
        os.kill(os.getpid(), signal.SIGINT)
    bowl(_, w, chunk, g, loss)
try:
    muster.train(interrupts, steps=100000000, **JOB)
except KeyboardInterrupt as error:
    print(error.model.steps > 0 and error.model.weights[0] > 1)
""",
    "SIGCHLD ignored, or its children reaped by a handler": """
def reap(*_):
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
for action in (signal.SIG_IGN, reap):
    signal.signal(signal.SIGCHLD, action)
    print(muster.train(bowl, n=2, steps=20, **JOB) == ALONE,
          signal.getsignal(signal.SIGCHLD) == action)
""",
    "threads whose stacks are small": """
threading.stack_size(256 << 10)
found = []
for n in (0, 2):
    thread = threading.Thread(target=lambda: found.append(
        muster.train(bowl, n=n, steps=20, **JOB)))
    thread.start()
    thread.join()
print(found == [ALONE, ALONE])
""",
    "an unknown keyword is a TypeError": """
def refused(f, *args, **more):
    try:
        f(*args, **more)
    except TypeError as error:
        return "step" in str(error)
print(refused(muster.train, bowl, step=3, **JOB),
      refused(muster.train, bowl, step=3, n=2, **JOB),
      refused(muster.join, bowl, "127.0.0.1:1", step=3, **JOB),
      refused(muster.Group, step=3))
""",
    "what the gradient raises is raised": """
def broken(_, w, chunk, g, loss):
    if chunk == 3 and w[0] > 1:
        raise ValueError("mine", 7)
    bowl(_, w, chunk, g, loss)
for n in (0, 2):
    try:
        muster.train(broken, n=n, steps=1000, **JOB)
    except ValueError as error:
        print(error.args == ("mine", 7) and error.model.steps > 0 and
              error.model.weights[0] > 1)
""",
    "... also one that cannot be sent": """
class Odd(Exception):
    def __init__(self, a, b):
        super().__init__("odd")
def broken(_, w, chunk, g, loss):
    raise Odd(1, 2)
try:
    muster.train(broken, n=2, steps=1000, **JOB)
except RuntimeError as error:
    print("odd" in str(error))
""",
    "a function that says stop leaves its model": """
def stops(_, w, chunk, g, loss):
    bowl(_, w, chunk, g, loss)
    return w[0] > 1
for n in (0, 2):
    try:
        muster.train(stops, n=n, steps=1000, **JOB)
    except muster.Stopped as error:
        print(error.model.weights[0] > 1)
""",
    "sums of arrays have their type, and any member's address leads in": """
try:
    import numpy
except ImportError:
    print(True)  # Groups need none.
    sys.exit(0)
first = muster.Group(least=2)
second = muster.Group(first.address)
third = muster.Group(second.address)
groups = (first, second, third)
def sums(kind, values):
    told = [None] * 3
    def member(i):
        told[i] = groups[i].sum(numpy.array(values[i], dtype=kind))
    threads = [threading.Thread(target=member, args=(i,)) for i in range(3)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    print(all(t[0].dtype == kind and t[0].tolist() == told[0][0].tolist()
              and t[1].contributed == 3 for t in told))
    return told[0][0].tolist()
print(sums("int64", [[2**62, 1], [2**61, 2], [3, -2**63]]) == [2**62 + 2**61 + 3, 3 - 2**63])
print(sums("float32", [[1e30], [-1e30], [0.5]]) == [0.5])
print(sums("float64", [[1e300], [1], [-1e300]]) == [1.0])
try:
    first.sum(numpy.zeros(2, dtype="int8"))
except TypeError as error:
    print("int8" in str(error))
for group in groups:
    group.leave()
""",
    "Ctrl-C in a sum that waits for others": """
group = muster.Group(least=2)
def interrupt():
    os.kill(os.getpid(), signal.SIGINT)
try:
    threading.Timer(0.1, interrupt).start()
    group.sum([1.0])
except KeyboardInterrupt:
    print(True)
group.leave()
""",
}

print(f"1..{len(TESTS)}")
env = {k: v for k, v in os.environ.items() if k != "LD_LIBRARY_PATH"}
failed = 0
for number, (name, program) in enumerate(TESTS.items(), 1):
    try:
        done = subprocess.run([sys.executable, "-c", HEAD + program], text=True,
                              env=env, capture_output=True, timeout=30,
                              check=False)
        words = done.stdout.split()
        good = done.returncode == 0 and words and set(words) == {"True"}
        detail = f"exit {done.returncode}\n{done.stdout}{done.stderr}"
    except subprocess.TimeoutExpired as late:
        good, detail = False, f"it hangs\n{late.stdout}{late.stderr}"
    failed += not good
    print(f"{'ok' if good else 'not ok'} {number} - {name}", flush=True)
    if not good:
        print("\n".join(f"# {line}" for line in detail.splitlines()))
sys.exit(1 if failed else 0)
