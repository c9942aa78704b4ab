#!/usr/bin/env python3
"""Where joiners' data comes from: the wire, their own disk, a file or server
that all can read.  Always the same hash, and nothing is sent that need not be.
The result counts chunks: `shipped` by the coordinator, `fetched` by workers."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))
from cluster import (Tap, place_of, finish, result_of,  # noqa: E402
                     run, start, write_rows)
from ranges import Files  # noqa: E402

CHUNKS = 32
JOBS = {"dense": ["gen:gmm:2048,20", "--chunk-rows", "64"],
        "csr": ["csr.svm", "--storage", "csr", "--chunk-rows", "64"],
        "index": ["index.svm", "--storage", "index", "--chunk-rows", "64",
                  "--class-weight", "1=2"]}


def job(kind, *more):
    return ["train", *JOBS[kind], "--steps", "20", "--format", "json", *more]


def cluster(out, kind, train=(), join=(), workers=2):
    """A run with joiners only: its result, and how each joiner ended."""
    process = start(*job(kind, "--listen", "127.0.0.1:0", "--workers",
                         str(workers), "--code", "uncoded", "--out", out,
                         *train))
    address = place_of(out)
    joiners = [start("join", address, "--name", f"far-{i}", *join)
               for i in range(workers)]
    code, text, err = finish(process)
    result = result_of(text)
    result["exit"], result["stderr"] = code, err
    result["joiners"] = [finish(joiner, 20) for joiner in joiners]
    return result


def counts(result):
    data = result.get("data", {})
    return data.get("shipped"), data.get("fetched")


def expect(tap, name, result, wanted, shipped, fetched):
    ended = [joiner[0] for joiner in result["joiners"]]
    tap.ok(result.get("hash") == wanted and not any(ended),
           f"{name}: the same hash, and joiners end well", result)
    tap.equal(counts(result), (shipped, fetched),
              f"{name}: {shipped} chunks are sent, {fetched} fetched")


def kept(folder="kept"):
    return sorted(path for path in Path(folder).iterdir()
                  if path.name != ".bytes")  # What all chunks come to.


def flip(path, at):
    with open(path, "r+b") as file:
        file.seek(at)
        byte = file.read(1)
        file.seek(at)
        file.write(bytes([byte[0] ^ 1]))


def own_disk(tap, kind, wanted):
    folder = f"kept-{kind}"
    flags = ["--chunk-cache", folder]
    first = cluster(f"{kind}-1", kind, join=flags)
    expect(tap, f"{kind}, an empty disk", first, wanted, CHUNKS, 0)
    files = kept(folder)
    tap.equal(len(files), CHUNKS, f"{kind}: all chunks are kept")
    tap.ok(all(file.stat().st_mode & 0o777 == 0o600 for file in files) and
           Path(folder).stat().st_mode & 0o777 == 0o700,
           f"{kind}: for nobody else's eyes")
    again = cluster(f"{kind}-2", kind, join=flags)
    expect(tap, f"{kind}, a full disk", again, wanted, 0, CHUNKS)
    flip(files[0], 11)
    os.truncate(files[1], files[1].stat().st_size // 2)
    for file in files[2:10]:
        file.unlink()
    mended = cluster(f"{kind}-3", kind, join=flags)
    # More if one helps the other; then what both found is not thrown away.
    tap.ok(mended.get("hash") == wanted and
           counts(mended) >= (10, CHUNKS - 8),
           f"{kind}, two damaged and eight missing", mended)
    last = cluster(f"{kind}-4", kind, join=flags)
    expect(tap, f"{kind}, mended", last, wanted, 0, CHUNKS)


def small_disk(tap, wanted):
    """A cap keeps some, none is kept where there is no folder to make."""
    chunk = 64 * (8 + 4 * 20)
    gib = 10.5 * chunk / 2**30
    result = cluster("cap", "dense", join=["--chunk-cache", "capped", "--cache-size",
                                           f"{gib:.12f}"])
    expect(tap, "a cap", result, wanted, CHUNKS, 0)
    size = sum(file.stat().st_size for file in kept("capped"))
    tap.ok(0 < size <= 2 * gib * 2**30, "a cap is kept by each joiner", size)
    Path("blocked").touch()
    for where in ("none", "blocked"):
        result = cluster(f"no-{where}", "dense", join=["--chunk-cache", where])
        expect(tap, f"--chunk-cache {where}", result, wanted, CHUNKS, 0)


def restart(tap, wanted):
    """A coordinator's second life sends nothing again."""
    result = cluster("restart", "dense", join=["--chunk-cache", "none"],
                     train=["--chaos", "kill:coordinator@10", "--delay",
                            "exp:0.01"])
    expect(tap, "a coordinator that was killed", result, wanted, 0, 0)
    tap.equal(result.get("coordinator_deaths"), 1, "it was killed")


def shared_path(tap, kind, wanted):
    place = f"{kind}.shared"
    for name in ("written", "there already"):
        result = cluster(f"{kind}-{name[:5]}", kind,
                         train=["--data-shared", place])
        expect(tap, f"{kind}, a shared file {name}", result, wanted, 0, CHUNKS)


def shared_server(tap, kind, wanted):
    files = Files()
    place = f"{kind}.shared"
    result = cluster(f"{kind}-web", kind, workers=2,
                     train=["--data-shared", f"{files.address}/{place}"])
    expect(tap, f"{kind}, from a server", result, wanted, 0, CHUNKS)
    size = os.path.getsize(place)
    # Two joiners and the coordinator read the first page.
    tap.ok(files.bytes <= size + 3 * 4096 and files.requests < 40,
           f"{kind}: each chunk is read once, many at a time",
           f"{files.bytes} of {size} in {files.requests}")
    files.close()


def refusals(tap, wanted):
    other = run(*job("csr", "--listen", "127.0.0.1:0", "--data-shared",
                     "dense.shared", "--out", "other"))
    tap.ok(other.returncode == 1 and "holds other data" in other.stdout,
           "a file with other data is refused", other)
    Path("text").write_text("1 1:1\n")
    text = run(*job("dense", "--listen", "127.0.0.1:0", "--data-shared",
                    "text", "--out", "text-run"))
    tap.ok(text.returncode == 1 and "no prepared data" in text.stdout,
           "a file that was not prepared is refused", text)
    files = Files(ranges=False)
    whole = run(*job("dense", "--listen", "127.0.0.1:0", "--data-shared",
                     f"{files.address}/dense.shared", "--out", "whole"))
    tap.ok(whole.returncode == 1 and "parts of a file" in whole.stdout,
           "a server without ranges is refused", whole)
    files.close()
    Path("bad.shared").write_bytes(Path("dense.shared").read_bytes())
    flip("bad.shared", os.path.getsize("bad.shared") - 5050)
    process = start(*job("dense", "--listen", "127.0.0.1:0", "--workers", "1",
                         "--data-shared", "dense.shared", "--out", "half"))
    address = place_of("half")
    code, out, err = finish(start("join", address, "--data-shared",
                                  "bad.shared"), 20)
    tap.ok(code == 1 and "holds other bytes" in out + err,
           "a worker whose file differs is refused", f"{code} {out} {err}")
    code, out, err = finish(start("join", address, "--data-shared",
                                  "nowhere.shared"), 20)
    tap.ok(code == 1 and "nowhere.shared" in out + err,
           "a worker that cannot read it says so", f"{code} {out} {err}")
    good = start("join", address)
    code, text, err = finish(process)
    tap.equal(result_of(text).get("hash"), wanted,
              "one that can finishes the run: the same hash")
    finish(good, 20)


def main():
    tap = Tap()
    for kind in ("csr", "index"):
        write_rows(f"{kind}.svm", 400, 6,
                   lambda k, kind=kind: 1 if kind == "index" else k / 8)
    wanted = {kind: result_of(run(*job(kind)).stdout).get("hash")
              for kind in JOBS}
    for kind in JOBS:
        own_disk(tap, kind, wanted[kind])
        shared_path(tap, kind, wanted[kind])
        shared_server(tap, kind, wanted[kind])
    small_disk(tap, wanted["dense"])
    restart(tap, wanted["dense"])
    refusals(tap, wanted["dense"])
    tap.done()


main()
