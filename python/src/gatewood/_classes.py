"""Class labels of Python, and their names in a model file."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def class_names(classes: NDArray[Any]) -> list[str]:
    """The names that a model file has for the classes: as a CSV file would spell them."""
    return [_name(value) for value in classes.tolist()]


def _name(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def classes_from_names(names: list[str]) -> NDArray[Any]:
    """The labels that the names in a model file stand for: integers, numbers, truth values or texts."""
    if names == ["False", "True"]:
        return np.array([False, True])
    for kind in (int, float):
        try:
            values = [kind(name) for name in names]
        except ValueError:
            continue
        if [_name(value) for value in values] == names:
            return np.array(values)
    return np.array(names)
