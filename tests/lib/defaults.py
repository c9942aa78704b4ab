#!/usr/bin/env python3
"""The default command against scikit-learn and scipy, on unscaled tables.

Eight tables as pandas writes them: five of scikit-learn's, three regressions in
raw units.  `muster train train.csv model` must reach the optimum of the
objective it states to 1e-4, say that it converged, and end on one hash with
and without workers; `muster predict` must be at most one test row apart from
the converged model of the same objective (regressions: predictions within 1e-3
of the target's deviation).

The optimum is found by other means: closed form or scikit-learn's solver,
finished by Newton's method in numpy, on the values as muster stores them (fp32;
labels fp64).
"""

import functools
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)),
                                "lib"))
import checks  # noqa: E402

MUSTER = os.environ["MUSTER"]
CLOSE = 1e-4
PREDICTED = 1e-3
SKLEARN = ["breast_cancer", "wine", "iris", "digits", "diabetes"]
REGRESSIONS = ["houses", "units", "offset"]


def load(name):
    import numpy as np
    import pandas as pd
    import sklearn.datasets

    if name in SKLEARN:
        frame = getattr(sklearn.datasets, "load_" + name)(as_frame=True).frame
        return frame.sample(frac=1, random_state=3)
    rng = np.random.default_rng(7)
    rows = 600
    if name == "houses":
        year = 1900 + rng.integers(0, 120, rows)
        sqm = np.round(50 + 200 * rng.random(rows), 1)
        price = 3000 * (year - 1950) + 2000 * sqm + 1e4 * rng.random(rows)
        return pd.DataFrame({"year": year, "sqm": sqm, "price": price.round()})
    if name == "units":
        big, small = 1e6 * rng.normal(size=rows), 1e-6 * rng.normal(size=rows)
        y = 3 * big / 1e6 - 2e4 * small + rng.normal(size=rows)
        return pd.DataFrame({"big": big, "small": small, "y": y})
    x = rng.normal(size=(rows, 3)) * [1, 10, 100]
    y = 1e8 + x @ [5, -1, 0.2] + rng.normal(size=rows)
    return pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "y": y})


def read(path):
    import numpy as np
    import pandas as pd

    frame = pd.read_csv(path)
    x = frame.iloc[:, :-1].to_numpy(dtype=np.float32).astype(np.float64)
    return x, frame.iloc[:, -1].to_numpy()


def ridge(x, y):
    """Least of mean (x w + b - y)^2 + |w|^2/rows: (objective, predict)."""
    import numpy as np

    rows = len(y)
    mean, scale = x.mean(0), x.std(0)
    centred = (x - mean) / scale  # Solved in even units, penalised in raw ones.
    a = np.vstack([centred, np.diag(1 / scale)])
    b = np.concatenate([y - y.mean(), np.zeros(x.shape[1])])
    w = np.linalg.lstsq(a, b, rcond=None)[0] / scale
    at = y.mean() - mean @ w
    f = np.mean((x @ w + at - y) ** 2) + w @ w / rows
    return f, lambda t: t @ w + at


def classify(x, y):
    """Least of mean log loss + |w|^2/rows, intercepts free: Newton's method
    with Armijo's rule, softmax in all its weights (two classes: one vector)."""
    import numpy as np

    rows, cols = x.shape
    labels = np.unique(y)
    which = np.searchsorted(labels, y)
    scale = np.abs(x).max(0)
    scale[scale == 0] = 1
    one = np.hstack([x / scale, np.ones((rows, 1))])
    outputs = 1 if len(labels) == 2 else len(labels)
    penalty = np.append(1 / scale**2, 0) / rows
    penalty = np.tile(penalty, outputs)

    def scores(v, z):
        s = z @ v.reshape(outputs, cols + 1).T
        return np.hstack([np.zeros_like(s), s]) if outputs == 1 else s

    def f_of(v):
        s = scores(v, one)
        top = s.max(1)
        loss = top + np.log(np.exp(s - top[:, None]).sum(1))
        return np.mean(loss - s[np.arange(rows), which]) + penalty @ (v * v)

    v = np.zeros(outputs * (cols + 1))
    for _ in range(200):
        s = scores(v, one)
        p = np.exp(s - s.max(1)[:, None])
        p /= p.sum(1)[:, None]
        off = p.copy()
        off[np.arange(rows), which] -= 1
        kept = range(1, 2) if outputs == 1 else range(outputs)
        g = np.concatenate([one.T @ off[:, k] / rows for k in kept])
        g += 2 * penalty * v
        h = np.block([[
            (one.T * (p[:, i] * ((i == j) - p[:, j]) / rows)) @ one
            for j in kept] for i in kept])
        h += np.diag(2 * penalty + 1e-13)
        step = -np.linalg.solve(h, g)
        f, t = f_of(v), 1.0
        while f_of(v + t * step) > f + 1e-4 * t * (g @ step) and t > 1e-12:
            t /= 2
        v = v + t * step
        if -(g @ step) < 1e-14 * f:
            break
    else:
        raise SystemExit("the oracle did not converge")

    def predict(t):
        z = np.hstack([t / scale, np.ones((len(t), 1))])
        return labels[scores(v, z).argmax(1)]

    return f_of(v), predict


def sklearn_agrees(name, x, y, f, predict):
    """The oracle itself, against scikit-learn's converged model."""
    import numpy as np
    from sklearn.linear_model import LogisticRegression, Ridge

    if name in ("diabetes", *REGRESSIONS):
        centre = y.mean()
        other = Ridge(alpha=1, solver="svd").fit(x, y - centre)
        said = other.predict(x) + centre
        return np.abs(said - predict(x)).max() <= PREDICTED * y.std()
    # |w|^2/rows + mean loss = (2/rows) (|w|^2/2 + rows/2 mean loss): C = 1/2.
    other = LogisticRegression(C=0.5, solver="newton-cg", max_iter=5000,
                               tol=1e-8).fit(x, y)
    return (other.predict(x) != predict(x)).sum() <= 1


def muster(*arguments):
    done = subprocess.run([MUSTER, *arguments, "--format", "json"],
                          capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        raise AssertionError(f"{arguments}: {done.returncode} {done.stderr}")
    return json.loads(done.stdout)


def check(name):
    import numpy as np

    frame = load(name)
    cut = len(frame) * 7 // 10
    frame[:cut].to_csv("train.csv", index=False)
    frame[cut:].to_csv("test.csv", index=False)
    x, y = read("train.csv")
    t, truth = read("test.csv")
    numbers = name in ("diabetes", *REGRESSIONS)
    f, predict = (ridge if numbers else classify)(x, y)
    assert sklearn_agrees(name, x, y, f, predict), "the oracle is wrong"

    alone = muster("train", "train.csv", "model")
    apart = muster("train", "train.csv", "other", "-n", "2")
    assert alone["converged"] and apart["converged"], "NOT CONVERGED"
    assert alone["hash"] == apart["hash"], "hashes differ"
    assert alone["objective"] == apart["objective"], "objectives differ"
    over = alone["objective"] / f - 1
    assert abs(over) <= CLOSE, f"objective {alone['objective']}, least {f}"
    muster("predict", "test.csv", "model", "out.txt", "--force")
    said = np.loadtxt("out.txt", ndmin=1)
    if numbers:
        far = np.abs(said - predict(t)).max() / y.std()
        assert far <= PREDICTED, f"predictions {far:.2g} deviations apart"
    else:
        far = int((said != predict(t)).sum())
        assert far <= 1, f"{far} of {len(truth)} test rows apart"
    return f"objective {over:+.1e} of the least, predictions {far:.2g} apart"


checks.need("pandas", "sklearn")
checks.run([(name, functools.partial(check, name))
            for name in SKLEARN + REGRESSIONS])
