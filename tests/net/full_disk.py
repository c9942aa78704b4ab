#!/usr/bin/env python3
"""A disk that fills up while a cluster trains (P5).

The run's folder is a small file system of its own, in a mount namespace.  It
is filled to the last byte once the run is under way: training goes on, says so,
and ends with its hash, which is handed over in memory.  A run that is killed
there goes on from the last good checkpoint once there is room again.
"""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))
from cluster import (Tap, child_named, finish, kill,  # noqa: E402
                     perfect_hash, result_of, run, start, train_args,
                     wait_for, wait_step)

STEPS = 150
SIZE = "1m"
DISK = Path("disk")


def fill():
    """To the last byte; what was freed meanwhile, too."""
    with open(DISK / "fill", "ab", 0) as file:
        try:
            while True:
                file.write(b"\0" * 512)
        except OSError:
            pass


def begin(out, *more):
    process = start(*train_args(out, "-n", "2", "--delay", "exp:0.01", *more,
                                steps=STEPS))
    wait_step(out, 12)
    fill()
    return process


def goes_on(tap, wanted):
    process = begin("disk/run")
    code, text, err = finish(process)
    result = result_of(text)
    tap.ok(code == 0 and result.get("hash") == wanted, "the same hash",
           f"{code} {text} {err}")
    tap.ok(result.get("disk_alarms", 0) > 0, "the result says so", text)
    tap.ok("disk trouble; training goes on" in err, "and so does the log", err)


def stopped(tap, wanted):
    """The last words say which step is saved, and that one is."""
    process = begin("disk/stopped")
    wait_step("disk/stopped", 40)
    process.send_signal(signal.SIGTERM)
    code, text, err = finish(process)
    words = re.search(r"stopped at step (\d+); the disk failed, and the state "
                      r"is saved as of step (\d+) only", err)
    tap.ok(code == 75 and words and int(words[2]) < int(words[1]) ==
           result_of(text)["steps"], "stopped there: what is saved is said",
           f"{code} {text} {err}")
    (DISK / "fill").unlink()
    code, text, err = run(*train_args("disk/stopped", "-n", "2", "--resume",
                                      "disk/stopped", steps=STEPS))
    tap.ok(code == 0 and result_of(text).get("hash") == wanted,
           "and it goes on from that", f"{text} {err}")


def resumed(tap, wanted):
    """Killed as the disk is full; --resume when it is not."""
    process = begin("disk/again")
    wait_step("disk/again", 40)
    kill(process.pid, signal.SIGKILL)
    process.communicate()
    full = run(*train_args("disk/again", "-n", "2", "--resume", "disk/again",
                           steps=STEPS))
    tap.ok(full.returncode == 1 and "No space left" in full.stdout,
           "a full disk is named", full)
    (DISK / "fill").unlink()
    code, text, err = run(*train_args("disk/again", "-n", "2", "--resume",
                                      "disk/again", steps=STEPS))
    tap.ok(code == 0 and result_of(text).get("hash") == wanted,
           "with room again it goes on to the same hash", f"{text} {err}")


def killed(tap, wanted):
    """The coordinator's next life cannot write its journal: said, not hung."""
    process = begin("disk/killed")
    kill(child_named(process.pid, "coordinator"))
    code, text, err = finish(process)
    tap.ok(code == 1 and "--resume" in text + err,
           "a coordinator killed there: what to do is said", f"{text} {err}")
    wait_for(lambda: (DISK / "killed" / "journal").exists(), "the journal")
    (DISK / "fill").unlink()
    code, text, err = run(*train_args("disk/killed", "-n", "2", "--resume",
                                      "disk/killed", steps=STEPS))
    tap.ok(code == 0 and result_of(text).get("hash") == wanted,
           "and then it goes on to the same hash", f"{text} {err}")


def unsaved(tap):
    """The model cannot be saved, and the folder has none: it is put aside."""
    aside = Path("aside")
    aside.mkdir()
    os.environ["TMPDIR"] = str(aside)
    whole = run(*train_args("whole", "-n", "2", "--save", "whole.model",
                            steps=STEPS))
    process = begin("disk/unsaved", "--save", "model")
    Path("model").mkdir()
    code, text, err = finish(process)
    said = re.search(r"model: is a directory; name a file in it; the model "
                     r"is in (aside/muster-model-\w+\.txt) instead",
                     text + err)
    tap.ok(code == 1 and said, "what is not saved is put aside, and said",
           f"{whole} {code} {text} {err}")
    path = Path(said[1])
    tap.ok(path.read_bytes() == Path("whole.model").read_bytes() and
           path.stat().st_mode & 0o777 == 0o600,
           "the whole model, for its owner only", path.stat())


def main():
    tap = Tap()
    if "inside" not in sys.argv:
        DISK.mkdir()
        done = subprocess.run(
            ["unshare", "-m", "sh", "-c",
             f"mount -t tmpfs -o size={SIZE} none disk && "
             'exec "$0" "$1" inside', sys.executable, __file__])
        if done.returncode in (0, 3):
            sys.exit(done.returncode != 0)
        tap.skip("a disk that fills up",
                 "mount namespaces are not permitted here")
        tap.done()
    wanted = perfect_hash(STEPS)
    try:
        goes_on(tap, wanted)
        (DISK / "fill").unlink()
        stopped(tap, wanted)
        resumed(tap, wanted)
        killed(tap, wanted)
        unsaved(tap)
    except AssertionError as error:
        tap.ok(False, "a disk that fills up", error)
    print(f"1..{tap.count}")
    sys.exit(3 if tap.failed else 0)


main()
