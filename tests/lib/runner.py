#!/usr/bin/env python3
"""The test runner on small repositories of its own: who runs a second time and
when, what runs beside the others, what is built, what it cost.  Their programs leave marks in
the root, one line for each time that they run."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from shown import LIMIT_S, ROOT, Tap  # noqa: E402

# Fails, in two points, until its name has been marked often enough.
FAILS = """set -u
echo run >>"$ROOT/{name}.marks"
echo 1..2
echo ok 1 - steady
[ $(wc -l <"$ROOT/{name}.marks") -gt {times} ] && echo ok 2 - late || {{
    echo not ok 2 - late
    echo '# came too late'
}}
"""
# Ends only when the suite after the failing ones has run.
WAITS = """import os, pathlib, time
root = pathlib.Path(os.environ["ROOT"])
for _ in range(3000):
    if (root / "last.marks").exists():
        break
    time.sleep(.01)
print("1..1")
print("ok 1 - waited" if (root / "last.marks").exists() else "not ok 1")
(root / "filled.marks").write_text(str(os.sched_getscheduler(0)))
"""
ALONE = """echo run >>"$ROOT/alone.marks"
echo 1..1
[ -e "$ROOT/filled.marks" ] && echo ok 1 || echo not ok 1
"""


def repository(name, suites, **programs):
    root = Path(name).resolve()
    (root / "tools").mkdir(parents=True)
    (root / "tests").mkdir()
    shutil.copy(ROOT / "tools" / "run_tests.py", root / "tools")
    build = root / "tools" / "build.sh"
    build.write_text(f'#!/bin/sh\necho "$@" >>{root}/built.marks\n'
                     '[ "$1" != tsan ]\n')
    build.chmod(0o755)
    (root / "tests" / "suites.txt").write_text(suites)
    for program, text in programs.items():
        (root / program).write_text(text)
    return root


def run_tests(root, *words):
    done = subprocess.run(
        [sys.executable, root / "tools" / "run_tests.py", *words, "test"],
        text=True, timeout=LIMIT_S, capture_output=True, check=False)
    return done.returncode, done.stdout + done.stderr


def marks(root, name):
    path = root / f"{name}.marks"
    return path.read_text().splitlines() if path.exists() else []


def second_chances(tap):
    root = repository("chances", """
beside test -       1 60 fill  tap python3 $ROOT/waits
shaky  test -       1 60 again tap sh $ROOT/shaky
alone  test -       1 60 again tap sh $ROOT/alone
last   test -       1 60 once  tap sh $ROOT/last
""", shaky=FAILS.format(name="shaky", times=1), waits=WAITS, alone=ALONE,
                      last=FAILS.format(name="last", times=0))
    status, said = run_tests(root)
    tap.ok(status == 0 and said.endswith("\n6 passed, 0 failed, 0 skipped\n"),
           "what passes when it runs again has passed", said)
    tap.ok("\nUNSTEADY shaky : late\n    # came too late\n" in said
           and "    | not ok 2 - late" in said,
           "... and is reported, with its first output", said)
    tap.ok(marks(root, "shaky") == ["run"] * 2
           and marks(root, "alone") == ["run"] * 2,
           "... it runs again when all else has ended", said)
    tap.ok(marks(root, "filled") == [str(os.SCHED_IDLE)],
           "what fills gaps runs beside the others, at the lowest priority",
           said)


def failures(tap):
    root = repository("failures", """
bad    test - 1 60 again tap sh $ROOT/bad
pure   test - 1 60 once  tap sh $ROOT/pure
beside test - 1 60 fill  tap sh $ROOT/beside
""", **{name: FAILS.format(name=name, times=times)
        for name, times in [("bad", 2), ("pure", 1), ("beside", 1)]})
    status, said = run_tests(root)
    tap.ok(status == 1 and said.endswith("\n3 passed, 3 failed, 0 skipped\n")
           and "\nFAILED bad : late" in said and "UNSTEADY" not in said,
           "what fails twice has failed", said)
    tap.ok([len(marks(root, name)) for name in ("bad", "pure", "beside")]
           == [2, 1, 1], "... and nothing else runs twice", said)

    many = [f"bad{number}" for number in range(6)]
    root = repository("many", "".join(
        f"{name} test - 1 60 again tap sh $ROOT/{name}\n" for name in many),
        **{name: FAILS.format(name=name, times=1) for name in many})
    status, said = run_tests(root)
    tap.ok(status == 1 and said.endswith("\n6 passed, 6 failed, 0 skipped\n")
           and all(len(marks(root, name)) == 1 for name in many),
           "many that fail do not run again", said)


def builds(tap):
    root = repository("builds", """
all   test release 1 60 once tap sh $ROOT/fine
some  test asan    1 60 fill tap env WITH=$BUILD/one sh $ROOT/fine
more  test asan    1 60 fill tap env WITH=$BUILD/two sh $ROOT/fine
never test tsan    1 60 once tap sh $ROOT/fine
""", fine="echo 1..1; echo ok 1\n")
    status, said = run_tests(root)
    tap.ok(marks(root, "built") == ["release tests", "asan tests one two",
                                    "tsan tests"],
           "of a variant that is built which its suites name", said)
    tap.ok(status == 1 and "\nFAILED build tsan\n3 passed, 1 failed" in said,
           "what cannot be built has failed", said)


# A child of it takes the processor, and not the clock, for so long.
BURNS = """import os, subprocess, sys
if len(sys.argv) == 1:
    subprocess.run([sys.executable, __file__, "child"], check=True)
    print("1..1")
    print("ok 1")
while len(sys.argv) > 1 and os.times().user < .5:
    pass
"""


def costs(tap):
    small = [f"small{number}" for number in range(10)]
    root = repository("costs", "".join(
        f"{name} test - 1 60 once tap sh $ROOT/fine\n" for name in small) +
        "burns test - 1 60 once tap python3 $ROOT/burns\n",
        fine="echo 1..1; echo ok 1\n", burns=BURNS)
    status, said = run_tests(root)
    took = re.search(r"^burns +\d+\.\d\d s +(\d+\.\d\d) s  1 passed$", said,
                     re.MULTILINE)
    tap.ok(status == 0 and took and float(took[1]) >= .5,
           "a program's processor time is told, with its children's", said)
    rows = re.findall(r"^(.*?) +\d+ s +\d+ s$", said, re.MULTILINE)
    tap.ok(len(rows) == 12 and rows[0] == "burns"
           and rows[10:] == ["1 others", "in all"],
           "... and the ten most costly come again at the end", said)
    _, said = run_tests(root, "--only", "small1")
    tap.ok("costly" not in said, "... unless there are few", said)


def main():
    tap = Tap()
    second_chances(tap)
    failures(tap)
    builds(tap)
    costs(tap)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
