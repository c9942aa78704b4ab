#!/usr/bin/env python3
"""Headers of 100 MiB, the longest that safetensors has, in little more memory
than the file and the texts in it: the kernel refuses more.  A tree of them would
take 2 GB.  What is no network is refused in a sentence, and a network whose
metadata are that long is read."""

import json
import os
import resource
import struct
import subprocess

MUSTER = os.environ["MUSTER"]
HEAD = 100 << 20
LIMIT = 3 * HEAD + (64 << 20)  # While a file is read, twice; the program.


def members(form, around=b"{%s}"):
    """As many different ones as a header holds."""
    count = (HEAD - len(around)) // (len(form % 0) + 1)
    return around.replace(b"%s", b",".join(form % i for i in range(count)))


def show(head, data=b""):
    """(exit status, what it said) of a file with this header."""
    with open("head.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(head)) + head + data)
    done = subprocess.run(
        [MUSTER, "model", "show", "head.safetensors"], capture_output=True,
        text=True, check=False, preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_AS, (LIMIT, LIMIT)))
    os.remove("head.safetensors")
    return done.returncode, done.stdout + done.stderr


def network():
    """The header of a small one, and its data."""
    subprocess.run([MUSTER, "train", "gen:gmm:60,5", "net.safetensors", "--net",
                    "dense2", "--passes", "1", "--quiet"], check=True,
                   stdout=subprocess.DEVNULL)
    with open("net.safetensors", "rb") as file:
        size, = struct.unpack("<Q", file.read(8))
        return json.loads(file.read(size)), file.read()


def refused(head, sentence):
    said = show(head)
    assert said == (1, f"muster: head.safetensors: {sentence}\n"), said


def no_descriptions():
    refused(members(b'"%07x":{}'), "tensor '0000000': not described by dtype, "
            "shape and data_offsets alone")


def ones():
    refused(b'{"w":[%s1]}' % (b"1," * (HEAD // 2 - 10)),
            "tensor 'w': not described by dtype, shape and data_offsets alone")


def long_shape():
    refused(b'{"w":{"dtype":"F32","shape":[%s1],"data_offsets":[0,0]}}' %
            (b"1," * (HEAD // 2 - 50)),
            "tensor 'w': its description has more than 4096 bytes; dtype, "
            "shape and data_offsets need fewer")


def tensors():
    refused(members(b'"%07x":{"dtype":"F32","shape":[0],'
                    b'"data_offsets":[0,0]}'),
            "more than 65536 tensors; up to that many are read")


def texts():
    refused(members(b'"%07x":""', b'{"__metadata__":{%s}}'),
            "more than 65536 texts in __metadata__; up to that many are read")


def long_names():
    """As many as are read, alike but for their ends."""
    form = b'"' + b"n" * 1600 + b'%05x":{"dtype":"F32","shape":[0],' \
        b'"data_offsets":[0,0]}'
    refused(members(form), "tensors, but not of a network that `muster train "
            "--net` saved: its metadata has no 'net'")


def long_metadata():
    head, data = network()
    small = show(json.dumps(head).encode(), data)
    head["__metadata__"]["more"] = ""
    head["__metadata__"]["more"] = "x" * (HEAD - len(json.dumps(head)))
    assert show(json.dumps(head).encode(), data) == small, small
    assert small[0] == 0, small


def main():
    checks = [no_descriptions, ones, long_shape, tensors, texts, long_names,
              long_metadata]
    print(f"1..{len(checks)}")
    for number, check in enumerate(checks, 1):
        try:
            check()
            print(f"ok {number} - {check.__name__}", flush=True)
        except AssertionError as error:
            print(f"not ok {number} - {check.__name__}: {str(error)[:300]}")


if __name__ == "__main__":
    main()
