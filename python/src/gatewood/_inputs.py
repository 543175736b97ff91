"""What users hold, as native tables: a step per column at the most, never one per row."""

from __future__ import annotations

import math
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._core import Table
from ._packed import PackedBits

# How many colours an array of four dimensions may have.
COLOURS = range(1, 5)

Rows = Any  # A native table, images as an array of uint8, or packed words with the number of rows.
PART = 64 << 20  # Bytes of an array that are copied at a time for predicting.
_Column = tuple[str, NDArray[Any], "list[str] | None"]


def library_of(X: object) -> str:
    """The library that a data frame comes from: ``pandas``, ``polars`` or ``pyarrow``; else nothing."""
    name = type(X).__module__.partition(".")[0]
    is_frame = hasattr(X, "columns") or hasattr(X, "column_names")
    return name if is_frame and name in _READERS else ""


def is_native(X: object) -> bool:
    """Whether the rows need no reading."""
    return isinstance(X, (PackedBits, Table))


def read_native(X: Any) -> Rows:
    """Packed bits or a native table."""
    return (X.words, X.rows) if isinstance(X, PackedBits) else X


def read_frame(X: Any, named: bool = True) -> Table:
    """A data frame; its columns by position where they are not to have names."""
    library = library_of(X)
    names = list(X.column_names if library == "pyarrow" else X.columns)
    if named and all(isinstance(name, str) for name in names):
        return Table.from_columns(_READERS[library](X), names)
    return Table.from_columns(_READERS[library](X), None)


def unmasked(X: Any) -> Any:
    """An array whose masked numbers are missing ones; anything else as it is."""
    if not isinstance(X, np.ma.MaskedArray) or X.dtype.kind not in "biuf":
        return X
    return np.ma.getdata(X) if X.mask is np.ma.nomask else np.ma.filled(X.astype(np.float64), np.nan)


def plain_labels(y: Any) -> Any:
    """Labels of a nullable type of pandas as those of NumPy, if none is missing: integers stay integers."""
    plain = getattr(getattr(y, "dtype", None), "numpy_dtype", None)
    return y if plain is None or y.isna().any() else y.to_numpy(dtype=plain)


def count(rows: Rows) -> int:
    """How many rows there are."""
    return int(rows[1] if isinstance(rows, tuple) else rows.shape[0])


def image_shape(X: Any) -> tuple[int, int, int] | None:
    """Height, width and colours of images in an array of three or four dimensions, none of anything else."""
    if type(X) is not np.ndarray or X.ndim not in (3, 4) or X.dtype.kind not in "biuf":
        return None
    if X.ndim == 3:
        return X.shape[1], X.shape[2], 1
    if X.shape[3] in COLOURS:
        return X.shape[1], X.shape[2], X.shape[3]
    if X.shape[1] in COLOURS:
        return X.shape[2], X.shape[3], X.shape[1]
    raise ValueError(
        f"X has the shape {X.shape}, which are no images: those are (rows, height, width), (rows, height, width, colours) or "
        "(rows, colours, height, width), with 1 to 4 colours"
    )


def _planes(X: NDArray[Any]) -> NDArray[Any]:
    """Images of three or four dimensions as rows of pixels, one plane of colour after the other."""
    shape = image_shape(X)
    if X.ndim == 4 and shape == X.shape[1:]:
        X = X.transpose(0, 3, 1, 2)
    return X.reshape(len(X), math.prod(X.shape[1:]))


def images(X: Any) -> Any:
    """Images of any type and number of dimensions as rows of ``uint8``, or a sentence that says how to make them so."""
    if image_shape(X):
        X = _planes(X)
    if type(X) is not np.ndarray or X.dtype == np.uint8 or X.dtype.kind not in "iuf" or X.ndim != 2 or X.size == 0:
        return X
    low, high = X.min(), X.max()
    if low >= 0 and high <= 255 and (X.dtype.kind in "iu" or np.array_equal(X, np.rint(X))):
        # Black and white as 0 and 1 would all be black among 256 levels.
        if high > 1:
            return X.astype(np.uint8)
    if low >= 0 and high <= 1:
        advice = "(255 * X).round().astype(numpy.uint8)"
    else:
        advice = "((X - X.min()) * 255 / (X.max() - X.min())).round().astype(numpy.uint8)"
    raise ValueError(
        f"X holds images, whose pixels are whole numbers from 0 to 255, but X holds {X.dtype} from "
        f"{low} to {high}: turn it into bytes first, as in {advice}, the same way for all rows; or give rows of two "
        "dimensions, and leave pixel_bits, pixel_code and image out of encode, to learn from the numbers as they are"
    )


def read_array(X: NDArray[Any], pixels: bool) -> Rows:
    """A two-dimensional array of any type; images stay where they are."""
    if pixels and X.dtype == np.uint8:
        return np.ascontiguousarray(X)
    X = aligned(X)
    if X.dtype.kind in "biu" or X.dtype in (np.float32, np.float64):
        return Table.from_array(X, None)
    if X.dtype.kind == "f":
        return Table.from_array(X.astype(np.float32 if X.dtype.itemsize == 2 else np.float64), None)
    if X.dtype.kind == "O":
        try:
            return Table.from_array(X.astype(np.float64), None)
        except (TypeError, ValueError):
            pass
    columns = [_from_array(X[:, column]) for column in range(X.shape[1])]
    return Table.from_columns(columns, None)


def aligned(X: NDArray[Any]) -> NDArray[Any]:
    """An array whose numbers lie as the machine reads them: some that came over a network do not."""
    if not X.dtype.isnative and X.dtype.kind in "iuf":
        return X.astype(X.dtype.newbyteorder("="))
    # An array without numbers counts as aligned wherever it is.
    return X if X.flags.aligned and X.size else X.copy()


def parts(X: Any, pixels: bool) -> list[Any]:
    """A large array of numbers in parts: what is read of one lies where that of the one before lay."""
    if type(X) is not np.ndarray or X.ndim != 2 or X.dtype.kind not in "biuf" or X.nbytes <= PART:
        return [X]
    if pixels and X.dtype == np.uint8 and X.flags.c_contiguous:
        return [X]
    step = max(1024, PART * len(X) // X.nbytes)
    return [X[start : start + step] for start in range(0, len(X), step)]


def read_sparse(X: Any) -> Table:
    """A sparse matrix of SciPy."""
    by_column = X.tocsc(copy=True)
    by_column.sum_duplicates()
    return Table.from_sparse_columns(
        X.shape[0],
        by_column.indptr.astype(np.int64),
        by_column.indices.astype(np.int64),
        by_column.data.astype(np.float64),
    )


def _seconds(values: NDArray[Any]) -> NDArray[np.float64]:
    """Moments or spans in seconds, NaN where there is none."""
    unit = np.datetime64 if values.dtype.kind == "M" else np.timedelta64
    fine = values.astype(np.dtype(f"{unit.__name__}[us]"))
    return np.where(np.isnat(fine), np.nan, fine.astype(np.int64) / 1e6)


def _from_array(values: NDArray[Any]) -> _Column:
    if values.dtype.kind == "M":
        return "date", _seconds(values), None
    if values.dtype.kind == "m":
        return "number", _seconds(values), None
    if values.dtype.kind in "US":
        texts, codes = np.unique(values.astype(str), return_inverse=True)
        return "text", codes.astype(np.int64), texts.tolist()
    if values.dtype.kind == "O":
        first = next((value for value in values if value is not None), None)
        if isinstance(first, date):
            try:
                return "date", _seconds(values.astype("M8[us]")), None
            except (TypeError, ValueError):
                pass  # Not all are dates: the reader of objects says which is not.
        return "object", np.ascontiguousarray(values), None
    return "number", aligned(values), None


def _unreadable(name: str, kind: object) -> TypeError:
    return TypeError(f"column {name!r} holds {kind}, which is neither numbers nor dates nor texts")


def _from_pandas(X: Any) -> list[_Column]:
    import pandas as pd

    def read(series: Any) -> _Column:
        dtype = series.dtype
        if isinstance(dtype, pd.CategoricalDtype):
            texts = [str(category) for category in series.cat.categories]
            return "text", series.cat.codes.to_numpy(dtype=np.int64), texts
        if pd.api.types.is_datetime64_any_dtype(dtype):
            return "date", _seconds(series.to_numpy(dtype="datetime64[us]", na_value=np.datetime64("NaT"))), None
        if isinstance(dtype, np.dtype):
            return _from_array(series.to_numpy())
        if pd.api.types.is_string_dtype(dtype):
            codes, texts = pd.factorize(series)
            return "text", codes.astype(np.int64), [str(text) for text in texts]
        if pd.api.types.is_numeric_dtype(dtype) or pd.api.types.is_bool_dtype(dtype):
            return "number", series.to_numpy(dtype=np.float64, na_value=np.nan), None
        return "object", np.ascontiguousarray(series.to_numpy(dtype=object)), None

    return [read(X.iloc[:, column]) for column in range(X.shape[1])]


def _from_polars(X: Any) -> list[_Column]:
    import polars as pl

    def read(series: Any) -> _Column:
        dtype = series.dtype
        if dtype.is_numeric() or dtype == pl.Boolean:
            if series.null_count() == 0 and dtype != pl.Boolean and not dtype.is_decimal():
                return "number", series.to_numpy(), None
            return "number", series.cast(pl.Float64).fill_null(float("nan")).to_numpy(), None
        if dtype.is_temporal() and dtype != pl.Duration and dtype != pl.Time:
            moments = series.cast(pl.Datetime("us")).cast(pl.Int64).cast(pl.Float64) / 1e6
            return "date", moments.fill_null(float("nan")).to_numpy(), None
        if dtype == pl.Duration:
            spans = series.cast(pl.Duration("us")).cast(pl.Int64).cast(pl.Float64) / 1e6
            return "number", spans.fill_null(float("nan")).to_numpy(), None
        try:
            texts = series.cast(pl.String)
        except pl.exceptions.PolarsError as error:
            raise _unreadable(series.name, dtype) from error
        codes = texts.rank("dense").cast(pl.Int64).fill_null(0).to_numpy() - 1
        return "text", codes, texts.drop_nulls().unique().sort().to_list()

    return [read(series) for series in X.get_columns()]


def _from_pyarrow(X: Any) -> list[_Column]:
    import pyarrow as pa

    def read(name: str, chunks: Any) -> _Column:
        kind = chunks.type
        numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
        if numeric or pa.types.is_decimal(kind) or pa.types.is_null(kind):
            if chunks.null_count == 0 and (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
                return "number", chunks.to_numpy(), None
            return "number", chunks.cast(pa.float64()).to_numpy(), None
        if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
            moments = chunks.cast(pa.timestamp("us", getattr(kind, "tz", None)), safe=False).to_numpy()
            return "date", _seconds(moments), None
        if not pa.types.is_dictionary(kind):
            try:
                chunks = chunks.cast(pa.string()).dictionary_encode()
            except pa.ArrowException as error:
                raise _unreadable(name, kind) from error
        # One dictionary for all chunks.
        coded = chunks.unify_dictionaries().combine_chunks()
        if isinstance(coded, pa.ChunkedArray):
            if coded.num_chunks == 0:
                return "text", np.zeros(0, dtype=np.int64), []
            coded = coded.chunk(0)
        codes = coded.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
        return "text", codes, [str(text) for text in coded.dictionary.to_pylist()]

    return [read(name, chunks) for name, chunks in zip(X.column_names, X.columns)]


_READERS = {"pandas": _from_pandas, "polars": _from_polars, "pyarrow": _from_pyarrow}
