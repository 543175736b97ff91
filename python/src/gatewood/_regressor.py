"""Groves that say a number, for scikit-learn."""

from __future__ import annotations

import json
from typing import Any, Iterator

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import _check_y, check_is_fitted, column_or_1d

from . import _core, _inputs
from ._estimator import CircuitEstimator, _plain
from ._progress import Progress
from ._rounds import Rounds


class GatewoodRegressor(Rounds, RegressorMixin, CircuitEstimator):  # type: ignore[misc]
    """A grove that says a number: boosted small trees of truth-table gates whose votes add up to it.

    Whatever is left at ``None`` has the library's default, which may depend on the data.

    Parameters
    ----------
    objective : str
        What is made small: ``"squared"`` error (the default), ``"huber"``, ``"absolute"`` error (the median),
        ``"poisson"`` (counts), or ``"quantile:0.1,0.5,0.9"`` (several quantiles at once, which never cross).
    target : str
        ``"log"`` to learn the logarithm of the number, ``"plain"`` otherwise.
    n_estimators, learning_rate, early_stopping_rounds, max_gates, max_luts, max_ands, time_limit
        As for ``GatewoodClassifier``, and so are ``arity``, ``root_arity``, ``depth``, ``climb``, ``cv_folds``,
        ``validation_fraction``, ``trees_per_round``, ``sample_rows``, ``honest_fraction``, ``feature_reuse``, ``reg_lambda``
        and ``vote_bits``.
    encode : dict
        How columns become bits, as for ``GatewoodClassifier``.
    random_state : int, RandomState or None
        Where all randomness comes from. The same number gives the same model on any machine.
    n_jobs : int
        Threads; -1 for one a core. The model does not depend on it.
    device : str
        Where it is learned: ``"cpu"``, ``"cuda"``, ``"cuda:1"`` for a certain GPU, or ``"auto"`` for a GPU where there is one
        and rows are many. The model does not depend on it.
    verbose : int
        Whether to show progress on stderr.

    Attributes
    ----------
    n_features_in_, feature_names_in_, feature_importances_, columns_left_out_, training_report_
        As for ``GatewoodClassifier``.
    quantiles_ : list of float
        The quantiles that are predicted; empty for other objectives.
    n_rounds_ : int
        Rounds that were kept; ``best_iteration_`` is the same.
    learning_curve_ : dict of arrays
        The loss by round.
    evals_result_ : dict
        With ``eval_set``: for ``validation_0``, ``validation_1``, ... lists of ``rmse`` and ``mae`` by round kept.
    model_
        The native model.

    Examples
    --------
    >>> from gatewood import GatewoodRegressor
    >>> X = [[size] for size in range(100)]
    >>> y = [3.0 * size + 20 for size in range(100)]
    >>> model = GatewoodRegressor(n_estimators=200).fit(X, y)
    >>> bool(abs(model.predict([[50]])[0] - 170) < 10)
    True
    """

    _kind = "grove"

    evals_result_: dict[str, dict[str, list[float]]]

    def __init__(
        self,
        *,
        objective: str | None = None,
        target: str | None = None,
        arity: int | None = None,
        root_arity: int | None = None,
        depth: int | None = None,
        climb: int | None = None,
        n_estimators: int | None = None,
        cv_folds: int | None = None,
        validation_fraction: float | None = None,
        trees_per_round: int | None = None,
        learning_rate: float | None = None,
        sample_rows: int | None = None,
        honest_fraction: float | None = None,
        feature_reuse: float | None = None,
        reg_lambda: float | None = None,
        vote_bits: int | None = None,
        early_stopping_rounds: int | None = None,
        max_gates: int | None = None,
        max_luts: int | None = None,
        max_ands: int | None = None,
        time_limit: float | None = None,
        encode: dict[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        device: str = "cpu",
        verbose: int = 0,
    ) -> None:
        super().__init__(encode, random_state, n_jobs, verbose)
        self.device = device
        self.objective = objective
        self.target = target
        self.arity = arity
        self.root_arity = root_arity
        self.depth = depth
        self.climb = climb
        self.n_estimators = n_estimators
        self.cv_folds = cv_folds
        self.validation_fraction = validation_fraction
        self.trees_per_round = trees_per_round
        self.learning_rate = learning_rate
        self.sample_rows = sample_rows
        self.honest_fraction = honest_fraction
        self.feature_reuse = feature_reuse
        self.reg_lambda = reg_lambda
        self.vote_bits = vote_bits
        self.early_stopping_rounds = early_stopping_rounds
        self.max_gates = max_gates
        self.max_luts = max_luts
        self.max_ands = max_ands
        self.time_limit = time_limit

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        eval_set: Any = None,
        *,
        init_model: Any = None,
        callbacks: Any = None,
    ) -> GatewoodRegressor:
        """Learns from rows and their numbers.

        Parameters
        ----------
        X : NumPy array of any type, PackedBits, data frame of pandas, polars or PyArrow, or SciPy sparse matrix
            The rows. Missing values and texts are welcome.
        y : array
            The number of each row.
        sample_weight : array, optional
            What each row counts for.
        eval_set : (X, y) or a list of such pairs, optional
            Validation rows: the grove is cut back to the round that was best on the last of them.
        init_model : path, fitted GatewoodRegressor or native model, optional
            A grove to continue: its columns and trees stay, and the rounds come on top.
        callbacks : list of callables, optional
            As for ``GatewoodClassifier``.
        """
        start = None if init_model is None else self._start(init_model)
        label = getattr(y, "name", None)
        rows = self._read(X, fitting=start is None)
        values = self._read_values(y)
        self._check_rows(rows, values)
        if len(values) == 1:
            raise ValueError("n_samples = 1: a regressor needs two rows or more")
        sets = [] if eval_set is None else self._read_validation(eval_set)
        progress = Progress(self.verbose, callbacks or []) if self.verbose or callbacks else None
        self.model_, report = _core.train(
            self._kind,
            json.dumps(self._settings(), default=_plain),
            rows,
            np.zeros(0, np.uint32),
            [],
            values=values,
            validation_values=sets[-1] if sets else None,
            threads=self._threads(),
            device=self.device,
            weights=self._weights(sample_weight, len(values)),
            start=start,
            label=label if isinstance(label, str) else None,
            progress=progress,
        )
        if progress is not None:
            progress.finish()
        self._remember(json.loads(report), start is not None)
        if sets:
            self._remember_evaluations(sets)
        return self

    def _start(self, model: Any) -> _core.Model:
        """The native model to continue; takes over its columns."""
        if isinstance(model, GatewoodRegressor):
            check_is_fitted(model)
            other = model
        elif isinstance(model, _core.Model):
            other = GatewoodRegressor._of(model)
        else:
            other = GatewoodRegressor.load(model)
        for name in ("n_features_in_", "n_rounds_", "learning_curve_", "feature_names_in_", "_file_names_columns"):
            if hasattr(other, name):
                setattr(self, name, getattr(other, name))
            elif hasattr(self, name):
                delattr(self, name)
        return other.model_

    def _read_values(self, y: Any) -> NDArray[np.float64]:
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y is None."
            )
        y = column_or_1d(_inputs.plain_labels(y), warn=True)
        y = _check_y(y, y_numeric=True, estimator=self)
        return np.ascontiguousarray(y, dtype=np.float64)

    def _read_validation(self, eval_set: Any) -> list[Any]:
        """Validation rows and their numbers, set by set."""
        sets = eval_set if isinstance(eval_set, list) else [eval_set]
        if not sets or any(not isinstance(held, tuple) or len(held) != 2 for held in sets):
            raise ValueError("eval_set must be pairs of rows and numbers: (X, y) or [(X, y), ...]")
        return [(self._read(X, fitting=False), self._read_values(y)) for X, y in sets]

    @classmethod
    def _check_kind(cls, model: _core.Model) -> None:
        if not model.says_values:
            raise ValueError("the file holds a model of classes, and a regressor says numbers: use GatewoodClassifier")

    # Predicting

    @property
    def quantiles_(self) -> list[float]:
        """The quantiles that are predicted; empty for other objectives."""
        check_is_fitted(self)
        return self.model_.quantiles

    def predict(
        self,
        X: Any,
        quantile: float | None = None,
        *,
        pred_contrib: bool = False,
        background: Any = None,
        device: str = "cpu",
    ) -> NDArray[np.float64]:
        """The number of each row; of several quantiles, that nearest to the median, or the one that is asked for.

        Many rows may be run on a GPU, with ``device="cuda"``; the answers are the same.

        With ``pred_contrib``, what each column adds to it instead, in the units of ``y`` (or of its logarithm, where that was
        learned): exact Shapley values, a column of the result for each column of ``X`` and a last one for the mean of the
        background. The background is the rows to compare with, else some of ``X``.
        """
        self._check_fitted()
        if pred_contrib:
            rows = self._read(X, fitting=False)
            held = None if background is None else self._read(background, fitting=False)
            return _core.contributions(self.model_, rows, held, self._threads() or 0)
        place = self._place(quantile)
        model = self.model_.on(device)
        values: NDArray[np.float64] = self._each(X, model.values, model.values_few)[:, place]
        return np.ascontiguousarray(values)

    def predict_quantiles(self, X: Any) -> NDArray[np.float64]:
        """All quantiles of each row, a column for each of ``quantiles_``; a later one is never below an earlier one."""
        self._check_fitted()
        if not self.quantiles_:
            raise ValueError('the model predicts no quantiles: learn it with objective="quantile:0.1,0.5,0.9"')
        return self._each(X, self.model_.values)

    def staged_predict(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """The number of each row after each round, as an iterator."""
        check_is_fitted(self)
        rows = self._read(X, fitting=False)
        for stage in self._stages():
            yield self.model_.staged_values(rows, [stage], self._threads() or 0)[0][:, self._place(None)]

    def _place(self, quantile: float | None) -> int:
        """The column of a quantile."""
        levels = self.model_.quantiles
        if quantile is None:
            return int(np.argmin(np.abs(np.array(levels) - 0.5))) if levels else 0
        for place, level in enumerate(levels):
            if abs(level - quantile) < 1e-9:
                return place
        known = ", ".join(map(str, levels)) or "none"
        raise ValueError(f"the model does not predict the quantile {quantile}; it predicts: {known}")

    def _remember_evaluations(self, sets: list[Any]) -> None:
        """The errors of each set by round."""
        self.evals_result_ = {}
        try:
            stages = self._stages()
        except ValueError:
            return
        for number, (rows, values) in enumerate(sets):
            found: dict[str, list[float]] = {"rmse": [], "mae": []}
            for first in range(0, len(stages), 64):
                part = self.model_.staged_values(rows, stages[first : first + 64], self._threads() or 0)
                for said in part:
                    off = said[:, self._place(None)] - values
                    found["rmse"].append(float(np.sqrt(np.mean(off * off))))
                    found["mae"].append(float(np.mean(np.abs(off))))
            self.evals_result_[f"validation_{number}"] = found
