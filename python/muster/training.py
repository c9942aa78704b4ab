"""muster.train: a gradient of your own, on any number of processes."""

import collections
import ctypes as C
import os
import pickle
import signal
import traceback

from . import _library, _run, _send
from ._data import apart_from_streams
from ._library import GRADIENT, HESSVEC, STOPPED, error_of, lib, try_call

PIPE_BUF = 4096  # So much is written to a pipe in one piece.

Trained = collections.namedtuple("Trained", "weights hash steps objective converged")


class Guard:
    """A function for C: what it raises stops the training, and is kept for
    whoever called, by a pipe if it was raised in a worker's process."""

    def __init__(self):
        self.pid, self.raised = os.getpid(), None
        self.reader, self.writer = map(apart_from_streams, os.pipe())
        os.set_blocking(self.reader, False)

    def wrap(self, function):
        def run(*arguments):
            try:
                return 1 if function(*arguments) else 0
            except BaseException as error:  # ctypes would take it for success.
                self.keep(error)
                return 1
        return run

    def keep(self, error):
        if os.getpid() == self.pid:
            self.raised = self.raised or error
            return
        text = "".join(traceback.format_exception(error))
        try:
            data = pickle.dumps((error, text))
            pickle.loads(data)
        except Exception:  # Not everything can be sent.
            data = b""
        if not 0 < len(data) <= PIPE_BUF:
            data = pickle.dumps((RuntimeError(repr(error)[:500]), text[-2000:]))
        os.set_blocking(self.writer, False)
        try:
            os.write(self.writer, data)
        except BlockingIOError:
            pass  # Others have said enough.

    def close(self):
        """What was raised, or None."""
        try:
            data = b"" if self.raised else os.read(self.reader, PIPE_BUF)
        except BlockingIOError:
            data = b""
        os.close(self.reader), os.close(self.writer)
        if data:
            self.raised, text = pickle.loads(data)
            if hasattr(self.raised, "add_note"):
                self.raised.add_note("in a worker:\n" + text)
        return self.raised


class Job:
    """The function of a training, its sizes and its recipe."""

    def __init__(self, gradient, dims, chunks, rows, hessvec=None, watch=None, **recipe):
        self.gradient, self.hessvec, self.watch = gradient, hessvec, watch
        self.sizes = dict(dims=dims, chunks=chunks, rows=rows)
        self.recipe = recipe

    def begin(self, guard):
        """(Recipe, Function, what must live as long)."""
        recipe = _library.Recipe(self.recipe)
        if self.watch:
            watch = guard.wrap(self.watch)
            recipe.listen(watch, None)
        held = GRADIENT(guard.wrap(self.gradient)), self.hessvec and HESSVEC(
            guard.wrap(self.hessvec))
        function = _library.Function(
            gradient=C.cast(held[0], C.c_void_p),
            hessvec=C.cast(held[1], C.c_void_p) if held[1] else None, **self.sizes)
        return recipe, function, held

    def run(self):
        """An Outcome whose model is a Trained."""
        guard = Guard()
        recipe, function, held = self.begin(guard)
        model = _library.Handle(lib.muster_free)
        with recipe, model:
            status, why = try_call(lib.muster_train, recipe.pointer, C.byref(function),
                                   C.byref(model.pointer))
            found, info = None, None
            if model.pointer:
                info = _run.info_of(model)
                found = Trained(lib.muster_weights(model.pointer)[:function.dims], info["hash"],
                                info["steps"], info["objective"], bool(info["converged"]))
        return _run.Outcome(status, why, info, found, guard.close())


def run_apart(job):
    """In a process of its own, which forks the workers."""
    try:
        data, file, sizes = _send.pack(job)
    except (pickle.PicklingError, TypeError, AttributeError, ValueError) as error:
        raise TypeError(
            "the function refers to something that cannot be sent to the process that forks "
            f"the workers: {error}; load it inside the function, or leave out n and listen"
        ) from error
    try:
        import sys
        apart = _run.Apart(("train", sys.path, data, sizes), file)
    finally:
        os.close(file)
    outcome, raised = apart.wait({})
    outcome.raised = raised or outcome.raised
    return outcome


def serve(file, path, data, sizes):
    """The other side of run_apart."""
    import sys
    sys.path[:] = path
    return _send.unpack(data, file, sizes).run()


def train(gradient, *, dims, chunks, rows, hessvec=None, watch=None, **recipe):
    """A Trained: weights, hash, steps, objective, converged.

    gradient(context, w, chunk, g, loss) adds the chunk's gradient to g and its
    loss to loss[0]; recipe: optim, steps, lr, l2, tol, threads, n (workers),
    code, listen, ...  What a function of yours raises is raised here."""
    with _library.Recipe(recipe) as made:  # A mistake in the keys is told here.
        forks = made.forks()
    job = Job(gradient, dims, chunks, rows, hessvec, watch, **recipe)
    outcome = run_apart(job) if forks else job.run()
    raised, info = outcome.raised, outcome.info
    if raised is None and info and info["signal"] == signal.SIGINT:
        raised = KeyboardInterrupt()
    if raised is None and outcome.status:
        raised = error_of(outcome.status, outcome.why)
    if raised is not None:
        raised.model = outcome.model
        raise raised
    return outcome.model


def join(gradient, address, *, dims, chunks, rows, hessvec=None, name=None, **recipe):
    """Be a worker of a train elsewhere that listens at the address."""
    guard = Guard()
    recipe, function, held = Job(gradient, dims, chunks, rows, hessvec, **recipe).begin(guard)
    with recipe:
        status, why = try_call(lib.muster_join, recipe.pointer, C.byref(function),
                               address.encode(), name and name.encode())
    raised = guard.close()
    if raised is not None:
        raise raised
    if status and status != STOPPED:
        raise error_of(status, why)
