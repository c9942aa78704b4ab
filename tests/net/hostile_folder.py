#!/usr/bin/env python3
"""A run folder that somebody else has been in: pipes and links in the place of
its files, a journal that says it is huge, damage.  Nothing waits, nothing
outside the folder is touched, and a checkpoint that is whole is used."""

import os
import shutil
import sys
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from cluster import Tap, run, train

DATA = ["gen:gmm:2000,10", "--seed", 3, "--chunk-rows", 64, "--steps", 25]
PROMPT_S = 25  # "At once", on a machine that is busy.


def resume(folder, *more):
    return train(*more, "--resume", folder, timeout=PROMPT_S)


def copy(name):
    shutil.copytree("whole", name)
    return Path(name)


def no_plain_files(tap):
    for name in ("format", "config", "journal", "checkpoint.0", "checkpoint.1", "lock"):
        for kind in ("pipe", "link"):
            folder = copy(f"{name}-{kind}")
            (folder / name).unlink()
            if kind == "pipe":
                os.mkfifo(folder / name)
            else:
                Path("outside").write_text("mine\n")
                (folder / name).symlink_to(Path("outside").resolve())
            done = resume(folder)
            tap.ok(done["exit"] == 1 and "not a plain file" in done["error"],
                   f"{name} is a {kind}", done)
    tap.equal(Path("outside").read_text(), "mine\n", "no link was followed")
    folder = copy("address-pipe")
    os.mkfifo(folder / "address")
    done = run("status", folder, timeout=PROMPT_S)
    tap.ok(done.returncode == 1 and "not a plain file" in done.stderr,
           "status of a folder whose address is a pipe", done)


def huge(tap, wanted):
    """Holes: 20 GiB that take no room."""
    folder = copy("huge")
    os.truncate(folder / "journal", 20 << 30)
    done = resume(folder)
    tap.equal(done.get("hash"), wanted, "a journal with a hole of 20 GiB")
    tap.ok((folder / "journal").stat().st_size < 1 << 20, "... is cut")
    folder = copy("hollow")
    os.truncate(folder / "journal", 0)
    os.truncate(folder / "journal", 20 << 30)
    done = resume(folder)
    tap.equal(done.get("hash"), wanted, "a journal that is nothing but a hole")
    page = run("report", folder, timeout=PROMPT_S)
    tap.equal(page.returncode, 0, "... has a report")


def huge_checkpoint(tap, wanted):
    """Nothing but a hole, or one behind what is whole; the other is used."""
    for name, size in (("hole", 0), ("tail", None)):
        folder = copy(f"checkpoint-{name}")
        older = min(folder.glob("checkpoint.?"),
                    key=lambda path: path.stat().st_mtime_ns)
        if size == 0:
            os.truncate(older, 0)
        os.truncate(older, 4 << 40)
        done = resume(folder)
        tap.equal(done.get("hash"), wanted, f"a checkpoint, 4 TiB: {name}")


def damaged(tap, wanted):
    size = os.path.getsize("whole/journal")
    for name, at in (("cut by 7 bytes", None), ("one bit, last record",
                                                size - 50),
                     ("one bit, in the middle", size // 2),
                     ("one bit, first record", 20)):
        folder = copy(name.replace(" ", "-"))
        path = folder / "journal"
        data = bytearray(path.read_bytes())
        if at is None:
            del data[-7:]
        else:
            data[at] ^= 4
        path.write_bytes(data)
        done = resume(folder)
        tap.ok(done["exit"] == 0 and done.get("hash") == wanted and
               "receipts" in done["stderr"],
               f"a finished run's journal, {name}: recovered and said", done)
        again = resume(folder)
        tap.ok(again.get("hash") == wanted and "damaged" not in
               again["stderr"], "... and whole afterwards", again)


def formats(tap, wanted):
    """Another version's folder is not guessed at."""
    folder = copy("older")
    (folder / "format").unlink()
    (folder / "config").write_text("--an-option-of-old=1\n")
    done = resume(folder)
    tap.ok(done["exit"] == 2 and "which muster 0.1 reads" in done["error"],
           "a folder without a format number", done)
    for command in ("report", "status", "stop", "join"):
        done = run(command, str(folder))
        tap.ok(done.returncode != 0 and "which muster 0.1 reads" in done.stderr,
               f"... for {command}", done.stderr)
    (folder / "format").write_text("2\n")
    done = resume(folder)
    tap.ok(done["exit"] == 2 and "of format 2, which muster 0.2 reads and muster 0.4 does not" in
           done["error"], "a folder whose checkpoints were shorter", done)
    (folder / "format").write_text("99\n")
    done = resume(folder)
    tap.ok(done["exit"] == 2 and "of format 99" in done["error"],
           "a folder of a later format", done)
    (folder / "format").write_text("two\n")
    done = resume(folder)
    tap.ok(done["exit"] == 1 and "not the number of a format" in done["error"],
           "a format that makes no sense", done)
    tap.equal(resume(copy("same"))["hash"], wanted, "its own")


def locked(tap):
    """Who may not work there changes nothing there."""
    os.mkdir("locked")
    Path("locked/lock").symlink_to(Path("outside").resolve())
    Path("locked/config").write_text("mine\n")
    Path("locked/format").write_text("4\n") # It passes for a run's.
    done = train(*DATA, "-n", 2, "--out", "locked")
    tap.ok(done["exit"] == 1 and "not a plain file" in done["error"],
           "a new run beside a lock that is a link", done)
    tap.equal(({path.name for path in Path("locked").iterdir()},
               Path("locked/config").read_text()),
              ({"lock", "config", "format"}, "mine\n"), "... writes nothing")


def options(tap, wanted):
    """One bit of the run's options is another model."""
    folder = copy("options")
    path = folder / "config"
    text = path.read_text()
    tap.ok("--steps=25\n" in text, "its options", text)
    for name, altered in (("one bit", text.replace("=25", "=65")),
                          ("a line less", text.replace("--steps=25\n", "")),
                          ("cut off", text[:-9]), ("nothing", "")):
        path.write_text(altered)
        done = resume(folder)
        tap.ok(done["exit"] == 1 and "damaged or altered" in done["error"],
               f"options, {name}: refused", done)
    tap.equal(resume(folder, *DATA).get("hash"), wanted,
              "... and not needed where all are said again")


def strangers(tap):
    """Folders that another user made, or may put files in."""
    if os.geteuid() != 0:
        print("# skipped: only root can give folders to another user")
        return
    stranger = 65534
    folder = copy("foreign")
    os.chown(folder, stranger, stranger)
    done = resume(folder)
    tap.ok(done["exit"] == 1 and f"another user ({stranger}, you" in
           done["error"], "--resume of a stranger's folder", done)
    for command in ("status", "stop", "join"):
        done = run(command, folder, timeout=PROMPT_S)
        tap.ok(done.returncode == 1 and "another user" in done.stderr,
               f"{command} of a stranger's folder", done)
    done = run("report", folder)
    tap.ok(done.returncode == 1 and "another user" in done.stderr and
           "--to FILE" in done.stderr and
           not Path(folder, "report.html").exists(),
           "report writes nothing into a stranger's folder", done)
    done = run("report", folder, "--to", "strangers.html")
    tap.ok(done.returncode == 0 and Path("strangers.html").exists(),
           "... but elsewhere", done)
    os.mkdir("planted", 0o777)
    os.chown("planted", stranger, stranger)
    Path("planted/config").write_text("--save=precious\n--force\n")
    for name in ("planted", "link"):
        if name == "link":
            os.chown("planted", 0, 0)
            os.chmod("planted", 0o755)
            os.symlink("planted", "link")
            os.lchown("link", stranger, stranger)
        done = train(*DATA, "-n", 2, "--out", name)
        tap.ok(done["exit"] == 1 and "another user" in done["error"],
               f"--out of a stranger's {name}", done)
    os.mkdir("muster-runs", 0o700)
    os.chown("muster-runs", stranger, stranger)
    done = train(*DATA, "-n", 2)
    tap.ok(done["exit"] == 1 and "muster-runs: belongs" in done["error"],
           "muster-runs of a stranger", done)
    os.rmdir("muster-runs")


def strangers_above(tap):
    """Who owns a folder above, or may write there, may put another one in the
    place of the run's."""
    if os.geteuid() != 0:
        print("# skipped: only root can give folders to another user")
        return
    for name, owner, mode, words in (
            ("theirs", 65534, 0o755, "theirs: belongs to another user (65534"),
            ("theirs-sticky", 65534, 0o1777, "belongs to another user (65534"),
            ("for-all", 0, 0o777, "for-all: others may write to it (mode 0777)"),
            ("like-tmp", 0, 0o1777, None), ("ours", 0, 0o775, None)):
        os.mkdir(name)
        os.chmod(name, mode)
        os.chown(name, owner, 0)
        for out in (f"{name}/sub", os.path.abspath(f"{name}/deep/sub")):
            done = train(*DATA, "-n", 2, "--out", out)
            if words is None:
                tap.equal(done["exit"], 0, f"--out {name}/... is taken")
            else:
                tap.ok(done["exit"] == 1 and words in done["error"] and
                       "in the place of" in done["error"],
                       f"--out {name}/... is not", done)
    os.mkdir("private")
    os.symlink(os.path.abspath("private"), "theirs/link")
    os.lchown("theirs/link", 0, 0)
    done = train(*DATA, "-n", 2, "--out", "theirs/link/sub")
    tap.ok(done["exit"] == 1 and "theirs: belongs to" in done["error"],
           "a link of ours in a folder of theirs", done)
    os.chdir("theirs")
    done = train(*DATA, "-n", 2, "--out", "../worked-in")
    os.chdir("..")
    tap.equal(done["exit"], 0, "the folder that one works in is believed")


def reproduced(tap):
    """The pages of experiments replace what has their names."""
    if os.geteuid() != 0:
        print("# skipped: only root can give folders to another user")
        return
    os.mkdir("shared")
    os.chmod("shared", 0o1777)
    victim = Path("victim").resolve()
    victim.write_text("mine\n")
    os.chdir("shared")
    for at in ("muster-results", "results/prices"):
        os.makedirs(at)
        page = Path(at if at.endswith("prices") else at + "/prices")
        page.mkdir(exist_ok=True)
        (page / "index.html").symlink_to(victim)
        for path in (page / "index.html", page):
            os.lchown(path, 65534, 65534)
    os.lchown("muster-results", 65534, 65534)
    os.symlink("results", "to-link")
    os.lchown("to-link", 65534, 65534)
    for name, to in (("muster-results", []), ("--to", ["--to", "results"]),
                     ("a link", ["--to", "to-link"])):
        done = run("reproduce", "prices", "--quick", *to)
        tap.ok(done.returncode == 1 and "another user" in done.stderr,
               f"reproduce: a stranger's folder, {name}", done)
    os.chdir("..")
    tap.equal(victim.read_text(), "mine\n", "... nothing was written through")


def peers(tap):
    """One peer's folder is not the run's."""
    train(*DATA, "-n", 2, "--topology", "ring", "--out", "a-ring")
    done = resume("a-ring/w0")
    tap.ok(done["exit"] == 2 and "one peer of a ring" in done["error"] and
           done["error"].endswith("/a-ring"), "a peer's folder", done)


def poisoned_cache():
    """The note of rows.svm leads to the copy of other rows."""
    rows = [f"{1 if i % 3 else -1} 1:{i % 7} 2:{i % 5}\n" for i in range(60)]
    Path("other.svm").write_text("".join(row.replace("2:", "3:")
                                         for row in rows))
    Path("rows.svm").write_text("".join(rows))
    train("other.svm", "--cache", "cache")
    wanted = train("rows.svm", "--cache", "own")["hash"]
    key, = Path("cache").glob("*.key")
    note, = Path("own").glob("*.key")
    key.rename(Path("cache") / note.name)
    return wanted


def planted_copies(tap):
    """A cache is believed if nobody else could put files there."""
    wanted = poisoned_cache()
    tap.ok(train("rows.svm", "--cache", "cache")["hash"] != wanted,
           "a cache that was tampered with is believed if it is ours")
    os.chmod("cache", 0o1777)
    done = train("rows.svm", "--cache", "cache")
    tap.ok(done["hash"] == wanted and "--cache is not used: cache: others may "
           "write" in done["stderr"], "--cache that is open to all", done)
    os.chmod("cache", 0o700)
    if os.geteuid() != 0:
        return
    for path in Path("cache").iterdir():
        os.chown(path, 65534, 65534)
    done = train("rows.svm", "--cache", "cache")
    tap.equal(done.get("hash"), wanted, "--cache with a stranger's files")
    os.chown("cache", 65534, 65534)
    done = train("rows.svm", "--cache", "cache")
    tap.ok(done["hash"] == wanted and "another user" in done["stderr"],
           "--cache of a stranger", done)


def leftovers(tap, wanted):
    os.mkdir("open")
    os.chmod("open", 0o777)
    done = train(*DATA, "-n", 2, "--out", "open")
    tap.ok(done["exit"] == 1 and "others may write" in done["error"],
           "a folder that is open to all", done)
    os.chmod("open", 0o755)
    Path("precious").write_text("mine\n")
    Path("open/config").write_text("--save=precious\n--force=yes\n")
    Path("open/format").write_text("4\n") # Of a run that was killed early.
    done = train(*DATA, "-n", 2, "--out", "open")
    tap.equal(done.get("hash"), wanted, "a run beside a config of old")
    tap.ok("precious" not in Path("open/config").read_text(),
           "... writes its own")
    tap.equal(os.stat("open/config").st_mode & 0o777, 0o600, "... for itself")
    tap.equal(resume("open").get("hash"), wanted, "... which --resume obeys")
    tap.equal(Path("precious").read_text(), "mine\n", "... and no other")


def main():
    tap = Tap()
    wanted = train(*DATA)["hash"]
    whole = train(*DATA, "-n", 2, "--out", "whole")
    tap.equal(whole["hash"], wanted, "the run to be damaged")
    no_plain_files(tap)
    huge(tap, wanted)
    huge_checkpoint(tap, wanted)
    damaged(tap, wanted)
    formats(tap, wanted)
    options(tap, wanted)
    locked(tap)
    leftovers(tap, wanted)
    strangers(tap)
    strangers_above(tap)
    reproduced(tap)
    peers(tap)
    planted_copies(tap)
    tap.done()


main()
