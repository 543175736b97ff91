"""Rows in the workers of a Dask cluster give the model of rows in one place."""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import Any, Iterator

import numpy as np
import pytest

pytest.importorskip("distributed", reason="dask is not installed: gatewood.dask is NOT TESTED")

import dask  # noqa: E402
import dask.array as da  # noqa: E402
from distributed import Client, LocalCluster  # noqa: E402

from gatewood import GatewoodClassifier, GatewoodRegressor  # noqa: E402
from gatewood.dask import DaskGatewoodClassifier, DaskGatewoodRegressor  # noqa: E402

SETTINGS: dict[str, Any] = {"n_estimators": 6, "climb": 60, "random_state": 1}


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """Two workers in processes of their own."""
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        with Client(cluster) as client:
            yield client


@pytest.fixture(scope="module")
def rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(1000, 4))
    X[rng.random(X.shape) < 0.02] = np.nan
    y = (np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1] * X[:, 2]) > 0).astype(int)
    return X, y


def parts(X: np.ndarray, sizes: list[int]) -> Any:
    assert sum(sizes) == len(X)
    chunks = (tuple(sizes), *((size,) for size in X.shape[1:]))
    return da.from_array(X, chunks=chunks)


@pytest.mark.parametrize("sizes", [[1000], [400, 600], [1, 0, 499, 300, 200]])
def test_any_partitioning_gives_the_plain_model(client: Client, rows: Any, sizes: list[int]) -> None:
    X, y = rows
    plain = GatewoodClassifier(**SETTINGS).fit(X, y)
    lazy = parts(X, sizes)
    model = DaskGatewoodClassifier(**SETTINGS, client=client).fit(lazy, parts(y, [len(y)]))
    assert model.model_ == plain.model_
    assert model.model_.to_bytes() == plain.model_.to_bytes()
    assert model.n_rounds_ == plain.n_rounds_ and model.n_features_in_ == 4
    said = model.predict(lazy)
    assert dask.is_dask_collection(said)
    assert np.array_equal(said.compute(), plain.predict(X))
    assert np.array_equal(model.predict_proba(lazy).compute(), plain.predict_proba(X))
    assert model.score(lazy, parts(y, [len(y)])) == plain.score(X, y)
    local = model.to_local()
    assert type(local) is GatewoodClassifier and np.array_equal(local.predict(X), plain.predict(X))
    report = model.dask_report_
    assert report["partitions"] == len(sizes) and report["bytes_sent"] > 0 and report["partitions_lost"] == 0


def test_frames_with_texts_and_gaps(client: Client, rows: Any) -> None:
    pd = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe")
    X, y = rows
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    frame["kind"] = [None if row % 9 == 0 else ["low", "mid", "high"][row % 3] for row in range(len(X))]
    frame["when"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(len(X)), unit="h")
    labels = pd.Series(np.where(y == 1, "yes", "no"), name="answer")
    weights = np.where(np.arange(len(X)) % 2, 2.0, 0.5)
    plain = GatewoodClassifier(**SETTINGS, class_weight="balanced").fit(frame, labels, sample_weight=weights)
    lazy, lazy_labels = dd.from_pandas(frame, npartitions=3), dd.from_pandas(labels, npartitions=3)
    model = DaskGatewoodClassifier(**SETTINGS, class_weight="balanced", client=client)
    model.fit(lazy, lazy_labels, sample_weight=weights)
    assert model.model_ == plain.model_
    assert list(model.feature_names_in_) == list(plain.feature_names_in_)
    assert np.array_equal(model.predict(lazy).compute().to_numpy(), plain.predict(frame))
    assert np.array_equal(model.predict_proba(lazy).compute().to_numpy(), plain.predict_proba(frame))


def test_values_and_delayed_partitions(client: Client, rows: Any) -> None:
    X, _ = rows
    y = np.nan_to_num(X[:, 0] * 3 + X[:, 1])
    plain = GatewoodRegressor(**SETTINGS).fit(X, y)
    cuts = [slice(0, 300), slice(300, 1000)]
    lazy, values = [[dask.delayed(part[cut]) for cut in cuts] for part in (X, y)]
    model = DaskGatewoodRegressor(**SETTINGS, client=client).fit(lazy, values)
    assert model.model_ == plain.model_
    whole = parts(X, [500, 500])
    assert np.array_equal(model.predict(whole).compute(), plain.predict(X))
    assert model.score(whole, parts(y, [1000])) == plain.score(X, y)
    with pytest.raises(ValueError, match="quantiles"):
        DaskGatewoodRegressor(objective="quantile:0.1,0.9", client=client).fit(lazy, values)


def test_early_stopping(client: Client, rows: Any) -> None:
    X, y = rows
    settings = SETTINGS | {"n_estimators": 20, "early_stopping_rounds": 3}
    plain = GatewoodClassifier(**settings).fit(X[200:], y[200:], eval_set=[(X[:200], y[:200])])
    model = DaskGatewoodClassifier(**settings, client=client)
    model.fit(parts(X[200:], [500, 300]), y[200:], eval_set=[(parts(X[:200], [150, 50]), y[:200])])
    assert model.model_ == plain.model_ and model.best_iteration_ == plain.best_iteration_
    assert model.evals_result_ == plain.evals_result_
    # Without rows to judge, a tenth is put aside.
    plain = GatewoodClassifier(**settings).fit(X, y)
    model = DaskGatewoodClassifier(**settings, client=client).fit(parts(X, [700, 300]), y)
    assert model.model_ == plain.model_


def test_classes_of_one_worker_and_two_fits_at_once(client: Client, rows: Any) -> None:
    X, y = rows
    classes = np.where(np.arange(len(y)) < 100, 2, y)
    classes[500:] = 1
    labels = [y, classes]
    found: list[Any] = [None, None]

    def fit(number: int) -> None:
        model = DaskGatewoodClassifier(**SETTINGS, client=client)
        found[number] = model.fit(parts(X, [100, 400, 500]), labels[number]).model_

    threads = [threading.Thread(target=fit, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    for model, y in zip(found, labels):
        assert model == GatewoodClassifier(**SETTINGS).fit(X, y).model_


def test_a_killed_worker_is_made_good(rows: Any) -> None:
    X, y = rows
    settings = SETTINGS | {"n_estimators": 40}
    plain = GatewoodClassifier(**settings).fit(X, y)
    with LocalCluster(n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        with Client(cluster) as client:
            killed = []

            def kill(news: dict[str, Any]) -> None:
                if news.get("round", 0) >= 8 and not killed:
                    pids = list(client.run(os.getpid).values())
                    killed.append(pids[0])
                    os.kill(pids[0], signal.SIGKILL)

            begun = time.monotonic()
            model = DaskGatewoodClassifier(**settings, client=client)
            model.fit(parts(X, [250, 250, 250, 250]), y, callbacks=[kill])
            assert killed and time.monotonic() - begun < 60
            assert model.model_ == plain.model_


def test_what_is_wrong_is_said(client: Client, rows: Any) -> None:
    X, y = rows
    with pytest.raises(ValueError, match="999 labels for 1000 training rows"):
        DaskGatewoodClassifier(**SETTINGS, client=client).fit(parts(X, [500, 500]), y[:999])
    lost = [dask.delayed(X[:500]), dask.delayed(1 / 0 if not len(X) else "no rows")]
    with pytest.raises(Exception):
        DaskGatewoodClassifier(**SETTINGS, client=client).fit(lost, y)
    with pytest.raises(TypeError):
        DaskGatewoodClassifier(colour="red")
    params = DaskGatewoodClassifier(n_estimators=7).get_params()
    assert params["n_estimators"] == 7 and params["client"] is None
