"""Named data sets: made from a seed, embedded, or read from files that the command fetched."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._classes import classes_from_names
from ._core import Table, load_dataset

__all__ = ["Dataset", "load"]


@dataclass(frozen=True)
class Dataset:
    """A data set with its own split.

    ``X_train`` and ``X_test`` are arrays of truth values or pixels, or pandas data frames; ``train`` and ``test``
    are the same rows as native tables, which have the names that the command knows the columns by.
    """

    name: str
    X_train: Any
    y_train: NDArray[Any]
    X_test: Any
    y_test: NDArray[Any] | None
    train: Table
    test: Table | None
    encode: dict[str, Any]
    image: tuple[int, int, int] | None
    source: str
    licence: str


def load(name: str, *, data_dir: str | os.PathLike[str] | None = None, **options: object) -> Dataset:
    """Loads a named set, such as ``load("cubes", noise=0.1)`` or ``load("mnist35")``.

    Options are those of the command (``gatewood data list``). Files are looked for in ``data_dir``,
    ``$GATEWOOD_DATA`` and the user's cache folder.

    >>> from gatewood.datasets import load
    >>> cubes = load("cubes", noise=0.1, train=100, test=50)
    >>> cubes.X_train.shape, cubes.X_train.dtype, sorted(set(cubes.y_train.tolist()))
    ((100, 1024), dtype('bool'), ['one', 'two'])
    """
    pairs = [(key, _text(value)) for key, value in options.items()]
    found = load_dataset(name, pairs, None if data_dir is None else Path(data_dir))
    classes = classes_from_names(found["classes"])
    train, train_codes = found["train"]
    test, test_codes = found["test"] or (None, None)
    return Dataset(
        name=found["name"],
        X_train=_plain(train),
        y_train=classes[train_codes],
        X_test=None if test is None else _plain(test),
        y_test=None if test is None else classes[test_codes],
        train=train,
        test=test,
        encode=json.loads(found["encode"]),
        image=found["image"],
        source=found["source"],
        licence=found["licence"],
    )


def _text(value: object) -> str:
    if isinstance(value, (tuple, list)):
        return "-".join(_text(part) for part in value)
    return str(value)


def _plain(table: Table) -> Any:
    """An array where the columns are alike, else a data frame."""
    array = table.to_array()
    if array is not None:
        return array
    import pandas as pd

    columns: dict[str, Any] = {}
    names = table.names or [f"column_{column + 1}" for column in range(table.shape[1])]
    for column, (name, kind) in enumerate(zip(names, table.kinds())):
        values, texts = table.column(column)
        if texts is not None:
            columns[name] = pd.Categorical.from_codes(values, categories=pd.Index(texts).unique()) if len(
                set(texts)
            ) == len(texts) else np.array([None if code < 0 else texts[code] for code in values], dtype=object)
        elif kind == "date":
            columns[name] = pd.to_datetime(values, unit="s")
        else:
            columns[name] = values
    return pd.DataFrame(columns)
