#!/usr/bin/env python3
"""examples/shuffle.c, compiled as a user would: what its processes send is the
formula's bytes to the byte, in rational numbers; half of uncoded's with two
workers; without multicast exactly uncoded's.  Every row arrives bit for bit,
and training ends on the same loss whichever way rows came."""

import json
import os
import select
import socket
import subprocess
import sys
import tempfile
import time
from fractions import Fraction

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
import checks

ROOT = os.environ["ROOT"]
FOLDER = tempfile.TemporaryDirectory()
GROUP = (239, 255, 83, 72)  # examples/shuffle.c
PROGRAM = os.path.join(FOLDER.name, "shuffle")


def builds():
    subprocess.run(["cc", "-std=c17", "-Wall", "-Wextra", "-Werror", "-O2",
                    "-ffp-contract=off", "-o", PROGRAM,
                    *(f"{ROOT}/examples/{name}"
                      for name in ("shuffle.c", "shuffle_plan.c"))], check=True)


def call(words):
    return subprocess.run([PROGRAM, *words.split()], text=True, timeout=60,
                          capture_output=True, check=False)


def shuffled(words, code=0):
    done = call(words + " --format json")
    assert done.returncode == code, done
    return json.loads(done.stdout)


def rows_of_a_deal(n, p, q):
    """Handbook 4.3's R, written as the sum over sets that it comes from: of the
    q / n^2 rows that go from one worker to another, a set of k workers exchanges
    those that its k - 2 others hold and the n - k outside do not."""
    total, ways = Fraction(0), Fraction(1)
    for k in range(1, n + 1):
        ways = ways * (n - k + 1) / k  # n over k
        if k >= 2:
            total += ways * (k - 1) * Fraction(p) ** (k - 2) * \
                Fraction(1 - p) ** (n - k + 1)
    return total * q / n ** 2


def whole_and_right(run):
    assert run["wrong_rows"] == 0, run
    assert run["right_rows"] == run["deals"] * run["rows"], run
    assert run["cached_most"] == run["cache_rows"], run


def formula_to_the_byte():
    for n in 2, 3, 4, 5:
        for keep in "0/1", "1/2", "1/3", "2/3":
            p = Fraction(keep)
            rows = n ** 2 * p.denominator ** (n - 1)
            rows *= 1 + 300 // rows
            run = shuffled(f"-n {n} --keep {keep} --rows {rows} --columns 3 "
                           "--passes 4")
            whole_and_right(run)
            wanted = 3 * rows_of_a_deal(n, p, rows)
            assert run["messages"] == wanted, (n, keep, run)
            assert run["sent_bytes"] == wanted * run["row_bytes"], run
            assert abs(run["formula_bytes"] / run["sent_bytes"] - 1) < 1e-12, run
            cache = Fraction(rows, n) + p * (rows - Fraction(rows, n))
            assert run["cache_rows"] == cache, run
            assert run["wanted_rows"] == 3 * (rows - cache), run


def two_workers_half():
    run = shuffled("-n 2 --passes 6")
    plain = shuffled("-n 2 --passes 6 --code none --network unicast")
    assert 2 * run["sent_bytes"] == plain["sent_bytes"] > 0, (run, plain)


def other_ways():
    for placement in "balanced", "random":
        base = f"--placement {placement} --rows 1024 --passes 5 "
        coded, plain, each = (shuffled(base + way) for way in (
            "", "--code none --network unicast", "--network unicast"))
        for run in coded, plain, each:
            whole_and_right(run)
            assert run["losses"] == coded["losses"], run
            assert run["wanted_rows"] == coded["wanted_rows"], run
        uncoded = plain["wanted_rows"] * plain["row_bytes"]
        assert plain["sent_bytes"] == each["sent_bytes"] == uncoded, (plain, each)
        assert coded["sent_bytes"] < uncoded / 2, coded


def random_pads():
    """More than the formula, and less so with more rows."""
    over = []
    for rows in 1024, 16384:
        run = shuffled(f"-n 4 --placement random --rows {rows} --columns 3 "
                       "--passes 5")
        whole_and_right(run)
        over.append(run["sent_bytes"] / run["formula_bytes"])
    assert over[0] > over[1] > 1 and over[1] < 1.1, over


def heard_again():
    run = shuffled("--rows 512 --passes 3 --lose 7")
    whole_and_right(run)
    assert run["resent_bytes"] >= run["row_bytes"], run
    assert run["sent_bytes"] == run["messages"] * run["row_bytes"], run


def ports():
    """Where somebody hears the group."""
    address = "".join(f"{byte:02X}" for byte in reversed(GROUP))
    with open("/proc/net/udp", encoding="ascii") as table:
        here = [line.split()[1].split(":") for line in table][1:]
    return {int(port, 16) for host, port in here if host == address}


def strays():
    """Whoever speaks to the group all the time does not keep a worker from
    asking again for what it has lost."""
    before = ports()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as mouth, \
            subprocess.Popen([PROGRAM, "--rows", "512", "--passes", "3",
                              "--lose", "7", "--format", "json"], text=True,
                             stdout=subprocess.PIPE) as worker:
        mouth.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF,
                         socket.inet_aton("127.0.0.1"))
        mouth.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 0)
        end, said = time.monotonic() + 20, 0
        while worker.poll() is None and time.monotonic() < end:
            for port in ports() - before:
                mouth.sendto(b"stray", (".".join(map(str, GROUP)), port))
                said += 1
            select.select([], [], [], .02)
        stalled = worker.poll() is None
        if stalled:
            worker.kill()
        assert not stalled and said > 5, (stalled, said)
        whole_and_right(json.loads(worker.stdout.read()))


def wrong_bit():
    run = shuffled("--rows 512 --passes 2 --damage 3", code=1)
    assert 1 <= run["wrong_rows"] <= 4, run  # One message's rows.


def shuffling_helps():
    """Each pass, once, never: in this order at the end.  Once and each are
    one run up to the first deal."""
    runs = {way: shuffled(f"--rows 1024 --passes 20 --shuffle {way}")
            for way in ("each", "once", "never")}
    gaps = [run["losses"][-1] - run["least_loss"] for run in runs.values()]
    assert 0 < gaps[0] < gaps[1] / 2 < gaps[2] / 4, gaps
    assert runs["once"]["losses"][0] == runs["each"]["losses"][0], runs
    assert runs["once"]["losses"][1] != runs["each"]["losses"][1], runs
    assert runs["once"]["sent_bytes"] == runs["never"]["sent_bytes"] == 0


def sentences():
    for words, said in (("-n 1", "from 2 to 12"), ("--rows 100", "multiple of 128"),
                        ("--keep 2/2", "from 0 to 1"), ("--keep x", "fraction"),
                        ("-n 12 --keep 1/3", "--placement random"),
                        ("--code mds", "no such choice"), ("--row 1", "no option"),
                        ("--rows", "missing")):
        done = call(words)
        assert done.returncode == 1 and said in done.stderr, (words, done)


def documented():
    page = open(f"{ROOT}/docs/reproduce.md", encoding="utf-8").read()
    words, _, shown = page.partition("examples/shuffle -n")[2].partition("\n")
    done = call("-n" + words)
    assert done.stdout == "".join(
        line[4:] for line in shown.splitlines(True)
        if line.startswith("    ")), done.stdout


checks.run([
    ("compiles without a warning", builds),
    ("balanced: the formula's bytes exactly, 16 settings", formula_to_the_byte),
    ("two workers: exactly half of uncoded", two_workers_half),
    ("without multicast uncoded's bytes; one loss for all ways", other_ways),
    ("freely drawn: more than the formula, less with more rows", random_pads),
    ("a message that is lost is sent again", heard_again),
    ("... though others speak to the group all the time", strays),
    ("a wrong bit is seen", wrong_bit),
    ("SGD: shuffled each pass < once < never", shuffling_helps),
    ("what cannot be is refused with a sentence", sentences),
    ("docs/reproduce.md shows what it prints", documented),
])
