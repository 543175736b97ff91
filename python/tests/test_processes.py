"""Threads, processes, signals, memory."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import joblib
import numpy as np
import pytest
from gatewood import BooleanTreeClassifier, GatewoodClassifier

ROWS = np.random.default_rng(0).integers(0, 2, (200, 30)).astype(bool)
LABELS = (ROWS[:, 1] ^ ROWS[:, 2]).astype(int)


def fit(seed: int) -> bytes:
    return GatewoodClassifier(n_estimators=5, n_jobs=2, random_state=seed).fit(ROWS, LABELS).model_.to_bytes()


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_children_fit_after_their_parent_did(method):
    expected = [fit(seed) for seed in range(3)]
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map_async(fit, range(3)).get(timeout=120) == expected


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_joblib_fits_side_by_side(backend):
    expected = [fit(seed) for seed in range(4)]
    assert joblib.Parallel(n_jobs=2, backend=backend, timeout=120)(joblib.delayed(fit)(seed) for seed in range(4)) == expected


def test_other_threads_run_while_training():
    # Only one Python thread could count if training held the interpreter's lock.
    counted, done = 0, threading.Event()

    def count() -> None:
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    begun = time.monotonic()
    GatewoodClassifier(n_estimators=1_000_000, time_limit=0.6).fit(ROWS, LABELS)
    took = time.monotonic() - begun
    done.set()
    thread.join()
    assert took > 0.5
    assert counted > 20


INTERRUPTED = """
import threading, time, os, signal, sys
import numpy as np
from gatewood import GatewoodClassifier
rows = np.random.default_rng(0).integers(0, 2, (200, 30)).astype(bool)
model = GatewoodClassifier(n_estimators=1_000_000)
threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
begun = time.monotonic()
try:
    model.fit(rows, rows[:, 0])
except KeyboardInterrupt:
    assert not hasattr(model, "model_"), "half a model"
    print("stopped after", time.monotonic() - begun)
    model.set_params(n_estimators=3).fit(rows, rows[:, 0])
    sys.exit(7)
"""


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_control_c_stops_training():
    result = subprocess.run([sys.executable, "-c", INTERRUPTED], timeout=60, capture_output=True, text=True)
    assert result.returncode == 7, result.stderr
    assert float(result.stdout.split()[-1]) < 5.0


def resident_kilobytes() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="asks Linux for its memory")
def test_a_thousand_fits_leak_nothing():
    def work(count: int) -> None:
        for seed in range(count):
            model = BooleanTreeClassifier(arity=2, depth=3, random_state=seed, n_jobs=1) if seed % 2 else GatewoodClassifier(n_estimators=2, climb=10, random_state=seed, n_jobs=1)
            model.fit(ROWS, LABELS).predict_proba(ROWS)

    work(100)
    gc.collect()
    before = resident_kilobytes()
    work(1000)
    gc.collect()
    grown = resident_kilobytes() - before
    # One table of these rows takes more than 6 kB; a leak of one a fit would be 6 MB.
    assert grown < 3000, f"{grown} kB"


def test_import_is_quick():
    code = "import time; t = time.perf_counter(); import gatewood; print(time.perf_counter() - t)"
    seconds = min(
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
        for _ in range(3)
    )
    assert seconds < 0.5


def test_errors_are_exceptions_and_not_panics():
    with pytest.raises(Exception) as caught:
        GatewoodClassifier(arity=-1).fit(ROWS, LABELS)
    assert isinstance(caught.value, ValueError)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
