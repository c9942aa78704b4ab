#!/usr/bin/env python3
"""A run that waits for workers says so at once, and --max-time counts."""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/net/lib"))
from cluster import (MUSTER, SMALL, Tap, place_of, happens, perfect_hash,
                     result_of, run, start)

del os.environ["MUSTER_OPTIM"]  # lbfgs, where nobody has all rows.

tap = Tap()


def begin(out, *args):
    err = open(f"{out}.err", "w", encoding="utf-8")
    process = subprocess.Popen([MUSTER, "train", SMALL, "--format", "json",
                                "--out", out, *args], text=True, stderr=err,
                               stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE)
    return process, lambda text: happens(
        lambda: text in open(f"{out}.err", encoding="utf-8").read())


train, says = begin("two", "--listen", "127.0.0.1:0", "--workers", "2",
                    "--steps", "60")
tap.ok(says("2 workers awaited"), "workers that are not there are awaited")
tap.ok(says("waiting: 0 of 2 workers are here"), "nobody there: it says so")
first = start("join", place_of("two"), "--name", "ann", "--chunk-cache", "none")
tap.ok(says("waiting: 1 of 2 workers are here (ann)"), "... and who came")
second = start("join", place_of("two"), "--name", "bob", "--chunk-cache", "none")
out, _ = train.communicate(timeout=60)
tap.equal(result_of(out).get("hash"), perfect_hash(), "... then it trains")
for joiner in (first, second):
    joiner.communicate(timeout=60)

train, says = begin("alone", "--listen", "127.0.0.1:0", "--workers", "2",
                    "--max-time", "1")
out, _ = train.communicate(timeout=60)
tap.ok(train.returncode == 75, "--max-time counts while it waits", out)
code, out, err = run("train", "--resume=alone", "--max-time", "1")
tap.ok(code == 75 and "waiting: 0 of 2 workers are here; it begins with as many"
       in err, "a resumed run says whom it waits for, and for how long", err)

code, out, err = run("train", "--owners", "2", "--listen", "127.0.0.1:0",
                     "--max-time", "1", "--out", "private")
tap.ok(code == 1 and "0 of 2 private files" in err,
       "--max-time counts while owners are awaited", f"{code} {err}")
tap.done()
