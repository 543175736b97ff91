"""Rounds: stages, validation sets, callbacks, continuing; and rows one at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.model_selection import cross_validate

from gatewood import BooleanTreeClassifier, GatewoodClassifier, GatewoodRegressor


def rows(count: int, classes: int = 2, seed: int = 0) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(count, 5))
    y = np.digitize(X[:, 0] + 0.5 * X[:, 1], np.linspace(-1, 1, classes + 1)[1:-1])
    noisy = random.random(count) < 0.1
    return X, np.where(noisy, random.integers(0, classes, count), y)


@pytest.mark.parametrize("classes", [2, 3])
def test_stages_lead_to_the_whole(classes: int) -> None:
    X, y = rows(200, classes)
    model = GatewoodClassifier(n_estimators=7).fit(X, y)
    stages = list(model.staged_predict(X))
    assert len(stages) == model.n_rounds_ == model.best_iteration_ == 7
    assert np.array_equal(stages[-1], model.predict(X))
    chances = list(model.staged_predict_proba(X))
    assert np.array_equal(chances[-1], model.predict_proba(X))
    shorter = GatewoodClassifier(n_estimators=3).fit(X, y)
    if classes == 3:
        # The first rounds do not know how many follow; two classes may be scaled at the end.
        assert np.array_equal(stages[2], shorter.predict(X))


def test_several_validation_sets() -> None:
    X, y = rows(300)
    first, last = rows(100, seed=1), rows(150, seed=2)
    model = GatewoodClassifier(n_estimators=40, early_stopping_rounds=5)
    both = model.fit(X, y, eval_set=[first, last])
    found = both.evals_result_
    assert list(found) == ["validation_0", "validation_1"]
    for (held, labels), name in zip((first, last), found):
        assert len(found[name]["error"]) == len(found[name]["log_loss"]) == both.best_iteration_
        assert found[name]["error"][-1] == pytest.approx(1 - both.score(held, labels))
    alone = GatewoodClassifier(n_estimators=40, early_stopping_rounds=5).fit(X, y, eval_set=last)
    assert alone.model_ == both.model_, "the last set decides"
    with pytest.raises(ValueError, match="pairs of rows and labels"):
        model.fit(X, y, eval_set=[X, y])


def test_early_stopping_without_validation_rows() -> None:
    X, y = rows(400)
    model = GatewoodClassifier(n_estimators=200, early_stopping_rounds=3).fit(X, y)
    assert "validation_error" in model.learning_curve_
    assert model.best_iteration_ < 200


def test_callbacks_hear_and_stop() -> None:
    X, y = rows(20_000)
    heard: list[dict[str, Any]] = []
    model = GatewoodClassifier(n_estimators=40).fit(X, y, callbacks=[heard.append])
    assert heard and all({"done", "total", "seconds"} <= set(state) for state in heard)
    told = [state for state in heard if "round" in state]
    assert [state["round"] for state in told] == list(range(1, 41))
    assert [state["train_loss"] for state in told] == model.learning_curve_["train_loss"].tolist()

    class Enough(Exception):
        pass

    def stop(state: dict[str, Any]) -> None:
        raise Enough

    with pytest.raises(Enough):
        GatewoodClassifier(n_estimators=4000).fit(X, y, callbacks=[stop])


def test_the_metric_chooses_the_rounds() -> None:
    X, y = rows(600, seed=3)
    held = rows(300, seed=4)
    for metric, name, sign in (("logloss", "validation_loss", 1), ("error", "validation_error", 1), ("auc", "validation_auc", -1)):
        model = GatewoodClassifier(n_estimators=30, eval_metric=metric, random_state=0).fit(X, y, eval_set=held)
        judged = sign * model.learning_curve_[name]
        assert model.best_iteration_ == int(np.argmin(judged)) + 1
    with pytest.raises(ValueError, match="eval_metric"):
        GatewoodClassifier(eval_metric="gini").fit(X, y)


def test_continuing_counts_rounds_on(tmp_path: Path) -> None:
    X, y = rows(300)
    first = GatewoodClassifier(n_estimators=6, random_state=1).fit(X, y)
    trees = first.summary()["trees"]
    first.save(tmp_path / "first.gw")
    for start in (first, first.model_, tmp_path / "first.gw", str(tmp_path / "first.gw")):
        more = GatewoodClassifier(n_estimators=4, random_state=1).fit(X, y, init_model=start)
        assert more.summary()["trees"] == trees + trees // 6 * 4
    more = GatewoodClassifier(n_estimators=4, random_state=1).fit(X, y, init_model=first)
    assert more.n_rounds_ == 10
    assert more.learning_curve_["round"].tolist() == list(range(1, 11))
    assert len(list(more.staged_predict(X))) == 10
    assert first.n_rounds_ == 6, "the model that was continued is as it was"
    part = GatewoodClassifier(n_estimators=6, random_state=1).partial_fit(X, y).partial_fit(X, y)
    assert part.n_rounds_ == 12 and len(part.learning_curve_["round"]) == 12
    assert part.partial_fit(X, y).n_rounds_ == 18


def test_metadata_is_routed() -> None:
    X, y = rows(120)
    weights = np.ones(len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        model = GatewoodClassifier(n_estimators=5).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        found = cross_validate(model, X, y, params={"sample_weight": weights}, cv=2)
        assert (found["test_score"] > 0.5).all()
        assert GatewoodClassifier().set_fit_request(sample_weight=True, eval_set=True) is not None
        assert BooleanTreeClassifier(depth=2).fit(X, y).score(X, y) > 0.5


def test_images_of_other_types() -> None:
    random = np.random.default_rng(3)
    bright = random.integers(0, 2, 80)
    images = (random.integers(0, 100, (80, 6, 6)) + 100 * bright[:, None, None]).astype(np.uint8)
    encode = {"image": {"width": 6, "height": 6}}
    flat = images.reshape(80, 36)
    expected = GatewoodClassifier(n_estimators=5, encode=encode).fit(flat, bright)
    for kind in (np.uint8, np.int64, np.int32, np.float32, np.float64):
        for shape in ((80, 36), (80, 6, 6)):
            X = images.astype(kind).reshape(shape)
            model = GatewoodClassifier(n_estimators=5, encode=encode).fit(X, bright)
            assert model.model_ == expected.model_, (kind, shape)
            assert np.array_equal(model.predict(X[:3]), expected.predict(flat[:3]))
    for X, advice in ((flat / 255, r"\(255 \* X\)"), (flat - 300.0, "X.min"), ((flat > 100).astype(int), "255")):
        with pytest.raises(ValueError, match=advice):
            GatewoodClassifier(encode=encode).fit(X, bright)


def test_images_say_their_shape() -> None:
    random = np.random.default_rng(5)
    y = random.integers(0, 2, 240)
    images = random.integers(0, 90, (240, 8, 7, 3)).astype(np.uint8)
    # A bar that lies in red or in blue.
    for image, colour, line in zip(images, 2 * y, random.integers(0, 8, 240)):
        image[line, 1:6, colour] += 120
    planes = np.ascontiguousarray(images.transpose(0, 3, 1, 2))
    flat = planes.reshape(240, -1)
    settings: dict[str, Any] = {"n_estimators": 8, "random_state": 1, "patterns": 60}
    encode = {"image": {"width": 7, "height": 8, "channels": 3}}
    expected = GatewoodClassifier(encode=encode, **settings).fit(flat, y)
    assert expected.score(flat, y) > 0.9
    for X in (images, planes, images.astype(float), flat.reshape(240, 3, 8, 7)):
        model = GatewoodClassifier(**settings).fit(X, y)
        assert model.model_ == expected.model_ and model.image_shape_ == (8, 7, 3)
        assert np.array_equal(model.predict(X[:9]), expected.predict(flat[:9]))
        assert np.array_equal(model.predict(flat[:9]), expected.predict(flat[:9]))
    grey = GatewoodClassifier(**settings).fit(images[..., 0], y)
    assert grey.image_shape_ == (8, 7, 1)
    assert "image_shape_" not in vars(grey.set_params(patterns=0).fit(flat, y)), "rows of two dimensions have no shape"
    assert GatewoodRegressor(n_estimators=4).fit(images, y.astype(float)).image_shape_ == (8, 7, 3)
    with pytest.raises(ValueError, match="are no images"):
        GatewoodClassifier().fit(np.zeros((9, 8, 8, 8), np.uint8), y[:9])
    with pytest.raises(ValueError, match="encode says that images are"):
        GatewoodClassifier(encode=encode).fit(images[..., 0], y)
    with pytest.raises(ValueError, match="255"):
        GatewoodClassifier().fit(images / 255, y)


def test_verify_says_so(tmp_path: Path) -> None:
    X, y = rows(80)
    model = GatewoodClassifier(n_estimators=2).fit(X, y)
    model.export("blif", tmp_path / "model.blif")
    assert model.verify(tmp_path / "model.blif") is True
    other = GatewoodClassifier(n_estimators=2, random_state=5).fit(X, y)
    with pytest.raises(ValueError):
        other.verify(tmp_path / "model.blif")


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, np.uint8, np.int8, bool, ">f8"])
@pytest.mark.parametrize("classes", [2, 3])
def test_rows_one_by_one_are_what_they_are_together(kind: Any, classes: int) -> None:
    X, y = rows(100, classes)
    X = np.clip(X * 20, -100, 100) if kind == np.int8 else np.abs(X * 20)
    X = (X > 15 if kind is bool else X).astype(kind)
    if np.dtype(kind).kind == "f":
        X[::7, 2] = np.nan
    learners: list[Any] = [GatewoodClassifier(n_estimators=5).fit(X, y)]
    if classes == 2:
        learners.append(BooleanTreeClassifier(depth=3).fit(X, y))
    for model in learners:
        for X_now in (X, np.asfortranarray(X), X[:, ::-1][:, ::-1]):
            together, chances = model.predict(X_now), model.predict_proba(X_now)
            for row in range(0, 100, 9):
                assert np.array_equal(model.predict(X_now[row : row + 1]), together[row : row + 1])
                assert np.array_equal(model.predict_proba(X_now[row : row + 3]), chances[row : row + 3])
        with pytest.raises(ValueError, match="features"):
            model.predict(X[:1, :3])
