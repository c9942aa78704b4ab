"""What estimators of all families share: scikit-learn's conventions, which need
not be there, checks, and the training itself."""

import copy
import inspect
import numbers
import os
import re
import warnings

import numpy as np

from . import _data, _library, _warn
from ._data import names_differ, names_of
from ._progress import Progress
from ._warn import learned
from .model import load, places_of, run


# --- what scikit-learn calls things, if it is in use -------------------------

class NotFitted(ValueError, AttributeError):
    """An estimator that has not been fitted."""


def is_sparse(x):
    return hasattr(x, "tocsr")


def dense_of(x, name):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", getattr(np, "ComplexWarning", Warning))
            array = np.asarray(_data.numbers_of(x))
    except TypeError as error:
        raise TypeError(f"{name} takes numbers: {error}") from None
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported\n{x}\n")
    if array.ndim != 2:
        raise ValueError(f"Expected 2D array, got {array.ndim}D array instead.  Reshape your "
                         "data either using array.reshape(-1, 1) if your data has a single "
                         "feature or array.reshape(1, -1) if it contains a single sample.")
    return array


def place_of(strange, names):
    """Where in a table the first is, in words; "" of what is no table."""
    if strange.ndim != 2:
        return ""
    row, column = (int(k[0]) for k in np.nonzero(strange))
    return f" (row {row}, column {column if names is None else names[column]!r})"


def check_numbers(values, what, names=None):
    """ValueError if one is not finite."""
    if values.dtype.kind == "f" and not np.isfinite(values.sum(dtype=np.float64)):
        if np.isnan(values).any():
            raise ValueError(f"{what} contains NaN{place_of(np.isnan(values), names)}: "
                             f"{_data.ADVICE['missing']}")
        if np.isinf(values).any():
            raise ValueError(f"{what} contains infinity or a value too large for "
                             f"{values.dtype}{place_of(np.isinf(values), names)}")


def check_rows(x, name):
    """An array or CSR matrix; whether its numbers are finite is looked at when
    they are used."""
    if is_sparse(x):
        if x.dtype.kind == "c":
            raise ValueError("Complex data not supported")
        x = x.tocsr()
    else:
        x = dense_of(x, name)
    if x.shape[0] == 0:
        raise ValueError(f"Found array with 0 sample(s) (shape={x.shape}) while a minimum of 1 "
                         f"is required by {name}.")
    if x.shape[1] == 0:
        raise ValueError(f"Found array with 0 feature(s) (shape={x.shape}) while a minimum of 1 "
                         f"is required by {name}.")
    return x


def check_targets(y, rows, name):
    if y is None:
        raise ValueError(f"This {name} estimator requires y to be passed, but the target y is "
                         "None.")
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        warnings.warn("A column-vector y was passed when a 1d array was expected. Please change "
                      "the shape of y to (n_samples, ), for example using ravel().",
                      learned("DataConversionWarning", UserWarning), stacklevel=3)
        y = y.ravel()
    if y.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {y.shape} instead.")
    if len(y) != rows:
        raise ValueError("Found input variables with inconsistent numbers of samples: "
                         f"{[rows, len(y)]}")
    if y.dtype.kind == "O" and any(map(_data.is_missing, y)):
        raise ValueError("Input y contains NaN: rows without a label; leave them out")
    if y.dtype.kind == "f":
        check_numbers(y, "Input y")
    return y


def classes_of(y):
    """np.unique(y, return_inverse=True), of small whole numbers without a sort."""
    if y.dtype.kind in "iu" and len(y):
        low, high = int(y.min()), int(y.max())
        if high - low < 1 << 16:
            # Modulo 2^64 there is no type in which the difference is wrong.
            base = np.uint64(low % (1 << 64))
            shifted = (y.astype(np.uint64) - base).astype(np.intp)
            seen = np.bincount(shifted) > 0
            classes = np.flatnonzero(seen).astype(np.uint64) + base
            return classes.astype(y.dtype), (np.cumsum(seen) - 1)[shifted]
    try:
        return np.unique(y, return_inverse=True)
    except TypeError:
        kinds = sorted({type(label).__name__ for label in y})
        raise TypeError(f"labels are of several types: {', '.join(kinds)}; make them one, for "
                        "example by .astype(str)") from None


def check_weights(weight, rows):
    if weight is None:
        return None
    weight = np.asarray(weight, dtype=np.float64)
    if weight.ndim == 0:
        weight = np.full(rows, float(weight))
    if weight.shape != (rows,):
        raise ValueError(f"sample_weight.shape == {weight.shape}, expected {(rows,)}!")
    check_numbers(weight, "sample_weight")
    if (weight < 0).any():
        raise ValueError("Negative values in data passed to sample_weight")
    if not weight.any():
        raise ValueError("sample_weight: no row has a weight above 0")
    return weight


def times(weight, factor):
    """Weights of rows, either of which may be None, on top of each other."""
    if weight is None or factor is None:
        return factor if weight is None else weight
    return weight * factor


# --- parameters ---------------------------------------------------------------

PLAIN = ("gd", "agd", "momentum", "nesterov", "adam", "adamw", "sgd")  # They estimate no gain; tol is |gradient|.

# Keys that say how a file becomes columns: arrays are columns already, and coef_
# is in theirs.
READING = ("categorical", "drop", "header", "input", "label", "labels", "missing", "pairs",
           "scale", "separator", "weight", "zero-based")


def is_number(value):
    return isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))


def is_whole(value):
    return isinstance(value, numbers.Integral) and not isinstance(value, (bool, np.bool_))


# Parameters of which any other value would be taken for something it is not.
PARAMETERS = {
    "C": ("a number above 0", lambda v: is_number(v) and v > 0),
    "alpha": ("a number, 0 or more", lambda v: is_number(v) and v >= 0),
    "fit_intercept": ("True or False", lambda v: isinstance(v, (bool, np.bool_))),
    "tol": ("None or a number, 0 or more", lambda v: v is None or is_number(v) and v >= 0),
    "max_iter": ("None or a whole number above 0", lambda v: v is None or is_whole(v) and v > 0),
    "workers": ("None or a whole number, 0 or more",
                lambda v: v is None or is_whole(v) and v >= 0),
    "n_jobs": ("None or a whole number, 1 or more, or -1: as many as there are processors",
               lambda v: v is None or is_whole(v) and v != 0),
    "random_state": ("None, a whole number, 0 or more, or numpy's", lambda v: v is None or (
        v >= 0 if is_whole(v) else hasattr(v, "randint") or hasattr(v, "integers"))),
    "solver": ("None or a name", lambda v: v is None or isinstance(v, str)),
    "recipe": ("None or a dict", lambda v: v is None or isinstance(v, dict)),
    "callback": ("None or a function", lambda v: v is None or callable(v)),
}


def check_recipe(recipe, said):
    """What stays of a recipe's keys, with dashes; `said`: by what some are said
    already."""
    keys = {str(key).replace("_", "-"): value for key, value in (recipe or {}).items()}
    for key in keys:
        if key in said:
            raise ValueError(f"recipe: {key} is said by {said[key]}; leave it out, or take "
                             "muster.fit, which takes all keys")
        if key in READING:
            raise ValueError(f"recipe: {key} is about reading files, and an estimator takes "
                             "arrays; transform them before, or take muster.fit")
    return keys


# Keys within the library's sentences, and what an estimator has for them.
IN_SENTENCES = {"add n N,": "add workers=N,", "leave out n, listen and out": "leave out workers "
                "and address", "after steps passes": "after max_iter passes",
                "shape HEIGHTxWIDTHxCHANNELS": "shape=(height, width, channels)",
                "say model linear": "take NetRegressor", "say model softmax": "take NetClassifier",
                "valid .2 patience 10": "early_stopping=True",
                "clip 1": "recipe={'clip': 1}", "more steps": "a larger max_iter",
                "or a larger l2 helps": "or more penalty (a smaller C, a larger alpha) helps"}


def in_parameters(why, said):
    """The library's sentence about keys, with the parameters that said them."""
    key, _, rest = why.partition(" ")
    bare = key.lstrip("-").rstrip(":")
    if bare in said and bare not in ("model", "l2"):
        why = f"{said[bare]}{':' if key.endswith(':') else ''} {rest}"
    for key, parameter in IN_SENTENCES.items():
        why = why.replace(key, parameter)
    why = re.sub(r"\boptim(?= [a-z]|,)", "solver", why)
    return why if "lr" in said else \
        re.sub(r"\b(a smaller|a larger|another) lr\b", r"\1 rate (recipe={'lr': ...})", why)


def threads_of(jobs):
    """n_jobs as scikit-learn has it: -1 is all processors, -2 all but one."""
    if jobs is None or jobs > 0:
        return jobs
    return max(len(os.sched_getaffinity(0)) + 1 + int(jobs), 1)


def seed_of(state):
    """random_state as scikit-learn has it: None, a number, or what draws one."""
    if state is None or isinstance(state, numbers.Integral):
        return state
    return int(getattr(state, "randint", getattr(state, "integers", None))(1 << 31))


# --- estimators --------------------------------------------------------------

STOPPED = ("the callback stopped the training after {} steps; the estimator is fitted with what was reached, "
           "which has not converged")


class Estimator:
    """What all estimators have: parameters, checks, and the training itself.

    A family says its own: _recipe (keys of the library), _keep (what of a model
    becomes attributes), _scores, and what is to be said when it has not
    converged."""

    _said = {}  # Keys of the library that parameters say.
    _elsewhere = {}  # Parameters as other programs call them.

    def __new__(cls, *_, **params):
        for name in params:
            if name not in cls._get_param_names():
                raise TypeError(f"{cls.__name__}() got an unexpected keyword argument {name!r}; "
                                + cls._meant(name))
        return super().__new__(cls)

    @classmethod
    def _meant(cls, name):
        """What to write for a parameter of other programs, or a key of the library."""
        near = cls._elsewhere.get(name) or cls._said.get(name.replace("_", "-"))
        return f"did you mean {near}?" if near in cls._get_param_names() else \
            f"there are {', '.join(cls._get_param_names())}"

    @classmethod
    def _get_param_names(cls):
        return sorted(name for name in inspect.signature(cls.__init__).parameters
                      if name != "self")

    def get_params(self, deep=True):
        return {name: getattr(self, name) for name in self._get_param_names()}

    def set_params(self, **params):
        for name, value in params.items():
            if name not in self._get_param_names():
                raise ValueError(f"Invalid parameter {name!r} for estimator {self}. Valid "
                                 f"parameters are: {self._get_param_names()}.")
            setattr(self, name, value)
        return self

    def __repr__(self):
        signature = inspect.signature(type(self).__init__).parameters
        return type(self).__name__ + "(" + ", ".join(
            f"{name}={value!r}" for name, value in self.get_params().items()
            if repr(value) != repr(signature[name].default)) + ")"

    def _repr_html_(self):
        rows = [("steps", getattr(self, "n_iter_", None)),
                ("objective", getattr(self, "objective_", None)),
                ("hash", getattr(self, "hash_", None))]
        cells = "".join(f"<tr><td>{name}</td><td><code>{value}</code></td></tr>"
                        for name, value in rows if value is not None)
        text = repr(self).replace("&", "&amp;").replace("<", "&lt;")
        return f"<b>{text}</b>" + (f"<table>{cells}</table>" if cells else " (not fitted)")

    # scikit-learn asks for these, by its release.
    def _more_tags(self):
        return {}

    def __sklearn_tags__(self):
        from sklearn.utils import ClassifierTags, InputTags, RegressorTags, Tags, TargetTags
        kind = self._estimator_type
        return Tags(estimator_type=kind, target_tags=TargetTags(required=True),
                    classifier_tags=ClassifierTags() if kind == "classifier" else None,
                    regressor_tags=RegressorTags() if kind == "regressor" else None,
                    input_tags=InputTags(sparse=True))

    def _check_fitted(self):
        if not hasattr(self, "model_"):
            name = type(self).__name__
            raise learned("NotFittedError", NotFitted)(
                f"This {name} instance is not fitted yet. Call 'fit' with appropriate arguments "
                "before using this estimator.")

    def _check_names(self, x):
        """Columns must be those of the training rows, in their order."""
        names, known = names_of(x), getattr(self, "feature_names_in_", None)
        name = type(self).__name__
        if names is None and known is not None:
            warnings.warn(f"X does not have valid feature names, but {name} was fitted with "
                          "feature names", UserWarning, stacklevel=4)
        elif names is not None and known is None:
            warnings.warn(f"X has feature names, but {name} was fitted without feature names",
                          UserWarning, stacklevel=4)
        elif names is not None and list(names) != list(known):
            raise ValueError(names_differ(names, known))

    def _check_x(self, x):
        self._check_fitted()
        self._check_names(x)
        x = check_rows(x, type(self).__name__)
        if x.shape[1] != self.n_features_in_:
            raise ValueError(f"X has {x.shape[1]} features, but {type(self).__name__} is "
                             f"expecting {self.n_features_in_} features as input")
        return x

    def _check_params(self):
        for name, (wanted, right) in PARAMETERS.items():
            if hasattr(self, name) and not right(getattr(self, name)):
                raise ValueError(f"{name} {getattr(self, name)!r}: expected {wanted}")
        if self.token is not None and self.address is None:
            raise ValueError("token needs address, where workers with that key join")
        if self.solver not in PLAIN and getattr(self, "tol", None) is not None and self.tol >= 1:
            raise ValueError(f"tol {self.tol!r}: expected less than 1; it is a share of the "
                             "objective, and all weights 0 are within 1")

    def fit(self, X, y=None, sample_weight=None):
        """Learn.  If that fails or is interrupted the estimator stays as it was:
        never the classes of one training and the weights of another."""
        if _data.is_path(X):
            raise ValueError(f"{type(self).__name__} learns from arrays and frames; a file, with "
                             f"the labels in it, is learned from by muster.fit({os.fspath(X)!r}, "
                             "model=...)")
        self._check_params()
        made = copy.copy(self)
        made._forget()
        made._label = getattr(y, "name", None)
        made._learn(X, y, sample_weight)
        self._forget()
        vars(self).update({name: vars(made)[name] for name in made._learned()})
        return self

    def _learned(self):
        """The names of what a training leaves."""
        return [name for name in vars(self) if name.endswith("_") and name[0] != "_"]

    def _forget(self):
        for name in self._learned():
            delattr(self, name)

    def _check_fit(self, x, y, weight):
        names = names_of(x)
        rows = check_rows(x, type(self).__name__)
        if names is not None:
            self.feature_names_in_ = names
        self.n_features_in_ = rows.shape[1]
        return (rows, check_targets(y, rows.shape[0], type(self).__name__),
                check_weights(weight, rows.shape[0]))

    def _place(self, choices):
        """Who computes: keys for workers, here or from elsewhere."""
        if self.address is not None:
            if self.token is None:
                raise ValueError("address needs token, the file of a key by which workers may "
                                 "join; `muster token new FILE` makes one")
            choices.update(listen=self.address, workers=self.workers or 1)
        elif self.workers:
            choices["n"] = self.workers

    def _train(self, model, x, y, weight):
        """A Model; where it had to stop early, it is told and kept."""
        count = len(y) if weight is None else np.count_nonzero(weight)
        if count == 0:
            raise ValueError("class_weight: no row has a weight above 0")
        progress = Progress(self.verbose, self.callback)
        rows = _data.rows_of(x, y, weight)
        rows.name(getattr(self, "feature_names_in_", None), self._label)
        choices = self._recipe(model, count, is_sparse(x))
        if self.address is not None:
            progress.say(f"waiting at {self.address} for workers to join: {choices['workers']}")
        try:
            status, why, made = run(choices, rows, progress.watch)
        except _library.BadOption as error:
            raise _library.error_of(error.status, in_parameters(str(error), self._said)) from None
        finally:
            progress.end()
        if status == _library.BAD_DATA:
            self._check_finite(x)
        if status and not (progress.stopped and status == _library.STOPPED and made):
            raise _library.error_of(status, in_parameters(why, self._said), made)
        if not made.converged and progress.stopped:
            _warn.warn(STOPPED.format(made.steps), 3)
        elif progress.stopped and made.steps > progress.stopped:
            warnings.warn(f"the callback said stop at step {progress.stopped}; by then the "
                          f"workers had gone on, and the training ended at step {made.steps}",
                          UserWarning, stacklevel=3)
        else:
            _warn.of_model(made, None if self._makes_all_steps() else self._not_converged(made),
                           self._warning, 3)
        if progress.curve:
            self.loss_curve_ = progress.curve
        return made

    def _makes_all_steps(self):
        """Passes that are all made, and no more: that is no failure."""
        return True

    def _not_converged(self, made):
        return made.ended

    def _warning(self, why):
        """What the library says against a model, in this class's words; "": it is
        what was asked for."""
        return in_parameters(why, self._said)

    def _check_unchanged(self):
        """What the library predicts and saves must be what the attributes say."""
        self._check_fitted()

    def _check_finite(self, x):
        check_numbers(x.data if is_sparse(x) else x, f"Input X of {type(self).__name__}",
                      getattr(self, "feature_names_in_", None))

    def _check_score(self, x, y, weight):
        """What is said of the rows, what is true, and their weights: checked as
        fit does, so that nothing is broadcast.  A file has its labels."""
        found = self.predict(x)
        if y is None and _data.is_path(x):
            self._check_file()
            y = self.model_.truth(x)
        return (found, check_targets(y, len(found), type(self).__name__),
                check_weights(weight, len(found)))

    def save(self, path):
        """The model as a file of `muster predict`'s and LIBLINEAR's, with its
        classes and the names of its columns."""
        self._check_unchanged()
        self._check_file()
        self.model_.save(path)

    def _check_file(self):
        """Can classes be told by what stands in a file?"""
        if self._estimator_type == "classifier" and not self.model_.holds(self.classes_):
            raise ValueError(f"{_data.no_file_for(self.classes_)}; fit with other labels, or "
                             "pickle the estimator")


class Classifier(Estimator):
    """Classes of any kind, which the library knows as 0, 1, 2, ..."""

    _estimator_type = "classifier"

    def _learn(self, X, y, sample_weight):
        x, y, weight = self._check_fit(X, y, sample_weight)
        if y.dtype.kind == "f" and (y != np.floor(y)).any():
            raise ValueError("Unknown label type: continuous; classes are whole numbers or words")
        self.classes_, number = classes_of(y)
        if len(self.classes_) < 2:
            raise ValueError(f"{type(self).__name__} needs samples of at least 2 classes in the "
                             f"data, but the data contains only one class: {self.classes_[0]!r}")
        number = self._as_begun(number)
        model = self._fit(x, number, weight, self._factors(number))
        model.call_classes(self.classes_)
        self._keep(model)

    def _as_begun(self, number):
        """Of a training that goes on from a model (recipe's init): the classes are
        its own, among which those of these rows must be."""
        init = check_recipe(self.recipe, self._said).get("init")
        if init is None:
            return number
        model = load(init)
        place = places_of(self.classes_, model.classes_, init)
        known = model.classes_
        self.classes_ = known if known.dtype.kind == "U" else known.astype(self.classes_.dtype)
        return place[number]

    def _labels(self, number):
        """What the library is to know the classes as: 0, 1, ..., or, of a training
        that goes on, by their numbers in its model."""
        begun = "init" in (self.recipe or {}) and self.classes_.dtype.kind != "U"
        return (self.classes_[number] if begun else number).astype(np.float64)

    def _factors(self, number):
        """A weight for each class, or None."""
        given = self.class_weight
        if given is None:
            return None
        if isinstance(given, str) and given == "balanced":
            count = np.bincount(number, minlength=len(self.classes_))
            return len(number) / (np.count_nonzero(count) * np.maximum(count, 1))
        if not isinstance(given, dict):
            raise ValueError(f"class_weight must be a dict, 'balanced' or None, not {given!r}")
        known = self.classes_.tolist()
        strange = [key for key in given if key not in known]
        missing = [key for key in known if key not in given]
        # A class may be missing from one part of the rows: only who lacks a
        # weight while another has no class is told of a slip.
        if strange and missing:
            raise ValueError(f"class_weight: there is no class {strange[0]!r}, and the classes "
                             f"{missing} have no weight")
        factor = [given.get(key, 1.0) for key in known]
        if not all(is_number(f) and np.isfinite(f) and f >= 0 for f in factor):
            raise ValueError(f"class_weight: weights must be 0 or more, not {given!r}")
        return np.array(factor, dtype=np.float64)

    def _all_at_once(self, model, x, number, weight, factor):
        if factor is not None:
            weight = times(weight, factor[number])
        return self._train(model, x, self._labels(number), weight)

    def decision_function(self, X):
        scores = self._scores(X)
        if len(self.classes_) > 2:
            return scores
        return scores[:, 0] if scores.shape[1] == 1 else scores[:, 1] - scores[:, 0]

    def predict(self, X):
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1
                             else scores.argmax(axis=1)]

    def score(self, X, y=None, sample_weight=None):
        """The share of rows that are told right."""
        found, y, weight = self._check_score(X, y, sample_weight)
        return float(np.average(found == y, weights=weight))


class WithProbabilities(Classifier):

    def predict_proba(self, X):
        scores = self.decision_function(X)
        if scores.ndim == 1:
            half = np.exp(-np.logaddexp(0, -scores))
            return np.column_stack([np.exp(-np.logaddexp(0, scores)), half])
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        return scores / scores.sum(axis=1, keepdims=True)

    def predict_log_proba(self, X):
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))


class Regressor(Estimator):
    """Numbers."""

    _estimator_type = "regressor"

    def _learn(self, X, y, sample_weight):
        x, y, weight = self._check_fit(X, y, sample_weight)
        if y.dtype.kind in "mM":
            raise TypeError(f"y holds {y.dtype}: {_data.ADVICE['time']}")
        if y.dtype.kind not in "fiub":
            y = y.astype(np.float64)
        self._keep(self._train("linear", x, y, weight))

    def predict(self, X):
        return self._scores(X).ravel()

    def score(self, X, y=None, sample_weight=None):
        """1 - the mean squared error over the variance of y (R^2)."""
        found, y, weight = self._check_score(X, y, sample_weight)
        y = y.astype(np.float64)
        errors = np.average((y - found) ** 2, weights=weight)
        spread = np.average((y - np.average(y, weights=weight)) ** 2, weights=weight)
        return float(1 - errors / spread) if spread > 0 else float(errors == 0)
