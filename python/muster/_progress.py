"""Progress of a training: a line on a terminal, a cell in a notebook."""

import math
import sys
import time

EVERY_S = 0.1


def notebook():
    """IPython's display function, if this is a notebook."""
    if "ipykernel" not in sys.modules:
        return None
    from IPython.display import display
    return display


class Picture:
    """The curve of the loss, for a notebook."""

    def __init__(self, curve):
        self.curve = curve

    def __repr__(self):
        return f"step {len(self.curve)}  loss {self.curve[-1]:.6g}" if self.curve else "begins"

    def _repr_html_(self):
        wide, high = 240, 40
        values = [v for v in self.curve[-500:] if math.isfinite(v)]
        low = min(values, default=0)
        span = max(values, default=0) - low or 1
        points = " ".join(f"{i * wide / max(len(values) - 1, 1):.1f},"
                          f"{high - (v - low) / span * high:.1f}" for i, v in enumerate(values))
        return (f"<div>{self!r}<br><svg width='{wide}' height='{high}'><polyline fill='none' "
                f"stroke='currentColor' points='{points}'/></svg></div>")


class Progress:
    """What a training is watched by; `watch` is None if nobody looks."""

    def __init__(self, verbose, callback):
        self.callback, self.curve, self.shown = callback, [], 0.0
        self.stopped = 0  # The step at which the callback said so.
        self.watch = self.step if verbose or callback else None
        self.display = notebook() if verbose else None
        self.cell = None
        self.line = bool(verbose) and self.display is None

    def say(self, sentence):
        if self.line or self.display:
            print(f"muster: {sentence}", file=sys.stderr, flush=True)

    def step(self, step, objective):
        self.curve.append(objective)
        if time.monotonic() - self.shown >= EVERY_S:
            self.show()
        if self.callback and self.callback(step, objective):
            self.stopped = self.stopped or step
        return bool(self.stopped)

    def show(self):
        self.shown = time.monotonic()
        if self.line:
            end = "\r" if sys.stderr.isatty() else "\n"
            print(f"muster: {Picture(self.curve)!r}", end=end, file=sys.stderr, flush=True)
        elif self.display and self.cell is None:
            self.cell = self.display(Picture(self.curve), display_id=True)
        elif self.display:
            self.cell.update(Picture(self.curve))

    def end(self):
        if self.curve and self.watch and (self.line or self.display):
            self.show()
            if self.line and sys.stderr.isatty():
                print(file=sys.stderr)
