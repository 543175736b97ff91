"""Measures `gatewood.dask` on worker processes of this machine; what came of it is in dask.md.

    python bench/dask_cluster.py kills [FITS]           a random worker is killed at a random time of each fit, on four workers
    python bench/dask_cluster.py partitions             digests for 1, 2, 4 and 7 workers and several partitionings
    python bench/dask_cluster.py speed [MILLION ROWS [MOST BINS]]  beside the plain fit with two threads: seconds, memory
    python bench/dask_cluster.py limit [MILLION ROWS]   rows that one process with a limit cannot learn from, and three such workers can
    python bench/dask_cluster.py lightgbm [MILLION ROWS]  beside lightgbm.dask on the same cluster and rows

Needs the Python package with `[dask]`, and lightgbm for the last. Prints one JSON object a line.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait

from gatewood import GatewoodClassifier
from gatewood.dask import ClusterError, DaskGatewoodClassifier

COLUMNS = 50
CHUNK = 500_000
SPEED: dict[str, Any] = {"n_estimators": 40, "random_state": 1}
# For little memory.
SMALL = {"n_estimators": 10, "random_state": 1, "encode": {"max_bins": 16}}


def tell(**found: Any) -> None:
    print(json.dumps(found), flush=True)


def make(chunk: int, rows: int = CHUNK, columns: int = COLUMNS) -> tuple[np.ndarray, np.ndarray]:
    """Some rows and their classes, the same wherever they are made."""
    rng = np.random.default_rng([7, chunk])
    X = rng.standard_normal((rows, columns), dtype=np.float32)
    score = X[:, 0] + X[:, 1] * X[:, 2] + np.abs(X[:, 3]) + 0.5 * np.sin(3 * X[:, 4]) + 0.7 * rng.standard_normal(rows)
    return X, (score > 0.8).astype(np.uint8)


def lazy_rows(chunks: int) -> tuple[Any, Any]:
    made = [dask.delayed(make, pure=True, nout=2)(chunk) for chunk in range(chunks)]
    X = da.concatenate([da.from_delayed(X, (CHUNK, COLUMNS), np.float32) for X, _ in made])
    y = da.concatenate([da.from_delayed(y, (CHUNK,), np.uint8) for _, y in made])
    return X, y


def cluster_of(workers: int, **options: Any) -> LocalCluster:
    options = {"memory_limit": 0, "dashboard_address": ":0"} | options
    return LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, **options)


def cpu_seconds(client: Client) -> np.ndarray:
    """Of this process, which has the scheduler too, and of all workers."""
    return np.array([time.process_time(), sum(client.run(time.process_time).values())])


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def kills(fits: int) -> None:
    rng = random.Random(1)
    X, y = make(0, 8_000, 10)
    settings = {"n_estimators": 20, "climb": 100, "random_state": 1}
    plain = GatewoodClassifier(**settings).fit(X, y).model_
    rows = da.from_array(X, chunks=(1000, 10))
    outcomes: dict[str, int] = {"equal": 0, "error": 0, "other model": 0}
    longest, lost, usual = 0.0, 0, 0.0
    while sum(outcomes.values()) < fits:
        with cluster_of(4) as cluster, Client(cluster) as client:
            begun = time.monotonic()
            assert DaskGatewoodClassifier(**settings, client=client).fit(rows, y).model_ == plain
            usual = time.monotonic() - begun
            tell(what="kills", usual_seconds=round(usual, 2))
            while sum(outcomes.values()) < fits:
                try:
                    # The scheduler may not know yet of one that was killed just now.
                    time.sleep(1)
                    client.wait_for_workers(4, timeout=30)
                except Exception:  # A nanny may give up; the next cluster has new ones.
                    break
                pids = list(client.run(os.getpid, on_error="ignore").values())
                after, victim = rng.uniform(0, usual), rng.choice(pids)
                timer = threading.Timer(after, os.kill, (victim, signal.SIGKILL))
                timer.start()
                begun = time.monotonic()
                model = DaskGatewoodClassifier(**settings, client=client)
                said = ""
                try:
                    model.fit(rows, y)
                    outcome = "equal" if model.model_ == plain else "other model"
                    lost += model.dask_report_["partitions_lost"] > 0
                except ClusterError as error:
                    outcome, said = "error", str(error)
                seconds = time.monotonic() - begun
                timer.join()
                outcomes[outcome] += 1
                longest = max(longest, seconds)
                tell(fit=sum(outcomes.values()), killed_after=round(after, 2), seconds=round(seconds, 2),
                     outcome=outcome, said=said)
    tell(what="kills", fits=fits, **outcomes, longest_seconds=round(longest, 1), fits_that_lost_partitions=lost)


def partitions() -> None:
    X, y = make(0, 30_000, 12)
    settings = {"n_estimators": 20, "climb": 200, "random_state": 1}
    plain = GatewoodClassifier(**settings).fit(X, y)
    for workers in (1, 2, 4, 7):
        with cluster_of(workers) as cluster, Client(cluster) as client:
            for sizes in ([30_000], [4_285] * 7 + [5], [1, 0, 9_999, 15_000, 5_000], [1_000] * 30):
                rows = da.from_array(X, chunks=(tuple(sizes), (12,)))
                begun = time.monotonic()
                model = DaskGatewoodClassifier(**settings, client=client).fit(rows, y)
                equal = model.model_.to_bytes() == plain.model_.to_bytes()
                tell(what="partitions", workers=workers, partitions=len(sizes), equal=equal,
                     seconds=round(time.monotonic() - begun, 2))


def plain_fit(chunks: int, settings: dict[str, Any]) -> dict[str, Any]:
    """The plain fit, to be run in a process of its own."""
    X, y = np.empty((chunks * CHUNK, COLUMNS), np.float32), np.empty(chunks * CHUNK, np.uint8)
    for chunk in range(chunks):
        part = slice(chunk * CHUNK, (chunk + 1) * CHUNK)
        X[part], y[part] = make(chunk)
    before = peak()
    begun, used = time.monotonic(), time.process_time()
    model = GatewoodClassifier(**settings, n_jobs=2).fit(X, y)
    seconds, cpu = time.monotonic() - begun, time.process_time() - used
    report = model.training_report_
    test, answers = make(1_000_000)
    return {"seconds": seconds, "cpu": cpu, "peak": peak(), "rows_peak": before, "model": model.model_.to_bytes(),
            "encode": report.get("encode_seconds"),
            "error": float(np.mean(model.predict(test) != answers))}


def in_own_process(work: Any, *given: Any) -> Any:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, *given).result()


def cluster_fit(chunks: int, settings: dict[str, Any]) -> dict[str, Any]:
    with cluster_of(2) as cluster, Client(cluster) as client:
        X, y = lazy_rows(chunks)
        X, y = client.persist([X, y])
        wait([X, y])
        begun, used = time.monotonic(), cpu_seconds(client)
        model = DaskGatewoodClassifier(**settings, client=client, n_jobs=2).fit(X, y)
        seconds, cpu = time.monotonic() - begun, cpu_seconds(client) - used
        test, answers = make(1_000_000)
        return {"seconds": seconds, "cpu": cpu, "report": model.dask_report_, "model": model.model_.to_bytes(),
                "error": float(np.mean(model.predict(test) != answers))}


def speed(millions: float, most_bins: int | None) -> None:
    chunks = int(millions * 1_000_000) // CHUNK
    settings = SPEED | ({"encode": {"max_bins": most_bins}} if most_bins else {})
    plain = in_own_process(plain_fit, chunks, settings)
    there = in_own_process(cluster_fit, chunks, settings)
    report = there["report"]
    share = plain["peak"] / 2
    tell(what="speed", rows=chunks * CHUNK, equal=plain["model"] == there["model"],
         plain_seconds=round(plain["seconds"], 1), seconds=round(there["seconds"], 1),
         times=round(there["seconds"] / plain["seconds"], 2),
         plain_cpu=round(plain["cpu"], 1), cpu=[round(cpu, 1) for cpu in there["cpu"]],
         times_cpu=round(sum(there["cpu"]) / plain["cpu"], 2),
         plain_encode=plain["encode"], plain_peak_gb=round(plain["peak"] / 1e9, 2),
         worker_peaks_gb=[round(most / 1e9, 2) for most in report["worker_peak_memory"].values()],
         times_share=round(max(report["worker_peak_memory"].values()) / share, 2),
         phase_seconds={name: round(value, 2) for name, value in report["seconds"].items()},
         worker_seconds={name: round(value, 2) for name, value in report["worker_seconds"].items()},
         phase_bytes=report["bytes"], messages=report["messages"])


def limited(gigabytes: float, chunks: int) -> None:
    """The plain fit where a process may not take more than a limit; run as a program of its own."""
    resource.setrlimit(resource.RLIMIT_AS, (int(gigabytes * 1e9),) * 2)
    try:
        found = plain_fit(chunks, SMALL)
        tell(what="limit", plain="learned", peak_gb=round(found["peak"] / 1e9, 2))
    except MemoryError as error:
        tell(what="limit", plain="refused", said=str(error) or "MemoryError")


def limit_worker(gigabytes: float) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (int(gigabytes * 1e9),) * 2)


def limit(millions: float, gigabytes: float) -> None:
    chunks = int(millions * 1_000_000) // CHUNK
    plain = subprocess.run([sys.executable, __file__, "limited", str(gigabytes), str(chunks)],
                           check=False, capture_output=True, text=True)
    tell(what="limit", limit_gb=gigabytes, rows=chunks * CHUNK, plain_code=plain.returncode,
         plain_said=(plain.stdout + plain.stderr).strip().splitlines()[-1:])
    with cluster_of(3) as cluster, Client(cluster) as client:
        client.run(limit_worker, gigabytes)
        limit_worker(gigabytes)
        X, y = lazy_rows(chunks)
        begun = time.monotonic()
        model = DaskGatewoodClassifier(**SMALL, client=client).fit(X, y)
        peaks = model.dask_report_["worker_peak_memory"].values()
        tell(what="limit", cluster="learned", workers=3, seconds=round(time.monotonic() - begun, 1),
             worker_peaks_gb=[round(most / 1e9, 2) for most in peaks], coordinator_peak_gb=round(peak() / 1e9, 2))


def lightgbm(millions: float, repeats: int = 2) -> None:
    from lightgbm.dask import DaskLGBMClassifier

    chunks = int(millions * 1_000_000) // CHUNK
    test, answers = make(1_000_000)
    with cluster_of(2) as cluster, Client(cluster) as client:
        X, y = lazy_rows(chunks)
        X, y = client.persist([X, y])
        wait([X, y])
        for _ in range(repeats):
            makers = {
                "gatewood": lambda: DaskGatewoodClassifier(random_state=1, client=client),
                "lightgbm": lambda: DaskLGBMClassifier(client=client, n_jobs=1, verbose=-1, random_state=1),
                "lightgbm, 400 trees": lambda: DaskLGBMClassifier(
                    client=client, n_jobs=1, verbose=-1, random_state=1, n_estimators=400),
            }
            for name, maker in makers.items():
                begun, used = time.monotonic(), cpu_seconds(client)
                model = maker().fit(X, y)
                seconds, cpu = time.monotonic() - begun, cpu_seconds(client) - used
                local = model.to_local()
                error = float(np.mean(local.predict(test) != answers))
                chances = np.clip(local.predict_proba(test)[np.arange(len(answers)), answers], 1e-15, None)
                tell(what="lightgbm", name=name, rows=chunks * CHUNK, seconds=round(seconds, 1), cpu=round(sum(cpu), 1),
                     error=round(error, 4), log_loss=round(float(-np.log(chances).mean()), 4))


if __name__ == "__main__":
    given = sys.argv[1:] or ["help"]
    numbers = [float(number) for number in given[1:]]
    if given[0] == "kills":
        kills(int(numbers[0]) if numbers else 50)
    elif given[0] == "partitions":
        partitions()
    elif given[0] == "speed":
        speed(numbers[0] if numbers else 20.0, int(numbers[1]) if numbers[1:] else None)
    elif given[0] == "limit":
        limit(numbers[0] if numbers else 5.0, numbers[1] if numbers[1:] else 3.0)
    elif given[0] == "limited":
        limited(numbers[0], int(numbers[1]))
    elif given[0] == "lightgbm":
        lightgbm(numbers[0] if numbers else 2.0)
    else:
        print(__doc__)
