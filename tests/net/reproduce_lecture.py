#!/usr/bin/env python3
"""The lecture's experiments without --virtual: what they have of real processes
beside the simulator's figures."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from reproduced import not_faster, page, table, tap  # noqa: E402


def slept():
    """The same times, slept by processes and in the simulator."""
    for name, words, rows in (("stragglers", "Real processes that sleep", 6),
                              ("matmul", "Real processes (muster product)", 2)):
        found = table(page(name), words)
        tap.equal(len(found), rows, f"{name}: real rows")
        not_faster(found, name)


def averaging():
    """Local SGD does not depend on who is late."""
    found = table(page("averaging"), "The same with real processes")
    tap.ok(len(found) == 4 and all(row["loss of the model, real"] ==
                                   row["virtual"] for row in found),
           "averaging: real runs end where simulated ones do", found)
    tap.ok(float(found[0]["real s"]) >= .99 * 64 * .05,
           "averaging: the delays are real", found)


def main():
    slept()
    averaging()
    return tap.done()


sys.exit(main())
