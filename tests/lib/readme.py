#!/usr/bin/env python3
"""Commands that README and docs show: all have flags that exist, and those of
the README's first block do what they say, on small data; trainings that are
shown with a hash end on it, the first screen is printed line by line, the
Python example gives what it shows, and the list of codes has all of them."""

import difflib
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from shown import (LIMIT_S, MUSTER, ROOT, Tap, hashes, matrix, rows,  # noqa: E402
                   run, together)

# What a page leaves to the reader.
BLANKS = {"HOST:7731": "127.0.0.1:7731", "...": "", "FILE.html": "a.html"}
tap = Tap()


def words_of(line):
    """Without its comment, which # or three spaces begin."""
    words = shlex.split(re.split(r"\s#|\s{3,}", line)[0])
    return [w for w in (BLANKS.get(w, w) for w in words) if w]


def commands(path):
    text = path.read_text(encoding="utf-8").replace("\\\n", " ")
    return [words_of(line.strip()) for line in text.splitlines()
            if line.startswith("    muster ")]


def first_block():
    small = {"256": "12", "16": "4", "gen:digits": "gen:digits:500"}
    waiting = None
    for number, words in enumerate(commands(ROOT / "README.md")):
        if "--listen" in words:
            waiting = words
        elif words[1] == "join":
            ends = together(waiting, words, number)
            tap.ok(all(code == 0 for code, _ in ends),
                   f"README: {' '.join(waiting)} and its joiners", ends)
        else:
            done = run([small.get(w, w) for w in words])
            tap.ok(done.returncode == 0, f"README: {' '.join(words)}",
                   done.stdout + done.stderr)


def python():
    """What is shown of Python, by doctest."""
    program = "/usr/bin/python3"
    name = "README: the Python example"
    if subprocess.run([program, "-c", "import numpy"], check=False,
                      capture_output=True).returncode != 0:
        tap.skip(name, "no numpy: tools/deps.sh test")
        return
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    block = re.search(r"(    >>> .*\n(    .*\n)+)", text)
    Path("shown.txt").write_text(block[0], encoding="utf-8")
    done = subprocess.run([program, "-m", "doctest", "shown.txt"], check=False,
                          capture_output=True, text=True, timeout=LIMIT_S,
                          env={**os.environ, "PYTHONPATH": f"{ROOT}/python"})
    tap.ok(done.returncode == 0, name, done.stdout + done.stderr)


SCREEN = """
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
frame = load_breast_cancer(as_frame=True).frame
parts = train_test_split(frame, test_size=.3, random_state=0)
for part, name in zip(parts, ("train.csv", "test.csv")):
    part.to_csv(name, index=False)
"""


def plain(text):
    """Without what no two runs have in common: how long a step took."""
    return re.sub(r"[0-9.]+ s:", "T s:", text)


def first_screen():
    """The README's first training prints what is shown, line by line."""
    program = "/usr/bin/python3"
    name = "README: the first screen"
    if subprocess.run([program, "-c", SCREEN], check=False,
                      capture_output=True).returncode != 0:
        tap.skip(name, "no scikit-learn or pandas: tools/deps.sh test")
        return
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    block = re.search(r"\n((    .*\n)*    \$ muster train train\.csv.*\n"
                      r"(    .*\n)*)", text)[1]
    shown = [line[4:] for line in block.splitlines()]
    printed = []
    for line in (line for line in shown if line.startswith("$ ")):
        done = subprocess.run(shlex.split(line[2:]), check=False, text=True,
                              executable=MUSTER, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=LIMIT_S)
        printed += [line, *done.stdout.splitlines()]
    tap.ok([plain(line) for line in shown] == [plain(line) for line in printed],
           name, "\n".join(difflib.unified_diff(shown, printed, "shown",
                                               "printed", lineterm="")))


def codes():
    """Each code that there is has a word in the README's list of them."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    listed = re.search(r"\nCodes decide who holds(.*?)\n\n", text, re.DOTALL)[1]
    there = [line.split()[0] for line in
             run(["muster", "codes"]).stdout.split("\n\n")[0].splitlines()]
    lost = [code for code in there
            if not re.search(rf"`{code}(:[^`]*)?`", listed)]
    tap.ok(len(there) > 10 and not lost, "README: all codes are listed",
           f"missing: {lost}")


def table():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for line in re.findall(r"`(muster simulate --compare [^`]*)`", text):
        done = run(shlex.split(line.replace("...", "exp:.1")))
        tap.ok(done.returncode == 0, f"README: {line}", done.stderr)


def flags():
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        bad = []
        for words in commands(page):
            done = run(words + ["--print-config"])
            if done.returncode != 0:
                bad.append(f"{' '.join(words)}: {done.stderr}")
        tap.ok(not bad, f"{page.name}: flags that exist", "".join(bad))


for at, file in enumerate(["yours.svm", "yours.csv", "test.svm", "mine0.svm",
                           "mine1.svm", "mine2.svm"]):
    rows(file, at)
for file in ("A.npy", "B.npy"):
    matrix(file, 12, 12)
flags()
first_block()
hashes(tap, ROOT / "README.md", 2)
first_screen()
codes()
python()
table()
sys.exit(tap.done())
