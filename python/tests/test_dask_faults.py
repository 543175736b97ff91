"""Workers that come and go: the model is that of rows in one place, or an error says what is wrong. Nothing hangs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import warnings
from contextlib import ExitStack
from typing import Any, Iterator

import numpy as np
import pytest

pytest.importorskip("distributed", reason="dask is not installed: gatewood.dask is NOT TESTED")

import dask.array as da  # noqa: E402
from distributed import Client, LocalCluster  # noqa: E402

from gatewood import GatewoodClassifier, _cluster  # noqa: E402
from gatewood.dask import ClusterError, DaskGatewoodClassifier  # noqa: E402

SETTINGS: dict[str, Any] = {"n_estimators": 8, "climb": 60, "random_state": 1}
# Rounds enough for a worker to be lost on the way.
LONG = SETTINGS | {"n_estimators": 40}


@pytest.fixture(scope="module")
def rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(6)
    X = rng.normal(size=(1000, 4))
    return X, (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)


@pytest.fixture(scope="module")
def plain(rows: Any) -> Any:
    return GatewoodClassifier(**SETTINGS).fit(*rows).model_


@pytest.fixture(scope="module")
def long(rows: Any) -> Any:
    return GatewoodClassifier(**LONG).fit(*rows).model_


@pytest.fixture(scope="module")
def four() -> Iterator[Client]:
    """Four workers with nannies, which start them again."""
    with LocalCluster(n_workers=4, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster:
        with Client(cluster) as client:
            yield client


def fit(client: Client, rows: Any, sizes: list[int], callback: Any = None, **settings: Any) -> Any:
    X, y = rows
    lazy = da.from_array(X, chunks=(tuple(sizes), (X.shape[1],)))
    model = DaskGatewoodClassifier(**SETTINGS | settings, client=client)
    return model.fit(lazy, y, callbacks=[callback] if callback else None)


@pytest.mark.parametrize("sizes", [[250] * 4, [10, 0, 490, 100, 0, 150, 250], [125] * 8])
def test_four_workers_give_the_plain_model(four: Client, rows: Any, plain: Any, sizes: list[int]) -> None:
    assert fit(four, rows, sizes).model_ == plain


def test_messages_that_workers_hand_on(
    four: Client, rows: Any, plain: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_cluster, "FAN", 1)
    model = fit(four, rows, [125] * 8)
    assert model.model_ == plain and model.dask_report_["partitions_lost"] == 0
    few = model.dask_report_["bytes_received"]
    monkeypatch.undo()
    # One answer with sums in place of one a worker.
    assert few < fit(four, rows, [125] * 8).dask_report_["bytes_received"]


def test_trees_that_workers_climb(four: Client, rows: Any) -> None:
    # Four trees a round, and four workers for a coordinator with one thread.
    settings = {"trees_per_round": 4, "n_estimators": 8, "n_jobs": 1}
    model = fit(four, rows, [125] * 8, **settings)
    assert model.dask_report_["seconds"]["climb"] > 0
    assert model.model_ == GatewoodClassifier(**SETTINGS | settings).fit(*rows).model_


@pytest.mark.parametrize("fan", [32, 1])
def test_a_killed_worker_is_made_good(
    four: Client, rows: Any, long: Any, fan: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_cluster, "FAN", fan)
    killed = []

    def kill(news: dict[str, Any]) -> None:
        if news.get("round", 0) >= 8 and not killed:
            killed.append(next(iter(four.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)

    four.wait_for_workers(4, timeout=60)
    begun = time.monotonic()
    model = fit(four, rows, [125] * 8, kill, **LONG)
    assert killed and time.monotonic() - begun < 60
    assert model.model_ == long and model.dask_report_["partitions_lost"] > 0


def test_an_adaptive_cluster(rows: Any, plain: Any) -> None:
    with LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster:
        cluster.adapt(minimum=1, maximum=2, interval="100 ms", wait_count=2)
        with Client(cluster) as client:
            assert fit(client, rows, [100] * 10).model_ == plain


class Network:
    """Network namespaces for two workers, joined by a bridge; where they cannot be made, workers share this one's."""

    def __init__(self, stack: ExitStack) -> None:
        self.address, self.within = "127.0.0.1", [[], []]
        number = os.getpid()
        bridge, first = f"gwb{number}", f"10.{77 + number % 100}.{number // 100 % 250}"
        try:
            self._ip(f"link add {bridge} type bridge")
            stack.callback(self._ip, f"link del {bridge}")
            self._ip(f"addr add {first}.1/24 dev {bridge}")
            self._ip(f"link set {bridge} up")
            within = []
            for place in range(2):
                space, outer, inner = f"gw{number}n{place}", f"gwo{number}{place}", f"gwi{number}{place}"
                self._ip(f"netns add {space}")
                stack.callback(self._ip, f"netns del {space}")
                self._ip(f"link add {outer} type veth peer name {inner}")
                self._ip(f"link set {inner} netns {space}")
                self._ip(f"link set {outer} master {bridge} up")
                self._ip(f"-n {space} addr add {first}.{place + 2}/24 dev {inner}")
                self._ip(f"-n {space} link set {inner} up")
                self._ip(f"-n {space} link set lo up")
                within.append(["ip", "netns", "exec", space])
            self.address, self.within = f"{first}.1", within
        except (OSError, subprocess.SubprocessError) as error:
            warnings.warn(f"NOT TESTED: workers in network namespaces of their own, which cannot be made: {error}")

    @staticmethod
    def _ip(words: str) -> None:
        subprocess.run(["ip", *words.split()], check=True, capture_output=True, timeout=20)


def test_workers_in_networks_of_their_own_without_nannies(
    rows: Any, plain: Any, long: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ExitStack() as stack:
        network = Network(stack)
        cluster = LocalCluster(n_workers=0, host=network.address, protocol="tcp://", dashboard_address=":0")
        client = stack.enter_context(Client(stack.enter_context(cluster)))
        words = [sys.executable, "-m", "distributed.cli.dask_worker", cluster.scheduler_address]
        words += ["--no-nanny", "--nthreads", "1", "--no-dashboard"]
        workers = []
        for within in network.within:
            workers.append(subprocess.Popen([*within, *words], stderr=subprocess.DEVNULL))
            stack.callback(workers[-1].wait, 20)
            stack.callback(workers[-1].kill)
        client.wait_for_workers(2, timeout=60)
        hosts = {address.rsplit(":", 1)[0] for address in client.scheduler_info(n_workers=-1)["workers"]}
        assert len(hosts) == (1 if network.address == "127.0.0.1" else 2)
        assert fit(client, rows, [250] * 4).model_ == plain

        def kill(worker: subprocess.Popen[bytes], news: dict[str, Any]) -> None:
            if news.get("round", 0) >= 5 and worker.poll() is None:
                worker.kill()

        # One of two is lost for good, then the last.
        model = fit(client, rows, [250] * 4, lambda news: kill(workers[0], news), **LONG)
        assert model.model_ == long and model.dask_report_["partitions_lost"] > 0
        monkeypatch.setattr(_cluster, "EMPTY_LIMIT", 2.0)
        begun = time.monotonic()
        with pytest.raises(ClusterError, match="no worker"):
            fit(client, rows, [250] * 4, lambda news: kill(workers[1], news), **LONG)
        assert time.monotonic() - begun < 60
