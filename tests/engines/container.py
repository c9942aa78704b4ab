#!/usr/bin/env python3
"""deploy/Containerfile, built by buildah and run.  The base is a Debian that
mmdebstrap makes here, from where this machine has its packages, or the image that
BASE names.  Images lie in the test's own folder."""

import contextlib
import glob
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(os.environ["ROOT"])
sys.path.insert(0, str(ROOT / "tests" / "net" / "lib"))
from cluster import MUSTER, Tap  # noqa: E402

OURS_MAX = 60 << 20  # Bytes above the base's.
LIMIT_S = 1700  # Against hangs only.
ENV = dict(os.environ, STORAGE_DRIVER="vfs", BUILDAH_ISOLATION="chroot")
JOB = ["train", "gen:gmm:2000,20", "--optim", "newton", "-n", "2", "--format", "json", "-q"]


def run(*words, **more):
    return subprocess.run(words, capture_output=True, text=True, timeout=LIMIT_S, check=False,
                          env=ENV, stdin=subprocess.DEVNULL, **more)


def buildah(*words):
    return run("buildah", "--root", os.path.abspath("images"), "--runroot",
               os.path.abspath("state"), *words)


# What buildah makes in passing, outside of any folder that it is given.
TRACES = ["/etc/cni", "/etc/cni/net.d", "/etc/cni/net.d/cni.lock",
          "/var/lib/containers", "/var/lib/containers/cache",
          "/var/lib/containers/cache/blob-info-cache-v1.boltdb"]


@contextlib.contextmanager
def no_traces():
    """What was not there before is not there afterwards."""
    new = [path for path in map(Path, TRACES) if not path.exists()]
    try:
        yield
    finally:
        for path in reversed(new):
            with contextlib.suppress(OSError):
                (path.rmdir if path.is_dir() else path.unlink)()


def make_tree():
    """As who has built here would hand it over."""
    run("git", "-C", str(ROOT), "checkout-index", "-a", f"--prefix={os.path.abspath('tree')}/")
    for place in ("build/release/muster", "muster-runs/0001-abcd/run.token"):
        path = Path("tree", place)
        path.parent.mkdir(parents=True)
        path.write_text("of another machine\n")


def check_context(tap):
    """What `COPY .` of the Containerfile takes along."""
    Path("all").write_text("FROM scratch\nCOPY . /\n")
    taken = buildah("bud", "-q", "-f", "all", "-t", "localhost/all", "tree")
    name = buildah("from", "--pull-never", "localhost/all").stdout.strip()
    place = Path(buildah("mount", name).stdout.strip() or "nowhere")
    tap.ok((place / "Makefile").exists() and not (place / "build").exists() and
           not (place / "muster-runs").exists(),
           "what was built here, and keys of runs, stay here",
           taken.stderr + str(sorted(path.name for path in place.glob("*"))))
    buildah("rm", name)
    buildah("rmi", "localhost/all")


def make_base():
    """Its name, or None and what went wrong."""
    if "BASE" in os.environ:
        return os.environ["BASE"], ""
    # What chroot needs of signatures lies beside the sources here.
    sources = [*glob.glob("/etc/apt/sources.list.d/*.sources"), "/etc/apt/sources.list"]
    made = run("mmdebstrap", "--variant=minbase", "bookworm", "base.tar", sources[0])
    if made.returncode:
        return None, made.stderr
    name = buildah("from", "scratch").stdout.strip()
    steps = [buildah("add", "-q", name, "base.tar", "/"),
             buildah("commit", "-q", "--rm", name, "localhost/base")]
    return (None, steps[-1].stderr) if any(step.returncode for step in steps) \
        else ("localhost/base", "")


def bytes_of(image):
    """Of the files in it."""
    name = buildah("from", "--pull-never", image).stdout.strip()
    place = buildah("mount", name).stdout.strip()
    total = int(run("du", "-sxb", place).stdout.split()[0])
    buildah("rm", name)
    return total


def main():
    tap = Tap()
    lacking = [tool for tool in ("buildah", "mmdebstrap") if not shutil.which(tool)]
    if lacking or os.getuid() != 0:
        tap.skip("container", f"{' and '.join(lacking)} not installed (tools/deps.sh engines)"
                 if lacking else "to build an image here takes root")
        tap.done()
    with no_traces():
        check(tap)


def check(tap):
    make_tree()
    check_context(tap)
    base, why = make_base()
    if base is None:
        tap.skip("container", f"no Debian for a base could be had: {why[-200:]!r}")
        tap.done()
    built = buildah("bud", "-q", "--network", "host", "--build-arg", f"BASE={base}", "-f",
                    "tree/deploy/Containerfile", "-t", "localhost/muster", "tree")
    if tap.ok(built.returncode == 0, "the image is built", built.stderr[-2000:]):
        ours = bytes_of("localhost/muster") - bytes_of(base)
        tap.ok(0 < ours < OURS_MAX, f"our part: {ours >> 20} MiB, less than 60")
        name = buildah("from", "--pull-never", "localhost/muster").stdout.strip()
        inside = buildah("run", name, "--", "muster", *JOB)
        alone = run(MUSTER, *JOB)
        tap.equal(json.loads(inside.stdout or "{}").get("hash"), json.loads(alone.stdout)["hash"],
                  "the hash inside is that outside")
        tap.equal(buildah("run", name, "--", "id", "-u").stdout.strip(), "65534", "not root")
        buildah("rm", name)
    buildah("rmi", "-a", "-f")
    tap.done()


main()
