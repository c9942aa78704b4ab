"""Our kernels against a plain read and against the peers, in one run.

    bench/kernels.py [dense|sparse|softmax] [ROWS COLUMNS]

numpy, scipy, scikit-learn and torch are used where /usr/bin/python3 has them
(Debian: python3-numpy python3-scipy python3-sklearn python3-torch).  All times
are the best of a few, in milliseconds per gradient of the logistic loss, of
ten classes with softmax.
"""
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "..", "build", "release", "bench", "kernels")
REPEATS = 5
SPARSE_REPEATS = 15  # A pass is longer than a time slice of a busy machine.


def ours(*arguments):
    """{(name, threads): milliseconds} of the C program."""
    text = subprocess.run([PROGRAM, *map(str, arguments)], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    print(text, end="", flush=True)
    times = {}
    for line in text.splitlines():
        name, rest = line[:16].strip(), line[16:].split()
        times[name, int(rest[0])] = float(rest[2])
    return times


def best_of(action, repeats=REPEATS, clock=time.perf_counter):
    action()
    times = []
    for _ in range(repeats):
        begin = clock()
        action()
        times.append(clock() - begin)
    return 1e3 * min(times)


def report(name, threads, milliseconds, mine):
    print(f"{name:28s} {threads} thread{'s' if threads > 1 else ' '} "
          f"{milliseconds:9.2f} ms  ours is {milliseconds / mine:.2f} x faster",
          flush=True)


def dense_peers(rows, columns, threads, mine):
    import numpy as np
    rng = np.random.default_rng(1)
    x = rng.integers(-127, 128, size=(rows, columns), dtype=np.int8)
    x = x.astype(np.float32)
    y = rng.integers(0, 2, rows).astype(np.float32)
    w = (rng.random(columns, dtype=np.float32) - .5) * .02

    def sigmoid(z):
        return 1 / (1 + np.exp(-z))
    report("numpy fp32, two gemv", threads,
           best_of(lambda: (sigmoid(x @ w) - y) @ x), mine)
    try:
        from sklearn._loss.loss import HalfBinomialLoss
        from sklearn.linear_model._linear_loss import LinearModelLoss
        model = LinearModelLoss(base_loss=HalfBinomialLoss(),
                                fit_intercept=False)
        report("scikit-learn fp32", threads,
               best_of(lambda: model.loss_gradient(
                   w, x, y, l2_reg_strength=1.0, n_threads=threads)), mine)
    except ImportError:
        print("scikit-learn: not here")
    try:
        import torch
        torch.set_num_threads(threads)
        xt, yt, wt = map(torch.from_numpy, (x, y, w))
        report("torch fp32, two mv", threads,
               best_of(lambda: torch.mv(
                   xt.t(), torch.sigmoid(torch.mv(xt, wt)) - yt)), mine)
    except ImportError:
        print("torch: not here")


def sparse_peers(rows, columns, per_row, mine):
    """`mine`: {kind: {threads: milliseconds}}.  scipy has one thread only, and
    multiplies by its values whatever they are."""
    import numpy as np
    import scipy.sparse as sp
    rng = np.random.default_rng(1)
    field = columns // per_row
    index = (np.arange(per_row, dtype=np.int32) * field)[None, :] + (
        field * rng.random((rows, per_row), dtype=np.float32) ** 3
    ).astype(np.int32)
    begin = np.arange(0, rows * per_row + 1, per_row, dtype=np.int32)
    for kind in (np.float64, np.float32):
        x = sp.csr_matrix((np.ones(rows * per_row, kind), index.ravel(), begin),
                          shape=(rows, columns))
        y = rng.integers(0, 2, rows).astype(kind)
        w = ((rng.random(columns) - .5) * .02).astype(kind)
        took = best_of(lambda: x.T @ (1 / (1 + np.exp(-(x @ w))) - y),
                       SPARSE_REPEATS)
        for ours_kind, times in sorted(mine.items(), reverse=True):
            for threads in sorted(times):
                report(f"scipy {kind.__name__}; our {ours_kind}", threads,
                       took, times[threads])


def softmax_peers(rows, columns, classes, mine):
    """Loss and gradient of softmax regression, as each would do it; one thread,
    in processor time."""
    import numpy as np
    # Long steps on a machine that others use too.
    many = 2 * REPEATS, time.process_time
    rng = np.random.default_rng(1)
    base = rng.integers(-127, 128, size=(rows, columns), dtype=np.int8)
    y = rng.integers(0, classes, rows)
    for kind in (np.float32, np.float64):
        x = base.astype(kind)
        w = ((rng.random((columns, classes)) - .5) * .002).astype(kind)
        bits = f"fp{8 * np.dtype(kind).itemsize}"

        def numpy_step():
            z = x @ w
            z -= z.max(axis=1, keepdims=True)
            p = np.exp(z)
            s = p.sum(axis=1)
            loss = np.log(s).sum() - z[np.arange(rows), y].sum()
            p /= s[:, None]
            p[np.arange(rows), y] -= 1
            return loss, x.T @ p
        report(f"numpy {bits}, two gemm", 1, best_of(numpy_step, *many), mine)
        try:
            from sklearn._loss.loss import HalfMultinomialLoss
            from sklearn.linear_model._linear_loss import LinearModelLoss
            model = LinearModelLoss(
                base_loss=HalfMultinomialLoss(n_classes=classes),
                fit_intercept=False)
            coef = np.asfortranarray(w.T)
            labels = y.astype(kind)
            report(f"scikit-learn {bits}", 1,
                   best_of(lambda: model.loss_gradient(
                       coef, x, labels, l2_reg_strength=1.0,
                       n_threads=1), *many), mine)
        except ImportError:
            print("scikit-learn: not here")
        try:
            import torch
            torch.set_num_threads(1)
            xt, yt = torch.from_numpy(x), torch.from_numpy(y)
            wt = torch.from_numpy(w).requires_grad_()

            def torch_step():
                wt.grad = None
                torch.nn.functional.cross_entropy(
                    xt @ wt, yt, reduction="sum").backward()
            report(f"torch {bits}, cross_entropy", 1,
                   best_of(torch_step, *many), mine)
        except ImportError:
            print("torch: not here")


def peers(kind, threads, arguments, mine):
    """In a process of its own: thread counts are read at start."""
    environment = dict(os.environ, OPENBLAS_NUM_THREADS=str(threads),
                       OMP_NUM_THREADS=str(threads))
    with open("/proc/cpuinfo", encoding="ascii") as cpuinfo:
        if "avx512f" in cpuinfo.read():
            environment.setdefault("OPENBLAS_CORETYPE", "SkylakeX")
    code = (f"import sys; sys.path.insert(0, {HERE!r}); import kernels; "
            f"kernels.{kind}_peers(*{arguments!r}, {mine!r})")
    if subprocess.run(["/usr/bin/python3", "-c", code], env=environment,
                      check=False).returncode != 0:
        print(f"{kind}: peers could not run")


def main():
    kinds = sys.argv[1:2] or ["dense", "sparse", "softmax"]
    sizes = [int(word) for word in sys.argv[2:4]]
    if "dense" in kinds:
        rows, columns = sizes or (400000, 500)
        times = ours("dense", rows, columns)
        for threads in (1, 2):
            peers("dense", threads, (rows, columns, threads),
                  times["gradient fp32", threads])
    if "sparse" in kinds:
        rows, columns = sizes or (1000000, 200000)
        times = ours("sparse", rows, columns, 45, SPARSE_REPEATS)
        peers("sparse", 1, (rows, columns, 45),
              {kind: {n: times[f"gradient {kind}", n] for n in (1, 2)}
               for kind in ("index", "csr")})
    if "softmax" in kinds:
        rows, columns = sizes or (60000, 784)
        times = ours("softmax", rows, columns, 10, 2 * REPEATS)
        peers("softmax", 1, (rows, columns, 10), times["softmax fp32", 1])


if __name__ == "__main__":
    main()
