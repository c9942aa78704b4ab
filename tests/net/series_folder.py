#!/usr/bin/env python3
"""What a series leaves in its folder and what it takes from there: the files of
its own runs alone, whatever a killed process left or somebody else put there,
and all that the output says of a training that was over."""

import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from cluster import Tap, Train, kill, run, wait_for, wait_step

# It would be the optimiser of a resumed run, too.
os.environ.pop("MUSTER_OPTIM")
ROWS = ["gen:gmm:6000,20", "--seed", 5, "--chunk-rows", 64, "--steps", 40,
        "--optim", "agd"]
SLOW = ["--delay", "exp:0.012"]


def lines(folder):
    """Of the logbook, without its head."""
    try:
        with open(os.path.join(folder, "series")) as file:
            return file.read().splitlines()[1:]
    except OSError:
        return []


def trials(folder):
    return sorted(name for name in os.listdir(folder)
                  if name.startswith("trial-"))


def interrupted(folder, *args, over=1):
    """A search that is killed in a training, after so many."""
    job = Train(*args, *SLOW, "-n", 2, "--out", folder)
    wait_for(lambda: len(lines(folder)) >= over, f"{over} trainings")
    wait_step(folder, 3)
    kill(job.pid)
    job.process.communicate()
    # The one before may still have been judged.
    return os.path.join(folder, trials(folder)[-1])


def links(tap):
    """A link is refused, and nothing behind it touched."""
    at_hand = interrupted("linked", *ROWS, "-v", 3)
    os.mkdir("precious")
    for name in ("result", "journal", "thesis"):
        with open(f"precious/{name}", "w") as file:
            file.write("mine")
    os.rename(at_hand, "aside")
    os.symlink(os.path.abspath("precious"), at_hand)
    done = run("train", "--resume=linked")
    tap.ok(done.returncode == 1 and at_hand in done.stderr and
           "remove it, then go on with --resume" in done.stderr,
           "a training's folder that is a link is refused", done)
    tap.equal(sorted(os.listdir("precious")), ["journal", "result", "thesis"],
              "nothing behind it is removed")
    os.remove(at_hand)
    os.rename("aside", at_hand)
    with open(f"{at_hand}/thesis", "w") as file:
        file.write("mine")
    done = run("train", "--resume=linked")
    tap.equal((done.returncode, os.listdir(at_hand)), (0, ["thesis"]),
              "of a real one the run's own files alone are removed")


def leftovers(tap):
    """Killed after the line was written and before the folder was removed."""
    at_hand = interrupted("left", *ROWS, "-v", 3)
    shutil.copytree(at_hand, "left-copy")
    done = run("train", "--resume=left")
    shutil.move("left-copy", at_hand)
    again = run("train", "--resume=left")
    tap.equal((done.returncode, again.returncode, trials("left")), (0, 0, []),
              "what a kill left of a training that is over is removed")


def said(output):
    """All but the times."""
    return [line for line in output.splitlines()
            if not line.startswith("steps ")]


def whole_text(tap):
    """Of folds that learnt nothing and did not converge, all is said again."""
    with open("noise.csv", "w") as file:
        file.write("a,b,y\n")
        for i in range(600):
            file.write(f"{i * 7919 % 101},{i * 104729 % 97},"
                       f"{i * 31 % 29 * 17 % 13}\n")
    with open("columns.csv", "w") as file:
        file.write("a,b,y\n")
        for i in range(3000):
            file.write(f"{i * 7919 % 101 / 1e6:.6f},{i * 104729 % 97 * 1000},"
                       f"{'pq'[i * i % 7 > 3]}\n")
    jobs = {
        "nothing": (["noise.csv", "--net", "dense4 relu dense1", "--model",
                     "linear", "--optim", "gd", "--passes", 3, "--lr", "1e-9",
                     "-v", 4],
                    "in 4 of 4 folds (figures are those of fold 1 on the "
                    "rows it was taught): the model"),
        "slow": (["columns.csv", "--chunk-rows", 64, "--steps", 30, "-v", 4,
                  "--scale", "none", "--optim", "agd"], "of very different size"),
    }
    for folder, (job, hint) in jobs.items():
        whole = run("train", *job, "-n", 2)
        interrupted(folder, *job, over=2)
        run("train", f"--resume={folder}")  # All are over now.
        done = run("train", f"--resume={folder}")
        tap.ok(hint in whole.stdout and said(done.stdout) == said(whole.stdout),
               f"{folder}: resumed, all is said that one search says",
               (done, whole))
        tap.equal(len(lines(folder)), 4, f"{folder}: each is made once")


def many_threads(tap):
    done = run("train", *ROWS, "-v", 2, "-n", 33, "--threads", 32, "--steps", 2)
    tap.ok(done.returncode == 0, "more threads than a pool may have", done)


def main():
    tap = Tap()
    links(tap)
    leftovers(tap)
    whole_text(tap)
    many_threads(tap)
    tap.done()


main()
