#!/usr/bin/env python3
"""Private data: every owner keeps its rows.  The hash is that of one machine
with all files in one, whoever dies and comes back; and no row is in anything
that an owner sends, which is looked for byte by byte."""

import os
import random
import signal
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))
from cluster import (Tap, place_of, finish, kill, result_of,  # noqa: E402
                     run, start, status, wait_for, wait_step)
from eye import Eye  # noqa: E402

del os.environ["MUSTER_OPTIM"]  # lbfgs, as for the rows of one machine.

CHUNK = 64
CANARY = [0.8134375, -0.5719147, 0.2718283, 0.1414213, -0.3333219, 0.6180339]
# Slow enough that something can happen in between.
SLOW = ["--delay", "exp:0.01", "--optim", "gd", "--lr", ".3", "--steps", "60"]
PLAIN = SLOW[2:]


def f32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def write(name, seed, rows, label, columns=6, canary=False):
    """LIBSVM rows from a seed; values are larger than the canary's."""
    rng = random.Random(seed)
    lines = []
    for i in range(rows):
        x = [rng.choice([-1, 1]) * (2 + rng.random()) for _ in range(columns)]
        if canary and i == rows // 2:
            x = CANARY
        cells = " ".join(f"{j + 1}:{v!r}" for j, v in enumerate(x))
        lines.append(f"{label(rng, x)} {cells}")
    Path(name).write_text("\n".join(lines) + "\n", encoding="ascii")


def two(rng, x):
    return int(x[0] + x[1] + rng.gauss(0, 2) > 0)


def number(rng, x):
    return f"{x[0] - x[2] + rng.gauss(0, .1):.6f}"


def few(lowest):
    return lambda rng, x: lowest + int(x[0] > 0) + int(x[1] > 0)


def alone(files, *flags):
    """What one machine makes of the files, one after the other."""
    text = "".join(Path(name).read_text(encoding="ascii") for name in files)
    Path("all.svm").write_text(text, encoding="ascii")
    done = run("train", "all.svm", "--chunk-rows", CHUNK, "--storage", "f32",
               *flags, "--format", "json")
    return result_of(done.stdout)


def single(files, *flags):
    return alone(files, *flags).get("hash")


def begin(out, count, *flags):
    return start("train", "--owners", str(count), "--chunk-rows",
                 str(CHUNK), "--out", out, "--format", "json", *flags)


def owner(address, name, file, *flags):
    return start("join", address, "--name", name, "--data-private", file,
                 *flags)


def owners(address, files, *flags):
    return {f"h{i}": owner(address, f"h{i}", file, *flags)
            for i, file in enumerate(files)}


def end(process):
    code, out, err = finish(process)
    result = result_of(out) if out.strip() else {}
    result["exit"], result["stderr"] = code, err
    return result


def dismiss(joined):
    """How each owner ended."""
    return [finish(process, 20)[0] for process in joined.values()]


def whole(out, files, *flags, join=()):
    """A run from beginning to end."""
    process = begin(out, len(set(files)), *flags)
    joined = owners(place_of(out), files, *join)
    result = end(process)
    result["owners"] = dismiss(joined)
    return result


def same_as_one(tap):
    for name, files, flags in (
            ("two labels", ["a.svm", "b.svm", "c.svm"], []),
            ("newton", ["b.svm", "a.svm", "c.svm"], ["--optim", "newton"]),
            ("columns that some lack", ["a.svm", "narrow.svm", "c.svm"], []),
            ("numbers", ["n0.svm", "n1.svm"], ["--model", "linear"]),
            ("labels that some lack", ["k0.svm", "k1.svm"],
             ["--model", "softmax"])):
        optim = [] if "--optim" in flags else ["--optim", "lbfgs"]
        wanted = single(files, *flags, *optim, "--steps", 12)
        got = whole(f"one {name}", files, *flags, "--steps", "12")
        tap.ok(got.get("hash") == wanted and got["exit"] == 0 and
               not any(got["owners"]),
               f"{name}: the hash of one machine with all rows",
               (wanted, got))
        tap.equal((got.get("data") or {}).get("shipped"), 0,
                  f"{name}: nothing is shipped")


def weighted(tap):
    """Weights are the owners' columns."""
    for name, seed in (("w0.csv", 20), ("w1.csv", 21)):
        rng = random.Random(seed)
        rows = [[rng.choice([1, 5]), rng.gauss(0, 1), rng.gauss(0, 1)]
                for _ in range(2 * CHUNK)]
        Path(name).write_text(
            "".join(f"{w},{a},{b},{int(a + rng.gauss(0, 1) > 0)}\n"
                    for w, a, b in rows), encoding="ascii")
    files = ["w0.csv", "w1.csv"]
    wanted = [single(files, "--input", "csv", *more, "--optim", "lbfgs")
              for more in (["--weight", "1"], ["--drop", "1"])]
    got = whole("weighted", files, "--optim", "lbfgs",
                join=["--weight", "1"])
    tap.ok(got.get("hash") == wanted[0] != wanted[1] and got["exit"] == 0,
           "weights: the hash of one machine with all rows", (wanted, got))


def columns(tap):
    """Sums of columns that are others would be a model of nothing."""
    rows = "".join(f"{i % 5},{i % 7},{i % 2}\n" for i in range(CHUNK))
    text = {"ab.csv": "a,b,y\n" + rows, "ba.csv": "b,a,y\n3,3,1\n" + rows,
            "abz.csv": "a,b,z\n4,3,1\n" + rows, "none.csv": "5,3,1\n" + rows,
            "more.csv": "a,b,y\n6,6,0\n" + rows,
            "gap.csv": "a,e,b,y\n" + "".join(f"{i % 5},,{i % 3},{i % 2}\n" for i in range(CHUNK)),
            "yes.csv": "a,b,y\n" + "1,2,yes\n2,1,no\n" * CHUNK,
            "words.csv": "a,b,y\n" + "1,red,0\n2,blue,1\n" * CHUNK}
    for name, what in text.items():
        Path(name).write_text(what, encoding="ascii")
    process = begin("columns", 2, "--optim", "lbfgs")
    first = owner(place_of("columns"), "h0", "ab.csv")
    wait_for(lambda: (status("columns") or {}).get("files") == 1, "one file")
    for name, words in (("ba.csv", "other names, or another order"),
                        ("abz.csv", "other names, or another order"),
                        ("gap.csv", "the field is empty"),
                        ("none.csv", "only one side has names"),
                        ("words.csv", "columns of words cannot be private"),
                        ("yes.csv", "columns of words cannot be private")):
        done = run("join", "columns", "--name", "h1", "--data-private", name)
        tap.ok(done.returncode != 0 and words in done.stderr,
               f"{name} is refused", done)
    last = owner("columns", "h1", "more.csv")
    result = end(process)
    tap.ok(result["exit"] == 0 and not any(dismiss({0: first, 1: last})),
           "owners of the same columns go on", result)


def rounded(tap):
    """Seconds since 1970 of one hour are off by 64 as fp32: only their owner can
    see that, and does."""
    for name, from_ in (("s0.csv", 1700000000), ("s1.csv", 1700000001),
                        ("s2.csv", 0)):
        Path(name).write_text("seconds,y\n" + "".join(
            f"{from_ + 2 * i},{i // CHUNK}\n" for i in range(2 * CHUNK)),
            encoding="ascii")
    process = begin("rounded", 3, "--optim", "lbfgs")
    joined = owners(place_of("rounded"), ["s0.csv", "s1.csv", "s2.csv"])
    end(process)
    said = [finish(one, 20)[2] for one in joined.values()]
    wanted = 'column "seconds": single precision (fp32) may '
    tap.equal([one.count(wanted) for one in said], [1, 1, 0],
              "an owner is told what rounding costs its column")


def first_index(tap):
    """Two files of one writer that counts from 0; only one has an index 0."""
    rows = "".join(f"{i % 2} 1:{i % 5} 2:{i % 7 + 1}\n" for i in range(CHUNK))
    Path("zero.svm").write_text("1 0:1\n" + rows, encoding="ascii")
    Path("one.svm").write_text("1 2:9\n" + rows, encoding="ascii")
    process = begin("index", 2, "--optim", "lbfgs")
    first = owner(place_of("index"), "h0", "zero.svm")
    wait_for(lambda: (status("index") or {}).get("files") == 1, "one file")
    done = run("join", "index", "--name", "h1", "--data-private", "one.svm")
    tap.ok(done.returncode != 0 and "indices start at 0 on one" in done.stderr,
           "a file that counts from 1 is refused", done)
    last = owner("index", "h1", "one.svm", "--zero-based")
    result = end(process)
    tap.ok(result["exit"] == 0 and not any(dismiss({0: first, 1: last})),
           "... and taken with --zero-based", result)


def uneven(tap):
    """Files that end within a chunk: other chunks than one machine's, so other
    bits in the last places, but always the same ones."""
    files = ["u0.svm", "u1.svm", "c.svm"]
    flags = ["--steps", "12"]
    wanted = alone(files, *flags, "--optim", "lbfgs").get("objective")
    first = whole("uneven", files, *flags)
    second = whole("uneven-2", [files[1], files[2], files[0], files[1]],
                   *flags, "--code", "uncoded")
    tap.ok(abs(first.get("objective", 0) - wanted) < 1e-9 * wanted,
           "uneven files: the objective of one machine", (wanted, first))
    tap.ok(first.get("hash") is not None and
           first["hash"] == second.get("hash"),
           "... and one hash, whoever has them and under whatever code",
           (first, second))


def forms(row):
    """A row as it may lie on a wire."""
    yield "f32", struct.pack(f"<{len(row)}f", *row)
    yield "f64", struct.pack(f"<{len(row)}d", *row)
    yield "f32 as f64", struct.pack(f"<{len(row)}d", *map(f32, row))
    for value in row:
        yield "a value, f32", struct.pack("<f", value)
        yield "a value, f64", struct.pack("<d", value)
        yield "a value, f32 as f64", struct.pack("<d", f32(value))
        yield "a value, text", repr(value).encode()


def found(streams, row):
    return sorted({name for name, bytes_ in forms(row)
                   for stream in streams if bytes_ in stream})


def canary(tap):
    process = begin("canary", 2, *PLAIN)
    with Eye("canary-seen") as eye:
        joined = owners(place_of("canary"), ["bird.svm", "b.svm"])
    result = end(process)
    dismiss(joined)
    sent = eye.saw("sent")
    tap.ok(result["exit"] == 0 and sum(map(len, sent)) > 10000,
           "all that owners send is recorded", result)
    tap.equal(found(sent, CANARY), [], "no row is in it")
    # The same eye sees a row that is shipped, in the other direction.
    process = start("train", "bird.svm", "--storage", "f32", *PLAIN,
                    "--listen", "127.0.0.1:0", "--workers", "1", "--out",
                    "shipped", "--format", "json")
    with Eye("shipped-seen") as eye:
        worker = start("join", place_of("shipped"), "--chunk-cache", "none")
    end(process)
    finish(worker, 20)
    tap.ok("f32" in found(eye.saw("heard"), CANARY),
           "a shipped row would be seen")


def come_back(tap, wanted):
    files = ["a.svm", "b.svm", "c.svm"]
    process = begin("back", 3, *SLOW)
    address = place_of("back")
    joined = owners(address, files)
    wait_step("back", 3)
    for _ in range(3):
        kill(joined["h1"].pid)
        finish(joined["h1"])
        wait_for(lambda: "h1" not in names("back"), "h1 to be missed")
        before = status("back")["step"]
        joined["h1"] = owner(address, "h1", files[1])
        wait_step("back", before + 2)
    result = end(process)
    tap.ok(result.get("hash") == wanted and not any(dismiss(joined)),
           "kill -9 of an owner three times, back each time: same hash",
           result)
    tap.equal((result.get("exactness") or {}).get("bitwise"), 60,
              "... and every step is exact")


def names(folder):
    now = status(folder)
    return [worker["name"] for worker in now["workers"]] if now else []


def deadline(tap, wanted):
    files = ["a.svm", "b.svm", "c.svm"]
    process = begin("late", 3, *SLOW, "--owner-wait", "1")
    joined = owners(place_of("late"), files)
    wait_step("late", 3)
    kill(joined["h2"].pid)
    result = end(process)
    dismiss(joined)
    tap.ok(result["exit"] == 75 and
           "(h2) has been away for 1 s; the state is saved" in
           result.get("error", ""), "an owner that stays away ends the run, saved",
           result)
    tap.ok("is away; the step waits for it, 1 s at most" in result["stderr"],
           "... and the log said for whom it waited")
    again = start("train", "--resume=late", "--format", "json")
    joined = owners(place_of("late"), files)
    result = end(again)
    tap.ok(result.get("hash") == wanted and not any(dismiss(joined)),
           "resumed when all are back: same hash", result)


def go_on(tap):
    files = ["a.svm", "b.svm", "c.svm"]
    process = begin("on", 3, *SLOW, "--code", "ignore", "--stragglers", "1")
    joined = owners(place_of("on"), files)
    wait_step("on", 3)
    kill(joined["h0"].pid)
    result = end(process)
    dismiss(joined)
    approx = (result.get("exactness") or {}).get("approx", 0)
    tap.ok(result["exit"] == 0 and approx > 10,
           f"ignore goes on without an owner, and says so: {approx} approx",
           result)
    tap.ok("the steps go on without these rows" in result["stderr"],
           "... in the log, too", result["stderr"])


def replicas(tap, wanted):
    files = ["a.svm", "b.svm", "c.svm", "b.svm"]
    process = begin("twins", 3, *SLOW)
    joined = owners(place_of("twins"), files)
    wait_for(lambda: "h3" in names("twins"), "both owners of a file")
    wait_step("twins", 3)
    kill(joined["h1"].pid)
    result = end(process)
    tap.ok(result.get("hash") == wanted and "is away" not in result["stderr"],
           "two owners of one file: one is killed, nobody waits", result)
    dismiss(joined)


def coordinator(tap, wanted):
    process = begin("chief", 3, *SLOW, "--chaos", "kill:coordinator@10")
    joined = owners(place_of("chief"), ["a.svm", "b.svm", "c.svm"])
    result = end(process)
    tap.ok(result.get("hash") == wanted and
           result.get("coordinator_deaths") == 1 and not any(dismiss(joined)),
           "kill -9 of the coordinator: same hash", result)


def drawn_folder(tap, wanted):
    """Without --out: owners are called to the folder that the run goes on
    in, and that --resume finds."""
    def folders():
        return sorted(path for path in Path("muster-runs").glob("*-*"))

    process = start("train", "--owners", "3", "--chunk-rows", str(CHUNK),
                    "--format", "json", *SLOW)
    out = str(wait_for(folders, "a folder")[0])
    joined = owners(place_of(out), ["a.svm", "b.svm", "c.svm"])
    wait_step(out, 5)
    kill(process.pid, signal.SIGTERM)
    finish(process)
    dismiss(joined)
    tap.equal([str(path) for path in folders()], [out],
              "without --out a run has one folder")
    again = start("train", "--resume", "--format", "json")
    joined = owners(place_of(out), ["a.svm", "b.svm", "c.svm"])
    result = end(again)
    tap.ok(result.get("hash") == wanted and not any(dismiss(joined)),
           "... and goes on with --resume alone: same hash", result)


def token(tap, wanted):
    run("token", "new", "cluster.token")
    for name in ("h0", "h1", "h2"):
        run("token", "new", f"{name}.token", "--name", name, "--from",
            "cluster.token")
    process = begin("sealed", 3, *PLAIN, "--token-file", "cluster.token")
    address = place_of("sealed")
    wrong = owner(address, "h1", "a.svm", "--token-file", "h0.token")
    joined = {name: owner(address, name, file, "--token-file",
                          f"{name}.token")
              for name, file in (("h0", "a.svm"), ("h1", "b.svm"),
                                 ("h2", "c.svm"))}
    result = end(process)
    tap.ok(result.get("hash") == wanted and not any(dismiss(joined)),
           "owners with tokens of their own: same hash", result)
    tap.ok(finish(wrong)[0] != 0, "one with another's token is not let in")


def refusals(tap):
    for flags, words in (
            (["a.svm"], "takes no DATA"), (["-n", "2"], "workers are the own"),
            (["--verify"], "nobody to compare"),
            (["--audit", "1%"], "nobody to compare"),
            (["--data-shared", "x"], "nowhere to be read"),
            (["--fanout", "2"], "owners join the coordinator"),
            (["--code", "frc"], "take steal, uncoded or ignore"),
            (["--code", "mds"], "take steal, uncoded or ignore"),
            (["--code", "auto"], "take steal, uncoded or ignore"),
            (["--optim", "agd"], "needs --lr"),
            (["--valid", ".2"], "hold out"),
            (["--scale", "standard"], "owners' columns")):
        done = run("train", "--owners", "2", *flags, "--out", "no")
        tap.ok(done.returncode == 2 and words in done.stderr and
               len(done.stderr.splitlines()) == 1 and not Path("no").exists(),
               f"{' '.join(flags)} is refused in a sentence", done)
    done = run("train", "--owners", "x.svm")
    tap.ok(done.returncode == 2 and "expected a whole number" in done.stderr,
           "a file instead of a number", done)


def strangers(tap):
    process = begin("closed", 2, *PLAIN)
    address = place_of("closed")
    done = run("join", address)
    tap.ok(done.returncode == 1 and "--data-private FILE" in done.stderr,
           "a worker without rows is told how to join", done)
    tap.equal((status("closed") or {}).get("phase"), "waiting for owners",
              "status of a run that waits")
    first = owner(address, "h0", "a.svm")
    wait_for(lambda: (status("closed") or {}).get("files") == 1, "one file")
    tap.equal(run("stop", "closed").returncode, 0, "stop is heard")
    result = end(process)
    tap.ok(result["exit"] != 0 and "nothing was begun" in result["error"],
           "... and ends it", result)
    tap.ok("nothing was begun" in finish(first)[2], "the owner is told")
    tap.ok(not Path("closed").exists(), "and no folder is left")
    process = begin("open", 2, *SLOW)
    joined = owners(place_of("open"), ["a.svm", "b.svm"])
    wait_step("open", 2)
    done = run("join", place_of("open"), "--data-private", "c.svm")
    tap.ok(done.returncode == 1 and "with other files" in done.stderr,
           "a file that was not there is refused", done)
    done = run("join", place_of("open"))
    tap.ok(done.returncode == 1 and "--data-private FILE" in done.stderr,
           "... and so is a worker without", done)
    end(process)
    dismiss(joined)
    process = start("train", "a.svm", *SLOW, "-n", "1", "--listen",
                    "127.0.0.1:0", "--out", "usual", "--format", "json")
    done = run("join", place_of("usual"), "--data-private", "b.svm")
    tap.ok(done.returncode == 1 and "leave out --data-private" in done.stderr,
           "private rows have no place in another run", done)
    end(process)


def main():
    tap = Tap()
    write("a.svm", 1, 2 * CHUNK, two)
    write("b.svm", 2, 3 * CHUNK, two)
    write("c.svm", 3, CHUNK + 40, two)
    write("narrow.svm", 4, 2 * CHUNK, two, columns=4)
    write("bird.svm", 5, 2 * CHUNK, two, canary=True)
    write("n0.svm", 6, 20 * CHUNK, number)
    write("n1.svm", 7, CHUNK + 1, number)
    write("u0.svm", 10, CHUNK + 7, two)
    write("u1.svm", 11, 2 * CHUNK + 1, two)
    write("k0.svm", 8, 2 * CHUNK, few(0))
    write("k1.svm", 9, 2 * CHUNK, few(1))
    wanted = single(["a.svm", "b.svm", "c.svm"], *PLAIN)
    same_as_one(tap)
    weighted(tap)
    columns(tap)
    first_index(tap)
    rounded(tap)
    uneven(tap)
    canary(tap)
    come_back(tap, wanted)
    deadline(tap, wanted)
    go_on(tap)
    replicas(tap, wanted)
    coordinator(tap, wanted)
    drawn_folder(tap, wanted)
    token(tap, wanted)
    refusals(tap)
    strangers(tap)
    tap.done()


if __name__ == "__main__":
    main()
