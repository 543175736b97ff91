"""What runs on the workers of a Dask cluster: loading partitions, and an actor that hands messages to them."""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
from distributed import get_worker
from distributed.utils import sync

from . import _core, _inputs

# Seconds that a worker waits for one that it hands a message on to, and between looks at whether that is alive.
HAND_ON_LIMIT = 600.0
LOOK = 0.5
SMALL_LIMIT = 30.0

# The first byte of messages whose answers can be added up.
SUMS = (5, 6, 9, 10)

# The parts that this process holds, by fit and number, and fits that are over.
_PARTS: dict[tuple[str, int], _core.Part] = {}
_OVER: set[str] = set()


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


def load(fit: str, number: int, X: Any, judges: bool, pixels: bool) -> str:
    """Makes a part of a partition on the worker that runs this; says which it is."""
    worker = get_worker()
    try:
        part = _core.Part(read_rows(X, pixels), judges, worker.state.nthreads)
    except Exception:
        raise
    except BaseException as error:  # What is no Exception would end the worker's loop.
        raise RuntimeError(f"a defect in gatewood: {error}") from None
    if fit not in _OVER:
        _PARTS[fit, number] = part
    return str(worker.address)


def forget(fit: str) -> None:
    """Lets go of all parts of a fit, also of those that are still being loaded."""
    _OVER.add(fit)
    _let_go(fit)


async def forget_soon(fit: str) -> None:
    """The same, for a caller that does not wait."""
    forget(fit)


def _let_go(fit: str) -> None:
    for key in [key for key in list(_PARTS) if key[0] == fit]:
        _PARTS.pop(key, None)


class Desk:
    """The actor on a worker that hands messages to the parts there."""

    def __init__(self, fit: str) -> None:
        self.fit = fit

    def answer(self, messages: list[tuple[bytes, list[int]]], others: list[tuple[Any, Any]]) -> tuple[list[Any], float]:
        """The answers of parts, ``None`` where this worker has no such part; and the seconds that the slowest worker took.

        A message comes with the numbers of the parts it is for. Other workers may have messages too: a desk, and what is
        for it.
        """
        waiting = []
        for desk, theirs in others:
            try:
                waiting.append((desk._address, desk.answer(theirs, [])))
            except (RuntimeError, OSError):  # That worker is gone; the coordinator asks again.
                continue
        begun = time.monotonic()
        answers: list[tuple[int, bytes | None]] = []
        for message, numbers in messages:
            for number in numbers:
                part = _PARTS.get((self.fit, number))
                answers.append((number, None if part is None else part.answer(message)))
        seconds = time.monotonic() - begun
        for address, future in waiting:
            got, spent = _handed_on(address, future)
            answers += got
            seconds = max(seconds, spent)
        kind = messages[0][0][0] if messages and messages[0][0] else 0
        whole = [answer for _, answer in answers if answer is not None]
        if kind in SUMS and len(whole) == len(answers):
            answers = list(zip([number for number, _ in answers], _core.merged_answers(kind, whole)))
        return answers, seconds

    def forget(self) -> tuple[int, int]:
        """Lets go of all parts of the fit; says how many bytes the process takes, and the most it ever took."""
        forget(self.fit)
        return _memory()

    def __del__(self) -> None:
        # The process that asked is gone, or is done: nobody else would let go of the parts.
        _let_go(self.fit)


def _handed_on(address: str, future: Any) -> tuple[list[Any], float]:
    """The answers of another worker; none where it is gone, so that the coordinator asks again."""
    worker = get_worker()
    until = time.monotonic() + HAND_ON_LIMIT
    while time.monotonic() < until:
        try:
            answers: tuple[list[Any], float] = future.result(timeout=LOOK)
            return answers
        except TimeoutError:
            if address not in sync(worker.loop, worker.scheduler.ncores, callback_timeout=SMALL_LIMIT):
                break
        except Exception:
            break
    return [], 0.0


def _memory() -> tuple[int, int]:
    import psutil

    now = int(psutil.Process().memory_info().rss)
    try:
        import resource
    except ImportError:  # Not on Windows.
        return now, now
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return now, int(most) * (1 if sys.platform == "darwin" else 1024)
