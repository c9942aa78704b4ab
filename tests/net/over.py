#!/usr/bin/env python3
"""Who joins by a run's folder as the run ends is told so at once.  The run is
played: a folder with its key, and a socket that is dialled and closed; it ended
in good order if its address was taken away, and was killed if that stays."""

import os
import signal
import socket
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from cluster import MUSTER, Tap, kill, run  # noqa: E402

SOON_S = 20  # They dialled for a minute.


def happens_again(server):
    server.settimeout(60)
    try:
        server.accept()[0].close()
    except TimeoutError:
        return False
    return True


def ends(tap, name, command, *more, killed=False):
    """The one who was dialled takes its address away, and is gone."""
    folder = name.replace(" ", "-")
    os.mkdir(folder, 0o700)
    run("token", "new", f"{folder}/run.token")
    with socket.create_server(("127.0.0.1", 0)) as server:
        with open(f"{folder}/address", "w", encoding="ascii") as file:
            print(f"127.0.0.1:{server.getsockname()[1]}", file=file)
        process = subprocess.Popen([MUSTER, command, folder, *more],
                                   stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True)
        server.accept()[0].close()
        again = killed and happens_again(server)
        if not killed:
            os.unlink(f"{folder}/address")
    if killed:
        kill(process.pid, signal.SIGKILL)
        tap.ok(again, f"{name}: it is dialled again, it may be resumed")
    try:
        code = process.wait(timeout=SOON_S)
    except subprocess.TimeoutExpired:
        code = "dials"
        kill(process.pid, signal.SIGKILL)
        process.wait()
    said = process.stderr.read()
    process.stderr.close()
    if not killed:
        tap.ok(code == 1 and f"{folder}: the run is over" in said,
               f"{name}: it is over", f"{code} {said}")


def main():
    tap = Tap()
    with open("rows.svm", "w", encoding="ascii") as file:
        file.writelines(f"{i % 2} 1:{i}\n" for i in range(20))
    ends(tap, "a worker", "join")
    ends(tap, "an owner", "join", "--data-private", "rows.svm")
    ends(tap, "a relay", "relay", "--listen", "127.0.0.1:0")
    ends(tap, "a killed run", "join", killed=True)
    tap.done()


if __name__ == "__main__":
    main()
