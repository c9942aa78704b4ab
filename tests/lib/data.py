#!/usr/bin/env python3
"""`muster data` as a user runs it: downloads from a server on loopback, whole,
resumed and refused; what `data info` says of files in every form; the cache."""

import gzip
import hashlib
import http.server
import json
import os
import re
import struct
import subprocess
import threading

MUSTER = os.environ["MUSTER"]
BODY = b"".join(b"%d 1:%d 3:0.5\n" % (i % 2, i) for i in range(5000))
HASH = hashlib.sha256(BODY).hexdigest()


class Server(http.server.BaseHTTPRequestHandler):
    ranges = []  # What was asked for.

    def do_GET(self):
        wanted = self.headers.get("Range")
        Server.ranges.append(wanted)
        if self.path == "/login":
            return self.answer(403, b"no")
        if self.path == "/page":
            return self.answer(200, b"<html>", "text/html; charset=utf-8")
        if self.path not in ("/data.svm", "/norange.svm"):
            return self.answer(404, b"no")
        if wanted is None or self.path == "/norange.svm":
            return self.answer(200, BODY)
        start = int(re.fullmatch(r"bytes=(\d+)-", wanted)[1])
        if start >= len(BODY):
            return self.answer(416, b"")
        return self.answer(206, BODY[start:], part=start)

    def answer(self, status, body, kind="application/octet-stream", part=None):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if part is not None:
            self.send_header("Content-Range",
                             f"bytes {part}-{len(BODY) - 1}/{len(BODY)}")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def muster(*words, stdin=None):
    done = subprocess.run([MUSTER, *words], input=stdin, capture_output=True,
                          check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def info(*words, stdin=None):
    code, out, err = muster("data", "info", *words, "--format", "json",
                            stdin=stdin)
    assert code == 0, out + err
    return json.loads(out)


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def get(url, *words):
    return muster("data", "get", url, *words)


def check_get(base):
    def whole():
        code, out, _ = get(base + "/data.svm")
        assert code == 0 and HASH in out
        assert open("data.svm", "rb").read() == BODY

    def resumed():
        write("part.svm.part", BODY[:1234])
        code, out, _ = get(base + "/data.svm", "--out", "part.svm",
                           "--sha256", HASH, "--format", "json")
        assert code == 0 and json.loads(out)["files"][0]["resumed_at"] == 1234
        assert Server.ranges[-1] == "bytes=1234-"
        assert open("part.svm", "rb").read() == BODY

    def no_ranges():
        write("again.svm.part", BODY[:1234])
        code, _, _ = get(base + "/norange.svm", "--out", "again.svm")
        assert code == 0 and open("again.svm", "rb").read() == BODY

    def too_much():
        write("more.svm.part", BODY + b"x")
        code, _, _ = get(base + "/data.svm", "--out", "more.svm")
        assert code == 0 and open("more.svm", "rb").read() == BODY

    def wrong_hash():
        code, _, err = get(base + "/data.svm", "--out", "w", "--sha256",
                           "0" * 64)
        assert code == 1 and "the file was not kept" in err
        assert not os.path.exists("w") and not os.path.exists("w.part")

    def login():
        for path in ("/login", "/page"):
            code, _, err = get(base + path, "--out", "x")
            assert code == 1 and "wants a login" in err, err
        code, _, err = get("amazon")
        assert code == 1 and "wants a login" in err

    def absent():
        code, _, err = get(base + "/none", "--out", "x")
        assert code == 1 and "not there (HTTP 404)" in err

    def offline():
        code, _, err = get("http://127.0.0.1:1/x.svm")
        assert code == 1 and "offline" in err

    return [whole, resumed, no_ranges, too_much, wrong_hash, login, absent,
            offline]


def check_info():
    def forms():
        rows = [(1, 0, 2.5), (0, 3, -1), (1, 1, 1)]
        write("t.csv", b"a,b,y\n" + b"".join(
            b"%g,%g,%g\n" % (b, c, a) for a, b, c in rows))
        write("t.tsv", b"".join(
            b"%g\t%g\t%g\n" % (a, b, c) for a, b, c in rows))
        write("t.svm.gz", gzip.compress(b"".join(
            b"%g 1:%g 2:%g\n" % row for row in rows)))
        header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 3)}"
        write("t.npy", b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) +
              header + struct.pack("<9f", *(v for row in rows for v in row)))
        digests = {info("t.csv")["digest"], info("t.tsv", "--label", "1")
                   ["digest"], info("t.svm.gz")["digest"],
                   info("t.npy", "--label", "1")["digest"],
                   info("-", stdin=gzip.compress(b"".join(
                       b"%g 1:%g 2:%g\n" % row for row in rows)))["digest"]}
        assert len(digests) == 1, digests

    def counts():
        found = info("t.csv")
        assert (found["rows"], found["cols"], found["storage"]) == (3, 2, "bf16")
        assert found["labels"] == [{"label": 0, "rows": 1},
                                   {"label": 1, "rows": 2}]

    def cached():
        first = info("data.svm", "--cache", "cache")
        again = info("data.svm", "--cache", "cache")
        plain = info("data.svm", "--threads", "1")
        assert first == again == plain
        assert sorted(name.split(".")[1] for name in os.listdir("cache")) == \
            ["data", "key"]

    def broken():
        write("bad.csv", b"a,b,y\n1,2,0\n1,x,1\n")
        code, _, err = muster("data", "info", "bad.csv")
        assert code == 1 and err == \
            "muster: bad.csv: line 3: column 2 (b): 'x' is not a number; " \
            "for words say --categorical\n", err

    return [forms, counts, cached, broken]


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    checks = check_get(f"http://127.0.0.1:{server.server_port}") + check_info()
    print(f"1..{len(checks)}")
    for number, check in enumerate(checks, 1):
        try:
            check()
            print(f"ok {number} - {check.__name__}")
        except (AssertionError, OSError, ValueError, KeyError) as error:
            print(f"not ok {number} - {check.__name__}: {error!r}")


if __name__ == "__main__":
    main()
