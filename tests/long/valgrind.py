#!/usr/bin/env python3
"""Every unit test, and a training run, under valgrind.

No invalid access, no use of what was never written, no definite leak.
"""
import glob
import os
import shutil
import subprocess

FOUND = 99
VALGRIND = ["valgrind", "-q", f"--error-exitcode={FOUND}", "--leak-check=full",
            "--errors-for-leak-kinds=definite", "--child-silent-after-fork=yes"]

# Valgrind computes 80-bit numbers with 64 and knows neither rounding modes nor
# flush-to-zero; what these assert is about just that.
OTHER_ARITHMETIC = ("math-test_golden", "math-test_kernel", "math-test_tally")


def programs():
    build = os.environ["BUILD"]
    for path in sorted(glob.glob(f"{build}/tests/unit/*-test_*")):
        if os.path.isfile(path) and os.access(path, os.X_OK):
            yield os.path.basename(path), [path]
    train = [os.environ["MUSTER"], "train", "gen:gmm:400,8", "--steps", "5"]
    yield "train", train
    yield "train with workers", train + ["-n", "2"]


def main():
    if shutil.which("valgrind") is None:
        print("1..0 # SKIP valgrind is not installed")
        return
    jobs = list(programs())
    print(f"1..{len(jobs)}", flush=True)
    for number, (name, command) in enumerate(jobs, 1):
        if name in OTHER_ARITHMETIC:
            print(f"ok {number} - {name} # SKIP asserts arithmetic that "
                  "valgrind does not have")
            continue
        run = subprocess.run(VALGRIND + command, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, check=False)
        good = run.returncode == 0
        print(f"{'ok' if good else 'not ok'} {number} - {name}", flush=True)
        if not good:
            print("\n".join("# " + line
                            for line in run.stdout.splitlines()[-30:]))


if __name__ == "__main__":
    main()
