"""Rows in the workers of a Dask cluster: who has which partition, and asking them.

A partition becomes a native part in the process of the worker that loads it. An actor on each worker hands messages to the
parts there. What was lost with a worker is loaded again from the graph of the collection; the library tells it the rest.
Every wait has a limit.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections import defaultdict
from typing import Any

import dask
import numpy as np
from distributed import Client, get_worker

from . import _core, _inputs

# Seconds: between looks at whether workers are alive, for one message, and for loading partitions again.
LOOK = 1.0
MESSAGE_LIMIT = 600.0
LOAD_LIMIT = 3600.0
RELOAD_LIMIT = 60.0
SMALL_LIMIT = 30.0

# How often one partition may be lost.
MOST_LOSSES = 5

# What messages are about, by their first byte; those that tell a part all again begin with 0.
PHASES = {
    0: "replay",
    1: "begin",
    2: "weigh",
    3: "draw",
    4: "gather",
    5: "sum and update",
    6: "sum",
    7: "update",
    8: "margins",
    9: "loss",
    10: "judge",
}
OTHER_PHASES = "encode"

# The parts that this process holds, by fit and number.
_PARTS: dict[tuple[str, int], _core.Part] = {}


def read_rows(X: Any, pixels: bool) -> Any:
    """The rows of one partition as native ones."""
    if _inputs.is_native(X):
        return _inputs.read_native(X)
    if _inputs.library_of(X):
        return _inputs.read_frame(X)
    X = _inputs.unmasked(X)
    if hasattr(X, "tocsc"):
        return _inputs.read_sparse(X)
    X = np.asarray(X)
    if X.ndim != 2 and not (pixels and X.ndim > 2):
        raise ValueError(f"a partition of X has {X.ndim} dimensions, and rows have two")
    return _inputs.read_array(_inputs.images(X) if pixels else X, pixels)


def _load(fit: str, number: int, X: Any, judges: bool, pixels: bool) -> str:
    """Makes a part of a partition on the worker that runs this; says which it is."""
    worker = get_worker()
    try:
        _PARTS[fit, number] = _core.Part(read_rows(X, pixels), judges, worker.state.nthreads)
    except Exception:
        raise
    except BaseException as error:  # What is no Exception would end the worker's loop.
        raise RuntimeError(f"a defect in gatewood: {error}") from None
    return str(worker.address)


class Desk:
    """The actor on a worker that hands messages to the parts there."""

    def __init__(self, fit: str) -> None:
        self.fit = fit

    def answer(self, messages: list[tuple[int, bytes]]) -> list[bytes | None]:
        """The answers of parts; ``None`` where this worker has no such part."""
        parts = [(_PARTS.get((self.fit, number)), message) for number, message in messages]
        return [None if part is None else part.answer(message) for part, message in parts]

    def forget(self) -> int:
        """Lets go of all parts of the fit; says how many bytes the process takes."""
        for key in [key for key in _PARTS if key[0] == self.fit]:
            _PARTS.pop(key, None)
        try:
            import psutil

            return int(psutil.Process().memory_info().rss)
        except ImportError:
            return 0


class ClusterError(RuntimeError):
    """The cluster has lost what a fit needs, and it could not be made again in time."""


class Parts:
    """The partitions of one fit, wherever they are."""

    def __init__(self, client: Client, partitions: list[Any], judging: list[Any], pixels: bool) -> None:
        self.client = client
        self.fit = uuid.uuid4().hex
        self.partitions = [(part, False) for part in partitions] + [(part, True) for part in judging]
        self.pixels = pixels
        self.where: list[str] = []
        self.desks: dict[str, Any] = {}
        self.futures: list[Any] = []
        self.losses: dict[int, int] = defaultdict(int)
        self.lock = threading.Lock()
        self.loads = 0
        self.report: dict[str, Any] = {"messages": 0, "bytes_sent": 0, "bytes_received": 0}
        self.seconds: dict[str, float] = defaultdict(float)
        self.bytes: dict[str, int] = defaultdict(int)

    def __enter__(self) -> Parts:
        if not self.partitions:
            raise ValueError("X has no partitions")
        begun = time.monotonic()
        self.where = self._loaded(list(range(len(self.partitions))), LOAD_LIMIT)
        self.seconds["load"] = time.monotonic() - begun
        return self

    def __exit__(self, *_: object) -> None:
        memory = {}
        for address, desk in list(self.desks.items()):
            try:
                memory[address] = desk.forget().result(timeout=5)
            except Exception:  # A worker that is gone has nothing to forget.
                continue
        self.report |= {
            "partitions": len(self.partitions),
            "workers": len(self.desks),
            "partitions_lost": sum(self.losses.values()),
            "seconds": dict(self.seconds),
            "bytes": dict(self.bytes),
            "worker_memory": memory,
        }
        self.desks.clear()
        self.futures.clear()

    # Partitions

    def _loaded(self, numbers: list[int], limit: float) -> list[str]:
        """Loads partitions on workers that the scheduler chooses; says which."""
        tasks = []
        for number in numbers:
            self.loads += 1
            part, judges = self.partitions[number]
            name = f"gatewood-load-{self.fit}-{number}-{self.loads}"
            load = dask.delayed(_load, pure=False)
            tasks.append(load(self.fit, number, part, judges, self.pixels, dask_key_name=name))
        futures = self.client.compute(tasks, retries=2)
        until = time.monotonic() + limit
        while not all(future.done() for future in futures):
            if time.monotonic() > until:
                self.client.cancel(futures, force=True)
                raise ClusterError(f"partitions were not loaded within {limit:.0f} seconds: are there workers left?")
            time.sleep(0.01)
        try:
            return [str(address) for address in self.client.gather(futures, errors="raise")]
        except Exception as error:
            if any(future.cancelled() for future in futures):
                raise ClusterError("the fit was cancelled, or its data were") from error
            raise

    def _desk(self, address: str) -> Any:
        """The actor on a worker, which is made if there is none."""
        with self.lock:
            if address not in self.desks:
                future = self.client.submit(
                    Desk, self.fit, actor=True, workers=[address], allow_other_workers=False, pure=False
                )
                self.futures.append(future)
                self.desks[address] = future.result(timeout=SMALL_LIMIT)
            return self.desks[address]

    def _alive(self) -> set[str]:
        """The workers that the scheduler knows of."""
        return set(self.client.sync(self.client.scheduler.ncores, callback_timeout=SMALL_LIMIT))

    def _rebuild(self, number: int, known: str) -> None:
        """Loads a partition again that was at a worker; others may have done so."""
        with self.lock:
            if self.where[number] != known:
                return
            self.losses[number] += 1
            if self.losses[number] > MOST_LOSSES:
                raise ClusterError(
                    f"partition {number} was lost {self.losses[number]} times with the workers that held it"
                )
            self.desks.pop(known, None) if known not in self._alive() else None
            self.where[number] = self._loaded([number], RELOAD_LIMIT)[0]

    # Messages

    def ask(self, messages: list[bytes | None]) -> list[bytes | None]:
        """Hands each partition its message, and returns the answers."""
        begun = time.monotonic()
        answers: list[bytes | None] = [None] * len(messages)
        open_ = [number for number, message in enumerate(messages) if message is not None]
        phase = OTHER_PHASES
        if open_:
            first = messages[open_[0]]
            phase = PHASES.get(first[0] if first else 0, OTHER_PHASES)
        while open_:
            at = {number: self.where[number] for number in open_}
            by_worker: dict[str, list[int]] = defaultdict(list)
            for number in open_:
                by_worker[at[number]].append(number)
            waiting = {}
            for address, numbers in by_worker.items():
                try:
                    waiting[address] = self._desk(address).answer([(n, messages[n]) for n in numbers])
                except Exception:  # The worker is gone, or about to be.
                    continue
            for address, future in waiting.items():
                got = self._wait(address, future)
                for number, answer in zip(by_worker[address], got or []):
                    answers[number] = answer
            for number in open_:
                if answers[number] is None:
                    self._rebuild(number, at[number])
            open_ = [number for number in open_ if answers[number] is None]
        sent = sum(len(message) for message in messages if message is not None)
        received = sum(len(answer) for answer in answers if answer is not None)
        with self.lock:
            self.report["messages"] += 1
            self.report["bytes_sent"] += sent
            self.report["bytes_received"] += received
            self.seconds[phase] += time.monotonic() - begun
            self.bytes[phase] += sent + received
        return answers

    def _wait(self, address: str, future: Any) -> list[bytes | None] | None:
        """The answers of a worker; nothing where it is gone."""
        until = time.monotonic() + MESSAGE_LIMIT
        while True:
            try:
                return future.result(timeout=LOOK)  # type: ignore[no-any-return]
            except TimeoutError:
                if address not in self._alive():
                    return None
                if time.monotonic() > until:
                    raise ClusterError(f"worker {address} gave no answer for {MESSAGE_LIMIT:.0f} seconds") from None
            except (OSError, RuntimeError, ValueError, KeyError) as error:
                if "defect" in str(error):
                    raise
                return None
