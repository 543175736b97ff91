"""Numbers: Gatewood beside LightGBM and XGBoost on the same random splits.

    python bench/compare/regression.py --gatewood target/release/gatewood --data FOLDER [--out results/regression.json]

FOLDER has `california_housing.csv.xz`, `bike.csv.xz` and `fried.csv.xz`, whose last column is the target; scikit-learn brings
`diabetes`. Each set is split at random into 80 % to learn from and 20 % to test on, three times, the same for all. Gatewood runs
with its defaults; the others with theirs and with 1000 trees, a rate of 0.05 and 63 leaves. Figures are RMSE on the test rows.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import subprocess
import tempfile
import time

import numpy as np
import pandas as pd

TUNED = {"n_estimators": 1000, "learning_rate": 0.05}
FILES = {"california": "california_housing", "bike": "bike", "fried": "fried"}


def load(name: str, folder: pathlib.Path) -> pd.DataFrame:
    if name == "diabetes":
        from sklearn.datasets import load_diabetes

        return load_diabetes(as_frame=True, scaled=False).frame
    return pd.read_csv(folder / f"{FILES[name]}.csv.xz")


def split(rows: pd.DataFrame, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    order = np.random.default_rng(seed).permutation(len(rows))
    held = len(rows) // 5
    return rows.iloc[order[held:]], rows.iloc[order[:held]]


def rmse(truth: pd.Series, said: np.ndarray) -> float:
    return float(np.sqrt(np.mean((truth.to_numpy() - said) ** 2)))


def categorical(train: pd.DataFrame, test: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    train, test = train.copy(), test.copy()
    for column in train.columns:
        if not pd.api.types.is_numeric_dtype(train[column]):
            train[column] = train[column].astype("category")
            test[column] = test[column].astype(train[column].dtype)
    return train, test


def rivals(threads: int) -> dict[str, object]:
    import lightgbm
    import xgboost

    lgb = lambda **chosen: lightgbm.LGBMRegressor(verbose=-1, n_jobs=threads, **chosen)  # noqa: E731
    xgb = lambda **chosen: xgboost.XGBRegressor(n_jobs=threads, enable_categorical=True, **chosen)  # noqa: E731
    return {
        "LightGBM, defaults": lambda: lgb(),
        "LightGBM, 1000 trees": lambda: lgb(num_leaves=63, **TUNED),
        "XGBoost, defaults": lambda: xgb(),
        "XGBoost, 1000 trees": lambda: xgb(max_depth=6, **TUNED),
    }


def gatewood(command: str, train: pd.DataFrame, test: pd.DataFrame, threads: int, more: list[str]) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        paths = [pathlib.Path(folder) / name for name in ("train.csv", "test.csv")]
        for path, rows in zip(paths, (train, test)):
            rows.to_csv(path, index=False)
        words = [command, "train", str(paths[0]), "--test", str(paths[1]), "--label=-1", "--json", f"--threads={threads}"]
        said = json.loads(subprocess.run(words + more, check=True, capture_output=True, text=True).stdout)
    return {"rmse": said["test_rmse"], "mae": said["test_mae"], "seconds": said["train_seconds"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gatewood", required=True)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--sets", nargs="*", default=["california", "bike", "fried", "diabetes"])
    parser.add_argument("--only", nargs="*", help="names of models to run")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--more", nargs=argparse.REMAINDER, default=[], help="further words for gatewood train")
    chosen = parser.parse_args()
    results = []
    for name in chosen.sets:
        rows = load(name, chosen.data)
        for seed in range(3):
            train, test = split(rows, seed)
            models = ["Gatewood, defaults", *rivals(chosen.threads)]
            for model in [model for model in models if not chosen.only or model in chosen.only]:
                if model.startswith("Gatewood"):
                    found = gatewood(chosen.gatewood, train, test, chosen.threads, chosen.more)
                else:
                    learned, tested = categorical(train, test)
                    begun = time.perf_counter()
                    fitted = rivals(chosen.threads)[model]().fit(learned.iloc[:, :-1], learned.iloc[:, -1])
                    seconds = time.perf_counter() - begun
                    said = fitted.predict(tested.iloc[:, :-1])
                    mae = float(np.mean(np.abs(tested.iloc[:, -1].to_numpy() - said)))
                    found = {"rmse": rmse(tested.iloc[:, -1], said), "mae": mae, "seconds": seconds}
                results.append({"set": name, "split": seed, "model": model, **found})
                print(f"{name:12}{seed}  {model:24}{found['rmse']:10.4f}{found['seconds']:8.1f} s", flush=True)
    frame = pd.DataFrame(results)
    print(frame.groupby(["set", "model"], sort=False)[["rmse", "mae", "seconds"]].mean().round(4).to_string())
    if chosen.out:
        chosen.out.parent.mkdir(parents=True, exist_ok=True)
        chosen.out.write_text("".join(json.dumps(result) + "\n" for result in results))


if __name__ == "__main__":
    main()
