"""Time to a relative objective gap, ours against the peers', one thread.

    bench/train.py [covtype|credit|text]... [rows=N]

Everything runs in process with the data in memory: the clock starts at the
call that trains and stops when it returns.  A peer is run with more and more
iterations, or smaller and smaller tolerances, and the first run that is
within the gap counts; of each setting the least CPU time of a few.  Ours ends
by itself at the gap.  Objective of all: |w|^2 / 2 + C sum of losses, C = 1,
no intercept.

covtype: 500,000 x 54 drawn like the forest cover types: ten numbers, four
and forty columns of one category each.  credit: the 20,000 x 219 zeros and
ones of the reference, from shared/data where that is, else drawn like them.
text: 20,000 documents of about 100 words out of 8,000, drawn by Zipf's law,
tf-idf of length 1; sparse rows.  Runs of ours and of LIBLINEAR take turns,
for the machine may have other things to do.
Peers: LIBLINEAR's train() (liblinear-dev), and scikit-learn and torch where
/usr/bin/python3 has them.
"""
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.join(HERE, "..", "build", "release", "bench")
CREDIT = os.path.join(HERE, "..", "..", "shared", "data", "credit_default")
GAPS = (1e-3, 1e-6)
BUDGET_S = 20  # CPU seconds of one run; a peer that needs more is dropped.
MODELS = {"logistic": 0, "svm": 2}  # Ours, and LIBLINEAR's type of it.


# --- data, in this process: numpy is known to be there ----------------------

def one_hot(rng, rows, groups, skew):
    """A column of each group is 1, the first ones more often."""
    import numpy as np
    x = np.zeros((rows, sum(groups)), np.float32)
    first = 0
    for size in groups:
        chosen = (size * rng.random(rows) ** skew).astype(int)
        x[np.arange(rows), first + chosen] = 1
        first += size
    return x


def labelled(rng, x, spread):
    """Labels of a logistic model with weights so large."""
    import numpy as np
    z = x @ rng.normal(size=x.shape[1]) * spread
    z -= np.quantile(z, .6)
    y = np.where(rng.random(len(z)) < 1 / (1 + np.exp(-z)), 1, -1)
    return x, y.astype(np.float32)


def covtype_like(rows):
    import numpy as np
    rng = np.random.default_rng(5)
    x = rng.random((rows, 10), dtype=np.float32) ** 1.3
    x[:, 1] = .5 * x[:, 0] + .5 * x[:, 1]
    x[:, 2] = .8 * x[:, 1] + .2 * x[:, 2]
    x = np.hstack([x.round(4), one_hot(rng, rows, [4, 40], 1.5)])
    return labelled(rng, x, 2.0)


def credit_like(rows):
    import numpy as np
    rng = np.random.default_rng(7)
    groups = [10, 2, 5, 3, 13] + [11] * 6 + [20] * 6
    return labelled(rng, one_hot(rng, rows, groups, 1.7), .5)


def credit(folder, rows):
    """The real one where it is at hand."""
    import numpy as np
    muster = os.environ.get("MUSTER", os.path.join(HERE, "..", "build",
                                                   "muster"))
    if not os.path.isdir(CREDIT):
        print("credit: ../shared/data/credit_default is not here; drawn data")
        return credit_like(rows or 20000)
    stem = os.path.join(folder, "prepared")
    subprocess.run([muster, "data", "prepare", "credit", "--raw", CREDIT,
                    "--to", stem], check=True, stdout=subprocess.DEVNULL)
    with open(stem + "-train.svm", encoding="ascii") as lines:
        fields = [line.split() for line in lines]
    x = np.zeros((len(fields), 219), np.float32)
    y = np.zeros(len(fields), np.float32)
    for i, (label, *columns) in enumerate(fields):
        y[i] = float(label)
        x[i, [int(item.split(":")[0]) - 1 for item in columns]] = 1
    return x, y


def text_like(rows):
    """Two kinds of documents that use the same words unequally often."""
    import numpy as np
    import scipy.sparse as sp
    rng = np.random.default_rng(11)
    cols = 8000
    common = 1 / np.arange(1, cols + 1) ** 1.1
    special = common * np.exp(.5 * rng.normal(size=cols))
    kind = rng.random(rows) < .5
    row = np.repeat(np.arange(rows), rng.poisson(90, rows) + 10)
    word = np.where(kind[row] & (rng.random(len(row)) < .5),
                    rng.choice(cols, len(row), p=special / special.sum()),
                    rng.choice(cols, len(row), p=common / common.sum()))
    x = sp.csr_matrix((np.ones(len(row)), (row, word)), shape=(rows, cols))
    x.sum_duplicates()
    seen = np.asarray((x > 0).sum(0)).ravel()
    x = x.multiply(np.log((1 + rows) / (1 + seen)) + 1).tocsr()
    length = np.sqrt(np.asarray(x.multiply(x).sum(1)).ravel())
    x = (sp.diags(1 / length) @ x).astype(np.float32).tocsr()
    return x, np.where(kind, 1, -1).astype(np.float32)


def write_rows(path, x, y):
    """LIBSVM's text of sparse rows."""
    with open(path, "w", encoding="ascii") as out:
        for i, label in enumerate(y):
            at = slice(x.indptr[i], x.indptr[i + 1])
            out.write(f"{label:+.0f} " + " ".join(
                f"{j + 1}:{v:.9g}" for j, v in zip(x.indices[at], x.data[at]))
                + "\n")


# --- who is within the gap, and when ----------------------------------------

class Judge:
    """Objectives, and the best times of everyone."""

    def __init__(self, x, y, model):
        import numpy as np
        wide = x.astype(np.float64)
        self.xy = (wide * y[:, None] if isinstance(x, np.ndarray)
                   else wide.multiply(y[:, None]).tocsr())
        self.model = model
        self.times = {}

    def objective(self, w):
        import numpy as np
        # The last columns may be in no row.
        w = np.pad(w, (0, self.xy.shape[1] - len(w)))
        margin = self.xy @ w
        losses = (np.logaddexp(0, -margin) if self.model == "logistic"
                  else np.maximum(0, 1 - margin) ** 2)
        return .5 * w @ w + losses.sum()

    def set_optimum(self, w):
        self.best = self.objective(w)

    def gap(self, w):
        return (self.objective(w) - self.best) / self.best

    def note(self, who, w, cpu_s):
        """True if the smallest gap is reached."""
        gap = self.gap(w)
        times = self.times.setdefault(who, {})
        for limit in GAPS:
            if gap <= limit:
                times[limit] = min(cpu_s, times.get(limit, cpu_s))
        return GAPS[-1] in times


def run_program(name, *arguments):
    """(words of the first line, weights) of one of our C programs."""
    import numpy as np
    text = subprocess.run([os.path.join(BUILD, name), *map(str, arguments)],
                          check=True, stdout=subprocess.PIPE, text=True).stdout
    first, rest = text.split("\n", 1)
    return first.split(), np.array(rest.split(), float)


def files_of(folder):
    text = os.path.join(folder, "rows.svm")
    if os.path.exists(text):
        return [text, "-"]
    return [os.path.join(folder, name) for name in ("x.npy", "y.npy")]


def ours(folder, judge, rows):
    files = files_of(folder)
    _, w = run_program("train_ours", *files, judge.model, "newton", 1, 1, 0, 0)
    judge.set_optimum(w)
    for optim in "newton", "lbfgs":
        for gap in GAPS:
            line, w = run_program("train_ours", *files, judge.model, optim, 1,
                                  9, gap, repr(judge.best / rows))
            judge.note(f"muster {optim}", w, float(line[0]))
            print(f"  muster {optim:8s} gap {gap:g}: {1e3 * float(line[0]):.2f}"
                  f" ms cpu, {1e3 * float(line[1]):.2f} ms wall, {line[2]} "
                  f"steps, {line[3]} evaluations ({line[4]} Hessians), "
                  f"{line[6]} rows", flush=True)


def liblinear(folder, judge):
    if not os.path.exists(os.path.join(BUILD, "train_liblinear")):
        print("  LIBLINEAR: not here (Debian: liblinear-dev, then make again)")
        return
    files = files_of(folder)
    kind = MODELS[judge.model]
    for eps in (.3, .1, .03, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5, 1e-6):
        line, w = run_program("train_liblinear", *files, kind, 1, 5, eps)
        took = float(line[0])
        if judge.note(f"LIBLINEAR -s {kind}", w, took) or took > BUDGET_S:
            return


def timed(action, repeats):
    """(what it returns, least CPU seconds)."""
    best = float("inf")
    for _ in range(repeats):
        begin = time.process_time()
        result = action()
        took = time.process_time() - begin
        best = min(best, took)
        if took > 1:  # One run measures that well enough.
            break
    return result, best


def climb(judge, who, train, counts):
    """More and more iterations, until the gap is closed or it takes long."""
    for count in counts:
        w, took = timed(lambda: train(count), 3)
        if judge.note(who, w, took) or took > BUDGET_S:
            return


def scikit_learn(judge, x, y):
    import numpy as np
    import warnings
    import scipy.sparse as sp
    from sklearn.linear_model import LogisticRegression
    warnings.filterwarnings("ignore")
    wide = x.astype(np.float64)
    csr = sp.csr_matrix(wide)

    def fit(solver, rows):
        return lambda count: LogisticRegression(
            C=1, fit_intercept=False, tol=1e-12, max_iter=count,
            solver=solver).fit(rows, y).coef_.ravel().astype(np.float64)
    iterations = (5, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384)
    for solver, kind, rows in (("lbfgs", "fp32", x), ("lbfgs", "fp64", wide),
                               ("lbfgs", "csr", csr)):
        climb(judge, f"scikit-learn {solver} {kind}", fit(solver, rows),
              iterations)
    for kind, rows in ("fp32", x), ("fp64", wide):
        climb(judge, f"scikit-learn newton-cholesky {kind}",
              fit("newton-cholesky", rows), range(2, 10))
    climb(judge, "scikit-learn saga csr", fit("saga", csr), (4, 16, 64))


def torch_lbfgs(judge, x, y):
    import numpy as np
    import torch
    torch.set_num_threads(1)
    rows, target = torch.from_numpy(x), torch.from_numpy((y + 1) / 2)
    loss = torch.nn.functional.binary_cross_entropy_with_logits

    def train(count):
        w = torch.zeros(x.shape[1], requires_grad=True)
        optimiser = torch.optim.LBFGS(
            [w], lr=1, max_iter=count, history_size=10, tolerance_grad=0,
            tolerance_change=0, line_search_fn="strong_wolfe")

        def evaluate():
            optimiser.zero_grad()
            value = .5 * w @ w / len(x) + loss(rows @ w, target)
            value.backward()
            return value
        optimiser.step(evaluate)
        return w.detach().numpy().astype(np.float64)
    climb(judge, "torch LBFGS fp32", train,
          (4, 8, 12, 16, 24, 32, 48, 64, 96, 128))


def table(name, judge):
    mine = {gap: min(times[gap] for who, times in judge.times.items()
                     if who.startswith("muster")) for gap in GAPS}
    print(f"{name}, {judge.model}: CPU ms to a gap of "
          f"{' and '.join(f'{gap:g}' for gap in GAPS)}; times ours")
    for who, times in judge.times.items():
        cells = [f"{1e3 * times[gap]:9.1f} x {times[gap] / mine[gap]:<7.2f}"
                 if gap in times else "  not reached      " for gap in GAPS]
        print(f"  {who:34s} {'  '.join(cells)}", flush=True)


def compare(name, x, y, folder):
    import numpy as np
    np.save(os.path.join(folder, "x.npy"), x)
    np.save(os.path.join(folder, "y.npy"), y)
    for model in MODELS:
        judge = Judge(x, y, model)
        print(f"{name} {x.shape[0]} x {x.shape[1]}, {model}")
        ours(folder, judge, len(x))
        liblinear(folder, judge)
        if model == "logistic":
            for peer in scikit_learn, torch_lbfgs:
                try:
                    peer(judge, x, y)
                except ImportError as missing:
                    print(f"  {peer.__name__}: not here ({missing})")
        table(name, judge)


def turns(folder, judge, rows, gap):
    """Ours and LIBLINEAR's within the gap, one after the other: the ratio of
    their least CPU times."""
    files = files_of(folder)
    eps = next((eps for eps in (.3, .1, .03, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
                if judge.gap(run_program("train_liblinear", *files,
                                         MODELS[judge.model], 1, 1, eps)[1])
                <= gap), None)
    if eps is None:
        return
    mine, other = [], []
    for _ in range(7):
        line, _ = run_program("train_ours", *files, judge.model, "newton", 1,
                              3, gap, repr(judge.best / rows))
        mine.append(float(line[0]))
        line, _ = run_program("train_liblinear", *files, MODELS[judge.model],
                              1, 3, eps)
        other.append(float(line[0]))
    print(f"  gap {gap:g}, taking turns: ours {1e3 * min(mine):.1f} ms, "
          f"LIBLINEAR -e {eps:g} {1e3 * min(other):.1f} ms: "
          f"x {min(other) / min(mine):.2f}", flush=True)


def compare_text(x, y, folder):
    write_rows(os.path.join(folder, "rows.svm"), x, y)
    for model in MODELS:
        judge = Judge(x, y, model)
        print(f"text {x.shape[0]} x {x.shape[1]}, {model}")
        ours(folder, judge, len(y))
        liblinear(folder, judge)
        table("text", judge)
        for gap in GAPS:
            turns(folder, judge, len(y), gap)


def main():
    if not os.path.exists(os.path.join(BUILD, "train_ours")):
        sys.exit("bench/train.py: `make bench BENCH=train` builds what it "
                 "measures with")
    wanted = [word for word in sys.argv[1:] if "=" not in word]
    rows = [int(word[5:]) for word in sys.argv[1:] if word[:5] == "rows="]
    with tempfile.TemporaryDirectory() as folder:
        if not wanted or "credit" in wanted:
            compare("credit", *credit(folder, rows[0] if rows else 0), folder)
        if not wanted or "covtype" in wanted:
            compare("covtype-like", *covtype_like(rows[0] if rows else 500000),
                    folder)
        if not wanted or "text" in wanted:
            compare_text(*text_like(rows[0] if rows else 20000), folder)


if __name__ == "__main__":
    try:
        import numpy  # noqa: F401
    except ImportError:
        if sys.executable == "/usr/bin/python3":
            sys.exit("train: needs numpy (Debian: python3-numpy)")
        os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])
    if "OMP_NUM_THREADS" not in os.environ:  # Read when the libraries load.
        with open("/proc/cpuinfo", encoding="ascii") as cpuinfo:
            if "avx512f" in cpuinfo.read():
                os.environ.setdefault("OPENBLAS_CORETYPE", "SkylakeX")
        os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
        os.execv(sys.executable, [sys.executable, *sys.argv])
    main()
