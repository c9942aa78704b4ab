#!/usr/bin/env python3
"""`muster reproduce all --quick --virtual`: every experiment runs and has a
page; what stands on a page comes from the files of its runs; pages need nothing
else and fit narrow and wide windows, light and dark, in a real browser."""

import csv
import json
import os
import re
import shutil
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
    tap.ok(not wrong and data["tables"] and "http" not in re.sub(
        r'xmlns="[^"]*"', "", page) and "<script" not in page,
           f"{folder.name}: page, CSV and SVG are of its runs", wrong)


def means_of_seeds(tap, folder):
    """FlexEnt's seconds a step are of all seeds, as all else in the table."""
    data = json.loads((folder / "data.json").read_text())
    runs = [command["result"]["runs"] for command in data["commands"]
            if "--compare" in command["line"]
            and "gen:digits" in command["line"]]
    arms = [row for row in data["tables"][1]["rows"] if row[0] == "alike"]
    steps = [sum(run[i]["mean_step_s"] for run in runs) / len(runs)
             for i in range(len(arms))]
    tap.ok(len(runs) == 3 and len(arms) == 8 and all(
        abs(float(arm[3]) - step) < .006 for arm, step in zip(arms, steps)),
           "flexent: seconds a step are the seeds' mean", (arms, steps))


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
    results = Path("out/results.md").read_text()
    tap.ok(all(f"muster reproduce {name} " in results for name in names),
           "results.md has a chapter for each")
    again = run("reproduce", "prices", "--to", "out", "-q")
    tap.equal(again.returncode, 0, "a folder with results takes new ones")
    bad = run("reproduce", "gradient-codin")
    tap.ok(bad.returncode == 2 and "did you mean gradient-coding?" in
           bad.stderr, "a name that is none", bad.stderr)
    Path("raw/amazon").mkdir(parents=True)
    Path("raw/amazon/train.csv").write_text("ACTION\n1\n")
    bad = run("reproduce", "erasurehead", "--quick", "--raw", "raw", "--to",
              "bad", "-q")
    tap.ok(bad.returncode == 1 and "data prepare amazon" in bad.stderr,
           "a run that fails is named", bad.stderr)
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
