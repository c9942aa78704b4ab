"""A road on loopback that lets only so many bytes through to the worker, on
each connection, until it is opened."""

import socket
import threading


class Gate:
    def __init__(self, address, limit):
        host, port = address.rsplit(":", 1)
        self.far = (host.strip("[]"), int(port))
        self.limit = limit
        self.held = threading.Event()  # Somebody waits at the gate.
        self.free = threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        self.run(self.accept)

    @staticmethod
    def run(work, *args):
        threading.Thread(target=work, args=args, daemon=True).start()

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            far = socket.create_connection(self.far)
            self.run(self.carry, near, far, None)
            self.run(self.carry, far, near, self.limit)

    def carry(self, source, sink, left):
        try:
            while data := source.recv(4096):
                if left is not None and left < len(data):
                    self.held.set()
                    self.free.wait()
                    left = None
                if left is not None:
                    left -= len(data)
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def open(self):
        self.free.set()

    def close(self):
        self.listener.close()
