"""Peers without manners: what they say, and many of them."""

import socket
import struct


def connect(address):
    host, port = address.rsplit(":", 1)
    peer = socket.create_connection((host, int(port)), timeout=5)
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                    struct.pack("ii", 1, 0))  # Closing is a reset.
    return peer


def noise(rng, recorded):
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
        recorded,
    ])


def attack(address, rng, count, keep, recorded):
    """Open and close many connections; at most `keep` at a time, and the rest
    of them are fed byte by byte (slowloris)."""
    held = []
    made = 0
    for _ in range(count):
        try:
            peer = connect(address)
            made += 1
            peer.settimeout(0.2)
            peer.sendall(noise(rng, recorded))
            slow = rng.choice(held) if held else peer
            slow.send(b"M")
        except OSError:
            continue
        held.append(peer)
        if len(held) > keep:
            held.pop(rng.randrange(len(held))).close()
    for peer in held:
        peer.close()
    return made
