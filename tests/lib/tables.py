#!/usr/bin/python3
"""Files as pandas, scikit-learn, scipy and numpy write them: what muster makes
of them is what these libraries say is in them."""

import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)),
                                "lib"))
import checks  # noqa: E402

checks.need("pandas", "scipy", "sklearn")

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
import scipy.sparse  # noqa: E402
from sklearn.datasets import dump_svmlight_file  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

MUSTER = os.environ["MUSTER"]


def muster(*words, rc=0):
    run = subprocess.run([MUSTER, *map(str, words)], capture_output=True,
                         text=True, timeout=120, check=False)
    assert run.returncode == rc, (words, run.returncode, run.stderr)
    return run.stdout, run.stderr


def people(rows=300):
    draw = np.random.default_rng(7)
    table = pd.DataFrame({
        "age": draw.integers(18, 80, rows).astype(float),
        "sex": draw.choice(["male", "female"], rows),
        "member": draw.random(rows) < .5,
        "fare": draw.lognormal(3, 1, rows).round(2)})
    score = (table["age"] / 20 - 2.5 + (table["sex"] == "female") +
             table["member"] * 1.5 + draw.normal(0, .3, rows))
    table["survived"] = np.where(score > .8, "yes", "no")
    return table


def trained(*words):
    return muster("train", *words, "--optim", "newton", "--steps", 50)


def predictions(*words):
    muster("predict", *words[:2], "out.txt", "--force", *words[2:])
    with open("out.txt", encoding="utf-8") as file:
        return file.read().split()


def swapped():
    """Any order of columns, more of them, no label: one answer."""
    table = people()
    table.to_csv("t.csv", index=False)
    trained("t.csv", "m")
    first = predictions("t.csv", "m")
    assert np.mean(np.array(first) == table["survived"]) > .85
    other = table.assign(note="x, y")[
        ["fare", "note", "survived", "sex", "age", "member"]]
    other.to_csv("o.csv", index=False, sep=";")
    assert predictions("o.csv", "m") == first
    table.drop(columns="survived").to_csv("u.csv", index=False)
    assert predictions("u.csv", "m") == first
    _, err = muster("predict", "u.csv", "m", "--label", "fare", rc=2)
    assert "column 'fare' is a feature of the model" in err, err


def index():
    """The index that to_csv writes by default is pointed out."""
    people().to_csv("t.csv")
    _, err = trained("t.csv", "m")
    assert "leave it out with --drop :1" in err, err
    _, err = trained("t.csv", "m", "--drop", ":1")
    assert "--drop" not in err.replace("(--drop leaves", ""), err


def numbered():
    """Names that are numbers are not places: `1` is not `:1`."""
    table = people()[["age", "fare"]].assign(y=lambda t: t["age"] > 40)
    table.columns = [0, 1, 2]
    table.to_csv("t.csv")
    _, err = trained("t.csv", "m", "--drop", ":1")
    assert "number 2 0 " in open("m", encoding="utf-8").read()
    assert "--drop" not in err, err
    _, err = trained("t.csv", "n", "--drop", "1")
    assert "--drop 1 is the column of that name, which is column 3; " \
        "--drop :1 is the one in that place" in err, err


def twins():
    """Two columns of one name cannot be told apart in another table."""
    table = people()[["age", "fare", "age", "survived"]]
    table.to_csv("t.csv", index=False)
    _, err = muster("train", "t.csv", "m", rc=2)
    assert "columns 1 and 3 have the same name, 'age'" in err, err
    trained("t.csv", "m", "--drop", ":1,:3")
    predictions("t.csv", "m")


def gaps():
    """NaN as pandas writes it; the fill is pandas' mean."""
    table = people()
    table.loc[::7, "age"] = np.nan
    table.to_csv("t.csv", index=False)
    _, err = muster("train", "t.csv", "m", rc=1)
    assert "t.csv: line 2: column 1 (age): the field is empty; --missing " \
        in err, err
    for text in ("None", "<NA>", "#N/A", "n/a", "NaN"):
        table.to_csv("t.csv", index=False, na_rep=text)
        _, err = muster("train", "t.csv", "m", rc=1)
        assert f"'{text}' is a missing value; --missing " in err, err
    trained("t.csv", "m", "--missing", "mean")
    with open("m", encoding="utf-8") as file:
        fill = [line.split() for line in file if line.startswith("number 1 ")]
    assert abs(float(fill[0][-1]) - table["age"].mean()) < 1e-12
    filled = table.fillna({"age": table["age"].mean()})
    filled.to_csv("f.csv", index=False)
    assert predictions("t.csv", "m") == predictions("f.csv", "m")


def scaled():
    """--scale standard is StandardScaler's, constant columns and all."""
    table = people()[["age", "fare"]].assign(one=.1)
    table["y"] = np.arange(len(table)) % 2
    table.to_csv("t.csv", index=False)
    trained("t.csv", "m", "--scale", "standard")
    scaler = StandardScaler().fit(table[["age", "fare", "one"]].to_numpy())
    with open("m", encoding="utf-8") as file:
        rows = [line.split() for line in file if line.startswith("number ")]
    for row, mean, scale in zip(rows, scaler.mean_, scaler.scale_):
        assert abs(float(row[3]) - mean) < 1e-9 * abs(mean), row
        if row[2] != "one":
            assert abs(float(row[4]) * scale - 1) < 1e-9, row
    assert float(rows[2][4]) == 0


def seconds():
    """fp32 would take an hour of seconds since 1970 apart: f64 is chosen, and
    predict does as training did."""
    draw = np.random.default_rng(3)
    when = 1.7e9 + draw.uniform(0, 3600, 400).round(1)
    table = pd.DataFrame({"when": when, "b": draw.normal(size=400)})
    table["y"] = (when - 1.7e9) / 3600 + table["b"]
    table.to_csv("t.csv", index=False)
    how = ["--model", "linear", "--scale", "none"]
    _, err = trained("t.csv", "m", *how)
    assert 't.csv: column "when": single precision (fp32) would move values by up to ' \
        "1.78 % of the range they span, so all are kept in double" in err, err
    trained("t.csv", "n", *how, "--storage", "f64")
    with open("m", "rb") as one, open("n", "rb") as two:
        assert one.read() == two.read()
    kept = predictions("t.csv", "m")
    assert predictions("t.csv", "m", "--storage", "f64") == kept
    assert predictions("t.csv", "m", "--storage", "f32") != kept
    _, err = trained("t.csv", "o", "--model", "linear", "--valid", ".2",
                     "--scale", "none")
    with open("o", encoding="utf-8") as file:
        assert "values f64" in file.read()
    # Times whose differences count, a millionth of their spread.
    start = 1672531200 + np.arange(200) * 7919 * 131 % 31536000
    took = 5 + np.arange(200) * 37 % 115
    rides = pd.DataFrame({"start": start, "end": start + took,
                          "fare": 2.5 + .05 * took})
    rides.to_csv("rides.csv", index=False)
    out, err = trained("rides.csv", "r", "--model", "linear", "--scale", "none")
    assert "(fp32) does not hold its whole numbers" in err, err
    assert float(re.search(r"train +mse ([\d.e-]+)", out)[1]) < 1e-3, out
    # Rows that have no table say so, too: from 1, from 0, CSR.
    x, y = table[["when", "b"]].to_numpy(), (when > 1.7e9 + 1800).astype(int)
    np.save("y.npy", y)
    scipy.sparse.save_npz("x.npz", scipy.sparse.csr_matrix(x))
    for name, *more in (("one.svm",), ("zero.svm",),
                        ("x.npz", "--labels", "y.npy")):
        if name != "x.npz":
            dump_svmlight_file(x, y, name, zero_based=name == "zero.svm")
        out, _ = trained(name, "m", *more)
        seen = re.search(r"train +accuracy ([\d.]+)", out)[1]
        out, _ = muster("predict", name, "m", "out.txt", "--force", *more)
        assert f"accuracy {seen}," in out, (name, seen, out)
    table[["b", "y"]].to_csv("u.csv", index=False)
    _, err = trained("u.csv", "m", "--model", "linear")
    assert "fp32" not in err, err


def svmlight():
    """scikit-learn counts from 0 unless told otherwise."""
    table = people()
    x = table[["age", "fare"]].to_numpy()
    y = (table["survived"] == "yes").astype(int)
    dump_svmlight_file(x, y, "zero.svm")
    dump_svmlight_file(x, y, "one.svm", zero_based=False)
    out, err = trained("zero.svm", "m")
    assert "indices are taken to start at 0" in err, err
    other, err = trained("one.svm", "n")
    assert err == "" or "start at 0" not in err, err
    assert out.split("objective")[0] == other.split("objective")[0]
    assert predictions("zero.svm", "m") == predictions("one.svm", "n")
    _, err = muster("predict", "one.svm", "m", rc=2)
    assert "trained with --zero-based" in err, err


def first_index():
    """Rows that may be counted from 0 or from 1 are not counted in silence."""
    draw = np.random.default_rng(1)
    x = draw.normal(0, 1, (300, 5))
    y = (x[:, 0] + x[:, 1] > 0).astype(int)
    first, last = x.copy(), x.copy()
    first[:, 0] = 0
    last[:, 4] = 0
    dump_svmlight_file(x, y, "zero.svm")
    dump_svmlight_file(x, y, "one.svm", zero_based=False)
    dump_svmlight_file(first, y, "zero-first.svm")
    dump_svmlight_file(last, y, "one-last.svm", zero_based=False)
    trained("zero.svm", "m")
    for name in ("zero-first.svm", "one-last.svm"):
        for words in (["predict", name, "m", "out.txt", "--force"],
                      ["train", "zero.svm", "n", "--test", name]):
            _, err = muster(*words)
            assert f"{name}: here is no index 0; indices are taken to start " \
                "at 0 all the same" in err, err
    _, err = muster("predict", "one-last.svm", "m", "--zero-based", "out.txt",
                    "--force")
    assert err == "", err
    trained("one.svm", "m")
    first = predictions("one.svm", "m")
    _, err = muster("predict", "zero-first.svm", "m", "out.txt", "--force")
    assert "indices go up to 4 only, and the model has 5 features; if they " \
        "start at 0 here, add --zero-based" in err, err
    _, err = muster("predict", "zero.svm", "m", "out.txt", "--force", rc=1)
    assert "there is an index 0, and the model's rows started at 1" in err, err
    assert "train again with --zero-based" in err, err
    assert predictions("zero.svm", "m", "--zero-based") == first


def numpy_files():
    """C and Fortran order, labelled and not, bytes and doubles."""
    table = people()
    x = table[["age", "fare"]].to_numpy()
    y = (table["survived"] == "yes").astype(int).to_numpy()
    np.save("x.npy", x)
    np.save("f.npy", np.asfortranarray(x))
    np.save("y.npy", y)
    np.save("xy.npy", np.column_stack([x, y]))
    trained("x.npy", "m", "--labels", "y.npy")
    first = predictions("x.npy", "m")
    assert predictions("f.npy", "m") == first
    assert predictions("xy.npy", "m") == first
    trained("f.npy", "n", "--labels", "y.npy")
    with open("m", "rb") as one, open("n", "rb") as two:
        assert one.read() == two.read()


def same(one, two):
    with open(one, "rb") as a, open(two, "rb") as b:
        assert a.read() == b.read(), (one, two)


def archives():
    """numpy.savez, compressed or not, whatever the arrays are called, is the
    npy files of the same arrays; through a frame too."""
    table = people()
    x = table[["age", "fare"]].to_numpy()
    y = (table["survived"] == "yes").astype(int).to_numpy()
    np.save("x.npy", x)
    np.save("y.npy", y)
    np.save("xy.npy", np.column_stack([x, y]))
    np.savez("X.npz", X=x, y=y)
    np.savez_compressed("data.npz", target=y, data=np.asfortranarray(x))
    np.savez_compressed("arr.npz", x, y.reshape(-1, 1))
    np.savez("only.npz", table=np.column_stack([x, y]))
    np.savez("rows.npz", X=x)
    np.savez("many.npz", a=x, b=y, c=y)
    np.savez("more.npz", names=np.array(["age", "fare"]), X=x, ids=y, y=y)
    np.savez("three.npz", x, y, y)
    np.savez("lots.npz", **{f"an_array_of_some_length_{i}": y for i in range(9)})
    for more in ([], ["--scale", "standard"]):
        trained("x.npy", "m", "--labels", "y.npy", *more)
        first = predictions("x.npy", "m")
        for name in ("X.npz", "data.npz", "arr.npz"):
            trained(name, "n", *more)
            same("m", "n")
            assert predictions(name, "n") == first
        trained("rows.npz", "n", "--labels", "y.npy", *more)
        same("m", "n")
        os.rename("arr.npz", "unnamed")
        trained("unnamed", "n", *more)
        same("m", "n")
        os.rename("unnamed", "arr.npz")
        trained("xy.npy", "m", *more)
        trained("only.npz", "n", *more)
        same("m", "n")
    trained("only.npz", "n", "--weight", 1, "--label", 3)
    _, err = muster("train", "many.npz", "m", rc=1)
    assert "expected arrays X and y" in err and "a.npy, b.npy" in err, err
    _, err = muster("train", "three.npz", "m", rc=1)
    assert "there are: arr_0.npy, arr_1.npy, arr_2.npy\n" in err, err
    _, err = muster("train", "lots.npz", "m", rc=1)
    assert err.endswith("length_4.npy, ...\n"), err
    trained("x.npy", "m", "--labels", "y.npy")
    _, err = muster("train", "more.npz", "n")
    assert ("more.npz: X.npy and y.npy are taken; left alone: names.npy, "
            "ids.npy\n") in err, err
    same("m", "n")
    _, err = muster("train", "only.npz", "m", "--labels", "x.npy", rc=1)
    assert "a file of labels has one" in err, err


def sparse_matrices():
    """scipy.sparse.save_npz is the svmlight file of the same values."""
    draw = np.random.default_rng(3)
    x = scipy.sparse.random(300, 40, .1, "csr", random_state=3)
    x = scipy.sparse.hstack([x[:, :39], np.ones((300, 1))]).tocsr()
    y = (x @ draw.normal(0, 1, 40) > 0).astype(int)
    dump_svmlight_file(x, y, "x.svm", zero_based=False)
    np.save("y.npy", y)
    scipy.sparse.save_npz("x.npz", x)
    mixed = x.copy()
    for i in range(300):
        part = slice(mixed.indptr[i], mixed.indptr[i + 1])
        mixed.indices[part] = mixed.indices[part][::-1].copy()
        mixed.data[part] = mixed.data[part][::-1].copy()
    scipy.sparse.save_npz("mixed.npz", mixed, compressed=False)
    trained("x.svm", "m")
    first = predictions("x.svm", "m")
    for name in ("x.npz", "mixed.npz"):
        trained(name, "n", "--labels", "y.npy")
        same("m", "n")
        assert predictions(name, "n") == first
    trained("x.npz", "n", "--labels", "y.npy", "-n", 2)
    same("m", "n")
    _, err = muster("train", "x.npz", "n", rc=2)
    assert "add --labels FILE.npy" in err, err
    scipy.sparse.save_npz("csc.npz", x.tocsc())
    _, err = muster("predict", "csc.npz", "m", "out.txt", "--force", rc=2)
    assert "stored as csc; save x.tocsr()" in err, err
    scipy.sparse.save_npz("wide.npz", scipy.sparse.hstack([x, x]).tocsr())
    _, err = muster("predict", "wide.npz", "m", "out.txt", "--force", rc=2)
    assert "80 columns; the model has 40" in err, err
    twice = scipy.sparse.csr_matrix(
        (np.ones(2), np.array([3, 3]), np.array([0, 2])), shape=(1, 40))
    scipy.sparse.save_npz("twice.npz", twice)
    _, err = muster("predict", "twice.npz", "m", "out.txt", "--force", rc=1)
    assert "row 1: column 4 twice" in err, err


def other_names():
    """Tables are known by their first line, whatever they are called."""
    table = people()
    table.to_csv("t.csv", index=False)
    trained("t.csv", "m")
    for name, how in (("t.txt", {}), ("t.data", {"sep": ";"}),
                      ("t", {"sep": "\t"}), ("b.csv", {"sep": "|"}),
                      ("t.gz", {"compression": "gzip"})):
        table.to_csv(name, index=False, **how)
        trained(name, "n")
        same("m", "n")
    table[["age", "fare"]].to_csv("n.txt", index=False, header=False)
    trained("n.txt", "n", "--model", "linear")
    with open("t.csv", encoding="utf-8") as file:
        run = subprocess.run([MUSTER, "train", "-", "n"], stdin=file,
                             capture_output=True, text=True, check=False)
    assert run.returncode == 1 and "if this is a table, add --input csv" in \
        run.stderr, run
    np.savetxt("x.txt", table[["age", "fare"]])
    _, err = muster("train", "x.txt", "n", rc=1)
    assert "add --input csv --separator ' '" in err, err
    trained("x.txt", "n", "--input", "csv", "--separator", " ")
    with open("l.txt", "w", encoding="utf-8") as file:
        file.write("# made by hand, as usual\n1\t1:2\t3:4\n0\t2:1\n" * 20)
    trained("l.txt", "n")


def pipes():
    """All of a pipe is read, once: no look into it beforehand."""
    table = people(20000)[["age", "fare", "member"]]
    table.to_csv("t.csv", index=False)
    dump_svmlight_file(table[["age", "fare"]], table["member"], "t.svm",
                       zero_based=False)
    os.mkfifo("pipe")
    for name, more in (("t.svm", []), ("t.csv", ["--input", "csv"])):
        trained(name, "m")
        with subprocess.Popen(["cp", name, "pipe"]) as copy:
            trained("pipe", "n", *more)
            assert copy.wait() == 0
        same("m", "n")


DISGUISES = [  # What pandas writes where a column was never converted.
    ("162,435", "a number with a comma between its thousands or before its decimals"),
    ("1,162,435", "a number with marks between its thousands"),
    ("3,5", "a number with a decimal comma"),
    ("$12", "an amount of money"),
    ("45%", "a percentage"),
    ("12 kg", "a number with a unit"),
    ("2020-01-11", "a date"),
    ("2020-01-11 11:10:00", "a date"),
]


def disguises():
    """Numbers that are written as words are no categories, unless said."""
    table = people()
    for text, what in DISGUISES:
        other = text.translate(str.maketrans("1234", "2345"))
        odd = table.assign(odd=[text] + [other] * 299)
        odd = odd[["age", "sex", "odd", "survived"]]
        for sep in ",;":
            odd.to_csv("t.csv", index=False, sep=sep)
            _, err = muster("train", "t.csv", "m", rc=1)
            assert f"t.csv: line 2: column 3 (odd): '{text}' is {what}, " \
                "not a plain number" in err, err
            assert "--drop" in err, err
            assert ("--categorical auto,:3" in err) == (text != "$12"), err
        _, err = trained("t.csv", "m", "--categorical", "auto,odd")
        trained("t.csv", "m", "--drop", "odd")
        _, err = muster("train", "t.csv", "m", "--label", "odd", rc=1)
        assert "column 3 (odd): it is read as the label" in err, err
        assert f"'{text}' is {what}" in err, err
        trained("t.csv", "m", "--label", "odd", "--categorical", "auto,odd")
    # Some of them, among plain ones; a few slips do not make it words.
    odd = table.assign(odd=["1,234"] * 150 + ["999"] * 130 + ["none"] * 20)
    odd[["age", "odd", "survived"]].to_csv("t.csv", index=False)
    _, err = muster("train", "t.csv", "m", rc=1)
    assert "'1,234' is a number with a comma" in err, err
    # Classes that have digits in them stay classes.
    odd = table.assign(band=["18-24", "25-34", "1st"] * 100,
                       y=[">50K", "<=50K"] * 150)
    odd[["age", "band", "y"]].to_csv("t.csv", index=False)
    trained("t.csv", "m")
    # The first of dates is no header.
    days = pd.date_range("2020-01-01", periods=300).astype(str)
    odd = pd.DataFrame({"day": days, "sex": table["sex"]})
    odd.to_csv("t.csv", index=False, header=False)
    _, err = muster("train", "t.csv", "m", rc=1)
    assert "line 1: column 1: '2020-01-01' is a date" in err, err


def names():
    """Columns of names and ids are pointed out, and are no labels."""
    table = people()
    table.insert(1, "who", [f"person {i}" for i in range(300)])
    table.to_csv("t.csv", index=False)
    _, err = trained("t.csv", "m")
    assert "column 2 (who) has 300 different words in 300 rows" in err, err
    assert "leave it out with --drop :2" in err, err
    _, err = trained("t.csv", "m", "--drop", ":2")
    assert "different words" not in err, err
    _, err = muster("train", "t.csv", "m", "--label", "who", rc=2)
    assert "t.csv: the labels, column 2 (who), are 300 different words in " \
        "300 rows, so names or ids rather than classes; --label" in err, err


if __name__ == "__main__":
    checks.run_named(swapped, index, numbered, twins, gaps, scaled, seconds,
                     svmlight, first_index, numpy_files, archives, sparse_matrices,
                     other_names, pipes, disguises, names)
