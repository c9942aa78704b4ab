#!/usr/bin/env python3
"""Look for calls and headers in src/ that the house style bans.

Every exception stands in the tables below with its reason; a folder ends with
a slash and includes what is under it.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Functions of <math.h> that IEEE 754 does not ask to be rounded correctly: their
# bits differ between libraries, releases and processors.  What is left (sqrt,
# fabs, floor, rint, ldexp, frexp, fmod, ...) has one answer.
INEXACT = """acos acosh asin asinh atan atan2 atanh cbrt cos cosh erf erfc exp
    exp10 exp2 expm1 hypot lgamma log log10 log1p log2 pow sin sincos sinh tan
    tanh tgamma""".split()

# (calls, what to use instead, {where they are allowed: why})
CALLS = [
    ("malloc calloc realloc reallocarray aligned_alloc posix_memalign free "
     "strdup strndup",
     "mem_* of base/mem.h, which checks for overflow and can be made to fail",
     {"base/mem.c": "the one allocator",
      "os/": "gives back what libc and libuv allocate"}),
    ("strcpy strcat sprintf vsprintf gets alloca strtok",
     "a call that knows the size of what it writes", {}),
    ("atoi atol atoll atof",
     "strto*, which reports errors", {}),
    ("rand srand random srandom drand48",
     "rng_* of base/rng.h: one stream per purpose, from one seed", {}),
    ("time clock gettimeofday clock_gettime localtime localtime_r gmtime "
     "gmtime_r ctime asctime sleep usleep nanosleep",
     "the time in the event, or os/: nothing else may read a clock",
     {"os/": "the only layer that knows the time"}),
    ("printf vprintf fprintf vfprintf puts fputs putchar putc fputc perror",
     "the log, or a result for cli/ to print",
     {"cli/": "speaks to people",
      "os/": "writes the log and files",
      "base/check.c": "last words of a process that found a bug"}),
    ("log_line log_note log_quiet",
     "a sentence for who called: a library has no log of its own",
     {"cli/": "speaks to people",
      "node/": "processes of their own, which nobody else speaks for",
      "os/": "writes the log and files"}),
    ("exit _exit quick_exit abort",
     "an error code: a library does not end its caller",
     {"cli/": "owns the process",
      "os/": "ends the children it forks",
      "base/check.c": "last words of a process that found a bug"}),
    (" ".join(name + kind for name in INEXACT for kind in ("", "f", "l")),
     "our own (math/kernel/poly.h): libm's bits are not the same everywhere",
     {"plan/": "expected delays: they choose a code, never a number of a model",
      "cli/reproduce/": "figures and axes for people",
      "cli/show/": "figures and axes for people",
      "sim/faults.c": "draws when faults come",
      "node/run/chaos_run.c": "draws when faults come"}),
    ("system popen",
     "os/'s processes: no shell, no command from outside", {}),
]

# Headers of the C library that any layer may include: no I/O, no clock, no
# threads, or (stdio, for snprintf; stdlib, for strtod and qsort) policed above.
HEADERS = """assert ctype errno fenv float inttypes limits math stdalign stdarg
    stdbool stddef stdint stdio stdlib stdnoreturn string strings""".split()

# {header: {where it is allowed: why}}; os/ may include everything.
HEADERS_SOMEWHERE = {
    "openssl/evp.h": {"base/hash.c": "SHA-256, a pure function"},
    "stdatomic.h": {"core/ring/seal.c": "memory that another process writes"},
    "locale.h": {"data/text/number.c": "reads the same numbers in every locale"},
    "immintrin.h": {"math/": "kernels"},
    "arm_neon.h": {"math/": "kernels"},
    "jansson.h": {"data/": "JSON in files", "model/": "JSON in files",
                  "plan/": "JSON in files", "cli/": "--format json",
                  "node/": "answers to muster status",
                  "learn/card/": "model cards"},
    "mpi.h": {"node/fixed/mpi.c": "ranks of an MPI job"},
    "zlib.h": {"data/": "compressed data files"},
    "zstd.h": {"data/": "compressed data files"},
    "signal.h": {"cli/": "names of signals"},
    "unistd.h": {"cli/": "isatty"},
    "sys/wait.h": {"cli/": "what a status means"},
}

NOT_CODE = re.compile(
    r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
# A function of muster.h that computes, and what has to begin it: the host's
# modes of floating point would change bits.
ENTRY = re.compile(r"^enum muster_status\s+(muster_\w+)\([^;{]*\)\n\{(?!\s*OUR_FLOATS;)",
                   re.MULTILINE)
INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<([^>]+)>", re.MULTILINE)


def allowed(path, where):
    return any(path == place or place.endswith("/") and path.startswith(place)
               for place in where)


def without_comments(text):
    """Blank out comments and literals, keeping the line numbers."""
    return NOT_CODE.sub(lambda match: "\n" * match[0].count("\n"), text)


def complaints(path, text):
    code = without_comments(text)
    for calls, instead, where in CALLS:
        if allowed(path, where):
            continue
        # A member of that name (ops->free) is another thing; a compiler's own
        # (__builtin_exp) is not.
        call = re.compile(r"(?<![\w.])(?<!->)(?:__builtin_)?"
                          rf"({'|'.join(calls.split())})\s*\(")
        for match in call.finditer(code):
            yield code.count("\n", 0, match.start()), \
                f"{match[1]} is banned here; use {instead}"
    for match in ENTRY.finditer(code):
        yield code.count("\n", 0, match.start()), \
            f"{match[1]} does not begin with OUR_FLOATS"
    if path.startswith("os/"):
        return
    for match in INCLUDE.finditer(code):
        header = match[1]
        if header.removesuffix(".h") not in HEADERS and \
                not allowed(path, HEADERS_SOMEWHERE.get(header, {})):
            yield code.count("\n", 0, match.start()), \
                f"<{header}> is for os/ only; see tools/check_banned.py"


def main():
    status = 0
    for file in sorted(file for file in (ROOT / "src").rglob("*")
                       if file.suffix in (".c", ".h", ".inc")):
        path = file.relative_to(ROOT / "src").as_posix()
        for line, complaint in sorted(complaints(path, file.read_text())):
            print(f"src/{path}:{line + 1}: {complaint}")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
