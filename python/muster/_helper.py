"""The process that forks workers: started by _run.Apart, serves one job.

    _helper.py SOCKET MEMORY PARENT

A training on rows needs neither numpy nor the package's estimators, so only
the modules it needs are imported, under the package's name.
"""

import ctypes
import mmap
import os
import signal
import socket
import sys
import traceback
import types

PR_SET_PDEATHSIG = 1


def bare_package():
    """muster without its __init__, which imports numpy."""
    package = types.ModuleType("muster")
    package.__path__ = [os.path.dirname(os.path.abspath(__file__))]
    sys.modules["muster"] = package
    del sys.path[0]  # Its modules are the package's, not the program's.


def hold_streams():
    """No file of the training may be number 0, 1 or 2, which are written to as
    standard streams; those that are closed cannot be written, or read, then as
    before."""
    for number, mode in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_RDONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)  # The lowest number that is free.


def rows_at(plan, places, memory):
    from muster import _data
    kind, what, labelled, weighted = plan
    arrays = [_data.take(memory, place) for place in places]
    weights = arrays.pop() if weighted else None
    labels = arrays.pop() if labelled else None
    if kind == "dense":
        what = arrays[0]
    elif kind == "csr":
        what = (what, *arrays)
    return _data.Rows(kind, what, labels, weights)


def fit(link, memory, choices, plan, places, watched, logged):
    from muster import _run

    def watch(step, objective):
        _run.send(link, ("step", step, objective))

    def log(sentence):
        _run.send(link, ("log", sentence))
    rows = rows_at(plan, places, memory)
    status, why, model, _ = _run.fit_direct(choices, rows, watch if watched else None,
                                            log if logged else None)
    if model is None:
        return _run.Outcome(status, why)
    return _run.Outcome(status, why, _run.info_of(model), _run.write_model(model),
                        card=_run.write_card(model))


def serve(link, file):
    from muster import _run
    kind, *job = _run.receive(link)
    if kind == "fit":
        memory = mmap.mmap(file, 0) if os.fstat(file).st_size else bytearray()
        return fit(link, memory, *job)
    from muster import training
    return training.serve(file, *job)


def main():
    hold_streams()
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != int(sys.argv[3]):
        os._exit(1)  # It died before we could ask to be told.
    link = socket.socket(fileno=int(sys.argv[1]))
    bare_package()
    from muster import _run
    try:
        outcome = serve(link, int(sys.argv[2]))
    except BaseException as error:
        outcome = _run.Outcome(_run._library.LOST, str(error), raised=sendable(error))
    _run.send(link, ("outcome", outcome))
    os._exit(0)


def sendable(error):
    """The exception, or one that can be sent."""
    import pickle
    try:
        pickle.loads(pickle.dumps(error))
        return error
    except Exception:
        return RuntimeError("".join(traceback.format_exception(error)))


if __name__ == "__main__":
    main()
