"""Pictures of fitted models. They need matplotlib: ``pip install gatewood[plot]``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    from ._estimator import CircuitEstimator
    from ._grove import GatewoodClassifier
    from ._regressor import GatewoodRegressor

__all__ = [
    "plot_circuit",
    "plot_importance",
    "plot_learning_curve",
    "plot_pixels",
    "plot_predicted",
    "plot_residuals",
]


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("pictures need matplotlib: pip install matplotlib") from error
    return pyplot.subplots()[1]


def plot_learning_curve(model: GatewoodClassifier | GatewoodRegressor, *, loss: bool = False, ax: Any = None) -> Any:
    """What ``eval_metric`` names, else the error, of training and validation rows by round; or the loss. Returns the axes."""
    check_is_fitted(model)
    ax = _axes(ax)
    # Numbers are not right or wrong: they have a loss alone.
    asked = {"logloss": "loss", "auc": "auc"}.get(getattr(model, "eval_metric", None) or "", "error")
    what = "loss" if loss or model.model_.says_values else asked
    curve = model.learning_curve_
    for rows in ("train", "validation"):
        values = curve.get(f"{rows}_{what}")
        if values is not None:
            ax.plot(curve["round"], values, label=f"{rows} rows")
    if model.n_rounds_ < len(curve["round"]):
        ax.axvline(model.n_rounds_, color="grey", linestyle=":", label="kept up to here")
    ax.set(xlabel="round", ylabel=what, title=f"{what} by round of boosting")
    ax.legend()
    return ax


def plot_importance(model: CircuitEstimator, *, most: int = 20, ax: Any = None) -> Any:
    """What the most important columns are worth, as bars. Returns the axes."""
    check_is_fitted(model)
    ax = _axes(ax)
    worth = model.feature_importances_
    names = getattr(model, "feature_names_in_", None)
    best = np.argsort(worth, kind="stable")[::-1][:most][::-1]
    labels = [str(column) if names is None else str(names[column]) for column in best]
    ax.barh(labels, worth[best])
    ax.set(xlabel="share of the importance")
    return ax


def plot_pixels(model: CircuitEstimator, shape: tuple[int, int], *, ax: Any = None) -> Any:
    """What each pixel of images is worth, as an image of ``shape`` (height, width); colours are added up."""
    check_is_fitted(model)
    worth = model.feature_importances_
    if len(worth) % (shape[0] * shape[1]):
        raise ValueError(f"{len(worth)} columns are not images of {shape[0]} by {shape[1]} pixels")
    ax = _axes(ax)
    shown = ax.imshow(worth.reshape(-1, *shape).sum(axis=0), cmap="viridis")
    ax.figure.colorbar(shown, ax=ax, label="share of the importance")
    ax.set_title("what each pixel is worth")
    ax.set_axis_off()
    return ax


def plot_circuit(model: CircuitEstimator, tree: int = 0, *, most_leaves: int = 64, ax: Any = None) -> Any:
    """One tree: its leaves with what they read, its gates with their truth tables, its root on top.

    The first line of a table is what the gate says at the addresses 0, 1, 2, … in that order: bit *j* of an address is its
    input *j*, counted from the left. The root of a grove has votes in place of bits, of which the least and the largest are shown.
    """
    check_is_fitted(model)
    found = json.loads(model.model_.tree(tree))
    arities, leaves = found["arities"], found["leaves"]
    if len(leaves) > most_leaves:
        raise ValueError(f"the tree has {len(leaves)} leaves, too many to draw; most_leaves is {most_leaves}")
    ax = _axes(ax)
    names = model.model_.bit_names()
    places = list(range(len(leaves)))
    for place, leaf in zip(places, leaves):
        ax.text(place, -0.15, names[leaf], rotation=90, ha="center", va="top", fontsize=7)
    height = 0
    spots: list[float] = [float(place) for place in places]
    for level, arity in enumerate(arities):
        above = [sum(spots[start : start + arity]) / arity for start in range(0, len(spots), arity)]
        for gate, spot in enumerate(above):
            for child in spots[gate * arity : (gate + 1) * arity]:
                ax.plot([child, spot], [height, height + 1], color="grey", linewidth=0.8, zorder=1)
            tables = found["tables"][level] if level < len(found["tables"]) else None
            label = "votes" if tables is None else _table(tables[gate], arity)
            box = {"boxstyle": "round", "facecolor": "white", "edgecolor": "#8a9a5b"}
            ax.text(spot, height + 1, label, ha="center", va="center", fontsize=7, bbox=box, zorder=2)
        spots = above
        height += 1
    if "votes" in found:
        votes = [vote for address in found["votes"] for vote in address]
        ax.text(spots[0], height + 0.25, f"{min(votes):+d} to {max(votes):+d}", ha="center", fontsize=7)
    ax.set(xlim=(-1, len(leaves)), ylim=(-1.5, height + 0.5))
    ax.set_axis_off()
    return ax


def _table(written: str, arity: int) -> str:
    """A truth table from its hexadecimal number: a bit for each address, in lines of equal length."""
    bits = "".join(str(int(written, 16) >> address & 1) for address in range(2**arity))
    across = 2 ** ((arity + 1) // 2)
    return "\n".join(bits[start : start + across] for start in range(0, len(bits), across))


def plot_predicted(model: GatewoodRegressor, X: Any, y: Any, *, ax: Any = None) -> Any:
    """Predicted against true numbers; on the line they agree. Returns the axes."""
    check_is_fitted(model)
    ax = _axes(ax)
    truth, said = np.asarray(y, dtype=np.float64).ravel(), model.predict(X)
    ends = [min(truth.min(), said.min()), max(truth.max(), said.max())]
    ax.plot(ends, ends, color="grey", linestyle=":")
    ax.scatter(truth, said, s=6, alpha=0.4)
    ax.set(xlabel="true", ylabel="predicted")
    return ax


def plot_residuals(model: GatewoodRegressor, X: Any, y: Any, *, ax: Any = None) -> Any:
    """What predictions lack to the true numbers, by what was predicted. Returns the axes."""
    check_is_fitted(model)
    ax = _axes(ax)
    said = model.predict(X)
    ax.axhline(0.0, color="grey", linestyle=":")
    ax.scatter(said, np.asarray(y, dtype=np.float64).ravel() - said, s=6, alpha=0.4)
    ax.set(xlabel="predicted", ylabel="true - predicted")
    return ax
