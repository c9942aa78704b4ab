#!/usr/bin/env python3
"""Minibatches, counted in steps and row visits: no clock is looked at.

    bench/batches.py [--plot FILE] [steps|rate|softmax ...]   # all three

steps    gen:linear: steps to a loss against B, each B at its best constant
         rate; a fit of least (1 + critical / B), and what the report measures
rate     the claim that "minibatch SGD cannot guarantee convergence if the step
         size is fixed and the batch size goes large": with mean gradients, as
         here, and with summed ones (the same rate times B)
softmax  row visits to the least loss + 1e-3 with --batch and with gd

Runs at a constant rate are the beginnings of each other, so the first step
below a loss is found by bisection.  The exit status says whether the fit is
within 25 % at every B, the reported critical batch within 25 % of the fitted
one, and --batch needs fewer row visits than gd."""

import json
import math
import os
import subprocess
import sys

MUSTER = os.environ.get("MUSTER", "build/muster")
SEEDS = range(int(os.environ.get("SEEDS", "5")))
LINEAR = ["gen:linear:20000,100", "--model", "linear", "--l2", "0"]
BATCHES = (8, 16, 32, 64, 128, 256, 512)
LOSS = .05  # It is 1 at the start and .01 at the optimum.
SOFTMAX = ["gen:digits:1000", "--model", "softmax", "--l2", "0.01"]
NEAR = 1e-3
MOST = 20000  # Steps of gd.


def train(*args):
    """The parsed result; None if it diverged."""
    done = subprocess.run([MUSTER, "train", *map(str, args), "-q", "--format",
                           "json"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    if not done.stdout.strip():
        return None
    return json.loads(done.stdout)


def objective(*args):
    result = train(*args)
    value = result and result.get("objective")
    return math.inf if value is None else value


def first(reaches, most):
    """The least count for which it does, if it then always does; None: none."""
    high = 1
    while not reaches(high):
        if high >= most:
            return None
        high = min(2 * high, most)
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return high


# --- steps against B ---------------------------------------------------------


def steps_to(batch, rate, seed):
    return first(lambda steps: objective(
        *LINEAR, "--seed", seed, "--optim", "gd", "--batch", batch, "--lr",
        rate, "--schedule", "constant", "--steps", steps) <= LOSS, 1024)


def best_steps(batch):
    """Mean steps over the seeds, at the best of seven rates."""
    best = None
    for power in range(-3, 4):
        # Of columns that are independent and of size 1, the best is near this.
        rate = .5 / (1 + 101 / batch) * 2 ** (power / 2)
        counts = [steps_to(batch, rate, seed) for seed in SEEDS]
        if None in counts:
            continue
        mean = sum(counts) / len(counts)
        if best is None or mean < best[0]:
            best = mean, rate
    return best


def fit(points):
    """least and critical of least (1 + critical / B), by relative squares."""
    a = b = c = p = q = 0.0
    for batch, steps in points:
        one, per = 1 / steps, 1 / (batch * steps)
        a, b, c = a + one * one, b + one * per, c + per * per
        p, q = p + one, q + per
    determinant = a * c - b * b
    least = (p * c - q * b) / determinant
    return least, (q * a - p * b) / determinant / least


def steps_table(plot):
    found = {batch: best_steps(batch) for batch in BATCHES}
    points = [(batch, mean) for batch, (mean, _) in found.items()]
    least, critical = fit(points)
    print(f"steps to a loss of {LOSS}, mean of {len(SEEDS)} seeds")
    print("| B | rate | steps | fit | off | rows seen |\n|---|---|---|---|---|---|")
    worst = 0
    for batch, (mean, rate) in found.items():
        fitted = least * (1 + critical / batch)
        worst = max(worst, abs(fitted / mean - 1))
        print(f"| {batch} | {rate:.3g} | {mean:.1f} | {fitted:.1f} | "
              f"{100 * (fitted / mean - 1):+.0f} % | {mean * batch:.0f} |",
              flush=True)
    print(f"least {least:.2f} steps, critical batch {critical:.0f}; worst "
          f"{100 * worst:.0f} % (limit 25 %)")
    mean, rate = found[32]
    noise = train(*LINEAR, "--optim", "gd", "--batch", 32, "--lr", rate,
                  "--schedule", "constant", "--steps", round(mean))["noise"]
    print(f"the report of such a run (B = 32): noise scale {noise['start']:.0f} "
          f"to {noise['model']:.0f} rows, critical batch "
          f"{noise['critical_batch']:.0f}, "
          f"{100 * (noise['critical_batch'] / critical - 1):+.0f} % of the fit "
          "(limit 25 %)\n")
    if plot:
        draw(plot, points, least, critical)
    return worst <= .25 and abs(noise["critical_batch"] / critical - 1) <= .25


# --- the plot ----------------------------------------------------------------


def draw(name, points, least, critical):
    width, height, edge = 640, 400, 56
    left, right = math.log2(4), math.log2(1024)
    low, high = math.log10(1), math.log10(100)

    def at(batch, steps):
        x = edge + (math.log2(batch) - left) / (right - left) * (width - 2 * edge)
        y = height - edge - ((math.log10(steps) - low) / (high - low) *
                             (height - 2 * edge))
        return f"{x:.1f}", f"{y:.1f}"

    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} '
             f'{height}" font-family="sans-serif" font-size="13">',
             f'<rect width="{width}" height="{height}" fill="white"/>']
    for power in range(2, 11, 1):
        x, _ = at(2 ** power, 1)
        lines.append(f'<line x1="{x}" y1="{edge}" x2="{x}" '
                     f'y2="{height - edge}" stroke="#ddd"/><text x="{x}" '
                     f'y="{height - edge + 18}" text-anchor="middle">'
                     f'{2 ** power}</text>')
    for steps in (1, 3, 10, 30, 100):
        _, y = at(4, steps)
        lines.append(f'<line x1="{edge}" y1="{y}" x2="{width - edge}" y2="{y}" '
                     f'stroke="#ddd"/><text x="{edge - 8}" y="{y}" '
                     f'text-anchor="end" dy=".35em">{steps}</text>')
    curve = " ".join(",".join(at(2 ** (i / 8), least *
                                 (1 + critical / 2 ** (i / 8))))
                     for i in range(20, 81))
    lines.append(f'<polyline points="{curve}" fill="none" stroke="#c33" '
                 'stroke-width="1.5"/>')
    for batch, steps in points:
        x, y = at(batch, steps)
        lines.append(f'<circle cx="{x}" cy="{y}" r="4" fill="#236"/>')
    lines += [f'<text x="{width / 2}" y="{height - 12}" '
              'text-anchor="middle">rows of a batch, B</text>',
              f'<text x="{edge}" y="{edge - 24}">steps to a loss of {LOSS}, '
              'gen:linear, at the best rate of each B</text>',
              f'<text x="{width - edge}" y="{edge - 6}" text-anchor="end" '
              f'fill="#c33">{least:.2f} (1 + {critical:.0f} / B)</text>',
              "</svg>"]
    with open(name, "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n")


# --- a fixed rate ------------------------------------------------------------


def rate_table(_):
    """At a rate that B = 8 bears, 200 steps of each B."""
    rate, steps = .03, 200
    print(f"objective after {steps} steps at a fixed rate (optimum .010, "
          "start 1.0)")
    print(f"| B | mean gradient, rate {rate} | summed gradient, rate "
          f"{rate / 8} |\n|---|---|---|")
    good = True
    for batch in (8, 32, 128, 512, 2048, 8192):
        ends = [objective(*LINEAR, "--optim", "gd", "--batch", batch, "--lr",
                          one, "--schedule", "constant", "--steps", steps)
                for one in (rate, rate / 8 * batch)]
        good = good and ends[0] < .05
        shown = [f"{end:.4f}" if end < 1 else "diverged" for end in ends]
        print(f"| {batch} | {shown[0]} | {shown[1]} |", flush=True)
    print()
    return good


# --- softmax -----------------------------------------------------------------


def softmax_table(_):
    rows = int(SOFTMAX[0].split(":")[2])
    least = objective(*SOFTMAX, "--accuracy", "1e-9")
    print(f"row visits to the least objective ({least:.5f}) + {NEAR}, "
          f"{SOFTMAX[0]}, softmax, l2 .01\n| | rate | passes | row visits |"
          "\n|---|---|---|---|")
    visits = {}

    def show(name, rate, passes, most):
        count = "more than " * (passes is None) + str((passes or most) * rows)
        print(f"| {name} | {rate} | {passes or 'over ' + str(most)} | {count} |",
              flush=True)
        return (passes or most) * rows, passes is None

    for batch in (8, 32, 128):
        best = None
        for rate in (.05, .1, .2, .4):
            passes = first(lambda n: objective(
                *SOFTMAX, "--optim", "gd", "--batch", batch, "--lr", rate,
                "--schedule", "cosine", "--passes", n) <= least + NEAR,
                           1000 if best is None else best[0])
            if passes and (best is None or passes < best[0]):
                best = passes, rate
        passes, rate = best or (None, None)
        visits[batch] = show(f"--batch {batch}", f"{rate}, cosine", passes, 1000)
    steps = first(lambda n: objective(*SOFTMAX, "--optim", "gd", "--steps", n) <=
                  least + NEAR, MOST)
    gd, _ = show("gd", "1 / L", steps, MOST)
    return all(count < gd and not over for count, over in visits.values())


def main():
    tables = {"steps": steps_table, "rate": rate_table, "softmax": softmax_table}
    args = sys.argv[1:]
    plot = args[1] if args[:1] == ["--plot"] else None
    names = args[2 if plot else 0:] or list(tables)
    good = [tables[name](plot) for name in names]
    sys.exit(not all(good))


main()
