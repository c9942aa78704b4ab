"""A peer of a ring that has the token and no manners: it greets all peers, is
taken into their view, and then says what it likes."""

import queue
import struct
import threading

from wire import KINDS, MAGIC, Peer, meet

DEADLINE_S = 20
SLICE_KEY = struct.Struct("<QQIIIQQ")
SLICE_REST = struct.Struct("<?BIIIII")


def text(word):
    return struct.pack("<H", len(word)) + word.encode()


def roster(names, number=0):
    """All of them are heard, and in no view."""
    view = struct.pack("<Q", number)
    if number:
        view += text(names[0]) + struct.pack("<Q", 12345)
    refused = struct.pack("<Q", 0)
    return (bytes([KINDS["ROSTER"]]) + view + b"\0" + refused +
            struct.pack("<I", len(names)) +
            b"".join(text(name) + text("") + b"\1\0" for name in names))


def propose(number, names):
    return (bytes([KINDS["PROPOSE"]]) + struct.pack("<QQQ", number, 12345, 0) +
            struct.pack("<I", len(names)) + b"".join(map(text, names)))


def state(view, size, data=b""):
    return (bytes([KINDS["STATE"]]) +
            struct.pack("<QQQI", view, size, 0, len(data)) + data)


def sliced(message, view=None, weights=None, chunks=None, empty=False):
    """Somebody's SLICE with some fields changed."""
    key = list(SLICE_KEY.unpack_from(message, 1))
    at = 1 + SLICE_KEY.size
    rest = list(SLICE_REST.unpack_from(message, at))
    tail = message[at + SLICE_REST.size:]
    key[1] = key[1] if view is None else view
    key[6] = key[6] if weights is None else weights
    if chunks is not None:
        rest[2:4] = chunks
    if empty:
        rest[5:7] = 0, 0
        tail = tail[:16]
    return (message[:1] + SLICE_KEY.pack(*key) + SLICE_REST.pack(*rest) + tail)


class RoguePeer:
    def __init__(self, name, addresses, token, config, arithmetic, chunks):
        self.name = name
        self.others = sorted(addresses)
        self.chunks = chunks
        self.inbox = queue.Queue()
        self.greeting = meet(name=name, config=config, arithmetic=arithmetic,
                             end=chunks)
        self.links = []
        for other in self.others:
            link = Peer(addresses[other], token)
            self.links.append(link)
            for plane in range(2):
                threading.Thread(target=self.read, daemon=True,
                                 args=(other, link.planes[plane].stdout)).start()
            link.send(self.greeting)

    def read(self, other, stream):
        while True:
            head = stream.read(4)
            size = struct.unpack("<I", head)[0] & 0x1fffff \
                if len(head) == 4 else 0
            message = stream.read(size) if size else b""
            if len(message) < size or not size:
                self.inbox.put((other, b""))
                return
            if not message.startswith(MAGIC):
                self.inbox.put((other, message))

    def say(self, message, plane=1):
        """To all; whoever has closed does not hear it."""
        for link in self.links:
            try:
                link.send(message, plane)
            except OSError:
                pass

    def hears(self, kind):
        """The next such message; b"": closed before it came."""
        while True:
            _, message = self.inbox.get(timeout=DEADLINE_S)
            if not message or message[0] == KINDS[kind]:
                return message

    def closed(self):
        """Is one of its links closed from over there, sooner or later?"""
        try:
            while self.inbox.get(timeout=DEADLINE_S)[1]:
                pass
        except queue.Empty:
            return False
        return True

    def enter(self, until="SLICE"):
        """Into the view; returns what it is sent then."""
        for _ in self.others:
            self.hears("MEET")
        self.say(roster([self.name, *self.others]))
        if until == "REPORT":
            return self.hears("REPORT")
        self.say(self.hears("REPORT")) # It stands where they stand.
        return self.hears("SLICE")

    def own_chunks(self):
        """Even shares, in the order of names."""
        members = sorted([self.name, *self.others])
        rank = members.index(self.name)
        return tuple(self.chunks * i // len(members) for i in (rank, rank + 1))

    def close(self):
        for link in self.links:
            link.close()
