"""Progress on a terminal."""

from __future__ import annotations

import json
import sys
import time
from typing import Any, Callable, Sequence


class Progress:
    """Writes one line to stderr, again and again: how far training is. Tells callbacks too."""

    def __init__(self, verbose: int, callbacks: Sequence[Callable[[dict[str, Any]], object]] = ()) -> None:
        self.verbose = verbose
        self.callbacks = callbacks
        self.begun = time.monotonic()
        self.shown = ""

    def __call__(self, done: int, total: int, rounds: str = "[]") -> None:
        """Tells of work done, and of the rounds since the last call as JSON."""
        seconds = time.monotonic() - self.begun
        known = {"done": done, "total": total, "seconds": seconds}
        for news in json.loads(rounds) or [{}]:
            for callback in self.callbacks:
                callback(known | news)
        if not self.verbose:
            return
        share = done / total if total else 0.0
        line = f"[gatewood] {share:4.0%} of the work in {time.monotonic() - self.begun:.1f} s"
        if line != self.shown:
            self.shown = line
            end = "\r" if sys.stderr.isatty() else "\n"
            print(line, end=end, file=sys.stderr, flush=True)

    def finish(self) -> None:
        """The last word."""
        if not self.verbose:
            return
        print(f"[gatewood] trained in {time.monotonic() - self.begun:.1f} s      ", file=sys.stderr, flush=True)
