"""Rows through a pipe with a name: whoever reads them waits for as long as a
test wants it to."""

import errno
import os
import random

from cluster import wait_for


class Rows:
    """A pipe of that name, until the end of the block."""

    def __init__(self, name):
        self.path = os.path.abspath(name)
        self.fd = -1

    def __enter__(self):
        os.mkfifo(self.path)
        return self

    def __exit__(self, *_):
        if self.fd >= 0:
            os.close(self.fd)
        os.remove(self.path)

    def wanted(self):
        """Wait until somebody reads."""
        def look():
            try:
                self.fd = os.open(self.path, os.O_WRONLY | os.O_NONBLOCK)
            except OSError as error:
                if error.errno != errno.ENXIO:
                    raise
            return self.fd >= 0
        wait_for(look, f"somebody to read {self.path}")
        os.set_blocking(self.fd, True)

    def come(self):
        """LIBSVM, fewer bytes than a pipe holds, and the end."""
        rng = random.Random(3)
        lines = []
        for _ in range(400):
            x, y = rng.gauss(0, 1), rng.gauss(0, 1)
            sign = "+1" if x + y + rng.gauss(0, 1) > 0 else "-1"
            lines.append(f"{sign} 1:{x:.3f} 2:{y:.3f}\n")
        os.write(self.fd, "".join(lines).encode())
        os.close(self.fd)
        self.fd = -1
