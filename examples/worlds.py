#!/usr/bin/env python3
"""One training in many worlds: instruction sets, processors, threads,
processes, topologies, kills, a partition.  Prints a line and the model's hash
for each; ends with 1 if two differ.

    make worlds

What this machine cannot do (another instruction set, an emulator, network
namespaces) is named as skipped, with the reason.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MUSTER = os.environ.setdefault("MUSTER", str(ROOT / "build/muster"))
sys.path.insert(0, str(ROOT / "tests/net/lib"))
from cluster import run, wait_for  # noqa: E402
from field import Field, why_not  # noqa: E402
import journal  # noqa: E402
from one_hash import Skipped, compare  # noqa: E402

DATA, STEPS, SEED = "gen:gmm:6000,40", 60, 5
JOB = [DATA, "--model", "logistic", "--optim", "gd", "--no-intercept",
       "--accuracy", 0, "--steps", STEPS, "--seed", SEED]
WORLDS = [
    ("one process", []),
    ("its portable kernels", ["--isa", "portable"]),
    ("AVX2", ["--isa", "avx2"]),
    ("AVX-512", ["--isa", "avx512"]),
    ("4 threads", ["--threads", 4]),
    ("8 processes, shared memory", ["-n", 8]),
    ("8 processes, TLS over TCP", ["-n", 8, "--bulk", "tcp"]),
    ("12 processes behind 3 relays", ["-n", 12, "--fanout", 4]),
    ("a ring of 4, no coordinator", ["-n", 4, "--topology", "ring"]),
    ("replicated data, one slow worker",
     ["-n", 4, "--code", "frc", "--stragglers", 1, "--delay", "worker:w1=9"]),
    ("kill -9 of 3 workers of 4",
     ["-n", 4, "--chaos", "kill:w1@9,kill:w2@9,kill:w3@30"]),
    ("kill -9 of the coordinator, twice",
     ["-n", 4, "--chaos", "kill:coordinator@9,kill:coordinator@30"]),
    ("kill -9 of 3 peers of a ring of 4",
     ["-n", 4, "--topology", "ring", "--chaos",
      "kill:w1@9,kill:w2@9,kill:w3@30"]),
    ("one stops, one leaves, two join",
     ["-n", 4, "--chaos", "stop:w2@5+3,leave:w1@9,join@12,join@20"]),
]


def train(*flags):
    code, out, err = run("train", *JOB, *flags, "--format", "json", "-q")
    if "this processor does not have it" in err:
        raise Skipped(err.strip().splitlines()[-1])
    if code != 0:
        raise OSError(f"exit {code}: {err}")
    return json.loads(out)["hash"]


def aarch64():
    """The same sources for another processor, under qemu."""
    built = subprocess.run(["sh", ROOT / "tests/lib/lib/once.sh"], text=True,
                           capture_output=True, check=False,
                           env={**os.environ, "ROOT": str(ROOT)})
    if built.returncode == 77:
        raise Skipped(built.stdout.strip())
    command = (f"{built.stdout.strip()} ./once logistic gd {DATA} {STEPS} "
               f"{SEED} | sha256sum")
    return subprocess.run(command, shell=True, text=True, check=True,
                          stdout=subprocess.PIPE).stdout.split()[0]


def partition():
    """Three machines (network namespaces), one cut off until it is believed
    dead, and connected again."""
    reason = why_not()
    if reason:
        raise Skipped(reason)
    run("token", "new", "cluster.token")
    token = ["--token-file", "cluster.token"]
    with Field(os.getpid(), "worlds") as field, open("log", "w") as log, \
            open("result", "w") as result:
        for node in ("c", "w0", "w1"):
            field.add(node)
        host = field.start(
            "c", MUSTER, "train", *JOB, "--listen", f"{field.address('c')}:0",
            "--workers", 2, "--delay", "exp:0.03", "--out", "run", "--format",
            "json", *token, out=result, err=log)
        file = Path("run/address")
        at = wait_for(lambda: file.exists() and file.read_text().strip(),
                      "an address")
        for node in ("w0", "w1"):
            field.start(node, MUSTER, "join", at, "--name", node,
                        "--chunk-cache", "none", *token)
        wait_for(lambda: journal.last_step("run") > 5, "some steps")
        field.cut("w1", "blackhole")
        wait_for(lambda: "w1 suspect" in Path("log").read_text() or
                 "w1 died" in Path("log").read_text(), "w1 to be missed")
        field.heal("w1")
        host.wait(timeout=60)
    return json.loads(Path("result").read_text())["hash"]


worlds = [(name, lambda flags=flags: train(*flags)) for name, flags in WORLDS]
worlds.insert(4, ("aarch64 (qemu)", aarch64))
worlds.append(("a machine cut off, and back", partition))
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    sys.exit(compare(JOB, worlds, "worlds"))
