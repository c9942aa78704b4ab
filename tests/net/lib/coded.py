"""What a run on coded data must come to: the weights of one machine."""

from pathlib import Path

NEAR = 1e-9


def weights(path):
    text = Path(path).read_text(encoding="ascii")
    return [float(word) for word in text.split("\nw\n")[1].split()]


def apart(path, wanted):
    """Relative to the largest weight."""
    largest = max(map(abs, wanted))
    return max(abs(a - b) for a, b in zip(weights(path), wanted)) / largest


def same(tap, name, result, path, wanted, steps, residual):
    good = result.get("exit", 0) == 0 and "exactness" in result and \
        result["exactness"] == {"bitwise": 0, "numeric": steps, "approx": 0} \
        and result["worst_residual"] <= residual
    tap.ok(good and apart(path, wanted) <= NEAR,
           f"{name}: the weights of one machine to rounding",
           {k: result.get(k) for k in
            ("exit", "error", "stderr", "exactness", "worst_residual")})
