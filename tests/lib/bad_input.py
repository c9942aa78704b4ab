#!/usr/bin/env python3
"""Data that are wrong: the one sentence that each must give, with file, line
and column.  Then data that only look wrong, which must give the same rows as
their plain form."""

import ctypes
import gzip
import json
import os
import subprocess

MUSTER = os.environ["MUSTER"]
ROWS = b"1 1:2 3:4.5\n-1 2:-1225000\n"
NOBODY = 65534


class Skip(Exception):
    """What cannot be tried on this machine, and why."""


LIBSVM = [
    (b"1 1:nan\n", "line 1: feature 1: value nan; values must be finite"),
    (b"1 1:1\n1 1:-Inf\n", "line 2: feature 1: value -Inf; values must be "
     "finite"),
    (b"nan 1:1\n", "line 1: label nan; labels must be finite"),
    (b"1 2:1 1:1\n", "line 1: index 1 after 2; indices must increase along a "
     "line"),
    (b"1 2:1 2:1\n", "line 1: index 2 twice; give each feature once a line"),
    (b"1 -2:1\n", "line 1: index '-2' is not a whole number; LIBSVM indices "
     "are 1, 2, 3, ..."),
    (b"1 99999999999999999999:1\n", "line 1: index 99999999999999999999; at "
     "most 16777216 features are supported"),
    (b"1 1:1e39\n", "line 1: feature 1: value 1e39 is too large; at most "
     "3.4e38 fits single precision, larger ones need --storage f64"),
    (b"1 1:1e999\n", "line 1: feature 1: value 1e999 is too large; at most "
     "1.8e308 fits double precision"),
    (b"1e999 1:1\n", "line 1: label 1e999 is too large"),
    (b"1 1:\n", "line 1: feature 1: value missing; write 1:VALUE without "
     "blanks"),
    (b"1 1:0x10\n", "line 1: feature 1: value '0x10' is not a number"),
    (b"1 2\n", "line 1: '2' is not index:value; if this is a table with "
     "blanks, add --input csv --separator ' '"),
    (b"1:2 3:4\n", "line 1: label missing; a line starts with a number, then "
     "index:value pairs"),
    (b"1 qid:3 1:1\n", "line 1: qid: ranking data are not supported; remove "
     "the qid: fields"),
    (b"\r\n\xef\xbb\xbf1 1:1\r\n", "line 2: label '???1' is not a number; "
     "if this is a table, add --input csv"),
    (b"", "no rows; expected lines such as '+1 1:0.5 3:2'"),
    (b"\n# nothing\n", "no rows; expected lines such as '+1 1:0.5 3:2'"),
    (b"1\n-1\n", "no features in any row; nothing to learn from"),
]

CSV = [
    (b"a,b,y\n1,2,0\n1,2\n", "line 3: 2 columns, expected 3"),
    (b"a,b,y\n1,2,0\n1,2,3,4\n", "line 3: 4 columns, expected 3"),
    (b"a,b,y\n1,2,1\n1,nan,0\n", "line 3: column 2 (b): 'nan' is a missing value; "
     "--missing mean, median, zero or indicator fills such fields in, --drop "
     "leaves the column out"),
    (b"1,inf,0\n", "line 1: column 2: inf; values must be finite: "
     "write a number, or nothing at all and train with --missing mean"),
    (b"a,b,y\n1,2,1\n1,,0\n", "line 3: column 2 (b): the field is empty; --missing "
     "mean, median, zero or indicator fills such fields in, --drop leaves the "
     "column out"),
    (b"a,b,y\n1,1e39,0\n", "line 2: column 2 (b): 1e+39 is too large; at most "
     "3.4e38 fits single precision, larger ones need --storage f64"),
    (b"a,b,y\n1,1e999,0\n", "line 2: column 2 (b): 1e999 is too large; at "
     "most 1.8e308 fits double precision"),
    (b"a,b,y\n1,\"2,0\n", "line 2: column 2 (b): a quote is opened and not "
     "closed again; a quote that belongs to the text is written twice"),
    (b"a,b,y\n1,2,1\n1,x,0\n", "line 3: column 2 (b): 'x' is not a number; if "
     "it stands for what is not known, empty the field and add --missing "
     "mean; if the column holds words, add --categorical auto,:2"),
    (b"a,b,y\n1,2,0\n3,4,1\na,b,y\n5,1,0\n", "line 4: column 1 (a): 'a' is "
     "the column's name: the header again; leave the line out"),
    (b"s,b,y\nred,2,0\nblue,4,1\nred,4,1\ns,b,y\nblue,1,0\n", "line 5: "
     "column 2 (b): 'b' is the column's name: the header again; leave the "
     "line out"),
    (b"", "no rows; expected lines with commas or tabs between fields"),
    (b"a,b,y\n", "no rows, the first line is the header alone"),
]

SAME = [  # Of ROWS: other ways to write it.
    ROWS[:-1],
    ROWS.replace(b"\n", b"\r\n"),
    b"\xef\xbb\xbf" + ROWS,
    b"\xef\xbb\xbf" + ROWS.replace(b"\n", b"\r\n")[:-2],
    ROWS.replace(b"-1225000", b"-1.225e+006"),
    ROWS.replace(b"-1225000", b"-1.225E6"),
    ROWS.replace(b"4.5", b"+4.50").replace(b"1 1", b"+1.0 1"),
    b"# head\n\n" + ROWS.replace(b"\n", b" \t# tail\n"),
    gzip.compress(ROWS[:9]) + gzip.compress(ROWS[9:]),
]


def zstd(data):
    library = ctypes.CDLL("libzstd.so.1")
    library.ZSTD_compress.restype = ctypes.c_size_t
    room = ctypes.create_string_buffer(len(data) + 1024)
    size = library.ZSTD_compress(room, ctypes.c_size_t(len(room)), data,
                                 ctypes.c_size_t(len(data)), 3)
    return room.raw[:size]


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def info(path, **how):
    return subprocess.run([MUSTER, "data", "info", path, "--format", "json"],
                          capture_output=True, text=True, check=False, **how)


def refuses(path, sentence, **how):
    done = info(path, **how)
    said = json.loads(done.stdout).get("error")
    assert done.returncode in (1, 2), done.returncode
    assert said == f"{path}: {sentence}", said


def become_nobody():
    os.setgroups([])
    os.setuid(NOBODY)


def libsvm():
    for data, sentence in LIBSVM:
        write("bad.svm", data)
        refuses("bad.svm", sentence)


def csv():
    for data, sentence in CSV:
        write("bad.csv", data)
        refuses("bad.csv", sentence)


def packed():
    text = b"".join(b"1 1:%d\n" % i for i in range(20000))
    write("bad.svm.gz", gzip.compress(text)[:-20])
    refuses("bad.svm.gz", "the gzip data end too early; fetch the file again")
    write("bad.svm.zst", zstd(text)[:-20])
    refuses("bad.svm.zst", "the zstd data end too early; fetch the file again")
    whole = bytearray(gzip.compress(text))
    whole[len(whole) // 2] ^= 255
    write("bad.svm.gz", whole)
    refuses("bad.svm.gz", "the gzip data are damaged; fetch the file again")
    write("good.svm.zst", zstd(text))
    assert json.loads(info("good.svm.zst").stdout)["rows"] == 20000


def places():
    os.mkdir("folder")
    refuses("folder", "is a directory; name a file in it")
    os.mkdir("folder.csv")
    refuses("folder.csv", "is a directory; name a file in it")
    refuses("none.svm", "no such file; check the name")


def unreadable():
    write("closed.svm", ROWS)
    os.chmod("closed.svm", 0)
    if os.geteuid() != 0:
        refuses("closed.svm", "not readable; check the file's permissions")
        return
    # Root may read everything: let somebody else try, if he may run us.
    try:
        refuses("closed.svm", "not readable; check the file's permissions",
                preexec_fn=become_nobody)
    except PermissionError as error:
        raise Skip("root reads everything, and nobody may not run the "
                   "program here") from error


def zeros():
    """What has no lines is not read to its end, which it may not have."""
    with open("z.svm", "wb") as file:
        file.truncate(1 << 42)
    os.link("z.svm", "z.csv")
    no_text = "line 1: a NUL byte; is this a text file?"
    refuses("z.svm", no_text)
    refuses("z.csv", no_text)
    refuses("/dev/zero", no_text)
    for path, words in (("/dev/zero", "a device; a model is a file"),
                        ("z.svm", "not a model, neither LIBLINEAR's text nor a "
                         "network in safetensors")):
        done = subprocess.run([MUSTER, "model", "show", path],
                              capture_output=True, text=True, timeout=60,
                              check=False)
        assert done.returncode == 1 and done.stderr == \
            f"muster: {path}: {words}\n", done


def encodings():
    """UTF-16 and Latin-1 by every reader of text; what is left out may be in
    any encoding."""
    mend = "makes it so"
    rows = "grö,Farbe,y\n1,grün,0\n2,rot,1\n1,grün,1\n"
    plain = "größe,b,y\n1,2,0\n2,3,1\n"
    for name, encoding in (("UTF-16", "utf-16"), ("UTF-16LE", "utf-16-le"),
                           ("UTF-16BE", "utf-16-be"), ("UTF-32", "utf-32")):
        said = (f"{name}, and text is UTF-8; save it as that, or `iconv -f "
                f"{name} -t UTF-8 OLD >NEW` {mend}")
        write("wide.csv", rows.encode(encoding))
        refuses("wide.csv", said)
        write("wide.csv.gz", gzip.compress(plain.encode(encoding)))
        refuses("wide.csv.gz", said)
        write("wide.svm", ROWS.decode().encode(encoding))
        refuses("wide.svm", said)
        for how in ("csv", "libsvm"):
            with open("wide.csv", "rb") as file:
                done = subprocess.run(
                    [MUSTER, "data", "info", "-", "--input", how],
                    stdin=file, capture_output=True, text=True, check=False)
            assert done.stderr == f"muster: standard input: {said}\n", done
    latin = (f"is not UTF-8, as text is; if it is Latin-1, `iconv -f latin1 -t "
             f"UTF-8 OLD >NEW` {mend}")
    write("name.csv", plain.encode("latin-1"))
    refuses("name.csv", f"line 1: column 1: 'gr??e' {latin}")
    write("word.csv", rows.replace("grö", "gr").encode("latin-1"))
    refuses("word.csv", f"line 2: column 2 (Farbe): 'gr?n' {latin}")
    write("class.csv", "a,y\n1,ja\n2,nö\n".encode("latin-1"))
    refuses("class.csv", f"line 3: column 2 (y): 'n?' {latin}")
    write("good.csv", rows.encode())
    write("old.csv", rows.encode("latin-1"))
    subprocess.run([MUSTER, "train", "good.csv", "good.model", "-q"],
                   check=True, stdout=subprocess.DEVNULL)
    done = subprocess.run([MUSTER, "predict", "old.csv", "good.model"],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 1 and done.stderr == \
        f"muster: old.csv: line 1: column 1: 'gr?' {latin}\n", done
    for drop in (":1,:2", ":1,Farbe"):
        write("left.csv", rows.replace("Farbe,", "Farbe,z,")
              .replace(",0", ",1,0").replace(",1\n", ",2,1\n")
              .encode("latin-1"))
        done = subprocess.run([MUSTER, "data", "info", "left.csv", "--drop",
                               drop], capture_output=True, check=False)
        assert done.returncode == 0, done


def same_rows():
    write("plain.svm", ROWS)
    wanted = json.loads(info("plain.svm").stdout)["digest"]
    for data in SAME:
        write("same.svm", data)
        done = info("same.svm")
        assert json.loads(done.stdout).get("digest") == wanted, (data, done)


def main():
    checks = [libsvm, csv, packed, places, unreadable, zeros, encodings,
              same_rows]
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
