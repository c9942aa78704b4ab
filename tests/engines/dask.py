#!/usr/bin/env python3
"""Training on the workers of a real Dask cluster (LocalCluster, a process for
each worker): scaled 2-4-2 while it trains, a worker killed, rows that stay
where Dask has them.  Each program is run by itself; what it prints are the
points, "NAME: True"."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(os.environ["ROOT"])
sys.path.insert(0, str(ROOT / "tests" / "net" / "lib"))
from cluster import Tap  # noqa: E402

PYTHON = "/usr/bin/python3"  # Debian's, which the packages are of.
LIMIT_S = 150  # Against hangs only.
HEAD = """
import itertools, os, signal, sys, threading, time, warnings
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
from distributed import Client, LocalCluster
import muster
import muster.dask as md

rng = np.random.default_rng(1)
X = rng.normal(size=(3000, 20))
Y = (X @ rng.normal(size=20) + rng.normal(size=3000) > 0).astype(int)
DX, DY = da.from_array(X, chunks=(1000, 10)), da.from_array(Y, chunks=1000)

def until(what, limit=60):
    # Bounded: whoever waits in vain says so.
    end = time.monotonic() + limit
    while time.monotonic() < end:
        if what():
            return True
        time.sleep(0.02)
    return False

def joins():
    # Processes of muster join whose parents are below this one.
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = open(f"/proc/{pid}/cmdline").read().split("\\0")
            if "join" in words[:2] and words[0].endswith("muster") and "muster-dask-" in " ".join(words):
                found.append((int(pid), words, int(open(f"/proc/{pid}/stat").read().rsplit(")")[1].split()[1])))
        except (FileNotFoundError, ProcessLookupError):
            pass
    return found

def say(**points):
    for name, good in points.items():
        print(f"{name.replace('_', ' ')}: {bool(good)}", flush=True)

def main():
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, \\
            Client(cluster) as client:
        body(cluster, client)

"""

PROGRAMS = {
    "estimators": """
def body(cluster, client):
    one = muster.LogisticRegression().fit(X, Y)
    made = md.LogisticRegression().fit(DX, DY)
    say(arrays_of_Dask_have_the_hash_of_one_process=made.hash_ == one.hash_,
        nobody_is_left_when_the_training_is_over=not joins(),
        predictions_are_lazy_and_right=(made.predict(DX).compute() == one.predict(X)).all(),
        probabilities_too=np.array_equal(made.predict_proba(DX).compute(), one.predict_proba(X)),
        the_score_is_that_of_one_process=made.score(DX, DY) == one.score(X, Y))
    frame = pd.DataFrame(X, columns=[f"c{k}" for k in range(20)])
    frames = md.LogisticRegression().fit(dd.from_pandas(frame, npartitions=3),
                                         dd.from_pandas(pd.Series(Y), npartitions=3))
    say(frames_have_it_too=frames.hash_ == one.hash_ and frames.feature_names_in_[3] == "c3",
        and_predict_by_parts=(frames.predict(dd.from_pandas(frame, npartitions=2)).compute()
                              == one.predict(X)).all())
    many = np.arange(3000) % 3
    say(a_training_for_each_class_at_one_address=md.LinearSVC().fit(X, many).hash_
        == muster.LinearSVC().fit(X, many).hash_,
        parameters_are_scikit_learns=md.Ridge(alpha=3).get_params()["alpha"] == 3)
    net = dict(passes=2, random_state=1)
    say(a_network=md.NetClassifier("dense8 relu dense2", **net).fit(DX, DY).hash_
        == muster.NetClassifier("dense8 relu dense2", **net).fit(X, Y).hash_,
        fit_with_keys=md.fit(DX, DY, l2=0.01).hash == muster.fit(X, Y, l2=0.01).hash)
    import pickle
    say(it_can_be_pickled=pickle.loads(pickle.dumps(made)).hash_ == one.hash_)
    try:
        md.fit(DX, DY, modle="svm")
    except TypeError as error:
        say(a_wrong_key_is_told="did you mean model" in str(error), and_leaves_nobody=not joins())
    import warnings
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        named = frames.predict(dd.from_pandas(frame, npartitions=2))
    say(names_of_columns_are_no_warning=(named.compute() == one.predict(X)).all(),
        decisions_are_lazy=np.array_equal(made.decision_function(DX).compute(),
                                          one.decision_function(X)))
    program, md.program = md.program, None  # As where a worker cannot start it.
    for _ in range(2):
        try:
            with md.workers(client):
                pass
        except Exception:
            pass
    md.program = program
    say(a_failure_leaves_no_plugin=not [
        k for k in client.run_on_scheduler(lambda dask_scheduler: list(
            dask_scheduler.worker_plugins)) if k.startswith("muster-")])
    client.close()
    try:
        md.LogisticRegression().fit(X, Y)
    except ValueError as error:
        say(no_client_is_told="client" in str(error).lower())
""",
    "scaled": """
def body(cluster, client):
    done, seen = threading.Event(), {}

    def change():
        try:
            seen["two"] = until(lambda: len(joins()) == 2)
            cluster.scale(4)
            seen["four"] = until(lambda: len(joins()) == 4)
            pid, _, dask_worker = joins()[0]
            os.kill(pid, signal.SIGKILL)
            seen["again"] = until(lambda: len(joins()) == 4 and pid not in [j[0] for j in joins()])
            os.kill(joins()[0][2], signal.SIGKILL)  # A worker of Dask's; its nanny starts another.
            seen["nanny"] = until(lambda: len(client.scheduler_info()["workers"]) == 4
                                  and len(joins()) == 4)
            cluster.scale(2)
            seen["fewer"] = until(lambda: len(joins()) == 2)
        finally:
            done.set()

    threading.Thread(target=change, daemon=True).start()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # That it was stopped.
        made = md.LogisticRegression(solver="agd", max_iter=10**6, workers=2,
                                     callback=lambda *_: done.is_set()).fit(DX, DY)
        one = muster.LogisticRegression(solver="agd", max_iter=made.n_iter_).fit(X, Y)
    say(two_four_two=seen.get("two") and seen.get("four") and seen.get("fewer"),
        a_join_that_is_killed_is_started_again=seen.get("again"),
        a_worker_of_Dask_that_is_killed_is_replaced=seen.get("nanny"),
        one_hash_after_as_many_steps=made.hash_ == one.hash_,
        the_training_went_on_meanwhile=made.n_iter_ > 100)
""",
    "private": """
def body(cluster, client):
    x, y = X.astype(np.float32), Y.astype(float)
    how = dict(model="logistic", chunk_rows=250, optim="agd", lr=0.5, steps=6000)
    parts = [slice(0, 1000), slice(1000, 2000), slice(2000, 3000)]
    hashes = set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for order in itertools.permutations(parts):
            hashes.add(muster.fit(np.concatenate([x[p] for p in order]),
                                  np.concatenate([y[p] for p in order]), storage="f32",
                                  **how).hash)
    seen = {}

    def kill():
        # The owner of a part, with the worker of Dask's that has it.
        def owner():
            return [j for j in joins() if "part-1" in j[1]]
        if until(owner) and until(lambda: begun("run")):
            pid, _, parent = owner()[0]
            os.kill(parent, signal.SIGKILL)
            seen["back"] = until(lambda: any(j[0] != pid for j in owner()))

    def begun(run):
        return os.path.exists(f"{run}/journal") and os.path.getsize(f"{run}/journal") > 8192

    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    made = md.fit(da.from_array(x, chunks=(1000, 20)), da.from_array(y, chunks=1000),
                  private=True, out="run", **how)
    thread.join()
    say(rows_that_stay_give_the_hash_of_all_in_one_place=made.hash in hashes,
        an_owner_that_is_killed_is_back_elsewhere=seen.get("back"),
        nobody_is_left=until(lambda: not joins()))
    begun = time.monotonic()
    for name, labels in dict(words=da.from_array(np.where(Y, "yes", "no"), chunks=1000)).items():
        try:
            md.fit(da.from_array(x, chunks=(1000, 20)), labels, private=True, model="logistic",
                   optim="lbfgs")
        except muster.Error as error:
            print(error, file=sys.stderr)
            say(an_owner_that_fails_ends_the_fit_with_its_sentence="labels" in str(error)
                and time.monotonic() - begun < 60)
    logs = str(client.get_worker_logs())
    say(neither_key_nor_rows_are_in_the_logs="muster-token" not in logs and "array([[" not in logs,
        owners_are_gone=until(lambda: not joins()))
    for wrong in dict(fit_intercept=False), dict(save="mine"):
        try:
            md.fit(da.from_array(x, chunks=(1000, 20)), da.from_array(y, chunks=1000),
                   private=True, model="logistic", **wrong)
        except TypeError:
            say(**{f"private_with_{list(wrong)[0]}_is_refused": True})
    try:
        md.fit(X, Y, private=True)
    except TypeError as error:
        say(rows_that_are_no_collection_are_refused="Dask arrays" in str(error))
    try:
        md.fit(da.from_array(x, chunks=(1000, 20)), da.from_array(y, chunks=1000),
               private=True, optim="nonsense")
    except (ValueError, muster.Error) as error:
        say(the_sentence_of_a_training_that_fails="nonsense" in str(error))
""",
    # Without a cluster: processes that live as long, by a clock of their own, and
    # end as it is written.
    "joins": """
CLOCK = [0.0]

class Written(md.Join):
    def __init__(self, *lives):
        super().__init__("127.0.0.1:1", md.Key(b"key"), 1, None)
        self.lives, self.begun = list(lives), 0

    def begin(self):
        if not self.lives:
            return None
        self.begun += 1
        self.lived, self.returncode = self.lives.pop(0)
        return self

    def communicate(self):
        CLOCK[0] += self.lived
        return b"", b""

def begun(*lives):
    join = Written(*lives)
    join.run()
    return join.begun

def main():
    class Time:
        monotonic = staticmethod(lambda: CLOCK[0])
    md.program, md.time, md.PAUSE_S = lambda: "/bin/true", Time, 0
    long, dial, ended = (500, -9), (60, 1), (0, 0)
    say(one_that_is_killed_after_long_work_is_started_again=begun(long, long, ended) == 3,
        one_that_lost_its_coordinator_too=begun((500, 1), ended) == 2,
        one_that_is_killed_early_again_and_again=begun(*[(50, -9)] * 9) == 9,
        where_nobody_is_it_ends=begun(*[dial] * 9) == 2,
        after_work_it_waits_as_long=begun(dial, long, *[dial] * 9) == 4)
    join = md.Join("127.0.0.1:1", md.Key(b"key"), 1, None)
    first = join.begin()
    first.communicate()
    join.stop()
    say(who_is_stopped_begins_none=join.begin() is None)
    join.command = None
    join.ending.clear()
    try:
        join.run()
    except TypeError:
        say(the_key_goes_when_it_cannot_be_started=not os.path.exists(join.folder.path))

    class New:
        def register_plugin(self, plugin, name):
            self.plugins = [name]
        def run(self, *_):
            return {}
        def unregister_plugin(self, name):
            self.plugins.remove(name)
    new = New()
    md.register(new, None, "a")
    had = list(new.plugins)
    md.unregister(new, "a")
    say(a_client_without_the_old_names_will_do=had == ["a"] and new.plugins == [])
""",
    # Its scheduler keeps the plugin of a client that was killed; a worker comes
    # then that has no Muster.
    "orphaned": """
KILLED = '''
import os, signal, sys
from distributed import Client
import muster.dask
client = Client(sys.argv[1])
with muster.dask.workers(client):
    os.kill(os.getpid(), signal.SIGKILL)
'''

def stranger(address):
    import subprocess
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    return subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_worker", address, "--no-nanny", "--no-dashboard",
         "--name", "stranger"], env=env, cwd="/", stderr=open("stranger.log", "w"))

def body(cluster, client):
    import subprocess
    address = cluster.scheduler_address
    subprocess.run([sys.executable, "-c", KILLED, address], check=False)
    say(a_killed_client_leaves_its_plugin=len(client.run_on_scheduler(
        lambda dask_scheduler: [k for k in dask_scheduler.worker_plugins if k.startswith("muster-")]))
        == 1)
    process = stranger(address)
    names = lambda: [w["name"] for w in client.scheduler_info()["workers"].values()]
    say(a_worker_without_muster_starts=until(lambda: "stranger" in names() or
                                             process.poll() is not None) and "stranger" in names(),
        and_works=client.submit(len, "abc", workers="stranger").result(60) == 3,
        and_says_why="without it: No module named 'muster'" in open("stranger.log").read())
    try:
        with md.workers(client):
            pass
    except RuntimeError as error:
        say(who_would_train_there_is_told="cannot run muster" in str(error) and
            "No module named 'muster'" in str(error))
    say(and_leaves_no_plugin_more=len(client.run_on_scheduler(
        lambda dask_scheduler: list(dask_scheduler.worker_plugins))) == 1)
    process.terminate()
    process.wait()
""",
}


def main():
    tap = Tap()
    if subprocess.run([PYTHON, "-c", "import distributed, pandas"], capture_output=True,
                      check=False).returncode:
        tap.skip("dask", "python3-distributed is not installed (tools/deps.sh engines)")
        tap.done()
    env = {k: v for k, v in os.environ.items() if k != "LD_LIBRARY_PATH"}
    env["PYTHONPATH"] = str(ROOT / "python")
    for name, program in PROGRAMS.items():
        Path(f"{name}.py").write_text(HEAD + program + '\nif __name__ == "__main__":\n    main()\n')
        try:
            done = subprocess.run([PYTHON, f"{name}.py"], capture_output=True, text=True, env=env,
                                  timeout=LIMIT_S, check=False)
            points, rest = done.stdout.splitlines(), done.stderr[-3000:]
        except subprocess.TimeoutExpired as late:
            points, rest = (late.stdout or b"").decode().splitlines(), "took too long"
            done = None
        for point in points:
            what, _, good = point.rpartition(": ")
            tap.ok(good == "True", f"{name}: {what}", rest)
        tap.ok(done is not None and done.returncode == 0 and points, f"{name}: to its end", rest)
    tap.done()


main()
