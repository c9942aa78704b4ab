"""What `muster reproduce NAME --quick` wrote, for the tests of its real runs."""

import json
from pathlib import Path

from cluster import Tap, run

tap = Tap()


def page(name):
    done = run("reproduce", name, "--quick", "--to", "out", "-q", timeout=120)
    tap.ok(done.returncode == 0, f"{name} runs", done.stderr[-1000:])
    return json.loads(Path("out", name, "data.json").read_text())


def table(data, words):
    """The one whose title begins so: a list of its rows by column."""
    found = [one for one in data["tables"] if one["title"].startswith(words)]
    return [dict(zip(one["columns"], row)) for one in found
            for row in one["rows"]]


def not_faster(rows, what):
    """Of what was seen: a hundredth for what is rounded."""
    ratios = [float(row["real / virtual"]) for row in rows]
    tap.ok(ratios and min(ratios) >= .99, f"{what}: no real run is faster than "
           "its delays", rows)
