"""Training on the workers of a Dask cluster, which may come and go meanwhile.

    from muster.dask import LogisticRegression
    model = LogisticRegression().fit(x, y)     # Dask's arrays and frames, or numpy's

A plugin starts `muster join` on every Dask worker, on those that come later, too.
A worker that retires leaves in good order, one that dies is a dead worker like any
other: the model is that of one process, bit for bit.  Rows go through the process
of the client, which sends each worker what it computes on; with fit(private=True)
they stay where Dask has them.
"""

import asyncio
import contextlib
import copy
import fcntl
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

import dask
import distributed
import numpy as np

from . import _library, estimators, model, networks
from ._plugin import ByValue, Joins, said_by

PAUSE_S = 0.2   # After a `muster join` has ended, until the next one ...
PAUSE_MAX_S = 5  # ... at most: where it ends at once, again and again.
LEAVE_S = 10    # In which one that is asked to leaves in good order.
ALONE_S = 120   # Without anybody at the address: the client is gone.
DIAL_S = 75     # Who lives longer had somebody there: `muster join` dials for 60 s.


# --- on any machine of the cluster -------------------------------------------

def program():
    """The program muster: of a source tree, where pip or make install put it, or
    on the PATH."""
    root = os.path.dirname(os.path.dirname(_library.HERE))
    places = [os.path.join(root, "build", "release", "muster")]
    with contextlib.suppress(ImportError):
        from ._place import LIBDIR
        places += [os.path.join(LIBDIR, *up, "bin", "muster") for up in ([".."], ["..", ".."])]
    places.append(os.path.join(os.path.dirname(sys.executable), "muster"))
    found = next(filter(os.path.exists, places), None) or shutil.which("muster")
    if found is None:
        raise FileNotFoundError(f"the program muster is not on {os.uname().nodename}; run pip "
                                "install . or make install there, as on the client's machine")
    return found


def ends_with_us():
    """Words before a command that ends, in good order, when the thread that starts
    it does: a Dask worker may be killed."""
    there = shutil.which("setpriv")
    return [there, "--pdeathsig", "TERM"] if there else []


class Key:
    """Of a token's file; Dask writes the arguments of what fails into its logs."""

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return "<key>"


def last_line(text):
    return ([line for line in text.decode(errors="replace").splitlines() if line.strip()]
            or [""])[-1]


class Folder:
    """Of this process alone; with the key in it, which no command line shows.  Of a
    Dask worker it is in that one's own folder, which Dask clears if it is killed."""

    PREFIX, LOCK = "muster-dask-", "lock"

    def __init__(self, token=None, within=None):
        if within is None:
            self.sweep()
        self.path = tempfile.mkdtemp(prefix=self.PREFIX, dir=within)
        self.lock = open(self.at("new"), "wb")
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        os.rename(self.at("new"), self.at(self.LOCK))  # Nobody sees it unlocked.
        if token is not None:
            with open(self.at("token"), "wb", opener=lambda path, flags: os.open(
                    path, flags | os.O_EXCL, 0o600)) as file:
                file.write(token.text)

    def at(self, name):
        return os.path.join(self.path, name)

    @classmethod
    def sweep(cls):
        """Remove what processes of ours left that were killed."""
        with contextlib.suppress(OSError), os.scandir(tempfile.gettempdir()) as found:
            for entry in found:
                with contextlib.suppress(OSError):
                    if (entry.name.startswith(cls.PREFIX) and
                            entry.is_dir(follow_symlinks=False) and
                            entry.stat(follow_symlinks=False).st_uid == os.geteuid()):
                        with open(os.path.join(entry.path, cls.LOCK), "rb") as lock:
                            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                            shutil.rmtree(entry.path, ignore_errors=True)

    def close(self):
        shutil.rmtree(self.path, ignore_errors=True)
        self.lock.close()


class Join:
    """A `muster join` on this machine, and another one when it ends, as long as
    wanted: several trainings may follow each other at the address.  An owner of rows
    is started again only if it was killed."""

    def __init__(self, address, token, threads, within, again=True, more=()):
        self.command = [*ends_with_us(), program(), "join", address, "--threads", str(threads),
                        "-q", *more]
        self.folder, self.again = Folder(token, within), again
        self.command += ["--token-file", self.folder.at("token")]
        self.ending, self.process, self.said = threading.Event(), None, ""
        self.guard = threading.Lock()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def begin(self):
        with self.guard:
            if self.ending.is_set():
                return None
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE, start_new_session=True)
            return self.process

    def run(self):
        """The status of the last one."""
        try:
            return self.run_all()
        finally:
            self.folder.close()

    def run_all(self):
        """`alone` is for how long nobody was there.  One that was killed while it may
        have dialled still tells nothing of that."""
        pause, status, alone = PAUSE_S, 0, 0
        while not self.ending.is_set() and alone < ALONE_S:
            began = time.monotonic()
            process = self.begin()
            if process is None:
                break
            said = last_line(process.communicate()[1])
            status, lived = process.returncode, time.monotonic() - began
            self.said = said if status else ""
            if status == 0 or lived > DIAL_S:
                alone = 0
            elif status > 0:
                alone += lived
            if not self.again and status >= 0:
                break
            pause = PAUSE_S if lived > 1 else min(2 * pause, PAUSE_MAX_S)
            self.ending.wait(pause)
            alone += pause
        return status

    def stop(self):
        with self.guard:
            self.ending.set()
            process = self.process
        if process is not None and process.poll() is None:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(LEAVE_S)
            process.kill()
        if self.thread.is_alive():
            self.thread.join()


# --- the client ----------------------------------------------------------------

def client_of(given):
    client = given or distributed.default_client()
    if client.asynchronous:
        raise TypeError("this Client is asynchronous, and training waits; make one without "
                        "asynchronous=True")
    return client


def host_of(client):
    """An address of this machine by which the cluster's can reach it."""
    scheduler = client.scheduler.address
    if scheduler.startswith("inproc://"):
        return "127.0.0.1"
    host = distributed.comm.get_address_host(scheduler)
    return host if host.startswith("127.") else distributed.utils.get_ip(host)


def new_token(folder, name=None, cluster=None):
    """A file's path; with a name one that joins under that name alone."""
    path = folder.at(name or "key")
    more = ["--name", name, "--from", cluster] if name else []
    subprocess.run([program(), "token", "new", path, "-q", *more], check=True,
                   stdout=subprocess.DEVNULL)
    return path


def key_in(path):
    with open(path, "rb") as file:
        return Key(file.read())


def free_port(host):
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.bind((host, 0))
        return probe.getsockname()[1]


def in_brackets(host):
    return f"[{host}]" if ":" in host else host


@contextlib.contextmanager
def workers(client=None, address=None, token=None):
    """Every worker of the cluster, at any time, joins whoever trains at the address
    meanwhile: (address, file of the key).

        with muster.dask.workers() as (address, token):
            muster.fit(x, y, listen=address, token_file=token, workers="2:8")
    """
    client, folder = client_of(client), Folder()
    try:
        token = token or new_token(folder)
        if address is None:
            host = host_of(client)
            address = f"{in_brackets(host)}:{free_port(host)}"
        plugin = Joins(address, key_in(token).text)
        name = f"muster-{address}-{os.getpid()}-{id(plugin)}"
        try:
            register(client, plugin, name)
            yield address, token
        except _library.Error as error:
            told = told_by(client, name)
            if told and hasattr(error, "add_note"):
                error.add_note("on Dask's workers muster join said: " + "; ".join(told))
            raise
        finally:
            # Where the scheduler is gone there is nothing to take away.
            with contextlib.suppress(OSError, asyncio.TimeoutError):
                unregister(client, name)
    finally:
        folder.close()


def told_by(client, plugin):
    return sorted({f"{who}: {said}" for who, said in client.run(
        ByValue(said_by), plugin).items() if said})


def named(client, *names):
    """The first of a client's methods that its release has."""
    found = next((name for name in names if hasattr(client, name)), names[-1])
    return getattr(client, found)


def unregister(client, name):
    named(client, "unregister_plugin", "unregister_worker_plugin")(name)


def register(client, plugin, name):
    # Later releases have one name for plugins of all kinds.
    named(client, "register_plugin", "register_worker_plugin")(plugin, name=name)
    if told := told_by(client, name):
        raise RuntimeError(f"a worker of the cluster cannot run muster: {'; '.join(told)}; "
                           "install it on every machine, of the same release as here")


def gathered(client, *parts):
    """Dask's collections as numpy's and pandas'; others as they are."""
    lazy = [part for part in parts if dask.is_dask_collection(part)]
    found = iter(client.gather(client.compute(lazy)))
    return [next(found) if dask.is_dask_collection(part) else part for part in parts]


def count_of(client):
    return max(len(client.scheduler_info()["workers"]), 1)


# --- estimators ------------------------------------------------------------------

class OnDask:
    """An estimator whose workers are the cluster's.  `client` is an attribute, by
    itself Dask's default one; `workers` says how many must have come when the
    training begins (None: as many as there are then), `address` where they join
    (None: a free port of this machine)."""

    client = None

    def __getstate__(self):
        state = dict(vars(self))
        state.pop("client", None)
        return state

    def fit(self, X, y=None, sample_weight=None):
        client = client_of(self.client)
        rows = gathered(client, X, y, sample_weight)
        placed = copy.copy(self)
        with workers(client, self.address, self.token) as (placed.address, placed.token):
            placed.workers = self.workers or count_of(client)
            super(OnDask, placed).fit(*rows)
        self._forget()
        vars(self).update({name: vars(placed)[name] for name in placed._learned()})
        return self

    def _of(self, X, what, width=None):
        """By parts, where they lie, of Dask's collections: lazy, as they are."""
        ask = getattr(super(), what)
        if not dask.is_dask_collection(X):
            return ask(X)
        self._check_fitted()
        kind = self.classes_.dtype if what == "predict" and hasattr(self, "classes_") \
            else np.dtype(np.float64)
        like = np.zeros((0,) if width is None else (0, width), kind)
        told = copy.copy(self)
        if hasattr(X, "map_partitions") and not hasattr(X, "map_blocks"):
            return X.map_partitions(Told(told, what), meta=like)
        X = X.rechunk({axis: -1 for axis in range(1, X.ndim)})
        blocks = Told(told, what)
        if width is None:
            return X.map_blocks(blocks, drop_axis=list(range(1, X.ndim)), meta=like)
        return X.map_blocks(blocks, chunks=(X.chunks[0], (width,)), meta=like)

    def predict(self, X):
        return self._of(X, "predict")

    def score(self, X, y=None, sample_weight=None):
        return super().score(*gathered(client_of(self.client), X, y, sample_weight)) \
            if any(map(dask.is_dask_collection, (X, y, sample_weight))) \
            else super().score(X, y, sample_weight)


class Classes(OnDask):

    def decision_function(self, X):
        count = len(getattr(self, "classes_", ()))
        return self._of(X, "decision_function", count if count > 2 else None)


class Probable(Classes):

    def predict_proba(self, X):
        return self._of(X, "predict_proba", len(getattr(self, "classes_", ())))


class Told:
    """What an estimator says of a part."""

    def __init__(self, estimator, what):
        self.estimator, self.what = estimator, what

    def __call__(self, part):
        return getattr(self.estimator, self.what)(part)


def on_dask(kind):
    base = Probable if hasattr(kind, "predict_proba") else \
        Classes if hasattr(kind, "decision_function") else OnDask
    return type(kind.__name__, (base, kind), {
        "__init__": kind.__init__, "__module__": __name__, "__qualname__": kind.__name__,
        "__doc__": f"{kind.__doc__}\n    On Dask's workers: see muster.dask.OnDask."})


LogisticRegression = on_dask(estimators.LogisticRegression)
SoftmaxClassifier = on_dask(estimators.SoftmaxClassifier)
LinearSVC = on_dask(estimators.LinearSVC)
Ridge = on_dask(estimators.Ridge)
NetClassifier = on_dask(networks.NetClassifier)
NetRegressor = on_dask(networks.NetRegressor)


# --- fit -------------------------------------------------------------------------

def parts_of(x, labels):
    """[(rows, labels)] of a Dask array's or frame's parts, delayed."""
    if not dask.is_dask_collection(x) or not dask.is_dask_collection(labels):
        raise TypeError("private rows and labels are Dask arrays or frames, whose parts stay "
                        "where they are")
    if hasattr(x, "rechunk"):
        x = x.rechunk({axis: -1 for axis in range(1, x.ndim)})
    rows, marks = (np.ravel(part.to_delayed()).tolist() for part in (x, labels))
    if len(rows) != len(marks):
        raise ValueError(f"the rows are in {len(rows)} parts and the labels in {len(marks)}; "
                         "give both the same parts (rechunk, repartition)")
    return list(zip(rows, marks))


OWNED = {}  # Of this process: joins by the address that they are for.


def own(rows, labels, address, token, name):
    """On whichever worker has the part: an owner of it until the training ends.  If
    that worker dies Dask makes the part again elsewhere, with the same bits, and
    its owner is back.  What went wrong is returned, not raised: Dask would write
    the rows, which are arguments, into its logs."""
    distributed.secede()  # It waits; the worker's threads are for others.
    within = distributed.get_worker().local_directory
    folder = Folder(within=within)
    try:
        marks = np.asarray(labels).ravel()
        if marks.dtype.kind not in "fiub":
            return f"{name}: labels of private rows are numbers, and these are {marks.dtype}"
        values = np.asarray(rows)
        if values.dtype.kind not in "fiub" or len(values) != len(marks):
            return f"{name}: rows of {values.dtype} {values.shape}, and {len(marks)} labels"
        np.save(folder.at("rows.npy"), np.ascontiguousarray(values))
        np.save(folder.at("labels.npy"), marks.astype(np.float64))
        join = Join(address, token, 1, within, again=False,
                    more=["--name", name, "--data-private", folder.at("rows.npy"), "--labels",
                          folder.at("labels.npy")])
        OWNED.setdefault(address, []).append(join)
        return f"{name}: {join.said}" if join.run() else None
    except Exception as error:
        return f"{name}: {type(error).__name__}"  # Its words may quote a row.
    finally:
        folder.close()


def release(address):
    """On every worker, once the training is over, however it ended."""
    for join in OWNED.pop(address, ()):
        join.stop()


def flags_of(recipe):
    """As muster.fit takes them; TypeError if there is no such key."""
    with _library.Recipe(recipe):
        pass
    for key, value in recipe.items():
        if value is None or value is False:
            continue
        yield "--" + key.replace("_", "-")
        if value is not True:
            yield _library.text_of(value)


def await_address(process, run, since):
    """Where it listens; None: it has ended.  A folder of before has an address of
    before."""
    path = os.path.join(run, "address")
    while process.poll() is None:
        with contextlib.suppress(FileNotFoundError), open(path) as file:
            text = file.read().strip()
            if text and os.fstat(file.fileno()).st_mtime_ns >= since:
                return text
        time.sleep(0.02)
    return None


def await_end(process, owners):
    """The sentence of an owner that failed before the training was over, or None."""
    while process.poll() is None:
        for owner in owners:
            if owner.status == "error":
                return f"an owner was lost: {owner.exception()}"
            if owner.status == "finished" and process.poll() is None and owner.result():
                return owner.result()
        time.sleep(0.05)
    return None


def fit_private(client, parts, recipe):
    for key in ("save", "listen", "token_file", "token-file", "owners", "workers"):
        if key in recipe:
            raise TypeError(f"{key} is not for private rows here; the Model that comes has save")
    out = recipe.pop("out", None)
    flags, folder = list(flags_of(recipe)), Folder()
    run, made = out or folder.at("run"), folder.at("model")
    try:
        token, since = new_token(folder), time.time_ns() - 10**9
        names = [f"part-{k}" for k in range(len(parts))]
        keys = [key_in(new_token(folder, name, token)) for name in names]
        with open(folder.at("said"), "w+b") as said:
            process = subprocess.Popen(
                [*ends_with_us(), program(), "train", "--owners", str(len(parts)), "--listen",
                 f"{in_brackets(host_of(client))}:0", "--token-file", token, "--out", run,
                 "--save", made, "-q", *flags],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said)
            owners, address, failed = [], None, None
            try:
                address = await_address(process, run, since)
                if address is not None:
                    owners = client.compute([
                        dask.delayed(own, pure=False)(rows, labels, address, key, name)
                        for (rows, labels), key, name in zip(parts, keys, names)])
                failed = await_end(process, owners)
            finally:
                process.terminate()
                process.wait()
                with contextlib.suppress(OSError, asyncio.TimeoutError):
                    client.cancel(owners)
                    if address is not None:
                        client.run(release, address)
            said.seek(0)
            why = failed or last_line(said.read())
        if failed or process.returncode and not os.path.exists(made):
            raise _library.error_of(_library.LOST, why or "the training was killed")
        return model.load(made)
    finally:
        folder.close()


def fit(x, labels=None, weights=None, *, private=False, client=None, **recipe):
    """muster.fit on Dask's workers: a Model.  With private=True rows and labels (which
    are numbers) stay where Dask has them: each part is an owner of its own, and what
    travels is what docs/data.md says of private rows.  `workers`: how many must have
    come at the beginning (None: as many as there are)."""
    client = client_of(client)
    if private:
        if weights is not None:
            raise ValueError("private rows have no weights beside them")
        return fit_private(client, parts_of(x, labels), recipe)
    x, labels, weights = gathered(client, x, labels, weights)
    with workers(client, recipe.pop("listen", None), recipe.pop("token_file", None)) as (
            address, token):
        recipe.setdefault("workers", count_of(client))
        return model.fit(x, labels, weights, listen=address, token_file=token, **recipe)
