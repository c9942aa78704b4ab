#!/usr/bin/env python3
"""`muster data` as a user runs it: downloads from a server on loopback, whole,
resumed and refused; what `data info` says of files in every form; the cache."""

import gzip
import hashlib
import http.server
import json
import os
import re
import resource
import struct
import subprocess
import threading

MUSTER = os.environ["MUSTER"]
BODY = b"".join(b"%d 1:%d 3:0.5\n" % (i % 2, i) for i in range(5000))
OTHER = BODY.replace(b"0.5", b"0.7")
HASH = hashlib.sha256(BODY).hexdigest()


def seal(body):
    return '"%s"' % hashlib.sha256(body).hexdigest()[:16]


class Skip(Exception):
    """What cannot be tried on this machine, and why."""


class Server(http.server.BaseHTTPRequestHandler):
    ranges = []  # What was asked for.
    changed = set()  # Paths that are another file by now.
    stubborn = False  # Sends parts of whatever it has, If-Range or not.

    def do_GET(self):
        wanted = self.headers.get("Range")
        Server.ranges.append(wanted)
        if self.path.startswith("/cut"):
            return self.cut(wanted)
        if self.path == "/login":
            return self.answer(403, b"no")
        if self.path == "/broken":
            return self.answer(503, b"no")
        if self.path == "/short.svm" and wanted is None:
            return self.answer(200, BODY[:4000], whole=len(BODY))
        if self.path == "/endless":
            return self.answer(200, BODY, whole=2 ** 64 + 7)
        if self.path == "/page":
            return self.answer(200, b"<html>", "text/html; charset=utf-8")
        if self.path not in ("/data.svm", "/norange.svm", "/short.svm"):
            return self.answer(404, b"no")
        if wanted is None or self.path == "/norange.svm":
            return self.answer(200, BODY)
        start = int(re.fullmatch(r"bytes=(\d+)-", wanted)[1])
        if start >= len(BODY):
            return self.answer(416, b"")
        return self.answer(206, BODY[start:], part=start)

    def cut(self, wanted):
        """The first time it breaks off after 4,000 bytes."""
        body = OTHER if self.path in Server.changed else BODY
        named = None if "nameless" in self.path else seal(body)
        if wanted is None and not self.path in Server.changed:
            return self.answer(200, body[:4000], whole=len(body), etag=named)
        same = self.headers.get("If-Range") == named or Server.stubborn
        if wanted is None or not same:
            return self.answer(200, body, etag=named)
        start = int(re.fullmatch(r"bytes=(\d+)-", wanted)[1])
        return self.answer(206, body[start:], part=start, etag=named)

    def answer(self, status, body, kind="application/octet-stream", part=None,
               whole=None, etag=seal(BODY)):
        """`whole`: promise so many bytes and hang up before."""
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(whole or len(body)))
        if etag is not None:
            self.send_header("ETag", etag)
        if part is not None:
            self.send_header("Content-Range",
                             f"bytes {part}-{len(BODY) - 1}/{len(BODY)}")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def muster(*words, stdin=None, **how):
    done = subprocess.run([MUSTER, *words], input=stdin, capture_output=True,
                          check=False, **how)
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
    def begin(name, path, body=BODY[:1234]):
        """As an earlier `data get` of that address left it."""
        write(name + ".part", body)
        write(name + ".part.from", f"{base}{path}\n{seal(BODY)}\n".encode())

    def whole():
        code, out, _ = get(base + "/data.svm")
        assert code == 0 and HASH in out
        assert open("data.svm", "rb").read() == BODY

    def resumed():
        begin("part.svm", "/data.svm")
        code, out, _ = get(base + "/data.svm", "--to", "part.svm",
                           "--sha256", HASH, "--format", "json")
        assert code == 0 and json.loads(out)["files"][0]["resumed_at"] == 1234
        assert Server.ranges[-1] == "bytes=1234-"
        assert open("part.svm", "rb").read() == BODY

    def no_ranges():
        begin("again.svm", "/norange.svm")
        code, _, _ = get(base + "/norange.svm", "--to", "again.svm")
        assert code == 0 and open("again.svm", "rb").read() == BODY

    def too_much():
        begin("more.svm", "/data.svm", BODY + b"x")
        code, _, _ = get(base + "/data.svm", "--to", "more.svm")
        assert code == 0 and open("more.svm", "rb").read() == BODY

    def wrong_hash():
        code, _, err = get(base + "/data.svm", "--to", "w", "--sha256",
                           "0" * 64)
        assert code == 1 and "the file was not kept" in err
        assert not os.path.exists("w") and not os.path.exists("w.part")

    def login():
        for path in ("/login", "/page"):
            code, _, err = get(base + path, "--to", "x")
            assert code == 1 and "wants a login" in err, err
        code, _, err = get("amazon")
        assert code == 1 and "wants a login" in err

    def absent():
        code, _, err = get(base + "/none", "--to", "x")
        assert code == 1 and "not there (HTTP 404)" in err

    def offline():
        code, _, err = get("http://127.0.0.1:1/x.svm")
        assert code == 1 and "offline" in err

    def busy():
        code, _, err = get(base + "/broken", "--to", "x")
        assert code == 1 and "answered HTTP 503; try again later" in err, err
        assert not os.path.exists("x.part")

    def broken_off():
        code, _, err = get(base + "/short.svm")
        assert code == 1 and "run the command again to carry on" in err, err
        assert os.path.getsize("short.svm.part") == 4000
        code, _, _ = get(base + "/short.svm", "--sha256", HASH)
        assert code == 0 and Server.ranges[-1] == "bytes=4000-"
        assert open("short.svm", "rb").read() == BODY

    def other_address():
        code, _, _ = get(base + "/cut/a", "--to", "spliced")
        assert code == 1 and os.path.getsize("spliced.part") == 4000
        Server.changed.add("/cut/b")
        code, _, _ = get(base + "/cut/b", "--to", "spliced")
        assert code == 0 and open("spliced", "rb").read() == OTHER
        assert not os.path.exists("spliced.part.from")

    def changed_file():
        for stubborn in (False, True):
            name = f"/cut/{stubborn}"
            Server.stubborn = stubborn
            code, _, _ = get(base + name, "--to", "changed")
            assert code == 1 and os.path.getsize("changed.part") == 4000
            Server.changed.add(name)
            code, _, _ = get(base + name, "--to", "changed")
            assert code == 0 and open("changed", "rb").read() == OTHER
        Server.stubborn = False

    def nameless_part():
        code, _, _ = get(base + "/cut/nameless", "--to", "nameless")
        assert code == 1
        Server.changed.add("/cut/nameless")
        code, _, _ = get(base + "/cut/nameless", "--to", "nameless")
        assert code == 0 and Server.ranges[-1] is None
        assert open("nameless", "rb").read() == OTHER

    def through_a_link():
        write("target.svm", b"old")
        os.chmod("target.svm", 0o600)
        os.symlink("target.svm", "link.svm")
        code, _, _ = get(base + "/data.svm", "--to", "link.svm")
        assert code == 0 and os.path.islink("link.svm")
        assert open("target.svm", "rb").read() == BODY
        assert os.stat("target.svm").st_mode & 0o777 == 0o600
        for path in ("/dev/null", "-"):
            code, _, err = get(base + "/data.svm", "--to", path)
            assert code == 1 and "not a plain file" in err, err

    def no_room():
        """The disk takes 1000 bytes and no more."""
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        code, _, err = muster("data", "get", base + "/data.svm", "--to",
                              "full.svm", preexec_fn=limit,
                              restore_signals=False)
        assert code == 1 and "full.svm.part: " in err, err
        code, _, err = get(base + "/data.svm", "--to", "none/data.svm")
        assert code == 1 and "none/data.svm" in err, err
        os.mkdir("taken")
        code, _, err = get(base + "/data.svm", "--to", "taken")
        assert code == 1 and "taken" in err, err

    def anew(name):
        """What was begun is not believed."""
        code, _, _ = get(base + "/data.svm", "--to", name)
        assert code == 0 and open(name, "rb").read() == BODY, name
        assert os.stat(name).st_uid == os.geteuid(), name

    def open_part():
        """Others could write to it."""
        begin("open.svm", "/data.svm", b"x" * 1234)
        os.chmod("open.svm.part", 0o666)
        anew("open.svm")

    def strangers_part():
        """Another user made it."""
        if os.geteuid() != 0:
            raise Skip("only root can give files to another user")
        begin("his.svm", "/data.svm", b"x" * 1234)
        os.chown("his.svm.part", 65534, 65534)
        anew("his.svm")

    def no_password():
        to = base.replace("://", "://me:secret@")
        for path in ("/none", "/cut/nameless"):
            _, out, err = get(to + path, "--to", "secret.svm", "--sha256",
                              "0" * 64)
            assert "secret@" not in out + err and "me:***@" in err, err
        code, out, err = get(to + "/")
        assert code == 2 and "secret" not in out + err, err
        assert "does not end with a file's name" in err, err

    def endless():
        """A length that no number holds is no promise that was kept."""
        code, _, err = get(base + "/endless", "--to", "endless.svm")
        assert code == 1 and "promises more bytes than a file can" in err, err
        assert not os.path.exists("endless.svm")

    def not_the_web():
        code, _, err = get("http://", "--to", "x")
        assert code != 0 and "not an address of the web" in err, err

    return [whole, resumed, no_ranges, too_much, wrong_hash, login, absent,
            offline, busy, broken_off, other_address, changed_file, nameless_part,
            through_a_link, no_room, open_part, strangers_part, no_password, endless,
            not_the_web]


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

    def images():
        """IDX and npy with their labels in other files."""
        pixels = bytes(range(0, 240, 20))
        write("i-idx3-ubyte", struct.pack(">4B3I", 0, 0, 8, 3, 3, 2, 2) +
              pixels)
        write("i-labels.gz", gzip.compress(struct.pack(">4BI", 0, 0, 8, 1, 3) +
                                           bytes([7, 0, 7])))
        write("i.svm", b"".join(
            b"%d %s\n" % (label, b" ".join(
                b"%d:%.17g" % (j + 1, pixels[4 * i + j] / 255)
                for j in range(4) if pixels[4 * i + j]))
            for i, label in enumerate((7, 0, 7))))
        header = b"{'descr': '|u1', 'fortran_order': False, 'shape': (3, 4)}"
        write("i.npy", b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) +
              header + pixels)
        header = b"{'descr': '<i8', 'fortran_order': False, 'shape': (3,)}"
        write("l.npy", b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) +
              header + struct.pack("<3q", 7, 0, 7))
        assert info("i-idx3-ubyte", "--labels", "i-labels.gz")["digest"] == \
            info("i-idx3-ubyte", "--labels", "l.npy")["digest"] == \
            info("i.svm")["digest"]
        assert info("i.npy", "--labels", "l.npy")["cols"] == 4
        for words, said in [
                (["i-idx3-ubyte"], "an IDX file has no labels; add --labels "
                 "FILE"),
                (["i-idx3-ubyte", "--labels", "none"], "--labels none: no such "
                 "file; check the name"),
                (["i-idx3-ubyte", "--labels", "i-idx3-ubyte"], "--labels "
                 "i-idx3-ubyte: several numbers a row; a file of labels has "
                 "one"),
                (["i.npy", "--label", "x"], "--label: no column 'x'; there is "
                 "no header, so give a number from 1 to 4"),
                (["i.npy", "--label", "5"], "--label: no column '5'; there is "
                 "no header, so give a number from 1 to 4"),
                (["i.svm", "--scale", "minmax"], "--categorical, --pairs, "
                 "--scale, --missing, --drop and --weight are for tables: "
                 "csv, tsv, npy and dense npz")]:
            _, _, err = muster("data", "info", *words)
            assert err == f"muster: {words[0]}: {said}\n", err

    def counts():
        found = info("t.csv")
        assert (found["rows"], found["cols"], found["storage"]) == (3, 2, "f32")
        assert found["labels"] == [{"label": 0, "rows": 1},
                                   {"label": 1, "rows": 2}]

    def rounded():
        with open("odd.csv", "w", encoding="ascii") as file:
            file.write("0.1,16777217,1\n0.5,2,-1\n")
        found = info("odd.csv")
        assert found["storage"] == "f32" and found["rounded"] == 2
        assert 2 ** -25 < found["rounding"] <= 2 ** -24
        found = info("odd.csv", "--storage", "f64")
        assert found["storage"] == "f64"
        assert (found["rounded"], found["rounding"]) == (0, 0)
        _, out, _ = muster("data", "info", "odd.csv")
        assert "rounded   2 values to fp32, by 6e-08 of their size at most; " \
            "--storage f64 keeps them\n" in out

    def cached():
        first = info("data.svm", "--cache", "cache")
        again = info("data.svm", "--cache", "cache")
        plain = info("data.svm", "--threads", "1")
        assert first == again == plain
        assert sorted(name.split(".")[1] for name in os.listdir("cache")) == \
            ["columns", "data", "key"]

    def broken():
        write("bad.csv", b"a,b,y\n1,2,0\n1,x,1\n")
        code, _, err = muster("data", "info", "bad.csv")
        assert code == 1 and err == \
            "muster: bad.csv: line 3: column 2 (b): 'x' is not a number; " \
            "if it stands for what is not known, empty the field and add " \
            "--missing mean; if the column holds words, add --categorical " \
            "auto,:2\n", err

    return [forms, images, counts, rounded, cached, broken]


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    checks = check_get(f"http://127.0.0.1:{server.server_port}") + check_info()
    print(f"1..{len(checks)}")
    for number, check in enumerate(checks, 1):
        try:
            check()
            print(f"ok {number} - {check.__name__}")
        except Skip as reason:
            print(f"ok {number} - {check.__name__} # SKIP {reason}")
        except (AssertionError, OSError, ValueError, KeyError) as error:
            print(f"not ok {number} - {check.__name__}: {error!r}")


if __name__ == "__main__":
    main()
