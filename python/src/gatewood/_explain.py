"""Why a model says what it says, and what it says of every possible row."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._page import ExplorerPage

_CARD = "display:inline-block;border:1px solid #8a9a5b;border-radius:6px;padding:8px 14px;font-family:sans-serif;font-size:13px"


def _list(items: list[str]) -> str:
    return "<ul style='margin:4px 0'>" + "".join(f"<li>{escape(item)}</li>" for item in items) + "</ul>"


@dataclass
class Explanation:
    """A sufficient reason: conditions that alone fix the class of a row, whatever its other columns say."""

    #: The class that is fixed.
    label: Any
    #: What the reason asks of the columns, in words.
    conditions: list[str]
    #: The columns of the reason.
    columns: list[str]
    #: Whether it is proven that no column can be left out. That the conditions suffice is always proven.
    minimal: bool
    #: What each column adds to the margin in log-odds, where a background was given.
    contributions: dict[str, float] | None = None
    #: The mean margin of the background, in log-odds.
    mean: float | None = None

    def __str__(self) -> str:
        proven = "proven sufficient and minimal" if self.minimal else "proven sufficient, perhaps not minimal"
        return f"{self.label} because {' and '.join(self.conditions) or 'every row is'} ({proven})"

    def _repr_html_(self) -> str:
        proven = "proven sufficient and minimal" if self.minimal else "proven sufficient, perhaps not minimal"
        text = f"<b>{escape(str(self.label))}</b> because, whatever the rest says,{_list(self.conditions)}<i>{proven}</i>"
        return f'<div style="{_CARD}">{text}{self._bars()}</div>'

    def _bars(self) -> str:
        if not self.contributions:
            return ""
        largest = max(map(abs, self.contributions.values())) or 1.0
        rows = ""
        for name, value in sorted(self.contributions.items(), key=lambda item: -abs(item[1]))[:15]:
            colour = "#5b7a3a" if value >= 0 else "#a4553c"
            bar = f'<div style="background:{colour};height:10px;width:{120 * abs(value) / largest:.0f}px"></div>'
            rows += f"<tr><td>{escape(name)}</td><td style='text-align:right'>{value:+.3f}</td><td>{bar}</td></tr>"
        return f"<table>{rows}</table>"


@dataclass
class Counterfactual:
    """The least change of a row that turns its class: the fewest columns, and of those the least distance in quantiles."""

    #: Whether a change turns the class: ``None`` where that was not decided in time.
    possible: bool | None
    #: The class after the change.
    label: Any = None
    #: For each column that changes, the value it has and one that turns the class.
    changes: dict[str, tuple[Any, Any]] = field(default_factory=dict)
    #: For each column that changes, all values that do the same, in words.
    ranges: dict[str, str] = field(default_factory=dict)
    #: The changed row, by column.
    values: dict[str, Any] = field(default_factory=dict)
    #: The sum of the distances of the columns.
    distance: float | None = None
    #: Whether it is proven that no fewer columns do, and that no nearer values of as few columns do.
    fewest: bool = False
    nearest: bool = False

    def __str__(self) -> str:
        if not self.possible:
            return "no change turns it: proven" if self.possible is False else "no change was found in time"
        changes = ", ".join(f"{name} = {new} in place of {old}" for name, (old, new) in self.changes.items())
        return f"{self.label} with {changes} ({self._proven()})"

    def _proven(self) -> str:
        if self.nearest:
            return "proven least"
        return "proven fewest columns" if self.fewest else "the best found"

    def _repr_html_(self) -> str:
        if not self.possible:
            return f'<div style="{_CARD}">{escape(str(self))}</div>'
        lines = [f"{name} = {new} in place of {old} ({self.ranges[name]})" for name, (old, new) in self.changes.items()]
        text = f"<b>{escape(str(self.label))}</b> with{_list(lines)}<i>{self._proven()}</i>"
        return f'<div style="{_CARD}">{text}</div>'


@dataclass
class Proof:
    """What is known of a property. It is true in an ``if`` only where it is proven."""

    #: The property.
    text: str
    #: ``"proven"``, ``"false"`` or ``"undecided"``.
    verdict: str
    #: Rows that show it to be false, by column.
    rows: list[dict[str, Any]]
    #: The classes of these rows.
    labels: list[Any]

    def __bool__(self) -> bool:
        return self.verdict == "proven"

    def __str__(self) -> str:
        shown = "".join(f"\n  {label}: {row}" for label, row in zip(self.labels, self.rows))
        return f"{self.verdict}: {self.text}{shown}"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td><b>{escape(str(label))}</b></td>"
            + "".join(f"<td>{escape(str(value))}</td>" for value in row.values())
            + "</tr>"
            for label, row in zip(self.labels, self.rows)
        )
        names = "".join(f"<th>{escape(name)}</th>" for name in (self.rows[0] if self.rows else {}))
        table = f"<table><tr><th>class</th>{names}</tr>{rows}</table>" if rows else ""
        return f'<div style="{_CARD}"><b>{self.verdict}</b>: {escape(self.text)}{table}</div>'


class Explaining:
    """What a fitted classifier can be asked about its reasons."""

    model_: _core.Model
    classes_: NDArray[Any]

    def explain(self, row: Any, *, background: Any = None, time_limit: float | None = None) -> Explanation:
        """A sufficient reason for the class of a row: conditions that alone fix it, proven for every possible row.

        Parameters
        ----------
        row : one row
            An array of one dimension, a Series, a dictionary, or one row of anything that ``predict`` takes.
        background : rows, optional
            Rows to compare with; with them the explanation says what each column adds to the margin.
        time_limit : float
            Seconds. A reason that is not proven minimal by then is marked so.
        """
        rows = self._one(row)
        held = None if background is None else self._read(background, fitting=False)  # type: ignore[attr-defined]
        found = json.loads(_core.explain(self.model_, rows, background=held, time_limit=time_limit))
        added = found.get("contributions") or {}
        return Explanation(
            self.classes_[found["class_index"]],
            found["conditions"],
            found["columns"],
            found["minimal"] == "proven",
            added.get("columns"),
            added.get("mean"),
        )

    def counterfactual(self, row: Any, *, fixed: Any = (), time_limit: float | None = None) -> Counterfactual:
        """The least change of a row that turns its class.

        Parameters
        ----------
        row : one row
            As for ``explain``.
        fixed : names of columns
            Columns that may not change.
        time_limit : float
            Seconds. What is not proven least by then is marked so.
        """
        names = [fixed] if isinstance(fixed, str) else [str(name) for name in fixed]
        found = json.loads(_core.counterfactual(self.model_, self._one(row), names, time_limit=time_limit))
        if not found["possible"]:
            return Counterfactual(found["possible"])
        return Counterfactual(
            True,
            self.classes_[found["class_index"]],
            {change["column"]: (change["from"], change["to"]) for change in found["changes"]},
            {change["column"]: change["range"] for change in found["changes"]},
            found["values"],
            found["distance"],
            found["fewest"] == "proven",
            found["nearest"] == "proven",
        )

    def prove(self, text: str, *, time_limit: float | None = None) -> Proof:
        """Proves a property for every row that can exist, or finds rows that show it to be false.

        Parameters
        ----------
        text : str
            ``"monotone up in COLUMN"`` (or ``down``; with ``for CLASS`` it is about the class), ``"independent of COLUMN"``,
            ``"never CLASS when CONDITION"`` or ``"if CONDITION then class is CLASS"``. A condition is comparisons with
            ``and`` and ``or`` between them; what has spaces or signs in it stands in quotes.
        time_limit : float
            Seconds.
        """
        found = json.loads(_core.prove(self.model_, text, time_limit=time_limit))
        labels = [self.classes_[row["class_index"]] for row in found["rows"]]
        return Proof(found["property"], found["verdict"], [row["values"] for row in found["rows"]], labels)

    def explore(
        self,
        X: Any = None,
        y: Any = None,
        *,
        name: str | None = None,
        rows: int | None = None,
        shape: tuple[int, ...] | None = None,
        luts: int | None = None,
    ) -> ExplorerPage:
        """The model as a page to try out and look into: a notebook shows it, and its ``save`` writes it.

        Parameters
        ----------
        X : rows, optional
            Rows to step through, which contributions compare with.
        y : labels, optional
            Their classes, for errors and calibration.
        name : str
            What the page calls the model.
        rows : int
            The most rows that the page holds; more are thinned out evenly.
        shape : tuple of int
            Lines, pixels in a line and perhaps colours of images, where the names of the columns do not say so.
        luts : int
            Counts the LUTs of so many inputs for the page to show, which takes seconds for large models.
        """
        self._check_fitted()  # type: ignore[attr-defined]
        if X is None and y is not None:
            raise ValueError("there are labels but no rows")
        held = None if X is None else self._read(X, fitting=False)  # type: ignore[attr-defined]
        codes = None if y is None else self._codes(self._read_labels(y), self.classes_)  # type: ignore[attr-defined]
        image = None if shape is None else (*shape, 1)[:3]
        page = _core.explore(
            self.model_,
            held,
            codes,
            name=name or type(self).__name__,
            most=rows,
            shape=image,  # type: ignore[arg-type]
            luts=luts,
            threads=self._threads(),  # type: ignore[attr-defined]
        )
        return ExplorerPage(page)

    def _contributions(self, X: Any, background: Any) -> NDArray[np.float64]:
        rows = self._read(X, fitting=False)  # type: ignore[attr-defined]
        held = None if background is None else self._read(background, fitting=False)  # type: ignore[attr-defined]
        return _core.contributions(self.model_, rows, held, self._threads() or 0)  # type: ignore[attr-defined]

    def _one(self, row: Any) -> Any:
        """One row of any kind as native rows."""
        if isinstance(row, dict):
            import pandas

            row = pandas.DataFrame([row])
        elif hasattr(row, "to_frame") and getattr(row, "ndim", 0) == 1:
            row = row.to_frame().T.infer_objects()
        elif not hasattr(row, "shape") or len(row.shape) == 1:
            row = np.asarray(row)
            row = row.reshape(1, -1) if row.ndim == 1 else row
        if row.shape[0] != 1:
            raise ValueError(f"one row is explained at a time, not {row.shape[0]}")
        return self._read(row, fitting=False)  # type: ignore[attr-defined]
