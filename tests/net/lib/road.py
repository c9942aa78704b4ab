"""Roads on loopback that see every byte that passes.

Whoever dials `address` is taken to the far end.  up() and down() give, for each
connection, a function that is called with every piece of bytes before it goes
on: from those who dialled, and to them.
"""

import socket
import threading


def pass_on(_):
    """Nothing is done about it."""


class Road:
    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.far = (host.strip("[]"), int(port))
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        self.run(self.accept)

    @staticmethod
    def run(work, *args):
        threading.Thread(target=work, args=args, daemon=True).start()

    def up(self):
        return pass_on

    def down(self):
        return pass_on

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
                far = socket.create_connection(self.far)
            except OSError:
                return
            self.run(self.carry, near, far, self.up())
            self.run(self.carry, far, near, self.down())

    @staticmethod
    def carry(source, sink, see):
        try:
            while data := source.recv(4096):
                see(data)
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def close(self):
        self.listener.close()


class Gate(Road):
    """Lets only so many bytes through to the worker, on each connection, until
    it is opened."""

    def __init__(self, address, limit):
        self.limit = limit
        self.held = threading.Event()  # Somebody waits at the gate.
        self.free = threading.Event()
        super().__init__(address)

    def down(self):
        passed = 0

        def see(data):
            nonlocal passed
            passed += len(data)
            if passed > self.limit:
                self.held.set()
                self.free.wait()
        return see

    def open(self):
        self.free.set()
