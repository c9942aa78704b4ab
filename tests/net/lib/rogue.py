"""Servers that have no right to be one, and every road on which muster dials.

TLS 1.3 lets a server pass over the key it is offered and show a certificate;
whoever does not look then tells the first one that answers who it is.
"""

import os
import re
import socket
import ssl
import subprocess
import threading
from pathlib import Path

DEADLINE_S = 20
ROOT = Path(os.environ["ROOT"])
GROUP = ("import sys, muster\n"
         "muster.Group(sys.argv[1], token_file=sys.argv[2], give_up_s=2)")


def certificate():
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
         "ec_paramgen_curve:P-256", "-nodes", "-keyout", "rogue.key", "-out",
         "rogue.pem", "-days", "1", "-subj", "/CN=rogue"],
        check=True, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Certified:
    """Shows a certificate; keeps what it is told."""

    def __init__(self, version):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.minimum_version = version
        self.context.maximum_version = version
        self.context.load_cert_chain("rogue.pem", "rogue.key")
        self.server = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.server.getsockname()[1]
        self.heard = b""
        self.knocks = 0
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self):
        while True:
            peer, _ = self.server.accept()
            peer.settimeout(DEADLINE_S)
            if peer.recv(1, socket.MSG_PEEK) == b"!":
                peer.close()
                return
            self.knocks += 1
            try:
                with self.context.wrap_socket(peer, server_side=True) as one:
                    self.heard += one.recv(4096)
            except OSError:
                peer.close()

    def end(self):
        host, port = self.server.getsockname()
        with socket.create_connection((host, port)) as last:
            last.sendall(b"!")
        self.thread.join()
        self.server.close()
        return self.knocks, self.heard


class Keyed:
    """Speaks TLS 1.3 with a key of one zero byte."""

    def __init__(self):
        self.process = subprocess.Popen(
            ["openssl", "s_server", "-accept", "127.0.0.1:0", "-nocert",
             "-tls1_3", "-psk", "00", "-psk_identity", "cluster"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)
        line = b""
        while not line.startswith(b"ACCEPT"):
            line = self.process.stdout.readline()
        self.address = re.search(r"127\.0\.0\.1:\d+", line.decode())[0]

    def end(self):
        # It serves one after the other: once it has hung up on us it has told
        # of all who knocked before.
        host, port = self.address.split(":")
        with socket.create_connection((host, int(port))) as last:
            last.sendall(b"!")
            last.shutdown(socket.SHUT_WR)
            while last.recv(4096):
                pass
        self.process.kill()
        said = self.process.communicate()[0]
        heard = said[said.find(b"MUSTER"):] if b"MUSTER" in said else b""
        return said.count(b"ERROR") - 1, heard


ROGUES = {
    "a certificate": lambda: Certified(ssl.TLSVersion.TLSv1_3),
    "a certificate and TLS 1.2": lambda: Certified(ssl.TLSVersion.TLSv1_2),
    "an empty key": Keyed,
}


def roads(token):
    """Every command that dials, with its address left out.  The road between
    two workers has its own test, tests/unit/node/test_peer.c."""
    muster = os.environ["MUSTER"]
    key = ["--token-file", token]
    Path("mine.svm").write_text("+1 1:1 2:2\n-1 1:2 2:1\n" * 20)
    return {
        "join": [muster, "join", None, *key],
        "join --data-private": [muster, "join", None, "--data-private",
                                "mine.svm", *key],
        "relay": [muster, "relay", None, *key],
        "status": [muster, "status", None, *key],
        "stop": [muster, "stop", None, *key],
        "a group": ["/usr/bin/python3", "-c", GROUP, None, token],
    }


def rogue_servers(tap, token):
    certificate()
    env = {**os.environ, "PYTHONPATH": str(ROOT / "python"),
           "PYTHONDONTWRITEBYTECODE": "1",
           "LD_LIBRARY_PATH": str(Path(os.environ["BUILD"]) / "src")}
    for road, words in roads(token).items():
        for what, rogue in ROGUES.items():
            server = rogue()
            words_here = [server.address if word is None else word
                          for word in words]
            done = subprocess.run(words_here, env=env, capture_output=True,
                                  text=True, timeout=DEADLINE_S)
            knocks, heard = server.end()
            tap.ok(knocks > 0 and heard == b"" and done.returncode != 0 and
                   "this token" in done.stderr,
                   f"{road}: a server with {what} is told nothing",
                   f"{knocks} {heard} {done}")
