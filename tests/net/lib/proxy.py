"""A TCP proxy that behaves like a bad road, from a seed.

    with Proxy(target, Road(delay_s=.05, jitter_s=.02, loss=.01)) as proxy:
        ... proxy.address ...

TCP hides loss: what its users see of a lost packet is a stall, the time until
it is sent again, with everything behind it waiting.  So that is what a loss is
here: for every 1,460 bytes, or less, that come in one go, with the given chance
a stall of one retransmission time-out, doubled while it is lost again.  Each
connection and direction draws from a stream of its own.

Faults are asked for by hand: reset() breaks what is open, cut() swallows bytes
in one direction or both while connections stay open, flip() inverts one bit of
the next bytes that pass, refuse() turns new connections away, narrow() lets
fewer bytes a second through from then on, mute() swallows what some of the
connections carry.  `spy`, if there is one, is shown all
that comes (connection, direction, bytes) and says what is passed on instead.
"""

import asyncio
import random
import socket
import struct
import threading
from dataclasses import dataclass

SEGMENT = 1460
UP, DOWN = "up", "down"  # From the dialler to the target, and back.


@dataclass
class Road:
    delay_s: float = 0.0  # One way.
    jitter_s: float = 0.0  # Added, uniform.
    loss: float = 0.0  # Of a segment.
    rto_s: float = 0.2  # Retransmission time-out, on top of a round trip.
    rate: float = 0.0  # Bytes a second in each direction; 0 = as they come.
    seed: int = 1


class Proxy:
    def __init__(self, target, road=None):
        host, port = target.rsplit(":", 1)
        self.target = (host.strip("[]"), int(port))
        self.road = road or Road()
        self.cuts = set()
        self.muted = None
        self.flips = 0
        self.refusing = False
        self.spy = None
        self.count = 0
        self.stalls = 0
        self.carried = {UP: 0, DOWN: 0}  # Bytes.
        self.open = set()
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self._main, daemon=True)
        self.ready = threading.Event()
        self.address = None

    def __enter__(self):
        self.thread.start()
        self.ready.wait(10)
        return self

    def __exit__(self, *_):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(10)

    def _main(self):
        asyncio.set_event_loop(self.loop)
        server = self.loop.run_until_complete(
            asyncio.start_server(self._accept, "127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % server.sockets[0].getsockname()[1]
        self.ready.set()
        self.loop.run_forever()
        tasks = asyncio.all_tasks(self.loop)
        for task in tasks:
            task.cancel()
        self.loop.run_until_complete(
            asyncio.gather(*tasks, return_exceptions=True))

    async def _accept(self, reader, writer):
        if self.refusing:
            self._break(writer)
            return
        try:
            far_reader, far_writer = await asyncio.open_connection(
                *self.target)
        except OSError:
            self._break(writer)
            return
        number = self.count
        self.count += 1
        for one in (writer, far_writer):
            one.get_extra_info("socket").setsockopt(
                socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        pair = (writer, far_writer)
        self.open.add(pair)
        try:
            await asyncio.gather(
                self._carry(reader, far_writer, UP, number),
                self._carry(far_reader, writer, DOWN, number),
                return_exceptions=True)
        except asyncio.CancelledError:
            pass  # The test is over.
        self.open.discard(pair)
        for one in pair:
            one.close()

    @staticmethod
    def _break(writer):
        """Close with a reset."""
        sock = writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                        struct.pack("ii", 1, 0))
        writer.transport.abort()

    def _lateness(self, rng, size):
        """Seconds that these bytes take, and how long they block the road."""
        road = self.road
        late = road.delay_s + rng.random() * road.jitter_s
        for _ in range(max(1, (size + SEGMENT - 1) // SEGMENT)):
            wait = road.rto_s + 2 * road.delay_s
            while road.loss > 0 and rng.random() < road.loss:
                self.stalls += 1
                late += wait
                wait *= 2
        return late

    async def _carry(self, reader, writer, direction, number):
        rng = random.Random(f"{self.road.seed} {number} {direction}")
        queue = asyncio.Queue()
        sender = asyncio.ensure_future(self._deliver(queue, writer, direction))
        free_at = self.loop.time()  # When the road has carried all before.
        last_at = free_at
        try:
            while True:
                data = await reader.read(65536)
                if data and (direction in self.cuts or
                             self.muted is not None and self.muted(number)):
                    continue
                if self.spy is not None and data:
                    data = self.spy(number, direction, data)
                now = self.loop.time()
                if self.road.rate > 0:
                    free_at = max(free_at, now) + len(data) / self.road.rate
                    # A full pipe holds its sender back.
                    await asyncio.sleep(max(0, free_at - now - 0.05))
                start = max(free_at, now)
                last_at = max(last_at,
                              start + self._lateness(rng, len(data)))
                queue.put_nowait((last_at, data))
                if not data:
                    break
            await sender
        except (OSError, asyncio.CancelledError):
            sender.cancel()
            raise

    async def _deliver(self, queue, writer, direction):
        while True:
            at, data = await queue.get()
            wait = at - self.loop.time()
            if wait > 0:
                await asyncio.sleep(wait)
            if not data:
                if writer.can_write_eof():
                    writer.write_eof()
                return
            if self.flips > 0:
                self.flips -= 1
                data = bytes([data[0] ^ 1]) + data[1:]
            self.carried[direction] += len(data)
            writer.write(data)
            await writer.drain()

    def _ask(self, work):
        done = threading.Event()

        def call():
            work()
            done.set()
        self.loop.call_soon_threadsafe(call)
        done.wait(10)

    def reset(self):
        """Break every connection that is open; how many that were."""
        broken = []

        def work():
            for pair in list(self.open):
                broken.append(pair)
                for one in pair:
                    self._break(one)
        self._ask(work)
        return len(broken)

    def cut(self, *directions):
        self._ask(lambda: self.cuts.update(directions or (UP, DOWN)))

    def mute(self, which):
        """Of connections, by number, for which which() is true."""
        def work():
            self.muted = which
        self._ask(work)

    def heal(self):
        self._ask(self.cuts.clear)

    def flip(self, count=1):
        def work():
            self.flips = count
        self._ask(work)

    def refuse(self, refusing):
        def work():
            self.refusing = refusing
        self._ask(work)

    def narrow(self, rate):
        def work():
            self.road.rate = rate
        self._ask(work)
