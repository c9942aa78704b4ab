#!/usr/bin/env python3
"""fit of the Python package against scikit-learn's, at the same objective.

    bench/python.py [dense|text|digits]... [runs=N]

dense: 100,000 x 100 fp64, two classes.  text: 20,000 documents of about 100
words out of 8,000, tf-idf, CSR.  digits: scikit-learn's 1,797 x 64, ten
classes, as they come.  Both sides get the numpy or scipy object and return a fitted
estimator.  The objective is |w|^2/2 + C sum of losses, C = 1, with an
intercept.  scikit-learn runs with its default tolerance and as
many iterations as that takes, Muster with the loosest one whose objective is
no larger (by 1e-8 of it); then the two take turns, and the ratio is that of the
medians.  Processor time with one thread, elapsed time with two, for which the
machine must be quiet.
"""
import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "python"))
GAP = 1e-8
REST_S = .2  # OpenBLAS's threads spin for a while when they have nothing to do.


def dense():
    import numpy as np
    rng = np.random.default_rng(0)
    x = rng.standard_normal((100000, 100))
    z = x @ rng.standard_normal(100) / 5 + .3
    return x, (rng.random(100000) < 1 / (1 + np.exp(-z))).astype(int)


def text():
    sys.path.insert(0, HERE)
    from train import text_like
    x, y = text_like(20000)
    return x.astype(float), y.astype(int)


def digits():
    from sklearn.datasets import load_digits
    x, y = load_digits(return_X_y=True)
    return x, y


def objective(model, x, y):
    import numpy as np
    z = np.asarray(x @ model.coef_.T) + model.intercept_
    if z.shape[1] == 1:
        loss = np.logaddexp(0, -np.where(y == model.classes_[1], 1, -1) * z[:, 0])
    else:
        high = z.max(axis=1)
        loss = high + np.log(np.exp(z - high[:, None]).sum(axis=1)) - \
            z[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    return loss.sum() + (model.coef_ ** 2).sum() / 2


def timed(make, x, y, clock):
    model = make()
    time.sleep(REST_S)
    began = clock()
    model.fit(x, y)
    return clock() - began, objective(model, x, y)


def contenders(threads):
    import muster
    from sklearn.linear_model import LogisticRegression
    ours = [(tol, lambda tol=tol: muster.LogisticRegression(n_jobs=threads, tol=tol))
            for tol in (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10)]
    return ours, lambda: LogisticRegression(max_iter=100000)


def choose(makes, x, y, enough):
    """The loosest that is near enough."""
    for tol, make in makes:
        if timed(make, x, y, time.process_time)[1] <= enough * (1 + GAP):
            return tol, make
    raise SystemExit("no tolerance comes near enough")


def compare(task, threads, runs):
    x, y = globals()[task]()
    clock = time.process_time if threads == 1 else time.perf_counter
    ours, peer = contenders(threads)
    tol, mine = choose(ours, x, y, timed(peer, x, y, clock)[1])
    times = [(timed(mine, x, y, clock)[0], timed(peer, x, y, clock)[0]) for _ in range(runs)]
    mine_s, peer_s = (statistics.median(side) for side in zip(*times))
    print(f"{task:7} {threads} thread{'s' if threads > 1 else ' '}  muster {mine_s * 1e3:7.1f} ms "
          f"(tol {tol:g})  scikit-learn {peer_s * 1e3:7.1f} ms  {peer_s / mine_s:.2f} x", flush=True)


def main(arguments):
    runs = int(next((a[5:] for a in arguments if a.startswith("runs=")), 15))
    tasks = [a for a in arguments if "=" not in a] or ["dense", "text", "digits"]
    if "THREADS" in os.environ:  # A process for each: BLAS is told once.
        for task in tasks:
            compare(task, int(os.environ["THREADS"]), runs)
        return
    for python in sys.executable, "/usr/bin/python3":
        if subprocess.run([python, "-c", "import sklearn"], capture_output=True,
                          check=False).returncode == 0:
            break
    else:
        raise SystemExit("scikit-learn is not here")
    for threads in "1", "2":
        subprocess.run([python, "-W", "ignore", __file__, *arguments], check=True, env=dict(
            os.environ, THREADS=threads, OPENBLAS_NUM_THREADS=threads, OMP_NUM_THREADS=threads))


if __name__ == "__main__":
    main(sys.argv[1:])
