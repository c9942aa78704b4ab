"""What is wrong with a model that was made all the same: the same warnings of
muster.fit and of estimators."""

import sys
import warnings


def learned(name, own):
    """The exception or warning of that name, of scikit-learn where that is in
    use already."""
    module = sys.modules.get("sklearn.exceptions")
    return getattr(module, name, own)


def warn(sentence, level):
    """`level`: whose line it is about, 1 the caller's own."""
    warnings.warn(sentence, learned("ConvergenceWarning", UserWarning), stacklevel=level + 1)


def of_model(made, not_converged, words, level):
    """`not_converged`: a sentence for one that has not, None of a training that
    makes all its steps; `words`: the library's sentence in the caller's."""
    wrong = words(made.info["warning"]) if made.info.get("warning") else None
    if made.converged or not_converged is None:
        if wrong:
            warn(wrong, level + 1)
    else:
        warn(f"{made.ended}, and {wrong}" if wrong else not_converged, level + 1)
