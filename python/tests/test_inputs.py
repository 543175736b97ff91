"""Rows of every kind give the same model."""

from __future__ import annotations

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
    return GatewoodClassifier(rounds=8, climb=100, random_state=1)


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
    for model in (GatewoodClassifier(rounds=8, climb=100), BooleanTreeClassifier(depth=4)):
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
    model = GatewoodClassifier(rounds=2, climb=50).fit(X[:2000], y[:2000])
    middle = slice(20_000, 40_000)
    for ask in (model.predict, model.predict_proba, model.decision_function):
        np.testing.assert_array_equal(ask(X)[middle], ask(X[middle]))
        assert len(ask(X)) == len(X)


NOT_COPIED = """
import sys
import numpy as np
from gatewood import BooleanTreeClassifier, GatewoodClassifier, PackedBits

def peak() -> int:
    # Not ru_maxrss, which a process inherits from the one that started it.
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("VmHWM"))

# 256 megabytes of zeros that the system has promised and not given: a copy of it would have to be given.
rows, columns = 1 << 18, 8192
packed = PackedBits(np.zeros((columns, rows // 64), dtype=np.uint64), rows)
assert packed.words.nbytes == 1 << 28
small = PackedBits.pack(np.random.default_rng(0).integers(0, 2, (64, columns)))
model = BooleanTreeClassifier(arity=2, depth=3, n_jobs=1).fit(small, [0, 1] * 32)
# Forget the peak of all that came before.
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")
before = peak()
if sys.argv[1] == "copy":
    packed = PackedBits(packed.words.copy(), rows)
if sys.argv[2] == "fit":
    grove = GatewoodClassifier(arity=2, depth=1, rounds=1, climb=1, trees=1, sample=256, n_jobs=1)
    grove.fit(packed, np.arange(rows) % 2)
else:
    assert len(model.predict(packed)) == rows
print(peak() - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux for its memory")
@pytest.mark.parametrize("work", ["predict", "fit"])
def test_packed_bits_are_not_copied(work):
    grown = {}
    for how in ("plain", "copy"):
        command = [sys.executable, "-c", NOT_COPIED, how, work]
        result = subprocess.run(command, capture_output=True, text=True, check=True)
        grown[how] = int(result.stdout)
    # To draw rows quickly, a grove's learner lays them out once more in an order of its own; nothing else holds them.
    learner = (256 << 20) if work == "fit" else 0
    # The measure sees a copy, and there is none.
    assert grown["copy"] - learner > 150 << 20
    assert grown["plain"] - learner < 60 << 20


def test_packed_bits_share_the_memory_of_their_array():
    words = np.zeros((4, 2), dtype=np.uint64)
    assert np.shares_memory(PackedBits(words, 100).words, words)
