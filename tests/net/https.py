#!/usr/bin/env python3
"""Shared data over TLS: a server on loopback with an authority of its own.
Whoever is told of the authority reads; a certificate of another authority, for
another name or past its time is refused with a sentence."""

import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))
from cluster import (Tap, place_of, finish, result_of,  # noqa: E402
                     run, start)
from ranges import Files  # noqa: E402

CHUNKS = 32
JOB = ["train", "gen:gmm:2048,20", "--chunk-rows", "64", "--steps", "20",
       "--format", "json"]
FAR = [*JOB, "--listen", "127.0.0.1:0", "--code", "uncoded"]


def openssl(*args):
    subprocess.run(["openssl", *args], check=True, capture_output=True)


def authority(name):
    """NAME.pem, which signs with NAME.key."""
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt",
            "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
            f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.pem",
            "-addext", "basicConstraints=critical,CA:TRUE")


def seal(name, by, host, days="2"):
    """A certificate for `host`: its file and its key's."""
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
            "-nodes", "-subj", f"/CN={name}", "-keyout", f"{name}.key",
            "-out", f"{name}.csr")
    Path(f"{name}.ext").write_text(f"subjectAltName={host}\n",
                                   encoding="ascii")
    openssl("x509", "-req", "-in", f"{name}.csr", "-CA", f"{by}.pem",
            "-CAkey", f"{by}.key", "-CAcreateserial", "-days", days,
            "-extfile", f"{name}.ext", "-out", f"{name}.pem")
    return f"{name}.pem", f"{name}.key"


def reads(tap, wanted):
    files = Files(seal=seal("good", "ours", "IP:127.0.0.1"))
    process = start(*FAR, "--workers", "2", "--data-shared",
                    f"{files.address}/all.shared", "--ca", "ours.pem", "--out",
                    "sealed")
    address = place_of("sealed")
    code, out, err = finish(start("join", address, "--chunk-cache", "none"), 20)
    tap.ok(code == 1 and "certificate is not to be trusted" in out + err and
           "--ca FILE" in out + err, "a worker that was not told of the "
           "authority reads nothing", (code, out, err))
    joined = [start("join", address, "--chunk-cache", "none", "--ca", "ours.pem")
              for _ in range(2)]
    code, out, err = finish(process)
    result = result_of(out)
    ended = [finish(worker, 20)[0] for worker in joined]
    tap.ok(result.get("hash") == wanted and ended == [0, 0],
           "two that were read it by range: the same hash", (result, err))
    tap.equal({key: result.get("data", {}).get(key) for key in
               ("shipped", "fetched", "peers")},
              {"shipped": 0, "fetched": CHUNKS, "peers": 0},
              "... and are sent nothing")
    files.close()


def refused(tap, what, files, *flags, words="certificate is not to be trusted"):
    before = files.requests
    done = run(*FAR, "--data-shared", f"{files.address}/all.shared", *flags,
               "--out", f"no {what}")
    error = result_of(done.stdout).get("error", "")
    tap.ok(done.returncode == 1 and words in error and "\n" not in error and
           files.requests == before, f"{what} is refused in a sentence", done)
    files.close()


def refusals(tap):
    ours = ["--ca", "ours.pem"]
    good = seal("good", "ours", "IP:127.0.0.1")
    refused(tap, "an authority that nobody named", Files(seal=good))
    refused(tap, "another authority", Files(seal=good), "--ca", "theirs.pem")
    refused(tap, "another name", Files(seal=seal("other", "ours",
                                                 "DNS:elsewhere.example")),
            *ours)
    refused(tap, "a certificate past its time",
            Files(seal=seal("old", "ours", "IP:127.0.0.1", "-1")), *ours)
    refused(tap, "one that signed itself",
            Files(seal=("theirs.pem", "theirs.key")), *ours)
    refused(tap, "a file that holds no certificate", Files(seal=good), "--ca",
            "text", words="holds no certificates")
    refused(tap, "a file that is not there", Files(seal=good), "--ca",
            "nothing", words="holds no certificates")
    plain = Files()
    refused(tap, "a server that leads to a road without TLS",
            Files(seal=good, elsewhere=plain.address), *ours,
            words="leads to an address without TLS")
    tap.equal(plain.requests, 0, "... and nobody goes there")
    plain.close()


def main():
    tap = Tap()
    if shutil.which("openssl") is None:
        tap.skip("shared data over TLS", "no openssl to make certificates")
        tap.done()
    authority("ours")
    authority("theirs")
    Path("text").write_text("no certificate\n", encoding="ascii")
    wanted = result_of(run(*JOB).stdout).get("hash")
    run(*JOB, "-n", "1", "--data-shared", "all.shared", "--out", "write")
    tap.ok(Path("all.shared").exists(), "the file is there")
    reads(tap, wanted)
    refusals(tap)
    tap.done()


if __name__ == "__main__":
    main()
