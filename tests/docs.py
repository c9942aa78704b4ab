#!/usr/bin/env python3
"""Every shell command that README and docs show is run, page by page in a
folder of its own, on small files that stand in for the reader's; the tutorial
in three shells, as it says.  What must not be run here stands behind

    <!-- not run: WHY -->

and is counted as skipped.  A hash that is shown comes out; links lead to pages
and headings that exist, and every page is in the index."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib/lib"))
from shown import (LIMIT_S, MUSTER, ROOT, Tap, address, hashes,  # noqa: E402
                   matrix, rows, run, together)

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md",
         *sorted((ROOT / "docs").glob("*.md"))]
COMMAND = re.compile(
    r"    (?:\w*\$ +)?((?:(?:muster|make|pip|cc|sudo|git|python3|mpirun|"
    r"srun|sbatch|squeue|podman|kubectl|\[)(?:\s|$)(?!noticed )|"
    r"tools/|bench/|build/|[A-Z]+=\S+ ).*)")
SHELL = re.compile(r"    (one|two|three)\$ (.*)")
# Less of the same; and what a page leaves to the reader.
SMALL = [(r"-n 256 --fanout (16|8)", "-n 12 --fanout 4"), (r"1:10000", "1:3"),
         (r"--steps (2000|400)", "--steps 40"),
         (r"gen:digits( |$)", r"gen:digits:200\1"),
         (r"--net \"dense128", '--passes 2 --net "dense128'),
         (r"--passes 10 ", "--passes 1 "), (r"kill:w1@90", "kill:w1@1"),
         (r"20000, 500", "200, 500"), (r"\bDATA MODEL\b", "data.svm model"),
         (r"muster-runs/(NUMBER-ID|0007-27ae)", "muster-runs/latest"),
         (r"--to FILE.html", "--to a.html"), (r"exp:0\.05", "exp:0.01")]
FILES = ["yours.svm", "data.svm", "heart.svm", "heart.test", "yours.csv",
         "data.csv", "big.csv", "test.svm", "mine0.svm", "mine1.svm",
         "mine2.svm"]
# Open MPI asks before root starts anything, and counts processors; nobody here
# needs a network.
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
       "OMPI_MCA_rmaps_base_oversubscribe": "1",
       "OMPI_MCA_hwloc_base_binding_policy": "none",
       "OMPI_MCA_btl": "self,vader", "OMPI_MCA_oob_tcp_if_include": "lo",
       "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
       "OMPI_MCA_plm_rsh_agent": "false", "HYDRA_IFACE": "lo"}
TOKEN = Path("cluster.token").resolve()
tap = Tap()


def stand_ins():
    for seed, name in enumerate(FILES):
        rows(name, seed)
    for name in ("A.npy", "B.npy"):
        matrix(name, 12, 12)
    matrix("digits.npy", 60, 785,
           lambda i: i // 785 % 10 if i % 785 == 784 else i % 7)
    Path("net.txt").write_text("dense10\n")
    for name in ("cluster.token", "a.token"):
        Path(name).write_bytes(TOKEN.read_bytes())
        os.chmod(name, 0o600)


def whole(line, rest):
    """The command with the lines that belong to it: an open quote, a \\."""
    while True:
        try:
            shlex.split(line)
            if not line.endswith("\\"):
                return line
        except ValueError:
            pass
        line += "\n" + next(rest)[4:]


def commands(page):
    """(command, why it is not run or None, whether a block begins)"""
    lines = iter(page.read_text(encoding="utf-8").splitlines())
    reason = None
    inside = fenced = False
    for line in lines:
        fenced ^= line.startswith("```")
        found = re.fullmatch(r"<!-- not run: (.*) -->", line)
        if found:
            reason, inside = found[1], False
        elif line.startswith("    ") and not fenced:
            command = COMMAND.fullmatch(line)
            if command:
                yield whole(command[1], lines), reason, not inside
            inside = True
        elif line.strip():
            reason, inside = None, False
        elif inside:
            reason, inside = None, False


def small(command):
    if command.startswith("muster token new "):
        Path(command.split()[3]).unlink(missing_ok=True)
    for pattern, less in SMALL:
        command = re.sub(pattern, less, command)
    return command


def bash(command):
    env = {**os.environ, **MPI, "PATH": f"{os.path.abspath('bin')}:"
           f"{os.environ['PATH']}", "PYTHONPATH": f"{ROOT}/python"}
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], env=env,
                          text=True, capture_output=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=LIMIT_S)
    return done.returncode, done.stdout + done.stderr


def no_mpi(command):
    """Why what ranks do cannot be run; None: it can."""
    if "mpirun" not in command:
        return None
    if not shutil.which("mpirun"):
        return "no mpirun here: tools/deps.sh mpi"
    version = subprocess.run(["mpirun", "--version"], text=True, check=False,
                             capture_output=True).stdout
    program = "openmpi" if "Open MPI" in version else "mpich"
    return None if Path(f"{MUSTER}-{program}").exists() else \
        f"no muster-{program} was built: tools/deps.sh mpi"


def ranks(page, command):
    """Ranks end well; of generated rows, on the hash that the page shows."""
    code, said = bash(small(command))
    found = re.findall(r"^model +(\w{64})", said, re.MULTILINE)
    shown = page.read_text(encoding="utf-8")
    tap.ok(code == 0 and len(found) == 1 and
           ("gen:" not in command or found[0] in shown),
           f"{page.name}: {command.splitlines()[0]}", said)


def play(page):
    """A page's commands in turn; those that listen, with who joins them.  The
    README's are run by tests/lib/readme.py."""
    waiting = None
    for number, (command, reason, first) in enumerate(commands(page)):
        name = f"{page.name}: {command.splitlines()[0]}"
        waiting = None if first else waiting
        words = shlex.split(command, comments=True)
        if reason:
            tap.skip(name, reason)
        elif page.name == "README.md" and words[0] == "muster":
            continue
        elif no_mpi(command):
            tap.skip(name, no_mpi(command))
        elif "mpirun" in words:
            ranks(page, command)
        elif "0.0.0.0:7731" in words:
            waiting = words
        elif waiting and words[:2] == ["muster", "join"]:
            ends = together(waiting, words, number)
            tap.ok(all(code == 0 for code, _ in ends), name, ends)
        else:
            code, said = bash(small(command))
            tap.ok(code == 0, name, said)


class Shell:
    """One of the tutorial's: takes lines, says when the last one is over."""

    def __init__(self, name):
        self.log = Path(f"{name}.log")
        self.lines = 0
        self.process = subprocess.Popen(
            ["bash", "-m"], stdin=subprocess.PIPE, text=True,
            stdout=open(self.log, "w"), stderr=subprocess.STDOUT,
            env={**os.environ, "PATH": f"{os.path.abspath('bin')}:"
                 f"{os.environ['PATH']}"})

    def send(self, line):
        self.lines += 1
        self.process.stdin.write(f"{line}\necho @{self.lines} $?\n")
        self.process.stdin.flush()

    def said(self):
        return self.log.read_text()

    def codes(self):
        return [int(code) for code in re.findall(r"^@\d+ (\d+)$", self.said(),
                                                 re.MULTILINE)]

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=LIMIT_S)


def until(look):
    for _ in range(100 * LIMIT_S):
        if look():
            return
        subprocess.run(["sleep", "0.01"], check=False)


def tutorial(page):
    text = page.read_text(encoding="utf-8")
    shells = {name: Shell(name) for name in ("one", "two", "three")}
    one = shells["one"]
    for name, line in SHELL.findall(text):
        shell = shells[name]
        until(lambda: len(shell.codes()) == shell.lines)
        if line.startswith(("kill", "muster status")):
            until(lambda: re.search(r"^step \d+/", one.said(), re.MULTILINE))
        where = ("127.0.0.1:0" if "--listen" in line else
                 address("muster-runs/latest") if ":7731" in line else "")
        shell.send(small(line.replace("127.0.0.1:7731", where)))
    for shell in shells.values():
        until(lambda: len(shell.codes()) == shell.lines)
        shell.close()
    said = {name: shell.said() for name, shell in shells.items()}
    tap.ok(one.codes() == [0, 75, 0, 0, 0], "tutorial.md: how commands of "
           "shell one end", said)
    tap.ok(set(shells["two"].codes() + shells["three"].codes()) == {0},
           "tutorial.md: those of two and three", said)
    shown = set(re.findall(r"^ +model +(\w{64})", text, re.MULTILINE))
    ended = re.findall(r"^model +(\w{64})", one.said(), re.MULTILINE)
    tap.ok(len(shown) == 1 and len(ended) == 3 and set(ended[1:]) == shown,
           "tutorial.md: its hash, by the cluster and by one machine",
           f"{shown} {said}")
    tap.ok("three died" in one.said() and "exact to the bit" in one.said(),
           "tutorial.md: the death, the report", said)
    steps = r"^(?:    )?steps +3000 in all, [\d.]+ s since --resume: 3000 bitwise$"
    tap.ok(all(re.search(steps, of, re.MULTILINE) for of in (text, one.said())),
           "tutorial.md: seconds are of the last start, not of a step", said)


def slug(heading):
    heading = re.sub(r"\[([^]]*)\]\([^)]*\)|[`*]", r"\1", heading.lower())
    return re.sub(r"[^\w\- ]", "", heading.strip()).replace(" ", "-")


def links():
    pages = PAGES + [ROOT / name for name in
                     ("ARCHITECTURE.md", "SECURITY.md", "CHANGELOG.md")]
    heads = {page: {slug(head) for head in re.findall(
        r"^#+ (.*)", page.read_text(encoding="utf-8"), re.MULTILINE)}
        for page in pages}
    for page in pages:
        bad = []
        for path, head in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)",
                                     page.read_text(encoding="utf-8")):
            to = (page.parent / path).resolve() if path else page
            if not to.exists() or head and head not in heads.get(to, {head}):
                bad.append(f"{path}#{head}")
        tap.ok(not bad, f"{page.name}: links", bad)
    index = (ROOT / "docs/README.md").read_text(encoding="utf-8")
    lost = [page.name for page in PAGES if page.parent.name == "docs" and
            page.name != "README.md" and f"({page.name})" not in index]
    tap.ok(not lost, "docs/README.md: every page", lost)


def main():
    links()
    run(["muster", "token", "new", str(TOKEN)])
    top = Path.cwd()
    for page in PAGES:
        folder = top / str(page.relative_to(ROOT)).replace("/", "-")
        (folder / "bin").mkdir(parents=True)
        (folder / "bin/muster").symlink_to(MUSTER)
        (folder / "bin/python3").symlink_to("/usr/bin/python3")  # Has numpy.
        os.chdir(folder)
        stand_ins()
        if page.name == "tutorial.md":
            tutorial(page)
        else:
            play(page)
        if page.name in ("networks.md", "mpi.md"):
            hashes(tap, page, 1)
        os.chdir(top)
    return tap.done()


sys.exit(main())
