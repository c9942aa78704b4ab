#!/usr/bin/env python3
"""`muster report`: the page of a real run, drawn by a real browser: all charts
with all their points, no error, no request, no markup from names, no secret."""

import json
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from cluster import Tap, Train, alive, run, train, wait_for
from journal import last_step

STEPS = 300
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
HOSTILE = ['</script><script>document.title="pwned"</script>',
           '<img src=x onerror=document.title="pwned">',
           '"onload="document.title=1', "a&b'`${1}"]


class Page(HTMLParser):
    """Elements by id, and everything with its attributes."""

    def __init__(self, text):
        super().__init__()
        self.all = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.all.append((tag, dict(attributes)))

    def by_id(self, name):
        return next((a for _, a in self.all if a.get("id") == name), None)

    def inside(self, name):
        """Elements from the one of that id to the next that has an id."""
        found = []
        on = False
        for tag, attributes in self.all:
            if "id" in attributes:
                on = attributes["id"] == name
            if on:
                found.append((tag, attributes))
        return found


def page_requests(log):
    """Addresses that the page asked for.  The browser has errands of its own,
    which have no initiator (and find no host, see below)."""
    try:
        events = json.loads(log)["events"]
    except ValueError:  # The browser was in a hurry to end.
        events = json.loads(log.rstrip().rstrip(",") + "]}")["events"]
    params = [event.get("params") or {} for event in events]
    return {p["url"] for p in params
            if "url" in p and p.get("initiator") not in (None, "not an origin")}


def browse(path, *flags):
    """What the browser made of it: (DOM, console lines, requests)."""
    browser = next(filter(None, map(shutil.which, BROWSERS)))
    done = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu",
         "--disable-background-networking", "--disable-component-update",
         "--disable-sync", "--no-first-run", "--user-data-dir=profile",
         "--host-resolver-rules=MAP * ~NOTFOUND",
         "--enable-logging=stderr", "--log-net-log=net.json", *flags,
         "--dump-dom", Path(path).resolve().as_uri()],
        capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=90)
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return done.stdout, console, page_requests(Path("net.json").read_text())


def rows(page, name):
    return sum(tag == "tr" for tag, _ in page.inside(name))


def test_page(tap, data):
    run("report", "a", "--price", "1.04")
    text, console, asked = browse("a/report.html")
    page = Page(text)
    drawn = any(a.get("data-drawn") == "yes" for _, a in page.all)
    tap.ok(drawn and not console, "drawn without a word on the console",
           console)
    tap.equal(asked, set(), "nothing is asked of the network")
    line = [a for t, a in page.inside("loss") if t == "polyline"]
    tap.equal([len(a["points"].split()) for a in line], [STEPS],
              "the loss has a point for every step")
    bars = [int(a["data-count"]) for _, a in page.inside("times")
            if "data-count" in a]
    tap.equal(sum(bars), STEPS, "every step is in the histogram")
    tap.equal((page.by_id("lanes") or {}).get("data-workers"), "8",
              "eight workers have a lane")
    tap.equal([(page.by_id("matrix") or {}).get(key) for key in
               ("data-rows", "data-columns")], ["8", "4"],
              "the code's matrix is shown")
    tap.equal(rows(page, "receipts"), STEPS + 1, "and every receipt")
    tap.equal(rows(page, "workers"), 9, "and every worker's times")
    tap.ok(len([a for _, a in page.inside("hindsight")
                if "data-seconds" in a]) >= 3, "and what others would take")
    tap.ok(data["hash"] in text, "the hash is there")
    tap.ok("--stragglers=1" in text, "so is the command line")
    tap.ok(re.search(r"\d \$</b><span>cost: [\d.e-]+ worker-hours at 1\.04 \$; "
                     r"about [\d.e-]+ \$ if uncoded", text), "and what it cost")
    dark, console, _ = browse("a/report.html",
                              "--blink-settings=preferredColorScheme=0")
    tap.ok('data-drawn="yes"' in dark and not console, "dark works, too",
           console)


def test_hostile(tap):
    path = Path("a/history.1.json")
    history = json.loads(path.read_text())
    wanted = history["workers"]
    for i, name in enumerate(HOSTILE):
        history["workers"][i] = name
        history["result"]["worker_times"][i]["name"] = name
        history["events"].append([0, 1, "died", name])
    history["code"]["name"] = HOSTILE[0]
    history["metric"] = HOSTILE[1]
    path.write_text(json.dumps(history))
    run("report", "a", "--to", "hostile.html")
    text, console, asked = browse("hostile.html")
    page = Page(text)
    tap.ok('data-drawn="yes"' in text and not console and not asked,
           "hostile names are drawn", (console, asked))
    tap.ok("<title>Muster report</title>" in text and
           sum(tag == "script" for tag, _ in page.all) == 2 and
           not any(tag == "img" or "onload" in a or "onerror" in a
                   for tag, a in page.all), "and stay text")
    tap.ok(any(a.get("data-worker") == HOSTILE[1] for _, a in page.all),
           "as they are", wanted)


def test_static(tap, result):
    text = Path("a/report.html").read_text()
    tap.ok(not re.search(r'(src|href)\s*=|url\(|@import|fetch\(|XMLHttp', text),
           "the page names nothing outside itself")
    done = run("report", "a", "--format", "json")
    said = json.loads(done.stdout)
    tap.equal([said["class"], said["steps"], said["recorded_steps"]],
              ["bitwise", STEPS, STEPS], "as JSON: class and steps")
    tap.ok(said["uncoded_ratio"] > 0, "as JSON: hindsight", said)
    tap.equal(result["hash"] in text, True, "the page has the model's hash")


def test_secret(tap):
    run("token", "new", "canary.token")
    words = [w for w in Path("canary.token").read_text().split()
             if len(w) >= 16]
    train("gen:gmm:2000,10", "-n", 2, "--steps", 20, "--token-file",
          "canary.token", "--out", "s")
    run("report", "s")
    kept = [Path("s/report.html"), Path("s/history.1.json"), Path("s/config")]
    tap.ok(words and all(p.exists() and not any(w in p.read_text()
                                                for w in words)
                         for p in kept), "no secret in history or report")


def test_resumed(tap):
    train("gen:gmm:2000,10", "-n", 2, "--steps", 40, "--chaos",
          "kill:coordinator@10", "--out", "t")
    run("report", "t")
    tap.ok("all 40 steps" in Path("t/report.html").read_text(),
           "a run whose coordinator died is told whole")
    Path("t/history.1.json").unlink()
    done = run("report", "t")
    tap.equal(done.returncode, 0, "without a history there is still a page")


def data_of(path):
    """What the page draws."""
    text = re.search(r'<script id="data"[^>]*>(.*?)</script>',
                     Path(path).read_text(), re.S)[1]
    return json.loads(text)


def test_starts(tap):
    """What a page says of a run that was resumed is of all its starts."""
    results = [train("gen:gmm:2000,10", "-n", 2, "--steps", 40,
                     "--out", "r"),
               train("--resume", "r", "--steps", 80)]
    run("report", "r")
    starts = data_of("r/report.html").get("starts", {})
    tap.equal((starts.get("count"), starts.get("killed"), starts.get("gaps")),
              (2, 0, []), "the starts of a run are counted")
    tap.ok(abs(starts.get("elapsed_s", 0) -
               sum(result["elapsed_s"] for result in results)) < 1e-6,
           "the time of a run is that of all its starts", starts)
    answers = {worker["name"]: worker["answers"]
               for worker in starts.get("worker_times", [])}
    tap.equal(answers, {name: sum(worker["answers"] for result in results
                                  for worker in result["worker_times"]
                                  if worker["name"] == name)
                        for name in ("w0", "w1")},
              "... and so are its workers' answers")


def test_deaths(tap):
    """`muster train` itself is killed, after a worker and the coordinator were:
    the run that is resumed has their deaths in its report, and its own."""
    flags = ["gen:gmm:2000,10", "-n", 4, "--chunk-rows", 64]
    job = Train(*flags, "--steps", 10 ** 6, "--out", "d", "--chaos",
                "kill:w1@5,kill:coordinator@20")
    first = Path("d/history.1.json")
    try:  # Sooner than the half minute after which all is written anyway.
        wait_for(lambda: first.exists() and json.loads(first.read_text()).get(
            "deaths") == {"workers": 1, "coordinators": 1},
                 "the deaths to be written down", 20)
    except AssertionError as late:
        print(f"# {late}")
    left = job.children()
    job.process.kill()
    job.process.communicate()
    wait_for(lambda: not any(alive(pid) for _, pid in left),
             "its workers to end")
    step = last_step("d")
    kept = json.loads(first.read_text())["steps"][-1]["step"]
    again = train("--resume", "d", "--save", "d.model", "--steps", step + 40,
                  "--chaos", f"kill:w2@{step + 10}")["workers"]
    tap.equal((again["died"], again.get("since_resume")), (1, True),
              "a result's counts are those since --resume, and say so")
    tap.equal(json.loads(Path("d.model.card.json").read_text()).get("workers"), again,
              "... and so are those of the model's card")
    shown = run("model", "show", "d.model").stdout
    tap.ok(re.search(r"died 1, max \d since --resume", shown),
           "... which says so as a text, too", shown)
    said = json.loads(run("report", "d", "--format", "json").stdout)
    tap.equal(said.get("died"), 2, "deaths before a resume are in the report")
    page = Path("d/report.html").read_text()
    tap.ok(re.search('"deaths": *{"workers": *2, *"coordinators": *1}', page),
           "... the coordinator's, too")
    began = json.loads(Path("d/history.2.json").read_text())["steps"][0]["step"]
    tap.equal(data_of("d/report.html").get("starts", {}).get("gaps"),
              [[kept + 1, began - 1]] if began > kept + 1 else [],
              "steps that nobody wrote down are told")
    history = json.loads(first.read_text())
    history["events"] = 500 * [[0, 1, "died", "w1"]]
    history["events_lost"] = 200
    history["deaths"]["workers"] = 700
    first.write_text(json.dumps(history))
    said = json.loads(run("report", "d", "--format", "json").stdout)
    tap.equal(said.get("died"), 701, "... also more of them than events")


def test_own_code(tap):
    """Codes with settings that no other code has."""
    for k, (code, rows, columns, label) in enumerate((
            ("flexent:shadows=2:size=20%", 6, 8, "flexent s=1 S=2 20% (used)"),
            ("cec:l=3:p=9", 9, 3, None), ("elastic", 12, 5, None))):
        folder = f"own{k}"
        train("gen:gmm:4000,10", "-n", 6, "--optim", "gd", "--steps", 5,
              "--code", code, "--out", folder)
        run("report", folder)
        text = Path(folder, "report.html").read_text()
        found = re.search(r'"matrix":\s*(\[\[.*?\]\])', text, re.S)
        matrix = json.loads(found.group(1)) if found else []
        tap.equal((len(matrix), len(matrix and matrix[0])), (rows, columns),
                  f"the matrix of {code} is its own")
        tap.ok(label is None or f'"label":"{label}"' in text.replace(
            '": "', '":"'), f"and so is what is replayed of {code}")


def test_blind(tap):
    """Where a step's times are not those of its own answers."""
    for folder, words in (("u", ["ignore:staleness=1", "--optim", "gd"]),
                          ("v", ["frc", "--verify"])):
        train("gen:gmm:2000,10", "-n", 4, "--stragglers", 1, "--steps", 20,
              "--out", folder, "--code", *words)
        said = json.loads(run("report", folder, "--format", "json").stdout)
        tap.ok(said.get("uncoded_ratio") is None and "cannot be said" in
               Path(folder, "report.html").read_text(),
               f"no hindsight with {words[1]}", said)


def main():
    tap = Tap()
    result = train("gen:gmm:20000,30", "-n", 8, "--code", "frc",
                   "--stragglers", 1, "--delay", "worker:w3=4", "--steps",
                   STEPS, "--out", "a")
    tap.equal(run("report", "a").returncode, 0, "a report is written")
    test_static(tap, result)
    test_secret(tap)
    test_resumed(tap)
    test_starts(tap)
    test_deaths(tap)
    test_own_code(tap)
    test_blind(tap)
    if any(map(shutil.which, BROWSERS)):
        test_page(tap, result)
        test_hostile(tap)
    elif os.environ.get("CI"):  # tools/deps.sh has installed one.
        tap.ok(False, "there is a browser for the page")
    else:
        tap.skip("the page in a browser",
                 "no Chromium here: apt install chromium")
    tap.done()


main()
