"""The rivals: how each is set up, given rows, and saved.

Each comes in up to three manners: plain ("lightgbm": its usual good settings for the kind of set), "-defaults" (as the
library has it) and "-search" (the best of some settings by three folds on the training rows, the search being part of
the training time). PMLB is run with the last two, the other sets with the first.
"""

import importlib
import pathlib
import pickle
import tempfile
import time

import numpy

FAMILIES = ["lightgbm", "xgboost", "catboost", "random-forest", "extra-trees", "hist-boosting", "svm-rbf"]
# Run only where they are asked for by name, and on images alone.
ASKED = ["convolutional"]
# Where each comes from, if not from scikit-learn.
PACKAGES = {"lightgbm": "lightgbm", "xgboost": "xgboost", "catboost": "catboost", "convolutional": "torch"}

# An SVM's time grows with the square of the rows: beyond this many it is left out.
SVM_ROWS = 15_000

SAMPLED = {"subsample": 0.8, "colsample_bytree": 0.8}
# Settings for sets of every kind, then what differs for pixels, for many rows, and for many pixels of many classes.
GOOD = {
    "lightgbm": {
        "": {"n_estimators": 500, "learning_rate": 0.05, "num_leaves": 31, "subsample_freq": 1, **SAMPLED},
        "pixels": {"colsample_bytree": 0.3},
        # Without a weight of one, Covertype's rare classes lead it astray: 27 % of rows wrong. Two classes are as good without.
        "large": {"num_leaves": 127, "learning_rate": 0.1, "min_child_weight": 1.0},
        "large pixels": {"n_estimators": 300, "learning_rate": 0.1},
    },
    "xgboost": {
        "": {"n_estimators": 500, "learning_rate": 0.05, "max_depth": 6, **SAMPLED},
        "pixels": {"colsample_bytree": 0.3},
        "large": {"max_depth": 10, "learning_rate": 0.1},
        "large pixels": {"n_estimators": 300, "learning_rate": 0.1},
    },
    "catboost": {"": {"iterations": 1000}, "large": {"depth": 8, "learning_rate": 0.2},
                 "large pixels": {"iterations": 500, "learning_rate": 0.2}},
    "random-forest": {"": {"n_estimators": 500}, "large": {"n_estimators": 200}},
    "extra-trees": {"": {"n_estimators": 500}, "large": {"n_estimators": 200}},
    "hist-boosting": {
        "": {"max_iter": 500, "learning_rate": 0.05, "early_stopping": False},
        "pixels": {"max_features": 0.3},
        # Without it, Covertype's rare classes lead it astray: 24 to 37 % of rows wrong.
        "large": {"max_leaf_nodes": 127, "learning_rate": 0.1, "l2_regularization": 1.0},
        "large pixels": {"max_iter": 300, "learning_rate": 0.1},
    },
    "svm-rbf": {"": {"C": 10.0, "gamma": "scale"}},
    "convolutional": {"": {}},
}

# The modest search: the library's defaults first, then what usually helps.
SEARCH = {
    "lightgbm": [
        {},
        {"n_estimators": 300, "learning_rate": 0.05, "num_leaves": 15, "min_child_samples": 10},
        {"n_estimators": 500, "learning_rate": 0.02, "num_leaves": 31, "subsample_freq": 1, **SAMPLED},
        {"n_estimators": 300, "learning_rate": 0.05, "num_leaves": 7},
        {"n_estimators": 300, "learning_rate": 0.1, "num_leaves": 63, "min_child_samples": 5},
        {"n_estimators": 500, "learning_rate": 0.05, "num_leaves": 31, "colsample_bytree": 0.5, "reg_lambda": 5.0},
        {"n_estimators": 100, "learning_rate": 0.05, "num_leaves": 7, "min_child_samples": 30},
        {"n_estimators": 1000, "learning_rate": 0.1, "num_leaves": 31, "min_child_samples": 5, **SAMPLED},
    ],
    "xgboost": [
        {},
        {"n_estimators": 300, "learning_rate": 0.05, "max_depth": 4},
        {"n_estimators": 500, "learning_rate": 0.02, "max_depth": 6, **SAMPLED},
        {"n_estimators": 300, "learning_rate": 0.05, "max_depth": 3},
        {"n_estimators": 300, "learning_rate": 0.1, "max_depth": 8, "min_child_weight": 0.5},
        {"n_estimators": 500, "learning_rate": 0.05, "max_depth": 6, "colsample_bytree": 0.5, "reg_lambda": 5.0},
        {"n_estimators": 100, "learning_rate": 0.05, "max_depth": 3, "min_child_weight": 5},
        {"n_estimators": 1000, "learning_rate": 0.1, "max_depth": 6, "min_child_weight": 0.5, **SAMPLED},
    ],
    "catboost": [
        {},
        {"iterations": 300, "depth": 4},
        {"iterations": 300, "depth": 8},
        {"iterations": 500, "depth": 6, "l2_leaf_reg": 1.0},
        {"iterations": 500, "depth": 6, "l2_leaf_reg": 10.0},
        {"iterations": 200, "depth": 3, "learning_rate": 0.05},
        {"iterations": 500, "depth": 8, "learning_rate": 0.1},
        {"iterations": 500, "depth": 5, "learning_rate": 0.1, "random_strength": 3.0},
    ],
    "random-forest": [
        {},
        {"n_estimators": 500},
        {"n_estimators": 500, "max_features": 0.5},
        {"n_estimators": 500, "max_features": 1.0},
        {"n_estimators": 500, "min_samples_leaf": 3},
        {"n_estimators": 500, "min_samples_leaf": 5, "max_features": 0.5},
        {"n_estimators": 500, "max_features": "log2"},
        {"n_estimators": 500, "criterion": "entropy", "max_features": 0.3},
    ],
    "hist-boosting": [
        {},
        {"max_iter": 300, "learning_rate": 0.05, "max_leaf_nodes": 15, "early_stopping": False},
        {"max_iter": 500, "learning_rate": 0.02, "early_stopping": False},
        {"max_iter": 300, "learning_rate": 0.05, "max_leaf_nodes": 7, "early_stopping": False},
        {"max_iter": 300, "learning_rate": 0.1, "max_leaf_nodes": 63, "min_samples_leaf": 5, "early_stopping": False},
        {"max_iter": 500, "learning_rate": 0.05, "l2_regularization": 5.0, "max_features": 0.5,
         "early_stopping": False},
        {"max_iter": 100, "learning_rate": 0.05, "max_leaf_nodes": 7, "min_samples_leaf": 30},
        {"max_iter": 1000, "learning_rate": 0.1, "min_samples_leaf": 5, "early_stopping": False},
    ],
    "svm-rbf": [{"C": c, "gamma": gamma} for c in (1.0, 10.0, 100.0) for gamma in ("scale", 0.01, 0.1)],
}
SEARCH["extra-trees"] = SEARCH["random-forest"]


def methods(dataset, families):
    """The names of the rivals' methods for a set."""
    families = [family for family in families if family not in ASKED or dataset.named]
    if dataset.size == "small":
        return [f"{family}-{manner}" for family in families for manner in ("defaults", "search")]
    return list(families)


def family_of(method):
    return method.removesuffix("-defaults").removesuffix("-search")


def good_settings(family, kind, size):
    """The usual good settings of a rival for a kind of rows and a size of set."""
    pixels = "pixels" if kind == "pixels" else ""
    words = ["", pixels, *([] if size != "large" else [f"large {pixels}".strip()])]
    settings = {}
    for word in dict.fromkeys(words):
        settings |= GOOD[family].get(word, {})
    return settings


def version(method):
    return importlib.import_module(PACKAGES.get(family_of(method), "sklearn")).__version__


class Rival:
    """A rival as it is set up for one job; `fit` takes raw rows in memory, `predict` gives codes of classes."""

    def __init__(self, method, kind, size, seed, threads, search_seconds, network_seconds=600.0):
        self.family = family_of(method)
        self.manner = method.removeprefix(self.family).removeprefix("-")
        self.kind, self.size, self.seed, self.threads = kind, size, seed, threads
        self.search_seconds, self.network_seconds = search_seconds, network_seconds
        self.settings, self.tried = {}, 0

    def fit(self, x, y):
        x = self.to_columns(x, fit=True)
        if self.manner == "search":
            self.settings = self.search(x, y)
        elif not self.manner:
            self.settings = good_settings(self.family, self.kind, self.size)
        self.model = self.build(self.settings).fit(x, y)
        if self.family == "convolutional":
            self.settings = {"cpu_seconds": self.network_seconds, "epochs": round(self.model.epochs, 1)}
        return self

    def predict(self, x):
        return numpy.asarray(self.model.predict(self.to_columns(x))).ravel().astype(int)

    def probabilities(self, x):
        """The probability of every class, a row each; none of the SVM, which gives margins alone."""
        if self.family == "svm-rbf":
            return None
        return numpy.asarray(self.model.predict_proba(self.to_columns(x)))

    def search(self, x, y):
        """The settings with the fewest errors over three folds; stops trying when its time is up."""
        from sklearn.model_selection import StratifiedKFold
        folds = list(StratifiedKFold(3, shuffle=True, random_state=self.seed).split(numpy.zeros(len(y)), y))
        take = (lambda rows: x.iloc[rows]) if hasattr(x, "iloc") else (lambda rows: x[rows])
        begun, best = time.perf_counter(), None
        for settings in SEARCH[self.family]:
            if best and time.perf_counter() - begun > self.search_seconds:
                break
            wrong = 0
            for train, test in folds:
                model = self.build(settings).fit(take(train), y[train])
                wrong += int((numpy.asarray(model.predict(take(test))).ravel() != y[test]).sum())
            self.tried += 1
            if best is None or wrong < best[0]:
                best = (wrong, settings)
        return best[1]

    def to_columns(self, x, fit=False):
        """Raw rows as this rival takes them: words counted, categories as codes or one column each."""
        if self.kind == "text":
            return self.count_words(x, fit)
        if self.kind != "mixed" or self.family in ("lightgbm", "xgboost", "hist-boosting"):
            return x
        if self.family == "svm-rbf":
            return self.one_column_each(x, fit)
        codes = x.copy()
        for name in codes.select_dtypes("category"):
            codes[name] = codes[name].cat.codes.astype("int32")
        return codes if self.family == "catboost" else codes.to_numpy(numpy.float32)

    def count_words(self, texts, fit):
        from sklearn.feature_extraction.text import CountVectorizer
        if fit:
            self.words = CountVectorizer(dtype=numpy.float32).fit(texts)
        counts = self.words.transform(texts)
        return counts.toarray() if self.family == "hist-boosting" else counts

    def one_column_each(self, x, fit):
        from sklearn.compose import ColumnTransformer
        from sklearn.preprocessing import OneHotEncoder
        if fit:
            categories = list(x.select_dtypes("category"))
            self.columns = ColumnTransformer(
                [("category", OneHotEncoder(handle_unknown="ignore", sparse_output=False), categories)],
                remainder="passthrough").fit(x)
        return self.columns.transform(x)

    def build(self, settings):
        seed, threads = self.seed, self.threads
        if self.family == "lightgbm":
            from lightgbm import LGBMClassifier
            return LGBMClassifier(random_state=seed, n_jobs=threads, verbosity=-1, **settings)
        if self.family == "xgboost":
            from xgboost import XGBClassifier
            return XGBClassifier(random_state=seed, n_jobs=threads, tree_method="hist", enable_categorical=True,
                                 **settings)
        if self.family == "catboost":
            return self.build_catboost(settings)
        if self.family == "convolutional":
            from network import Network
            return Network(seed, threads, self.network_seconds, **settings)
        if self.family == "hist-boosting":
            from sklearn.ensemble import HistGradientBoostingClassifier
            return HistGradientBoostingClassifier(random_state=seed, categorical_features="from_dtype", **settings)
        if self.family == "svm-rbf":
            from sklearn.pipeline import make_pipeline
            from sklearn.preprocessing import MaxAbsScaler, StandardScaler
            from sklearn.svm import SVC
            scaler = StandardScaler() if self.kind in ("numbers", "mixed") else MaxAbsScaler()
            return make_pipeline(scaler, SVC(cache_size=1000, **settings))
        from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
        forest = RandomForestClassifier if self.family == "random-forest" else ExtraTreesClassifier
        return forest(random_state=seed, n_jobs=threads, **settings)

    def build_catboost(self, settings):
        from catboost import CatBoostClassifier

        class Catboost(CatBoostClassifier):
            def fit(self, x, y):
                categories = list(x.columns[x.dtypes == "int32"]) if hasattr(x, "columns") else None
                return super().fit(x, y, cat_features=categories or None)

        return Catboost(random_seed=self.seed, thread_count=self.threads, verbose=False, allow_writing_files=False,
                        **settings)

    def saved_bytes(self):
        """Bytes of the model as the library saves it; scikit-learn's as a pickle."""
        if self.family == "lightgbm":
            return len(self.model.booster_.model_to_string())
        if self.family == "xgboost":
            return len(self.model.get_booster().save_raw("ubj"))
        if self.family == "convolutional":
            return self.model.saved_bytes()
        if self.family == "catboost":
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "model.cbm"
                self.model.save_model(str(path))
                return path.stat().st_size
        counter = Counter()
        pickle.dump(self.model, counter, protocol=5)
        return counter.bytes


class Counter:
    """A file that keeps nothing but the number of bytes written."""

    bytes = 0

    def write(self, piece):
        self.bytes += memoryview(piece).nbytes
