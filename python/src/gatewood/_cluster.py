"""Rows in the workers of a Dask cluster: who has which partition, and asking them.

A partition becomes a native part in the process of the worker that loads it. An actor on each worker hands messages to the
parts there, and adds up their sums. What was lost with a worker is loaded again from the graph of the collection; the library
tells it the rest. Every wait has a limit.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections import defaultdict
from typing import Any

import dask
from distributed import Client, KilledWorker

from . import _desk
from ._desk import Desk

# Seconds: between looks at whether workers are alive, for one message, for loading partitions at first and again, for a
# cluster without any worker, for what takes no time, and for workers to let go of a fit.
LOOK = 0.5
MESSAGE_LIMIT = 600.0
LOAD_LIMIT = 3600.0
RELOAD_LIMIT = 60.0
EMPTY_LIMIT = 30.0
SMALL_LIMIT = 30.0
FORGET_LIMIT = 5.0

# How often one partition may be lost.
MOST_LOSSES = 5

# With more workers than this, some of them hand messages on to others.
FAN = 32

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
    11: "climb",
}
OTHER_PHASES = "encode"


class ClusterError(RuntimeError):
    """The cluster has lost what a fit needs, and it could not be made again in time; or the fit was cancelled."""


def fetched(client: Client, collections: list[Any], what: str, limit: float = LOAD_LIMIT) -> list[Any]:
    """The values of collections, computed on the cluster."""
    futures = client.compute(collections)
    try:
        return _results(client, futures, what, limit)
    except BaseException:
        client.cancel(futures, force=True)
        raise


def _results(client: Client, futures: list[Any], what: str, limit: float) -> list[Any]:
    """What futures come to, within a limit."""
    until, seen = time.monotonic() + limit, time.monotonic()
    pause, looked = 0.002, time.monotonic()
    while not all(future.done() for future in futures):
        now = time.monotonic()
        if now - looked > LOOK:
            looked = now
            if alive(client):
                seen = now
            elif now - seen > EMPTY_LIMIT:
                raise ClusterError(f"{what}: the cluster has had no worker for {EMPTY_LIMIT:.0f} seconds")
        if now > until:
            raise ClusterError(f"{what}: not done within {limit:.0f} seconds")
        time.sleep(pause)
        pause = min(2 * pause, 0.05)
    if any(future.cancelled() for future in futures):
        raise ClusterError(f"{what}: the fit was cancelled, or the data it needs")
    try:
        return [future.result(timeout=max(until - time.monotonic(), 1.0)) for future in futures]
    except KilledWorker as error:
        raise ClusterError(f"{what}: {error}") from error
    except TimeoutError as error:
        raise ClusterError(f"{what}: not done within {limit:.0f} seconds") from error


def alive(client: Client) -> set[str]:
    """The workers that the scheduler knows of."""
    try:
        return set(client.sync(client.scheduler.ncores, callback_timeout=SMALL_LIMIT))
    except (OSError, TimeoutError) as error:
        raise ClusterError(f"the scheduler cannot be reached: {error}") from error


class Parts:
    """The partitions of one fit, wherever they are."""

    def __init__(self, client: Client, partitions: list[Any], judging: list[Any], pixels: bool) -> None:
        self.client = client
        self.fit = uuid.uuid4().hex
        self.partitions = [(part, False) for part in partitions] + [(part, True) for part in judging]
        self.pixels = pixels
        self.where: list[str] = []
        # The actor on each worker, with its future.
        self.desks: dict[str, tuple[Any, Any]] = {}
        self.losses: dict[int, int] = defaultdict(int)
        self.lock = threading.Lock()
        self.loads = 0
        self.load_seconds = 0.0
        self.report: dict[str, Any] = {"messages": 0, "bytes_sent": 0, "bytes_received": 0}
        self.seconds: dict[str, float] = defaultdict(float)
        self.busy: dict[str, float] = defaultdict(float)
        self.bytes: dict[str, int] = defaultdict(int)

    def __enter__(self) -> Parts:
        if not self.partitions:
            raise ValueError("X has no partitions")
        begun = time.monotonic()
        try:
            self.where = self._loaded(list(range(len(self.partitions))), LOAD_LIMIT)
        except BaseException:
            self._forget_all()
            raise
        self.load_seconds = self.seconds["load"] = time.monotonic() - begun
        return self

    def __exit__(self, *_: object) -> None:
        memory, peaks = {}, {}
        for address, (_, desk) in list(self.desks.items()):
            try:
                memory[address], peaks[address] = desk.forget().result(timeout=FORGET_LIMIT)
            except Exception:  # A worker that is gone has nothing to forget.
                continue
        self.report |= {
            "partitions": len(self.partitions),
            "workers": len(self.desks),
            "partitions_lost": sum(self.losses.values()),
            "seconds": dict(self.seconds),
            "worker_seconds": dict(self.busy),
            "bytes": dict(self.bytes),
            "worker_memory": memory,
            "worker_peak_memory": peaks,
        }
        self._forget_all()
        self.desks.clear()

    def _forget_all(self) -> None:
        """Tells all workers that the fit is over, also those that are still loading; waits a moment for them."""

        def tell() -> None:
            try:
                self.client.run(_desk.forget_soon, self.fit, wait=False, on_error="ignore")
            except Exception:  # There may be no worker, or no scheduler.
                pass

        thread = threading.Thread(target=tell, daemon=True)
        thread.start()
        thread.join(FORGET_LIMIT)

    def status(self) -> str:
        """Where the rows are, for people."""
        workers = len(set(self.where))
        return f"{len(self.where)} partitions on {workers} worker{'s' * (workers != 1)}"

    def one_of_each_worker(self) -> list[int]:
        """A partition of each worker that has rows to learn from."""
        first: dict[str, int] = {}
        for number, (_, judges) in enumerate(self.partitions):
            if not judges:
                first.setdefault(self.where[number], number)
        return list(first.values())

    # Partitions

    def _loaded(self, numbers: list[int], limit: float) -> list[str]:
        """Loads partitions on workers that the scheduler chooses; says which."""
        tasks = []
        for number in numbers:
            self.loads += 1
            part, judges = self.partitions[number]
            name = f"gatewood-load-{self.fit}-{number}-{self.loads}"
            load = dask.delayed(_desk.load, pure=False)
            tasks.append(load(self.fit, number, part, judges, self.pixels, dask_key_name=name))
        futures = self.client.compute(tasks, retries=2)
        try:
            return _results(self.client, futures, "loading partitions", limit)
        except BaseException:
            self.client.cancel(futures, force=True)
            raise

    def _desk(self, address: str) -> Any:
        """The actor on a worker, which is made if there is none; nothing where the worker is gone."""
        with self.lock:
            if address not in self.desks:
                future = self.client.submit(
                    Desk, self.fit, actor=True, workers=[address], allow_other_workers=False, pure=False
                )
                until = time.monotonic() + SMALL_LIMIT
                while not future.done():
                    if address not in alive(self.client) or time.monotonic() > until:
                        return None
                    _pause_for(future)
                if future.status != "finished":
                    self._check_cancelled(future)
                    return None
                self.desks[address] = (future, future.result(timeout=SMALL_LIMIT))
            return self.desks[address][1]

    @staticmethod
    def _check_cancelled(future: Any) -> None:
        if future.cancelled():
            raise ClusterError("the fit was cancelled")

    def _rebuild(self, lost: dict[int, str]) -> None:
        """Loads partitions again that were at workers; others may have done so."""
        with self.lock:
            numbers = [number for number, known in lost.items() if self.where[number] == known]
            there = alive(self.client)
            for known in set(lost.values()):
                desk = self.desks.get(known)
                if desk is not None and (known not in there or desk[0].status != "finished"):
                    self._check_cancelled(desk[0])
                    self.desks.pop(known)
            for number in numbers:
                self.losses[number] += 1
                if self.losses[number] > MOST_LOSSES:
                    raise ClusterError(
                        f"partition {number} was lost {self.losses[number]} times with the workers that held it"
                    )
            if not numbers:
                return
            begun = time.monotonic()
            for number, address in zip(numbers, self._loaded(numbers, RELOAD_LIMIT + 3 * self.load_seconds)):
                self.where[number] = address
            self.seconds["load again"] += time.monotonic() - begun

    # Messages

    def ask(self, messages: list[bytes | None]) -> list[bytes | None]:
        """Hands each partition its message, and returns the answers."""
        begun = time.monotonic()
        answers: list[bytes | None] = [None] * len(messages)
        missing = {number for number, message in enumerate(messages) if message is not None}
        first = next((message for message in messages if message), b"\0")
        phase = PHASES.get(first[0], OTHER_PHASES)
        busy, sent, received, may_relay = 0.0, 0, 0, True
        while missing:
            at = {number: self.where[number] for number in sorted(missing)}
            # What is the same for several partitions of a worker is sent there once.
            by_worker: dict[str, dict[bytes, list[int]]] = defaultdict(lambda: defaultdict(list))
            for number, address in at.items():
                by_worker[address][messages[number] or b""].append(number)
            sent += sum(len(message) for said in by_worker.values() for message in said)
            is_relayed = may_relay and len(by_worker) > FAN
            spent = 0.0
            for got, seconds in self._answers(by_worker, is_relayed):
                spent = max(spent, seconds)
                for number, answer in got:
                    if answer is not None:
                        answers[number] = answer
                        received += len(answer)
                        missing.discard(number)
            busy += spent
            if missing and not is_relayed:
                self._rebuild({number: at[number] for number in missing})
            # What a worker that hands on has lost is asked for directly.
            may_relay = False
        with self.lock:
            self.report["messages"] += 1
            self.report["bytes_sent"] += sent
            self.report["bytes_received"] += received
            self.seconds[phase] += time.monotonic() - begun
            self.busy[phase] += busy
            self.bytes[phase] += sent + received
        return answers

    def _answers(self, by_worker: dict[str, dict[bytes, list[int]]], is_relayed: bool) -> list[Any]:
        """The answers of workers, with the seconds they took."""
        said = {address: list(messages.items()) for address, messages in by_worker.items()}
        desks = {address: self._desk(address) for address in by_worker}
        there = [address for address, desk in desks.items() if desk is not None]
        # Each of the first workers hands on the messages of some others.
        step = FAN if is_relayed else len(there)
        waiting = []
        for place, address in enumerate(there[:step]):
            others = [(desks[other], said[other]) for other in there[place + step :: step]]
            try:
                waiting.append((address, desks[address].answer(said[address], others)))
            except (RuntimeError, OSError):  # The worker is gone, or about to be.
                continue
        return [got for address, future in waiting if (got := self._wait(address, future)) is not None]

    def _wait(self, address: str, future: Any) -> Any:
        """The answers of a worker; nothing where it is gone."""
        until = time.monotonic() + MESSAGE_LIMIT
        while True:
            try:
                return future.result(timeout=LOOK)
            except TimeoutError:
                desk = self.desks.get(address)
                if desk is None or address not in alive(self.client):
                    return None
                if desk[0].status != "finished":
                    self._check_cancelled(desk[0])
                    return None
                if time.monotonic() > until:
                    raise ClusterError(f"worker {address} gave no answer for {MESSAGE_LIMIT:.0f} seconds") from None
            except (OSError, RuntimeError, ValueError, KeyError) as error:
                if "defect" in str(error):
                    raise
                desk = self.desks.get(address)
                if desk is not None:
                    self._check_cancelled(desk[0])
                return None


def _pause_for(future: Any) -> None:
    """Waits for a future, but not for long."""
    until = time.monotonic() + LOOK
    pause = 0.001
    while not future.done() and time.monotonic() < until:
        time.sleep(pause)
        pause = min(2 * pause, 0.02)
