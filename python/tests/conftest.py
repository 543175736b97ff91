"""What the tests share."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture(scope="session")
def bits() -> tuple[np.ndarray, np.ndarray]:
    """Rows of 40 random bits; the label is the majority of three of them, sometimes wrong."""
    rng = np.random.default_rng(7)
    rows = rng.integers(0, 2, (600, 40)).astype(bool)
    labels = (rows[:, [3, 11, 29]].sum(axis=1) >= 2).astype(int)
    labels ^= rng.random(len(rows)) < 0.05
    return rows, labels


@pytest.fixture(scope="session")
def numbers() -> tuple[np.ndarray, np.ndarray]:
    """Three blobs of numbers."""
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 3, 300)
    return rng.normal(size=(300, 5)) + 2.0 * labels[:, None], labels
