#!/usr/bin/python3
"""Files as pandas, scikit-learn, scipy and numpy write them: what muster makes
of them is what these libraries say is in them."""

import os
import subprocess
import sys
import tempfile

DEBIAN = "/usr/bin/python3"

try:
    import numpy as np
    import pandas as pd
    from sklearn.datasets import dump_svmlight_file
    from sklearn.preprocessing import StandardScaler
except ImportError as missing:
    # Debian's packages are those of Debian's Python, whichever is first here.
    if os.path.realpath(sys.executable) != os.path.realpath(DEBIAN) and \
            os.path.exists(DEBIAN):
        os.execv(DEBIAN, [DEBIAN, *sys.argv])
    print(f"1..0 # SKIP {missing}: apt install python3-pandas python3-sklearn")
    sys.exit(0)

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
    muster("predict", *words, "out.txt")
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
    assert "no column 'fare'" in err, err


def index():
    """The index that to_csv writes by default is pointed out."""
    people().to_csv("t.csv")
    _, err = trained("t.csv", "m")
    assert "leave it out with --drop 1" in err, err
    _, err = trained("t.csv", "m", "--drop", 1)
    assert "--drop 1" not in err, err


def gaps():
    """NaN as pandas writes it; the fill is pandas' mean."""
    table = people()
    table.loc[::7, "age"] = np.nan
    table.to_csv("t.csv", index=False)
    _, err = muster("train", "t.csv", "m", rc=1)
    assert "t.csv: line 2: column 1 (age): the field is empty; --missing " \
        in err, err
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


def main():
    checks = [swapped, index, gaps, scaled, svmlight, numpy_files]
    print(f"1..{len(checks)}")
    for number, check in enumerate(checks, 1):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                check()
                print(f"ok {number} - {check.__name__}")
            except (AssertionError, OSError, ValueError, IndexError) as error:
                print(f"not ok {number} - {check.__name__}: {error!r}")
            os.chdir("/")


if __name__ == "__main__":
    main()
