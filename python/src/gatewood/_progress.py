"""Progress on a terminal or in a notebook."""

from __future__ import annotations

import html
import json
import sys
import time
from typing import Any, Callable, Sequence


def _notebook() -> Any:
    """What shows HTML in a cell of a notebook and changes it later; nothing elsewhere."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None or not hasattr(shell, "kernel"):
        return None
    from IPython.display import HTML, display

    handle = display(HTML(""), display_id=True)
    return lambda text: handle.update(HTML(text))


class Progress:
    """Shows how far training is: a bar in a notebook, else a line on stderr, again and again. Tells callbacks too."""

    def __init__(self, verbose: int, callbacks: Sequence[Callable[[dict[str, Any]], object]] = ()) -> None:
        self.verbose = verbose
        self.callbacks = callbacks
        self.begun = time.monotonic()
        self.shown = ""
        self.is_terminal = sys.stderr.isatty()
        self.notebook = _notebook() if verbose else None
        # Where the rows are, if not here.
        self.where: Callable[[], str] | None = None

    def __call__(self, done: int, total: int, rounds: str = "[]") -> None:
        """Tells of work done, and of the rounds since the last call as JSON."""
        seconds = time.monotonic() - self.begun
        known = {"done": done, "total": total, "seconds": seconds}
        for news in json.loads(rounds) or [{}]:
            for callback in self.callbacks:
                callback(known | news)
        if not self.verbose:
            return
        self.tell("", done / total if total else 0.0)

    def tell(self, doing: str, share: float = 0.0) -> None:
        """Shows what is done just now, and the share of all work that is done."""
        if not self.verbose:
            return
        # Where lines stay, there is one for each percent.
        seconds = f" in {time.monotonic() - self.begun:.1f} s" if self.notebook or self.is_terminal else ""
        where = f", {self.where()}" if self.where else ""
        line = f"{share:4.0%} of the work{seconds}{where}" if not doing else doing
        if line != self.shown:
            self.shown = line
            self._show(line, share)

    def _show(self, line: str, share: float, last: bool = False) -> None:
        if self.notebook:
            bar = "" if last else f'<progress value="{share:.3f}" max="1"></progress> '
            self.notebook(f"{bar}<span>gatewood: {html.escape(line.strip())}</span>")
            return
        end = "\r" if self.is_terminal and not last else "\n"
        print(f"[gatewood] {line}", end=end, file=sys.stderr, flush=True)

    def finish(self) -> None:
        """The last word."""
        if not self.verbose:
            return
        where = f", {self.where()}" if self.where else ""
        self._show(f"trained in {time.monotonic() - self.begun:.1f} s{where}      ", 1.0, last=True)
