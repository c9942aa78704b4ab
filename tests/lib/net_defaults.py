#!/usr/bin/env python3
"""The plain command for networks against scikit-learn's, on unscaled tables.

Five tables of scikit-learn's and four made ones (`sin` has one column, y = sin(3x)
and noise; `clusters` five classes of three clusters each, which few passes do not
tell apart), seven tenths of the rows to train on, the others to
be told.  `muster train train.csv model --net "dense32 relu denseK"` must do as well
as MLPClassifier((32,)) behind a StandardScaler, but for two rows, of `clusters` but
for .03; of numbers R^2 is
to be that of MLPRegressor, its targets scaled, too, but for .1.  The library must give the same network, and so must
npy and npz.  With SEEDS=5 in the environment each is the mean of five seeds.
"""

import functools
import json
import os
import subprocess
import sys
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "lib"))
import checks  # noqa: E402

MUSTER = os.environ["MUSTER"]
SEEDS = range(int(os.environ.get("SEEDS", "1")))


def theirs(numbers, x, y, t, truth):
    """The scores of scikit-learn's networks."""
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.neural_network import MLPClassifier, MLPRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    warnings.simplefilter("ignore")
    kind = MLPRegressor if numbers else MLPClassifier
    made = [make_pipeline(StandardScaler(), kind((32,), random_state=seed)) for seed in SEEDS]
    if numbers:
        made = [TransformedTargetRegressor(one, transformer=StandardScaler()) for one in made]
    return [one.fit(x, y).score(t, truth) for one in made]


def plain(net, seed, train="train.csv", test="test.csv"):
    """What the plain command says."""
    done = subprocess.run([MUSTER, "train", train, "--test", test, "--net", net, "-q", "--format", "json",
                           "--seed", str(seed)], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def ours(net, numbers, truth):
    """Scores and hashes of the plain command's."""
    import numpy as np

    scores, hashes = [], []
    for seed in SEEDS:
        said = plain(net, seed)
        scores.append(1 - said["metrics"]["mse"] / np.var(truth) if numbers else said["metrics"]["accuracy"])
        hashes.append(said["hash"])
    return scores, hashes


def rows_of(name):
    """Columns and labels."""
    import numpy as np
    import sklearn.datasets

    if name == "sin":
        drawn = np.random.RandomState(0)
        x = drawn.uniform(-3, 3, (1000, 1))
        return x, np.sin(3 * x[:, 0]) + .1 * drawn.normal(size=1000)
    if name == "friedman1":
        return sklearn.datasets.make_friedman1(1000, noise=1, random_state=0)
    if name == "clusters":
        return sklearn.datasets.make_classification(5000, 20, n_informative=10, n_classes=5, n_clusters_per_class=3,
                                                    random_state=4)
    if name == "moons":
        return sklearn.datasets.make_moons(1000, noise=.2, random_state=0)
    return getattr(sklearn.datasets, "load_" + name)(return_X_y=True)


def check(name):
    import numpy as np
    from sklearn.model_selection import train_test_split
    import muster

    data, target = rows_of(name)
    numbers = name in ("diabetes", "sin", "friedman1")
    x, t, y, truth = train_test_split(data, target, test_size=.3, random_state=0,
                                      stratify=None if numbers else target)
    for path, a, b in (("train", x, y), ("test", t, truth)):
        np.savetxt(path + ".csv", np.column_stack([a, b]), delimiter=",", fmt="%.17g")
        np.save(path + ".npy", np.column_stack([a, b]))
        np.savez(path + ".npz", X=a, y=b)
    net = f"dense32 relu dense{1 if numbers else len(set(target))}"
    own, hashes = ours(net, numbers, truth)
    other = theirs(numbers, x, y, t, truth)
    made = (muster.NetRegressor if numbers else muster.NetClassifier)(net, random_state=SEEDS[0]).fit(x, y)
    said = f"{np.mean(own):.3f}, scikit-learn {np.mean(other):.3f}"
    less = .1 if numbers else .03 if name == "clusters" else 2.5 / len(truth)
    assert np.mean(own) > np.mean(other) - less, said
    assert made.hash_ == hashes[0], "the library gives another network"
    for ending in (".npy", ".npz"):
        again = plain(net, SEEDS[0], "train" + ending, "test" + ending)
        assert again["hash"] == hashes[0], f"{ending} gives another network than csv"
        assert again["config"]["scale"]["value"] == "standard"
    assert muster.fit("train.npz", net=net, seed=SEEDS[0]).hash == hashes[0], "fit of an npz gives another network"
    return said


checks.need("sklearn")
sys.path.insert(0, os.path.join(os.environ["ROOT"], "python"))
os.environ.setdefault("MUSTER_LIBRARY", os.path.join(os.environ["BUILD"], "src", "libmuster.so"))
checks.run([(name, functools.partial(check, name))
            for name in ["iris", "wine", "breast_cancer", "digits", "moons", "diabetes", "friedman1", "sin", "clusters"]])
