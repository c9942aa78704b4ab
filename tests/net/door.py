#!/usr/bin/env python3
"""A user's own program on several processes, while some are killed.

muster_train, muster_join and muster_sum through the shared library, in C and
from Python: whoever is killed, the hash is that of one process and a sum is
that of those it names.
"""

import fcntl
import itertools
import os
import random
import re
import select
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))
from cluster import (Tap, place_of, child_named, children,  # noqa: E402
                     finish, kill, wait_for, wait_step)
from sums import (ENV, build, calls_of, last_call, member,  # noqa: E402
                  said, wanted_sum)

ROOT, BUILD = Path(os.environ["ROOT"]), Path(os.environ["BUILD"])
PYTHON = "/usr/bin/python3"


def start(*args):
    return subprocess.Popen(list(map(str, args)), env=ENV, text=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


def run(*args):
    code, out, err = finish(start(*args))
    return code, out, err


def train_hash(tap, name, process, wanted):
    code, out, err = finish(process)
    tap.ok(code == 0 and said(out, "hash") == wanted,
           f"{name}: the hash of one process", f"{code} {out} {err}")


def killed_workers(tap, wanted, rng):
    """Two of four workers, at different steps."""
    process = start("./door", "train", 4, "killed", "-")
    for step, name in zip((2, 20), rng.sample(["w0", "w1", "w2", "w3"], 2)):
        wait_step("killed", step)
        kill(child_named(process.pid, name))
    train_hash(tap, "two workers killed", process, wanted)


def killed_coordinator(tap, wanted):
    process = start("./door", "train", 3, "coordinator", "-")
    wait_step("coordinator", 10)
    kill(child_named(process.pid, "coordinator"))
    train_hash(tap, "coordinator killed", process, wanted)


def killed_program(tap, wanted):
    """All of it; what is in the folder is gone on with, by fewer."""
    process = start("./door", "train", 3, "whole", "-")
    wait_step("whole", 30)
    pids = [pid for _, pid in children(process.pid)]
    kill(process.pid)
    finish(process)
    wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids),
             "the children to go with it")
    train_hash(tap, "killed and gone on with",
               start("./door", "train", 1, "whole", "-"), wanted)


def joiners(tap, wanted):
    process = start("./door", "train", 1, "joined", "127.0.0.1:0")
    address = place_of("joined")
    far = [start("./door", "join", address) for _ in range(2)]
    code, out, _ = run("./door", "join", address, "skewed")
    tap.ok(code == 1 and "other data" in out,
           "a program that computes something else is refused", out)
    stranger = subprocess.run([os.environ["MUSTER"], "join", address],
                              capture_output=True, text=True)
    tap.ok(stranger.returncode == 1 and "muster_join" in stranger.stderr,
           "so is a worker without the program", stranger)
    far.append(start("./door", "join", address))
    wait_step("joined", 5)
    kill(far[0].pid)
    far[1].send_signal(signal.SIGTERM)
    train_hash(tap, "joiners come, leave and are killed", process, wanted)
    codes = [finish(one)[0] for one in far[1:]]
    tap.ok(codes == [0, 0], "joiners end well", codes)


def python_train(tap):
    example = ROOT / "examples" / "own_loop.py"
    code, alone, err = run(PYTHON, example, "train", 0)
    tap.ok(code == 0 and len(alone.split()) == 3, "Python: one process", err)
    process = start(PYTHON, example, "train", 3)
    host = wait_for(lambda: children(process.pid), "its training")[0][1]
    kill(child_named(host, "w1"))
    kill(child_named(host, "coordinator"))
    code, out, err = finish(process)
    tap.ok(code == 0 and out == alone,
           "Python: workers, one killed, and the coordinator: the same",
           f"{out} {alone} {err}")


def sums(tap, rng):
    host = start("./door", "host", 1)
    address = said(host.stdout.readline(), "address")
    members = {name: member(address, name) for name in "abcd"}
    seen = {}
    # One is killed in the middle of calls when all are in, one when the first is
    # missed, and one comes when both are: calls are ahead of who reads of them.
    # In a second call a member has been told what the first came to.
    one, other = rng.sample("bcd", 2)
    steps = [("abcd", lambda: None),
             ("abcd", lambda: kill(members[one].pid)),
             ({*"abcd"} - {one}, lambda: kill(members[other].pid)),
             ({*"abcd"} - {one, other},
              lambda: members.update(e=member(address, "e"))),
             ({*"abcde"} - {one, other}, lambda: None),
             ({*"abcde"} - {one, other}, lambda: None)]
    for line in itertools.islice(host.stdout, 5000000):
        call, who, *values = line.split()[1:]
        seen[call] = (who, values)
        if steps and set(who.split(",")) == {*steps[0][0], "h"}:
            steps.pop(0)[1]()
        if not steps and len(seen) > 100:
            break
    kill(host.pid)
    host.communicate()
    totals = [name for name, (who, values) in seen.items()
              if [float.fromhex(v) for v in values] != wanted_sum(who.split(","))]
    tap.ok(len(seen) > 100 and not totals,
           "every sum is that of those it names, rounded once", totals[:3])
    tap.equal(steps, [], "who was killed is left out, who joined is in")
    # Who began the group is dead; then all others but one are killed, in turn.
    living = sorted({*"abcde"} - {one, other})
    wait_for(lambda: set(last_call("a")[1].split(",")) == set(living),
             "calls without who began the group")
    stopped = members[living[-1]]
    os.kill(stopped.pid, signal.SIGSTOP)
    wait_for(lambda: set(last_call("a")[1].split(",")) == set(living[:-1]),
             "calls without who is stopped")
    os.kill(stopped.pid, signal.SIGCONT)
    wait_for(lambda: set(last_call("a")[1].split(",")) == set(living),
             "calls with who was stopped")
    while len(living) > 1:
        kill(members[living.pop()].pid)
        wait_for(lambda: set(last_call("a")[1].split(",")) == set(living),
                 "calls without who was killed")
    tap.equal(living, ["a"], "the group outlives everyone but one")
    kill(members["a"].pid)
    for name, process in members.items():
        finish(process)
        lines = calls_of(name)
        seen.update({line[0]: (line[1], line[2:]) for line in lines
                     if line[0] not in seen})
        wrong = [line for line in lines
                 if line[0] in seen and seen[line[0]] != (line[1], line[2:])]
        tap.ok(lines and not wrong, f"{name} was told the same", wrong[:3])


def paced(host, until):
    """Reads what the host says, little by little, until the other speaks.  Its
    pipe holds a third of that: it cannot come to its end meanwhile."""
    said = b""
    while not select.select([until.stdout], [], [], 0.05)[0] and \
            len(said) < 6000:
        said += os.read(host.stdout.fileno(), 60)
    return said.decode()


def python_sum(tap):
    example = ROOT / "examples" / "own_loop.py"
    host = start(PYTHON, example, "loop")
    fcntl.fcntl(host.stdout, fcntl.F_SETPIPE_SZ, 4096)
    said = b""
    while not said.endswith(b"\n"):
        said += os.read(host.stdout.fileno(), 1)
    address = said.decode().strip()
    others = [start(PYTHON, example, "loop", address)]
    others[0].stdout.readline()
    others.append(start(PYTHON, example, "loop", address))
    said = paced(host, others[1])  # Until it is in.
    others[0].stdout.readline()  # It has taken part.
    kill(others[0].pid)
    code, out, err = finish(host)
    lines = (said + out).splitlines()
    tap.ok(code == 0 and len(lines) == 200 and all(
        line.split()[3] in ("0x0.0p+0", "0x1.7e43c8800759cp+996")
        for line in lines), "Python: the loop goes on when one is killed",
        f"{code} {err} {lines[-1:]}")
    code, out, err = finish(others[1])
    tap.ok(code == 0 and out.splitlines()[-1] == lines[-1],
           "Python: the other has the same sums", f"{code} {err}")


def exported(tap):
    header = (ROOT / "include" / "muster.h").read_text()
    declared = sorted(re.findall(r"MUSTER_API[^;]*?\b(muster_\w+)\(", header))
    for flags, library in (["-D"], "libmuster.so.3"), (["-g"], "libmuster.a"):
        said = subprocess.run(["nm", *flags, "--defined-only", BUILD / "src" / library],
                              capture_output=True, text=True).stdout
        names = sorted(line.split()[2] for line in said.splitlines() if len(line.split()) == 3)
        tap.equal(names, declared, f"{library} exports what the header declares, no more")
    told = (ROOT / "docs" / "api.md").read_text()
    tap.equal([name for name in declared if not re.search(rf"\b{name}\b", told)], [],
              "docs/api.md speaks of every function")


def cpp(tap):
    Path("header.cc").write_text(
        '#include "muster.h"\n'
        "int main() { muster_matrix m = MUSTER_INIT(muster_matrix);\n"
        "    return m.size == sizeof m && muster_version() == MUSTER_VERSION ? 0 : 1; }\n")
    done = subprocess.run(["c++", "-Wall", "-Werror", "-pedantic",
                           "-I", ROOT / "include", "header.cc", "-o", "header",
                           "-L", BUILD / "src", "-lmuster"],
                          capture_output=True, text=True)
    tap.ok(done.returncode == 0 and run("./header")[0] == 0,
           "the header is C++, too", done.stderr)


def static(tap):
    """What pkg-config names is enough for libmuster.a."""
    Path("static.c").write_text(
        '#include "muster.h"\nint main(void) { return muster_version() != MUSTER_VERSION; }\n')
    libs = subprocess.run(
        ["pkg-config", "--static", "--libs", "muster"], capture_output=True, text=True,
        env={**os.environ, "PKG_CONFIG_PATH": str(BUILD / "meson-private")}).stdout.split()
    done = subprocess.run(
        ["cc", "-I", ROOT / "include", "static.c", "-o", "static", BUILD / "src/libmuster.a",
         *(word for word in libs if word != "-lmuster")], capture_output=True, text=True)
    tap.ok(libs and done.returncode == 0 and run("./static")[0] == 0,
           "pkg-config --static names what libmuster.a needs", f"{libs} {done.stderr[-500:]}")


def main():
    tap = Tap()
    rng = random.Random(11)
    exported(tap)
    cpp(tap)
    static(tap)
    build(tap, ROOT / "tests/net/lib/door.c", "door")
    code, out, err = run("./door", "train", 0, "-", "-")
    wanted = said(out, "hash")
    tap.ok(code == 0 and wanted, "one process", err)
    killed_workers(tap, wanted, rng)
    killed_coordinator(tap, wanted)
    killed_program(tap, wanted)
    joiners(tap, wanted)
    python_train(tap)
    sums(tap, rng)
    python_sum(tap)
    tap.done()


main()
