"""Rows of every kind give the same model."""

from __future__ import annotations

import datetime
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from gatewood import BooleanTreeClassifier, GatewoodClassifier, PackedBits, _inputs


def circuit(model) -> bytes:
    return model.model_.to_bytes()


@pytest.fixture
def grove() -> GatewoodClassifier:
    return GatewoodClassifier(n_estimators=8, climb=100, random_state=1)


@pytest.mark.parametrize(
    "dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64", "longdouble", "object"]
)
def test_arrays_of_any_type_give_one_model(grove, dtype):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 100, (200, 6))
    y = (X[:, 0] + X[:, 3] > 100).astype(int)
    expected = circuit(grove.fit(X.astype("float64"), y))
    assert circuit(grove.fit(X.astype(dtype), y)) == expected
    assert circuit(grove.fit(np.asfortranarray(X.astype(dtype)), y)) == expected
    assert circuit(grove.fit(np.repeat(X.astype(dtype), 2, axis=1)[:, ::2], y)) == expected
    assert circuit(grove.fit(X.tolist(), y.tolist())) == expected


def across_words(X: np.ndarray) -> np.ndarray:
    """The same numbers, a byte beside where the machine reads them."""
    room = np.zeros(X.nbytes + 1, np.uint8)
    X, moved = np.ascontiguousarray(X), room[1:]
    moved[:] = X.view(np.uint8).reshape(-1)
    return moved.view(X.dtype).reshape(X.shape)


def test_arrays_may_lie_anywhere(grove):
    X = np.random.default_rng(0).random((200, 6))
    y = (X[:, 0] + X[:, 3] > 1).astype(int)
    expected = circuit(grove.fit(X, y))
    assert not across_words(X).flags.aligned
    assert circuit(grove.fit(across_words(X), y)) == expected
    for rows in (1, 200):
        assert (grove.predict(across_words(X[:rows])) == grove.predict(X[:rows])).all()
    # An array without numbers says that it is aligned wherever it lies.
    empty = _inputs.aligned(across_words(X)[:0])
    assert empty.shape == (0, 6) and empty.ctypes.data % 8 == 0


def test_sparse_matrices_give_the_model_of_dense_ones(grove):
    rng = np.random.default_rng(0)
    X = rng.integers(1, 100, (200, 6)) * (rng.random((200, 6)) < 0.3)
    y = (X[:, 0] > 0).astype(int)
    expected = circuit(grove.fit(X, y))
    for make in (scipy.sparse.csr_matrix, scipy.sparse.csc_array, scipy.sparse.coo_array):
        sparse = make(X.astype(float))
        assert circuit(grove.fit(sparse, y)) == expected
        assert grove.score(sparse, y) == grove.score(X, y)


def frame() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(5)
    rows = 300
    age = rng.integers(17, 90, rows).astype(float)
    work = rng.choice(["Private", "State", "Self"], rows)
    seen = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 700, rows), unit="D")
    y = np.where((age > 40) & (work == "Private"), "high", "low")
    age[::17] = np.nan
    text = pd.Series(work, dtype="str")
    text[5::23] = None
    return pd.DataFrame({"age": age, "work": text, "seen": seen, "flag": rng.random(rows) < 0.5}), y


def test_data_frames_of_all_libraries_give_one_model(grove):
    X, y = frame()
    expected = circuit(grove.fit(X, y))
    assert list(grove.feature_names_in_) == list(X.columns)
    assert grove.score(X, y) > 0.95
    others = {
        "categories": X.astype({"work": "category"}),
        "objects": X.astype({"work": object}),
        "nullable": X.astype({"age": "Float64", "flag": "boolean"}),
        "pyarrow": pa.Table.from_pandas(X),
    }
    others["polars"] = pl.from_arrow(others["pyarrow"])
    others["polars categories"] = others["polars"].with_columns(pl.col("work").cast(pl.Categorical))
    others["pyarrow dictionary"] = others["pyarrow"].set_column(
        1, "work", others["pyarrow"]["work"].cast(pa.string()).dictionary_encode()
    )
    for name, other in others.items():
        assert circuit(grove.fit(other, y)) == expected, name
        np.testing.assert_array_equal(grove.predict(other), grove.predict(X), err_msg=name)


def test_columns_may_come_in_another_order_only_by_name(grove):
    X, y = frame()
    grove.fit(X, y)
    with pytest.raises(ValueError, match="feature names"):
        grove.predict(X[["work", "age", "seen", "flag"]])
    with pytest.raises(ValueError, match="features"):
        grove.predict(X.to_numpy()[:, :2])


def test_missing_numbers_and_new_categories_are_no_error(grove):
    X, y = frame()
    grove.fit(X, y)
    new = X.head(3).assign(age=np.nan, work="Never seen before")
    assert len(grove.predict(new)) == 3


def test_objects_that_are_neither_text_nor_numbers_are_refused(grove):
    X = np.array([[1, "a"], [2, "b"], [3, {"c": 1}], [4, "d"]], dtype=object)
    with pytest.raises(TypeError, match="string or a number"):
        grove.fit(X, [0, 1, 0, 1])


def test_packed_bits_are_the_bits(bits):
    X, y = bits
    packed = PackedBits.pack(X)
    np.testing.assert_array_equal(packed.unpack(), X)
    np.testing.assert_array_equal(np.asarray(packed), X)
    for model in (GatewoodClassifier(n_estimators=8, climb=100), BooleanTreeClassifier(depth=4)):
        model.fit(packed, y)
        said = model.predict(packed)
        # A model of packed bits takes unpacked ones, and the other way round.
        np.testing.assert_array_equal(model.predict(X), said)
        np.testing.assert_array_equal(model.fit(X, y).predict(packed), model.predict(X))


def test_packed_bits_are_refused_when_they_are_not():
    with pytest.raises(ValueError, match="C order"):
        PackedBits(np.zeros((4, 2), dtype=np.uint64).T, 4)
    with pytest.raises(ValueError, match="uint64"):
        PackedBits(np.zeros((4, 2), dtype=np.int64), 4)
    with pytest.raises(ValueError, match="do not fit"):
        PackedBits(np.zeros((4, 2), dtype=np.uint64), 129)
    dirty = PackedBits(np.full((4, 1), 2**64 - 1, dtype=np.uint64), 10)
    with pytest.raises(ValueError, match="past row"):
        BooleanTreeClassifier(depth=2).fit(dirty, [0, 1] * 5)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.int64, bool])
def test_large_arrays_are_predicted_part_by_part(dtype, monkeypatch):
    monkeypatch.setattr(_inputs, "PART", 1 << 20)
    rng = np.random.default_rng(5)
    X = rng.integers(0, 2, (60_000, 200)).astype(dtype)
    y = X[:, 0].astype(int) + X[:, 1]
    model = GatewoodClassifier(n_estimators=2, climb=50).fit(X[:2000], y[:2000])
    middle = slice(20_000, 40_000)
    for ask in (model.predict, model.predict_proba, model.decision_function):
        np.testing.assert_array_equal(ask(X)[middle], ask(X[middle]))
        assert len(ask(X)) == len(X)


NOT_COPIED = """
import sys
import numpy as np
from gatewood import BooleanTreeClassifier, GatewoodClassifier, PackedBits

rows = 1 << 15

def peak() -> int:
    # Not ru_maxrss, which a process inherits from the one that started it.
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("VmHWM"))

# 32 megabytes of zeros that the system has promised and not given: a copy of it would have to be given.
def promised():
    if sys.argv[1] == "bits":
        return PackedBits(np.zeros((8192, rows // 64), dtype=np.uint64), rows)
    return np.zeros((rows, 1024), dtype=np.uint8)

def copied(rows_of):
    return PackedBits(rows_of.words.copy(), rows) if sys.argv[1] == "bits" else rows_of.copy()

random = np.random.default_rng(0)
small = PackedBits.pack(random.integers(0, 2, (64, 8192)))
encode = None
if sys.argv[1] == "images":
    small, encode = random.integers(0, 256, (64, 1024), dtype=np.uint8), {"pixel_bits": 1}
models = {
    "tree": BooleanTreeClassifier(arity=2, depth=3, n_jobs=1, encode=encode),
    "grove": GatewoodClassifier(
        arity=2, depth=1, n_estimators=1, climb=1, trees_per_round=1, sample_rows=256, n_jobs=1, encode=encode
    ),
}
for kind, model in models.items():
    model.fit(small, [0, 1] * 32)
    for work in sys.argv[2:]:
        for how in ("plain", "copy"):
            given = promised()
            # Forget the peak of all that came before.
            with open("/proc/self/clear_refs", "w") as file:
                file.write("5")
            before = peak()
            if how == "copy":
                given = copied(given)
            if work == "fit":
                model.fit(given, np.arange(rows) % 2)
            else:
                assert len(model.predict(given)) == rows
            print(kind, work, how, peak() - before)
"""


def growth(*words: str) -> dict[tuple[str, str, str], int]:
    """How many bytes the peak of memory grew by, for each model, work, and with rows as they are or copied."""
    result = subprocess.run([sys.executable, "-c", NOT_COPIED, *words], capture_output=True, text=True, check=True)
    lines = [line.split() for line in result.stdout.splitlines()]
    return {(kind, work, how): int(grown) for kind, work, how, grown in lines}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux for its memory")
def test_packed_bits_are_not_copied():
    grown = growth("bits", "predict", "fit")
    for kind in ("grove", "tree"):
        for work in ("predict", "fit"):
            # A grove lays the rows out once more in an order of its own; nothing else holds them. A tree does so too, but of zeros
            # it writes nothing, so that its memory is only promised.
            learner = (32 << 20) if (kind, work) == ("grove", "fit") else 0
            # The measure sees a copy, and there is none.
            assert grown[kind, work, "copy"] - learner > 25 << 20, grown
            assert grown[kind, work, "plain"] - learner < 10 << 20, grown


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux for its memory")
def test_images_are_not_copied():
    grown = growth("images", "predict")
    for kind in ("grove", "tree"):
        # The bits are an eighth of the bytes.
        assert grown[kind, "predict", "copy"] > 25 << 20, grown
        assert grown[kind, "predict", "plain"] < 10 << 20, grown


def test_packed_bits_share_the_memory_of_their_array():
    words = np.zeros((4, 2), dtype=np.uint64)
    assert np.shares_memory(PackedBits(words, 100).words, words)


def spoiled() -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(4).normal(size=(200, 3))
    return X, (X[:, 0] > 0).astype(int)


def test_masked_numbers_are_missing_ones(grove):
    X, y = spoiled()
    gaps = np.where(X > 1, np.nan, X)
    masked = np.ma.masked_array(np.where(X > 1, 7.0, X), mask=X > 1)
    assert circuit(grove.fit(masked, y)) == circuit(grove.fit(gaps, y))
    np.testing.assert_array_equal(grove.predict(masked), grove.predict(gaps))


def test_infinite_numbers_lie_beyond_all_others(grove, tmp_path):
    X, y = spoiled()
    X[X[:, 0] > 1, 0] = np.inf
    X[X[:, 1] < -1, 1] = -np.inf
    expected = circuit(grove.fit(pd.DataFrame(X), y))
    assert circuit(grove.fit(X, y)) == expected
    assert grove.score(X, y) > 0.9
    grove.save(tmp_path / "model.gw")
    np.testing.assert_array_equal(GatewoodClassifier.load(tmp_path / "model.gw").predict(X), grove.predict(X))


@pytest.mark.parametrize("dtype", [">i4", ">u2", ">f8", ">f4"])
def test_the_order_of_bytes_does_not_matter(grove, dtype):
    X, y = spoiled()
    X = np.abs(X * 100).round()
    assert circuit(grove.fit(X.astype(dtype), y)) == circuit(grove.fit(X, y))


def test_columns_of_odd_types_are_read_or_named(grove):
    y = [0, 1] * 60
    days = [datetime.date(2020, 1, 1), None, datetime.date(2021, 1, 1), datetime.date(2022, 5, 1)] * 30
    expected = circuit(grove.fit(pd.DataFrame({"a": pd.to_datetime(pd.Series(days))}), y))
    assert circuit(grove.fit(pd.DataFrame({"a": pd.Series(days, dtype=object)}), y)) == expected
    assert circuit(grove.fit(pl.DataFrame({"a": days}), y)) == expected
    assert circuit(grove.fit(pa.table({"a": days}), y)) == expected
    for fine in (
        pl.DataFrame({"a": pl.Series([1, 2] * 60).cast(pl.Decimal(10, 2)), "b": pl.Series([1, 2] * 60).cast(pl.Duration)}),
        pa.table({"a": pa.array([1, 2_000_000_001] * 60, pa.timestamp("ns", "UTC"))}),
    ):
        assert grove.fit(fine, y).score(fine, y) == 1.0
    for wrong in (
        pl.DataFrame({"odd": [[1], [2]] * 60}),
        pl.DataFrame({"odd": [b"a", b"\xff"] * 60}),
        pa.table({"odd": [[1], [2]] * 60}),
    ):
        with pytest.raises(TypeError, match="odd"):
            grove.fit(wrong, y)
    with pytest.raises(TypeError, match="collect"):
        grove.fit(pl.LazyFrame({"a": y}), y)
    with pytest.raises(ValueError, match="0 feature"):
        grove.fit(pd.DataFrame(index=range(120)), y)


def test_labels_of_odd_types_are_read_or_refused(grove):
    X, y = spoiled()
    for labels, classes in [
        (pd.Series(y, dtype="Int64"), [0, 1]),
        (pd.Series(y == 1, dtype="boolean"), [False, True]),
        (pl.Series(y), [0, 1]),
        (pa.array(y), [0, 1]),
        (pd.Series(y).map({0: "naïve", 1: "日本"}).astype("category"), ["naïve", "日本"]),
        (2 * y - 1, [-1, 1]),
    ]:
        assert grove.fit(X, labels).classes_.tolist() == classes
        assert grove.classes_.dtype.kind == np.array(classes).dtype.kind or grove.classes_.dtype.kind == "O"
    with pytest.raises(TypeError, match="no order"):
        grove.fit(X, np.array([1, "a"], dtype=object)[y])
    with pytest.raises(ValueError, match=f"y has no label in row {int(np.argmin(y))} and "):
        grove.fit(X, np.array([None, "a"], dtype=object)[y])
    with pytest.raises(ValueError, match="NaN"):
        grove.fit(X, pd.Series([1, None] * 100, dtype="Int64"))


@pytest.mark.parametrize("eval_set", [[], "X", [1], [((), (), ())]])
def test_validation_rows_are_pairs(grove, eval_set):
    X, y = spoiled()
    with pytest.raises(ValueError, match="eval_set must be pairs"):
        grove.fit(X, y, eval_set=X if eval_set == "X" else eval_set)
