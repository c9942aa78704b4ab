#!/usr/bin/env python3
"""--valid FILE in a run with workers: judging takes as long as it takes, and
nobody waits for it.  The process that judges is stopped, so it takes for
ever."""

import os
import signal
import sys

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/net/lib"))
from cluster import SMALL, Tap, Train, kill, wait_for, wait_step

tap = Tap()
# Large enough to be caught at it.
with open("valid.svm", "w", encoding="ascii") as file:
    for i in range(100000):
        file.write(f"{'+1' if i % 2 else '-1'} 1:{i % 7} 2:{i % 3}\n")

train = Train(SMALL, "-n", "2", "--steps", "100000000", "--optim", "gd",
              "--valid", "valid.svm", "--out", "run")


def judging():
    return next((pid for name, pid in train.children() if name == "valid"),
                None)


def caught():
    pid = judging()
    return pid if pid and kill(pid, signal.SIGSTOP) else None


judge = wait_for(caught, "somebody who judges")
old = train.wait_child("coordinator")
kill(old)
new = wait_for(lambda: next((pid for name, pid in train.children()
                             if name == "coordinator" and pid != old), None),
               "the next coordinator")
tap.ok(new, "a coordinator that dies while the model is judged is back")
step = wait_step("run", 1)["step"]
tap.ok(wait_step("run", step + 20), "... and goes on")
kill(train.pid, signal.SIGTERM)
result = train.finish()
tap.equal(result["exit"], 75, "SIGTERM is heard, too")
tap.ok(not os.path.exists(f"/proc/{judge}"), "nobody is left")
tap.done()
