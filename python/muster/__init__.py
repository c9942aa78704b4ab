"""Muster: models that are the same to the bit on one machine or a hundred.

    from muster import LogisticRegression
    model = LogisticRegression(workers=4).fit(x, y)     # model.hash_: as with one

Estimators have scikit-learn's conventions.  `fit` takes rows of any kind and
the keys of `muster train`; `train` a gradient of your own; `Group` sums in a
loop of your own.  docs/python.md has more.
"""

import importlib

from ._library import BadData, BadOption, Error, Stopped, lib
from .group import Group
from .training import Trained, join, train

# These need numpy, the others do not.
_LATER = dict(LinearSVC="estimators", LogisticRegression="estimators", Ridge="estimators",
              SoftmaxClassifier="estimators", NetClassifier="networks", NetRegressor="networks",
              Model="model", cross_validate="model", fit="model", load="model")

__all__ = ["BadData", "BadOption", "Error", "Group", "Stopped", "Trained", "join", "train",
           *_LATER]

__version__ = lib.muster_release().decode()


def __getattr__(name):
    if name not in _LATER:
        raise AttributeError(f"module 'muster' has no attribute {name!r}")
    return getattr(importlib.import_module("." + _LATER[name], __name__), name)


def __dir__():
    return sorted(__all__)
