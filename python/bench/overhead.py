"""What Python adds to the library: fit and predict from NumPy against the library's own time.

    GATEWOOD_DATA=... python bench/overhead.py

The library's time to fit is what it reports for encoding and learning; its time to predict is that of a native table. The rest is
Python's: checks, reading the array, conversions. Predicting is measured in processor time, fitting by the clock, as the library does.
"""

from __future__ import annotations

import argparse
import time
from typing import Any, Callable

import numpy as np

from gatewood import BooleanTreeClassifier, GatewoodClassifier
from gatewood._inputs import read_array
from gatewood.datasets import load


def seconds(work: Callable[[], Any]) -> float:
    """Seconds of processor time that work takes: others on the machine do not count."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--times", type=int, default=3)
    arguments.add_argument("--rounds", type=int, default=None)
    arguments.add_argument("--jobs", type=int, default=1)
    chosen = arguments.parse_args()
    digits = load("mnist", bits=1)
    X, y = np.ascontiguousarray(digits.X_train), digits.y_train
    print(f"mnist, {X.shape[0]} rows of {X.shape[1]} {X.dtype}")
    two = np.isin(y, [3, 5])
    cases: list[tuple[str, Any, Any, Any]] = [
        ("grove, 10 classes", GatewoodClassifier(rounds=chosen.rounds, encode=digits.encode, n_jobs=chosen.jobs), X, y),
        ("tree, 3 and 5", BooleanTreeClassifier(encode=digits.encode, n_jobs=chosen.jobs), np.ascontiguousarray(X[two]), y[two]),
    ]
    for name, model, rows, labels in cases:
        totals, insides = [], []
        for _ in range(chosen.times):
            begun = time.perf_counter()
            model.fit(rows, labels)
            totals.append(time.perf_counter() - begun)
            report = model.training_report_
            insides.append(report["encode_seconds"] + report["learn_seconds"])
        best = int(np.argmin(totals))
        total, inside = totals[best], insides[best]
        print(f"fit      {name:18} {total:8.3f} s, library {inside:8.3f} s, Python adds {total / inside - 1:6.1%}")
        pixels = "pixel_bits" in digits.encode
        table = read_array(rows, pixels)
        # In turn, so that what else the machine does falls on both.
        pairs = [
            (seconds(lambda: model.model_.predict(table, chosen.jobs)), seconds(lambda: model.predict(rows)))
            for _ in range(5 * chosen.times)
        ]
        native, whole = (min(times) for times in zip(*pairs))
        print(f"predict  {name:18} {whole:8.3f} s, library {native:8.3f} s, Python adds {whole / native - 1:6.1%}")


if __name__ == "__main__":
    main()
