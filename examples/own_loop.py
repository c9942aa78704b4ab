#!/usr/bin/env python3
"""Our own gradient on several processes; our own loop on a group of them.

    own_loop.py train [WORKERS]             the same hash for any number
    own_loop.py join FOLDER                 one more worker of that run
    own_loop.py loop [ADDRESS]              host a group, or join one
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import muster  # noqa: E402  (of this source tree, if it is not installed)

CHUNKS, ROWS = 40, 50


def gradient(_, w, chunk, g, loss):
    """Least squares, y = 2 x + 1; the rows follow from their number."""
    for i in range(chunk * ROWS, (chunk + 1) * ROWS):
        x = i * 37 % 1000 / 500 - 1
        r = w[0] * x + w[1] - (2 * x + 1)
        g[0], g[1], loss[0] = g[0] + r * x, g[1] + r, loss[0] + r * r / 2
    return 0


what, *more = sys.argv[1:] or sys.exit(__doc__)
job = dict(dims=2, chunks=CHUNKS, rows=CHUNKS * ROWS, optim="gd", lr=0.5, steps=100)
if what == "train":
    model = muster.train(gradient, n=int(*more or [0]), **job)
    print(*model.weights, model.hash)
elif what == "join":
    muster.join(gradient, *more, **job)
else:
    group = muster.Group(*more, least=2)
    print(group.address, flush=True)
    step = 0
    while step < 200:  # Each process adds what it has.
        total, info = group.sum([0.1 * step, 1e300 if more else -1e300, 1])
        step = info.call
        print(step, info.contributed, *map(float.hex, total), flush=True)
    group.leave()
