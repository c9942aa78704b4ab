#!/usr/bin/env python3
"""What a fault costs: the pause between two commits around it.

For each kind of fault, runs with one fault each; the pause is the gap between
the commits before and after the fault, less the median gap of the same run.
Compared with the detector's limits: a socket death <= 50 ms and the lost work,
SIGSTOP <= the suspicion limit + 50 ms, the coordinator < 2 s.

Of a ring every peer is killed, and every peer is stopped: no death may cost
more than twice another's.  Where torch is (Debian's python3-torch), torchrun's
elastic restart stands beside it: from a worker's death, and from that of a
whole node (its agent and its worker), to the next step that is made.  A ring's
must be 50 and 20 times shorter; its stopped peer, of which nothing is heard,
is what stands beside torchrun's dead node, whose connections break."""

import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MUSTER = os.environ.get("MUSTER", "build/muster")
PYTHON = os.environ.get("PYTHON", "/usr/bin/python3")
RUNS = int(os.environ.get("RUNS", "15"))
TORCH_RUNS = int(os.environ.get("TORCH_RUNS", "3"))
DATA = ["gen:gmm:40000,100", "--optim", "agd", "--steps", "60"]
STAR = ["-n", "8"]
RING = ["-n", "4", "--topology", "ring"]
PEERS = ["w0", "w1", "w2", "w3"]
KINDS = {
    # name: (chaos, limit in s over the usual step)
    "worker kill -9, steal": ("kill:w3@30", 0.050, [*STAR, "--code", "steal"]),
    "worker kill -9, uncoded": ("kill:w3@30", 0.050,
                                [*STAR, "--code", "uncoded"]),
    "worker SIGSTOP, steal": ("stop:w3@30+200", 0.350,
                              [*STAR, "--code", "steal"]),
    "worker SIGSTOP, uncoded": ("stop:w3@30+200", 0.350,
                                [*STAR, "--code", "uncoded"]),
    "coordinator kill -9": ("kill:coordinator@30", 2.0,
                            [*STAR, "--code", "steal"]),
    **{f"ring, {peer} kill -9": (f"kill:{peer}@30", 0.100, RING)
       for peer in PEERS},
    **{f"ring, {peer} SIGSTOP": (f"stop:{peer}@30+4000", 2.2, RING)
       for peer in PEERS},
}


def pause(chaos, flags):
    with tempfile.TemporaryDirectory() as folder:
        out = subprocess.run(
            [MUSTER, "train", *DATA, *flags, "--chaos", chaos, "--out",
             os.path.join(folder, "run"), "--format", "json"],
            check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    result = json.loads(out.stdout)
    usual = result["elapsed_s"] / result["steps"]
    return result["worst_pause_s"] - usual, usual, result["hash"]


# --- torchrun ----------------------------------------------------------------

def torchrun(folder, log, kill_at, steps, *flags):
    """An agent with its workers, in a process group of its own."""
    worker = Path(__file__).with_name("recovery_torch.py")
    # -r 1 -t 2: Debian's torchrun 1.13 with Python 3.11 dies on its default.
    return subprocess.Popen(
        [PYTHON, "-m", "torch.distributed.run", "-r", "1", "-t", "2",
         "--log_dir", str(folder / "logs"), "--max_restarts=3",
         "--monitor_interval=0.1", *flags, str(worker), str(log), str(kill_at),
         str(steps)],
        start_new_session=True, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"})


def lines(log):
    return [line.split() for line in log.read_text().splitlines()] \
        if log.exists() else []


def wait(log, enough, patience=150):
    until = time.monotonic() + patience
    while time.monotonic() < until:
        seen = lines(log)
        if enough(seen):
            return seen
        time.sleep(.05)
    return None


def steps_after_kill(seen):
    """Those of the new group: made a while after, when the old one is over."""
    killed = [float(line[0]) for line in seen if line[1] == "kill"]
    return [float(line[0]) - killed[0] for line in seen
            if killed and line[1] == "step" and
            float(line[0]) > killed[0] + .3]


def torch_process():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        log = folder / "log"
        agent = torchrun(folder, log, 20, 100000, "--standalone", "--nnodes=1",
                         "--nproc_per_node=3")
        seen = wait(log, steps_after_kill)
        os.killpg(agent.pid, signal.SIGKILL)
        agent.wait()
    return steps_after_kill(seen)[0] if seen else float("inf")


def torch_node():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        log = folder / "log"
        agents = []
        flags = ["--nnodes=2:3", "--nproc_per_node=1", "--rdzv_backend=c10d",
                 f"--rdzv_id=muster{os.getpid()}",
                 f"--rdzv_endpoint=localhost:{29600 + os.getpid() % 300}"]
        for _ in range(3):
            agents.append(torchrun(folder, log, -1, 100000, *flags))
            time.sleep(2 if len(agents) == 1 else 0)
        made = wait(log, lambda seen: sum(line[1] == "step"
                                          for line in seen) > 20)
        with open(log, "a") as out:
            print(time.time(), "kill", file=out)
        os.killpg(agents[2].pid, signal.SIGKILL)
        seen = wait(log, steps_after_kill) if made else None
        for agent in agents:
            try:
                os.killpg(agent.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            agent.wait()
    return steps_after_kill(seen)[0] if seen else float("inf")


def has_torch():
    return subprocess.run([PYTHON, "-c", "import torch.distributed"],
                          stderr=subprocess.DEVNULL,
                          check=False).returncode == 0


# -----------------------------------------------------------------------------

def beside_torchrun(medians):
    """True: not as much shorter as it must be."""
    if not has_torch():
        print(f"no torch in {PYTHON}: torchrun is left out")
        return False
    late = False
    for name, run, kind, least in (
            ("worker kill -9", torch_process, "kill -9", 50),
            ("node lost", torch_node, "SIGSTOP", 20)):
        seen = sorted(run() for _ in range(TORCH_RUNS))
        middle = statistics.median(seen) * 1e3
        worst = max(medians[f"ring, {peer} {kind}"] for peer in PEERS)
        late |= middle < least * worst
        print(f"torchrun, {name:<17}{'':>10}{seen[0] * 1e3:>13.0f}"
              f"{middle:>8.0f}{seen[-1] * 1e3:>8.0f}   ring, worst peer's "
              f"median, {kind}: {middle / worst:.0f} times shorter "
              f"(limit {least})", flush=True)
    return late


def main():
    hashes = set()
    medians = {}
    late = False
    wanted = [name for name in KINDS
              if not sys.argv[1:] or any(arg in name for arg in sys.argv[1:])]
    seen = {name: [] for name in wanted}
    for _ in range(RUNS): # In turn: what else the machine does hits all.
        for name in wanted:
            chaos, _, flags = KINDS[name]
            seen[name].append(pause(chaos, flags))
    print(f"{'fault':<26}{'usual step':>11}{'pause: least':>13}{'median':>8}"
          f"{'most':>8}{'limit':>8}   ms")
    for name in wanted:
        limit = KINDS[name][1]
        hashes.update(h for _, _, h in seen[name])
        pauses = sorted(p * 1e3 for p, _, _ in seen[name])
        usual = statistics.median(u for _, u, _ in seen[name]) * 1e3
        medians[name] = statistics.median(pauses)
        late |= medians[name] > limit * 1e3
        print(f"{name:<26}{usual:>11.1f}{pauses[0]:>13.1f}"
              f"{medians[name]:>8.1f}{pauses[-1]:>8.1f}{limit * 1e3:>8.0f}",
              flush=True)
    for kind in ("kill -9", "SIGSTOP"):
        deaths = [medians[name] for name in medians
                  if name.startswith("ring") and name.endswith(kind)]
        if deaths:
            ratio = max(deaths) / min(deaths)
            late |= ratio > 2
            print(f"ring, {kind}: the dearest peer {ratio:.2f} times the "
                  "cheapest (limit 2)")
    if all(f"ring, {peer} kill -9" in medians for peer in PEERS):
        late |= beside_torchrun(medians)
    count = len(hashes)
    print(f"{count} hash" + ("es: WRONG" if count > 1 else ""))
    sys.exit(late or count > 1)


if __name__ == "__main__":
    main()
