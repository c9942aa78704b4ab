#!/usr/bin/env python3
"""What scikit-learn's and Keras' users write for a network in Python: each is
answered with what to write here."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "lib"))
import checks  # noqa: E402


def said(how, **params):
    try:
        how(**params)
    except (TypeError, ValueError) as error:
        return str(error)
    raise AssertionError(f"{params} is taken")


def keywords():
    import muster

    for name, value, meant in [("epochs", 3, "passes"), ("max_iter", 200, "passes"), ("batch_size", 32, "batch"),
                               ("learning_rate", .1, "lr"), ("learning_rate_init", .1, "lr"),
                               ("optimizer", "sgd", "solver"), ("seed", 1, "random_state"),
                               ("hidden_layer_sizes", (32,), "net")]:
        why = said(muster.NetClassifier, **{name: value})
        assert f"unexpected keyword argument '{name}'; did you mean {meant}?" in why, why
    why = said(muster.LogisticRegression, epochs=3)
    assert "did you mean max_iter?" in why, why
    why = said(muster.NetClassifier, warm_start=True)
    assert "there are address, batch, " in why, why


def layers():
    import muster

    x, y = [[0.0, 1], [1, 0], [2, 1], [3, 0]], [0, 1, 0, 1]
    for net in (32,), [32, 16], 32:
        why = said(lambda net: muster.NetClassifier(net).fit(x, y), net=net)
        assert "net='dense32 relu dense3'" in why, why


checks.need("numpy")
sys.path.insert(0, os.path.join(os.environ["ROOT"], "python"))
os.environ.setdefault("MUSTER_LIBRARY", os.path.join(os.environ["BUILD"], "src", "libmuster.so"))
checks.run([("parameters by other names", keywords), ("layers as numbers", layers)])
