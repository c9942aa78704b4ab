#!/usr/bin/env python3
"""Make a C array of a file: embed.py FILE OUT.c NAME.

A string literal would do, but compilers need not take long ones.
"""

import sys
from pathlib import Path


def main():
    source, out, name = sys.argv[1:]
    data = Path(source).read_bytes() + b"\0"
    # `char` may be signed.
    rows = (", ".join(str(byte - 256 if byte > 127 else byte)
                      for byte in data[i:i + 20])
            for i in range(0, len(data), 20))
    Path(out).write_text(
        f"extern const char {name}[];\n"
        f"const char {name}[] = {{\n" + ",\n".join(rows) + "};\n")


main()
