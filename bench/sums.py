#!/usr/bin/env python3
"""What an exact sum costs against a plain loop that rounds: the addition alone, in
one thread (build/release/bench/sums).  Whole calls, beside MPI's and gloo's, are
bench/allreduce.py."""

import subprocess
from pathlib import Path

BUILD = Path(__file__).resolve().parent.parent / "build/release"

subprocess.run([BUILD / "bench/sums"], check=True)
