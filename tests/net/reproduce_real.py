#!/usr/bin/env python3
"""`muster reproduce NAME --quick` without --virtual: what it has of real
processes beside the simulator's figures.  A delay can only be longer than it
was to be: real seconds are not below the virtual ones, and real runs end where
the simulated ones do."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from reproduced import not_faster, page, table, tap  # noqa: E402


def numbers(cell):
    return [float(part) for part in cell.split(" / ") if part != "-"]


def erasurehead():
    data = page("erasurehead")
    for way in ("AGD", "GD"):
        rows = table(data, f"{way}, 30 real processes")
        tap.equal([row["code"] for row in rows],
                  ["uncoded", "frc s=2", "agc s=2 k=11"],
                  f"erasurehead: real rows of {way}")
        not_faster(rows, f"erasurehead, {way}")
        tap.ok(all(row["AUC at the end, real"] == row["AUC, virtual"]
                   for row in rows[:2]),
               f"erasurehead, {way}: exact codes end on the virtual AUC", rows)
        real = [command["result"] for command in data["commands"]
                if command["line"].startswith("train ") and
                f"--optim {way.lower()} " in command["line"]]
        steps = [one["elapsed_s"] / one["steps"] for one in real]
        tap.equal([f"{step:.3f}" for step in steps],
                  [row["s/step, real"] for row in rows],
                  f"erasurehead, {way}: seconds are of the runs")
        levels = next(key for key in rows[0] if key.startswith("real s to AUC"))
        tap.ok(all(numbers(row[levels]) == sorted(numbers(row[levels])) and
                   numbers(row[levels]) for row in rows) and
               sum(remark.startswith(f"{way}, real processes: uncoded and frc "
                                     "ended on the same model")
                   for remark in data["remarks"]) == 1,
               f"erasurehead, {way}: seconds to an AUC, one model", rows)
    tap.ok({"real-agd", "real-gd", "agd", "gd"} <=
           {plot["file"] for plot in data["plots"]},
           "erasurehead: curves in real and in virtual time")


def elastic():
    found = table(page("elastic"), "Real processes, pieces held")
    ratios = [float(row["cec / mds"]) for row in found]
    tap.ok([row["machines N"] for row in found] == ["10", "20"] and
           ratios[1] < .75 < ratios[0],
           "elastic: twice the machines, much less time, by the clock", found)


def noise_floor():
    found = table(page("noise-floor"), "30 real processes")
    gaps = [float(row["mse above the least"]) for row in found]
    tap.ok(len(gaps) == 3 and gaps[2] < gaps[0] < 1e-3,
           "noise-floor: real descents end near the least", found)


def main():
    erasurehead()
    elastic()
    noise_floor()
    return tap.done()


sys.exit(main())
