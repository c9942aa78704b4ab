"""Rows for the library: numpy arrays and scipy's CSR where they lie, files by
their names, and whatever speaks Arrow's C stream interface."""

import ctypes as C
import fcntl
import mmap
import os

from . import _library
from ._library import call, lib

TYPES = {"f8": 1, "f4": 2, "i1": 3, "u1": 4, "i2": 5, "u2": 6, "i4": 7, "u4": 8, "i8": 9,
         "u8": 10, "b1": 11}


class Data(_library.Handle):
    """A handle, and what it borrows from."""

    def __init__(self, function, argument, *kept):
        super().__init__(lib.muster_data_free)
        self.kept = kept
        call(function, argument, C.byref(self.pointer))

    def rows(self):
        return lib.muster_data_rows(self.pointer)


class Array:
    """One array as the library sees it: an address, a type, a shape, steps.

    Made of a numpy array here, of a mapped file in a process that is to have
    no numpy."""

    def __init__(self, address, kind, shape, strides, kept):
        self.address, self.kind, self.kept = address, kind, kept
        self.shape, self.strides = tuple(shape), tuple(strides)

    @classmethod
    def of(cls, array):
        import numpy as np
        if np.ma.is_masked(array):
            raise ValueError("some values are masked; fill them (.filled) or leave their rows out")
        if array.dtype.kind in "cmM":
            raise TypeError(f"numbers are wanted, not {array.dtype}")
        if 0 in array.strides:  # A step of 0 means "one after the other" to the library.
            array = np.ascontiguousarray(array)
        kind = array.dtype.kind + str(array.dtype.itemsize)
        if kind not in TYPES or not array.dtype.isnative:
            array = array.astype(np.float64)
            kind = "f8"
        return cls(array.ctypes.data, kind, array.shape, array.strides, array)


def matrix(array):
    return _library.Matrix(values=array.address, type=TYPES[array.kind], rows=array.shape[0],
                           columns=array.shape[1], row_step=array.strides[0],
                           column_step=array.strides[1])


def vector(array):
    return _library.Vector(values=array.address, type=TYPES[array.kind], count=array.shape[0],
                           step=array.strides[0])


def csr(parts):
    shape, begin, column, value = parts
    return _library.Csr(rows=shape[0], columns=shape[1], begin=begin.address,
                        begin_type=TYPES[begin.kind], column=column.address,
                        column_type=TYPES[column.kind], value=value.address,
                        value_type=TYPES[value.kind])


# --- a description that can be sent to another process -----------------------

class Rows:
    """What rows are: ("dense", Array), ("csr", (shape, begin, column, value)),
    ("file", path) or ("arrow", object), with labels and weights."""

    def __init__(self, kind, what, labels=None, weights=None):
        self.kind, self.what, self.labels, self.weights = kind, what, labels, weights
        self.names = self.label = self.words = None

    def name(self, names, label=None):
        """Of dense rows: names of columns, if each has its own, and of the labels."""
        if names is not None and self.kind == "dense" and len(set(names)) == len(names):
            self.names = [str(name) for name in names]
            self.label = label if isinstance(label, str) and label not in names else None
        return self

    def open(self):
        kind, what = self.kind, self.what
        if kind == "dense":
            data = Data(lib.muster_data_dense, C.byref(matrix(what)), what)
        elif kind == "csr":
            data = Data(lib.muster_data_csr, C.byref(csr(what)), what)
        elif kind == "file":
            data = Data(lib.muster_data_file, _library.plain(what))
        else:
            data = self.open_arrow(what)
        for function, values in ((lib.muster_data_labels, self.labels),
                                 (lib.muster_data_weights, self.weights)):
            if values is not None:
                call(function, data.pointer, C.byref(vector(values)))
        return data

    @staticmethod
    def open_arrow(table):
        capsule = table.__arrow_c_stream__()
        get = C.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = C.c_void_p, [C.py_object, C.c_char_p]
        return Data(lib.muster_data_arrow, get(capsule, b"arrow_array_stream"), capsule)

    def arrays(self):
        parts = [self.what] if self.kind == "dense" else (
            list(self.what[1:]) if self.kind == "csr" else [])
        return parts + [a for a in (self.labels, self.weights) if a is not None]


def one_each(values, what, kind=None):
    """An Array of one number for each row, or None."""
    import numpy as np
    if values is None:
        return None
    values = np.asanyarray(values, kind)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values.ravel()
    if values.ndim != 1:
        raise ValueError(f"{what} are one for each row, not an array of shape {values.shape}")
    return Array.of(values)


def is_path(x):
    return isinstance(x, (str, os.PathLike))


def rows_of(x, labels=None, weights=None):
    """Rows of an array, a sparse matrix, a path or a table of columns."""
    import numpy as np
    labels, weights = one_each(labels, "labels"), one_each(weights, "weights", np.float64)
    if is_path(x):
        return Rows("file", os.fspath(x), labels, weights)
    if hasattr(x, "tocsr"):
        return Rows("csr", csr_parts(x), labels, weights)
    if hasattr(x, "__arrow_c_stream__") and labels is None and not isinstance(x, np.ndarray):
        return Rows("arrow", x, labels, weights)
    array = numbers_of(x)
    if array.ndim != 2:
        more = "; X.reshape(len(X), -1) makes rows of images" if is_images(array) else ""
        raise ValueError(f"rows must be two-dimensional, not {array.ndim}-dimensional{more}")
    return Rows("dense", Array.of(array), labels, weights).name(names_of(x))


# --- images -------------------------------------------------------------------

def is_images(x):
    return getattr(x, "ndim", 2) in (3, 4)


def flat(x):
    """Images as rows: pixel after pixel, the channels of a pixel side by side."""
    return x.reshape(len(x), -1) if is_images(x) and len(x) else x


def sides_of(x):
    return tuple(int(side) for side in x.shape[1:])


def own_shape(x, said):
    """The shape of an array's images, which `said` (or None) must not contradict."""
    own = sides_of(x)
    first = len(own) == 3 and own[0] in (1, 3) and own[2] > 4  # Channels, as torch has them.
    wanted = None if said is None else (*said, 1)[:3]
    if first and own[0] == 1 and wanted != own:
        own = (own[1], own[2], 1)
    elif first and said is None:
        raise ValueError(f"images of {own}, which looks like channels before pixels; give "
                         f"np.moveaxis(X, 1, -1), or say shape={own} if that is what they are")
    if wanted is not None and wanted != (*own, 1)[:3]:
        raise ValueError(f"shape {tuple(said)}, and X itself has images of {own}; leave out shape")
    return own


def like_trained(x, shape):
    """Images as rows if they are of that shape, a network's: numbers in another
    order are as many, and nothing else would tell.  Rows are in its order."""
    if not is_images(x) or shape is None:
        return x
    own = sides_of(x)
    whole = (*own, 1)[:3]
    if shape[:2] == (1, 1):
        raise ValueError(f"X has images of {own}, and the network was trained on rows of {shape[2]} "
                         "numbers; give X.reshape(len(X), -1) if that is their order")
    if whole != shape and not (own[0] == 1 and (*own[1:], 1) == shape):
        first = len(own) == 3 and (*own[1:], own[0]) == shape
        raise ValueError(f"X has images of {own}, and the network was trained on images of {shape}"
                         f"; {'np.moveaxis(X, 1, -1) makes them so' if first else 'give such'}")
    return flat(x)


# --- what is no number --------------------------------------------------------

ADVICE = {
    "missing": "fill what is missing (fillna) or leave those rows out (dropna)",
    "time": "make numbers of times (.astype('int64'), .dt.year, ...) or drop them",
    "word": "encode words as numbers (pandas.get_dummies); muster.fit does so itself of a file or "
            "an Arrow table with the labels in it (label='NAME')",
    "other": "numbers are wanted"}


OWN_WORDS = ("the model was learnt from a table with words, which it encodes itself: predict of a "
             "file (x.to_csv('rows.csv', index=False), then predict('rows.csv')) or of an Arrow "
             "table (pyarrow.Table.from_pandas(x))")


def is_missing(value):
    """None, pandas' NA and NaT, NaN."""
    return value is None or type(value).__name__ in ("NAType", "NaTType") or (
        isinstance(value, float) and value != value)


def kind_of(value):
    if is_missing(value):
        return "missing"
    if hasattr(value, "isoformat") or hasattr(value, "total_seconds") or \
            getattr(getattr(value, "dtype", None), "kind", "") in ("m", "M"):
        return "time"
    return "word" if isinstance(value, (str, bytes)) else "other"


def no_number(values):
    """The first of them that float cannot take, in a list; or an empty one."""
    for value in values:
        try:
            if kind_of(value) == "time":
                return [value]
            float(value)
        except (TypeError, ValueError):
            return [value]
    return []


def why_no_numbers(x):
    """Which column of rows, or of an array, holds what, and what to do."""
    import numpy as np
    columns = getattr(x, "columns", None)
    names = range(np.shape(x)[1]) if columns is None else columns
    for j, name in enumerate(names):
        for value in no_number(x.iloc[:, j] if columns is not None else np.asarray(x)[:, j]):
            return f"column {name!r} holds {value!r}: {ADVICE[kind_of(value)]}"
    return ADVICE["other"]


def numbers_of(x):
    """An array of real or complex numbers, of any shape; TypeError or ValueError
    that names the column."""
    import numpy as np
    array = np.asanyarray(x)
    try:
        if array.dtype.kind in "mM":
            raise TypeError(f"numbers are wanted, not {array.dtype}")
        return array.astype(np.float64) if array.dtype.kind in "OUS" else array
    except (TypeError, ValueError) as error:
        more = f"; {why_no_numbers(x)}" if array.ndim == 2 else ""
        raise type(error)(f"{error}{more}") from None


# --- names --------------------------------------------------------------------

def names_of(x):
    """Of the columns of a DataFrame, if all of them are words."""
    columns = getattr(x, "columns", None)
    if columns is None or not hasattr(x, "dtypes"):
        return None
    import numpy as np
    names = np.asarray(columns, dtype=object)
    words = [isinstance(name, str) for name in names]
    if any(words) and not all(words):
        raise TypeError("Feature names are only supported if all input features have string "
                        f"names, but your input has {sorted({type(n).__name__ for n in names})} "
                        "as feature name / column name types.")
    return names if len(names) and all(words) else None


def names_differ(names, known):
    text = "The feature names should match those that were passed during fit.\n"
    unseen, missing = sorted(set(names) - set(known)), sorted(set(known) - set(names))
    if unseen:
        text += "Feature names unseen at fit time:\n" + "".join(f"- {n}\n" for n in unseen[:5])
    if missing:
        text += "Feature names seen at fit time, yet now missing:\n" + \
            "".join(f"- {n}\n" for n in missing[:5])
    if not unseen and not missing:
        text += "Feature names must be in the same order as they were in fit.\n"
    return text


def by_name(x, known):
    """The rows with the columns that a model knows, in its order, if both have
    names; an Arrow table is looked at by the library itself."""
    names = names_of(x)
    if names is None or known is None or hasattr(x, "__arrow_c_stream__"):
        return x
    if not set(known) <= set(names) or len(set(names)) < len(names):
        raise ValueError(names_differ(names, known))
    return x[list(known)]


WHOLE = 1 << 53  # From it on numbers of a model's file may be rounded ones.


def file_labels(classes):
    """(numbers, words) of which one is None, as a model's file can hold them;
    both None if it cannot."""
    kept = classes.tolist()
    if all(isinstance(k, str) and "\0" not in k and k.encode(errors="replace") == k.encode(
            errors="surrogatepass") for k in kept):
        return None, kept
    if all(isinstance(k, (bool, int, float)) and abs(k) < WHOLE for k in kept):
        return [float(k) for k in kept], None
    return None, None


def no_file_for(classes):
    return (f"a model's file holds whole numbers below 2^53 as classes, and of dense rows words; "
            f"not {classes.tolist()[-1]!r}")


def csr_parts(x):
    import numpy as np
    x = x.tocsr()
    if not x.has_canonical_format:
        x = x.copy()
        x.sum_duplicates()
    return (x.shape, *(Array.of(np.ascontiguousarray(part))
                       for part in (x.indptr, x.indices, x.data)))


# --- one copy in memory that processes share ---------------------------------

def apart_from_streams(file):
    """The same file by a number that is not 0, 1 or 2: a process that has closed
    one of them gives it to the next file, and what is printed goes there."""
    if file > 2:
        return file
    try:
        return fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, 3)
    finally:
        os.close(file)


class ArrayFile:
    """Arrays one after the other in a file without a name."""

    def __init__(self):
        self.file, self.used = apart_from_streams(os.memfd_create("muster")), 0

    def put(self, array):
        """Where it lies: (kind, shape, strides, offset)."""
        import numpy as np
        whole = array.kept  # Of Array.of: numpy's own.
        fortran = whole.flags.f_contiguous and not whole.flags.c_contiguous
        whole = np.asfortranarray(whole) if fortran else np.ascontiguousarray(whole)
        self.used += -self.used % 64
        place, size = self.used, whole.nbytes
        if size:
            os.ftruncate(self.file, place + size)
            with mmap.mmap(self.file, place + size) as memory:
                view = np.frombuffer(memory, np.uint8, size, place)
                view[:] = whole.reshape(-1, order="A").view(np.uint8)
                del view
        self.used += size
        return array.kind, whole.shape, whole.strides, place


def take(memory, place):
    """The Array that ArrayFile.put said lies there."""
    kind, shape, strides, offset = place
    size = len(memory) - offset
    address = C.addressof(C.c_char.from_buffer(memory, offset)) if size > 0 else None
    return Array(address, kind, shape, strides, memory)
