"""Rows in the workers of a Dask cluster give the model of rows in one place."""

from __future__ import annotations

import threading
import time
from typing import Any, Iterator

import numpy as np
import pytest

pytest.importorskip("distributed", reason="dask is not installed: gatewood.dask is NOT TESTED")

import dask  # noqa: E402
import dask.array as da  # noqa: E402
from distributed import Client, Future, LocalCluster  # noqa: E402

from gatewood import GatewoodClassifier, GatewoodRegressor, _desk, _progress  # noqa: E402
from gatewood.dask import ClusterError, DaskGatewoodClassifier, DaskGatewoodRegressor  # noqa: E402

SETTINGS: dict[str, Any] = {"n_estimators": 6, "climb": 60, "random_state": 1}


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """Two workers in processes of their own."""
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster:
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
    assert {"load", "encode", "begin", "weigh", "draw", "gather", "sum and update"} <= set(report["seconds"])
    assert report["worker_peak_memory"] and min(report["worker_peak_memory"].values()) > 1e6


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
    settings = SETTINGS | {"objective": "quantile:0.1,0.9"}
    ranges = DaskGatewoodRegressor(**settings, client=client).fit(lazy, values)
    plain = GatewoodRegressor(**settings).fit(X, y)
    assert ranges.model_ == plain.model_
    for quantile in (0.1, 0.9):
        said = ranges.predict(whole, quantile=quantile).compute()
        assert np.array_equal(said, plain.predict(X, quantile=quantile))


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


def test_texts_are_read_in_any_order(client: Client) -> None:
    # NumPy's texts are sorted in each partition: all of them are looked at to tell sentences from names.
    texts = [f"z{row} of four words" for row in range(750)] + [f"a{row} two" for row in range(750)]
    X = np.array([texts, ["yes" if row % 3 else "no" for row in range(1500)]]).T
    y = np.arange(1500) % 3 == 0
    plain = GatewoodClassifier(**SETTINGS).fit(X, y)
    model = DaskGatewoodClassifier(**SETTINGS, client=client).fit(parts(X, [750, 400, 350]), y)
    assert model.model_ == plain.model_


def test_frames_with_empty_partitions(client: Client, rows: Any) -> None:
    pd = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe")
    X, y = rows
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    frame["answer"], frame["number"] = y, np.arange(len(y))
    lazy = dd.from_pandas(frame, npartitions=5)
    # Rows of all partitions but two are left out.
    lazy, frame = lazy[lazy["number"] > 700], frame[frame["number"] > 700]
    names = ["a", "b", "c", "d"]
    plain = GatewoodClassifier(**SETTINGS).fit(frame[names], frame["answer"])
    model = DaskGatewoodClassifier(**SETTINGS, client=client).fit(lazy[names], lazy["answer"])
    assert model.model_ == plain.model_
    assert np.array_equal(model.predict(lazy[names]).compute(), plain.predict(frame[names]))


def test_a_fit_that_is_cancelled_ends_with_an_error(client: Client, rows: Any) -> None:
    X, y = rows
    cancelled = []

    def cancel(news: dict[str, Any]) -> None:
        if news.get("round", 0) >= 3 and not cancelled:
            with Client(client.scheduler.address, set_as_default=False) as other:
                keys = [key for keys in other.has_what().values() for key in keys if "Desk" in str(key)]
                cancelled.extend(keys)
                other.cancel([Future(key, other) for key in keys], force=True)

    begun = time.monotonic()
    with pytest.raises(ClusterError, match="cancelled"):
        model = DaskGatewoodClassifier(**SETTINGS | {"n_estimators": 2000}, client=client)
        model.fit(parts(X, [500, 500]), y, callbacks=[cancel])
    assert cancelled and time.monotonic() - begun < 30
    until = time.monotonic() + 10
    while (held := sum(client.run(lambda: len(_desk._PARTS)).values())) and time.monotonic() < until:
        time.sleep(0.05)
    assert held == 0, "workers still hold rows of a fit that was cancelled"
    # The cluster is as good as new.
    model = DaskGatewoodClassifier(**SETTINGS, client=client).fit(parts(X, [500, 500]), y)
    assert model.model_ == GatewoodClassifier(**SETTINGS).fit(X, y).model_


def test_progress_tells_where_rows_are(
    client: Client, rows: Any, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    X, y = rows
    shown: list[str] = []
    monkeypatch.setattr(_progress, "_notebook", lambda: shown.append)
    DaskGatewoodClassifier(**SETTINGS, verbose=1, client=client).fit(parts(X, [300, 700]), y)
    assert "loading 2 partitions" in shown[0] and "<progress" in shown[0]
    assert "trained in" in shown[-1] and "2 partitions on" in shown[-1]
    monkeypatch.setattr(_progress, "_notebook", lambda: None)
    DaskGatewoodClassifier(**SETTINGS, verbose=1, client=client).fit(parts(X, [300, 700]), y)
    assert "2 partitions on" in capfd.readouterr().err


def test_what_is_not_learned_on_a_cluster_is_refused(client: Client, rows: Any) -> None:
    X, y = rows
    lazy = parts(X, [500, 500])
    plain = GatewoodClassifier(**SETTINGS).fit(X, y)
    with pytest.raises(ValueError, match="init_model is for training in one place"):
        DaskGatewoodClassifier(**SETTINGS, client=client).fit(lazy, y, init_model=plain)
    with pytest.raises(ValueError, match="device is for training in one place"):
        DaskGatewoodClassifier(**SETTINGS, device="cuda", client=client).fit(lazy, y)
    with pytest.raises(ValueError, match="partial_fit learns in one place"):
        DaskGatewoodClassifier(**SETTINGS, client=client).partial_fit(lazy, y)
    pixels = np.random.default_rng(1).integers(0, 256, (200, 64), dtype=np.uint8)
    light = pixels.mean(axis=1) > 127
    images = {"encode": {"image": {"width": 8, "height": 8}}}
    with pytest.raises(ValueError, match="patterns"):
        DaskGatewoodClassifier(**SETTINGS | images, client=client).fit(parts(pixels, [100, 100]), light)
    settings = SETTINGS | images | {"patterns": 0}
    model = DaskGatewoodClassifier(**settings, client=client).fit(parts(pixels, [100, 100]), light)
    assert model.model_ == GatewoodClassifier(**settings).fit(pixels, light).model_


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
