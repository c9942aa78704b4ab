"""Members of a group (tests/net/lib/door.c), and what they must have been told."""

import math
import os
import shlex
import subprocess
from pathlib import Path

ROOT, BUILD = Path(os.environ["ROOT"]), Path(os.environ["BUILD"])
ENV = {**os.environ, "LD_LIBRARY_PATH": str(BUILD / "src"),
       "PYTHONPATH": str(ROOT / "python"), "PYTHONDONTWRITEBYTECODE": "1",
       "PKG_CONFIG_PATH": str(BUILD / "meson-uninstalled")}


def build(tap, source, program):
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "muster"],
                           env=ENV, capture_output=True, text=True).stdout
    done = subprocess.run(["cc", "-std=c17", "-O2", "-ffp-contract=off", "-Wall",
                           "-Wextra", "-o", program, source,
                           *shlex.split(flags), "-lm"], env=ENV,
                          capture_output=True, text=True)
    tap.ok(done.returncode == 0 and not done.stderr,
           f"{program} builds against the library", done.stderr)


def said(text, word):
    return next((line.split()[1] for line in text.splitlines()
                 if line.startswith(word + " ")), None)


def noise(seed):
    x = (seed + 1) * 2654435761 % 2**32
    x = (x ^ x >> 15) * 2246822519 % 2**32
    return (x ^ x >> 13) / 2147483648.0 - 1


def wanted_sum(names):
    """What Python's fsum makes of the first two numbers of those members."""
    return [math.fsum(math.ldexp(noise(j + ord(name[0]) * 5000),
                                 200 if j % 3 == 0 else -200)
                      for name in names) for j in (0, 1)]


def member(address, name, *before, **more):
    """One that would never end by itself; what it says goes into a file, for
    nobody reads it before the end.  Without an address it begins a group; its
    program is started by what is `before` it, with more in its environment."""
    what = ["member", address, name, "100000000"] if address else ["host", "1"]
    with open(f"member.{name}", "w", encoding="ascii") as out:
        return subprocess.Popen(
            [*before, "./door", *what], env={**ENV, **more},
            stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.DEVNULL)


def calls_of(name, tail=None):
    """Whole lines of what a member said of its calls, or of its last words."""
    with open(f"member.{name}", "rb") as file:
        if tail:
            file.seek(max(0, file.seek(0, os.SEEK_END) - tail))
        out = file.read().decode()
    return [line.split()[1:] for line in out[:out.rfind("\n") + 1].splitlines()
            if line.startswith("call ")]


def last_call(name):
    return (calls_of(name, 4000) or [["0", ""]])[-1]
