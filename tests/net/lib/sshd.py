"""A real sshd on loopback: port, keys, configuration and a user of its own.

    with Sshd() as sshd:
        sshd.config     for `ssh -F`: hosts node1 to node9 are all this machine
        sshd.home       of the user; sshd.remote_tmp: TMPDIR of what it runs

Everything is under one folder, removed with the user at the end.
"""

import contextlib
import fcntl
import os
import pwd
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
from pathlib import Path

from cluster import Setting, kill, undisturbed, wait_for

PROGRAM = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:/usr/bin")
PRIVSEP = Path("/run/sshd")  # Where it locks up its children; a fixed place.
OURS = 0o711  # Its mode, if a test made it; systems have it with 0755.
TRIES = 10


def lacking():
    """Why there can be none here; None if there can."""
    if PROGRAM is None:
        return "there is no sshd: tools/deps.sh test installs openssh-server"
    if os.geteuid() != 0:
        return "only root can make a user for sshd to let in"
    if shutil.which("useradd") is None or shutil.which("ssh") is None:
        return "there is no useradd, or no ssh"
    return None


def quiet(*words):
    subprocess.run(words, check=True, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


@contextlib.contextmanager
def one_at_a_time():
    """Among all that make or take away PRIVSEP."""
    above = os.open(PRIVSEP.parent, os.O_RDONLY)
    try:
        fcntl.flock(above, fcntl.LOCK_EX)
        yield
    finally:
        os.close(above)


def answers(port):
    with contextlib.suppress(OSError), \
            socket.create_connection(("127.0.0.1", port), 1) as dialled:
        return dialled.recv(4) == b"SSH-"
    return False


class Sshd(Setting):
    def open(self):
        # Not under TMPDIR, which is closed to other users.
        with undisturbed():
            self.folder = Path(tempfile.mkdtemp(prefix="muster-ssh-",
                                                dir="/tmp"))
            self.undo.callback(shutil.rmtree, self.folder, ignore_errors=True)
        self.folder.chmod(0o755)
        self.home = self.folder / "home"
        self.remote_tmp = self.folder / "tmp"
        self.user = f"muster-{os.urandom(4).hex()}"
        with undisturbed():
            self.add_user()
        self.make_keys()
        with undisturbed(), one_at_a_time():
            PRIVSEP.mkdir(mode=OURS, exist_ok=True)
            self.using = os.open(PRIVSEP, os.O_RDONLY)
            fcntl.flock(self.using, fcntl.LOCK_SH)
            self.undo.callback(self.leave_place)
        self.serve()
        self.write_config()

    def leave_place(self):
        """The last who uses it takes it away, if one of us made it."""
        with one_at_a_time(), contextlib.suppress(OSError):
            if stat.S_IMODE(PRIVSEP.stat().st_mode) == OURS:
                fcntl.flock(self.using, fcntl.LOCK_EX | fcntl.LOCK_NB)
                PRIVSEP.rmdir()
        os.close(self.using)

    def add_user(self):
        # A locked account ("!") would be refused even with a key.
        quiet("useradd", "--no-create-home", "--home-dir", str(self.home),
              "--password", "*", "--shell", "/bin/bash", self.user)
        self.undo.callback(self.delete_user)
        self.uid = pwd.getpwnam(self.user).pw_uid
        for folder in (self.home, self.remote_tmp, self.home / ".ssh"):
            folder.mkdir(mode=0o700)
            os.chown(folder, self.uid, -1)

    def delete_user(self):
        try:
            wait_for(self.nobody, "the user's processes to end")
        finally:
            quiet("userdel", "--force", self.user)

    def nobody(self):
        """Of the user's is left; who came for a test that was cut short waits
        for a launcher that is still there."""
        left = self.processes()
        for pid, _ in left if self.cut_short else ():
            kill(pid, signal.SIGKILL)
        return not left

    def processes(self):
        """[(pid, command line)] of the user's that live."""
        found = []
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError, ValueError):
                if entry.stat().st_uid == self.uid and \
                        (words := (entry / "cmdline").read_bytes()):
                    found.append((int(entry.name),
                                  words.decode(errors="replace").split("\0")))
        return found

    def make_keys(self):
        for name in ("host_key", "key", "other_key"):
            quiet("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f",
                  str(self.folder / name))
        self.keys = self.home / ".ssh" / "authorized_keys"
        self.keys.write_text((self.folder / "key.pub").read_text())
        os.chown(self.keys, self.uid, -1)

    def serve(self):
        settings = self.folder / "sshd_config"
        settings.write_text(f"""\
ListenAddress 127.0.0.1
HostKey {self.folder}/host_key
PidFile none
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
AuthorizedKeysFile .ssh/authorized_keys
MaxStartups 100
SetEnv TMPDIR={self.remote_tmp}
""")
        for _ in range(TRIES):
            self.port = free_port()
            with open(self.folder / "log", "ab") as log:
                process = subprocess.Popen(
                    [PROGRAM, "-D", "-e", "-f", str(settings), "-p",
                     str(self.port)], stdin=subprocess.DEVNULL, stdout=log,
                    stderr=log, process_group=0)  # Ctrl-C is ours to hear.
            self.undo.callback(self.end, process)
            wait_for(lambda: process.poll() is not None or
                     answers(self.port), "sshd")
            if process.poll() is None:
                return
        raise AssertionError((self.folder / "log").read_text())

    @staticmethod
    def end(process):
        process.terminate()
        process.wait()

    def write_config(self):
        known = self.folder / "known_hosts"
        key = " ".join((self.folder / "host_key.pub").read_text().split()[:2])
        known.write_text(f"[127.0.0.1]:{self.port} {key}\n")
        self.config = self.folder / "ssh_config"
        self.config.write_text(f"""\
Host refused
  IdentityFile {self.folder}/other_key
Host stranger
  UserKnownHostsFile /dev/null
Host closed
  Port {free_port()}
Host * !refused
  IdentityFile {self.folder}/key
Host *
  HostName 127.0.0.1
  Port {self.port}
  User {self.user}
  IdentitiesOnly yes
  UserKnownHostsFile {known}
  GlobalKnownHostsFile /dev/null
""")

    def place(self, program, *under):
        """A copy in the user's home; its path from there."""
        folder = self.home.joinpath(*under)
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "muster"
        shutil.copy(program, path)
        path.chmod(0o755)
        return "./" + str(path.relative_to(self.home))
