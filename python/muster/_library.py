"""libmuster by ctypes: where it is, what its functions take, what they say."""

import ctypes as C
import os

NAME = "libmuster.so.3"
HERE = os.path.dirname(os.path.abspath(__file__))
WHY_SIZE = 512


def places():
    """Beside this file (pip), where make install put it, in a source tree."""
    yield os.path.join(HERE, NAME)
    try:
        from ._place import LIBDIR
        yield os.path.join(LIBDIR, NAME)
    except ImportError:
        pass
    root = os.path.dirname(os.path.dirname(HERE))
    yield os.path.join(root, "build", "release", "src", NAME)


def load():
    for path in places():
        if os.path.exists(path):
            return C.CDLL(path)
    try:
        return C.CDLL(NAME)
    except OSError as error:
        raise ImportError(f"{error}; looked for it at {', '.join(places())}; "
                          "run pip install . or make install") from None


lib = load()

# --- structures and functions of muster.h ------------------------------------

KINDS = dict(z=C.c_size_t, u=C.c_uint32, q=C.c_uint64, i=C.c_int32, l=C.c_int64, e=C.c_int,
             p=C.c_void_p, s=C.c_char_p, d=C.c_double)


def structure(name, fields):
    pairs = [field.split() for field in ("z size," + fields).split(",")]
    return type(name, (C.Structure,),
                {"_fields_": [(field, KINDS[kind]) for kind, field in pairs],
                 "__init__": sized})


def sized(self, **values):
    """ValueError of a whole number that its field cannot hold: ctypes cuts it."""
    C.Structure.__init__(self, C.sizeof(self), **values)
    for name, value in values.items():
        if isinstance(value, int) and (getattr(self, name) or 0) != value:
            raise ValueError(f"{name} {value}: that is out of range")


Progress = structure("Progress", "q step,q evaluations,d objective,d gradient_norm,p weights")
Matrix = structure("Matrix", "p values,e type,q rows,q columns,l row_step,l column_step")
Csr = structure("Csr", "q rows,q columns,p begin,e begin_type,p column,e column_type,"
                "p value,e value_type")
Vector = structure("Vector", "p values,e type,q count,l step")
Info = structure("Info", "s kind,u features,u outputs,u classes,u intercept,q dims,q steps,"
                 "q evaluations,d objective,d gradient_norm,d seconds,i converged,i signal,"
                 "s hash,s ended,s warning")
Score = structure("Score", "d accuracy,d auc,d f1,d precision,d recall,d logloss,d mse,"
                  "d objective,q steps")
Function = structure("Function", "u dims,u chunks,q rows,p gradient,p hessvec,p context")
GroupOptions = structure("GroupOptions", "u least,u members_max,u give_up_s,q bytes_max,"
                         "s listen,s token_file,s name,u plain")
SumInfo = structure("SumInfo", "i included,q call,u contributed,u members,s who")

WATCH = C.CFUNCTYPE(C.c_int, C.c_void_p, C.POINTER(Progress))
LOG = C.CFUNCTYPE(None, C.c_void_p, C.c_char_p)
GRADIENT = C.CFUNCTYPE(C.c_int, C.c_void_p, C.POINTER(C.c_double), C.c_uint32,
                       C.POINTER(C.c_double), C.POINTER(C.c_double))
HESSVEC = C.CFUNCTYPE(C.c_int, C.c_void_p, C.POINTER(C.c_double), C.POINTER(C.c_double),
                      C.c_uint32, C.POINTER(C.c_double))

# Each with the buffer for a sentence behind its arguments.
STATUS = dict(
    muster_recipe_new="p", muster_set="pss", muster_data_dense="pp", muster_data_csr="pp",
    muster_data_file="sp", muster_data_arrow="pp", muster_data_labels="pp",
    muster_data_weights="pp", muster_fit="ppp", muster_predict="ppepq", muster_predict_all="ppepp",
    muster_save="ps", muster_card="pp", muster_set_card="ps",
    muster_load="sp", muster_write="ppp", muster_read="pzp", muster_about="pp",
    muster_one_against_rest="pup", muster_set_classes="pppu", muster_set_columns="ppus",
    muster_cross_validate="ppup", muster_train="ppp", muster_join="ppss",
    muster_group_host="pp", muster_group_join="psp", muster_sum="ppqedp")
OTHERS = dict(
    muster_status_text=("e", C.c_char_p), muster_version=("", C.c_uint32),
    muster_release=("", C.c_char_p),
    muster_recipe_free=("p", None), muster_forks=("p", C.c_int), muster_stop=("p", None),
    muster_data_free=("p", None),
    muster_data_rows=("p", C.c_uint64), muster_free=("p", None),
    muster_weights=("p", C.POINTER(C.c_double)), muster_classes=("p", C.POINTER(C.c_double)),
    muster_shape=("pp", None), muster_layers=("p", C.c_char_p), muster_parameters=("p", C.POINTER(C.c_float)),
    muster_word=("pu", C.c_char_p), muster_column=("pu", C.c_char_p), muster_text_free=("p", None),
    muster_answers_free=("p", None),
    muster_group_address=("p", C.c_char_p), muster_cancel=("p", None),
    muster_group_leave=("p", None))
for name, arguments in STATUS.items():
    getattr(lib, name).argtypes = [KINDS[kind] for kind in arguments] + [C.c_char_p]
for name, (arguments, result) in OTHERS.items():
    getattr(lib, name).argtypes = [KINDS[kind] for kind in arguments]
    getattr(lib, name).restype = result
lib.muster_listen.argtypes = [C.c_void_p, WATCH, LOG, C.c_void_p]
lib.muster_listen.restype = None

BAD_OPTION, NO_MEMORY, STOPPED, LOST, BAD_DATA = 2, 3, 5, 10, 13
LABELS, SCORES, PROBABILITIES, TRUTH = 1, 2, 3, 4


# --- what functions say ------------------------------------------------------

class Error(RuntimeError):
    """What the library says; `status` is that of muster.h, `model` the model so
    far, if there is one."""

    def __init__(self, status, why, model=None):
        super().__init__(status, why)
        self.status, self.model = status, model

    def __str__(self):
        return self.args[1]


class Stopped(Error):
    """A function returned not 0, or a signal came: `model` is that so far."""


class BadOption(Error, ValueError):
    """A key, a value or an argument that cannot be."""


class BadData(Error, ValueError):
    """Rows, labels or a file that cannot be used."""


KIND_OF = {STOPPED: Stopped, BAD_OPTION: BadOption, BAD_DATA: BadData}


def error_of(status, why, model=None):
    if status == NO_MEMORY:
        return MemoryError(why)
    return KIND_OF.get(status, Error)(status, why, model)


def try_call(function, *arguments):
    """(status, sentence)."""
    why = C.create_string_buffer(WHY_SIZE)
    status = function(*arguments, why)
    return status, why.value.decode(errors="replace")


def call(function, *arguments):
    """What remains to be said, "" most often."""
    status, why = try_call(function, *arguments)
    del arguments  # The traceback would hold them, and Pointers with them.
    if status:
        raise error_of(status, why)
    return why


class Pointer(C.c_void_p):
    """Gives back what it points at with its last reference.  A call holds one to
    each of its arguments, so nothing is freed while a thread is in C with it."""

    free = None

    def __del__(self):
        if self.value:
            self.free(self.value)


class Handle:
    """Something of the library's that is given back once."""

    def __init__(self, free):
        self.kept_pointer = Pointer()
        self.kept_pointer.free = free

    @property
    def pointer(self):
        """What C is given: never NULL because somebody has closed it.  Whoever
        reads what C returns holds it as long."""
        pointer = self.kept_pointer
        if pointer is None:
            raise ValueError("it has been closed")
        return pointer

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Calls in progress in other threads end first, each by itself."""
        self.kept_pointer = None


def text_of(value):
    """As the command line has it: lists and tuples with commas."""
    if isinstance(value, (list, tuple)):
        texts = [text_of(item) for item in value]
        for text in texts:
            if "," in text:
                raise ValueError(f"{text!r} has a comma in it, which no item of a list may have; "
                                 "a column has its place for a name, too: ':2' is the second")
        return ",".join(texts)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return repr(value) if isinstance(value, float) else str(value)


def plain(text):
    """As C takes it, which ends a text at its first NUL."""
    if "\0" in text:
        raise ValueError(f"{text!r} has a NUL in it")
    return text.encode()


# What other programs call things.
HINTS = {"C": "c, LIBLINEAR's cost, or l2", "alpha": "l2", "n_jobs": "threads",
         "sample_weight": "weights, the third argument of fit", "y": "labels", "cv":
         "muster.cross_validate", "max_iter": "steps", "random_state": "seed",
         "fit_intercept": "no_intercept", "callback": "watch", "address": "listen",
         "token": "token_file", "verbose": "log, a function"}


def no_key(key, why):
    """What is said of it; keys have underscores here."""
    near = HINTS.get(key) or why.partition("did you mean ")[2].rstrip("?").replace("-", "_")
    return f"no key is called {key}" + (f"; did you mean {near}?" if near else "")


class Recipe(Handle):
    """All choices of one training: keyword arguments are keys."""

    def __init__(self, choices):
        super().__init__(lib.muster_recipe_free)
        call(lib.muster_recipe_new, C.byref(self.pointer))
        for key, value in choices.items():
            if value is not None:
                self.set(key, text_of(value))

    def set(self, key, text):
        """TypeError if there is no such key, as of any keyword."""
        status, why = try_call(lib.muster_set, self.pointer, key.replace("_", "-").encode(),
                               plain(text))
        if status == BAD_OPTION and "no choice is called" in why:
            raise TypeError(no_key(key, why))
        if status:
            raise error_of(status, why)

    def forks(self):
        """Does a training by it fork workers?"""
        return bool(lib.muster_forks(self.pointer))

    def listen(self, watch, log):
        """Python functions watch(step, objective) -> stop (0 or 1) and
        log(sentence), which raise nothing: ctypes would only print it."""
        def on_step(_, progress):
            return watch(progress[0].step, progress[0].objective)

        def on_log(_, sentence):
            log(sentence.decode(errors="replace"))
        self.hooks = WATCH(on_step if watch else 0), LOG(on_log if log else 0)
        lib.muster_listen(self.pointer, *self.hooks, None)
