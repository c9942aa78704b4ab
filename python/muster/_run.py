"""Where a training runs: in this process beside the caller's thread, or, with
workers, in a fresh one that forks them.

A process with threads is no place to fork workers that compute: whatever lock
a thread holds at that moment is held for ever in the child.  So another
interpreter is started (exec, not fork), is given the rows by shared memory,
and forks the workers from there: it has one thread and no history.
"""

import ctypes as C
import os
import pickle
import queue
import select
import signal
import socket
import subprocess
import sys
import threading

from . import _library
from ._data import ArrayFile, apart_from_streams
from ._library import call, lib, try_call


LOOK_S = 0.1  # So often a thread that waits for another looks whether that ends.


class Outcome:
    """What became of a training, as it can be sent: `model` is the library's
    text of it, `card` that of its card."""

    def __init__(self, status, why, info=None, model=None, raised=None, card=None):
        self.status, self.why, self.info = status, why, info
        self.model, self.raised, self.card = model, raised, card


# --- this process ------------------------------------------------------------

class Mailbox:
    """From another thread to one that Ctrl-C may interrupt at any point: an
    item may then be lost, the last word never is."""

    def __init__(self):
        self.items, self.taken, self.last = [], 0, []
        self.wake = queue.SimpleQueue()

    def put(self, item):
        self.items.append(item)
        self.wake.put(None)

    def end(self, word):
        self.last.append(word)
        self.wake.put(None)

    def take(self):
        """The next item, or None: there is a last word."""
        while self.taken >= len(self.items):
            if self.last:
                return None
            self.wake.get()
        self.taken += 1
        return self.items[self.taken - 1]


def beside(work, stop, hooks=None):
    """work() in a thread of its own, so that this one hears Ctrl-C: stop() is
    called, and once work() has ended the exception goes on.  The hooks run
    here, in the caller's thread."""
    if threading.current_thread() is not threading.main_thread():
        return work()
    box = Mailbox()

    def run():
        try:
            box.end((work(), None))
        except BaseException as error:  # Raised again below.
            box.end((None, error))
    if hooks is not None:
        hooks.box = box
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    raised = None
    while True:
        try:
            event = box.take()
            if event is None:
                break
            event()
        except BaseException as error:
            raised = raised or error
            if hooks is not None:
                hooks.ending = True
            stop()
    thread.join()
    result, error = box.last[0]
    if raised or error:
        raise raised or error
    return result


class Hooks:
    """The caller's functions for C: what they raise stops the training and is
    kept.  They run in the thread that called, which the mailbox brings them
    to; once that is ending nobody waits for it."""

    def __init__(self, watch, log):
        self.watch, self.log, self.raised = watch, log, None
        self.box, self.ending = None, False

    def run(self, function, *arguments):
        if self.box is None:
            return self.guarded(function, *arguments)
        done, result = threading.Event(), []

        def event():
            result.append(self.guarded(function, *arguments))
            done.set()
        self.box.put(event)
        while not done.wait(LOOK_S) and not self.ending:
            pass
        return result[0] if result else True

    def guarded(self, function, *arguments):
        """Whether it said stop; that, too, may raise, of an array."""
        try:
            return bool(function(*arguments))
        except BaseException as error:
            self.raised = self.raised or error
            return True

    def on_step(self, step, objective):
        return int(self.raised is not None or self.run(self.watch, step, objective))

    def on_log(self, sentence):
        self.run(self.log, sentence)

    def attach(self, recipe):
        recipe.listen(self.on_step if self.watch else None, self.on_log if self.log else None)


def fit_here(choices, rows, watch=None, log=None, around=beside):
    """(status, sentence, handle or None, info where the handle lacks it)."""
    hooks = Hooks(watch, log)
    model = _library.Handle(lib.muster_free)
    with _library.Recipe(choices) as recipe, rows.open() as data:
        hooks.attach(recipe)

        def work():
            return try_call(lib.muster_fit, recipe.pointer, data.pointer,
                            C.byref(model.pointer))
        status, why = around(work, lambda: lib.muster_stop(recipe.pointer), hooks)
    if hooks.raised is not None:
        raise hooks.raised
    return status, why, model if model.pointer else None, None


def fit_direct(choices, rows, watch, log):
    """The same in the calling thread: for a process that has no other."""
    return fit_here(choices, rows, watch, log, lambda work, *_: work())


TRAINED = ("steps", "evaluations", "objective", "gradient_norm", "seconds", "converged", "signal",
           "hash", "ended", "warning")  # Of muster_info: what a model's text does not hold.


def info_of(model):
    info = _library.Info()
    call(lib.muster_about, model.pointer, C.byref(info))
    found = {name: getattr(info, name) for name, _ in info._fields_[1:]}
    return {k: v.decode() if isinstance(v, bytes) else v for k, v in found.items()}


def write_model(model):
    text, size = C.c_void_p(), C.c_size_t()
    call(lib.muster_write, model.pointer, C.byref(text), C.byref(size))
    try:
        return C.string_at(text, size.value)
    finally:
        lib.muster_text_free(text)


def write_card(model):
    """What is known of its training, JSON; None: nothing."""
    text = C.c_void_p()
    call(lib.muster_card, model.pointer, C.byref(text))
    try:
        return C.string_at(text) if text else None
    finally:
        lib.muster_text_free(text)


def read_model(text, card=None):
    """`card`: of write_card, which the text does not hold."""
    if not isinstance(text, bytes) or not isinstance(card, (bytes, type(None))):
        raise ValueError("the text of a model is bytes, and so is that of its card, or None")
    model = _library.Handle(lib.muster_free)
    call(lib.muster_read, C.cast(C.c_char_p(text), C.c_void_p), len(text),
         C.byref(model.pointer))
    if card is not None:
        call(lib.muster_set_card, model.pointer, card)
    return model


# --- another process ---------------------------------------------------------

def send(link, message):
    data = pickle.dumps(message, protocol=5)
    link.sendall(len(data).to_bytes(8, "little") + data)


def receive(link):
    """The next message; EOFError at the end."""
    def exactly(count):
        parts = []
        while count > 0:
            part = link.recv(min(count, 1 << 20))
            if not part:
                raise EOFError
            parts.append(part)
            count -= len(part)
        return b"".join(parts)
    return pickle.loads(exactly(int.from_bytes(exactly(8), "little")))


class Apart:
    """A job in a process of its own, watched from here."""

    def __init__(self, job, file):
        ours, theirs = (apart_from_streams(end.detach()) for end in socket.socketpair())
        self.link, files, self.passed_on = socket.socket(fileno=ours), [theirs, file], None
        script = os.path.join(_library.HERE, "_helper.py")
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-E", "-s", script, *map(str, files), str(os.getpid())],
                pass_fds=files, stdin=subprocess.DEVNULL, start_new_session=True)
        finally:
            os.close(theirs)
        try:
            send(self.link, job)
        except BrokenPipeError:
            pass  # What became of it is seen below.

    def signal(self, number):
        if self.process.poll() is None:
            self.process.send_signal(number)

    def pass_on(self, number, _):
        self.passed_on = number
        self.signal(number)

    def take_signals(self):
        """SIGTERM and SIGHUP are the training's, as in C; what they did."""
        if threading.current_thread() is not threading.main_thread():
            return {}
        return {number: signal.signal(number, self.pass_on)
                for number in (signal.SIGTERM, signal.SIGHUP)
                if signal.getsignal(number) == signal.SIG_DFL}

    def recv(self, count):
        """As of a socket.  The end of the process is the end, too: a child that
        another thread forked may hold a copy of its side for ever."""
        ready = select.poll()
        ready.register(self.link, select.POLLIN)
        while not ready.poll(LOOK_S * 1000):
            if self.process.poll() is not None and not ready.poll(0):
                return b""
        return self.link.recv(count)

    def read(self, box):
        """The thread that reads: messages, then the outcome."""
        try:
            while True:
                kind, *arguments = receive(self)
                if kind == "outcome":
                    return box.end(arguments[0])
                box.put((kind, arguments))
        except (EOFError, OSError):
            return box.end(self.lost())

    def lost(self):
        """The outcome if it ended without one.  The library has no handler yet, or
        no more, while the interpreter starts and ends: a signal that was passed on
        then ends the process, and did what it was sent for."""
        if self.passed_on and self.process.wait() == -self.passed_on:
            name = signal.Signals(self.passed_on).name
            return Outcome(_library.STOPPED, f"{name} came while no step was under way")
        return Outcome(_library.LOST, "the process that trained was killed")

    def serve(self, handlers):
        """Messages until the outcome.  What a handler raises, and Ctrl-C, ends
        the training at a step boundary; a second Ctrl-C ends it at once."""
        box, raised, times, ending = Mailbox(), None, 0, False
        threading.Thread(target=self.read, args=(box,), daemon=True).start()
        while True:
            try:
                message = box.take()
                if message is None:
                    return box.last[0], raised
                if not ending and handlers[message[0]](*message[1]):
                    ending = True  # A second signal would not wait for the step.
                    self.signal(signal.SIGTERM)
            except BaseException as error:
                again = isinstance(error, KeyboardInterrupt) and times > 0
                times += isinstance(error, KeyboardInterrupt)
                if again or not ending:
                    self.signal(signal.SIGKILL if again else signal.SIGINT)
                raised, ending = raised or error, True

    def wait(self, handlers):
        before = self.take_signals()
        try:
            outcome, raised = self.serve(handlers)
        finally:
            self.link.close()
            self.reap()
            for number, action in before.items():
                signal.signal(number, action)
        return outcome, raised

    def reap(self):
        while True:
            try:
                self.process.wait()
                return
            except KeyboardInterrupt:
                self.signal(signal.SIGKILL)


def fit_apart(choices, rows, watch=None, log=None):
    """As fit_here, with workers."""
    arrays = ArrayFile()
    try:
        places = [arrays.put(array) for array in rows.arrays()]
        what = rows.what[0] if rows.kind == "csr" else rows.what
        plan = (rows.kind, what if rows.kind in ("csr", "file") else None,
                rows.labels is not None, rows.weights is not None)
        job = Apart(("fit", choices, plan, places, bool(watch), bool(log)), arrays.file)
    finally:
        os.close(arrays.file)
    outcome, raised = job.wait({"step": watch, "log": log})
    raised = raised or outcome.raised
    if raised is not None:
        raise raised
    if outcome.info and outcome.info["signal"] == signal.SIGINT:
        raise KeyboardInterrupt
    model = outcome.model and read_model(outcome.model, outcome.card)
    return outcome.status, outcome.why, model, outcome.info
