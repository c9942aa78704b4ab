"""A run's journal read without Muster: the chain and the rules JOUR-1 to -3 of
src/core/run/journal.h, and what an exact run must have besides."""

import hashlib
import struct
from pathlib import Path

RECORD, BODY = 256, 224
JOB, VIEW, STEP, ROLLBACK, SIZE = 1, 2, 3, 4, 8
HEAD = struct.Struct("<IIQQIIIIII")
WEIGHTS_AT = HEAD.size + 32


def records(folder):
    """The valid prefix: (kind, job, view, step, chunks, exactness, weights)."""
    data = (Path(folder) / "journal").read_bytes()
    chain = bytes(32)
    for at in range(0, len(data) - RECORD + 1, RECORD):
        body = data[at:at + BODY]
        chain = hashlib.sha256(chain + body).digest()
        if chain != data[at + BODY:at + RECORD]:
            return
        _, kind, job, view, step, _, _, _, chunks, exact = HEAD.unpack(
            body[:HEAD.size])
        yield (kind, job, view, step, chunks, exact,
               body[WEIGHTS_AT:WEIGHTS_AT + 32].hex())


def last_step(folder):
    """Updates in the journal so far; cheap, for waiting."""
    path = Path(folder) / "journal"
    if not path.exists():
        return 0
    data = path.read_bytes()
    for at in range(len(data) // RECORD * RECORD - RECORD, -1, -RECORD):
        head = HEAD.unpack(data[at:at + HEAD.size])
        if head[1] == STEP:
            return head[4]
    return 0


def wrong_with(folder, steps, weights):
    """None, or what breaks the rules in a bitwise run of so many steps."""
    at_step, at_view, jobs, covered, last = 0, 0, set(), set(), None
    for number, (kind, job, view, step, chunks, exact, hashed) in enumerate(
            records(folder)):
        jobs.add(job)
        if (kind == JOB) != (number == 0) or len(jobs) > 1:
            return f"record {number}: JOB once, at the beginning"
        if kind == VIEW and view <= at_view:
            return f"record {number}: view {view} after {at_view}"
        if kind == ROLLBACK:
            return f"record {number}: an exact run went back"
        if kind == VIEW:
            at_view = view
        if kind != STEP:
            continue
        if view != at_view or step != at_step + 1:
            return (f"record {number}: step {step} of view {view} after step "
                    f"{at_step} of view {at_view}")
        if exact != 0:
            return f"step {step} is of class {exact}"
        at_step, last = step, hashed
        covered.add(chunks)
    if at_step != steps:
        return f"{at_step} steps in the journal, {steps} in the result"
    if len(covered) != 1:
        return f"steps over {covered} chunks"
    return None if last == weights else f"journal {last}, result {weights}"
