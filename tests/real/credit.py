#!/usr/bin/env python3
"""The seed's job in one command, where its data is at hand (../shared/data
beside the repository): the search for an SVM on machines that die and join.
`bench/credit.py` is the job, and prints its figures."""

import os
import sys

sys.path.insert(0, os.path.join(os.environ["ROOT"], "bench"))
import credit  # noqa: E402
from cluster import Tap  # noqa: E402


def main():
    tap = Tap()
    if credit.at_hand():
        credit.prepare()
        for what, good, seen in credit.checks(credit.everything()):
            tap.ok(good, what, seen)
    else:
        tap.skip("credit default, an SVM chosen and trained by machines that "
                 "die and join", "no ../shared/data/credit_default")
    tap.done()


main()
