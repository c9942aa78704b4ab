"""Reading files of every form: rates, and ratios to limits in the same run.

    bench/data.py [NAME...]      of hot dense csv npy idx; all without a name

The files are made in a temporary folder.  A block of random rows is repeated:
readers do not notice, and making it takes no longer than reading it.
"""
import array
import os
import random
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "..", "build", "release", "bench", "data")
ROWS = 20000  # Of a block.
FIELDS, FIELD_COLUMNS = 45, 4444  # One-hot: 200,000 columns.


def write(path, head, block, times):
    with open(path, "wb") as file:
        file.write(head)
        for _ in range(times):
            file.write(block)


def make_hot(path, rng):
    """One-hot rows: fields with few common and many rare values."""
    lines = []
    for _ in range(ROWS):
        row = (1 + f * FIELD_COLUMNS + int(FIELD_COLUMNS * rng.random() ** 3)
               for f in range(FIELDS))
        lines.append("%+d %s\n" % (rng.choice((-1, 1)),
                                   " ".join("%d:1" % j for j in row)))
    write(path, b"", "".join(lines).encode(), 15)


def make_dense(path, rng):
    lines = ["%+d %s\n" % (rng.choice((-1, 1)),
                           " ".join("%d:%.5g" % (j + 1, rng.uniform(-1, 1))
                                    for j in range(50)))
             for _ in range(ROWS)]
    write(path, b"", "".join(lines).encode(), 10)


def make_csv(path, rng):
    lines = ["%s,%d\n" % (",".join("%.5g" % rng.uniform(-1, 1)
                                   for _ in range(50)), rng.choice((0, 1)))
             for _ in range(ROWS)]
    write(path, b"", "".join(lines).encode(), 15)


def make_npy(path, rng):
    columns, times = 101, 20
    block = array.array("f")
    for _ in range(ROWS):
        block.extend(rng.random() for _ in range(columns - 1))
        block.append(rng.choice((0, 1)))
    head = ("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d)}\n" %
            (ROWS * times, columns)).encode()
    write(path, b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head,
          block.tobytes(), times)


def make_idx(path, rng):
    """Images of 28 x 28, a fifth of the pixels not black, and their labels."""
    times = 5
    shape = (ROWS * times, 28, 28)
    pixels = bytes(b if b < 52 else 0 for b in rng.randbytes(ROWS * 28 * 28))
    labels = bytes(b % 10 for b in rng.randbytes(ROWS))
    write(path, struct.pack(">4B3I", 0, 0, 8, 3, *shape), pixels, times)
    write(path + ".labels", struct.pack(">4BI", 0, 0, 8, 1, shape[0]), labels,
          times)


FORMS = {"hot": (make_hot, ".svm"), "dense": (make_dense, ".svm"),
         "csv": (make_csv, ".csv"), "npy": (make_npy, ".npy"),
         "idx": (make_idx, "-idx3-ubyte")}


def measure(path, cache):
    """{(way, threads): (GB/s, processor ms)} of the C program."""
    labels = path + ".labels"
    options = ["-l", labels] if os.path.exists(labels) else []
    text = subprocess.run([PROGRAM, *options, path, cache], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    print(text, end="")
    rates = {}
    for line in text.splitlines():
        rest = line[10:].split()
        rates[line[:10].strip(), int(rest[0])] = (float(rest[4]),
                                                       float(rest[6]))
    return rates


def report(name, rates):
    for threads in (1, 2):
        parse, busy = rates["parse", threads]
        reload = rates["reload", threads][0]
        said = [f"{name}, {threads} thread{'s' * (threads > 1)}: parse "
                f"{parse:.2f} GB/s, "
                f"{parse / rates['read file', threads][0]:.3f} of a plain read"]
        if ("liblinear", 1) in rates:
            rate, theirs = rates["liblinear", 1]
            said.append(f"{parse / rate:.1f} x LIBLINEAR's way "
                        f"({theirs / busy:.1f} x by processor time)")
        said.append(f"reload {reload:.1f} GB/s, "
                    f"{reload / rates['read copy', threads][0]:.2f} of a plain "
                    "read")
        print("; ".join(said), flush=True)


def main():
    for name in sys.argv[1:] or FORMS:
        make, ending = FORMS[name]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, name + ending)
            make(path, random.Random(1))
            report(name, measure(path, os.path.join(folder, "cache")))


if __name__ == "__main__":
    main()
