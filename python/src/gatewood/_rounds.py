"""Rounds of boosting: what groves remember of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted


class Rounds:
    """What an estimator whose model is a grove knows of its rounds."""

    learning_curve_: dict[str, NDArray[Any]]
    n_rounds_: int

    @property
    def best_iteration_(self) -> int:
        """Rounds that were kept: with ``eval_set`` or early stopping, those up to the best."""
        check_is_fitted(self)
        return self.n_rounds_

    def _stages(self) -> list[int]:
        """The number of trees after each round."""
        check_is_fitted(self)
        rounds, trees = getattr(self, "n_rounds_", 0), self.summary()["trees"]  # type: ignore[attr-defined]
        if rounds == 0 or trees % rounds:
            raise ValueError(
                "the rounds of this grove are not known: it was loaded from a file, or max_gates dropped trees from them"
            )
        return [trees // rounds * done for done in range(1, rounds + 1)]

    def _recall(self, summary: dict[str, Any]) -> None:
        """The rounds of a grove from a file, where all of them have as many trees."""
        used = (summary["settings"] or {}).get("resolved") or {}
        if used.get("trees_per_round") is None or used.get("max_gates") is not None:
            return
        classes = len(summary["classes"])
        a_round = used["trees_per_round"] if classes <= 2 or used.get("shared_trees") else classes
        if summary["trees"] and summary["trees"] % a_round == 0:
            self.n_rounds_ = summary["trees"] // a_round

    def _remember(self, report: dict[str, Any], continues: bool) -> None:
        story = report.pop("grove")
        super()._remember(report | {"plan": story["plan"]}, continues)  # type: ignore[misc]
        curve = story["curve"]
        names = curve[0].keys() if curve else []
        found = {name: np.array([point[name] for point in curve]) for name in names}
        before = getattr(self, "n_rounds_", 0) if continues else 0
        if before and curve:
            # Rounds that early stopping took back are no part of what was continued.
            known = {name: values[:before] for name, values in getattr(self, "learning_curve_", {}).items()}
            found["round"] = found["round"] + before
            # A file keeps no curve.
            shared = [name for name in found if name in known]
            if shared:
                found = {name: np.concatenate([known[name], found[name]]) for name in shared}
        self.learning_curve_ = found
        self.n_rounds_ = before + story["rounds"]
