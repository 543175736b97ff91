"""Rows that are bits already."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


class PackedBits:
    """Bits packed by column, handed to the library as they lie, without a copy.

    Row ``i`` of a column is bit ``i % 64`` of word ``i // 64``, as in Arrow's booleans and
    ``numpy.packbits(..., bitorder="little")``. Bits past the last row must be zero.

    Parameters
    ----------
    words : array of uint64, shape (columns, words of a column)
        In C order. It is held, not copied.
    rows : int
        Number of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from gatewood import PackedBits
    >>> bits = PackedBits.pack(np.eye(3, dtype=bool))
    >>> bits.shape, bits.words.tolist()
    ((3, 3), [[1], [2], [4]])
    """

    def __init__(self, words: NDArray[np.uint64], rows: int) -> None:
        array = np.asarray(words)
        if array.dtype != np.uint64 or array.ndim != 2 or not array.flags.c_contiguous:
            raise ValueError("packed bits are a two-dimensional array of uint64 in C order")
        if not 0 <= rows <= 64 * array.shape[1]:
            raise ValueError(f"{rows} rows do not fit in {array.shape[1]} words a column")
        self.words = array
        self.rows = int(rows)

    @classmethod
    def pack(cls, bits: ArrayLike) -> PackedBits:
        """Packs an array of truth values, one row a row."""
        array = np.asarray(bits)
        if array.ndim != 2:
            raise ValueError("the bits to pack have two dimensions: rows and columns")
        rows, columns = array.shape
        packed = np.packbits(array.astype(bool, copy=False).T, axis=1, bitorder="little")
        words = np.zeros((columns, -(-rows // 64) * 8), dtype=np.uint8)
        words[:, : packed.shape[1]] = packed
        return cls(words.view("<u8").astype(np.uint64, copy=False), rows)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self.rows, self.words.shape[0]

    def unpack(self) -> NDArray[np.bool_]:
        """The bits as an array of truth values, one row a row."""
        octets = self.words.astype("<u8", copy=False).view(np.uint8)
        bits = np.unpackbits(octets, axis=1, count=self.rows, bitorder="little")
        return np.ascontiguousarray(bits.T).astype(bool)

    def __len__(self) -> int:
        return self.rows

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("packed bits cannot become an array without a copy")
        return self.unpack() if dtype is None else self.unpack().astype(dtype)

    def __repr__(self) -> str:
        return f"PackedBits(rows={self.rows}, columns={self.words.shape[0]})"
