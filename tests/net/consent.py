#!/usr/bin/env python3
"""A coordinator on another machine opens no file of a worker's (S2).

With a token the coordinator may be anywhere.  The place that it names for
shared data is read only by a worker that was started with --data-shared; one
that was not ends with a sentence, and has opened nothing.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))
from cluster import (Tap, place_of, finish, perfect_hash,  # noqa: E402
                     result_of, run, start, train_args)

KEY = ["--token-file", "cluster.token"]


def main():
    tap = Tap()
    wanted = perfect_hash()
    done = run("token", "new", "cluster.token")
    tap.ok(done.returncode == 0, "token new", done)
    process = start(*train_args("run", "--listen", "127.0.0.1:0", *KEY,
                                "--workers", "1", "--data-shared", "rows"))
    address = place_of("run")
    shy = finish(start("join", address, "--name", "shy", *KEY))
    place = str(Path("rows").resolve())
    tap.ok(shy[0] == 1 and f"--data-shared {place}" in shy[1] + shy[2],
           "a worker that was not asked opens nothing, and says why", shy)
    willing = start("join", address, *KEY, "--data-shared", "rows")
    code, text, err = finish(process)
    tap.ok(code == 0 and result_of(text).get("hash") == wanted,
           "one that was reads it: the same hash", f"{text} {err}")
    ended = finish(willing)
    tap.ok(ended[0] == 0, "and ends well", ended)
    tap.done()


main()
