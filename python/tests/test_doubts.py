"""What could be doubted is said, in this package's words; names of columns and rounds outlive a file."""

from __future__ import annotations

import warnings
from pathlib import Path

import gatewood
import numpy as np
import pandas as pd
import pytest
from gatewood import GatewoodClassifier, GatewoodRegressor
from sklearn.metrics import roc_auc_score


@pytest.fixture
def frame() -> pd.DataFrame:
    return pd.DataFrame(np.random.default_rng(0).normal(size=(200, 4)), columns=list("abcd"))


@pytest.fixture
def y(frame: pd.DataFrame) -> np.ndarray:
    return (frame["a"] + frame["b"] > 0).to_numpy().astype(int)


def test_frames_are_read_by_position_where_training_knew_no_names(frame, y):
    model = GatewoodClassifier(n_estimators=5).fit(frame.to_numpy(), y)
    with pytest.warns(UserWarning, match="was fitted without feature names"):
        said = model.predict(frame.rename(columns={"a": "z"}))
    assert (said == model.predict(frame.to_numpy())).all()


@pytest.mark.parametrize("estimator", [GatewoodClassifier, GatewoodRegressor])
def test_a_file_knows_the_names_of_its_columns(frame, y, tmp_path: Path, estimator):
    model = estimator(n_estimators=5, early_stopping_rounds=None).fit(frame, y)
    model.save(tmp_path / "m.gw")
    loaded = gatewood.load(tmp_path / "m.gw")
    expected = model.predict(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for rows in (frame, frame[list("dcba")], frame.assign(more=1)):
            assert (loaded.predict(rows) == expected).all()
        with pytest.raises(ValueError, match='column "a" is missing'):
            loaded.predict(frame.drop(columns="a"))
        # The rounds are counted on from a file, too.
        assert loaded.n_rounds_ == loaded.best_iteration_ == 5
        more = estimator(n_estimators=3).fit(frame, y, init_model=tmp_path / "m.gw")
        assert more.n_rounds_ == 8 and len(list(more.staged_predict(frame))) == 8
        assert list(more.learning_curve_["round"]) == [6, 7, 8]
    # A new fit forgets the file.
    loaded.fit(frame.to_numpy(), y)
    with pytest.warns(UserWarning, match="was fitted without feature names"):
        loaded.predict(frame)


def test_many_classes_of_a_file_have_their_rounds(frame, tmp_path: Path):
    model = GatewoodClassifier(n_estimators=4).fit(frame, np.arange(200) % 3)
    model.save(tmp_path / "m.gw")
    assert gatewood.load(tmp_path / "m.gw").n_rounds_ == 4


def test_warnings_speak_python_at_the_line_of_the_user(frame, y):
    frame["day"] = [f"{1 + row % 12:02}/{1 + row % 11:02}/2020" for row in range(200)]
    frame["price"] = [f"{'$' if row % 2 else '€'}{row}" for row in range(200)]
    for estimator in (GatewoodClassifier(n_estimators=2), GatewoodRegressor(n_estimators=2)):
        with pytest.warns(UserWarning) as told:
            estimator.fit(frame, y)
        texts = [str(warning.message) for warning in told]
        assert any('"day" is read as dates' in text and 'say encode={"date_order": "month"}' in text for text in texts)
        assert all("--" not in text for text in texts), texts
        assert {warning.filename for warning in told} == {__file__}


def test_a_model_that_compares_columns_says_how_to_have_reasons(frame):
    y = (frame["a"] > frame["b"]).to_numpy().astype(int)
    model = GatewoodClassifier(n_estimators=10, encode={"compare": 10})
    with pytest.warns(UserWarning, match=r'encode=\{"compare": 0\} leaves them out'):
        model.fit(frame, y)
    asked = [
        lambda: model.explain(frame[:1]),
        lambda: model.counterfactual(frame[:1]),
        lambda: model.prove("independent of a"),
        lambda: model.predict(frame[:1], pred_contrib=True),
    ]
    for ask in asked:
        with pytest.raises(ValueError, match=r'encode=\{"compare": 0\}'):
            ask()


def test_labels_that_are_no_classes_are_refused(frame):
    model = GatewoodClassifier(n_estimators=2)
    with pytest.raises(ValueError, match="GatewoodRegressor learns values"):
        model.fit(frame, np.arange(200))
    with pytest.raises(ValueError, match="it names the rows"):
        model.fit(frame, [f"k{row}" for row in range(200)])
    with pytest.raises(ValueError, match="dates or times"):
        model.fit(frame, pd.Series(pd.date_range("2020", periods=200)))
    with pytest.raises(ValueError, match="y has no label in row 3"):
        model.fit(frame, np.array(["a", "b", "a", None] + ["b"] * 196, dtype=object))


def test_weights_of_any_size_are_taken(frame, y):
    model = GatewoodClassifier(n_estimators=3)
    weights = np.arange(200) % 7 + 1.0
    small = model.fit(frame, y, sample_weight=weights).model_
    assert model.fit(frame, y, sample_weight=weights * 2.0**40).model_ == small
    with pytest.raises(ValueError, match='weigh more than zero are of class "1"'):
        model.fit(frame, y, sample_weight=y)


@pytest.mark.parametrize("classes", [2, 3])
def test_the_metric_that_is_asked_for_is_shown(frame, classes):
    y = np.digitize(frame["a"] + 0.5 * frame["b"], [[0], [-0.5, 0.5]][classes - 2])
    model = GatewoodClassifier(n_estimators=6, eval_metric="auc", encode={"compare": 0})
    model.fit(frame[:120], y[:120], eval_set=(frame[120:], y[120:]))
    areas = model.evals_result_["validation_0"]["auc"]
    assert len(areas) == model.best_iteration_ and areas[-1] == max(areas)
    chances = model.predict_proba(frame[120:])
    truth, chances = (y[120:], chances[:, 1]) if classes == 2 else (y[120:], chances)
    assert areas[-1] == pytest.approx(roc_auc_score(truth, chances, multi_class="ovr"))
    with pytest.warns(UserWarning, match="rounds are chosen by log loss"):
        model.fit(frame, y)
    pyplot = pytest.importorskip("matplotlib.pyplot")
    model.fit(frame[:120], y[:120], eval_set=(frame[120:], y[120:]))
    assert gatewood.plot_learning_curve(model).get_ylabel() == "auc"
    pyplot.close("all")
