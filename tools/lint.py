#!/usr/bin/env python3
"""Run the static checks; one TAP line each, findings as file:line above it.

    lint.py [CHECK...] [FILE...]

Without names all checks run but those of LATER, which LINT_DEEP=1 adds
(`make check-long`).  With files, analyzer and tidy look at these alone, say at what a change touches.
Slow checks remember, under build/lint/, the files that passed: a file is looked
at again when it, a header of ours that it includes, or the settings change.
"""

import concurrent.futures
import functools
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / "build" / "lint"
BUILD = ROOT / "build" / "release"
JOBS = max(2, os.cpu_count() or 2)
FOLDERS = ["src", "include", "tests", "examples", "bench"]
INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)
INCLUDE_DIRS = [ROOT / "src", ROOT / "include", ROOT / "tests" / "unit"]


def files(*suffixes):
    """All our C files with one of the suffixes, relative to the root."""
    return sorted(path.relative_to(ROOT) for folder in FOLDERS
                  for path in (ROOT / folder).rglob("*")
                  if path.suffix in suffixes)


def call(argv):
    """Run a tool in the root; return what it had to say, or None."""
    done = subprocess.run(argv, cwd=ROOT, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode == 0:
        return None
    return done.stdout.strip() or f"{argv[0]}: exit status {done.returncode}"


def digest(path, seen):
    """Feed a file and the headers of ours that it includes to a hash."""
    if path in seen or not path.is_file():
        return b""
    seen.add(path)
    text = path.read_bytes()
    parts = [hashlib.sha256(text).digest()]
    for name in INCLUDE.findall(text):
        for folder in [path.parent, *INCLUDE_DIRS]:
            parts.append(digest(folder / name.decode(), seen))
    return b"".join(parts)


def remembering(check, path, argv, settings=""):
    """Call argv for path, unless it passed before in the same words."""
    key = hashlib.sha256(" ".join(map(str, argv)).encode() +
                         settings.encode() + digest(ROOT / path, set()))
    mark = CACHE / check / key.hexdigest()
    if mark.exists():
        return None
    said = call(argv)
    if said is None:
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()
    return said


def for_each(function, items):
    """Apply function to the items side by side; return what it said."""
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        return [said for said in pool.map(function, items) if said]


@functools.cache
def compile_flags():
    """For each source that is built: the flags that decide its meaning.

    Warnings and code generation are left out; clang does not know all of
    gcc's.
    """
    flags = {}
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        folder = Path(entry["directory"])
        source = Path(os.path.normpath(folder / entry["file"]))
        kept = []
        for word in shlex.split(entry["command"])[1:]:
            if word.startswith("-I"):
                path = Path(os.path.normpath(folder / word[2:]))
                if path in INCLUDE_DIRS or ROOT not in path.parents:
                    kept.append(f"-I{os.path.relpath(path, ROOT)}"
                                if ROOT in path.parents else word)
            elif word.startswith(("-D", "-std=", "-m", "-isystem")) and \
                    not word.startswith("-D_FORTIFY"):
                kept.append(word)
        flags.setdefault(source.relative_to(ROOT), kept)
    return flags


def check_format():
    return call(["clang-format", "--dry-run", "-Werror",
                 *map(str, files(".c", ".h", ".inc"))])


def check_layers():
    return call(["tools/check_layers.py"])


def check_banned():
    return call(["tools/check_banned.py"])


def check_house():
    """How the tree stands; what is over its limit is said with its places."""
    return call(["tools/house.py"])


# What a program run by hand leaves in the root is not to be committed.
ROOT_FILES = {".clang-format", ".clang-tidy", ".dockerignore", ".editorconfig", ".gitignore",
              "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile",
              "README.md", "SECURITY.md", "meson.build", "meson_options.txt",
              "pyproject.toml"}


def check_root():
    if not (ROOT / ".git").exists():
        return None
    done = subprocess.run(["git", "ls-files", "--full-name", ":(top,glob)*"],
                          cwd=ROOT, stdout=subprocess.PIPE, text=True,
                          check=True)
    return [f"{name}: does not belong in the root"
            for name in done.stdout.splitlines() if name not in ROOT_FILES]


def check_headers():
    """Each header compiles alone."""
    return for_each(lambda path: remembering("headers", path, [
        "gcc", "-std=c17", "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra",
        "-Werror", "-Isrc", "-Iinclude", "-Itests/unit", "-fsyntax-only",
        "-x", "c", str(path)]), files(".h"))


def check_built():
    """Each source under src/ and tests/unit/ belongs to the build."""
    built = compile_flags()
    return [f"{path}: named in no meson.build" for path in files(".c")
            if path.parts[0] == "src" or path.parts[:2] == ("tests", "unit")
            if path not in built]


def check_cppcheck():
    cache = CACHE / "cppcheck"
    cache.mkdir(parents=True, exist_ok=True)
    return call(["cppcheck", f"-j{JOBS}", "--quiet", "--std=c11",
                 "--enable=warning,performance,portability", "--inline-suppr",
                 "--error-exitcode=1", f"--cppcheck-build-dir={cache}",
                 # It takes a vector type for its element.
                 "--suppress=bufferAccessOutOfBounds:src/math/kernel/dense.inc",
                 # It takes an array of vectors for one vector.
                 "--suppress=ctuArrayIndex:src/math/net/winograd.inc",
                 "--suppress=ctuArrayIndex:src/math/net/winograd2.inc",
                 "--template=gcc", "-D_POSIX_C_SOURCE=200809L",
                 "-D__x86_64__", "-Isrc", "-Iinclude", "src"])


# gcc 12's analyzer reads a vector's length as the width of its elements and
# loses track of arrays of vectors; the kernels are vectors throughout.
ANALYZER_SKIPS = ("dense_", "pack_", "softmax")


only = set()  # Of the files that were named, if any.


def sources():
    """Our C files that are built, each with its flags."""
    return [item for item in compile_flags().items()
            if not only or item[0] in only]


def check_analyzer():
    """gcc's own analyzer, which follows one source file at a time."""
    return for_each(lambda item: remembering("analyzer", item[0], [
        "gcc", *item[1], "-O1", "-fanalyzer", "-Werror", "-c", "-o",
        "/dev/null", str(item[0])]),
        [item for item in sources()
         if item[0].parts[0] == "src"
         and not item[0].name.startswith(ANALYZER_SKIPS)])


def tidy_options(path):
    """cmocka's asserts leave by a jump, which clang's analyzer cannot know."""
    return ["--checks=-clang-analyzer-*"] if path.parts[0] == "tests" else []


# clang's analyzer follows paths through a function until it has seen so many
# states.  Its own limit, three times this one, takes three times as long:
# `make check-long` goes that far (LINT_DEEP=1).
TIDY_STATES = 225000 if os.environ.get("LINT_DEEP") else 75000


def check_tidy():
    depth = ["-Xclang", "-analyzer-config", "-Xclang",
             f"max-nodes={TIDY_STATES}"]
    settings = (ROOT / ".clang-tidy").read_text()
    return for_each(lambda item: remembering("tidy", item[0], [
        "clang-tidy", "--quiet", *tidy_options(item[0]), str(item[0]), "--",
        *item[1], *depth], settings),
        sources())


@functools.cache
def build():
    return call(["tools/build.sh", "release", "tests"])


def after_build(check):
    """Checks that ask meson how a file is compiled need a build that works."""
    return lambda: build() or check()


CHECKS = {
    "format": check_format,
    "layers": check_layers,
    "banned": check_banned,
    "house": check_house,
    "root": check_root,
    "headers": check_headers,
    "cppcheck": check_cppcheck,
    "built": after_build(check_built),
    "analyzer": after_build(check_analyzer),
    "tidy": after_build(check_tidy),
}


# gcc's analyzer takes two fifths as long as tidy, whose analyzer follows the same
# code.  Of 24 small mistakes (leaks, double frees, what was freed, not set or on
# a stack that is gone) it finds 11, and each of these tidy, cppcheck or a warning
# of the build finds, too; tidy finds 17.
LATER = {"analyzer"}


def main():
    only.update(Path(word) for word in sys.argv[1:] if "/" in word)
    names = [word for word in sys.argv[1:] if "/" not in word] or [
        name for name in CHECKS
        if name not in LATER or os.environ.get("LINT_DEEP")]
    for name in names:
        if name not in CHECKS:
            sys.exit(f"lint.py: no check named {name}; "
                     f"there are {' '.join(CHECKS)}")
    if said := call(["tools/deps.sh", "lint"]):
        sys.exit(said)
    print(f"1..{len(names)}", flush=True)
    failed = 0
    for number, name in enumerate(names, 1):
        said = CHECKS[name]()
        if said:
            failed += 1
            print(said if isinstance(said, str) else "\n".join(said))
        print(f"{'not ok' if said else 'ok'} {number} - {name}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
