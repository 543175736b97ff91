"""Groves that say numbers."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multioutput import MultiOutputRegressor

import gatewood
from gatewood import GatewoodClassifier, GatewoodRegressor


def rows(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    X = random.random((count, 4))
    return X, 30 * X[:, 0] * X[:, 1] + 10 * (X[:, 2] > 0.5) + random.normal(0, 1 + X[:, 3], count)


@pytest.fixture(scope="module")
def fitted() -> GatewoodRegressor:
    return GatewoodRegressor(n_estimators=150, learning_rate=0.1, n_jobs=1).fit(*rows(1500, 1))


def test_numbers_are_learned(fitted):
    X, y = rows(800, 2)
    assert fitted.score(X, y) > 0.9
    said = fitted.predict(X)
    assert said.dtype == np.float64 and said.shape == (800,)
    # A few rows at a time say the same, and so do frames and files.
    assert np.array_equal(fitted.predict(X[:5]), said[:5])
    assert fitted.feature_importances_.shape == (4,) and fitted.feature_importances_[3] < 0.2
    assert np.array_equal(pickle.loads(pickle.dumps(fitted)).predict(X), said)
    assert np.array_equal(clone(fitted).fit(*rows(1500, 1)).predict(X), said)


def test_contributions_add_up(fitted):
    X, _ = rows(20, 3)
    added = fitted.predict(X, pred_contrib=True)
    assert added.shape == (20, 5)
    np.testing.assert_allclose(added.sum(axis=1), fitted.predict(X), atol=1e-6)


def test_quantiles_never_cross_and_cover():
    X, y = rows(2000, 4)
    fresh, truth = rows(1000, 5)
    model = GatewoodRegressor(objective="quantile:0.1,0.5,0.9", n_estimators=250, learning_rate=0.1, n_jobs=1).fit(X, y)
    assert model.quantiles_ == [0.1, 0.5, 0.9]
    all_of = model.predict_quantiles(fresh)
    assert (np.diff(all_of, axis=1) >= 0).all()
    assert np.array_equal(model.predict(fresh, quantile=0.9), all_of[:, 2])
    assert np.array_equal(model.predict(fresh), all_of[:, 1])
    assert 0.6 < np.mean((truth >= all_of[:, 0]) & (truth <= all_of[:, 2])) < 0.95
    with pytest.raises(ValueError, match="0.1, 0.5, 0.9"):
        model.predict(fresh, quantile=0.3)
    with pytest.raises(ValueError, match="several quantiles"):
        model.predict(fresh, pred_contrib=True)


def test_eval_sets_stop_and_models_go_on():
    X, y = rows(800, 6)
    held = rows(400, 7)
    model = GatewoodRegressor(n_estimators=60, early_stopping_rounds=20, n_jobs=1)
    model.fit(X, y, eval_set=[(X, y), held])
    result = model.evals_result_["validation_1"]
    assert len(result["rmse"]) == model.n_rounds_ and result["rmse"][-1] < result["rmse"][0]
    last = np.sqrt(mean_squared_error(held[1], model.predict(held[0])))
    np.testing.assert_allclose(result["rmse"][-1], last)
    stages = list(model.staged_predict(held[0]))
    assert len(stages) == model.n_rounds_ and np.array_equal(stages[-1], model.predict(held[0]))
    more = GatewoodRegressor(n_estimators=60, n_jobs=1).fit(X, y, init_model=model)
    assert more.score(*held) > model.score(*held)


def test_files_are_the_estimators_they_hold(fitted, tmp_path):
    X, _ = rows(50, 8)
    fitted.save(tmp_path / "m.gw")
    again = gatewood.load(tmp_path / "m.gw")
    assert isinstance(again, GatewoodRegressor) and np.array_equal(again.predict(X), fitted.predict(X))
    with pytest.raises(ValueError, match="GatewoodRegressor"):
        GatewoodClassifier.load(tmp_path / "m.gw")
    classes = GatewoodClassifier(n_estimators=5).fit(X, X[:, 0] > 0.5)
    classes.save(tmp_path / "c.gw")
    with pytest.raises(ValueError, match="GatewoodClassifier"):
        GatewoodRegressor.load(tmp_path / "c.gw")
    assert "quantiles" not in fitted._repr_html_()


def test_several_numbers_at_once():
    X, y = rows(300, 9)
    model = MultiOutputRegressor(GatewoodRegressor(n_estimators=20, n_jobs=1)).fit(X, np.stack([y, -y], axis=1))
    said = model.predict(X)
    assert said.shape == (300, 2) and np.corrcoef(said[:, 0], said[:, 1])[0, 1] < -0.9


def test_searches_and_folds_work():
    X, y = load_diabetes(return_X_y=True)
    model = GatewoodRegressor(n_estimators=60, climb=100, n_jobs=1)
    assert cross_val_score(model, X, y, cv=3).mean() > 0.3
    search = GridSearchCV(model, {"objective": ["squared", "absolute"]}, cv=2, scoring="neg_mean_absolute_error")
    assert search.fit(X, y).best_params_["objective"] in ("squared", "absolute")


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1.0, np.nan, 2.0], "NaN"),
        ([1.0, np.inf, 2.0], "infinity"),
        ([1e300, 1.0, 2.0], "row 1"),
        ([4.0, 4.0, 4.0], "every row"),
        (["a", "b", "c"], "could not convert"),
    ],
)
def test_numbers_that_cannot_be_learned_are_named(y, message):
    with pytest.raises(ValueError, match=message):
        GatewoodRegressor(n_estimators=2).fit([[1.0], [2.0], [3.0]], y)
    with pytest.raises(ValueError, match="no logarithm|have a logarithm"):
        GatewoodRegressor(n_estimators=2, target="log").fit([[1.0], [2.0]], [0.0, 2.0])


def test_pictures(fitted):
    pytest.importorskip("matplotlib").use("Agg")
    X, y = rows(60, 10)
    assert gatewood.plot_predicted(fitted, X, y).get_xlabel() == "true"
    assert gatewood.plot_residuals(fitted, X, y).get_xlabel() == "predicted"
    gatewood.plot_learning_curve(fitted)
    gatewood.plot_importance(fitted)


def test_programs_are_tested(fitted, tmp_path):
    small = GatewoodRegressor(n_estimators=3, arity=3, n_jobs=1).fit(*rows(300, 11))
    small.export("verilog", tmp_path / "m.v")
    assert small.verify(tmp_path / "m.v")
    small.export("c", tmp_path / "m.c", encoder=True)
    assert small.verify(tmp_path / "m.c")
