#!/usr/bin/env python3
"""`muster reproduce all --quick --virtual`: every experiment runs and has a
page; what stands on a page comes from the files of its runs; pages need nothing
else and fit narrow and wide windows, light and dark, in a real browser."""

import collections
import csv
import gzip
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import xml.dom.minidom
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from cluster import Tap, run

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
WIDTHS = (400, 1400)
# Drawn at each width; light is what a browser has unless told otherwise.
FRAMES = """<!doctype html><body>%s<script>
addEventListener("load", () => {
  const out = [...document.querySelectorAll("iframe")].map(frame => {
    const page = frame.contentDocument, style =
      frame.contentWindow.getComputedStyle(page.body);
    return {wide: page.documentElement.scrollWidth, frame: +frame.width,
            plots: [...page.querySelectorAll("svg")].map(
              s => s.getBoundingClientRect().width),
            tables: [...page.querySelectorAll(".scroll")].map(
              s => ({cut: s.scrollWidth > s.clientWidth, shade:
                frame.contentWindow.getComputedStyle(s).backgroundAttachment})),
            ink: style.color, paper: style.backgroundColor};
  });
  document.body.textContent = JSON.stringify(out);
});</script></body>"""


def luminance(colour):
    parts = [int(x) / 255 for x in re.findall(r"\d+", colour)[:3]]
    parts = [x / 12.92 if x <= .03928 else ((x + .055) / 1.055) ** 2.4
             for x in parts]
    return .2126 * parts[0] + .7152 * parts[1] + .0722 * parts[2]


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + .05) / (low + .05)


def looked_at(pages, *flags):
    """What the browser measured of every page at every width."""
    Path("frames.html").write_text(FRAMES % "".join(
        f'<iframe src="{page}" width="{width}" height="900"></iframe>'
        for page in pages for width in WIDTHS))
    browser = next(filter(None, map(shutil.which, BROWSERS)))
    done = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu",
         "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync",
         "--allow-file-access-from-files", "--enable-logging=stderr",
         "--user-data-dir=" + os.path.abspath("browser"), *flags,
         "--dump-dom", "file://" + os.path.abspath("frames.html")],
        capture_output=True, text=True, timeout=120, check=False)
    found = re.search(r"<body>(\[.*\])</body>", done.stdout, re.S)
    return json.loads(found.group(1)) if found else [], \
        [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def numbers_come_from_runs(tap, folder):
    """Each run's JSON lies there, and each table is in its CSV as well."""
    data = json.loads((folder / "data.json").read_text())
    page = (folder / "index.html").read_text()
    wrong = []
    for command in data["commands"]:
        kept = json.loads((folder / command["file"]).read_text())
        if kept != command["result"]:
            wrong.append(command["line"])
    for number, table in enumerate(data["tables"], 1):
        with open(folder / f"table-{number}.csv", newline="") as file:
            rows = list(csv.reader(file))
        if rows != [table["columns"], *table["rows"]]:
            wrong.append(table["title"])
        if len(set(table["columns"])) < len(table["columns"]):
            wrong.append(("two columns of one name", table["columns"]))
        if any("nan" in cell for row in table["rows"] for cell in row):
            wrong.append(("nan", table))
    for plot in data["plots"]:
        picture = xml.dom.minidom.parse(str(folder / f"{plot['file']}.svg"))
        drawn = picture.getElementsByTagName("polyline")
        if len(drawn) != len(plot["lines"]) or \
                any(not line["points"] for line in plot["lines"]):
            wrong.append(plot["title"])
    tap.ok(not wrong and data["tables"] and data["plots"] and
           page.count("<svg") == len(data["plots"]) and "http" not in re.sub(
        r'xmlns="[^"]*"', "", page) and "<script" not in page,
           f"{folder.name}: page, CSV and SVG are of its runs", wrong)


def means_of_seeds(tap, folder):
    """FlexEnt's seconds a step are of all seeds, as all else in the table."""
    data = json.loads((folder / "data.json").read_text())
    runs = [command["result"]["runs"] for command in data["commands"]
            if "--compare uncoded" in command["line"]
            and "gen:digits" in command["line"]]
    arms = [row for row in data["tables"][1]["rows"]
            if row[0] == "alike" and row[1] != "30 %"]
    steps = [sum(run[i]["mean_step_s"] for run in runs) / len(runs)
             for i in range(len(arms))]
    tap.ok(len(runs) == 3 and len(arms) == 8 and all(
        abs(float(arm[3]) - step) < .006 for arm, step in zip(arms, steps)),
           "flexent: seconds a step are the seeds' mean", (arms, steps))


def at_one_time(tap, folder):
    """FlexEnt's accuracies are those of the last step that each arm has ended
    when the fastest of all has made its last: nobody has stopped before."""
    data = json.loads((folder / "data.json").read_text())
    asked = [command for command in data["commands"]
             if "--compare" in command["line"]]
    plain = {labels: [command["result"]["runs"] for command in asked
                      if labels in command["line"]
                      and "--compare uncoded" in command["line"]]
             for labels in ("gen:digits", "gen:sorted")}
    wanted, shown = [], []
    for row in data["tables"][1]["rows"]:
        labels = "gen:digits" if row[0] == "alike" else "gen:sorted"
        if row[1] != "30 %" or row[2] != "shrink":
            continue
        steps = []
        for first, command in zip(plain[labels], [
                command for command in asked if labels in command["line"]
                and "--compare flexent:size=30%" in command["line"]]):
            runs = command["result"]["runs"]
            end = min(run["total_s"] for run in first[:4] + runs)
            steps.append([point for point in runs[3]["series"]
                          if point["t_s"] <= end + 1e-9])
        accuracy = sum(100 * own[-1]["accuracy"] for own in steps) / 3
        wanted.append((f"{sum(map(len, steps)) / 3:.1f}", f"{accuracy:.2f}"))
        shown.append((row[5], row[6]))
        tap.ok(len(steps) == 3 and any(len(own) < 20 for own in steps),
               f"flexent: {row[0]}: a step of 30 % takes longer", steps)
    tap.equal(shown, wanted, "flexent: accuracies are at one time")


def lines_of(data, word="train"):
    return [command["line"] for command in data["commands"]
            if command["line"].startswith(word)]


def diverged(result):
    return "the training diverged" in result.get("error", "") or "diverged" in (
        result.get("end"), result.get("refit", {}).get("end"))


def words_follow_virtual(tap, all_data):
    """Where all runs are of the simulator, or of one process that nobody
    timed, no word is of real ones; where not, the page says that they are."""
    wrong = []
    for name, data in all_data.items():
        page = Path("out", name, "index.html").read_text()
        said = re.sub(r"<pre>.*?</pre>", "", page, flags=re.DOTALL)
        real = any(command["program"] != "muster" or " -n " in command["line"]
                   for command in data["commands"]
                   if not command["line"].startswith("simulate"))
        told = re.search("no virtual form", said) is not None
        if real != told or (not real and re.search(
                r"real (runs|seconds|times)|Seconds of a whole run", said)):
            wrong.append((name, real, told))
    tap.equal(wrong, [], "with --virtual no page speaks of real runs that "
              "it has not")


def no_run_twice(tap, all_data):
    twice = [line for data in all_data.values()
             for line, times in collections.Counter(
                 command["program"] + " " + command["line"]
                 for command in data["commands"]).items() if times > 1]
    tap.equal(twice, [], "no experiment runs a command twice")


def trouble_is_marked(tap, all_data):
    """A run that diverged is counted, and marked in the list of runs."""
    wrong, seen = [], 0
    for name, data in all_data.items():
        files = [command["file"] for command in data["commands"]
                 if diverged(command["result"])]
        page = Path("out", name, "index.html").read_text()
        marked = re.findall(r"# (run-\d+\.json): \S", page)
        told = [remark for remark in data["remarks"]
                if f"{len(files)} of the {len(data['commands'])} runs diverged"
                in remark]
        seen += len(files)
        if marked != files or len(told) != (len(files) > 0):
            wrong.append((name, files, marked, told))
    tap.ok(not wrong and seen > 0, "runs that diverged are marked", wrong)


def kinds_are_told(tap, all_data):
    """A page says what is of real processes, and what of the simulator."""
    wrong = {}
    for name, data in all_data.items():
        virtual = len(lines_of(data, "simulate "))
        real = sum(command["line"].startswith(("train ", "product ")) or
                   command["program"] != "muster"
                   for command in data["commands"])
        told = "Every run is simulated, in virtual time" if not real else \
            "Every run is of real processes" if not virtual else \
            f"{real} of the runs " + ("is" if real == 1 else "are") + \
            " of real processes (muster train, muster product), " \
            f"{virtual} " + ("is" if virtual == 1 else "are") + " simulated"
        if sum(told in remark for remark in data["remarks"]) != 1:
            wrong[name] = told
    tap.equal(wrong, {}, "pages say which runs are real")


def one_thread_each(tap, all_data):
    """More workers are more hardware, or it is no scaling."""
    wrong = [line for name in ("scaling", "ring-mnist")
             for line in lines_of(all_data[name])
             if " --threads 1 " not in line]
    silent = [name for name in ("scaling", "ring-mnist")
              if not re.search(r"This machine has \d+ processors?,",
                               " ".join(all_data[name]["remarks"]))]
    tap.equal((wrong, silent), ([], []),
              "scaling and ring-mnist: one thread each, processors are told")


def communication_is_told(tap, data):
    """1 - compute_s / elapsed_s of each run's account, for workers, for sizes
    and for densities."""
    rows = [dict(zip(table["columns"], row)) for table in data["tables"]
            for row in table["rows"]]
    found = [row[column] for row in rows for column in row
             if "communication" in column]
    real = set()
    for command in data["commands"]:
        run_ = command["result"]
        times = [one["compute_s"] for one in run_["worker_times"]]
        real.add(f"{1 - sum(times) / len(times) / run_['elapsed_s']:.2f}")
    tap.ok(len(data["tables"]) == 3 and len(found) == 18 and
           set(found) <= real and all(0 <= float(cell) < 1 for cell in found),
           "scaling: communication is of the runs' accounts", (found, real))
    ones = [sum(line.count(":") for line in open(f"out/scaling/ones-{part}.svm"))
            for part in (20, 5, 1)]
    sparse = data["tables"][2]["rows"]
    tap.ok([int(row[1]) for row in sparse] == ones and all(
        abs(count / 1e6 - part) < .1 * part
        for count, part in zip(ones, (.2, .05, .01))),
           "scaling: as sparse as the table says", (sparse, ones))


def credit_says_what_happened(tap, data):
    rows = {row[0]: row for row in data["tables"][0]["rows"]}
    hashes = [row[-1] for row in rows.values()
              if re.fullmatch("[0-9a-f]{12}", row[-1])]
    bad = [command for command in data["commands"]
           if diverged(command["result"])]
    tap.ok(len(set(hashes)) == 1 and
           sum("diverged" in name for name in rows) == len(bad),
           "credit-svm: no hash of what diverged, nor of cec", rows)
    chosen = lines_of(data)[0]
    best = data["commands"][0]["result"]["best"]["options"]["c"]
    costs = re.search(r"--grid c=(\S*)", chosen).group(1).split(",")
    edge = float(best) in (min(map(float, costs)), max(map(float, costs)))
    tap.ok(any(f"chose c = {best} " in remark and
               ("edge" in remark) == edge for remark in data["remarks"]),
           "credit-svm: a choice at the grid's edge is told", data["remarks"])


def floor_is_of_seeds(tap, data):
    """Its gap is the mean over seeds of mse above that seed's least."""
    least, gaps = {}, {}
    for command in data["commands"]:
        seed = re.search(r"--seed (\d+)", command["line"]).group(1)
        collect = re.search(r"collect=(\d+)", command["line"])
        if command["line"].startswith("train"):
            least[seed] = command["result"]["test_metrics"]["mse"]
        elif collect:
            gaps.setdefault(collect.group(1), {})[seed] = \
                command["result"]["metrics"]["mse"]
    rows = data["tables"][0]["rows"]
    means = [sum(mse - least[seed] for seed, mse in gaps[row[0]].items()) /
             len(least) for row in rows]
    tap.ok(len(least) >= 3 and all(
        abs(float(row[2].split()[0]) / mean - 1) < .01
        for row, mean in zip(rows, means)),
           "noise-floor: the gap is a mean of seeds", (rows, means))


def thirty_workers(tap, floor):
    """Steps on the stand-ins wait for all of 30 workers: they take what the
    delays of 30 come to, whatever the data are."""
    done = run("reproduce", "erasurehead", "--virtual", "--to", "thirty", "-q")
    data = json.loads(Path("thirty/erasurehead/data.json").read_text())
    seen = {}
    for command in data["commands"] + floor["commands"]:
        line = command["line"]
        if "-n 30" not in line:
            continue
        delay = re.search(r"--delay (\S+)", line).group(1)
        steps = re.search(r"--steps (\d+)", line).group(1)
        seed = (re.findall(r"--seed (\d+)", line) or ["0"])[0]
        for one in command["result"].get("runs", [command["result"]]):
            code = one["label"].replace(" s=", ":s=") if "label" in one else \
                re.search(r"--code (\S+)", line).group(1)
            if code.startswith(("uncoded", "frc")):
                seen.setdefault((delay, steps, seed, code), []).append(
                    one["mean_step_s"])
    wrong = {}
    for (delay, steps, seed, code), times in seen.items():
        bare = json.loads(run("simulate", "-n", "30", "--no-compute", "--work",
                              "0", "--delay", delay, "--steps", steps, "--seed",
                              seed, "--code", code, "--format",
                              "json").stdout)["mean_step_s"]
        if any(abs(time - bare) > 1e-6 for time in times):
            wrong[delay, steps, seed, code] = (times, bare)
    tap.ok(done.returncode == 0 and not wrong and len(seen) > 5,
           "30 workers: all of them have rows", wrong or done.stderr)


def digits_of_mnist(tap):
    """Files as MNIST's, packed or not, found by --raw, their labels by their
    names."""
    folder = Path("set/mnist")
    folder.mkdir(parents=True)
    for name, count in (("train", 60000), ("t10k", 10000)):
        labels = bytes(random.Random(count).choices(range(10), k=count))
        rows = [bytes(20 * k + j % 50 for j in range(784)) for k in range(10)]
        for kind, head, body in (
                ("images-idx3", struct.pack(">IIII", 2051, count, 28, 28),
                 b"".join(rows[label] for label in labels)),
                ("labels-idx1", struct.pack(">II", 2049, count), labels)):
            path = folder / f"{name}-{kind}-ubyte"
            if name == "train":
                path.with_suffix(".gz").write_bytes(
                    gzip.compress(head + body, 1))
            else:
                path.write_bytes(head + body)
    for name, file in (("ring-mnist", "some"), ("flexent", "alike")):
        done = run("reproduce", name, "--quick", "--virtual", "--raw", "set",
                   "--to", "digits", "-q")
        tap.ok(done.returncode == 0, f"{name} with MNIST's files",
               done.stderr[-1000:])
        data = json.loads(Path("digits", name, "data.json").read_text())
        tap.ok(any(f" {file}-images-idx3-ubyte --test" in line
                   for line in lines_of(data) + lines_of(data, "simulate")) and
               not any("not at hand" in remark for remark in data["remarks"]),
               f"{name}: its runs read them", data["remarks"])
    labels = Path("digits/flexent/skewed-labels-idx1-ubyte").read_bytes()[8:]
    tap.ok(len(labels) == 800 and list(labels) == sorted(labels),
           "flexent: skewed rows are in the order of their labels")


def pages(tap, names):
    paths = [f"out/{name}/index.html" for name in names]
    light, said = looked_at(paths)
    dark, more = looked_at(paths, "--force-dark-mode")
    tap.equal(said + more, [], "no word on the browser's console")
    tap.equal(len(light), len(paths) * len(WIDTHS), "every page was drawn")
    wide = [seen for seen in light if seen["wide"] > seen["frame"]]
    tap.equal(wide, [], "no page is wider than its window")
    tables = [table for seen in light if seen["frame"] == WIDTHS[0]
              for table in seen["tables"]]
    cut = [table for table in tables if table["cut"]]
    tap.ok(2 * len(cut) < len(tables) and
           all(re.search("local.*scroll", table["shade"]) for table in cut),
           "narrow: most tables wrap, the others show that they go on", tables)
    plots = [len(json.loads(Path(path).with_name("data.json").read_text())
                 ["plots"]) for path in paths for _ in WIDTHS]
    tap.ok(all(width > 200 for seen in light for width in seen["plots"]) and
           [len(seen["plots"]) for seen in light] == plots and sum(plots) > 0,
           "plots are drawn", light)
    for name, seen in (("light", light), ("dark", dark)):
        worst = min(contrast(one["ink"], one["paper"]) for one in seen)
        tap.ok(worst >= 7, f"{name}: contrast of text at least 7", worst)
    tap.ok(dark and luminance(dark[0]["paper"]) < .1 < .9 <
           luminance(light[0]["paper"]), "dark is dark, light is light")


def main():
    tap = Tap()
    listed = run("reproduce", "--format", "json")
    names = [one["name"] for one in json.loads(listed.stdout)]
    done = run("reproduce", "all", "--quick", "--virtual", "--to", "out",
               timeout=170)
    tap.ok(done.returncode == 0, "all of them run", done.stderr[-2000:])
    for name in names:
        numbers_come_from_runs(tap, Path("out", name))
    means_of_seeds(tap, Path("out/flexent"))
    at_one_time(tap, Path("out/flexent"))
    all_data = {name: json.loads(Path("out", name, "data.json").read_text())
                for name in names}
    words_follow_virtual(tap, all_data)
    no_run_twice(tap, all_data)
    trouble_is_marked(tap, all_data)
    kinds_are_told(tap, all_data)
    one_thread_each(tap, all_data)
    communication_is_told(tap, all_data["scaling"])
    credit_says_what_happened(tap, all_data["credit-svm"])
    floor_is_of_seeds(tap, all_data["noise-floor"])
    thirty_workers(tap, all_data["noise-floor"])
    tap.ok("The run behind" in Path("out/prices/index.html").read_text(),
           "one run is not \"the 1 runs\"")
    digits_of_mnist(tap)
    results = Path("out/results.md").read_text()
    tap.ok(all(f"muster reproduce {name} " in results for name in names),
           "results.md has a chapter for each")
    again = run("reproduce", "prices,ring-mnist", "--quick", "--virtual",
                "--to", "out", "-q")
    tap.equal((again.returncode, again.stderr), (0, ""),
              "a folder with results takes new ones")
    two = run("reproduce", "prices,gradient-coding", "--virtual", "--quick",
              "--to", "two", "-q")
    chapters = re.findall(r"`muster reproduce ([^\s,]+) --quick --virtual`",
                          Path("two/results.md").read_text())
    tap.ok(two.returncode == 0 and
           sorted(chapters) == ["gradient-coding", "prices"] ==
           sorted(one.name for one in Path("two").iterdir() if one.is_dir()),
           "two of them, with a comma, and their results.md", two.stderr)
    bad = run("reproduce", "prices,gradient-codin")
    tap.ok(bad.returncode == 2 and "did you mean gradient-coding?" in
           bad.stderr, "a name of two that is none", bad.stderr)
    bad = run("reproduce", "gradient-codin")
    tap.ok(bad.returncode == 2 and "did you mean gradient-coding?" in
           bad.stderr, "a name that is none", bad.stderr)
    Path("raw/amazon").mkdir(parents=True)
    Path("raw/amazon/train.csv").write_text("ACTION\n1\n")
    shutil.copytree("out/erasurehead", "bad/erasurehead")
    bad = run("reproduce", "erasurehead", "--quick", "--raw", "raw", "--to",
              "bad", "-q")
    tap.ok(bad.returncode == 1 and "data prepare amazon" in bad.stderr,
           "a run that fails is named", bad.stderr)
    tap.ok(not any(Path("bad/erasurehead", name).exists()
                   for name in ("index.html", "data.json")),
           "no page of earlier runs stays beside files of others")
    bad = run("reproduce", "prices", "--raw", "nowhere")
    tap.ok(bad.returncode == 2 and "no such folder" in bad.stderr,
           "--raw that is not there", bad.stderr)
    if any(map(shutil.which, BROWSERS)):
        pages(tap, names)
    elif os.environ.get("CI"):
        tap.ok(False, "there is a browser for the pages")
    else:
        tap.skip("pages in a browser", "no Chromium here: apt install chromium")
    tap.done()


main()
