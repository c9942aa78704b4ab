#!/usr/bin/env python3
"""Peers without manners at the coordinator's door while it trains (P11).

Silent connections, garbage, huge lengths, half frames, TLS noise, resets:
the run ends with its hash, in little more memory.
"""

import os
import random
import signal
import socket
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))
from cluster import (Tap, address_of, child_named, finish,  # noqa: E402
                     memory_kib, perfect_hash, result_of, run, start,
                     train_args, wait_step)

STEPS = 300
SEED = 7
MEMORY_KIB = 64 * 1024


def connect(address):
    host, port = address.rsplit(":", 1)
    peer = socket.create_connection((host, int(port)), timeout=5)
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                    struct.pack("ii", 1, 0))  # Closing is a reset.
    return peer


def noise(rng):
    """What a stranger may say first."""
    greeting = b"MUSTER-1" + bytes([rng.randrange(3)]) + rng.randbytes(16)
    return rng.choice([
        b"",
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        rng.randbytes(rng.randrange(1, 5000)),
        struct.pack("<I", 0xffffffff),
        struct.pack("<I", 0x80000000 | (1 << 20)) + rng.randbytes(3000),
        struct.pack("<I", len(greeting)) + greeting,
        struct.pack("<I", len(greeting)) + greeting[:9],
        (struct.pack("<I", len(greeting)) + greeting) * 3,
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + rng.randbytes(500),
        b"\x16\x03\x01\xff\xff" + rng.randbytes(2000),
        b"\x15\x03\x03\x00\x02\x02\x28",
    ])


def attack(address, rng, count, keep):
    """Open and close many connections; at most `keep` at a time."""
    held = []
    for _ in range(count):
        try:
            peer = connect(address)
            peer.settimeout(0.2)
            peer.sendall(noise(rng))
        except OSError:
            continue
        held.append(peer)
        if len(held) > keep:
            held.pop(rng.randrange(len(held))).close()
    for peer in held:
        peer.close()


def under_attack(tap, name, wanted, flags, key):
    rng = random.Random(SEED)
    out = name
    process = start(*train_args(out, "-n", "2", "--delay", "exp:0.01", *flags,
                                steps=STEPS))
    try:
        address = address_of(out)
        wait_step(out, 1, *key)
        coordinator = child_named(process.pid, "coordinator")
        before = memory_kib(coordinator)
        attack(address, rng, 600, 100)
        after = memory_kib(coordinator)
        joiner = run("status", out, "--format", "json", *key)
    except (AssertionError, OSError) as error:
        os.kill(process.pid, signal.SIGKILL)
        tap.ok(False, name, f"seed {SEED}: {error}")
        return
    code, text, err = finish(process)
    result = result_of(text)
    tap.ok(after - before < MEMORY_KIB, f"{name}: little memory",
              f"{before} KiB, then {after} KiB")
    tap.ok(joiner.returncode == 0, f"{name}: honest peers get through",
              joiner)
    tap.ok(code == 0 and result.get("hash") == wanted and
              result["workers"]["died"] == 0 and
              result["workers"]["joined"] == 2, f"{name}: the same hash",
              f"seed {SEED}: {code} {result} {err}")
    tap.ok(len(err.splitlines()) < 500, f"{name}: a short log",
              f"{len(err.splitlines())} lines")


def main():
    tap = Tap()
    wanted = perfect_hash(STEPS)
    under_attack(tap, "plain", wanted, [], [])
    done = run("token", "new", "cluster.token")
    tap.ok(done.returncode == 0, "token new", done.stderr)
    key = ["--token-file", "cluster.token"]
    under_attack(tap, "sealed", wanted, ["--listen", "0.0.0.0:0", *key], key)
    tap.done()


main()
