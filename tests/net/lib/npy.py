"""Matrices as npy files without numpy, and products that are rounded once."""

import ast
import math
import random
import struct


def draw(rows, cols, seed):
    """A matrix of normal numbers, a list of rows."""
    rng = random.Random(seed)
    return [[rng.gauss(0, 1) for _ in range(cols)] for _ in range(rows)]


def write(path, matrix, by_columns=False, vector=False):
    """`matrix` as doubles; a vector is its first column."""
    rows, cols = len(matrix), len(matrix[0])
    shape = f"({rows},)" if vector else f"({rows}, {cols})"
    lines = zip(*matrix) if by_columns or vector else matrix
    flat = [value for line in lines for value in line]
    flat = flat[:rows] if vector else flat
    head = (f"{{'descr': '<f8', 'fortran_order': {bool(by_columns)}, "
            f"'shape': {shape}, }}\n").encode()
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head)
        file.write(struct.pack(f"<{len(flat)}d", *flat))


def read(path):
    """(shape, rows) of an array of doubles."""
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack_from("<H", data, 8)[0]
    head = ast.literal_eval(data[10:10 + size].decode())
    assert head["descr"] == "<f8" and (10 + size) % 64 == 0, head
    shape = head["shape"]
    rows, cols = shape[0], shape[1] if len(shape) > 1 else 1
    flat = struct.unpack(f"<{rows * cols}d", data[10 + size:])
    step = (1, rows) if head["fortran_order"] else (cols, 1)
    return shape, [[flat[i * step[0] + j * step[1]] for j in range(cols)]
                   for i in range(rows)]


def apart(a, b, c):
    """The largest |A B - C| over |a_i| |b_j|; A B is rounded once (fsum)."""
    columns = list(zip(*b))
    norms = [math.sqrt(math.fsum(x * x for x in column)) for column in columns]
    worst = 0.0
    for row, got in zip(a, c, strict=True):
        norm = math.sqrt(math.fsum(x * x for x in row))
        for column, size, value in zip(columns, norms, got, strict=True):
            true = math.fsum(x * y for x, y in zip(row, column, strict=True))
            worst = max(worst, abs(true - value) / (norm * size))
    return worst
