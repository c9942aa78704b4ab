"""Networks with scikit-learn's conventions, which need not be there.

The network is the same to the bit for any number of threads and workers: its
name is `hash_`.  Predictions are the library's.
"""

import numpy as np

from . import _data
from ._estimator import (PARAMETERS, Estimator, Regressor, WithProbabilities, check_recipe, is_number, is_whole,
                         seed_of, threads_of)

SAID = {key: by for by, keys in {
    "the class": "model", "net": "net", "shape": "shape", "batch": "batch batch-size minibatch",
    "passes": "passes epochs",
    "class_weight": "class-weight", "early_stopping": "patience valid", "lr": "lr learning-rate",
    "solver": "optim optimizer optimiser", "n_jobs": "threads",
    "code": "code", "random_state": "seed", "workers": "n np workers", "address": "listen",
    "token": "token-file",
}.items() for key in keys.split()}

PARAMETERS.update({
    "net": ("None or the text of the layers, as in net='dense32 relu dense3' for 3 classes", lambda v: v is None or isinstance(v, str)),
    "shape": ("None or 2 or 3 whole numbers above 0: height, width, channels",
              lambda v: v is None or isinstance(v, (tuple, list)) and len(v) in (2, 3) and all(
                  is_whole(side) and side > 0 for side in v)),
    "batch": ("None or a whole number above 0", lambda v: v is None or is_whole(v) and v > 0),
    "passes": ("None or a whole number above 0", lambda v: v is None or is_whole(v) and v > 0),
    "early_stopping": ("True or False", lambda v: isinstance(v, (bool, np.bool_))),
    "validation_fraction": ("a number above 0 and below 1", lambda v: is_number(v) and 0 < v < 1),
    "n_iter_no_change": ("a whole number above 0", lambda v: is_whole(v) and v > 0),
    "lr": ("None or a number above 0", lambda v: v is None or is_number(v) and v > 0),
})


class Network(Estimator):
    """Layers, shapes, passes; images where others have rows."""

    _said = SAID
    _elsewhere = {"max_iter": "passes", "hidden_layer_sizes": "net", "layers": "net", "learning_rate_init": "lr"}

    def __init__(self, net=None, *, shape=None, batch=None, passes=None, solver=None, lr=None,
                 early_stopping=False, validation_fraction=0.1, n_iter_no_change=10,
                 random_state=None, n_jobs=None, workers=None, address=None, token=None, code=None,
                 recipe=None, verbose=0, callback=None):
        self.net, self.shape, self.batch, self.passes = net, shape, batch, passes
        self.solver, self.lr, self.random_state, self.n_jobs = solver, lr, random_state, n_jobs
        self.early_stopping, self.validation_fraction = early_stopping, validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.workers, self.address, self.token, self.code = workers, address, token, code
        self.recipe, self.verbose, self.callback = recipe, verbose, callback

    def fit(self, X, y=None, sample_weight=None):
        """Learn from rows, or from images: an array of (number, height, width) or
        (number, height, width, channels)."""
        return super().fit(X, y, sample_weight)

    def _more_tags(self):
        return {"_xfail_checks": {"check_sample_weights_invariance": (
            "a row of weight 0 takes its place in a batch, and so moves others to other batches")}}

    def _check_fit(self, x, y, weight):
        self.shape_ = _data.own_shape(x, self.shape) if _data.is_images(x) else self.shape
        found = super()._check_fit(_data.flat(x), y, weight)
        if self.shape_ is not None and np.prod(self.shape_) != self.n_features_in_:
            raise ValueError(f"shape {tuple(self.shape_)} has {np.prod(self.shape_)} numbers, and a "
                             f"row of X has {self.n_features_in_}")
        return found

    def _check_x(self, x):
        self._check_fitted()
        return super()._check_x(_data.like_trained(x, self.model_.shape))

    def _recipe(self, model, count, sparse):
        more = check_recipe(self.recipe, SAID)
        own = None if "init" in more else f"dense100 relu dense{self._outputs()}"
        choices = dict(model=model, net=self.net or own, batch=self.batch, passes=self.passes,
                       optim=self.solver, lr=self.lr, seed=seed_of(self.random_state),
                       threads=threads_of(self.n_jobs), code=self.code, token_file=self.token)
        if self.early_stopping:
            choices.update(patience=self.n_iter_no_change, valid=self.validation_fraction)
        if self.shape_ is not None:
            choices["shape"] = "x".join(str(side) for side in self.shape_)
        self._place(choices)
        choices.update(more)
        return choices

    def _keep(self, model):
        self.model_, self.n_iter_ = model, max(model.steps, 1)
        self.objective_, self.hash_ = model.objective, model.hash

    def _scores(self, x):
        if not _data.is_path(x):
            x = self._check_x(x)
            self._check_finite(x)
        else:
            self._check_fitted()
        return self.model_.scores(x)


class NetClassifier(Network, WithProbabilities):
    """A network that tells classes apart: softmax, least mean log loss.

    NetClassifier("conv3x3x8 relu pool2 dense10", shape=(28, 28, 1)).fit(x, y)

    net: layers, the last with an output for each class (docs/networks.md); None:
    "dense100 relu denseK", K the number of classes.
    shape: height, width and channels of a row that is an image; None: of arrays of
    3 or 4 dimensions theirs, else a row is a row.
    batch: rows of a step; None: 128, or what recipe's batch_per_worker says.
    passes: how often each row is seen; None: 10 to 200 times, as often as some ten seconds
    of one core allow, and 1,000 steps at least; with early_stopping up to 200 times.
    solver: "adam", "momentum", "gd", ...; None: adam.  lr: its rate; None: by itself.
    class_weight: a dict by class, "balanced" or None; on top of fit's sample_weight.
    early_stopping: hold out validation_fraction of the rows, end after n_iter_no_change
    passes without a lower loss on them, and be the network of the best pass.
    random_state: of weights, the order of rows and dropout; None: the same each time.
    n_jobs, workers, address, token, code, verbose, callback: LogisticRegression's.
    recipe: other keys of `muster train`, a dict: {"schedule": "cosine"}.

    Fitted: classes_, n_iter_ (steps), n_features_in_, feature_names_in_, shape_,
    objective_ (mean loss of the last pass), hash_, model_, whose `weights` are all
    numbers of the network.  save(path) writes safetensors, which muster.load reads.
    """

    def __init__(self, net=None, *, shape=None, batch=None, passes=None, solver=None, lr=None, class_weight=None,
                 early_stopping=False, validation_fraction=0.1, n_iter_no_change=10,
                 random_state=None, n_jobs=None, workers=None, address=None, token=None, code=None,
                 recipe=None, verbose=0, callback=None):
        super().__init__(net, shape=shape, batch=batch, passes=passes, solver=solver, lr=lr,
                         early_stopping=early_stopping, validation_fraction=validation_fraction,
                         n_iter_no_change=n_iter_no_change, random_state=random_state, n_jobs=n_jobs,
                         workers=workers, address=address, token=token, code=code, recipe=recipe,
                         verbose=verbose, callback=callback)
        self.class_weight = class_weight

    def _outputs(self):
        return len(self.classes_)

    def _fit(self, x, number, weight, factor):
        return self._all_at_once("softmax", x, number, weight, factor)


class NetRegressor(Network, Regressor):
    """A network that fits numbers: least mean squared error.  Parameters and
    attributes are NetClassifier's; the last layer has one output."""

    def _outputs(self):
        return 1
