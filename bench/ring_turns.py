#!/usr/bin/env python3
"""Two programs, or more, on the same ring in turn: is the new one less work?

    bench/ring_turns.py BASE NEW [...]      # paths of muster

    ROADS=shm,plain DIMS=1000000 PEERS=8 ROUNDS=5 STEPS=30,130 ...
    TORCH=python3   # with torch: gloo's all-reduce in the same minutes
    CALLS=1         # count system calls (strace; its times mean nothing)

Each round runs every program once with few and once with many steps: what many
cost more is what steps cost, without the beginning and the end of a run.  For
each road and program, of all rounds: the median step by the clock (--trace, of
the long runs), the least and the median processor time of a step, all
processes, and its ratio to the first program's of the same round.  All hashes
of a road must be one."""

import collections
import os
import re
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
# ring.py reads these when it is imported.
os.environ.setdefault("PEERS", "8")
import ring  # noqa: E402

ROADS = os.environ.get("ROADS", "shm,plain").split(",")
DIMS = int(os.environ.get("DIMS", "1000000"))
ROUNDS = int(os.environ.get("ROUNDS", "5"))
FEW, MANY = (int(s) for s in os.environ.get("STEPS", "30,130").split(","))


def command(program, road, steps, folder):
    return [program, "train", f"gen:gmm:{ring.PEERS},{DIMS}", "--chunk-rows",
            "1", "-n", str(ring.PEERS), "--topology", "ring", "--bulk", road,
            "--optim", "gd", "--lr", "1e-3", "--steps", str(steps), "--out",
            os.path.join(folder, "run"), "-q", "--format", "json"]


def run(program, road, steps):
    """Hash, processor time of the whole run, times of its steps."""
    with tempfile.TemporaryDirectory(dir=ring.FOLDER) as folder:
        trace = os.path.join(folder, "trace.json")
        before = ring.spent()
        out = subprocess.run(
            [*command(program, road, steps, folder), "--trace", trace],
            check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        hash_of = re.search(rb'"hash": "(\w+)"', out.stdout).group(1)
        return hash_of, ring.spent() - before, ring.step_times(trace)


def calls(program, road, steps):
    """System calls of a run, by name."""
    with tempfile.TemporaryDirectory(dir=ring.FOLDER) as folder:
        log = os.path.join(folder, "calls")
        subprocess.run(["strace", "-f", "-c", "-o", log,
                        *command(program, road, steps, folder)],
                       check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        with open(log) as file:
            rows = [line.split() for line in file]
    return collections.Counter({row[-1]: int(row[3]) for row in rows
                                if len(row) >= 5 and row[3].isdigit()
                                and row[-1] != "total"})


def show_calls(programs, road):
    for name, program in programs.items():
        more = calls(program, road, MANY)
        more.subtract(calls(program, road, FEW))
        some = ", ".join(f"{what} {count / (MANY - FEW):.1f}"
                         for what, count in more.most_common(6))
        total = sum(more.values()) / (MANY - FEW)
        print(f"{road:<6}{name:<8}{total:8.1f} system calls a step: {some}",
              flush=True)


def measure(programs, road, torch):
    clock, cpu, exchange, hashes = {}, {}, [], set()
    for _ in range(ROUNDS):
        for name, program in programs.items():
            few = run(program, road, FEW)
            many = run(program, road, MANY)
            hashes.add(many[0])
            clock.setdefault(name, []).append(many[2])
            cpu.setdefault(name, []).append(
                (many[1] - few[1]) / (MANY - FEW) * 1e3)
        if torch:
            exchange.extend(ring.run_gloo(DIMS)["int64"])
    return clock, cpu, exchange, hashes


def show(road, clock, cpu, exchange):
    first = next(iter(cpu))
    for name, used in cpu.items():
        steps = [step * 1e3 for times in clock[name] for step in times]
        medians = [statistics.median(times) * 1e3 for times in clock[name]]
        ratios = [a / b for a, b in zip(used, cpu[first])]
        print(f"{road:<6}{name:<8}{min(steps):9.3f}"
              f"{statistics.median(steps):9.3f}  ({min(medians):.2f}-"
              f"{max(medians):.2f}){min(used):9.2f}"
              f"{statistics.median(used):9.2f}"
              f"{statistics.median(ratios):8.3f}  "
              f"({min(ratios):.3f}-{max(ratios):.3f})", flush=True)
    if exchange:
        least = statistics.median(exchange) * 1e3
        print(f"{road:<6}{'gloo':<8}{min(exchange) * 1e3:9.3f}{least:9.3f}",
              flush=True)


def main():
    programs = {f"{i}" if i else "base": os.path.abspath(path)
                for i, path in enumerate(sys.argv[1:])}
    torch, wrong = ring.has_torch(), False
    print(f"{ring.PEERS} peers, {DIMS} weights, {os.cpu_count()} processors, "
          f"{ROUNDS} rounds, {FEW} and {MANY} steps; ms a step")
    print(f"{'':<14}{'least':>9}{'median':>9}  (medians)   cpu least   median"
          "   by base")
    for road in ROADS:
        clock, cpu, exchange, hashes = measure(programs, road, torch)
        show(road, clock, cpu, exchange)
        if "CALLS" in os.environ:
            show_calls(programs, road)
        wrong |= len(hashes) > 1
    if wrong:
        print("the programs end on different models: WRONG")
    sys.exit(wrong)


if __name__ == "__main__":
    main()
