"""A road between a worker and its coordinator that can be made narrow."""

import select
import socket
import threading
import time


class Proxy:
    """Forwards every connection to `target`; narrow(n) lets n bytes a second
    through each way of each connection from then on."""

    def __init__(self, target):
        host, port = target.rsplit(":", 1)
        self.target = (host, int(port))
        self.rate = None
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        self.ending = False
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while not self.ending:
            ready, _, _ = select.select([self.listener], [], [], 0.05)
            if not ready:
                continue
            near, _ = self.listener.accept()
            far = socket.create_connection(self.target)
            for a, b in ((near, far), (far, near)):
                # Small buffers, or the kernel would take megabytes at once.
                b.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16384)
                threading.Thread(target=self.pump, args=(a, b),
                                 daemon=True).start()

    def pump(self, source, sink):
        free_at = 0.0  # When the road is clear again.
        try:
            while not self.ending:
                if self.rate:
                    wait = free_at - time.monotonic()
                    if wait > 0:
                        select.select([], [], [], wait)
                data = source.recv(4096 if self.rate else 65536)
                if not data:
                    break
                sink.sendall(data)
                if self.rate:
                    free_at = time.monotonic() + len(data) / self.rate
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def narrow(self, bytes_per_s):
        self.rate = bytes_per_s

    def close(self):
        self.ending = True
        self.listener.close()
