"""Reasons, counterfactuals, proofs and contributions, from Python."""

from __future__ import annotations

import json

import numpy as np
import pytest

from gatewood import GatewoodClassifier


@pytest.fixture(scope="module")
def people():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(3)
    X = pandas.DataFrame(
        {
            "age": rng.integers(17, 80, 400),
            "school": rng.integers(1, 17, 400).astype(float),
            "work": rng.choice(["Private", "State", "Self"], 400),
        }
    )
    y = np.where((X["age"] > 35) & ((X["school"] > 9) | (X["work"] == "Self")), "rich", "poor")
    return X, y, GatewoodClassifier(random_state=1).fit(X, y)


def test_contributions_add_up_to_the_margin(people):
    X, _, model = people
    found = model.predict(X[:50], pred_contrib=True, background=X[100:130])
    assert found.shape == (50, X.shape[1] + 1)
    np.testing.assert_allclose(found.sum(axis=1), model.decision_function(X[:50]), atol=1e-9)
    # The background is the rows themselves where none is given.
    own = model.predict(X[:50], pred_contrib=True)
    np.testing.assert_allclose(own.sum(axis=1), model.decision_function(X[:50]), atol=1e-9)
    np.testing.assert_allclose(own[0, -1], model.decision_function(X[:50]).mean(), atol=1e-9)


def test_contributions_have_columns_for_each_class():
    rng = np.random.default_rng(5)
    X = rng.integers(0, 9, (300, 3))
    y = X[:, 0] % 3
    model = GatewoodClassifier(random_state=1, n_estimators=20).fit(X, y)
    found = model.predict(X[:20], pred_contrib=True).reshape(20, 3, 4)
    np.testing.assert_allclose(found.sum(axis=2), model.decision_function(X[:20]), atol=1e-9)


def test_reasons_hold_for_random_rows_that_meet_them(people):
    X, _, model = people
    reason = model.explain(X.iloc[3], background=X)
    assert reason.label == model.predict(X[3:4])[0]
    assert set(reason.columns) <= set(X.columns)
    others = X.copy()
    for column in reason.columns:
        others[column] = X[column].iloc[3]
    assert (model.predict(others) == reason.label).all()
    assert set(reason.contributions) == set(X.columns)
    assert str(reason.label) in str(reason) and "because" in reason._repr_html_()
    assert model.explain(dict(X.iloc[3])).conditions == reason.conditions


def test_counterfactuals_turn_the_class(people):
    pandas = pytest.importorskip("pandas")
    X, _, model = people
    found = model.counterfactual(X.iloc[3], fixed=["age"])
    before = model.predict(X[3:4])[0]
    if found.possible:
        assert "age" not in found.changes
        assert model.predict(pandas.DataFrame([found.values]))[0] == found.label != before
        assert "in place of" in found._repr_html_()
    assert not model.counterfactual(X.iloc[3], fixed=list(X.columns)).possible
    with pytest.raises(ValueError, match="wealth"):
        model.counterfactual(X.iloc[3], fixed="wealth")


def test_properties_are_proven_or_shown_false(people):
    pandas = pytest.importorskip("pandas")
    X, _, model = people
    proof = model.prove("independent of age")
    assert proof.verdict == "false" and not proof
    labels = model.predict(pandas.DataFrame(proof.rows))
    assert labels.tolist() == [str(label) for label in proof.labels] and labels[0] != labels[1]
    assert "<table>" in proof._repr_html_()
    assert model.prove("never rich when age > 20 and age < 18")
    with pytest.raises(ValueError, match="cannot be read"):
        model.prove("sometimes rich")


def test_a_model_is_a_page(people, tmp_path):
    X, y, model = people
    bare = model.explore()
    page = model.explore(X, y, name="<b>people</b>", rows=150)
    assert page.html.startswith("<!doctype html>") and "<b>people</b>" not in page.html
    data = json.loads(page.html.split('id="data">')[1].split("</script>")[0])
    assert data["name"] == "<b>people</b>" and 150 <= len(data["rows"]["labels"]) <= 250
    predicted = model.classes_[data["rows"]["predicted"]]
    np.testing.assert_array_equal(predicted, model.predict(X.iloc[[row - 1 for row in data["rows"]["numbers"]]]))
    page.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page.html
    assert "<iframe srcdoc=" in page._repr_html_() and "allow-scripts" in page._repr_html_()
    assert len(bare.html) < len(page.html)
    with pytest.raises(ValueError, match="no rows"):
        model.explore(y=y)
    with pytest.raises(ValueError, match="784 columns"):
        model.explore(shape=(28, 28))
