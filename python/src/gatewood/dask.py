"""Groves of rows that are spread over the workers of a Dask cluster.

``DaskGatewoodClassifier`` and ``DaskGatewoodRegressor`` take dask Arrays, dask DataFrames or lists of delayed partitions. The
model is that of the plain estimators on all rows in one place, bit for bit, however the rows are partitioned. Needs
``pip install gatewood[dask]``.

>>> from gatewood.dask import DaskGatewoodClassifier
>>> DaskGatewoodClassifier(n_estimators=50).n_estimators
50
"""

from __future__ import annotations

import json
from typing import Any, TypeVar

import dask
import numpy as np
from distributed import Client, default_client
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.validation import column_or_1d

from . import _core, _inputs
from ._classes import class_names
from ._cluster import ClusterError, Parts, fetched
from ._desk import read_rows
from ._estimator import _plain
from ._grove import GatewoodClassifier
from ._progress import Progress
from ._regressor import GatewoodRegressor

__all__ = ["ClusterError", "DaskGatewoodClassifier", "DaskGatewoodRegressor"]

Self = TypeVar("Self", bound="_OnCluster")


def _is_lazy(X: Any) -> bool:
    return bool(dask.is_dask_collection(X)) or (isinstance(X, list) and any(map(dask.is_dask_collection, X)))


def _partitions(X: Any) -> list[Any]:
    """The partitions of rows, each a delayed object; rows that are here are one."""
    if isinstance(X, list) and _is_lazy(X):
        return list(X)
    if not dask.is_dask_collection(X):
        return [dask.delayed(X, pure=False)]
    if hasattr(X, "numblocks"):
        if X.ndim > 1:
            X = X.rechunk({axis: -1 for axis in range(1, X.ndim)})
        return list(X.to_delayed().ravel())
    return list(X.to_delayed()) if hasattr(X, "to_delayed") else [X]


def _name(y: Any) -> str | None:
    """The name of a column of labels. That of a dask Array is the key of a task."""
    name = None if hasattr(y, "numblocks") else getattr(y, "name", None)
    return name if isinstance(name, str) else None


def _columns(client: Client, X: Any, partitions: list[Any]) -> tuple[int, list[Any] | None]:
    """The number of columns, and their names where they have some."""
    if hasattr(X, "columns"):
        return len(X.columns), list(X.columns)
    if hasattr(X, "ndim") and hasattr(X, "shape") and X.ndim > 1 and all(size == size for size in X.shape[1:]):
        return int(np.prod(X.shape[1:])), None
    shape, names = fetched(client, [dask.delayed(_shape)(partitions[0])], "the columns of the first partition")[0]
    return shape, names


def _shape(X: Any) -> tuple[int, list[Any] | None]:
    return int(np.prod(X.shape[1:])), list(X.columns) if hasattr(X, "columns") else None


class _OnCluster:
    """What both estimators share."""

    client: Client | None
    dask_report_: dict[str, Any]

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return sorted([*cls._local()._get_param_names(), "client"])

    @classmethod
    def _local(cls) -> Any:
        """The plain estimator."""
        raise NotImplementedError

    def _client(self) -> Client:
        return default_client() if self.client is None else self.client

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()  # type: ignore[assignment]
        return {name: value for name, value in state.items() if name != "client"} | {"client": None}

    def _remember_columns(self, X: Any, partitions: list[Any]) -> None:
        self.n_features_in_, names = _columns(self._client(), X, partitions)
        if names is not None and all(isinstance(name, str) for name in names):
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _gathered(self, y: Any, what: str = "labels") -> Any:
        """Labels, values, weights or rows in one place."""
        if isinstance(y, list) and _is_lazy(y):
            parts = fetched(self._client(), y, what)
            if _inputs.library_of(parts[0]):
                import pandas as pd

                return pd.concat(parts)
            return np.concatenate([np.asarray(part) for part in parts])
        y = fetched(self._client(), [y], what)[0] if dask.is_dask_collection(y) else y
        return _inputs.aligned(y) if isinstance(y, np.ndarray) else y

    def _rows_here(self, X: Any) -> Any:
        """Validation rows in this process."""
        return read_rows(self._gathered(X, "validation rows"), self._has_pixels())  # type: ignore[attr-defined]

    def partial_fit(self, X: Any, *rest: Any, **options: Any) -> Any:
        """Goes on from the fitted grove with further rounds on rows that are in this process, as the plain estimator does."""
        if _is_lazy(X):
            raise ValueError("partial_fit learns in one place: use to_local().partial_fit with rows of this process")
        return super().partial_fit(X, *rest, **options)  # type: ignore[misc]

    def _sets(self, eval_set: Any) -> list[tuple[Any, Any]]:
        if eval_set is None:
            return []
        sets = eval_set if isinstance(eval_set, list) else [eval_set]
        if not sets or any(not isinstance(held, tuple) or len(held) != 2 for held in sets):
            raise ValueError("eval_set must be pairs of rows and labels: (X, y) or [(X, y), ...]")
        return sets

    def _refuse(self, init_model: Any) -> None:
        """Says what is not done on a cluster, before anything is computed."""
        if init_model is not None:
            raise ValueError("init_model is for training in one place: leave it out on a cluster")
        if getattr(self, "device", "cpu") not in ("auto", "cpu"):
            raise ValueError("device is for training in one place: leave it out on a cluster")

    def _train_on_cluster(self, X: Any, held: Any, chosen: dict[str, Any], callbacks: Any, **given: Any) -> None:
        """Trains where the rows are."""
        partitions = _partitions(X)
        self._remember_columns(X, partitions)
        judging = [] if held is None else _partitions(held)
        progress = Progress(self.verbose, callbacks or []) if self.verbose or callbacks else None  # type: ignore[attr-defined]
        if progress is not None:
            progress.tell(f"loading {len(partitions) + len(judging)} partitions")
        parts = Parts(self._client(), partitions, judging, self._has_pixels())  # type: ignore[attr-defined]
        with parts:
            if progress is not None:
                progress.where = parts.status
            self.model_, report = _core.train_parts(
                json.dumps(chosen, default=_plain),
                parts.ask,
                len(parts.partitions),
                threads=self._threads(),  # type: ignore[attr-defined]
                climbers=parts.one_of_each_worker(),
                progress=progress,
                **given,
            )
        if progress is not None:
            progress.finish()
        self.dask_report_ = parts.report
        self._remember(json.loads(report), False)  # type: ignore[attr-defined]

    def to_local(self) -> Any:
        """The plain estimator with the same model, which needs no cluster."""
        params = self.get_params(deep=False)  # type: ignore[attr-defined]
        local = self._local()(**{name: value for name, value in params.items() if name != "client"})
        for name, value in vars(self).items():
            if name.endswith("_") and not name.startswith("_") and name != "dask_report_":
                setattr(local, name, value)
        return local

    def _lazily(self, X: Any, method: str, names: Any, dtype: Any, **options: Any) -> Any:
        """What a method of the plain estimator says of rows, as a dask collection like them."""
        if not _is_lazy(X):
            return getattr(self.to_local(), method)(X, **options)
        local = self.to_local()
        if isinstance(X, list):
            return [dask.delayed(_said)(local, method, part, options) for part in X]
        if hasattr(X, "numblocks"):
            X = X.rechunk({axis: -1 for axis in range(1, X.ndim)})
            extra = tuple(range(1, X.ndim))
            if names is None:
                return X.map_blocks(
                    lambda rows: _said(local, method, rows, options), dtype=dtype, drop_axis=list(extra), meta=np.empty(0, dtype)
                )
            chunks = (X.chunks[0], (len(names),))
            drop = list(extra[1:])
            return X.map_blocks(
                lambda rows: _said(local, method, rows, options),
                dtype=dtype,
                drop_axis=drop,
                chunks=chunks,
                meta=np.empty((0, len(names)), dtype),
            )
        import pandas as pd

        def frame(rows: Any) -> Any:
            said = _said(local, method, rows, options)
            return pd.Series(said, rows.index) if names is None else pd.DataFrame(said, rows.index, names)

        empty = np.empty(0 if names is None else (0, len(names)), dtype)
        meta = pd.Series(empty) if names is None else pd.DataFrame(empty, columns=names)
        return X.map_partitions(frame, meta=meta)


def _said(local: Any, method: str, rows: Any, options: dict[str, Any]) -> Any:
    """What an estimator says of a partition, which may have no rows."""
    if rows.shape[0] == 0:
        outputs = len(local.classes_) if method == "predict_proba" else len(getattr(local, "quantiles_", []))
        kind = local.classes_.dtype if method == "predict" and hasattr(local, "classes_") else np.float64
        return np.empty(0 if method == "predict" else (0, outputs), kind)
    return getattr(local, method)(rows, **options)


def _signed(cls: Any, plain: Any) -> Any:
    """Gives a class the constructor of the plain one and ``client``."""
    import inspect

    own = inspect.Parameter("client", inspect.Parameter.KEYWORD_ONLY, default=None, annotation="Client | None")
    known = inspect.signature(plain.__init__).parameters.values()
    cls.__init__.__signature__ = inspect.Signature([*known, own])
    return cls


class DaskGatewoodClassifier(_OnCluster, GatewoodClassifier):
    """A ``GatewoodClassifier`` whose training rows are in the workers of a Dask cluster.

    Parameters
    ----------
    client : distributed.Client
        The cluster; the current one where not given. All others are those of ``GatewoodClassifier``.

    Attributes
    ----------
    dask_report_ : dict
        Messages, bytes and seconds by phase, partitions that were lost and loaded again, memory of workers.

    All others are those of ``GatewoodClassifier``.
    """

    def __init__(self, *, client: Client | None = None, **settings: Any) -> None:
        super().__init__(**settings)
        self.client = client

    @classmethod
    def _local(cls) -> Any:
        return GatewoodClassifier

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        eval_set: Any = None,
        *,
        init_model: Any = None,
        callbacks: Any = None,
    ) -> DaskGatewoodClassifier:
        """Learns from rows in partitions and their labels.

        Parameters
        ----------
        X : dask Array, dask DataFrame, or list of delayed arrays or data frames
            The rows. None of them leaves its worker except in samples.
        y : dask Array, Series, list of delayed arrays, or array
            The label of each row; all of them go to this process.
        sample_weight : as y, optional
            What each row counts for.
        eval_set : (X, y) or a list of such pairs, optional
            Validation rows, on the cluster or here: the grove is cut back to the round that was best on the last of them.
        init_model : None
            Groves are continued in one place only.
        callbacks : list of callables, optional
            As for ``GatewoodClassifier``.
        """
        self._refuse(init_model)
        label = _name(y)
        labels = self._read_labels(self._gathered(y))
        classes = np.unique(labels)
        self._check_classes(labels, classes)
        sets = self._sets(eval_set)
        held_codes = [self._codes(self._read_labels(self._gathered(held)), classes) for _, held in sets]
        self._train_on_cluster(
            X,
            sets[-1][0] if sets else None,
            self._settings() | self._class_settings(labels, classes),
            callbacks,
            labels=self._codes(labels, classes),
            classes=class_names(classes),
            validation=held_codes[-1] if sets else None,
            weights=self._weights(self._gathered(sample_weight, "weights"), len(labels)),
            label=label,
        )
        self.classes_ = classes
        if sets:
            rows = [self._rows_here(held) for held, _ in sets]
            self._remember_evaluations(list(zip(rows, held_codes)), classes)
        return self

    def predict(self, X: Any, **options: Any) -> Any:
        """The class of each row, as a dask collection where ``X`` is one; nothing is computed yet."""
        self._check_fitted()
        return self._lazily(X, "predict", None, self.classes_.dtype, **options)

    def predict_proba(self, X: Any, **options: Any) -> Any:
        """The probability of each class for each row, as a dask collection where ``X`` is one."""
        self._check_fitted()
        return self._lazily(X, "predict_proba", list(self.classes_), np.float64, **options)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose class is right."""
        said, y, weight = self._gathered(self.predict(X)), self._gathered(y), self._gathered(sample_weight)
        return float(accuracy_score(y, said, sample_weight=weight))


class DaskGatewoodRegressor(_OnCluster, GatewoodRegressor):
    """A ``GatewoodRegressor`` whose training rows are in the workers of a Dask cluster.

    Parameters and attributes are those of ``GatewoodRegressor``, and ``client`` and ``dask_report_`` as for
    ``DaskGatewoodClassifier``.
    """

    def __init__(self, *, client: Client | None = None, **settings: Any) -> None:
        super().__init__(**settings)
        self.client = client

    @classmethod
    def _local(cls) -> Any:
        return GatewoodRegressor

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        eval_set: Any = None,
        *,
        init_model: Any = None,
        callbacks: Any = None,
    ) -> DaskGatewoodRegressor:
        """Learns from rows in partitions and their numbers; parameters as for ``DaskGatewoodClassifier``."""
        self._refuse(init_model)
        label = _name(y)
        values = self._read_values(self._gathered(y))
        sets = self._sets(eval_set)
        held_values = [self._read_values(self._gathered(held)) for _, held in sets]
        self._train_on_cluster(
            X,
            sets[-1][0] if sets else None,
            self._settings(),
            callbacks,
            labels=np.zeros(0, np.uint32),
            classes=[],
            values=values,
            validation_values=held_values[-1] if sets else None,
            weights=self._weights(self._gathered(sample_weight, "weights"), len(values)),
            label=label,
        )
        if sets:
            rows = [self._rows_here(held) for held, _ in sets]
            self._remember_evaluations(list(zip(rows, held_values)))
        return self

    def predict(self, X: Any, quantile: float | None = None, **options: Any) -> Any:
        """The number of each row, as a dask collection where ``X`` is one; nothing is computed yet."""
        self._check_fitted()
        return self._lazily(X, "predict", None, np.float64, quantile=quantile, **options)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The coefficient of determination."""
        said, y, weight = self._gathered(self.predict(X)), self._gathered(y), self._gathered(sample_weight)
        return float(r2_score(column_or_1d(np.asarray(y)), said, sample_weight=weight))


_signed(DaskGatewoodClassifier, GatewoodClassifier)
_signed(DaskGatewoodRegressor, GatewoodRegressor)
