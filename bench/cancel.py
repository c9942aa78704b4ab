#!/usr/bin/env python3
"""How long a worker computes for nothing: from CANCEL to its threads' stop.

Real processes under strace, whose clock is one for all of them: from the
coordinator's write of the first CANCEL of a round to the write with which a
worker's compute thread says that it has stopped.  A CANCEL that crosses with
the worker's answer counts too, as if it had stopped with the next one.  strace itself takes its time at every system call, so the
figures are above what a run without it has.  Code frc with a spare copy of
everything, more workers than processors: somebody is always called off."""

import os
import re
import statistics
import subprocess
import sys
import tempfile

MUSTER = os.environ.get("MUSTER", "build/muster")
LIMIT_MS = 10
CANCEL = 11  # enum msg_kind
FRAME = 4 + 1 + 8 + 8  # Frame header, kind, job, view; then step and round.
LINE = re.compile(r"^(\d+)(?:<([^>]*)>)? +([\d.]+) (.*)$")
CALL = re.compile(r'^(?:<\.\.\. )?(read|write)[( ].*"((?:\\x[0-9a-f]{2})*)"')


def plain(text):
    """What strace -xx wrote as \\x6d\\x75..."""
    return bytes.fromhex(text.replace("\\x", ""))


def calls(path):
    """(time, process, name, bytes) of each read and write that ended."""
    open_calls = {}
    with open(path) as file:
        for line in file:
            match = LINE.match(line)
            if not match:
                continue
            tid, comm, at, text = match.groups()
            if text.endswith("<unfinished ...>"):
                open_calls[tid] = text[:-len("<unfinished ...>")]
                if text.startswith("write"):
                    text = open_calls.pop(tid)  # Its bytes are there already.
                else:
                    continue
            elif "resumed>" in text and tid in open_calls:
                text = open_calls.pop(tid) + text.split("resumed>", 1)[1]
            call = CALL.match(text)
            if call:
                who = plain(comm or "").decode()
                yield float(at), who, call.group(1), plain(call.group(2))


def cancel_of(data):
    """The key's step and round, if it begins with a CANCEL."""
    if len(data) < FRAME + 8 or data[4] != CANCEL or data[:4] != b"-\0\0\0":
        return None
    return data[FRAME:FRAME + 8]


def stops(path):
    sent, waiting, seen = {}, {}, []
    for at, who, name, data in calls(path):
        key = cancel_of(data)
        if name == "write" and key and who.startswith("muster:coord"):
            sent.setdefault(key, at)
        elif name == "read" and key in sent and who.startswith("muster:w"):
            waiting[who] = sent[key]
        elif name == "write" and len(data) == 8 and who in waiting:
            seen.append((at - waiting.pop(who)) * 1e3)
    return seen


def main():
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "calls")
        subprocess.run(
            ["strace", "-f", "-Y", "-ttt", "-xx", "-s", "64", "-e",
             "trace=read,write", "-o", log, MUSTER, "train",
             "gen:gmm:120000,200", "-n", "4", "--code", "frc", "--threads",
             "1", "--optim", "agd", "--steps", "100", "--out", os.path.join(folder, "run"),
             "-q"], check=True, stdout=subprocess.DEVNULL)
        seen = sorted(stops(log))
    if not seen:
        sys.exit("no worker was called off")
    middle = statistics.median(seen)
    print(f"{len(seen)} called off: {seen[0]:.2f} ms at least, {middle:.2f} "
          f"median, {seen[len(seen) * 9 // 10]:.2f} for nine of ten, "
          f"{seen[-1]:.2f} at most; limit {LIMIT_MS} for the median")
    sys.exit(middle > LIMIT_MS)


main()
