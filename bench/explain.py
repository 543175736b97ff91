"""Sufficient reasons on one core: the time of each, and the error of the grove beside XGBoost's.

    cargo build --release -p gatewood-cli
    python bench/explain.py --data-dir DATA      # writes bench/explain.md

DATA holds PMLB's sets as pmlb/NAME.tsv.gz. Each set is split at random, 80 to 20, three times. The trees of the groves are one gate
each. How many there are, how many inputs they have and, where rows are few, the learning rate are chosen for each split on
training rows alone: by five folds where there are under 1,000, else by a fifth that is held out. Reasons are those of test rows of all splits
(`--sample` in all), each tested with 10,000 random rows that meet it. Times are of the processor, so that other programs do not count.
Without xgboost its columns stay empty.

The second table is of default groves: those of `train adult` and of `train mnist35 --patterns 0`.
"""

import argparse
import gzip
import itertools
import json
import pathlib
import random
import resource
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
# Rounds and inputs of a gate to choose from, and learning rates for few rows; where several are best, the first.
ROUNDS, ARITIES, RATES = [50, 100], [4, 5], [0.3, 0.1, 0.05]
FEW_ROWS = 1000
DEPTHS = [3, 4, 6]
# Seconds a row that XReason's authors report for 50 trees a class.
PUBLISHED = {"breast_cancer": 0.4, "pendigits": 4.0, "spambase": 10.0, "texture": 25.0}
DEFAULTS = {"adult": [], "mnist35": ["--patterns", 0]}


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


class Bench:
    def __init__(self, command, folder):
        self.command, self.folder = command, folder
        self.model = folder / "model.gw"

    def run(self, *words):
        words = [self.command, *map(str, words), "--json", "--threads", "1"]
        return json.loads(subprocess.run(words, check=True, capture_output=True).stdout)

    def error(self, header, train, test, shape):
        for name, rows in [("train", train), ("test", test)]:
            (self.folder / f"{name}.tsv").write_text("\n".join([header, *rows]) + "\n")
        rounds, arity, rate = shape
        shape = ["--rounds", rounds, "--depth", 1, "--arity", arity, "--trees-per-round", 1, "--learning-rate", rate]
        files = [self.folder / "train.tsv", "--test", self.folder / "test.tsv", "-o", self.model]
        return self.run("train", *files, "--label", "target", *shape)["test_error"]

    def best_shape(self, header, rows):
        is_small = len(rows) < FEW_ROWS
        folds = range(5) if is_small else range(1)

        def error(shape):
            fold = lambda at: (header, [row for i, row in enumerate(rows) if i % 5 != at], rows[at::5], shape)
            return statistics.mean(self.error(*fold(at)) for at in folds)

        return min(itertools.product(ROUNDS, ARITIES, RATES if is_small else RATES[:1]), key=error)

    def reasons(self, data, sample, *options):
        found = self.run("explain", self.model, data, "--sample", sample, "--no-change", *options)
        return found["reasons"] | {"rows": found["rows"]}


def time_of(seconds):
    return f"{1000 * seconds:.1f} ms" if seconds < 1 else f"{seconds:.1f} s"


def percent(values):
    return f"{100 * statistics.mean(values):.2f} %" if None not in values else ""


def small_groves(arguments, bench):
    yield ""
    yield "| set | trees a class, inputs | error | " + " | ".join(f"XGBoost, depth {d}" for d in DEPTHS) + (
        " | median time | longest | XReason | proven minimal | columns |"
    )
    yield "|---" * (8 + len(DEPTHS)) + "|"
    for name in arguments.sets:
        rivals = {depth: [] for depth in DEPTHS}
        errors, shapes, found = [], [], []
        for seed in range(SPLITS):
            header, train, test = split(arguments.data_dir / "pmlb" / f"{name}.tsv.gz", seed)
            for depth, of_depth in rivals.items():
                of_depth.append(xgboost_error(train, test, depth))
            shapes.append(bench.best_shape(header, train))
            errors.append(bench.error(header, train, test, shapes[-1]))
            share = (arguments.sample + seed) // SPLITS
            found.append(bench.reasons(bench.folder / "test.tsv", share, "--label", "target"))
        times = sorted(itertools.chain.from_iterable(reasons["processor_seconds"] for reasons in found))
        rows, minimal = sum(r["rows"] for r in found), sum(r["proven_minimal"] for r in found)
        shape = "; ".join(f"{rounds}, {arity}" for rounds, arity, _ in shapes)
        columns = statistics.mean(r["median_columns"] for r in found)
        yield (
            f"| {name} | {shape} | {percent(errors)} | {' | '.join(percent(of) for of in rivals.values())} "
            f"| {time_of(statistics.median(times))} | {time_of(times[-1])} | {PUBLISHED[name]} s | {minimal} of {rows} | {columns:.0f} |"
        )


def default_groves(arguments, bench):
    yield ""
    yield f"Default groves, {arguments.limit} s a row at the most:"
    yield ""
    yield "| set | median time | longest | proven minimal | median columns |"
    yield "|---|---|---|---|---|"
    for name, settings in DEFAULTS.items():
        where = ["--data-dir", arguments.data_dir]
        if not arguments.models or not (arguments.models / f"{name}.gw").exists():
            bench.run("train", name, *where, *settings, "-o", bench.model)
        else:
            bench.model = arguments.models / f"{name}.gw"
        limit = ["--time-limit", arguments.limit]
        found = bench.reasons(name, arguments.default_sample, *where, *limit)
        yield (
            f"| {name} {' '.join(map(str, settings))} | {time_of(found['median_seconds'])} | {time_of(found['longest_seconds'])} "
            f"| {found['proven_minimal']} of {found['rows']} | {found['median_columns']:.0f} |"
        )


def contributions(arguments, bench):
    """Shapley values of the default Adult grove."""
    where = ["--data-dir", arguments.data_dir]
    model = arguments.models / "adult.gw" if arguments.models else bench.folder / "adult.gw"
    if not model.exists():
        bench.run("train", "adult", *where, "-o", model)

    def seconds():
        out = bench.folder / "added.csv"
        words = [bench.command, "predict", model, "adult", *where, "--contributions", "-o", out, "--threads", "1"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        subprocess.run(list(map(str, words)), check=True, capture_output=True)
        used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        return used, sum(1 for _ in open(out)) - 1

    used, rows = seconds()
    yield ""
    yield (
        f"Exact Shapley values of the default grove of Adult, 100 background rows, one core: {rows / used:,.0f} rows a second "
        f"({rows:,} rows in {used:.1f} s, reading and writing them included)."
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data-dir", type=pathlib.Path, required=True)
    parser.add_argument("--gatewood", default=HERE.parent / "target/release/gatewood")
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "explain.md")
    parser.add_argument("--sample", type=int, default=100, help="rows of each set")
    parser.add_argument("--default-sample", type=int, default=100, help="rows that default groves explain")
    parser.add_argument("--limit", type=float, default=10, help="seconds a row for default groves")
    parser.add_argument("--models", type=pathlib.Path, help="a folder of default models that are trained already")
    parser.add_argument("--sets", nargs="*", choices=PUBLISHED, default=["breast_cancer", "pendigits", "spambase"])
    parser.add_argument("--only", choices=["small", "default", "contributions"], help="one of the parts alone")
    arguments = parser.parse_args()
    parts = {"small": small_groves, "default": default_groves, "contributions": contributions}
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(arguments.gatewood, pathlib.Path(folder))
        text = INTRODUCTION
        for name, part in parts.items():
            if arguments.only in (None, name):
                for line in part(arguments, bench):
                    print(line, flush=True)
                    text += line + "\n"
    arguments.out.write_text(text)


INTRODUCTION = """# Sufficient reasons

Made by `python bench/explain.py`, which says how. Errors are means of three random splits, 80 to 20; XGBoost has 50 trees a class. Times are of
one core. XReason's are those its authors publish, on their machine. Each reason was tested with 10,000 random rows that meet it, and
all kept the class.
"""

if __name__ == "__main__":
    main()
