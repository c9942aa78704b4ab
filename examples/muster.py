"""libmuster for Python, by ctypes alone: train, join, Group.

Names and meanings are those of muster.h; docs/api.md has the rules.  What a
gradient raises is raised by train, and Ctrl-C is KeyboardInterrupt; the model
so far is the exception's `model` (None if there is none).
"""
import collections
import ctypes as C
import os
import pickle
import signal
import threading
import traceback
import warnings

VERSION = 2
LIBRARY = "libmuster.so.2"
BUILT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                     "build", "release", "src", LIBRARY)


def load():
    """What LD_LIBRARY_PATH or `make install` gives, else what `make` built."""
    try:
        return C.CDLL(LIBRARY)
    except OSError as error:
        if os.path.exists(BUILT):
            return C.CDLL(BUILT)
        raise ImportError(f"{error}; nor is there {BUILT}: run make there, or make install "
                          "and ldconfig, or name its folder in LD_LIBRARY_PATH") from None


lib = load()
GRADIENT = C.CFUNCTYPE(C.c_int, C.c_void_p, C.POINTER(C.c_double), C.c_uint32,
                       C.POINTER(C.c_double), C.POINTER(C.c_double))
KINDS = dict(u=C.c_uint32, q=C.c_uint64, i=C.c_int32, p=C.c_void_p,
             s=C.c_char_p, d=C.c_double, g=GRADIENT)
lib.muster_hash.restype = lib.muster_group_address.restype = C.c_char_p
lib.muster_hash.argtypes = lib.muster_free.argtypes = [C.c_void_p]
lib.muster_weights.restype = C.POINTER(C.c_double)
lib.muster_objective.restype = C.c_double
for name in "weights objective steps converged signal dims".split():
    getattr(lib, "muster_" + name).argtypes = [C.c_void_p]
lib.muster_cancel.argtypes = [C.c_void_p]
STOPPED = 5
PIPE_BUF = 4096  # So much is written to a pipe in one piece.


def struct(name, fields):
    pairs = map(str.split, fields.split(","))
    return type(name, (C.Structure,),
                {"_fields_": [(field, KINDS[kind]) for kind, field in pairs]})


Options = struct("Options", "u version,u dims,u chunks,u steps,q rows,g gradient,"
                 "p hessvec,p watch,p context,s optimiser,d rate,d l2,d tol,"
                 "u threads,u workers,s code,u stragglers,u wanted,s listen,"
                 "s token_file,s folder,s name")
GroupOptions = struct("GroupOptions", "u version,u least,u members_max,u give_up_s,"
                      "q bytes_max,s listen,s token_file,s name")
Info = struct("Info", "u version,i included,q call,u contributed,u members,s who")


Model = collections.namedtuple("Model", "weights hash steps objective converged")


class Error(RuntimeError):
    """What the library says; `status` is that of muster.h."""

    def __init__(self, status, why, model=None):
        super().__init__(f"{status}: {why}")
        self.status, self.model = status, model


class Stopped(Error):
    """A function returned not 0, or a signal came: `model` is that so far."""


def call(function, *arguments):
    """Every function that can fail ends with a buffer for its sentence."""
    why = C.create_string_buffer(512)
    status = function(*arguments, why)
    if status:
        raise Error(status, why.value.decode())


def options(kind, more):
    unknown = set(more) - {field for field, _ in kind._fields_} | {"version"} & set(more)
    if unknown:
        raise TypeError(f"no option named {', '.join(sorted(unknown))}; there are "
                        + ", ".join(field for field, _ in kind._fields_[1:]))
    return kind(VERSION, **{k: v.encode() if isinstance(v, str) else v
                            for k, v in more.items()})


class Guard:
    """A gradient for C: what it raises stops the training, and is kept for
    whoever called, by a pipe if it was raised in a worker's process."""

    def __init__(self, gradient):
        self.gradient, self.pid, self.raised = gradient, os.getpid(), None
        self.reader, self.writer = os.pipe()
        os.set_blocking(self.reader, False)
        self.function = GRADIENT(self.run)

    def run(self, *arguments):
        try:
            return self.gradient(*arguments) or 0
        except BaseException as error:  # ctypes would take it for success.
            self.keep(error)
            return 1

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


def train_here(gradient, more):
    """(status, sentence, Model or None, signal, exception)."""
    guard = Guard(gradient)
    asked, model = options(Options, dict(more, gradient=guard.function)), C.c_void_p()
    why, found, number = C.create_string_buffer(512), None, 0
    status = lib.muster_train(C.byref(asked), C.byref(model), why)
    if model:
        found = Model(lib.muster_weights(model)[:asked.dims], lib.muster_hash(model).decode(),
                      lib.muster_steps(model), lib.muster_objective(model),
                      bool(lib.muster_converged(model)))
        number = lib.muster_signal(model)
        lib.muster_free(model)
    return status, why.value.decode(), found, number, guard.close()


class Apart:
    """train_here in a child made by Python's own fork, in which there are no
    other threads: none that holds the interpreter, none that takes signals."""

    def __init__(self, gradient, more):
        self.reader, writer = os.pipe()
        with warnings.catch_warnings():  # Python warns of what we allow for.
            warnings.simplefilter("ignore", DeprecationWarning)
            self.pid = os.fork()
        if self.pid == 0:
            self.child(writer, gradient, more)
        os.close(writer)

    @staticmethod
    def child(writer, gradient, more):
        try:
            os.setpgid(0, 0)  # Signals come from the parent, once each.
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # No handler of the parent's.
            C.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
            outcome = train_here(gradient, more)
            with os.fdopen(writer, "wb") as file:
                pickle.dump(outcome, file)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)

    def forward(self, number, _=None):
        try:
            os.kill(self.pid, number)
        except ProcessLookupError:
            pass

    def take_signals(self):
        """SIGTERM and SIGHUP are the training's, as in C; what they did."""
        if threading.current_thread() is not threading.main_thread():
            return {}
        return {number: signal.signal(number, self.forward)
                for number in (signal.SIGTERM, signal.SIGHUP)
                if signal.getsignal(number) == signal.SIG_DFL}

    def read(self):
        """(outcome, was it interrupted?); a second Ctrl-C ends it at once."""
        data, times = b"", 0
        while True:
            try:
                piece = os.read(self.reader, 1 << 20)
            except KeyboardInterrupt:
                times += 1
                self.forward(signal.SIGINT if times == 1 else signal.SIGKILL)
                continue
            data += piece
            if not piece:
                return data, times > 0

    def reap(self):
        try:
            os.waitpid(self.pid, 0)
        except ChildProcessError:
            pass  # SIGCHLD is ignored, or a handler was faster: what it sent counts.

    def wait(self):
        before = self.take_signals()
        try:
            data, interrupted = self.read()
        finally:
            os.close(self.reader)
            self.reap()
            for number, action in before.items():
                signal.signal(number, action)
        lost = (10, "the process that trained was killed", None, 0, None)
        return pickle.loads(data) if data else lost, interrupted


def train(gradient, **more):
    """A Model: weights, hash, steps, objective, converged."""
    options(Options, more)  # A TypeError before anything is begun.
    interrupted = False
    if more.get("workers") or more.get("listen"):
        outcome, interrupted = Apart(gradient, more).wait()
    else:
        outcome = train_here(gradient, more)
    status, why, model, number, raised = outcome
    if interrupted or number == signal.SIGINT:
        raised = KeyboardInterrupt()
    if raised is None and status:
        raised = (Stopped if status == STOPPED else Error)(status, why)
    if raised is not None:
        raised.model = model
        raise raised
    return model


def join(gradient, address, **more):
    guard = Guard(gradient)
    asked = options(Options, dict(more, gradient=guard.function))
    try:
        call(lib.muster_join, C.byref(asked), address.encode())
    finally:
        raised = guard.close()
        if raised is not None:
            raise raised


class Group:
    def __init__(self, address=None, **more):
        self.handle, asked = C.c_void_p(), options(GroupOptions, more)
        if address:
            call(lib.muster_group_join, C.byref(asked), address.encode(),
                 C.byref(self.handle))
        else:
            call(lib.muster_group_host, C.byref(asked), C.byref(self.handle))
        self.address = lib.muster_group_address(self.handle).decode()

    def sum(self, values, deadline_s=0.0):
        """The sum of everybody's values, and who is in it."""
        array, info = (C.c_double * len(values))(*values), Info(VERSION)
        arguments = (self.handle, array, C.c_uint64(len(values)), 1,
                     C.c_double(deadline_s), C.byref(info))
        if threading.current_thread() is threading.main_thread():
            self.beside(arguments)
        else:
            call(lib.muster_sum, *arguments)
        return list(array), info

    def beside(self, arguments):
        """In another thread, so that this one hears Ctrl-C."""
        errors = []

        def run():
            try:
                call(lib.muster_sum, *arguments)
            except Error as error:
                errors.append(error)
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        try:
            thread.join()
        except BaseException:
            lib.muster_cancel(self.handle)
            thread.join()
            raise
        if errors:
            raise errors[0]

    def leave(self):
        lib.muster_group_leave(self.handle)
