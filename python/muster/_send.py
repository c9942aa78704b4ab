"""Functions and classes for another process, by value.

pickle sends a function by its name: the other side must be able to import it.
What a notebook or a script defines (__main__), what is nested, and lambdas have
no such name there; they are sent as their code, with the values they refer to.
Arrays go out of band, into memory that both processes share.
"""

import builtins
import importlib
import io
import marshal
import mmap
import os
import pickle
import types

from ._data import apart_from_streams


def found_by_name(thing):
    module, name = getattr(thing, "__module__", None), getattr(thing, "__qualname__", "")
    if module in (None, "__main__"):
        return False
    try:
        there = importlib.import_module(module)
        for part in name.split("."):
            there = getattr(there, part)
    except (ImportError, AttributeError):
        return False
    return there is thing


def names_in(code):
    """What a function, and those within it, look up in their module."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= names_in(constant)
    return names


def make_function(code, name, count):
    cells = tuple(types.CellType() for _ in range(count))
    scope = {"__builtins__": builtins, "__name__": "__main__"}
    return types.FunctionType(marshal.loads(code), scope, name, None, cells)


def fill_function(function, state):
    scope, cells, defaults, keywords, rest = state
    function.__globals__.update(scope)
    for cell, value in zip(function.__closure__ or (), cells):
        cell.cell_contents = value
    function.__defaults__, function.__kwdefaults__ = defaults, keywords
    function.__dict__.update(rest)


def make_class(name, bases, module):
    return type(name, bases, {"__module__": module})


def fill_class(made, state):
    for name, value in state.items():
        setattr(made, name, value)


class Pickler(pickle.Pickler):
    def reducer_override(self, thing):
        if isinstance(thing, types.ModuleType):
            return importlib.import_module, (thing.__name__,)
        if isinstance(thing, types.FunctionType) and not found_by_name(thing):
            return self.function(thing)
        if isinstance(thing, type) and thing.__module__ == "__main__":
            return self.kind(thing)
        return NotImplemented

    @staticmethod
    def function(f):
        scope = {name: f.__globals__[name] for name in names_in(f.__code__)
                 if name in f.__globals__}
        cells = tuple(cell.cell_contents for cell in f.__closure__ or ())
        state = scope, cells, f.__defaults__, f.__kwdefaults__, f.__dict__
        return (make_function, (marshal.dumps(f.__code__), f.__name__, len(cells)), state, None,
                None, fill_function)

    @staticmethod
    def kind(c):
        hidden = ("__dict__", "__weakref__", "__module__")
        state = {name: value for name, value in vars(c).items() if name not in hidden}
        return make_class, (c.__name__, c.__bases__, c.__module__), state, None, None, fill_class


def pack(thing):
    """(bytes, file of buffers, sizes): the file's descriptor is the caller's."""
    buffers, out = [], io.BytesIO()
    Pickler(out, protocol=5, buffer_callback=buffers.append).dump(thing)
    file, sizes = apart_from_streams(os.memfd_create("muster")), []
    for buffer in buffers:
        with buffer.raw() as view:
            sizes.append(view.nbytes)
            while view.nbytes:
                view = view[os.write(file, view):]
        os.lseek(file, -os.lseek(file, 0, os.SEEK_CUR) % 64, os.SEEK_CUR)
    os.ftruncate(file, os.lseek(file, 0, os.SEEK_CUR))
    return out.getvalue(), file, sizes


def unpack(data, file, sizes):
    """What pack packed; its arrays are shared, and read only where they were."""
    memory = memoryview(mmap.mmap(file, 0, mmap.MAP_PRIVATE)) if sum(sizes) else memoryview(b"")
    buffers, at = [], 0
    for size in sizes:
        buffers.append(memory[at:at + size])
        at += size + -size % 64
    return pickle.loads(data, buffers=buffers)
