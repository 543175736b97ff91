"""One row at a time: predicting it from Python beside LightGBM's booster, in turn in one run.

    GATEWOOD_DATA=... python bench/one_row.py [--sets adult,mnist]

Both have the defaults of their classifiers and one thread. Each repeat predicts the same test rows one by one, every model in turn,
so that whatever else the machine does falls on all. Shown is the middle of the repeats' means.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any, Callable

import numpy as np

from gatewood import GatewoodClassifier
from gatewood.datasets import load


def numbers(rows: Any) -> Any:
    """Rows as LightGBM's booster takes them: columns of texts as codes."""
    if isinstance(rows, np.ndarray):
        return rows.astype(np.float64)
    codes = rows.apply(lambda column: column.astype("category").cat.codes if column.dtype.kind not in "fiub" else column)
    return np.ascontiguousarray(codes.to_numpy(dtype=np.float64))


def measure(calls: dict[str, Callable[[Any], Any]], rows: Any, repeats: int) -> dict[str, float]:
    """Seconds a row of each, the middle of some repeats in turn."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    singles = [rows[row : row + 1] for row in range(len(rows))]
    for repeat in range(repeats + 1):
        for name, call in calls.items():
            begun = time.perf_counter()
            for row in singles:
                call(row)
            if repeat:
                times[name].append((time.perf_counter() - begun) / len(singles))
    return {name: statistics.median(found) for name, found in times.items()}


def main() -> None:
    import lightgbm

    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--sets", default="adult,mnist")
    arguments.add_argument("--rows", type=int, default=300)
    arguments.add_argument("--repeats", type=int, default=9)
    chosen = arguments.parse_args()
    for name in chosen.sets.split(","):
        data = load(name)
        train, test = numbers(data.X_train), numbers(data.X_test)
        booster = lightgbm.LGBMClassifier(n_jobs=1, verbose=-1).fit(train, data.y_train).booster_
        # One thread for the booster's rows too: more only make one row slower.
        booster.params["num_threads"] = 1
        encode = data.encode if isinstance(data.X_train, np.ndarray) else None
        X = data.X_train if encode is not None else train
        ours = GatewoodClassifier(encode=encode, n_jobs=1).fit(X, data.y_train)
        rows = np.ascontiguousarray((data.X_test if encode is not None else test)[: chosen.rows])
        expected = np.concatenate([ours.predict_proba(rows[row : row + 1]) for row in range(len(rows))])
        assert np.array_equal(expected, ours.predict_proba(rows)), "rows one by one are what they are together"
        calls: dict[str, Callable[[Any], Any]] = {
            "gatewood predict": ours.predict,
            "gatewood predict_proba": ours.predict_proba,
            "lightgbm booster.predict": lambda row: booster.predict(row),
            "lightgbm booster.predict, num_threads=1": lambda row: booster.predict(row, num_threads=1),
        }
        found = measure(calls, rows, chosen.repeats)
        trees = ours.summary()["trees"]
        print(f"{name}: {rows.shape[1]} columns, {trees} trees, booster of {booster.num_trees()} trees")
        for what, seconds in found.items():
            print(f"  {what:42} {seconds * 1e6:8.1f} microseconds a row")


if __name__ == "__main__":
    main()
