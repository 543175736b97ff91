"""Model files."""

from __future__ import annotations

import json
import os
from pathlib import Path

from . import _core
from ._grove import GatewoodClassifier
from ._regressor import GatewoodRegressor
from ._tree import BooleanTreeClassifier


def load(path: str | os.PathLike[str]) -> GatewoodClassifier | GatewoodRegressor | BooleanTreeClassifier:
    """Reads a model file, also one that the ``gatewood`` command wrote, as the classifier or regressor that it is."""
    model = _core.Model.load(Path(path))
    if json.loads(model.summary())["model"] == "tree":
        return BooleanTreeClassifier._of(model)
    if model.says_values:
        return GatewoodRegressor._of(model)
    return GatewoodClassifier._of(model)
