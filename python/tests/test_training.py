"""Training: settings, weights, validation rows, going on, errors."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from gatewood import BooleanTreeClassifier, GatewoodClassifier, _core


def test_nothing_said_is_the_library_default(bits):
    X, y = bits
    model = BooleanTreeClassifier().fit(X, y)
    defaults = json.loads(_core.default_settings("tree"))
    assert model.summary()["settings"] == defaults
    assert all(value is None for name, value in GatewoodClassifier().get_params().items() if name not in ("device", "verbose"))


def test_every_setting_of_the_library_is_a_parameter():
    # Rounds, weights of classes and the seed have scikit-learn's names.
    names = {"rounds": "n_estimators", "class_weights": "class_weight", "seed": "random_state", "encode": "encode"}
    for make in (GatewoodClassifier, BooleanTreeClassifier):
        settings = json.loads(_core.default_settings(make._kind))
        del settings["model"]
        expected = {names.get(name, name) for name in settings} | {"n_jobs", "verbose"}
        # Written down only where it is chosen.
        expected |= {"augment", "eval_metric", "max_luts", "max_ands", "refits", "shared_gates", "refit_rows", "use_dont_cares"} if make is GatewoodClassifier else set()
        # Where it is learned is no setting of the model.
        expected |= {"device"}
        assert set(make().get_params()) == expected


def test_a_seed_gives_one_model_on_any_number_of_threads(bits):
    X, y = bits
    for make in (lambda **more: GatewoodClassifier(n_estimators=10, **more), lambda **more: BooleanTreeClassifier(depth=5, climb=300, **more)):
        models = [make(random_state=3, n_jobs=jobs).fit(X, y).model_.to_bytes() for jobs in (1, 2, -1, None)]
        assert len(set(models)) == 1
        assert make(random_state=4).fit(X, y).model_.to_bytes() != models[0]
    drawn = GatewoodClassifier(n_estimators=2, random_state=np.random.RandomState(0)).fit(X, y)
    assert drawn.summary()["settings"]["seed"] == np.random.RandomState(0).randint(2**31)


def test_validation_rows_stop_and_cut_back(bits):
    X, y = bits
    model = GatewoodClassifier(n_estimators=200, early_stopping_rounds=5, learning_rate=0.5)
    model.fit(X[:400], y[:400], eval_set=(X[400:], y[400:]))
    rounds = len(model.learning_curve_["round"])
    assert model.n_rounds_ == rounds - 5 < 200
    # Two trees a round.
    assert model.summary()["trees"] == 2 * model.n_rounds_
    best = model.learning_curve_["validation_error"][model.n_rounds_ - 1]
    # The loss of these rows decides, not their error.
    losses = model.learning_curve_["validation_loss"]
    assert losses[model.n_rounds_ - 1] == min(losses)
    assert model.score(X[400:], y[400:]) == pytest.approx(1 - best)
    again = GatewoodClassifier(n_estimators=200, early_stopping_rounds=5, learning_rate=0.5)
    again.fit(X[:400], y[:400], eval_set=[(X[400:], y[400:])])
    assert again.model_ == model.model_


def test_partial_fit_goes_on(bits):
    X, y = bits
    model = GatewoodClassifier(n_estimators=5).partial_fit(X, y, classes=[0, 1])
    first = model.score(X, y)
    model.partial_fit(X, y)
    # Ten rounds of two trees.
    assert model.summary()["trees"] == 20
    assert model.score(X, y) >= first
    with pytest.raises(ValueError, match="classes"):
        model.partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="not among the classes"):
        model.partial_fit(X, y + 5)


def test_weights_matter_and_zero_weights_do_not_count(bits):
    X, y = bits
    wrong = y.copy()
    wrong[:200] ^= 1
    weights = np.ones(len(y))
    weights[:200] = 0
    model = GatewoodClassifier(n_estimators=40).fit(X, wrong, sample_weight=weights)
    assert model.score(X[:200], y[:200]) > 0.9


def test_class_weights_shift_the_choice(numbers):
    X, y = numbers
    X = X[:, :1] * 0.3 + np.random.default_rng(1).normal(size=(len(y), 1))
    plain = GatewoodClassifier(n_estimators=20).fit(X, y)
    heavy = GatewoodClassifier(n_estimators=20, class_weight={0: 1, 1: 20, 2: 1}).fit(X, y)
    assert (heavy.predict(X) == 1).sum() > (plain.predict(X) == 1).sum()
    GatewoodClassifier(n_estimators=2, class_weight="balanced").fit(X, y)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"arity": 40}, "arity 40"),
        ({"arity": "four"}, "arity"),
        ({"n_estimators": -1}, "n_estimators"),
        ({"learning_rate": 3.0}, "learning_rate"),
        ({"encode": {"max_bins": 0}}, "max_bins"),
        ({"encode": {"colour": 1}}, "colour"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"reg_lambda": float("nan")}, "reg_lambda"),
        ({"honest_fraction": 2.0}, "honest_fraction"),
        ({"feature_reuse": -1.0}, "feature_reuse"),
    ],
)
def test_a_wrong_setting_is_a_value_error_that_names_it(bits, settings, message):
    with pytest.raises(ValueError, match=message):
        GatewoodClassifier(**settings).fit(*bits)


def test_more_than_memory_is_a_memory_error(bits):
    with pytest.raises((MemoryError, ValueError)):
        BooleanTreeClassifier(arity=12, depth=8).fit(*bits)


def test_probabilities_margins_and_classes_agree(numbers):
    X, y = numbers
    names = np.array(["low", "middle", "high"])[y]
    model = GatewoodClassifier(n_estimators=15).fit(X, names)
    probabilities, margins = model.predict_proba(X), model.decision_function(X)
    assert probabilities.shape == margins.shape == (300, 3)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_array_equal(model.classes_[probabilities.argmax(axis=1)], model.predict(X))
    np.testing.assert_array_equal(model.classes_[margins.argmax(axis=1)], model.predict(X))
    two = GatewoodClassifier(n_estimators=15).fit(X, y == 1)
    np.testing.assert_array_equal(two.decision_function(X) > 0, two.predict(X))
    np.testing.assert_allclose(two.predict_proba(X)[:, 1], 1 / (1 + np.exp(-two.decision_function(X))))


def test_importance_finds_the_columns_that_matter(bits):
    X, y = bits
    for model in (GatewoodClassifier(n_estimators=30), BooleanTreeClassifier(depth=3, climb=3000, height=3)):
        worth = model.fit(X, y).feature_importances_
        assert worth.shape == (40,)
        assert worth.sum() == pytest.approx(1)
        assert set(np.argsort(worth)[-3:]) == {3, 11, 29}


def test_progress_goes_to_stderr_only(bits, capfd):
    X, y = bits
    GatewoodClassifier(n_estimators=1_000_000, time_limit=0.3, verbose=1).fit(X, y)
    out, err = capfd.readouterr()
    assert out == ""
    assert "of the work" in err and "trained in" in err


def test_pixels_are_asked_for():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 256, (200, 16), dtype=np.uint8)
    y = (X[:, 5] >= 128).astype(int)
    model = GatewoodClassifier(n_estimators=5, encode={"pixel_bits": 1, "pixel_code": "binary"}).fit(X, y)
    assert model.summary()["bits"] == 16
    assert {kind for _, _, kind in model.summary()["inputs"]} == {"pixel"}
    assert model.score(X, y) == 1.0


def test_lines_of_images_are_read():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 256, (600, 8, 8), dtype=np.uint8)
    y = (X[:, 2, 1:7] >= 100).all(axis=1).astype(int)
    X = X.reshape(600, 64)
    image = {"image": {"width": 8, "height": 8}}
    model = GatewoodClassifier(n_estimators=30, encode=image).fit(X, y)
    assert model.summary()["spans"] > 0
    assert any(" and " in name for name in model.model_.bit_names())
    assert model.score(X, y) > 0.97
    plain = GatewoodClassifier(n_estimators=30, spans=0, encode=image).fit(X, y)
    assert plain.summary()["spans"] == 0
    more = GatewoodClassifier(n_estimators=5, encode=image).fit(X, y)
    trees = more.summary()["trees"]
    assert more.partial_fit(X, y).summary()["trees"] == 2 * trees
    with pytest.raises(ValueError, match="64"):
        GatewoodClassifier(encode={"image": {"width": 9, "height": 8}}).fit(X, y)


@pytest.mark.parametrize("learning", [False, True])
def test_a_panic_is_an_exception(learning):
    # In another process, since an abort would end this one; RuntimeError is what `except Exception` catches.
    code = f"""
from gatewood import _core
try:
    _core.provoke_panic({learning})
except Exception as error:
    print(type(error).__name__, error)
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "RuntimeError a defect in gatewood: provoked\n"


def test_columns_are_what_is_said_and_what_is_left_out_is_told():
    pd = pytest.importorskip("pandas")
    rows = 200
    X = pd.DataFrame(
        {
            "day": np.arange(rows),
            "key": [f"k{row:03}" for row in range(rows)],
            "same": 1.0,
            "zip": np.arange(rows) % 3 * 1000,
            "price": [f"{row * 37 % rows},5" for row in range(rows)],
        }
    )
    y = np.where(np.arange(rows) > 100, "late", "early")
    with pytest.warns(UserWarning, match="\"price\" is read as numbers with a decimal comma"):
        model = GatewoodClassifier(n_estimators=3).fit(X, y)
    assert (model.predict(X) == y).mean() > 0.95
    assert model.columns_left_out_["key"] == "its texts differ on every training row"
    assert model.columns_left_out_["same"] == "it has one value on all training rows"
    assert "day" not in model.columns_left_out_
    encode = {"drop": ["day", "price"], "categorical": ["zip"], "keep": ["key"]}
    model = GatewoodClassifier(n_estimators=3, encode=encode).fit(X, y)
    assert set(model.columns_left_out_) == {"day", "price", "same"}
    with pytest.raises(ValueError, match="there is no column \"dya\""):
        GatewoodClassifier(encode={"drop": ["dya"]}).fit(X, y)


def test_a_quantity_is_no_label():
    X = np.random.default_rng(0).normal(size=(300, 2))
    with pytest.raises(ValueError, match="looks like a quantity, not like classes: choose another label"):
        GatewoodClassifier(n_estimators=2).fit(X, np.arange(300) * 10)
