"""Linear models.

The model is the same to the bit for any number of threads and workers: its
name is `hash_`.  Predictions are numpy's products with `coef_`.
"""

import re

import numpy as np

from . import _data
from ._estimator import (PLAIN, Classifier, Estimator, Regressor, WithProbabilities, check_recipe, is_sparse, seed_of,
                         threads_of, times)
from .model import against_rest

QUICK = ("logistic", "softmax")  # Of sparse rows lbfgs is there before newton.

STEPS = 1000
PASSES = 100  # Of sgd: each step is a pass, row after row.

# What says it already, and the keys (and their short names) that a recipe must
# not say it by again.
SAID = {key: by for by, keys in {
    "the class": "model solver s", "C or alpha": "l2 cost c", "tol": "accuracy eps e",
    "fit_intercept": "no-intercept bias B", "solver": "optim optimizer optimiser",
    "max_iter": "steps passes epochs", "class_weight": "class-weight", "n_jobs": "threads", "code": "code", "random_state": "seed",
    "workers": "n np workers", "address": "listen", "token": "token-file",
}.items() for key in keys.split()}


class Linear(Estimator):
    """Weights of columns, a constant, and a penalty."""

    _said = SAID

    def _steps(self):
        """max_iter, by itself enough on most data, within seconds."""
        if self.max_iter is not None:
            return self.max_iter
        return PASSES if self.solver == "sgd" else STEPS

    def _recipe(self, model, count, sparse):
        """Keys of the library for the parameters."""
        solver = self.solver or ("lbfgs" if sparse and model in QUICK else None)
        choices = dict(model=model, l2=self._penalty(count), optim=solver, steps=self._steps(),
                       threads=threads_of(self.n_jobs), code=self.code, token_file=self.token)
        if solver == "sgd":
            choices["seed"] = seed_of(self.random_state)
        choices["tol" if solver in PLAIN else "accuracy"] = self.tol
        if not self.fit_intercept:
            choices["no-intercept"] = True
        self._place(choices)
        more = check_recipe(self.recipe, SAID)
        if "loss" in more and model != "svm":
            raise ValueError(f"recipe: loss {more['loss']} is of LinearSVC; {type(self).__name__} "
                             f"has that of its class, {model}")
        if "tol" in more and choices.get("tol") is not None:
            raise ValueError(f"recipe: tol is said by tol with solver {solver!r}; leave one out")
        choices.update(more)
        return choices

    def _makes_all_steps(self):
        return self.solver == "sgd"

    def _not_converged(self, made):
        advice = "" if "no further step" in made.ended else \
            f"raise max_iter ({self._steps()}) or "
        return f"{made.ended}; {advice}scale the data"

    def _warning(self, why):
        """A penalty that somebody chose may weigh as much as it likes."""
        name = "alpha" if hasattr(self, "alpha") else "C"
        chosen = getattr(self, name) != getattr(type(self)(), name)
        other = "a smaller alpha" if name == "alpha" else "a larger C"
        why = re.sub(r"a smaller l2 than \S+", other, why)
        why = why.replace("scale standard", "columns that are scaled (StandardScaler)")
        return "" if chosen and "penalty" in why else super()._warning(why)

    def _keep(self, model):
        """coef_, intercept_ and the rest."""
        weights = model.weights
        self.model_ = model
        self.coef_ = np.ascontiguousarray(weights[:, :self.n_features_in_])
        self.intercept_ = weights[:, -1].copy() if model.intercept else np.zeros(len(weights))
        self.n_iter_ = max(model.steps, 1)
        self.objective_, self.hash_ = model.objective, model.hash

    def _check_unchanged(self):
        super()._check_unchanged()
        weights, count = self.model_.weights, self.n_features_in_
        constant = weights[:, -1] if self.model_.intercept else 0.0
        if np.size(self.coef_) != count * len(weights) or not (
                np.array_equal(np.ravel(self.coef_), weights[:, :count].ravel())
                and np.all(np.ravel(self.intercept_) == constant)):
            raise ValueError("coef_ or intercept_ is no longer what was learned, and files are "
                             "read and written with what was; predict from arrays, pickle the "
                             "estimator, or fit again")

    def _scores(self, x):
        """rows x outputs; those of a file are read and scored by the library."""
        if _data.is_path(x):
            self._check_unchanged()
            return self.model_.scores(x)
        x = self._check_x(x)
        self._check_finite(x)
        return np.asarray(x @ self.coef_.T) + self.intercept_


class LinearClassifier(Linear, Classifier):
    """Classes, all at once or each against the rest."""

    def __init__(self, C=1.0, *, fit_intercept=True, class_weight=None, tol=None,
                 max_iter=None, solver=None, random_state=None, n_jobs=None, workers=None,
                 address=None, token=None, code=None, recipe=None, verbose=0, callback=None):
        self.C, self.fit_intercept, self.class_weight = C, fit_intercept, class_weight
        self.tol, self.max_iter, self.solver = tol, max_iter, solver
        self.random_state, self.n_jobs = random_state, n_jobs
        self.workers, self.address, self.token, self.code = workers, address, token, code
        self.recipe, self.verbose, self.callback = recipe, verbose, callback

    def _penalty(self, count):
        return 1 / (2 * self.C * count)

    def _one_against_rest(self, model, x, number, weight, factor):
        """A class's weight is for its own rows, and the rest weigh 1, as LIBLINEAR
        has it."""
        if len(self.classes_) == 2:
            return self._all_at_once(model, x, number, weight, factor)
        if "out" in check_recipe(self.recipe, SAID):
            raise ValueError("recipe: out is the folder of one training, and there is one for "
                             f"each of {len(self.classes_)} classes; leave it out")
        models = []
        for k in range(len(self.classes_)):
            mine = number == k
            own = None if factor is None else np.where(mine, factor[k], 1.0)
            models.append(self._train(model, x, mine.astype(np.float64), times(weight, own)))
        return against_rest(models)


class LogisticRegression(LinearClassifier, WithProbabilities):
    """Logistic regression, of more than two classes softmax regression.

    Least C sum_i s_i loss_i + |w|^2/2, the intercept without penalty, as
    scikit-learn has it.

    C, fit_intercept, class_weight: as there.
    max_iter: updates of the model; None: 1000, of solver sgd 100 passes.
    tol: end when what is left to gain is this share of the objective; None: 1e-10.
    With solver gd, agd, momentum, nesterov, adam, adamw: when |gradient| is this; None: never.
    solver: "newton", "lbfgs", "agd", ...; None: newton, of sparse rows lbfgs.
    n_jobs: threads of each process; None: processors divided by workers; -1: all.
    random_state: of solver "sgd" the order of rows; nothing else is random.
    workers: processes that train together; the model stays the same, bit for bit.
    address, token: listen there for workers (muster join), with the key's file.
    code: who computes what ("steal", "frc", ...; `muster codes`).
    recipe: other keys of `muster train`, a dict; not those said by parameters.
    verbose: 1 shows progress.  callback(step, objective): return True to stop, with
    what was reached and a warning; of one class against the rest each class.  With
    workers some more steps, of a short training all, may have been made by then.

    Fitted: classes_, coef_, intercept_, n_iter_, n_features_in_,
    feature_names_in_, objective_ (mean loss + penalty), hash_, model_.
    """

    def _fit(self, x, number, weight, factor):
        kind = "logistic" if len(self.classes_) == 2 else "softmax"
        return self._all_at_once(kind, x, number, weight, factor)


class SoftmaxClassifier(LinearClassifier, WithProbabilities):
    """Softmax regression: one weight vector for each class, of two classes, too.
    Parameters and attributes are LogisticRegression's."""

    def _fit(self, x, number, weight, factor):
        return self._all_at_once("softmax", x, number, weight, factor)


class LinearSVC(LinearClassifier):
    """Support vectors with the squared hinge, one class against the rest.
    Parameters and attributes are LogisticRegression's; the intercept has no
    penalty (in scikit-learn it has)."""

    def _fit(self, x, number, weight, factor):
        return self._one_against_rest("svm", x, number, weight, factor)

    def _keep(self, model):
        super()._keep(model)
        if not model.intercept:
            self.intercept_ = 0.0  # As scikit-learn's, alone among its classifiers.


class Ridge(Linear, Regressor):
    """Least squares with a penalty: least sum_i s_i (y_i - w x_i)^2 + alpha |w|^2,
    the intercept without.  The other parameters are LogisticRegression's."""

    def __init__(self, alpha=1.0, *, fit_intercept=True, tol=None, max_iter=None, solver=None,
                 random_state=None, n_jobs=None, workers=None, address=None, token=None,
                 code=None, recipe=None, verbose=0, callback=None):
        self.alpha, self.fit_intercept, self.tol, self.max_iter = alpha, fit_intercept, tol, max_iter
        self.solver, self.random_state, self.n_jobs = solver, random_state, n_jobs
        self.workers, self.address, self.token, self.code = workers, address, token, code
        self.recipe, self.verbose, self.callback = recipe, verbose, callback

    def _penalty(self, count):
        return self.alpha / count

    def _keep(self, model):
        super()._keep(model)
        self.coef_, self.intercept_ = self.coef_[0], float(self.intercept_[0])
