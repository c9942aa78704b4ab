#!/usr/bin/env python3
"""Minibatches of rows that stay with their owners: every owner draws from its
own rows, and the hash is that of one machine with the same rows in the same
order, cut alike (--shuffle local), whoever dies and comes back in mid-pass; of
linear models and of networks."""

import os
import random
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))
from cluster import (Tap, place_of, finish, kill, result_of,  # noqa: E402
                     run, start, status, wait_for, wait_step)

del os.environ["MUSTER_OPTIM"]  # What batches take unless told.

CHUNK = 32
SIDE = 6
CLASSES = 3
SLOW = ["--delay", "exp:0.01"]
NET = "conv3x3x4 relu pool2 drop.25 dense3"
LINEAR = ["--batch", "40", "--lr", ".3", "--passes", "8"]
NETWORK = ["--net", NET, "--model", "softmax", "--batch", "40", "--passes",
           "8", "--seed", "5"]


def write_rows(name, seed, rows):
    """Comma-separated: a weight, two columns, a class."""
    rng = random.Random(seed)
    lines = []
    for _ in range(rows):
        a, b = rng.gauss(0, 1), rng.gauss(0, 1)
        lines.append(f"{rng.choice([1, 3])},{a:.6f},{b:.6f},"
                     f"{int(a + rng.gauss(0, 1) > 0)}\n")
    Path(name).write_text("".join(lines), encoding="ascii")


def draw_images(seed, rows):
    """A bright stripe somewhere: the class is where."""
    rng = random.Random(seed)
    labels = [rng.randrange(CLASSES) for _ in range(rows)]
    return [(bytes(rng.randrange(64) + (150 if j // SIDE // 2 == label else 0)
                   for j in range(SIDE * SIDE)), label) for label in labels]


def write_images(name, images, side=SIDE):
    """IDX: the images, and their labels beside them."""
    Path(name).write_bytes(
        struct.pack(">4B3I", 0, 0, 8, 3, len(images), side, SIDE * SIDE // side)
        + b"".join(pixels for pixels, _ in images))
    Path(f"{name}.labels").write_bytes(
        struct.pack(">4BI", 0, 0, 8, 1, len(images)) +
        bytes(label for _, label in images))


def begin(out, count, *flags):
    return start("train", "--owners", str(count), "--chunk-rows", str(CHUNK),
                 "--out", out, "--format", "json", *flags)


def owner(address, name, file, flags):
    labels = [] if file.endswith(".csv") else ["--labels", f"{file}.labels"]
    return start("join", address, "--name", name, "--data-private", file,
                 *labels, *flags)


def owners(address, files, flags):
    return {f"h{i}": owner(address, f"h{i}", file, flags)
            for i, file in enumerate(files)}


def end(process):
    code, out, err = finish(process)
    result = result_of(out) if out.strip() else {}
    result["exit"], result["stderr"] = code, err
    return result


def dismiss(joined):
    return [finish(process, 20)[0] for process in joined.values()]


def sizes_in_order(out):
    """Rows of each home, as the run has put them one after the other."""
    data = Path(out, "parts").read_bytes()
    magic, count = struct.unpack_from("<8sI", data)
    assert magic == b"MUSTPRT3", magic
    at = 12 + 4 * 4 + 2 * 8 + 1 + 1 + 4 * 4
    return [struct.unpack_from("<I", data, at + 36 * i + 32)[0]
            for i in range(count)]


class Kind:
    """Files of one kind, and how they are trained on."""

    def __init__(self, name, files, flags, join, alone):
        self.name, self.files = name, files
        self.flags, self.join, self.alone = flags, join, alone
        self.wanted = None

    def rows(self, file):
        if file.endswith(".csv"):
            return Path(file).read_text(encoding="ascii").splitlines(True)
        data, labels = Path(file).read_bytes(), Path(f"{file}.labels")
        each = SIDE * SIDE
        return [(data[16 + each * i:16 + each * (i + 1)], label)
                for i, label in enumerate(labels.read_bytes()[8:])]

    def one_machine(self, out):
        """The hash of the rows that `out` has, in its order."""
        by_size = {len(self.rows(file)): file for file in self.files}
        order = [by_size[size] for size in sizes_in_order(out)]
        rows = [row for file in order for row in self.rows(file)]
        if self.files[0].endswith(".csv"):
            Path("all.csv").write_text("".join(rows), encoding="ascii")
            data = ["all.csv"]
        else:
            write_images("all.idx", rows)
            data = ["all.idx", "--labels", "all.idx.labels"]
        done = run("train", *data, *self.alone, *self.flags, "--shuffle",
                   "local", "--chunk-rows", CHUNK, "--format", "json")
        even = all(size % CHUNK == 0 for size in sizes_in_order(out)[:-1])
        return result_of(done.stdout).get("hash") if even else "cut unlike"

    def train(self, out, *more):
        process = begin(out, len(self.files), *self.flags, *more)
        return process, owners(place_of(out), self.files, self.join)


def same_as_one(tap, kind):
    out = f"same {kind.name}"
    process, joined = kind.train(out)
    result = end(process)
    kind.wanted = result.get("hash")
    tap.ok(result["exit"] == 0 and not any(dismiss(joined)),
           f"{kind.name}: owners step over batches", result)
    tap.equal(kind.wanted, kind.one_machine(out),
              f"{kind.name}: the hash of one machine with all rows")
    tap.equal((result.get("data") or {}).get("shipped"), 0,
              f"{kind.name}: nothing is shipped")


def names(folder):
    now = status(folder)
    return [worker["name"] for worker in now["workers"]] if now else []


def come_back(tap, kind):
    out = f"back {kind.name}"
    process, joined = kind.train(out, *SLOW)
    wait_step(out, 3)
    for _ in range(2):
        kill(joined["h1"].pid)
        finish(joined["h1"])
        wait_for(lambda: "h1" not in names(out), "h1 to be missed")
        before = status(out)["step"]
        joined["h1"] = owner(place_of(out), "h1", kind.files[1], kind.join)
        wait_step(out, before + 2)
    result = end(process)
    tap.ok(result.get("hash") == kind.wanted and not any(dismiss(joined)),
           f"{kind.name}: kill -9 of an owner twice, back each time: same hash",
           result)


def deadline(tap, kind):
    out = f"late {kind.name}"
    process, joined = kind.train(out, *SLOW, "--owner-wait", "1")
    wait_step(out, 3)
    kill(joined["h2"].pid)
    result = end(process)
    dismiss(joined)
    tap.ok(result["exit"] == 75 and "the state is saved" in
           result.get("error", ""),
           f"{kind.name}: an owner that stays away ends the run, saved", result)
    again = start("train", f"--resume={out}", "--format", "json")
    joined = owners(place_of(out), kind.files, kind.join)
    result = end(again)
    tap.ok(result.get("hash") == kind.wanted and not any(dismiss(joined)),
           f"{kind.name}: resumed in mid-pass: same hash", result)


def coordinator(tap, kind):
    process, joined = kind.train(f"chief {kind.name}", *SLOW, "--chaos",
                                 "kill:coordinator@10")
    result = end(process)
    tap.ok(result.get("hash") == kind.wanted and
           result.get("coordinator_deaths") == 1 and not any(dismiss(joined)),
           f"{kind.name}: kill -9 of the coordinator: same hash", result)


def go_on(tap, kind):
    """Without an owner's rows a batch is smaller, and divided by what it has."""
    out = f"on {kind.name}"
    process, joined = kind.train(out, *SLOW, "--code", "ignore",
                                 "--stragglers", "1")
    wait_step(out, 3)
    kill(joined["h0"].pid)
    result = end(process)
    dismiss(joined)
    approx = (result.get("exactness") or {}).get("approx", 0)
    tap.ok(result["exit"] == 0 and approx > 5,
           f"{kind.name}: ignore goes on without an owner: {approx} approx",
           result)


def uneven(tap):
    """Files that end within a chunk: one hash, whoever has them."""
    for name, seed, rows in (("u0.csv", 30, CHUNK + 7),
                             ("u1.csv", 31, 2 * CHUNK + 1),
                             ("u2.csv", 32, 3 * CHUNK + 5)):
        write_rows(name, seed, rows)
    files = ["u0.csv", "u1.csv", "u2.csv"]
    hashes = set()
    for i in range(2):
        out = f"uneven {i}"
        process = begin(out, 3, *LINEAR)
        joined = owners(place_of(out), files[i:] + files[:i] + files[:i], [])
        hashes.add(end(process).get("hash"))
        dismiss(joined)
    tap.ok(len(hashes) == 1 and None not in hashes,
           "files that end within a chunk: one hash, whoever has them", hashes)


def other_shapes(tap):
    images = draw_images(7, CHUNK)
    write_images("flat.idx", images, side=4)
    Path("rows.csv").write_text("".join(
        f"{','.join(map(str, pixels))},{label}\n" for pixels, label in images),
        encoding="ascii")
    process = begin("shapes", 2, *NETWORK)
    first = owner(place_of("shapes"), "h0", "i0.idx", [])
    wait_for(lambda: (status("shapes") or {}).get("files") == 1, "one file")
    done = run("join", "shapes", "--name", "h1", "--data-private", "flat.idx",
               "--labels", "flat.idx.labels")
    tap.ok(done.returncode == 1 and "images of another shape" in done.stderr,
           "images of another shape are refused", done)
    done = run("join", "shapes", "--name", "h1", "--data-private", "rows.csv")
    tap.ok(done.returncode == 1 and "(--shape)" in done.stderr,
           "... and rows that are not said to be images", done)
    last = owner("shapes", "h1", "rows.csv", ["--shape", f"{SIDE}x{SIDE}"])
    result = end(process)
    tap.ok(result["exit"] == 0 and not any(dismiss({0: first, 1: last})),
           "... which are taken with --shape", result)


def refusals(tap):
    for flags, words in (
            (["--batch", "8", "--lr", "1", "--shuffle", "rows"],
             "private rows stay where they are"),
            (["--batch", "8"], "needs --lr"),
            (["--batch", "8", "--optim", "newton"], "over other rows"),
            (["--net", NET, "--shape", "6x6"], "say it to `muster join`")):
        done = run("train", "--owners", "2", *flags, "--out", "no")
        tap.ok(done.returncode == 2 and words in done.stderr and
               len(done.stderr.splitlines()) == 1 and not Path("no").exists(),
               f"{' '.join(flags)} is refused in a sentence", done)


def main():
    tap = Tap()
    write_rows("a.csv", 1, 2 * CHUNK)
    write_rows("b.csv", 2, 3 * CHUNK)
    write_rows("c.csv", 9, CHUNK + 20)
    write_images("i0.idx", draw_images(4, 2 * CHUNK))
    write_images("i1.idx", draw_images(5, 3 * CHUNK))
    write_images("i2.idx", draw_images(3, CHUNK + 20))
    tables = ["a.csv", "b.csv", "c.csv"]
    kinds = [
        Kind("logistic", tables, LINEAR, [], ["--storage", "f32"]),
        Kind("weighted", tables, LINEAR, ["--weight", "1"],
             ["--storage", "f32", "--weight", "1"]),
        Kind("weighted network", tables,
             ["--net", "dense4 relu dense2", *NETWORK[2:]], ["--weight", "1"],
             ["--storage", "f32", "--weight", "1", "--scale", "none"]),
        Kind("network", ["i0.idx", "i1.idx", "i2.idx"], NETWORK, [], []),
    ]
    for kind in kinds:
        same_as_one(tap, kind)
    for kind in kinds[0], kinds[-1]:
        come_back(tap, kind)
        deadline(tap, kind)
        coordinator(tap, kind)
        go_on(tap, kind)
    uneven(tap)
    other_shapes(tap)
    refusals(tap)
    tap.done()


if __name__ == "__main__":
    main()
