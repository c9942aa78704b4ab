"""A road on loopback that keeps a copy of every byte that passes."""

import socket
import threading


class Recorder:
    """`sent`: what those who dialled it said; `heard`: what they were told."""

    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.far = (host.strip("[]"), int(port))
        self.sent = []
        self.heard = []
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
                far = socket.create_connection(self.far)
            except OSError:
                return
            self.run(self.pump, near, far, self.sent)
            self.run(self.pump, far, near, self.heard)

    @staticmethod
    def pump(source, target, kept):
        copy = bytearray()
        kept.append(copy)
        try:
            while True:
                data = source.recv(65536)
                if not data:
                    break
                copy += data
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def close(self):
        self.listener.close()
