"""Decoding a step of code cb against one worker's share (handbook 1.3).

    bench/codes.py [WORKERS STRAGGLERS COLUMNS ROWS_A_PART]

1,000 workers, 10 stragglers, 100,000 columns unless said otherwise; the share
must be below 1 %.
"""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "..", "build", "release", "bench", "codes")


def main():
    text = subprocess.run([PROGRAM, *sys.argv[1:]], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    print(text, end="")
    share = float(next(line for line in text.splitlines()
                       if line.startswith("decode  ")).split()[-1])
    print("below 1 %" if share < 0.01 else "NOT below 1 %")
    return share >= 0.01


sys.exit(main())
