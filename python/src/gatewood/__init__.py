"""Classifiers and regressors that are Boolean circuits.

- ``GatewoodClassifier``: groves, boosted small trees of truth-table gates with integer votes.
- ``GatewoodRegressor``: groves whose votes add up to a number.
- ``BooleanTreeClassifier``: one large tree of gates, for two classes.
- ``PackedBits``: rows that are bits already, used where they lie.
- ``load``: a model file (``.gw``), also one that the ``gatewood`` command wrote.
- ``gatewood.datasets``: named data sets; ``gatewood.plots``: pictures.

>>> from gatewood import GatewoodClassifier
>>> from sklearn.datasets import load_iris
>>> X, y = load_iris(return_X_y=True)
>>> model = GatewoodClassifier(n_estimators=20).fit(X, y)
>>> bool(model.score(X, y) > 0.9)
True
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._core import __version__

if TYPE_CHECKING:
    from . import datasets, plots
    from ._files import load
    from ._grove import GatewoodClassifier
    from ._packed import PackedBits
    from ._regressor import GatewoodRegressor
    from ._tree import BooleanTreeClassifier
    from .plots import (
        plot_circuit,
        plot_importance,
        plot_learning_curve,
        plot_pixels,
        plot_predicted,
        plot_residuals,
    )

__all__ = [
    "BooleanTreeClassifier",
    "GatewoodClassifier",
    "GatewoodRegressor",
    "PackedBits",
    "__version__",
    "datasets",
    "load",
    "plot_circuit",
    "plot_importance",
    "plot_learning_curve",
    "plot_pixels",
    "plot_predicted",
    "plot_residuals",
    "plots",
]

# Imported when first asked for: scikit-learn takes longer to import than all the rest.
_HOMES = {
    "BooleanTreeClassifier": "._tree",
    "GatewoodClassifier": "._grove",
    "GatewoodRegressor": "._regressor",
    "PackedBits": "._packed",
    "datasets": ".datasets",
    "load": "._files",
    "plot_circuit": ".plots",
    "plot_importance": ".plots",
    "plot_learning_curve": ".plots",
    "plot_pixels": ".plots",
    "plot_predicted": ".plots",
    "plot_residuals": ".plots",
    "plots": ".plots",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'gatewood' has no attribute {name!r}")
    module = importlib.import_module(_HOMES[name], __name__)
    found = module if _HOMES[name] == f".{name}" else getattr(module, name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
