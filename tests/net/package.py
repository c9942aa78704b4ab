#!/usr/bin/env python3
"""The Python package as a stranger gets it: a fresh virtual environment, pip
install ., two lines; then estimators as programs meet them, and scikit-learn's
own checks of them.

Every program is run by itself, with a time limit that only a hang reaches.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(os.environ["ROOT"])
PYTHON = next((python for python in (sys.executable, "/usr/bin/python3") if subprocess.run(
    [python, "-c", "import numpy"], capture_output=True, check=False).returncode == 0), None)
BARE = {k: v for k, v in os.environ.items() if k not in ("LD_LIBRARY_PATH", "PYTHONPATH")}
HEAD = """
import os, pickle, signal, sys, threading, time, warnings
import numpy as np
import muster
rng = np.random.default_rng(5)
X = rng.normal(size=(600, 12))
Y = (X @ rng.normal(size=12) + rng.normal(size=600) > 0).astype(int)
W = rng.random(600)
MANY = rng.integers(0, 4, 600)
ONE = muster.LogisticRegression(n_jobs=1).fit(X, Y)

def children(pid):
    return [int(p) for p in open(f"/proc/{pid}/task/{pid}/children").read().split()]

def interrupt_later(number=signal.SIGINT):
    # Once the workers of the helper are there.
    def run():
        while not any(len(children(p)) >= 3 for p in children(os.getpid())):
            time.sleep(0.01)
        os.kill(os.getpid(), number)
    threading.Thread(target=run, daemon=True).start()
"""

PROGRAMS = {
    "two lines to a model on four workers, with the hash of one process": """
from muster import LogisticRegression
print(LogisticRegression(workers=4).fit(X, Y).hash_ == ONE.hash_)
""",
    "any layout and type of the same numbers: one hash": """
import scipy.sparse as sp
S = np.round(X * 4)
def h(x, y=Y, **more):
    return muster.LogisticRegression(solver="newton", **more).fit(x, y).hash_
print(len({h(S), h(np.asfortranarray(S)), h(S.astype(np.float32)), h(S.astype(np.int8)),
           h(np.repeat(S, 2, axis=1)[:, ::2]), h(sp.csr_matrix(S)), h(S.tolist()),
           h(S, np.where(Y, "yes", "no")), h(S, Y.astype(bool)), h(S, n_jobs=2),
           h(S, workers=2), h(sp.csr_matrix(S), workers=2), h(np.asfortranarray(S), workers=2)
           }) == 1)
""",
    "broadcast, masked, complex and cut-off values": """
x = np.random.default_rng(0).normal(size=(200, 4))
big = np.full(400, 1.); big[0] = 3.
v = np.broadcast_to(big[:1], 200)
y = (x[:, 0] > 0).astype(float)
print(abs(muster.Ridge().fit(x, v).intercept_ - 3) < 1e-9)
print(muster.LogisticRegression().fit(x, y, sample_weight=v).hash_ ==
      muster.LogisticRegression().fit(x, y, sample_weight=v.copy()).hash_)
print(muster.fit(np.broadcast_to(x[:, :1], (200, 3)), y).hash ==
      muster.fit(np.repeat(x[:, :1], 3, axis=1), y).hash)
def refused(error, *args, **more):
    try:
        muster.fit(*args, **more)
    except error:
        return True
print(refused(ValueError, np.ma.masked_greater(x, 2), y), refused(TypeError, x + 0j, y),
      refused(ValueError, x, y, model="svm\\0junk"), refused(ValueError, "gen:gmm:9,3\\0x"))
""",
    "classes of any whole type, to the ends of its range": """
from muster._estimator import classes_of
def same(y):
    ours, theirs = classes_of(y), np.unique(y, return_inverse=True)
    return ours[0].dtype == theirs[0].dtype and all(map(np.array_equal, ours, theirs))
for t in np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64:
    low, high = np.iinfo(t).min, np.iinfo(t).max
    print(same(np.array([high, low, high], t)), same(np.array([high, high - 2, high], t)),
          same(np.array([low + 2, low, low], t)), same(np.array([100, 3, 100], t)))
print(same(np.array([True, False, True])), same(np.array([False, False])))
for y in np.array([-100, 100], np.int8), np.array([1 << 63, (1 << 64) - 1], np.uint64):
    print(list(muster.LogisticRegression(n_jobs=1).fit(X, y[Y]).classes_) == list(y))
""",
    "arrays go in where they lie": """
from muster._data import rows_of
import scipy.sparse as sp
F, S = np.asfortranarray(X), sp.csr_matrix(X)
r = rows_of(F), rows_of(X[::2, 1:]), rows_of(S), rows_of(X.astype(np.float32))
print(r[0].what.address == F.ctypes.data, r[1].what.address == X[::2, 1:].ctypes.data,
      r[2].what[3].address == S.data.ctypes.data and r[2].what[2].address == S.indices.ctypes.data)
""",
    "the same optimum as scikit-learn: weights, classes, many classes": """
from sklearn import linear_model as sk, svm
def near(a, b):
    return np.allclose(a.coef_, b.coef_, atol=2e-4) and np.allclose(a.intercept_, b.intercept_,
                                                                    atol=2e-4)
how = dict(tol=1e-9, max_iter=5000)
for y in Y, MANY:
    for more in {}, dict(class_weight="balanced"), dict(class_weight={0: 3.0}), dict(C=0.03):
        ours = muster.LogisticRegression(**more).fit(X, y, W)
        print(near(ours, sk.LogisticRegression(**how, **more).fit(X, y, W)))
soft = muster.SoftmaxClassifier().fit(X, MANY)
print(near(soft, sk.LogisticRegression(**how).fit(X, MANY)),
      np.allclose(soft.predict_proba(X).sum(axis=1), 1))
t = X @ np.arange(12.0) + 3 + W
print(near(muster.Ridge(alpha=2.5).fit(X, t, W), sk.Ridge(alpha=2.5, tol=1e-10).fit(X, t, W)))
s = svm.LinearSVC(dual=False, intercept_scaling=1e4, **how).fit(X, Y)
print(np.allclose(muster.LinearSVC().fit(X, Y).coef_, s.coef_, atol=2e-3),
      muster.LinearSVC().fit(X, MANY).coef_.shape == (4, 12))
""",
    "pickled, cloned, saved, shown": """
from sklearn.base import clone
again = pickle.loads(pickle.dumps(ONE))
print(again.hash_ == ONE.hash_ and (again.predict(X) == ONE.predict(X)).all())
print(clone(ONE).get_params() == ONE.get_params())
ONE.save("model.txt")
model = muster.load("model.txt")
print((model.predict(X) == ONE.predict(X)).all(), model.hash == ONE.hash_,
      np.allclose(model.probabilities(X), ONE.predict_proba(X)))
print(ONE.hash_ in ONE._repr_html_(), repr(muster.Ridge(alpha=2)) == "Ridge(alpha=2)")
""",
    "a card beside each model: what it was made of": """
import hashlib, json
net = muster.NetClassifier("dense4 relu dense2", passes=2, batch=64)
def card(path):
    said = json.load(open(path + ".card.json"))
    return said if said["sha256"] == hashlib.sha256(open(path, "rb").read()).hexdigest() else {}
words, rows = np.where(Y, "yes", "no"), set()
for made, y in ((ONE, Y), (pickle.loads(pickle.dumps(ONE)), Y), (muster.LogisticRegression(workers=2).fit(X, Y), Y),
                (net.fit(X, Y), Y),
                (muster.NetClassifier("dense4 relu dense2", passes=2, batch=64, workers=2).fit(X, Y), Y),
                (muster.LogisticRegression().fit(X, words), words)):
    made.save("card.model")
    said = card("card.model")
    rows.add((said["kind"], said["data"]["hash"]))
    print(said["model"] == "card.model", said["hash"] == made.hash_, said["steps"] == made.n_iter_,
          said["exactness"]["bitwise"] == said["steps"], said["data"]["rows"] == 600,
          said["data"]["source"] is None, said["options"]["model"] == said["kind"],
          said["train_metrics"]["accuracy"] == made.score(X, y),
          said["workers"]["joined"] == (made.workers or 0), said.get("net") == made.model_.layers,
          made.model_.card["train_metrics"] == said["train_metrics"])
print(len(rows) == 2)  # A network's columns are scaled.
many = muster.LinearSVC().fit(X, MANY)
many.save("card.model")
print(len(card("card.model")["parts"]) == 4)
loaded = muster.load("card.model")
print(loaded.card is None)
loaded.save("card.model")
print(len(card("card.model")["parts"]) == 4)
ONE.save("card.model")
loaded.save("card.model")
print(not os.path.exists("card.model.card.json"), not os.path.exists("card.model.card.txt"))
open("card.model.card.json", "w").write("notes")
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    ONE.save("card.model")
print("is no card" in str(told[0].message), open("card.model.card.json").read() == "notes",
      muster.load("card.model").hash == ONE.hash_)
""",
    "score takes what fit takes, and nothing is broadcast": """
warnings.simplefilter("ignore")
def refused(f, *args):
    try:
        f(*args)
    except ValueError:
        return True
for model, y in (ONE, Y), (muster.Ridge().fit(X, X[:, 0] + W), X[:, 0] + W):
    right = model.score(X, y)
    print(model.score(X, y.reshape(-1, 1)) == right, model.score(X, [[v] for v in y]) == right,
          right > 0.8, refused(model.score, X, y[:5]), refused(model.score, X, np.c_[y, y]),
          refused(model.score, X, np.full(600, np.nan)), refused(model.score, X, y, W[:5]))
print(refused(muster.fit, X, np.c_[Y, 1 - Y]), refused(muster.fit, X, Y, np.c_[W, W]),
      muster.fit(X, Y.reshape(-1, 1)).hash == muster.fit(X, Y).hash)
""",
    "a fit that fails leaves what was there": """
model = muster.LogisticRegression().fit(X, Y)
before, said = dict(vars(model)), model.predict(X)
def stays(change, *args):
    model.set_params(**change)
    try:
        model.fit(*args)
    except (ValueError, ZeroDivisionError):
        now = {k: v for k, v in vars(model).items() if k.endswith("_")}
        return all(now[k] is before[k] for k in now) and (model.predict(X) == said).all()
print(stays({}, X[:, :3], MANY + 9, W[:5]), stays(dict(code="nosuch"), X, MANY + 9),
      stays(dict(code=None, callback=lambda *_: 1 / 0), X, Y + 7))
model.set_params(callback=None).fit(X, Y + 7)
print(model.classes_.tolist() == [7, 8], not hasattr(model, "loss_curve_"))
""",
    "models and their files have the labels of the training": """
import scipy.sparse as sp
def refused(f, *args):
    try:
        f(*args)
    except (ValueError, muster.Error) as error:
        return True
for y in Y + 1, np.where(Y, "10 %", "9"), Y.astype(bool), MANY * 1.0 - 7, np.where(Y, "é", ""):
    for kind in muster.LogisticRegression, muster.SoftmaxClassifier:
        made = kind(n_jobs=1).fit(X, y)
        made.save("labels.model")
        said = made.predict(X)
        print((made.model_.predict(X) == said).all(),
              (muster.load("labels.model").predict(X) == said).all(),
              (made.model_.predict(sp.csr_matrix(X)) == said).all(),
              (pickle.loads(pickle.dumps(made)).model_.predict(X) == said).all())
print(refused(muster.LogisticRegression().fit(X, Y + (1 << 60)).save, "none.model"),
      refused(muster.LogisticRegression().fit(sp.csr_matrix(X), np.where(Y, "a", "b")).save,
              "none.model"), not os.path.exists("none.model"))
open("data.csv", "w").write("1,2")
for name in "m.pkl", "m.npy", "m.json", "m.CSV", "m.joblib":
    print(refused(ONE.save, name), refused(ONE.model_.save, name), not os.path.exists(name))
print(refused(ONE.save, "data.csv"), open("data.csv").read() == "1,2",
      open("empty.model", "w").close() is None, ONE.save("empty.model") is None)
""",
    "columns of a frame are known by their names (pandas)": """
import pandas as pd
def refused(f, *args):
    try:
        f(*args)
    except ValueError:
        return True
names = [f"column {i}" for i in range(12)]
frame = pd.DataFrame(X, columns=names)
other = frame.iloc[:, ::-1].assign(more=1)
made = muster.LogisticRegression(workers=2).fit(frame, pd.Series(Y + 3, name="kind"))
made.save("names.model")
said = made.predict(frame)
for model in made.model_, muster.load("names.model"), muster.fit(frame, Y + 3, accuracy=1e-10,
                                                              l2=1 / 1200):
    print((model.predict(other) == said).all(), (model.predict(X) == said).all(),
          model.columns == names, refused(model.predict, other.drop(columns="column 3")))
print(muster.load("names.model").hash == made.hash_, "kind" in open("names.model").read(),
      muster.load("names.model").classes_.tolist() == [3, 4])
""",
    "rows of a file are judged as arrays are (scipy)": """
import scipy.sparse as sp
def refused(word, f, *args):
    try:
        f(*args)
    except (ValueError, muster.Error) as error:
        return word in str(error)
def csv(name, labels, head=""):
    with open(name, "w") as out:
        out.write(head + "".join(",".join(map(repr, map(float, row))) + f",{y}\\n"
                                 for row, y in zip(X, labels)))
    return name
def near(a, b):
    return np.allclose(a, b, rtol=0, atol=1e-5)
for kind in muster.LogisticRegression, muster.SoftmaxClassifier, muster.LinearSVC:
    for y in Y, Y + 3.0, np.where(Y, "yes", "no"):
        path, made = csv("rows.csv", y), kind().fit(X, y)
        print((made.predict(path) == made.predict(X)).all(), made.score(path) == made.score(X, y),
              made.score(path, y) == made.score(X, y),
              near(made.decision_function(path), made.decision_function(X)),
              (made.model_.predict(path) == made.predict(X)).all())
        if hasattr(made, "predict_proba"):
            print(near(made.predict_proba(path), made.predict_proba(X)),
                  near(made.model_.probabilities(path), made.predict_proba(X)))
t = X @ np.arange(12.0)
path, made = csv("numbers.csv", t), muster.Ridge().fit(X, t)
print(near(made.predict(path), made.predict(X)), near(made.score(path), made.score(X, t)))
with open("rows.svm", "w") as out:
    for row, y in zip(X, Y):
        out.write(f"{y} " + " ".join(f"{j + 1}:{v!r}" for j, v in enumerate(map(float, row))) + "\\n")
made = muster.LogisticRegression().fit(sp.csr_matrix(X), Y)
print((made.predict("rows.svm") == made.predict(X)).all(), made.score("rows.svm") == made.score(X, Y))
trained = muster.fit(csv("rows.csv", np.where(Y, "yes", "no")))
print((trained.predict("rows.csv") == trained.predict(X)).all(),
      (trained.truth("rows.csv") == np.where(Y, "yes", "no")).all())
print(refused("none.csv", ONE.predict, "none.csv"), refused("row 0", ONE.score, csv("rows.csv", Y + 7)),
      refused("not fitted", muster.Ridge().predict, "rows.csv"))
""",
    "one class against the rest is one model, in LIBLINEAR's file (scipy)": """
import scipy.sparse as sp, shutil, subprocess
def same(a, b):
    return np.array_equal(a, b)
for x in X, sp.csr_matrix(X):
    for y in MANY, MANY * 2.0 - 7, np.array(list("abcd"))[MANY]:
        if sp.issparse(x) and y.dtype.kind == "U":
            continue
        made = muster.LinearSVC().fit(x, y)
        made.save("rest.model")
        read = muster.load("rest.model")
        print(same(made.predict(x), read.predict(x)), same(read.weights, made.model_.weights),
              same(pickle.loads(pickle.dumps(made)).model_.predict(x), made.predict(x)),
              same(made.classes_, read.classes_), read.kind == "svm", read.outputs == 4,
              np.allclose(read.scores(x), made.decision_function(x), rtol=0, atol=1e-5),
              made.hash_ == muster.LinearSVC(workers=2).fit(x, y).hash_)
made = muster.LinearSVC().fit(sp.csr_matrix(X), MANY)
made.save("rest.model")
with open("rest.svm", "w") as out:
    for row, y in zip(X, MANY):
        out.write(f"{y} " + " ".join(f"{j + 1}:{v!r}" for j, v in enumerate(map(float, row))) + "\\n")
print(same(made.predict("rest.svm"), made.predict(X)))
if shutil.which("liblinear-predict"):
    subprocess.run(["liblinear-predict", "rest.svm", "rest.model", "rest.said"], check=True,
                   stdout=subprocess.DEVNULL)
    print(same(np.loadtxt("rest.said"), made.predict(X)))
""",
    "muster.fit takes words as labels, and refuses numbers that are not exact": """
import scipy.sparse as sp
words = np.where(Y, "yes", "no")
def refused(f, *args, **more):
    try:
        f(*args, **more)
    except ValueError as error:
        return True
model = muster.fit(X, words)
print((model.predict(X) == np.where(muster.fit(X, Y).predict(X), "yes", "no")).all(),
      (muster.fit(X, words.astype(object), n=2).predict(X) == model.predict(X)).all(),
      muster.cross_validate(X, words) == muster.cross_validate(X, Y),
      refused(muster.fit, sp.csr_matrix(X), words), refused(muster.fit, X, Y + (1 << 60)),
      refused(muster.fit, X, words, model="linear"),
      refused(muster.cross_validate, X, words, model="linear"))
""",
    "sentences have the words of Python": """
def said(f, *args, **more):
    try:
        f(*args, **more)
    except (ValueError, TypeError, AttributeError, muster.Error) as error:
        return str(error)
for change, word in ((dict(workers=-1), "workers -1"), (dict(max_iter=-3), "max_iter -3"),
                     (dict(solver="foo"), "solver foo"), (dict(tol=-1), "tol -1"),
                     (dict(code="frc"), "add workers=N"), (dict(code="stel"), "stel"),
                     (dict(address="127.0.0.1:0"), "address needs token"),
                     (dict(solver="sgd", workers=2), "leave out workers and address")):
    print(word in said(muster.LogisticRegression(**change).fit, X, Y))
print("recipe={'lr'" in said(muster.Ridge(solver="sgd").fit, X * 100, Y),
      "folds 1000" in said(muster.cross_validate, X, Y, folds=1000),
      "cross-validation runs" in said(muster.cross_validate, X, Y, n=2))
for key, hint in dict(C="cost", n_jobs="threads", sample_weight="weights", cv="cross_validate",
                      token_fil="token_file").items():
    print(f"called {key};" in said(muster.fit, X, Y, **{key: 1}), hint in said(muster.fit, X, Y, **{key: 1}))
print("probabilities" in said(lambda: getattr(ONE.model_, "predict_proba")))
print("Ridge() got" in said(muster.Ridge, C=1), "LinearSVC() got" in said(muster.LinearSVC, k=1),
      "listen needs token_file" in said(muster.fit, X, Y, listen="127.0.0.1:0", workers=1),
      "time was over" in said(muster.fit, X, Y, max_time=1e-6, optim="gd", steps=100000000,
                              accuracy=0))
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    muster.LogisticRegression(max_iter=1).fit(X, Y)
    muster.LogisticRegression(solver="sgd", max_iter=2).fit(X, Y)
print(len(told) == 1, "raise max_iter (1)" in str(told[0].message), muster.__version__[0].isdigit())
""",
    "columns by lists are those of the same text with commas": """
open("t.csv", "w").write("id,day,a,y\\n" + "".join(
    f"{i},2020-01-0{i % 7 + 1},{i % 5},{int(i % 5 + i % 3 > 2)}\\n" for i in range(40)))
text = muster.fit("t.csv", drop="id,day")
for names in ["id", "day"], ("id", "day"), [1, ":2"]:
    print(muster.fit("t.csv", drop=names).hash == text.hash)
try:
    muster.fit("t.csv", drop=["id,day"])
except ValueError as error:
    print("comma" in str(error))
""",
    "a parameter of another type is an error that names it": """
def named(word, f, *args, **more):
    try:
        f(*args, **more)
    except (ValueError, TypeError) as error:
        return word in str(error)
for change in (dict(fit_intercept="no"), dict(fit_intercept=None), dict(random_state="a"),
               dict(random_state=-1), dict(token="key"), dict(C="1"), dict(C=None), dict(C=0),
               dict(C=np.nan), dict(recipe="x"), dict(callback=1), dict(class_weight={0: "a"}),
               dict(class_weight={0: None}), dict(tol="x"), dict(tol=1), dict(tol=2.0),
               dict(max_iter="5"), dict(max_iter=2.5), dict(max_iter=0), dict(workers="2"),
               dict(workers=True), dict(solver=3)):
    print(named(next(iter(change)), muster.LogisticRegression(**change).fit, X, Y))
for value in [1, 2], None, "1", -1:
    print(named("alpha", muster.Ridge(alpha=value).fit, X, Y))
print(named("names no port", muster.LogisticRegression(address="localhost", token="key").fit, X, Y),
      named("names no port", muster.fit, X, Y, listen="127.0.0.1:0", token_file="key", workers=1))
for f in muster.LogisticRegression().fit, muster.Ridge().fit:
    print(named("muster.fit('plain.csv'", f, "plain.csv"), named("muster.fit(", f, "plain.csv", Y))
""",
    "edited weights are not saved as if they were the model's (pandas)": """
import pandas as pd
def refused(f, *args):
    try:
        f(*args)
    except ValueError as error:
        return "no longer what was learned" in str(error)
open("rows.csv", "w").write("".join(",".join(map(str, row)) + ",1\\n" for row in X.tolist()))
for kind, y in ((muster.LogisticRegression, Y), (muster.LogisticRegression, MANY),
                (muster.LinearSVC, MANY), (muster.Ridge, X[:, 0])):
    for more in {}, dict(fit_intercept=False):
        made = kind(**more).fit(X, y)
        made.save("m.model")
        print(made.predict("rows.csv").shape == (600,))
        made.coef_ = made.coef_ * 2
        print(refused(made.save, "m.model"), refused(made.predict, "rows.csv"))
        made.fit(X, y).intercept_ = made.intercept_ + 1
        print(refused(made.save, "m.model"))
svc = muster.LinearSVC(fit_intercept=False).fit(X, Y)
print(svc.intercept_ == 0 and type(svc.intercept_) is float)
Z = pd.DataFrame(X, columns=list("abcdefghijkl"))
Z.loc[3, "c"] = np.nan
for f in muster.LogisticRegression().fit, muster.fit:
    try:
        f(Z, Y)
    except ValueError as error:
        print("row 3, column 'c'" in str(error))
""",
    "unknown keywords and bad values are errors": """
def refused(kind, f, *args, **more):
    try:
        f(*args, **more)
    except kind as error:
        return True
print(refused(TypeError, muster.LogisticRegression, penalty="l1"),
      refused(TypeError, muster.fit, X, Y, penalty="l1"),
      refused(ValueError, muster.fit, X, Y, model="nosuch"),
      refused(ValueError, muster.fit, X, Y, solver="lbfgs"),
      refused(muster.Error, ONE.model_.predict, "test.csv"),
      refused(ValueError, muster.LogisticRegression(C=-1).fit, X, Y),
      refused(ValueError, muster.LogisticRegression(code="nosuch", workers=2).fit, X, Y),
      refused(ValueError, muster.LogisticRegression().fit, np.full((9, 2), np.nan), [0, 1, 1] * 3),
      refused(ValueError, muster.Ridge().set_params, beta=1))
""",
    "damaged pickles, closed models, numbers out of range: exceptions": """
model = muster.fit(X, Y)
text, info, card = model.__getstate__()
def refused(kind, f, *args, **more):
    try:
        f(*args, **more)
    except kind:
        return True
class Fake:
    def __init__(self, state):
        self.state = state
    def __reduce__(self):
        return muster.Model.__new__, (muster.Model,), self.state
def read(*state):
    return pickle.loads(pickle.dumps(Fake(state)))
lies = read(text, dict(info, dims=1 << 40, classes=1 << 30, outputs=99, features=7, kind="svm"), None)
print((lies.weights == model.weights).all(), lies.classes_.tolist() == [0, 1],
      (lies.predict(X) == model.predict(X)).all(), lies.steps == model.steps)
short = {k: v for k, v in info.items() if k != "steps"}
other = muster.fit(X, 1 - Y).__getstate__()
for state in ((text[:99], info, card), (text, short, card), (text, dict(info, steps="x"), card), (text, None, card),
              (None, info, card), (text, info), (b"", info, card), (text, dict(info, hash=3), card), (7, info, card),
              (text, dict(info, steps=-1), card), (text, dict(info, evaluations=-1), card),
              (text, dict(info, hash="0" * 64), card), (other[0], info, None), (text, info, other[2]),
              (text, info, b"{}"), (text, info, 7), (text, info, card[:-1])):
    print(refused(pickle.UnpicklingError, read, *state))
model.close()
print(refused(ValueError, lambda: model.weights), refused(ValueError, lambda: model.classes_),
      refused(ValueError, model.predict, X), refused(ValueError, lambda: model.columns),
      refused(ValueError, model.save, "x.model"), refused(ValueError, pickle.dumps, model))
none = lambda *_: None
print(refused(ValueError, muster.train, none, dims=2**32 + 1, chunks=1, rows=1),
      refused(ValueError, muster.train, none, dims=1, chunks=2**32 + 1, rows=1, n=1),
      refused(ValueError, muster.Group, least=2**32 + 1),
      refused(ValueError, muster.cross_validate, X, Y, folds=2**32 + 5),
      refused(ValueError, muster.fit, np.empty((0, 3)), np.empty(0), n=2))
""",
    "a model, or a group, that is closed while a thread is in C with it": """
def raised(kind, f, *args):
    try:
        f(*args)
    except kind as error:
        return error
wide = np.zeros((4, 1 << 18))  # Weights of that size go back to the system when freed.
wide[1::2] = 1
model = muster.fit(wide, [0, 1, 0, 1])
with open("rows.csv", "w") as out:
    for row in wide.astype(int).astype(str):
        out.write(",".join(row) + ",0\\n")
os.mkfifo("pipe.csv")
said = []
thread = threading.Thread(target=lambda: said.append(model.scores("pipe.csv")[:, 0] > 0))
thread.start()
with open("pipe.csv", "wb") as out:  # Once the library has it open, too.
    model.close()
    out.write(open("rows.csv", "rb").read())
thread.join()
print(said[0].tolist() == [False, True, False, True], bool(raised(ValueError, model.scores, wide)))
host = muster.Group()
kept = raised(muster.Error, host.sum, [1.0], -1.0)  # Its traceback must not keep the group.
host.leave()
print(bool(kept), bool(raised(muster.Error, lambda: muster.Group(host.address, give_up_s=1))),
      bool(raised(ValueError, host.sum, [1.0])))
""",
    "whatever a function returns, nothing is printed": """
import io, contextlib
told = []
sys.unraisablehook = lambda what: told.append(what)
def refused(kind, f, *args, **more):
    try:
        f(*args, **more)
    except kind:
        return True
def bowl(result):
    def gradient(_, w, chunk, g, loss):
        g[0], loss[0] = w[0] - chunk, (w[0] - chunk) ** 2 / 2
        return result
    return gradient
job = dict(dims=1, chunks=2, rows=2)
for n in None, 1:
    print(refused(ValueError, muster.fit, X, Y, n=n, watch=lambda *_: np.ones(3)),
          refused(muster.Stopped, muster.fit, X, Y, n=n, watch=lambda *_: "yes", optim="gd",
                  steps=100000000),
          muster.fit(X, Y, n=n, watch=lambda *_: "").steps > 0,
          refused(muster.Stopped, muster.train, bowl("yes"), n=n, **job),
          refused(ValueError, muster.train, bowl(np.ones(3)), n=n, **job),
          muster.train(bowl(np.zeros(1)), n=n, **job).converged)
print(muster.fit(X, Y, log=lambda *_: np.ones(3)).steps > 0,
      refused(ValueError, muster.LogisticRegression(callback=lambda *_: np.ones(3)).fit, X, Y),
      not told)
""",
    "what is no number is named with its column (pandas)": """
import pandas as pd
def said(x, y=(0, 1, 0, 1), kind=muster.LogisticRegression):
    words = []
    for f in kind().fit, muster.fit:
        try:
            f(x, y)
        except (TypeError, ValueError) as error:
            words.append(str(error))
    return words
frame = pd.DataFrame({"a": [1, 2, 3, 4], "b": pd.array([1, None, 2, 3], dtype="Int64"),
                      "when": pd.to_datetime(["2020-01-01"] * 4), "word": list("abcd")})
for columns, name, advice in (["a", "b"], "b", "fillna"), (["a", "when"], "when", "dt.year"), (
        ["when"], "when", "dt.year"), (["a", "word"], "word", "get_dummies"):
    for text in said(frame[columns]):
        print(f"column {name!r}" in text, advice in text)
print(all("column 1" in text for text in said(np.array([[1, 'x']] * 4))))
print(muster.LogisticRegression().fit(frame[["b"]].fillna(0), [0, 1, 0, 1]).n_iter_ > 0)
for y in pd.array([0, None, 1, 1], dtype="Int64"), np.array([0, None, 1, 1], dtype=object):
    print("leave them out" in said(frame[["a"]], y)[0])
print("several types" in said(frame[["a"]], np.array([0, "a", 1, 1], dtype=object))[0],
      "y holds" in said(frame[["a"]], frame.when, muster.Ridge)[0])
""",
    "rows with words for a model of a file with words: the advice works (pandas)": """
import pandas as pd, tempfile
os.chdir(tempfile.mkdtemp())
frame = pd.DataFrame({"colour": ["red", "black", "blue"] * 20, "size": np.arange(60) % 7.0})
frame.assign(y=np.where(frame.colour == "red", "no", "yes")).to_csv("t.csv", index=False)
model = muster.fit("t.csv")
for x in frame, frame.to_numpy(), pd.get_dummies(frame):
    try:
        print(model.predict(x))
    except ValueError as error:
        print("predict('rows.csv')" in str(error) and "get_dummies" not in str(error) or error)
frame.to_csv("rows.csv", index=False)  # As it says.
print(model.predict("rows.csv").tolist() == ["no", "yes", "yes"] * 20)
try:  # Of a model that encodes nothing the old advice holds.
    muster.fit(frame[["size"]].to_numpy(), [0, 1] * 30).predict(frame[["colour"]])
except ValueError as error:
    print("get_dummies" in str(error))
""",
    "long labels of files are refused or words; whole ones that become classes are told": """
import tempfile
os.chdir(tempfile.mkdtemp())
def told(f):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        f()
    return [str(w.message) for w in caught]
def refused(*a, **k):
    try:
        return muster.fit(*a, **k).classes_
    except (ValueError, muster.Error) as error:
        return "2^53" in str(error) or error
ids = np.array([76561198000000001, 76561198900000003] * 300)
np.savez("z.npz", x=X, y=ids)
np.save("i.npy", np.column_stack([np.arange(600), ids]))
np.savetxt("t.csv", np.column_stack([np.arange(600) % 2, ids]), "%d", ",", header="a,y", comments="")
print(*[refused(name) for name in ("i.npy", "z.npz", "t.csv")], refused(X, ids), refused(X, ids.astype(float)))
print(muster.fit("t.csv", categorical="auto,y").classes_.tolist() == sorted(map(str, set(ids.tolist()))))
(said,) = told(lambda: muster.fit(X, MANY))
print("the 4 whole labels are taken for classes" in said and "model='linear'" in said)
print(told(lambda: muster.fit(X, MANY, model="softmax")) == told(lambda: muster.fit(X, MANY.astype(str))) ==
      told(lambda: muster.fit(X, Y)) == told(lambda: muster.LogisticRegression().fit(X, MANY)) == [])
""",
    "a recipe cannot contradict the parameters, and predictions are the model's": """
def refused(word, make=muster.LogisticRegression, **recipe):
    try:
        make(recipe=recipe).fit(X, Y)
    except ValueError as error:
        return word in str(error)
net = lambda recipe: muster.NetClassifier("dense2", passes=1, recipe=recipe)
print([refused("said by passes", net, passes=2), refused("said by passes", net, epochs=2),
       refused("said by batch", net, batch_size=9), refused("said by batch", net, minibatch=9),
       refused("said by lr", net, lr=.1), refused("said by lr", net, learning_rate=.1),
       refused("said by max_iter", epochs=2), refused("said by solver", net, optimiser="gd")] == [True] * 8)
print(refused("fit_intercept", no_intercept=True), refused("fit_intercept", bias=-1),
      refused("fit_intercept", B=-1), refused("tol", eps=1e-3), refused("the class", model="svm"),
      refused("C or alpha", l2=1), refused("class_weight", class_weight="balanced"),
      refused("solver", optim="gd"), refused("reading", scale="standard"),
      refused("of LinearSVC", loss="hinge"))
try:
    muster.LinearSVC(recipe={"out": "folder"}).fit(X, MANY)
except ValueError as error:
    print("each of 4 classes" in str(error), not os.path.exists("folder"))
for more in {}, dict(fit_intercept=False), dict(recipe={"storage": "f64"}):
    m = muster.LogisticRegression(**more).fit(X + 1, Y)
    print(np.allclose(m.decision_function(X), m.model_.scores(X)[:, 0], atol=1e-5))
""",
    "n_jobs and random_state are scikit-learn's": """
def refused(word, f, *args):
    try:
        f(*args)
    except (ValueError, TypeError) as error:
        return word in str(error)
L = muster.LogisticRegression
for jobs in 1, 2, -1, -2, -99, None, np.int64(1):
    print(L(n_jobs=jobs).fit(X, Y).hash_ == ONE.hash_)
for jobs in 0, 1.5, "all", True:
    print(refused("n_jobs", L(n_jobs=jobs).fit, X, Y))
sgd = dict(solver="sgd", max_iter=3)
warnings.simplefilter("ignore")
def drawn(state):
    return L(random_state=state, **sgd).fit(X, Y).hash_
print(drawn(3) == drawn(3) == L(random_state=3, n_jobs=2, **sgd).fit(X, Y).hash_, drawn(3) != drawn(4),
      drawn(np.random.RandomState(5)) == drawn(np.random.RandomState(5)),
      drawn(np.random.default_rng(5)) == drawn(np.random.default_rng(5)),
      refused("random_state", drawn, "x"), L(random_state=9).fit(X, Y).hash_ == ONE.hash_,
      refused("random_state", L(recipe={"seed": 3}).fit, X, Y),
      refused("n_jobs", L(recipe={"threads": 3}).fit, X, Y), refused("unexpected", lambda: L(threads=1)))
""",
    "tol is that of the solver": """
warnings.simplefilter("ignore")
rough, fine = (muster.LogisticRegression(solver="agd", tol=tol).fit(X, Y) for tol in (1e-2, 1e-4))
print(rough.model_.gradient_norm <= 1e-2, fine.model_.gradient_norm <= 1e-4,
      rough.n_iter_ < fine.n_iter_, muster.LogisticRegression(tol=1e-10).fit(X, Y).hash_ == ONE.hash_)
print(muster.LogisticRegression(solver="sgd").fit(X, Y).n_iter_ == 100, rough.max_iter is None,
      abs(muster.LogisticRegression(solver="sgd").fit(X, Y).objective_ / ONE.objective_ - 1) < 0.01)
for more in dict(solver="sgd", tol=1e-4), dict(solver="gd", tol=1e-4, recipe={"tol": 1}):
    try:
        muster.LogisticRegression(**more).fit(X, Y)
    except ValueError as error:
        print("tol" in str(error))
""",
    "by LIBLINEAR's keys objective and gradient are LIBLINEAR's": """
m = muster.fit(X, Y, model="logistic", cost=2.0)
w, s = m.weights[0], np.where(Y, 1, -1)
z = s * (X @ w)
print(np.isclose(m.objective, w @ w / 2 + 2 * np.logaddexp(0, -z).sum(), rtol=1e-6),
      np.isclose(m.gradient_norm, np.linalg.norm(w - 2 * (s / (1 + np.exp(z))) @ X), rtol=1e-3))
""",
    "weights of classes: slips are told, those of one against the rest are LIBLINEAR's": """
from sklearn import svm
def said(word, given):
    try:
        muster.LogisticRegression(class_weight=given).fit(X, Y)
    except ValueError as error:
        return word in str(error)
print(said("no class 7", {7: 3.0}), said("no class 7", {0: 1, 7: 3.0}), said("above 0", {0: 0, 1: 0}),
      said("0 or more", {0: -1}), said("0 or more", {0: np.nan}))
print(muster.LogisticRegression(class_weight={0: 1, 1: 1, 7: 3.0}).fit(X, Y).hash_ ==
      muster.LogisticRegression().fit(X, Y, np.ones(600)).hash_)
for given in None, {0: 3.0}, {0: 3.0, 1: 0.2, 2: 2, 3: 1}, "balanced":
    for weight in None, W:
        how = dict(fit_intercept=False, class_weight=given)
        ours = muster.LinearSVC(tol=1e-14, **how).fit(X, MANY, weight)
        theirs = svm.LinearSVC(dual=False, tol=1e-12, max_iter=100000, **how).fit(X, MANY, weight)
        print(np.allclose(ours.coef_, theirs.coef_, rtol=0, atol=1e-6))
""",
    "what a callback raises is raised, and it may stop": """
class Mine(Exception):
    pass
def raises(step, objective):
    if step >= 2:
        raise Mine(step)
seen = []
for workers in None, 2:
    how = dict(solver="gd", max_iter=100000000, workers=workers)
    try:
        muster.LogisticRegression(callback=raises, **how).fit(X, Y)
    except Mine as error:
        print(error.args[0] >= 2)
    try:
        muster.fit(X, Y, watch=lambda step, _: step >= 3, optim="gd", steps=100000000, n=workers)
    except muster.Stopped as error:
        print(error.model.steps >= 3)
    for y in Y, MANY:
        for kind in muster.LogisticRegression, muster.LinearSVC:
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                made = kind(callback=lambda step, _: step >= 3, **how).fit(X, y)
            # Workers may have reached the optimum by then.
            print("the callback s" in str(told[0].message), made.n_iter_ == made.model_.steps,
                  3 <= made.n_iter_, bool(workers or made.n_iter_ == 3), made.predict(X).shape == (600,))
    # With workers it may have converged by then, which is told as well.
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        made = muster.LogisticRegression(workers=workers, callback=lambda *_: True).fit(X, Y)
    print(len(told) == 1, "callback" in str(told[0].message), bool(workers or made.n_iter_ == 1))
""",
    "progress on a terminal's other side, and its curve": """
import io, contextlib
with contextlib.redirect_stderr(io.StringIO()) as said:
    m = muster.LogisticRegression(verbose=1).fit(X, Y)
print("loss" in said.getvalue(), len(m.loss_curve_) == m.n_iter_,
      m.loss_curve_[-1] <= m.loss_curve_[0],
      not hasattr(m.set_params(verbose=0).fit(X, Y), "loss_curve_"))
""",
    "workers that join by address and token: the hash of one process": """
import subprocess
program, joiners = os.environ["MUSTER"], []
subprocess.run([program, "token", "new", "key"], check=True, stdout=subprocess.DEVNULL)
def join():
    # The run says where it listens, once it does.
    while not os.path.exists("run/address"):
        time.sleep(0.01)
    address = open("run/address").read().strip()
    joiners.extend(subprocess.Popen([program, "join", address, "--token-file", "key"],
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                   for _ in range(2))
thread = threading.Thread(target=join, daemon=True)
thread.start()
made = muster.LogisticRegression(address="127.0.0.1:0", token="key", workers=2,
                                 recipe={"out": "run"}).fit(X, Y)
thread.join()
print(made.hash_ == ONE.hash_, [joiner.wait() for joiner in joiners] == [0, 0])
""",
    "standard streams may be closed, in any combination": """
def bowl(_, w, chunk, g, loss):
    g[0], loss[0] = w[0] - chunk, (w[0] - chunk) ** 2 / 2
def work(streams):
    for stream in streams:
        os.close(stream)
    job = dict(dims=1, chunks=2, rows=2)
    made = muster.LogisticRegression(workers=2, callback=lambda *_: None).fit(X, Y)
    return made.hash_ == ONE.hash_ and muster.train(bowl, n=2, **job).hash == muster.train(
        bowl, **job).hash
sys.stdout.flush()
for bits in range(8):
    pid = os.fork()
    if pid == 0:
        try:
            right = work([stream for stream in range(3) if bits >> stream & 1])
        except BaseException as error:
            right = print(repr(error), file=open("why", "a"))
        os._exit(0 if right else 1)
    print(os.waitpid(pid, 0)[1] == 0)
if os.path.exists("why"):
    print(open("why").read(), file=sys.stderr)
""",
    "workers that are all stopped: it is said, and Ctrl-C ends it": """
said = []
def freeze(*_):
    for helper in children(os.getpid()):
        for child in children(helper):
            if open(f"/proc/{child}/comm").read().startswith("muster:w"):
                os.kill(child, signal.SIGSTOP)
def log(sentence):
    said.append(sentence)
    if "nobody is left to compute" in sentence:
        os.kill(os.getpid(), signal.SIGINT)
try:
    muster.fit(X, Y, n=2, optim="gd", steps=100000000, watch=freeze, log=log)
except KeyboardInterrupt:
    print(any(": w0 died" in sentence for sentence in said), not children(os.getpid()))
""",
    "no key that starts workers forks them from this process": """
names = set()
def watch(*_):
    for task in os.listdir("/proc/self/task"):
        for child in open(f"/proc/self/task/{task}/children").read().split():
            names.add(open(f"/proc/{child}/comm").read().strip())
for key, value in dict(np=2, n=2, workers="2", out="kept", sync=True, max_time=60).items():
    names.clear()
    made = muster.fit(X, Y, watch=watch, **{key: value})
    print(len(names) == 1 and not any("muster" in name for name in names), made.steps > 1)
def bowl(_, w, chunk, g, loss):
    g[0], loss[0] = w[0] - chunk, (w[0] - chunk) ** 2 / 2
def who(*_):
    print(os.getpid(), file=open("who", "w"))
muster.train(bowl, dims=1, chunks=2, rows=2, np=1, watch=who)
print(int(open("who").read()) != os.getpid())
class Table:
    def __arrow_c_stream__(self, *_):
        raise AssertionError("it is not read")
try:
    muster.fit(Table(), max_time=60)
except ValueError as error:
    print("without workers" in str(error))
names.clear()
print(muster.fit(X, Y, watch=watch, n=0, sync=False).steps > 1, not names)
""",
    "an estimator and its progress in a notebook": """
import types
shown = []
class Cell:
    def update(self, picture):
        shown.append(picture)
def display(picture, display_id):
    shown.append(picture)
    return Cell()
sys.modules["ipykernel"] = types.ModuleType("ipykernel")
sys.modules["IPython"] = types.ModuleType("IPython")
sys.modules["IPython.display"] = types.ModuleType("IPython.display")
sys.modules["IPython.display"].display = display
made = muster.LogisticRegression(verbose=1).fit(X, Y)
last = shown[-1]._repr_html_()
print(len(shown) >= 2, "<svg" in last, f"step {made.n_iter_}" in last,
      last.count(",") == len(made.loss_curve_), made.hash_ in made._repr_html_(),
      str(made.n_iter_) in made._repr_html_(), "not fitted" in muster.Ridge()._repr_html_())
tricky = muster.LogisticRegression(solver="<script>")._repr_html_()
print("<script>" not in tricky, "&lt;script" in tricky)
from muster._progress import Picture
print("begins" in Picture([])._repr_html_(), "<svg" in Picture([1.0])._repr_html_(),
      "nan" not in Picture([1.0, float("inf"), 0.5])._repr_html_().split("points=")[1])
""",
    "Ctrl-C stops in good order, alone and with workers": """
slow = dict(solver="gd", max_iter=100000000)
try:
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    muster.LogisticRegression(**slow).fit(X, Y)
except KeyboardInterrupt:
    print(True)
try:
    interrupt_later()
    muster.LogisticRegression(workers=2, **slow).fit(X, Y)
except KeyboardInterrupt:
    print(True)
print(muster.LogisticRegression(workers=2).fit(X, Y).hash_ == ONE.hash_, not children(os.getpid()))
""",
    "a signal before the workers are there stops, too": """
from muster import _run
serve = _run.Apart.serve
def early(self, handlers):
    # The helper has only begun: it goes on when the signal is there.
    os.kill(os.getpid(), number)
    os.kill(self.process.pid, signal.SIGCONT)
    return serve(self, handlers)
def popen(*args, real=_run.subprocess.Popen, **more):
    made = real(*args, **more)
    os.kill(made.pid, signal.SIGSTOP)
    return made
_run.Apart.serve, _run.subprocess.Popen = early, popen
for number in signal.SIGTERM, signal.SIGHUP:
    try:
        muster.fit(X, Y, n=2, optim="gd", steps=100000000)
    except muster.Stopped as error:
        print(error.model is None, number.name in str(error), not children(os.getpid()))
    try:
        muster.train(print, dims=1, chunks=1, rows=1, n=1)
    except muster.Stopped as error:
        print(error.model is None)
_run.Apart.serve, _run.subprocess.Popen = serve, popen.__kwdefaults__["real"]
interrupt_later(signal.SIGTERM)
try:
    muster.fit(X, Y, n=2, optim="gd", steps=100000000)
except muster.Stopped as error:
    print(error.model.signal == signal.SIGTERM)
""",
    "a forked child that holds the helper's end does not hold the fit": """
from muster import _helper, _run
warnings.simplefilter("ignore")
holders = []
def popen(*args, real=_run.subprocess.Popen, **more):
    made = real(*args, **more)
    pid = os.fork()
    if pid == 0:
        _helper.ctypes.CDLL(None).prctl(_helper.PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.pause()
    holders.append(pid)
    return made
def die(*_):
    for child in children(os.getpid()):
        if child not in holders:
            os.kill(child, signal.SIGKILL)
_run.subprocess.Popen = popen
print(muster.fit(X, Y, n=2).hash == muster.fit(X, Y).hash)
try:
    muster.fit(X, Y, n=2, watch=die, optim="gd", steps=100000000)
except muster.Error as error:
    print("was killed" in str(error), len(holders) == 2)
for pid in holders:
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
""",
    "a host with threads, forks and signals": """
stop, ticks = threading.Event(), []
def busy():
    while not stop.is_set():
        sum(range(1000))
def forks():
    while not stop.is_set():
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)
        time.sleep(0.01)
warnings.simplefilter("ignore")
signal.signal(signal.SIGALRM, lambda *_: ticks.append(1))
signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
threads = [threading.Thread(target=f) for f in (busy, busy, forks)]
[t.start() for t in threads]
found = []
for i in range(int(os.environ.get("HOST_RUNS", 6))):
    model = muster.LogisticRegression(n_jobs=2, workers=2 if i % 2 else None)
    other = threading.Thread(target=lambda: found.append(
        muster.LogisticRegression(n_jobs=1).fit(X, Y).hash_))
    other.start()
    found.append(model.fit(X, Y).hash_)
    other.join()
stop.set()
[t.join() for t in threads]
signal.setitimer(signal.ITIMER_REAL, 0)
print(set(found) == {ONE.hash_}, len(ticks) > 0)
""",
    "networks: images in any layout and type, workers, files and pickles": """
from muster import NetClassifier, NetRegressor
rng = np.random.default_rng(1)
side = np.arange(8)
number = rng.integers(0, 3, 300)
light = np.array([side[:, None] + 0 * side, side + 0 * side[:, None], abs(side - side[:, None])])
images = (light[number] * 20 + rng.integers(0, 90, (300, 8, 8))).astype(np.uint8)
words = np.array(["down", "right", "apart"])[number]
net = "conv3x3x4 relu pool2 dense3"
def made(x=images, y=words, **more):
    return NetClassifier(net, passes=10, batch=30, lr=0.01, **more).fit(x, y)
one = made()
flat = images.reshape(300, -1)
print(one.score(images, words) > 0.9, list(one.classes_) == ["apart", "down", "right"],
      one.shape_ == (8, 8), one.n_iter_ == 100)
print({h.hash_ for h in (made(workers=2), made(n_jobs=1), made(flat, shape=(8, 8, 1)),
                         made(flat.astype(float), shape=(8, 8)), made(images[..., None]))}
      == {one.hash_})
print(made(random_state=7).hash_ != one.hash_, made(recipe={"schedule": "cosine"}).hash_ != one.hash_)
print(np.allclose(one.predict_proba(flat).sum(axis=1), 1), one.model_.layers == net,
      one.model_.weights.shape == (one.model_.dims,), one.model_.weights.dtype == np.float32)
one.save("images.safetensors")
again = muster.load("images.safetensors")
print((again.predict(flat) == one.predict(images)).all(), again.hash == one.hash_,
      (pickle.loads(pickle.dumps(one)).predict(flat) == one.predict(flat)).all())
def refused(f, part):
    try:
        f()
    except (ValueError, TypeError, muster.Error) as error:
        return part in str(error) or print(error)
print(made(images[:, None]).hash_ == made(images[:, None], shape=(8, 8)).hash_ == one.hash_,
      refused(lambda: made(images, shape=(4, 16)), "X itself has images of (8, 8)"),
      refused(lambda: made(np.repeat(images[:, None], 3, axis=1)), "np.moveaxis(X, 1, -1)"))
print(refused(lambda: made(flat, shape=(8, 7)), "56 numbers, and a row of X has 64"),
      refused(lambda: NetClassifier("dense2").fit(flat, number), "its last layer has 2 outputs"),
      refused(lambda: NetClassifier("conf3").fit(flat, number), "conf3"),
      refused(lambda: NetClassifier("dense3", batch=0).fit(flat, number), "batch 0"),
      refused(lambda: NetClassifier(recipe={"lr": 1}).fit(flat, number), "said by lr"),
      refused(lambda: NetClassifier().predict(flat), "not fitted"))
early = [made(early_stopping=True, n_iter_no_change=1, recipe={"schedule": "constant"}, **more)
         for more in ({}, {"workers": 2})]
print(early[0].hash_ == early[1].hash_ != one.hash_, early[0].n_iter_ < 100,
      refused(lambda: made(early_stopping=1), "early_stopping 1"),
      refused(lambda: made(early_stopping=True, validation_fraction=1), "validation_fraction 1"))
x = rng.normal(size=(400, 3))
y = np.abs(x[:, 0]) + x[:, 1]
fitted = NetRegressor("dense16 relu dense1", passes=60, batch=32, lr=0.01).fit(x, y)
print(fitted.score(x, y) > 0.95, fitted.predict(x[:2]).shape == (2,))
""",
    "networks: images of another shape than the training's": """
from muster import NetClassifier, NetRegressor
rng = np.random.default_rng(1)
x, y = rng.integers(0, 256, (60, 6, 10, 3)).astype(np.uint8), np.arange(60) % 2
words = np.array(["odd", "even"])[y]
NET, HOW = "conv3x3x2 relu dense2", dict(passes=1, batch=32)
def refused(f, *parts):
    try:
        f()
    except ValueError as error:
        return all(part in str(error) for part in parts) or print(error)
def shapes(f, flat, trained="(6, 10, 3)"):
    for sides in (3, 6, 10), (6, 3, 10), (10, 6, 3), (3, 20, 3), (18, 10), (60, 3):
        advice = "np.moveaxis(X, 1, -1)" if sides == (3, 6, 10) else "give such"
        print(refused(lambda: f(flat.reshape(-1, *sides)), str(sides), f"images of {trained}", advice))
warnings.simplefilter("ignore")  # So short a training learns nothing.
one = NetClassifier(NET, **HOW).fit(x, words)
number = NetRegressor("conv3x3x2 relu dense1", **HOW).fit(x, y)
one.save("shape.safetensors")
loaded, flat = muster.load("shape.safetensors"), x.reshape(60, -1)
for f in (one.predict, one.predict_proba, lambda x: one.score(x, words), number.predict,
          pickle.loads(pickle.dumps(one)).predict, loaded.predict, loaded.probabilities):
    shapes(f, flat)
    print(np.array_equal(f(x), f(flat)), np.array_equal(f(x.astype(float)), f(flat)))
# Grey ones have their channel or not, before or after the pixels.
grey = x[..., 0]
for model in NetClassifier(NET, **HOW).fit(grey, y), muster.fit(grey, y, net=NET, **HOW):
    print(len({model.predict(z).tobytes() for z in (
              grey, grey[..., None], grey[:, None], grey.reshape(60, -1))}) == 1,
          refused(lambda: model.predict(grey.reshape(60, 10, 6)), "(10, 6)", "(6, 10, 1)"))
# muster.fit takes images, too, and a shape in either form; rows have none.
for more in {}, dict(n=2):
    made = {muster.fit(z, words, net=NET, **HOW, **more, **shape).hash for z, shape in (
            (x, {}), (x, dict(shape=(6, 10, 3))), (x, dict(shape="6x10x3")),
            (flat, dict(shape=(6, 10, 3))), (flat, dict(shape="6x10x3")))}
    print(made == {one.hash_})
print(muster.cross_validate(x, y, net=NET, folds=2, **HOW)[0]["accuracy"] >= 0,
      muster.fit(x, words, init="shape.safetensors", **HOW).shape == loaded.shape == (6, 10, 3),
      refused(lambda: muster.fit(x, y, net=NET, shape="10x6x3"), "(10, 6, 3)", "(6, 10, 3)"),
      refused(lambda: muster.fit(np.moveaxis(x, -1, 1), y, net=NET), "np.moveaxis(X, 1, -1)"),
      refused(lambda: muster.fit(x, y), "X.reshape(len(X), -1)"))
rows = NetClassifier("dense4 relu dense2", **HOW).fit(flat, y)
for model in rows, rows.model_:
    print(refused(lambda: model.predict(x), "(6, 10, 3)", "rows of 180 numbers"))
print(refused(lambda: muster.fit(flat, y).predict(x), "X.reshape(len(X), -1)"),
      rows.model_.shape == (1, 1, 180), muster.fit(flat, y).shape is None)
""",
    "networks: arrays on another scale than the training rows'": """
from muster import NetClassifier
rng = np.random.default_rng(1)
number = np.arange(120) % 2
light = np.array([20, 230])[number][:, None, None] + rng.integers(-20, 21, (120, 6, 6))
light[:, :, :3] = 128
forms = {"bytes": light.astype(np.uint8), "whole": light.astype(float), "unit": light / 255,
         "sharp": light / 254.9, "other": (light - 128) / 70}
on_bytes = {"bytes", "whole"}
taken = {"bytes": on_bytes, "whole": on_bytes, "unit": {"bytes", "unit", "sharp"},
         "sharp": {"unit", "sharp"}, "other": {"unit", "sharp", "other"}}
np.save("bytes.npy", forms["bytes"])
with open("images", "wb") as out:
    out.write(bytes([0, 0, 8, 3]) + np.array((120, 6, 6), ">u4").tobytes() + forms["bytes"].tobytes())
def takes(model, x):
    try:
        model.predict(x if isinstance(x, str) else x.reshape(len(x), -1))
    except (ValueError, muster.Error) as error:
        return "and the network was trained on values" not in str(error) and print(error)
    return True
for name, x in forms.items():
    net = NetClassifier("conv3x3x2 relu dense2", passes=1, batch=16).fit(x, number)
    net.save(name + ".safetensors")
    model = muster.load(name + ".safetensors")
    for other, y in forms.items():
        print(takes(net, y) == takes(model, y) == (other in taken[name]) or (name, other))
    # Bytes of files and of arrays are one and the same.
    print(takes(model, "images") and takes(model, "bytes.npy") == ("bytes" in taken[name]))
    if "bytes" in taken[name]:
        print((model.predict("images") == net.predict(forms["bytes"])).all(),
              takes(net, forms["bytes"] // 120), takes(model, forms["bytes"] // 120))
dusk = NetClassifier("conv3x3x2 relu dense2", passes=1).fit(forms["bytes"] // 4, number)
print(takes(dusk, forms["bytes"]), takes(dusk, 0 * forms["unit"]), not takes(dusk, forms["unit"] / 4))
""",
    "networks: weights of rows and of classes": """
from muster import NetClassifier, NetRegressor
rng = np.random.default_rng(4)
x = rng.normal(size=(90, 3))
y = np.where(x[:, 0] > 0.8, "rare", "usual")

def refused(f, part):
    try:
        f()
    except (ValueError, TypeError, muster.Error) as error:
        return part in str(error) or print(error)

def hash_of(weight=None, kind=NetClassifier, **more):
    return kind("dense8 relu dense" + "21"[kind is NetRegressor], passes=3, batch=32, **more).fit(
        x, y if kind is NetClassifier else x[:, 0], sample_weight=weight).hash_

rare = y == "rare"
plain, five = hash_of(), hash_of(np.where(rare, 5.0, 1.0))
even = len(y) / 2 / np.where(rare, rare.sum(), len(y) - rare.sum())
zero = np.where(rare, 0.0, 1.0)
print(plain == hash_of(np.ones(90)) != five, hash_of(class_weight={"rare": 5}, workers=2) == five,
      hash_of(class_weight="balanced") == hash_of(even, n_jobs=1) != plain,
      hash_of(kind=NetRegressor) == hash_of(1, NetRegressor) != hash_of(even, NetRegressor))
# What weighs 0 is absent from the loss: its labels say nothing.
before = hash_of(zero)
y[rare] = "usual"
y[np.flatnonzero(rare)[0]] = "rare"
print(hash_of(zero) == before, refused(lambda: hash_of(-zero), "Negative values"),
      refused(lambda: hash_of(0 * zero), "no row has a weight"))
""",
    "networks: one that has learnt nothing, and one that ran away, in an estimator's words": """
x = np.arange(1, 201)[:, None] * 37 % 101 / 101
y = 7 + 3 * x[:, 0] ** 2
def told(lr=None, **more):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        net = muster.NetRegressor("dense4 relu dense1", random_state=2, lr=lr, **more).fit(x, y)
    return [(w.category.__name__, str(w.message)) for w in caught], net.model_.info["warning"]
for more in {}, dict(workers=2):
    ((kind, said),), info = told(1.0, **more)
    print(kind in ("ConvergenceWarning", "UserWarning"), "no better than the mean" in said,
          "another lr than 1," in said, "recipe={'clip': 1}" in said, "--" not in said, "clip 1" in info)
    ((kind, said),), info = told(**more)
    print("still falling when the steps were over: passes 1000" in said,
          said == info.replace("valid .2 patience 10", "early_stopping=True") != info)
    try:
        told(1e30, **more)
    except (ValueError, muster.Error) as error:
        print("a smaller lr than 1e+30 or recipe={'clip': 1} helps" in str(error) or error)
""",
    "a default penalty that holds all weights down is told; one that was chosen is not": """
from muster import LinearSVC, LogisticRegression, Ridge
def told(f):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        f()
    return [str(w.message) for w in caught]
narrow = 5 + X * 1e-3
for more in {}, dict(n=2):
    (said,) = told(lambda: muster.fit(narrow, Y, **more))
    print("the penalty holds all weights down" in said and "scale standard, or a smaller l2 than" in said or said)
for kind, other in (LogisticRegression, "a larger C"), (LinearSVC, "a larger C"), (Ridge, "a smaller alpha"):
    (said,) = told(lambda: kind().fit(narrow, Y))
    print("the penalty holds all weights down" in said and said.endswith(f"(StandardScaler), or {other}") or said)
print(told(lambda: muster.fit(narrow, Y, scale="standard")) == told(lambda: LogisticRegression().fit(X, Y)) ==
      told(lambda: LogisticRegression(C=.5).fit(narrow, Y)) == told(lambda: Ridge(alpha=2).fit(narrow, Y)) == [])
""",
    "what has not worked is told by muster.fit, too, and mistakes in an estimator's words": """
from muster import NetClassifier, NetRegressor
def told(f):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        f()
    return [str(w.message) for w in caught]
t = np.arange(1, 201)[:, None] * 37 % 101 / 101
net = dict(net="dense4 relu dense1", model="linear", seed=2)
for more in {}, dict(n=2):
    (said,) = told(lambda: muster.fit(t, 7 + 3 * t[:, 0] ** 2, lr=1.0, **net, **more))
    print("no better than the mean" in said and "another lr than 1," in said and "--" not in said)
    (said,) = told(lambda: muster.fit(t, 7 + 3 * t[:, 0] ** 2, **net, **more))
    print("still falling when the steps were over: passes 1000" in said)
far = X * 1000.0 ** (np.arange(12) % 3)
for how, scale in (dict(batch=16), True), (dict(steps=2, scale="standard"), False):
    (said,) = told(lambda: muster.fit(far, Y, **how))
    print("has not converged; raise steps or passes" in said, ("scale='standard'" in said) == scale)
for more in {}, dict(n=2):
    (said,) = told(lambda: muster.fit(t, 5e6 + 1e5 * t[:, 0], model="linear", optim="adam", steps=20, **more))
    print("no better than the mean" in said and "leave out optim, or try a larger lr than 0.001" in said
          and "all steps" in said and "--" not in said or said)
(said,) = told(lambda: muster.Ridge(solver="gd", max_iter=3, recipe=dict(lr=1e-6)).fit(t, 5e6 + 1e5 * t[:, 0]))
print("leave out solver, or try another rate (recipe={'lr': ...}) than 1e-06, a larger max_iter" in said or said)
print(told(lambda: muster.fit(far, Y)) == told(lambda: muster.fit(X, Y, optim="sgd", passes=2)) == [])
def refused(f, part):
    try:
        f()
    except (ValueError, TypeError, muster.Error) as error:
        return part in str(error) or print(error)
print(refused(lambda: NetClassifier("conv3x3x2 dense2").fit(X, Y), "with shape=(height, width, channels)"),
      refused(lambda: NetClassifier("dense1").fit(X, Y), "or take NetRegressor if they are numbers"),
      refused(lambda: NetRegressor("dense3").fit(X, Y), "or take NetClassifier if they are classes"),
      refused(lambda: NetClassifier("dense2", solver="sgd").fit(X, Y), "; solver gd with net"))
each = dict(workers=2, recipe={"batch_per_worker": 16})
print(NetClassifier("dense2", passes=2, **each).fit(X, Y).hash_ ==
      muster.fit(X, Y, net="dense2", passes=2, n=2, batch_per_worker=16).hash,
      NetClassifier("dense2", passes=2).fit(X, Y).hash_ ==
      NetClassifier("dense2", passes=2, batch=128).fit(X, Y).hash_,
      refused(lambda: NetClassifier("dense2", batch=128, **each).fit(X, Y), "both say"))
""",
    "pandas: the column of a frame that label names": """
import pandas
names = [f"c{j}" for j in range(12)]
words = np.where(Y, "yes", "no")
def refused(f, part):
    try:
        f()
    except (ValueError, TypeError, muster.Error) as error:
        return part in str(error) or print(error)
for y in Y, words:
    frame = pandas.DataFrame(X, columns=names)
    frame.insert(3, "target", y)
    for more in {}, dict(net="dense4 relu dense2", passes=2):
        one = muster.fit(frame, label="target", **more)
        print(one.hash == muster.fit(X, y, **more).hash, one.columns == names,
              np.array_equal(one.predict(frame), one.predict(X)))
    print(refused(lambda: muster.fit(frame, Y, label="target"), "leave one out"),
          hasattr(frame, "__arrow_c_stream__") or
          refused(lambda: muster.fit(frame, label="aim"), "no such column; it has 'c0'"),
          muster.cross_validate(frame, label="target", folds=2)[0]["accuracy"] > 0.7)
""",
    "a frame's columns are dropped and weigh by name, and by a file's numbers": """
import pandas
warnings.simplefilter("ignore")
frame = pandas.DataFrame(X, columns=[f"c{j}" for j in range(12)])
frame.insert(0, "target", Y)
frame["heavy"] = 1.0 + np.arange(len(Y)) % 3
frame.to_csv("frame.csv", index=False)
rest = [f"c{j}" for j in range(12) if j != 1]
for drop in "c1", ["c1"], 3, ":3", "c1,:3":
    for weight in "heavy", 14:
        one = muster.fit(frame, label="target", drop=drop, weight=weight)
        print(one.columns == rest, one.hash == muster.fit(
            "frame.csv", label="target", drop=drop, weight=weight).hash)
print(muster.fit(frame.drop(columns="heavy"), label="target", drop=["c1", "c2"]).hash ==
      muster.fit(X[:, [0, *range(3, 12)]], Y).hash,
      muster.fit(frame.iloc[:, 1:], Y, frame["heavy"], drop="heavy").hash ==
      muster.fit(X, Y, frame["heavy"]).hash,
      muster.cross_validate(frame, label="target", drop=["c1", "heavy"], folds=2)[0]["accuracy"] > .7)
def refused(part, **more):
    try:
        muster.fit(frame, label="target", **more)
    except ValueError as error:
        return part in str(error) or print(error)
print(refused("drop 'c12': the frame has no such column", drop="c12"),
      refused("weight 99: the frame has no such column", weight=99))
try:
    muster.fit(frame, label="target", weights=W, weight="heavy")
except ValueError as error:
    print("leave one out" in str(error))
""",
    "what is noticed of a file's columns is a warning, or told to log": """
with open("ids.csv", "w") as out:
    out.write("id,size,kind\\n")
    for i in range(60):
        out.write(f"{i},{i % 7}.5,{'ab'[i % 2]}\\n")
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    muster.fit("ids.csv")
    said = [str(one.message) for one in told]
    print(any("column 1 (id)" in one and "drop :1" in one and "--" not in one for one in said),
          any('the labels are column "kind"' in one for one in said),
          all(one.filename == __file__ for one in told) if "__file__" in globals() else True)
    told.clear()
    muster.fit("ids.csv", label="kind", drop="id")
    print([str(one.message) for one in told] == [])
    log = []
    muster.fit("ids.csv", log=log.append)
    print(sorted(log) == sorted(said), not told)
""",
    "a training goes on from a model of other labels than 0, 1, ...": """
from muster import NetClassifier
rng = np.random.default_rng(5)
def refused(f, part):
    try:
        f()
    except (ValueError, TypeError, muster.Error) as error:
        return part in str(error) or print(error)
x, z = rng.normal(size=(60, 3)), np.arange(60) % 3
for name, classes in (("words", ["a", "b", "c"]), ("numbers", [-1, 1, 7])):
    y, path = np.array(classes)[z], name + ".safetensors"
    muster.fit(x, y, net="dense4 relu dense3", passes=2).save(path)
    for part in z < 3, z != 1:  # One class is not among the rows.
        model = muster.fit(x[part], y[part], init=path, passes=1, batch=20)
        net = NetClassifier(passes=1, batch=20, recipe={"init": path}).fit(x[part], y[part])
        print(net.hash_ == model.hash, net.classes_.tolist() == model.classes_.tolist() == classes,
              net.classes_.dtype == y.dtype)
    strange = np.array(["a", "q"] if name == "words" else [1, 2])[z % 2]
    print(refused(lambda: muster.fit(x, strange, init=path), "q" if name == "words" else "label 2"),
          refused(lambda: NetClassifier(recipe={"init": path}).fit(x, strange), "its classes are"))
""",
    "scikit-learn's checks of estimators": """
import unittest
from sklearn.utils.estimator_checks import check_estimator
warnings.simplefilter("ignore")
for kind in muster.LogisticRegression, muster.SoftmaxClassifier, muster.LinearSVC, muster.Ridge:
    for estimator, check in check_estimator(kind(n_jobs=1), generate_only=True):
        check(estimator)
    print(True)
for kind in muster.NetClassifier, muster.NetRegressor:  # Of few rows many passes.
    net, skipped = kind(passes=60, batch=16, lr=0.01, n_jobs=1), set()
    for estimator, check in check_estimator(net, generate_only=True):
        try:
            check(estimator)
        except unittest.SkipTest as skip:
            skipped.add(str(skip).split()[1])
    print(skipped == {"check_sample_weights_invariance"})
""",
}
NEEDS = {"sklearn": ("scikit-learn", "pickled", "the same optimum", "weights of classes"),
         "scipy": ("any layout", "arrays", "labels of", "scipy"), "pandas": ("pandas",)}


def has(module):
    return subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True,
                          check=False).returncode == 0


def lacking(name):
    """The package that a program needs and this machine does not have."""
    for module, names in NEEDS.items():
        if any(part in name for part in names) and not has(module):
            return module
    return None


def install():
    """(python of a fresh environment, what went wrong)."""
    made = subprocess.run([PYTHON, "-m", "venv", "--system-site-packages", "fresh"], text=True,
                          capture_output=True, check=False)
    if made.returncode != 0:
        return None, "skip"
    done = subprocess.run(["fresh/bin/pip", "install", "--disable-pip-version-check", str(ROOT)],
                          env=BARE, text=True, capture_output=True, check=False)
    wrong = done.returncode and done.stdout + done.stderr
    if not wrong and not os.access("fresh/libexec/muster/shuffle", os.X_OK):
        wrong = "the example that `muster reproduce` starts is not there"
    return os.path.abspath("fresh/bin/python"), wrong


def run(python, program):
    try:
        done = subprocess.run([python, "-c", HEAD + program], text=True, env=BARE,
                              capture_output=True, timeout=80, check=False)
    except subprocess.TimeoutExpired as late:
        return False, f"it hangs\n{late.stdout}{late.stderr}"
    words = done.stdout.split()
    return (done.returncode == 0 and words and set(words) == {"True"},
            f"exit {done.returncode}\n{done.stdout}{done.stderr}")


def main():
    if PYTHON is None:
        print("1..0 # SKIP no python3 with numpy")
        return 0
    print(f"1..{len(PROGRAMS) + 1}")
    python, wrong = install()
    if wrong == "skip":
        print("ok 1 - pip install . # SKIP no python3-venv", flush=True)
        python, wrong = PYTHON, None
        BARE["PYTHONPATH"] = str(ROOT / "python")
    else:
        print(f"{'not ok' if wrong else 'ok'} 1 - pip install .", flush=True)
    failed = bool(wrong)
    detail = wrong or ""
    for number, (name, program) in enumerate(PROGRAMS.items(), 2):
        print("".join(f"# {line}\n" for line in detail.splitlines()), end="")
        missing, detail = lacking(name), ""
        if missing:
            print(f"ok {number} - {name} # SKIP no {missing}", flush=True)
            continue
        good, said = run(python, program)
        detail, failed = "" if good else said, failed or not good
        print(f"{'ok' if good else 'not ok'} {number} - {name}", flush=True)
    print("".join(f"# {line}\n" for line in detail.splitlines()), end="")
    return 1 if failed else 0


sys.exit(main())
