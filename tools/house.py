#!/usr/bin/env python3
"""Measure how the sources stand; a line each: "measure: now (limit) ok|OVER".

    house.py [-v]

What stands for a figure that is over its limit is listed below it; -v lists
it for every figure.  Exit status 1 if one is over.  "-" is a figure without a
limit: it is there to be seen.

A figure is a shadow: it shows where to look, and a decision that is taken in
words that no pattern here knows is not seen.  The patterns look at the code
without its comments, and at strings only where that is said.
"""

import re
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SRC = ROOT / "src"
SUFFIXES = (".c", ".h", ".inc")

FILES_MAX = 40  # In one folder of src/.
LINES_MAX = 700
LONG_FILES_MAX = 8
FIELDS_MAX = {"coordinator": 64}
FIELDS_SHOWN = 35  # Structs with as many are shown.

# Who computes the sums of rows.  Only an evaluator (src/eval) calls these; the
# layers that define them do, too, and the oracle has loops of its own so that
# it checks what it does not share.
SUMS = (r"tally_add_chunk|problem_add\w*|problem_residuals|local_run|"
        r"coded_multiply|sgd_train\w*")
SUMMERS = ("math/", "model/", "optim/", "eval/", "sim/oracle.c",
           "data/rows/coded", "sim/averages.c", "sim/followed.c",
           "sim/truth.c")
# What others may know of src/eval: the table, what asks it, and what an
# evaluator is made from: its brief, a user's function.
EVAL_FACE = {"eval/evaluator.h", "eval/registry.h", "eval/briefs.h",
             "eval/user.h", "eval/objective.h"}

# Sentences that refuse a choice because of another one.
REFUSAL = re.compile(r"\b(?:do(?:es)? not go|goes(?: only)?) with\b")
# The rules, and the codes, which say which of their own axes fit together.
DECIDERS = "code/"

TRAINERS = ("core/run/trainer", "optim/", "sim/oracle.c")
# Only the owner of a struct writes its fields: {struct: its files}.
OWNERS = {"ledger": "core/run/ledger", "trainer": "core/run/trainer"}

# What one place is enough for: {measure: (pattern, text it is looked for in)}.
ONCE = {
    "places that write hexadecimal": (r'\[\] = "0123456789abcdef"', "strings"),
    "places that find the user's cache (XDG)": (r'"XDG_CACHE_HOME"',
                                                "strings"),
    "places that start a thread": (r"\bpthread_create\(", "code"),
    "places that rename a file": (r"(?<![>.\w])rename(?:at)?\(", "code"),
}
ONCE_MAX = {"places that rename a file": 2}  # By path, and in an open folder.

# Files that are spoken of: by their path, from the root, src/ or tests/unit/.
NAMED = re.compile(r"(?<![\w/.-])((?:src|include|tests|tools|docs|bench|"
                   r"examples|base|os|math|data|model|optim|code|plan|core|eval|"
                   r"wire|sim|node|learn|api|cli)/[\w/-]+\.(?:c|h|inc|py|sh|md))\b")
NO_FILE = re.compile(r"(?:_|/)x\.\w+$|/name\.sh$")  # It stands for any.

COMMENT = r"/\*.*?\*/|//[^\n]*"
STRING = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
TOKEN = re.compile(f"({COMMENT})|({STRING})", re.DOTALL)


def blank(text):
    return "\n" * text.count("\n")


class Source:
    """A file of src/: as it is, without comments, and without strings too."""

    def __init__(self, path):
        self.name = path.relative_to(SRC).as_posix()
        self.folder = path.parent.relative_to(SRC).as_posix()
        self.text = path.read_text()
        self.strings = TOKEN.sub(
            lambda m: blank(m[1]) if m[1] else m[0], self.text)
        self.code = TOKEN.sub(
            lambda m: blank(m[1]) if m[1] else '""', self.text)
        self.lines = self.text.count("\n")

    def under(self, places):
        """Is it in a folder ("a/"), or does its name begin like that?"""
        return self.name.startswith(places)

    def found(self, pattern, where="code"):
        """Each place where the pattern is found, as file:line: what."""
        text = getattr(self, where)
        return [f"src/{self.name}:{text.count(chr(10), 0, m.start()) + 1}: "
                f"{' '.join(m[0].split())}"
                for m in re.finditer(pattern, text)]


def structs(code):
    """(name, body) of each struct that is defined at the outer level."""
    for match in re.finditer(r"^struct (\w+)\s*\{", code, re.MULTILINE):
        depth, at = 1, match.end()
        while depth and at < len(code):
            depth += {"{": 1, "}": -1}.get(code[at], 0)
            at += 1
        yield match[1], code[match.end():at - 1]


def fields(body):
    """Fields of a struct's body; those of a struct defined in it count."""
    count, depth, begin = 0, 0, 0
    for at, char in enumerate(body):
        if char in "{([":
            depth += 1
        elif char in "})]":
            depth -= 1
        elif char == ";" and depth == 0:
            count += declared(body[begin:at])
            begin = at + 1
    return count


def declared(declaration):
    """Fields in one declaration, which may list several."""
    if not declaration.strip() or "static_assert" in declaration:
        return 0
    inner = re.match(r"\s*(?:struct|union)\s*\w*\s*\{(.*)\}[^{}]*$",
                     declaration, re.DOTALL)
    if inner:
        return fields(inner[1])
    depth, count = 0, 1
    for char in declaration:
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1,
                  "}": -1}.get(char, 0)
        count += char == "," and depth == 0
    return count


def names(body):
    """Names of the fields of a struct's body."""
    flat = re.sub(r"\{[^{}]*\}", "", body)
    return [name for declaration in flat.split(";")
            for name in re.findall(r"(\w+)\s*(?:\[[^\]]*\]\s*)*(?=,|$)",
                                   declaration.strip())]


def opens_with_comment(source):
    """After a #define _GNU_SOURCE, which the C library wants before all."""
    rest = re.sub(r"\A(?:#define _\w+[^\n]*\n|\n)*", "", source.text)
    return rest.startswith(("/*", "//"))


def writers(sources, struct, owner):
    """Places outside the owner's files that assign a field of the struct."""
    found = []
    own = "|".join(name for source in sources if source.name == f"{owner}.h"
                   for defined, body in structs(source.code)
                   if defined == struct for name in names(body))
    for source in sources:
        if source.under(owner):
            continue
        called = {struct} | set(re.findall(
            rf"(?<!const )struct {struct} \*?(?:const )?(\w+)\s*[,;=)]",
            source.code))
        target = (rf"\b(?:{'|'.join(sorted(called))})(?:\.|->)(?:{own})\b"
                  r"(?:\[[^\]]*\]|(?:\.|->)\w+)*")
        found += source.found(
            rf"{target}\s*(?:[-+*/|&^]|<<|>>)?=(?!=)|{target}(?:\+\+|--)|"
            rf"(?:\+\+|--)\(?[\w.>-]*{target}")
    return found


def named_and_gone(sources):
    """Files that a comment or a page speaks of, and that are not there."""
    texts = [(f"src/{source.name}", source.text) for source in sources]
    texts += [(path.relative_to(ROOT).as_posix(), path.read_text())
              for path in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]]
    for name, text in texts:
        for match in NAMED.finditer(text):
            if not NO_FILE.search(match[1]) and not any(
                    (folder / match[1]).exists()
                    for folder in (ROOT, SRC, ROOT / "tests" / "unit")):
                yield f"{name}:{text.count(chr(10), 0, match.start()) + 1}: " \
                    f"{match[1]}"


def measures(sources):
    """(measure, now, limit or None, what stands for it) of each figure."""
    folders = Counter(source.folder for source in sources)
    folder, most = folders.most_common(1)[0]
    yield (f"most files in a folder ({folder})", most, FILES_MAX,
           [f"src/{name}: {count}" for name, count in folders.most_common()
            if count > FILES_MAX] or
           [f"src/{name}: {count}" for name, count in folders.most_common()])

    sizes = Counter()
    for source in sources:
        for name, body in structs(source.code):
            sizes[name, source.name] = fields(body)
    for (name, where), count in sizes.most_common():
        limit = FIELDS_MAX.get(name)
        if limit or count >= FIELDS_SHOWN:
            yield f"fields of struct {name} ({where})", count, limit, []

    long = [f"src/{source.name}: {source.lines}"
            for source in sorted(sources, key=lambda s: -s.lines)
            if source.lines > LINES_MAX]
    yield f"files over {LINES_MAX} lines", len(long), LONG_FILES_MAX, long

    bare = [f"src/{source.name}" for source in sources
            if source.name.endswith(".c") and not opens_with_comment(source)]
    yield ".c without a comment at its head", len(bare), 0, bare

    gone = list(named_and_gone(sources))
    yield "files spoken of that are not there", len(gone), 0, gone

    past = []
    for source in sources:
        if not source.under(SUMMERS):
            past += source.found(rf"\b(?:{SUMS})\(")
        if not source.under("eval/"):
            past += [f"src/{source.name}: includes {header}" for header in
                     re.findall(r'#include "(eval/[\w/]+\.h)"',
                                source.strings)
                     if header not in EVAL_FACE]
    yield "computing past the table of evaluators", len(past), 0, past

    refusing = [source for source in sources if REFUSAL.search(source.strings)]
    places = [line for source in refusing if not source.under(DECIDERS)
              for line in source.found(r'"[^"\n]*' + REFUSAL.pattern +
                                       r'[^"\n]*"', "strings")]
    deciders = {line.split(":")[0] for line in places}
    yield ("places that decide what goes with what",
           1 + len(deciders), 1, [f"src/{DECIDERS}", *places])

    loops = [line for source in sources if not source.under(TRAINERS)
             for line in source.found(r"\boptim_feed\(")]
    yield "training loops but the trainer's and the oracle's", len(loops), 0, \
        loops

    for struct, owner in OWNERS.items():
        there = any(source.name == f"{owner}.h" for source in sources)
        found = writers(sources, struct, owner) if there else \
            [f"src/{owner}.h is not there"]
        yield f"writers of struct {struct} but its owner", len(found), 0, found

    for measure, (pattern, where) in ONCE.items():
        found = [line for source in sources
                 for line in source.found(pattern, where)]
        yield measure, len(found), ONCE_MAX.get(measure, 1), found


def main():
    verbose = sys.argv[1:] == ["-v"]
    if sys.argv[1:] and not verbose:
        sys.exit(__doc__)
    sources = [Source(path) for path in sorted(SRC.rglob("*"))
               if path.suffix in SUFFIXES]
    status = 0
    for measure, now, limit, what in measures(sources):
        over = limit is not None and now > limit
        status |= over
        print(f"{measure}: {now} ({'-' if limit is None else limit}) "
              f"{'OVER' if over else 'ok'}")
        if over or verbose:
            for line in what:
                print(f"    {line}")
    return status


if __name__ == "__main__":
    sys.exit(main())
