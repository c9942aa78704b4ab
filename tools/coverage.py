#!/usr/bin/env python3
"""Measure which lines and branches of src/ the tests reach.

    coverage.py [--files] [--only TEXT] [--more] [TIER]

Builds build/cover, runs the suites of TIER (check unless given) there, reads
the counters with gcov and prints one line per layer (--files: per file) and the
total.  --only is that of run_tests.py; --more adds to what was counted before.
Exits as the tests did.
"""

import argparse
import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "cover"


def gcov_reports(counters):
    """gcov prints one JSON object per counter file."""
    done = subprocess.run(
        ["gcov", "--json-format", "--stdout", "--branch-probabilities",
         *map(str, counters)],
        cwd=BUILD, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        check=True)
    return [json.loads(line) for line in done.stdout.splitlines() if line]


def collect():
    """{source: ({line: count}, {(line, branch): count})}, over all objects."""
    found = defaultdict(lambda: (defaultdict(int), defaultdict(int)))
    # Notes, not counters: a file that no test ran counts too.
    for report in gcov_reports(sorted(BUILD.rglob("*.gcno"))):
        folder = report["current_working_directory"]
        for entry in report["files"]:
            path = Path(os.path.normpath(Path(folder) / entry["file"]))
            if ROOT / "src" not in path.parents:
                continue
            lines, branches = found[path.relative_to(ROOT / "src")]
            for line in entry["lines"]:
                number = line["line_number"]
                lines[number] += line["count"]
                for index, branch in enumerate(line["branches"]):
                    branches[number, index] += branch["count"]
    return found


def percent(counts):
    reached = sum(1 for count in counts if count)
    return f"{100 * reached / len(counts):5.1f} %" if counts else "    - %"


def print_row(name, lines, branches):
    print(f"{name:<32} {percent(lines)} of {len(lines):6} lines   "
          f"{percent(branches)} of {len(branches):6} branches")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("tier", nargs="?", default="check")
    parser.add_argument("--files", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--more", action="store_true")
    options = parser.parse_args()

    for counters in BUILD.rglob("*.gcda"):
        if not options.more:
            counters.unlink()
    tests = subprocess.run([ROOT / "tools" / "run_tests.py", "--variant",
                            "cover", "--only", options.only, options.tier],
                           check=False)
    groups = defaultdict(lambda: ([], []))
    for path, (lines, branches) in collect().items():
        name = path.as_posix() if options.files else path.parts[0]
        for group in (groups[name], groups["total"]):
            group[0].extend(lines.values())
            group[1].extend(branches.values())
    total = groups.pop("total", ([], []))
    order = [line.split(":")[0]
             for line in (ROOT / "src" / "LAYERS").read_text().splitlines()]
    for name in sorted(groups, key=lambda name: (
            order.index(name.split("/")[0]), name)):
        print_row(name, *groups[name])
    print_row("total", *total)
    return tests.returncode


if __name__ == "__main__":
    sys.exit(main())
