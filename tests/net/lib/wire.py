"""Just enough of the protocol to be a worker that is turned away.

docs/protocol.md and src/wire/codec.c have the rest.
"""

import os
import re
import socket
import struct
import subprocess
from pathlib import Path

MAGIC = b"MUSTER-1"
HEADER = (Path(__file__).parents[3] / "src/core/msg.h").read_text()
VERSION = int(re.search(r"MSG_VERSION +(\d+)u", HEADER)[1])
KINDS = {name: number for number, name in enumerate(re.findall(
    r"^ +MSG_(\w+)(?: = 1)?,", HEADER[HEADER.index("enum msg_kind"):], re.M), 1)}
HELLO, REJECT, MEET = (KINDS[name] for name in ("HELLO", "REJECT", "MEET"))
DEADLINE_S = 20


def frame(data):
    return struct.pack("<I", len(data)) + data


def hello(version=VERSION, name="intruder", arithmetic=b"\0" * 32,
          resident=False, data=b"\0" * 32, job=0, rest=bytes(33)):
    """`rest`: private data, none; another release may say what it likes."""
    return (bytes([HELLO]) + struct.pack("<IH", version, len(name)) +
            name.encode() + struct.pack("<QI", 12345, 1) + arithmetic +
            bytes([resident]) + data + struct.pack("<QQ??", job, 0, False, False) + rest)


def meet(version=VERSION, name="intruder", config=b"\0" * 32,
         arithmetic=b"\0" * 32, place="127.0.0.1:9", first=0, end=1):
    """A ring's peer says who it is."""
    return (bytes([MEET]) + struct.pack("<IH", version, len(name)) +
            name.encode() + struct.pack("<Q", 12345) + config + config +
            arithmetic + struct.pack("<H", len(place)) + place.encode() +
            struct.pack("<II", first, end))


def reject_text(message):
    """The sentence of a REJECT, or what came instead."""
    if not message or message[0] != REJECT:
        return f"not a REJECT: {message!r}"
    size, = struct.unpack_from("<H", message, 1)
    return message[3:3 + size].decode()


class Peer:
    """Both connections of a link, greeted; openssl has the key."""

    def __init__(self, address, token):
        _, name, key = Path(token).read_text().split()
        cookie = os.urandom(16)
        self.planes = []
        for plane in range(2):
            one = subprocess.Popen(
                ["openssl", "s_client", "-connect", address, "-tls1_3",
                 "-psk", key, "-psk_identity", name, "-quiet"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL)
            self.planes.append(one)
            self.send(MAGIC + bytes([plane]) + cookie, plane)
        if self.receive() != MAGIC:
            raise AssertionError("no greeting")

    def send(self, message, plane=0):
        self.planes[plane].stdin.write(frame(message))
        self.planes[plane].stdin.flush()

    def receive(self):
        out = self.planes[0].stdout
        head = out.read(4)
        if len(head) < 4:
            return b""
        return out.read(struct.unpack("<I", head)[0] & 0x1fffff)

    def close(self):
        for one in self.planes:
            one.kill()
            one.communicate()


def record_handshake(arguments):
    """The first bytes an honest joiner sends, from a listener that only
    listens; `arguments` has None where the address goes."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(DEADLINE_S)
        here = "127.0.0.1:%d" % server.getsockname()[1]
        words = [here if word is None else word for word in arguments]
        process = subprocess.Popen([os.environ["MUSTER"], *words],
                                   stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        try:
            peer, _ = server.accept()
            peer.settimeout(DEADLINE_S)
            return peer.recv(4096)
        finally:
            process.kill()
            process.wait()
