#!/usr/bin/env python3
"""A ring of owners: every peer has rows of its own, which never leave it.  The
hash is the star's with the same owners, whoever is killed and comes back; who
waits says for whom; and no row is in anything that a peer sends."""

import hashlib
import os
import random
import re
import struct
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from cluster import (MUSTER, Tap, address_of, finish, place_of,  # noqa: E402
                     result_of, run, start, wait_for)
from eye import Eye  # noqa: E402

del os.environ["MUSTER_OPTIM"]  # lbfgs, unless said otherwise.

KEY = ["--token-file", "cluster.token"]
RING = ["--topology", "ring", "--listen", "127.0.0.1:0", *KEY]
FILES = {"a": "a.svm", "b": "b.svm", "c": "c.svm"}
CANARY = [0.8134375, -0.5719147, 0.2718283, 0.1414213, -0.3333219, 0.6180339]
ALL = ["--owners", "3", "--chunk-rows", "64", "--format", "json"]
STEPS = ["--optim", "gd", "--lr", ".3", "--steps", "80"]
AWAY = re.compile(r"step (\d+): the owner of rows (\d+) to (\d+) "
                  r"\((.*)\) is away; the step waits for it")


def write(name, seed, rows, canary=False):
    rng = random.Random(seed)
    lines = []
    for i in range(rows):
        x = [rng.choice([-1, 1]) * (2 + rng.random()) for _ in range(6)]
        if canary and i == rows // 2:
            x = CANARY
        label = int(x[0] + x[1] + rng.gauss(0, 2) > 0)
        cells = " ".join(f"{j + 1}:{v!r}" for j, v in enumerate(x))
        lines.append(f"{label} {cells}")
    Path(name).write_text("\n".join(lines) + "\n", encoding="ascii")


def star(out, *flags):
    """The hash of the same owners in a star."""
    process = start("train", *ALL, *flags, "--out", out)
    joined = [start("join", place_of(out), "--data-private", file)
              for file in FILES.values()]
    done = result_of(finish(process)[1])
    for owner in joined:
        finish(owner, 20)
    return done.get("hash")


def peer(name, out, *flags, join=None, resume=False):
    peers = ["--peers", address_of(join)] if join else []
    with open(f"{out}.log", "a", encoding="ascii") as log:
        return subprocess.Popen(
            [MUSTER, "train", *ALL, *RING, "--data-private", FILES[name],
             "--name", name, "--resume" if resume else "--out", out, "--save",
             f"{out}.model", *peers, *flags],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log,
            text=True)


def log(out):
    return Path(f"{out}.log").read_text(encoding="ascii")


def end(process):
    code, out, _ = finish(process)
    result = result_of(out) if out.strip() else {}
    result["exit"] = code
    return result


def missed(out, name):
    """The step of a peer that waits for this owner, once it has said so."""
    def look():
        return [found[1] for found in AWAY.finditer(log(out))
                if found[4] == name]
    return wait_for(look, f"{name} to be missed by {out}")[-1]


def together(tag, *flags):
    """Three peers, undisturbed."""
    first = peer("a", f"{tag}-a", *flags)
    others = [peer(name, f"{tag}-{name}", *flags, join=f"{tag}-a")
              for name in "bc"]
    return [end(process) for process in (first, *others)]


def same_as_star(tap):
    for tag, flags in (
            ("lbfgs", ["--steps", "12"]),
            ("net", ["--net", "dense8 relu dense2", "--batch", "128",
                     "--passes", "4", "--lr", ".01"])):
        wanted = star(f"star-{tag}", *flags)
        found = together(tag, *flags)
        tap.ok(wanted and {r.get("hash") for r in found} == {wanted} and
               not any(r["exit"] for r in found),
               f"{tag}: three owners in a ring have the star's hash",
               (wanted, found))
        models = {Path(f"{tag}-{name}.model").read_bytes() for name in FILES}
        tap.equal(len(models), 1, f"{tag}: ... and one model, byte for byte")


def found(streams, values):
    """How any of the values is written in the streams."""
    forms = {"f32": "<f", "f64": "<d"}
    seen = [(form, value) for form, code in forms.items() for value in values
            if any(struct.pack(code, value) in data for data in streams)]
    return seen + [("text", value) for value in values
                   if any(repr(value).encode() in data for data in streams)]


def killed(tap, wanted):
    """One after the other is killed, at known steps: one comes back with its
    folder, one without, and one is started again by its supervisor.  The one
    that called the roll is missed no more than the others."""
    with Eye("seen") as eye:
        first = peer("a", "a", *STEPS, "--chaos", "kill:a@40")
        second = peer("b", "b", *STEPS, "--chaos", "kill:b@20", join="a")
        third = peer("c", "c", *STEPS, "--chaos", "kill:c@60", "--respawn",
                     join="a")
        gone = end(second)
        tap.ok(gone["exit"] != 0 and "--resume" in str(gone),
               "an owner is killed -9 at step 20", gone)
        tap.equal([missed(out, "b") for out in "ac"], ["20", "20"],
                  "all others wait, and say for whom")
        second = peer("b", "b", *STEPS, resume=True)
        gone = end(first)
        tap.ok(gone["exit"] != 0, "... it comes back with its folder, and then "
               "who called the roll is killed", gone)
        missed("c", "a")
        first = peer("a", "a2", *STEPS, join="c")
        ended = [end(process) for process in (first, second, third)]
    tap.ok({r.get("hash") for r in ended} == {wanted} and
           not any(r["exit"] for r in ended),
           "... and comes back without its folder, through another peer; a "
           "third is started again: all end with the star's hash",
           (wanted, ended, log("a2"), log("b"), log("c")))
    tap.ok("(b) is back" in log("c") and "(a) is back" in log("c"),
           "who is back is said", log("c"))
    sent = eye.saw("sent")
    tap.ok(sum(map(len, sent)) > 10000, "all that peers send is recorded")
    tap.equal(found(sent, CANARY), [], "no row is in it")


def refused(tap):
    """Sentences, and nothing begins."""
    for flags, words in (
            (["--topology", "ring", "--owners", "2"], "add --data-private"),
            (["--topology", "ring", "--data-private", "a.svm"],
             "needs --owners"),
            (["--owners", "2", "--data-private", "a.svm"], "--topology ring"),
            (["--topology", "ring", "--owners", "2", "--data-private",
              "a.svm"], "--listen"),
            (["--topology", "ring", "--owners", "65", "--data-private",
              "a.svm", "--listen", "127.0.0.1:0", *KEY], "64 peers"),
            ([*RING, "--owners", "2", "--data-private", "none.svm"],
             "none.svm")):
        done = run("train", *flags)
        tap.ok(done.returncode not in (0, 75) and words in done.stderr,
               f"refused: {' '.join(flags[:5])}", done)


def strangers(tap):
    """Whoever has no rows of this ring is sent none."""
    first = peer("a", "s-a", *STEPS[:-1], "100000000")
    others = [peer(name, f"s-{name}", *STEPS[:-1], "100000000", join="s-a")
              for name in "bc"]
    wait_for(lambda: Path("s-b/w0").exists() and Path("s-c/w0").exists(),
             "the ring to run")
    place = address_of("s-b")
    for args, words in (
            (["join", place, *KEY], "stay with their owners"),
            (["join", place, *KEY, "--data-private", "b.svm"],
             "a ring of owners"),
            (["train", *ALL, *RING, *STEPS, "--data-private", "other.svm",
              "--peers", place], "none of this ring's"),
            (["train", *ALL, *RING, *STEPS, "--data-private", "c.svm",
              "--peers", place], "another training"),
            (["train", *ALL, *RING, *STEPS, "--data-private", "c.svm",
              "--no-intercept", "--peers", place], "intercept")):
        done = run(*args)
        tap.ok(done.returncode != 0 and words in done.stdout + done.stderr,
               f"turned away: {words}", done)
    assert run("stop", "s-c", *KEY).returncode == 0
    ended = [end(process) for process in (first, *others)]
    tap.ok(len({r.get("hash") for r in ended}) == 1 and
           all(r["exit"] == 75 for r in ended),
           "`muster stop` at one of them ends all, at one step", ended)


def other_bounds(tap):
    """A folder whose `parts` has another bound, and a digest that fits it:
    with other scales no step would be made by anybody."""
    others = [peer("a", "o-a", *STEPS)]
    others.append(peer("c", "o-c", *STEPS, join="o-a"))
    end(peer("b", "o-b", *STEPS, "--chaos", "kill:b@20", join="o-a"))
    path = Path("o-b/parts")
    said = path.read_bytes()
    text = bytearray(said[:-32])
    text[-8:] = struct.pack("<d", 4 * struct.unpack("<d", text[-8:])[0] + 1)
    path.write_bytes(bytes(text) + hashlib.sha256(text).digest())
    done = end(peer("b", "o-b", *STEPS, resume=True))
    tap.ok(done["exit"] not in (0, 75) and "bounds-digest" in str(done),
           "turned away: other bounds of the same rows", (done, log("o-b")))
    path.write_bytes(said)
    ended = [end(peer("b", "o-b", *STEPS, resume=True))]
    ended += [end(process) for process in others]
    tap.ok(not any(r["exit"] for r in ended) and
           len({r.get("hash") for r in ended}) == 1,
           "... and with those it was told it is back", ended)


def one_name(tap):
    """While owners are called: two of one name are told apart at once."""
    first = peer("a", "n-a", *STEPS)
    done = run("train", *ALL, *RING, *STEPS, "--data-private", "b.svm",
               "--name", "a", "--peers", address_of("n-a"))
    tap.ok(done.returncode != 0 and "has the same name" in
           done.stdout + done.stderr, "turned away: another's name", done)
    first.terminate()
    finish(first)


def waits_no_longer(tap):
    """--owner-wait."""
    first = peer("a", "w-a", *STEPS, "--owner-wait", "1")
    others = [peer(name, f"w-{name}", *STEPS, "--owner-wait", "1", join="w-a")
              for name in "b"]
    others.append(peer("c", "w-c", *STEPS, "--owner-wait", "1", "--chaos",
                       "kill:c@20", join="w-a"))
    ended = [end(process) for process in (first, *others)]
    tap.ok(all(r["exit"] == 75 for r in ended) and
           "(c) has been away for 1 s" in str(ended[:2]) + log("w-a"),
           "an owner that stays away ends the run, saved", ended)
    again = end(peer("a", "w-a", *STEPS, "--owner-wait", "1", resume=True))
    tap.ok(again["exit"] == 75 and "away for 1 s" in str(again) + log("w-a"),
           "... and so does the one that is resumed alone, as soon", again)


def over(tap):
    """Nothing is left to do, so nobody is waited for."""
    for name in "ab":
        done = end(peer(name, f"lbfgs-{name}", "--steps", "12", resume=True))
        tap.ok(done["exit"] == 0 and done.get("finished"),
               f"a finished ring is resumed by {name} alone: it is over", done)


def main():
    tap = Tap()
    assert run("token", "new", "cluster.token").returncode == 0
    write("a.svm", 1, 210)
    write("b.svm", 2, 220, canary=True)
    write("c.svm", 3, 230)
    write("other.svm", 4, 100)
    same_as_star(tap)
    over(tap)
    killed(tap, star("star", *STEPS))
    refused(tap)
    strangers(tap)
    other_bounds(tap)
    one_name(tap)
    waits_no_longer(tap)
    tap.done()


main()
