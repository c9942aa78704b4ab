"""A real Slurm on one machine: munged, slurmctld and several slurmd, with
ports, keys and configuration of their own, all in one folder.

    with Slurm(["n1", "n2"]) as slurm:
        slurm.queue()      [(job, state, node)] of what runs or waits
        slurm.call("scancel", "7")
        slurm.kill_node("n1")
"""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from pathlib import Path

from cluster import Setting, happens, kill, undisturbed, wait_for

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel",
            "scontrol", "sinfo", "srun")
PATH = f"/usr/sbin:{os.environ['PATH']}"


def lacking():
    """Why there can be none here; None if there can."""
    missing = [name for name in PROGRAMS if not shutil.which(name, path=PATH)]
    if missing:
        return (f"there is no {missing[0]}: tools/deps.sh engines installs "
                "Slurm and munge")
    if os.geteuid() != 0:
        return "only root can start slurmd"
    return None


def free_ports(count):
    with contextlib.ExitStack() as stack:
        return [stack.enter_context(socket.create_server(("127.0.0.1", 0)))
                .getsockname()[1] for _ in range(count)]


class Slurm(Setting):
    def __init__(self, nodes):
        self.nodes = nodes

    def open(self):
        with undisturbed():
            self.folder = Path(tempfile.mkdtemp(prefix="muster-slurm-",
                                                dir="/tmp"))
            self.undo.callback(shutil.rmtree, self.folder, ignore_errors=True)
        self.folder.chmod(0o755)
        for name in ("state", "spool", "log", "run"):
            (self.folder / name).mkdir(mode=0o755)
        self.write_config()
        os.environ["SLURM_CONF"] = str(self.folder / "slurm.conf")
        self.undo.callback(os.environ.pop, "SLURM_CONF")
        self.start_munge()
        self.daemon("slurmctld", "-D", "-f", str(self.folder / "slurm.conf"))
        self.slurmd = {node: self.daemon("slurmd", "-D", "-N", node, "-f",
                                         str(self.folder / "slurm.conf"))
                       for node in self.nodes}
        self.undo.callback(self.cancel_all)
        wait_for(self.all_idle, "all nodes to be idle")

    def start_munge(self):
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(64))
        key.chmod(0o600)
        self.daemon("munged", "--foreground", f"--key-file={key}",
                    f"--socket={self.folder}/run/munge",
                    f"--pid-file={self.folder}/run/munge.pid",
                    f"--log-file={self.folder}/log/munged",
                    f"--seed-file={self.folder}/run/munge.seed")
        wait_for((self.folder / "run/munge").exists, "munged")

    def write_config(self):
        host = socket.gethostname()
        ports = free_ports(1 + len(self.nodes))
        nodes = "\n".join(
            f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 "
            f"Port={port} CPUs=2" for node, port in zip(self.nodes, ports[1:]))
        # A requeued job waits until credentials of its last life are void.
        (self.folder / "slurm.conf").write_text(f"""\
ClusterName=muster
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
AuthType=auth/munge
AuthInfo=socket={self.folder}/run/munge,cred_expire=5
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={self.folder}/state
SlurmdSpoolDir={self.folder}/spool/%n
SlurmctldPidFile={self.folder}/run/slurmctld.pid
SlurmdPidFile={self.folder}/run/slurmd.%n.pid
SlurmctldLogFile={self.folder}/log/slurmctld
SlurmdLogFile={self.folder}/log/slurmd.%n
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,batch_sched_delay=0
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=5
SlurmdTimeout=6
MessageTimeout=5
{nodes}
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
""")

    def daemon(self, program, *words):
        with open(self.folder / "log" / "daemons", "ab") as log:
            process = subprocess.Popen(
                [shutil.which(program, path=PATH), *words], stdout=log,
                stdin=subprocess.DEVNULL, stderr=log,
                process_group=0)  # Ctrl-C is the test's to hear.
        self.undo.callback(self.end, process)
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
        process.wait()

    def call(self, program, *words):
        done = subprocess.run([program, *words], check=False, text=True,
                              capture_output=True, stdin=subprocess.DEVNULL,
                              timeout=60)
        return done.stdout if done.returncode == 0 else ""

    def all_idle(self):
        states = self.call("sinfo", "-h", "-N", "-o", "%T").split()
        return states == ["idle"] * len(self.nodes)

    def queue(self):
        rows = self.call("squeue", "-h", "-r", "-o", "%i %T %N").splitlines()
        return [(*row.split(), "")[:3] for row in rows]

    def kill_node(self, node):
        """As if its machine had lost its power: the daemon, and all it ran."""
        self.slurmd[node].kill()
        self.slurmd[node].wait()
        self.kill_jobs(node)

    def kill_jobs(self, node):
        for pid in self.jobs_on(node):
            kill(pid, signal.SIGKILL)

    def jobs_on(self, node):
        """slurmstepd forgets its command line, but not its children: those have
        the node's name and the configuration in their environment."""
        found = set()
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                told = (entry / "environ").read_bytes().split(b"\0")
                if entry.name.isdigit() and \
                        f"SLURMD_NODENAME={node}".encode() in told and \
                        f"SLURM_CONF={self.folder}/slurm.conf".encode() in told:
                    found.add(int(entry.name))
                    found.add(parent_step(int(entry.name)))
        found.discard(None)
        return found

    def cancel_all(self):
        for job, _, _ in self.queue():
            self.call("scancel", "--full", job)
        happens(lambda: not self.queue())
        for node in self.nodes:  # What a dead node left.
            self.kill_jobs(node)


def parent_step(pid):
    """The slurmstepd above a process; None if there is none."""
    with contextlib.suppress(OSError, ValueError):
        stat = Path(f"/proc/{pid}/stat").read_text()
        parent = int(stat[stat.rindex(")") + 2:].split()[1])
        if Path(f"/proc/{parent}/comm").read_text().startswith("slurmstepd"):
            return parent
    return None
