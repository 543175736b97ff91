"""The estimators are scikit-learn's in every way that its own checks know."""

from __future__ import annotations

import pickle

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from gatewood import BooleanTreeClassifier, GatewoodClassifier, GatewoodRegressor

WEIGHTS = (
    "rows are drawn in proportion to weight and gradient, so weight two and two rows agree in law, not draw for draw: "
    "sample_weight is not equivalent to removing/repeating samples, as scikit-learn says of its own boosting "
    "(PER_ESTIMATOR_XFAIL_CHECKS in sklearn.utils._test_common.instance_generator)"
)

EXPECTED = {
    "GatewoodClassifier": {
        "check_sample_weight_equivalence_on_dense_data": WEIGHTS,
        "check_sample_weight_equivalence_on_sparse_data": WEIGHTS,
    },
    "GatewoodRegressor": {
        "check_sample_weight_equivalence_on_dense_data": WEIGHTS,
        "check_sample_weight_equivalence_on_sparse_data": WEIGHTS,
    },
    "BooleanTreeClassifier": {},
}

ESTIMATORS = [GatewoodClassifier(n_estimators=30, climb=200, n_jobs=1), BooleanTreeClassifier(depth=5, n_jobs=1)]


def expected(estimator: object) -> dict[str, str]:
    return EXPECTED[type(estimator).__name__]


def test_scikit_learn_allows_its_own_boosting_the_same():
    generator = pytest.importorskip("sklearn.utils._test_common.instance_generator")
    for classifier in (GradientBoostingClassifier, HistGradientBoostingClassifier, AdaBoostClassifier, RandomForestClassifier):
        assert set(EXPECTED["GatewoodClassifier"]) <= set(generator.PER_ESTIMATOR_XFAIL_CHECKS[classifier])


REGRESSOR = GatewoodRegressor(n_estimators=60, climb=200, learning_rate=0.2, n_jobs=1)


@parametrize_with_checks([*ESTIMATORS, REGRESSOR], expected_failed_checks=expected)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
def test_pickle_and_joblib_keep_the_model_file(estimator, bits, tmp_path):
    X, y = bits
    fitted = clone(estimator).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    assert again.model_.to_bytes() == fitted.model_.to_bytes()
    assert fitted.model_.to_bytes() in pickle.dumps(fitted)
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    joblib.dump(fitted, tmp_path / "model.joblib")
    np.testing.assert_array_equal(joblib.load(tmp_path / "model.joblib").predict(X), fitted.predict(X))


def test_grid_search_pipelines_and_bagging(numbers):
    X, y = numbers
    pipeline = make_pipeline(StandardScaler().set_output(transform="pandas"), GatewoodClassifier(n_estimators=10))
    search = GridSearchCV(pipeline, {"gatewoodclassifier__arity": [2, 4]}, cv=3, error_score="raise")
    search.fit(X, y)
    assert search.best_score_ > 0.8
    assert list(search.best_estimator_[-1].feature_names_in_) == [f"x{column}" for column in range(5)]
    assert cross_val_score(GatewoodClassifier(n_estimators=10), X, y, cv=3).mean() > 0.8
    bagging = BaggingClassifier(BooleanTreeClassifier(depth=3), n_estimators=3, random_state=0)
    assert bagging.fit(X, y == 1).score(X, y == 1) > 0.8


def test_set_output_and_column_transformers(numbers):
    X, y = numbers
    transformer = make_column_transformer((StandardScaler(), slice(0, 3)), remainder="passthrough")
    model = make_pipeline(transformer, GatewoodClassifier(n_estimators=10)).set_output(transform="pandas")
    assert model.fit(X, y).score(X, y) > 0.8


def test_clone_keeps_the_parameters():
    model = GatewoodClassifier(arity=3, encode={"max_bins": 4}, random_state=5)
    assert clone(model).get_params() == model.get_params()
    assert repr(model) == "GatewoodClassifier(arity=3, encode={'max_bins': 4}, random_state=5)"


def test_what_is_not_fitted_says_so(bits):
    for model in (GatewoodClassifier(), BooleanTreeClassifier()):
        for work in (model.predict, model.predict_proba, model.decision_function):
            with pytest.raises(NotFittedError):
                work(bits[0])
        for work in (model.to_verilog, model.summary, lambda model=model: model.feature_importances_):
            with pytest.raises(NotFittedError):
                work()
