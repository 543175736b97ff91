"""What Python adds to the library: fit and predict from NumPy against the native call that they make.

    GATEWOOD_DATA=... python bench/overhead.py

The native call has the rows and the labels as class numbers; it encodes, and learns or predicts. What the estimator takes beyond
it is Python's: checks, reading the array, classes. Both are read off the same run, so that whatever else the machine does falls on
both: in processor time, and by the clock. That the native call is no slower for rows lent by NumPy than for rows of its own is
shown by the last column: the same call on a native table, run in turn with the others.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from typing import Any, Callable

import numpy as np

from gatewood import BooleanTreeClassifier, GatewoodClassifier, _core, _estimator
from gatewood._classes import class_names
from gatewood.datasets import load

Times = np.ndarray[Any, np.dtype[np.float64]]


def now() -> Times:
    """Processor time of all threads, and the clock."""
    return np.array([time.process_time(), time.perf_counter()])


class Watched:
    """Native calls, with the time spent in them."""

    def __init__(self, native: Any) -> None:
        self.native = native
        self.inside = np.zeros(2)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.native, name)
        return self._timed(found) if name in ("train", "predict") else found

    def _timed(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any, **options: Any) -> Any:
            begun = now()
            result = call(*arguments, **options)
            self.inside += now() - begun
            return result

        return timed


def compare(name: str, watched: Watched, whole: Callable[[], Any], native: Callable[[], Any], times: int) -> None:
    """Runs work from Python some times and shows what it takes beyond its native calls."""
    whole(), native()
    inside, total, alone = [], [], []
    for _ in range(times):
        watched.inside = np.zeros(2)
        begun = now()
        whole()
        total.append(now() - begun)
        inside.append(watched.inside)
        begun = now()
        native()
        alone.append(now() - begun)
    for place, clock in enumerate(("processor", "wall")):
        adds = [float(all_[place] / part[place] - 1) for all_, part in zip(total, inside)]
        lent, own = (statistics.median(float(part[place]) for part in runs) for runs in (inside, alone))
        print(
            f"{name:26} {clock:9}  library {lent:7.4f} s, Python adds {statistics.median(adds):6.2%} "
            f"({min(adds):.2%} to {max(adds):.2%}); on a native table {own:7.4f} s",
            flush=True,
        )


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--times", type=int, default=7)
    arguments.add_argument("--rounds", type=int, default=20, help="a grove learns quickly here: more would hide what Python adds")
    arguments.add_argument("--jobs", type=int, default=1)
    chosen = arguments.parse_args()
    digits, pair = load("mnist", bits=1), load("mnist", bits=1, classes="3-5")
    print(f"mnist, {digits.X_train.shape[0]} rows of {digits.X_train.shape[1]} {digits.X_train.dtype}; middle of {chosen.times} runs")
    grove = GatewoodClassifier(n_estimators=chosen.rounds, encode=digits.encode, n_jobs=chosen.jobs)
    tree = BooleanTreeClassifier(encode=digits.encode, n_jobs=chosen.jobs)
    cases: list[tuple[str, Any, Any]] = [
        ("grove, 10 classes", grove, digits),
        ("grove, 3 and 5", grove, pair),
        ("tree, 3 and 5", tree, pair),
    ]
    core = Watched(_core)
    for name, model, rows in cases:
        X, y = np.ascontiguousarray(rows.X_train), rows.y_train
        classes = np.unique(y)
        codes = np.searchsorted(classes, y).astype(np.uint32)
        settings = json.dumps(model._settings())

        def train() -> Any:
            return _core.train(model._kind, settings, rows.train, codes, class_names(classes), threads=chosen.jobs)

        setattr(_estimator, "_core", core)
        compare(f"fit      {name}", core, lambda: model.fit(X, y), train, chosen.times)
        setattr(_estimator, "_core", _core)
        model.model_ = fitted = Watched(model.model_)
        # The same circuit, of the table, whose columns have names.
        native = train()[0]
        compare(f"predict  {name}", fitted, lambda: model.predict(X), lambda: native.predict(rows.train, chosen.jobs), 3 * chosen.times)


if __name__ == "__main__":
    main()
