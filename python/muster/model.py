"""muster.fit: rows and a recipe in, a Model out."""

import ctypes as C
import json
import operator
import os
import pickle
import re
import warnings

import numpy as np

from . import _data, _library, _run, _warn
from ._library import call, error_of, lib, try_call


METHODS = {"predict_proba": "probabilities", "decision_function": "scores", "coef_": "weights",
           "n_iter_": "steps", "hash_": "hash", "objective_": "objective", "n_features_in_":
           "features", "feature_names_in_": "columns"}  # Of estimators: what a Model calls them.


class Model:
    """A trained model: weights, hash, steps, objective, ..., as muster.h names
    them; predict, scores, probabilities, save.  Can be pickled."""

    def __init__(self, handle, info=None):
        """`info`: of the training, if the handle was read from a text.  Sizes are
        always the handle's own: they say how far C's arrays go."""
        self.handle, self.info = handle, _run.info_of(handle)
        self.info.update({key: info[key] for key in _run.TRAINED if info})

    def __getattr__(self, name):
        if name in METHODS:
            raise AttributeError(f"a Model has no {name}; that is {METHODS[name]}")
        if name in ("handle", "info") or name not in self.info:
            raise AttributeError(f"a Model has no {name}; it has {', '.join(self.info)}"
                                 if "info" in self.__dict__ else name)
        return self.info[name]

    def __repr__(self):
        kind = f"network '{self.layers}'" if self.layers else self.kind
        return f"<muster.Model {kind} {self.features} columns, hash {self.hash[:12]}>"

    def __getstate__(self):
        return _run.write_model(self.handle), self.info, _run.write_card(self.handle)

    def __setstate__(self, state):
        try:
            text, info, card = state
            handle = _run.read_model(text, card)
            own = _run.info_of(handle)
            if any(type(info[key]) is not type(own[key]) for key in _run.TRAINED):
                raise ValueError("a number or a word is missing")
            if info["hash"] != own["hash"]:
                raise ValueError("its hash is not that of its weights")
            if min(info["steps"], info["evaluations"]) < 0:
                raise ValueError("there are no fewer than 0 steps")
        except (KeyError, TypeError, ValueError, _library.Error) as error:
            raise pickle.UnpicklingError(f"this is no pickle of a Model: {error}") from None
        self.__init__(handle, info)

    def close(self):
        """Give its memory back, once calls in other threads have ended; nothing can
        be asked of it any more."""
        self.handle.close()

    @property
    def card(self):
        """What is known of its training, a dict; None of a model that was loaded."""
        text = _run.write_card(self.handle)
        return text and json.loads(text)

    @property
    def layers(self):
        """Of a network, as a text; else None."""
        text = lib.muster_layers(self.handle.pointer)
        return text and text.decode()

    @property
    def shape(self):
        """Of a network (height, width, channels) of its rows, (1, 1, features) if they
        are no images; else None."""
        sides = (C.c_uint32 * 3)()
        lib.muster_shape(self.handle.pointer, sides)
        return tuple(sides) if self.layers else None

    @property
    def weights(self):
        """outputs x (features and the constant, if there is one); of a network all
        its numbers, layer after layer, weights before biases."""
        pointer = self.handle.pointer
        if self.layers:
            return np.ctypeslib.as_array(lib.muster_parameters(pointer), (self.dims,)).copy()
        flat = np.ctypeslib.as_array(lib.muster_weights(pointer), (self.dims,))
        return flat.reshape(self.outputs, -1).copy()

    @property
    def classes_(self):
        """What is told apart: numbers, or words; None if numbers are predicted."""
        pointer = self.handle.pointer
        found = lib.muster_classes(pointer)
        words = [lib.muster_word(pointer, k) for k in range(self.classes)]
        if not self.classes:
            return None
        if words[0] is not None:
            return np.array([word.decode() for word in words])
        return np.ctypeslib.as_array(found, (self.classes,)).copy()

    @property
    def columns(self):
        """Names of the columns that rows have; None if they are not known."""
        pointer, found = self.handle.pointer, []
        while (name := lib.muster_column(pointer, len(found))) is not None:
            found.append(name.decode())
        return found or None

    def call_classes(self, classes):
        """Its classes 0, 1, ... are these from now on, if a file can hold them."""
        numbers, words = _data.file_labels(classes)
        given = numbers and (C.c_double * len(numbers))(*numbers), words and (
            C.c_char_p * len(words))(*[word.encode() for word in words])
        if numbers or words:
            try_call(lib.muster_set_classes, self.handle.pointer, *given, len(classes))

    def call_columns(self, names, label):
        call(lib.muster_set_columns, self.handle.pointer,
             (C.c_char_p * len(names))(*[name.encode() for name in names]), len(names),
             label and label.encode())

    def holds(self, classes):
        """Are these its classes?"""
        return self.classes_.tolist() == classes.tolist()

    def has_words(self, x):
        """Has it more columns than rows are given, as words have one for each?"""
        given = len(self.columns or ()) or (np.shape(x)[1] if np.ndim(x) == 2 else self.features)
        return not self.layers and given < self.features

    def rows_like(self, x):
        """Rows to be asked about, with the columns that it was trained on."""
        try:
            return _data.rows_of(_data.like_trained(_data.by_name(x, self.columns), self.shape))
        except (TypeError, ValueError) as error:
            if not self.has_words(x):
                raise
            said = str(error).replace(f": {_data.ADVICE['word']}", "").rstrip("\n")
            raise ValueError(f"{said}\n{_data.OWN_WORDS}") from None

    def answer(self, what, x, wide):
        """rows x wide numbers."""
        rows = self.rows_like(x)
        with rows.open() as data:
            if rows.kind == "file":
                return self.answer_file(what, data, wide)
            out = np.empty((data.rows(), wide))
            call(lib.muster_predict, self.handle.pointer, data.pointer, what, out.ctypes.data,
                 out.size)
        return out

    def answer_file(self, what, data, wide):
        """The same of rows whose number is known once they are read."""
        found, count = C.POINTER(C.c_double)(), C.c_uint64()
        call(lib.muster_predict_all, self.handle.pointer, data.pointer, what, C.byref(found),
             C.byref(count))
        try:
            return np.ctypeslib.as_array(found, (count.value // wide, wide)).copy()
        finally:
            lib.muster_answers_free(found)

    def named(self, labels):
        """Labels of the library as words, if classes are words."""
        found = self.classes_
        if found is None or found.dtype.kind == "f":
            return labels
        return found[labels.astype(int)]

    def predict(self, x):
        """A label, or a number, for each row."""
        return self.named(self.answer(_library.LABELS, x, 1)[:, 0])

    def truth(self, x):
        """The labels that the rows of a file or a table have."""
        labels = self.answer(_library.TRUTH, x, 1)[:, 0]
        strange = np.flatnonzero(np.isnan(labels))
        if len(strange):
            raise ValueError(f"{len(strange)} of {len(labels)} rows have no label that the model "
                             f"knows, the first is row {strange[0]}; give y, one for each row")
        return self.named(labels)

    def scores(self, x):
        """rows x outputs: what the sign, or the largest, decides."""
        return self.answer(_library.SCORES, x, self.outputs)

    def probabilities(self, x):
        """rows x classes."""
        return self.answer(_library.PROBABILITIES, x, self.classes)

    def save(self, path):
        """As `muster predict` and LIBLINEAR read it, with its card beside it."""
        why = call(lib.muster_save, self.handle.pointer, str(path).encode())
        if why:
            warnings.warn(why, RuntimeWarning, stacklevel=2)


def against_rest(models):
    """One Model of one for each class, which tells it from the rest."""
    if len(models) == 1:
        return models[0]
    handle = _library.Handle(lib.muster_free)
    held = [model.handle.pointer for model in models]
    given = (C.c_void_p * len(models))(*[pointer.value for pointer in held])
    call(lib.muster_one_against_rest, given, len(models), C.byref(handle.pointer))
    made = Model(handle)
    infos = [model.info for model in models]
    late = [info for info in infos if not info["converged"]]
    made.info.update({key: (late or infos)[0][key] for key in ("converged", "ended", "signal")},
                     steps=max(info["steps"] for info in infos),
                     **{key: sum(info[key] for info in infos)
                        for key in ("evaluations", "objective", "seconds")},
                     gradient_norm=float(np.linalg.norm([i["gradient_norm"] for i in infos])))
    return made


def load(path):
    """The Model in a file of save's, of `muster train`'s or of LIBLINEAR's."""
    handle = _library.Handle(lib.muster_free)
    call(lib.muster_load, str(path).encode(), C.byref(handle.pointer))
    return Model(handle)


def check_words(classes):
    if not classes:
        raise ValueError("labels are words, and this model predicts numbers; give numbers, or, "
                         "if they are classes, model='softmax', of at most 1024")


def places_of(classes, known, init):
    """Where each is among those of the model that a training goes on from."""
    where = {label: k for k, label in enumerate([] if known is None else known.tolist())}
    strange = [label for label in classes.tolist() if label not in where]
    if strange:
        raise ValueError(f"init {init}: its classes are {list(where)}, and a label is {strange[0]!r}"
                         if where else f"init {init}: it predicts numbers, and labels are classes")
    return np.array([where[label] for label in classes.tolist()])


def labelled(x, labels, weights, recipe):
    """Rows whose labels are numbers, or words, which the library knows as 0, 1, ...,
    in the order of the model that a training goes on from."""
    words = None
    x, labels, weights = take_columns(x, labels, weights, recipe)
    name = getattr(labels, "name", None)
    if labels is not None:
        labels = np.asarray(labels)
        if labels.dtype.kind == "U" or labels.dtype.kind == "O" and all(
                isinstance(label, str) for label in labels.ravel()):
            words, codes = np.unique(labels, return_inverse=True)
            if recipe.get("init") is not None:
                known = load(recipe["init"]).classes_
                words, codes = known, places_of(words, known, recipe["init"])[codes]
            labels = codes.reshape(labels.shape).astype(np.float64)
        elif labels.dtype.kind in "iu" and labels.size and recipe.get("model") != "linear" and (
                labels.max() >= _data.WHOLE or labels.min() <= -_data.WHOLE):
            raise ValueError(f"{_data.no_file_for(np.unique(labels))}; give other labels")
    rows = _data.rows_of(x, labels, weights)
    rows.name(rows.names, name)
    if words is not None and (rows.kind != "dense" or _data.file_labels(words)[1] is None):
        raise ValueError(f"{_data.no_file_for(words)}; give numbers: "
                         "np.unique(labels, return_inverse=True)")
    rows.words = words
    return rows


def image_rows(x, recipe):
    """Images for a network as rows, whose shape the recipe then says."""
    said = recipe.get("shape")
    if _data.is_images(x) and (recipe.get("net") or recipe.get("init")):
        if isinstance(said, str):
            said = [int(side) for side in said.split("x") if side.isdecimal()]
        said, x = _data.own_shape(x, said), _data.flat(x)
    if isinstance(said, (tuple, list)):
        recipe["shape"] = "x".join(map(str, said))
    return x


def listed(names, key, given):
    """Positions in a frame of the columns that a key names: by name, or by number from
    1, ":2" or 2, as of a file."""
    items = [given] if isinstance(given, str) and given in names else (
        given.split(",") if isinstance(given, str) else np.ravel(given).tolist())
    where = {name: place for place, name in enumerate(names)}
    found = []
    for item in items:
        text = str(item)
        number = text[1:] if text.startswith(":") else text
        if text in where:
            found.append(where[text])
        elif number.isdecimal() and 1 <= int(number) <= len(names):
            found.append(int(number) - 1)
        else:
            raise ValueError(f"{key} {item!r}: the frame has no such column; it has "
                             f"{', '.join(map(repr, names[:5]))}{', ...' if len(names) > 5 else ''}")
    return found


def take_columns(x, labels, weights, recipe):
    """(rows, labels, weights) of a frame whose columns the keys label, drop and weight
    name: the library sees those of an Arrow table, not of a frame."""
    names = _data.names_of(x)
    said = {key: recipe[key] for key in ("label", "drop", "weight") if recipe.get(key) is not None}
    if not said or names is None or (labels is None and hasattr(x, "__arrow_c_stream__")):
        return x, labels, weights
    names, gone = list(names), []
    for key, values in (("label", labels), ("weight", weights)):
        if key not in said:
            continue
        if values is not None:
            raise ValueError(f"{key} {said[key]!r} says which column has the {key}s, and they are "
                             "given beside the rows, too; leave one out")
        place, = listed(names, key, [said[key]])
        if key == "label":
            labels = x.iloc[:, place]
        else:
            weights = x.iloc[:, place]
        gone.append(place)
    gone += listed(names, "drop", said.get("drop", []))
    for key in said:
        del recipe[key]
    return x.iloc[:, [place for place in range(len(names)) if place not in gone]], labels, weights


def has_port(address):
    port = address.rpartition(":")[2]
    return port.isdecimal() and int(port) > 0


def run(choices, rows, watch=None, log=None):
    """(status, sentence, Model or None)."""
    if choices.get("listen") and not any(
            choices.get(key) for key in ("token_file", "token-file")):
        raise ValueError("listen needs token_file, the file of a key by which workers may join; "
                         "`muster token new FILE` makes one")
    if choices.get("listen") and not choices.get("out") and not has_port(str(choices["listen"])):
        raise ValueError(f"{choices['listen']} names no port, so nobody would know where to join; "
                         "say HOST:PORT, or add the key out, a folder whose file `address` says "
                         "which port was free")
    with _library.Recipe(choices) as recipe:
        forks = recipe.forks()
    if forks and rows.kind == "arrow":
        raise ValueError("a table of columns is trained in this process, without workers and what "
                         "needs them (out, max_time, ...); save it as a file, and name that")
    fit_rows = _run.fit_apart if forks else _run.fit_here
    status, why, handle, info = fit_rows(choices, rows, watch, log)
    if status == _library.BAD_DATA and rows.names:
        why = re.sub(r"column (\d+):", lambda found: f"column {rows.names[int(found[1])]!r}:", why)
    model = Model(handle, info) if handle else None
    if model and rows.words is not None:
        check_words(model.classes > 0)
        model.call_classes(rows.words)
    if model and rows.names and not model.columns:
        model.call_columns(rows.names, rows.label)
    return status, why, model


def fit(x, labels=None, weights=None, *, watch=None, log=None, **recipe):
    """Train.  `x`: an array, a sparse matrix, a table of columns (Arrow), or the
    name of a file.  `recipe`: the keys of `muster train`, model="logistic",
    l2=0.1, n=4, ...; watch(step, objective) may return True to stop; log(sentence)
    is told what is noticed of the rows, which are warnings else, and of workers."""
    if not str(recipe.get("solver", 0)).isdigit():
        raise ValueError(f"solver {recipe['solver']}: that is the number of LIBLINEAR's type; the "
                         "optimiser is named by optim")
    x, told = image_rows(x, recipe), []
    status, why, model = run(recipe, labelled(x, labels, weights, recipe), watch,
                             log or (_data.is_path(x) and told.append))
    if status:
        raise error_of(status, why, model)
    for sentence in told:  # Of its columns, not of workers that come and go.
        if sentence.startswith(f"{os.fspath(x)}: "):
            warnings.warn(sentence, stacklevel=2)
    if model.classes > 2 and model.classes_.dtype.kind == "f" and not {
            "model", "solver", "net", "init"} & {key for key in recipe if recipe[key] is not None}:
        warnings.warn(f"the {model.classes} whole labels are taken for classes; if they are numbers, "
                      "model='linear'; model='softmax' says that they are classes", stacklevel=2)
    passes = model.layers or recipe.get("optim") == "sgd" or recipe.get("patience")
    scale = "" if recipe.get("scale") else ", or scale the columns (scale='standard')"
    _warn.of_model(model, None if passes else f"{model.ended}, and the model has not converged; "
                   f"raise steps or passes{scale}", str, 2)
    return model


def cross_validate(x, labels=None, weights=None, *, folds=5, **recipe):
    """Scores of models that have not seen the rows they are judged on: a dict of
    all rows together, and a list of one for each part."""
    folds = operator.index(folds)
    if not 2 <= folds < 1 << 32:
        raise ValueError(f"folds {folds}: expected 2 or more, at most one for each row")
    scores = (_library.Score * (folds + 1))()
    for score in scores:
        score.size = C.sizeof(score)
    rows = labelled(image_rows(x, recipe), labels, weights, recipe)
    with _library.Recipe(recipe) as made, rows.open() as data:
        status, why = _run.beside(
            lambda: try_call(lib.muster_cross_validate, made.pointer, data.pointer, folds, scores),
            lambda: lib.muster_stop(made.pointer))
    if status:  # The command's option -v is the argument folds.
        raise error_of(status, re.sub(r"^v (?=\d)", "folds ",
                                      re.sub("^v (?=[a-z])", "cross_validate ", why)))
    found = [{name: getattr(score, name) for name, _ in score._fields_[1:]
              if getattr(score, name) == getattr(score, name)} for score in scores]
    check_words(rows.words is None or "mse" not in found[0])
    return found[0], found[1:]
