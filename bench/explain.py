"""Sufficient reasons on one core: the time of each, and the error of the grove beside XGBoost's.

    cargo build --release -p gatewood-cli
    python bench/explain.py --data-dir DATA      # writes bench/explain.md

DATA holds PMLB's sets as pmlb/NAME.tsv.gz. Each set is split at random, 80 to 20, three times. The groves have as many trees a
class as the XGBoost models of XReason (50), and twice as many; each tree is one gate of four inputs. Nothing is tuned. Reasons are
those of 100 test rows of each split (`--sample`), each tested with 10,000 random rows that meet it. Without xgboost its columns stay empty.
"""

import argparse
import gzip
import json
import pathlib
import random
import statistics
import subprocess
import tempfile

try:
    import numpy
    import xgboost
except ImportError:
    xgboost = None

HERE = pathlib.Path(__file__).parent
SPLITS = 3
# Seconds a row that XReason's authors report for 50 trees a class.
PUBLISHED = {"breast_cancer": 0.4, "pendigits": 4.0, "spambase": 10.0, "texture": 25.0}


def split(path, seed):
    header, *rows = gzip.open(path, "rt").read().splitlines()
    random.Random(seed).shuffle(rows)
    fifth = len(rows) // 5
    return header, rows[fifth:], rows[:fifth]


def xgboost_error(train, test, depth):
    if xgboost is None:
        return None
    read = lambda rows: numpy.array([[float(field) for field in row.split("\t")] for row in rows])
    train, test = read(train), read(test)
    classes, labels = numpy.unique(train[:, -1], return_inverse=True)
    settings = {"max_depth": depth, "eta": 0.3, "nthread": 1, "objective": "multi:softmax", "num_class": len(classes)}
    if len(classes) == 2:
        settings |= {"objective": "binary:logistic", "num_class": 1}
    model = xgboost.train(settings, xgboost.DMatrix(train[:, :-1], labels), 50)
    said = model.predict(xgboost.DMatrix(test[:, :-1]))
    said = (said > 0.5 if len(classes) == 2 else said).astype(int)
    return float((classes[said] != test[:, -1]).mean())


def grove(command, folder, rounds, sample):
    def run(*words):
        return json.loads(subprocess.run([command, *map(str, words), "--json"], check=True, capture_output=True).stdout)

    train, test, model = folder / "train.tsv", folder / "test.tsv", folder / "model.gw"
    shape = ["--rounds", rounds, "--depth", 1, "--arity", 4, "--trees-per-round", 1, "--learning-rate", 0.3]
    learned = run("train", train, "--label", "target", "--test", test, "-o", model, "--threads", 1, *shape)
    found = run("explain", model, test, "--label", "target", "--sample", sample, "--no-change", "--threads", 1)
    return learned["test_error"], found["rows"], found["reasons"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data-dir", type=pathlib.Path, required=True)
    parser.add_argument("--gatewood", default=HERE.parent / "target/release/gatewood")
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "explain.md")
    parser.add_argument("--sample", type=int, default=100)
    parser.add_argument("--sets", nargs="+", choices=PUBLISHED, default=list(PUBLISHED))
    arguments = parser.parse_args()
    lines = [
        "# Sufficient reasons",
        "",
        f"Made by `python bench/explain.py --sample {arguments.sample} --sets {' '.join(arguments.sets)}`. Errors are means of three random",
        "splits, 80 to 20; times are of one core. XReason's times are those its authors publish, on their machine.",
        "",
        "| set | trees a class | error | XGBoost, 50 trees, depth 3 | depth 4 | median time | longest | XReason | proven minimal |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    percent = lambda values: f"{100 * statistics.mean(values):.2f} %" if None not in values else ""
    time = lambda seconds: f"{1000 * seconds:.1f} ms"
    for name in arguments.sets:
        rivals = {3: [], 4: []}
        ours = {50: [], 100: []}
        for seed in range(SPLITS):
            header, train, test = split(arguments.data_dir / "pmlb" / f"{name}.tsv.gz", seed)
            for depth, errors in rivals.items():
                errors.append(xgboost_error(train, test, depth))
            with tempfile.TemporaryDirectory() as folder:
                folder = pathlib.Path(folder)
                for part, rows in [("train", train), ("test", test)]:
                    (folder / f"{part}.tsv").write_text("\n".join([header, *rows]) + "\n")
                for rounds, results in ours.items():
                    results.append(grove(arguments.gatewood, folder, rounds, arguments.sample))
        for rounds, results in ours.items():
            rows, minimal = sum(r[1] for r in results), sum(r[2]["proven_minimal"] for r in results)
            median = statistics.mean(r[2]["median_seconds"] for r in results)
            longest = max(r[2]["longest_seconds"] for r in results)
            lines.append(
                f"| {name} | {rounds} | {percent([r[0] for r in results])} | {percent(rivals[3])} | {percent(rivals[4])} "
                f"| {time(median)} | {time(longest)} | {PUBLISHED[name]} s | {minimal} of {rows} |"
            )
            print(lines[-1], flush=True)
    arguments.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
