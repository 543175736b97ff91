"""What all estimators share: reading rows, training, predicting, files."""

from __future__ import annotations

import json
import math
import os
from numbers import Integral
from pathlib import Path
from typing import Any, Callable, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    _check_y,
    check_is_fitted,
    validate_data,
)

from . import _core, _inputs
from ._classes import class_names, classes_from_names
from ._explain import Explaining
from ._html import model_card
from ._progress import Progress
from ._words import in_python, warn

Self = TypeVar("Self", bound="CircuitEstimator")
Classifier = TypeVar("Classifier", bound="CircuitClassifier")

# Rows of an array that are predicted one by one, without a table.
FEW = 8

# Parameters that are not settings of the library.
_OWN = {"encode", "random_state", "n_jobs", "device", "verbose", "class_weight", "client"}

# Settings of the library that scikit-learn has another word for.
_PARAMETERS = {"rounds": "n_estimators"}


class CircuitEstimator(BaseEstimator):  # type: ignore[misc]
    """A model that is a circuit. Parameters left at ``None`` have the library's default."""

    _kind: ClassVar[str]

    encode: dict[str, Any] | None
    random_state: Any
    n_jobs: int | None
    verbose: int
    n_features_in_: int
    columns_left_out_: dict[str, str]
    _file_names_columns: bool
    image_shape_: tuple[int, int, int]
    model_: _core.Model

    def __init__(self, encode: dict[str, Any] | None, random_state: Any, n_jobs: int | None, verbose: int) -> None:
        self.encode = encode
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    # Reading rows

    def _read(self, X: Any, *, fitting: bool) -> Any:
        """Rows of any kind as native ones; remembers or checks their columns as scikit-learn does."""
        if _inputs.is_native(X):
            return self._read_native(X, fitting)
        if hasattr(X, "collect_schema") and not hasattr(X, "shape"):
            raise TypeError("X is a lazy frame, which holds no rows yet: call its collect() first")
        if fitting:
            self.__dict__.pop("_file_names_columns", None)
        if _inputs.library_of(X):
            if not fitting and self.__dict__.get("_file_names_columns"):
                # The file knows the names of the columns that it reads, in whatever order they come.
                return _inputs.read_frame(X)
            validate_data(self, X, reset=fitting, skip_check_array=True)
            for count, what in zip(X.shape, ("sample", "feature")):
                if count == 0:
                    raise ValueError(
                        f"Found array with 0 {what}(s) (shape={X.shape}) while a minimum of 1 is required."
                    )
            # As scikit-learn has it: by position, where training knew no names.
            return _inputs.read_frame(X, named=fitting or hasattr(self, "feature_names_in_"))
        X = _inputs.unmasked(X)
        if fitting:
            self._look_at_images(X)
        if self._has_pixels():
            X = _inputs.images(X)
        X = validate_data(
            self,
            X,
            reset=fitting,
            dtype=None,
            accept_sparse=("csc", "csr", "coo"),
            # Missing numbers are welcome, and infinite ones lie beyond every threshold, as in data frames.
            ensure_all_finite=False,
        )
        if hasattr(X, "tocsc"):
            return _inputs.read_sparse(X)
        return _inputs.read_array(X, self._has_pixels())

    def _look_at_images(self, X: Any) -> None:
        """Remembers how large images of three or four dimensions are."""
        self.__dict__.pop("image_shape_", None)
        shape = _inputs.image_shape(X)
        if shape is None:
            return
        height, width, channels = shape
        said = (self.encode or {}).get("image")
        found = {"width": width, "height": height, "channels": channels}
        if said is not None and {"channels": 1, **said} != found:
            raise ValueError(f"encode says that images are {said}, but X has the shape {X.shape}")
        self.image_shape_ = shape

    def _has_pixels(self) -> bool:
        """Whether arrays of ``uint8`` are images."""
        if hasattr(self, "image_shape_"):
            return True
        return self.encode is not None and not {"pixel_bits", "pixel_code", "image"}.isdisjoint(self.encode)

    def _read_native(self, X: Any, fitting: bool) -> Any:
        rows, columns = X.shape
        if fitting:
            self.n_features_in_ = columns
            names = getattr(X, "names", None)
            if names is not None:
                self.feature_names_in_ = np.array(names, dtype=object)
            elif hasattr(self, "feature_names_in_"):
                del self.feature_names_in_
        elif columns != self.n_features_in_:
            raise ValueError(
                f"X has {columns} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input"
            )
        return _inputs.read_native(X)

    # Training

    def _settings(self) -> dict[str, Any]:
        """The settings that were chosen; the library knows the others."""
        chosen = {name: value for name, value in self.get_params(deep=False).items() if name not in _OWN}
        chosen = {name: value for name, value in chosen.items() if value is not None}
        for name, value in chosen.items():
            if isinstance(value, float) and not math.isfinite(value):
                raise ValueError(f"{name} is {value}, which is no number to set it to")
        if self.encode is not None:
            chosen["encode"] = self.encode
        if hasattr(self, "image_shape_"):
            height, width, channels = self.image_shape_
            image = {"width": width, "height": height, "channels": channels}
            chosen["encode"] = {**(self.encode or {}), "image": image}
        if isinstance(self.random_state, (int, np.integer)):
            chosen["seed"] = int(self.random_state)
        elif self.random_state is not None:
            chosen["seed"] = int(check_random_state(self.random_state).randint(2**31))
        return chosen

    def _threads(self) -> int | None:
        """Threads as the library counts them: 0 for one a core."""
        if self.n_jobs is None:
            return None
        if not isinstance(self.n_jobs, Integral):
            raise TypeError(f"n_jobs is a whole number or None, not {self.n_jobs!r}")
        if self.n_jobs == 0:
            raise ValueError("n_jobs == 0 has no meaning")
        if self.n_jobs == -1:
            return 0
        return self.n_jobs if self.n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + self.n_jobs)

    def _check_rows(self, rows: Any, y: NDArray[Any]) -> None:
        count = _inputs.count(rows)
        if len(y) != count:
            raise ValueError(f"Found input variables with inconsistent numbers of samples: [{count}, {len(y)}]")

    @staticmethod
    def _weights(sample_weight: Any, count: int) -> NDArray[np.float64] | None:
        if sample_weight is None:
            return None
        weights = _check_sample_weight(sample_weight, np.empty((count, 1)), dtype=np.float64)
        return np.ascontiguousarray(weights)

    def _remember(self, report: dict[str, Any], continues: bool) -> None:
        self.training_report_ = report
        left_out = report.get("columns_left_out") or []
        self.columns_left_out_ = {column["name"]: in_python(column["reason"]) for column in left_out}
        for note in report.get("notes") or []:
            warn(note)

    # Predicting

    def _each(
        self, X: Any, ask: Callable[[Any, int], Any], ask_few: Callable[[Any], Any] | None = None
    ) -> NDArray[Any]:
        """What the model answers for rows of any kind; large arrays go to it part by part, so that little is copied."""
        if ask_few is not None and self._are_few(X):
            pixels = self._has_pixels()
            if not pixels or X.dtype.char in "?B":
                few = ask_few(X if X.dtype.char == "?" or pixels else X.astype(np.float64, copy=False))
                if few is not None:
                    return few  # type: ignore[no-any-return]
        threads = self._threads() or 0
        answers = [ask(self._read(part, fitting=False), threads) for part in _inputs.parts(X, self._has_pixels())]
        found: NDArray[Any] = answers[0] if len(answers) == 1 else np.concatenate(answers)
        return found

    def _are_few(self, X: Any) -> bool:
        """Whether rows need no check and no table: a few rows of an array of numbers with the columns of training."""
        return (
            type(X) is np.ndarray
            and X.ndim == 2
            and 0 < X.shape[0] <= FEW
            and X.dtype.char in "?bBhHiIlLqQfd"
            and X.shape[1] == self.n_features_in_
            # scikit-learn warns of rows without names where those of training had some.
            and not hasattr(self, "feature_names_in_")
        )

    def _check_fitted(self) -> None:
        # scikit-learn's own check takes longer than predicting a row.
        if "model_" not in self.__dict__:
            check_is_fitted(self)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """What each column is worth to the circuit; they add up to one."""
        check_is_fitted(self)
        return self.model_.importance()

    @property
    def settings_(self) -> dict[str, Any]:
        """The settings that training used, with nothing left open where the model file keeps them so."""
        settings: dict[str, Any] = self.summary()["settings"] or {}
        resolved: dict[str, Any] = settings.get("resolved") or settings
        return resolved

    def summary(self) -> dict[str, Any]:
        """What there is to tell of the fitted model: gates, depth, bits, settings, bytes of its file."""
        check_is_fitted(self)
        found: dict[str, Any] = json.loads(self.model_.summary())
        return found

    # Files

    def save(self, path: str | os.PathLike[str], *, data: str | None = None) -> None:
        """Writes the model file, the same that the ``gatewood`` command writes.

        ``data`` is the name of the data that the file is to tell of.
        """
        check_is_fitted(self)
        model = self.model_ if data is None else self.model_.with_data(data)
        model.save(Path(path))

    @classmethod
    def load(cls: type[Self], path: str | os.PathLike[str]) -> Self:
        """Reads a model file, also one that the ``gatewood`` command wrote."""
        return cls._of(_core.Model.load(Path(path)))

    @classmethod
    def _of(cls: type[Self], model: _core.Model) -> Self:
        summary = json.loads(model.summary())
        if summary["model"] != cls._kind:
            raise ValueError(f"the file holds a {summary['model']}, not a {cls._kind}: use gatewood.load")
        cls._check_kind(model)
        settings = summary["settings"] or {}
        settings = {_PARAMETERS.get(name, name): value for name, value in settings.items()}
        # Of the encoder's settings, those that were chosen: one for pixels would say that rows are images.
        usual = json.loads(_core.default_settings(cls._kind))["encode"]
        chosen = {name: value for name, value in (settings.get("encode") or {}).items() if usual.get(name) != value}
        settings["encode"] = chosen or None
        known = cls._get_param_names()
        estimator = cls(**{name: settings[name] for name in known if settings.get(name) is not None})
        if "seed" in settings:
            estimator.random_state = settings["seed"]
        estimator.model_ = model
        estimator.n_features_in_ = model.width
        estimator._file_names_columns = any(name != f"column_{place + 1}" for name, place, _ in summary["inputs"])
        estimator._recall(summary)
        return estimator

    @classmethod
    def _check_kind(cls, model: _core.Model) -> None:
        """Refuses a model that says something else."""

    def _recall(self, summary: dict[str, Any]) -> None:
        """Takes over what a file knows besides the model."""

    def export(
        self,
        format: str = "verilog",
        path: str | os.PathLike[str] | None = None,
        *,
        name: str | None = None,
        encoder: bool | None = None,
        fraction: int | None = None,
        pipeline: int | None = None,
        clock: str | None = None,
        handshake: bool | None = None,
        cells: bool | str | None = None,
        one_hot: bool | None = None,
        margins: bool | None = None,
        all_inputs: bool | None = None,
        bus: bool | None = None,
        simplify: bool | None = None,
    ) -> bytes:
        """The circuit in a format of other tools, and in a file if ``path`` is given.

        Parameters
        ----------
        format : str
            ``verilog``, ``vhdl``, ``blif``, ``aiger``, ``aiger-ascii``, ``c``, ``rust``, ``dot``, ``svg`` or ``json``.
        path : path, optional
            Where to write it.
        name : str
            The name of the module, entity or prefix of functions.
        encoder : bool
            Whether raw columns are read, and compared inside, in place of the encoder's bits; C and Rust get functions
            that take raw numbers and texts.
        fraction : int
            Bits behind the point of the numbers that a circuit with its encoder reads; by default as many for each
            column as its thresholds ask for.
        pipeline : int
            Register stages of Verilog and VHDL.
        clock : str
            The clock that a pipeline of cells is to keep up with, as in ``"250MHz"``, in place of ``pipeline``.
        handshake : bool
            Whether a pipeline has ``enable``, ``reset``, and ``valid`` beside each row.
        cells : bool or str
            Whether the LUTs of Verilog and VHDL are cells that synthesis leaves as they are: ``"xilinx"`` (or true:
            ``LUT1`` to ``LUT6`` of AMD's devices), ``"ice40"`` (``SB_LUT4``), ``"ecp5"`` (``LUT4`` of Lattice's) or
            ``"gowin"`` (``LUT1`` to ``LUT4``).
        one_hot, margins : bool
            Whether a grove shows one output a class, and its margins; C and Rust have a function for margins always.
        all_inputs : bool
            Whether bits that the circuit never reads are inputs, too; they are one bus then.
        bus : bool
            Whether Verilog and VHDL have one bus of inputs and one of outputs in place of ports named after columns.
        simplify : bool
            Whether the circuit is made smaller first.
        """
        check_is_fitted(self)
        settings = {
            "name": name,
            "encoder": encoder,
            "fraction": fraction,
            "pipeline": pipeline,
            "clock": clock,
            "handshake": handshake,
            "cells": cells,
            "one_hot": one_hot,
            "margins": margins,
            "all_inputs": all_inputs,
            "bus": bus,
            "simplify": simplify,
        }
        written = _core.export(self.model_, format, settings)
        if path is not None:
            Path(path).write_bytes(written)
        return written

    def export_project(
        self,
        path: str | os.PathLike[str],
        format: str = "verilog",
        *,
        X: Any = None,
        rows: int | None = None,
        word_bits: int | None = None,
        name: str | None = None,
        encoder: bool | None = None,
        fraction: int | None = None,
        pipeline: int | None = None,
        clock: str | None = None,
        cells: str | None = None,
        one_hot: bool | None = None,
        margins: bool | None = None,
    ) -> list[str]:
        """Writes a whole design of Verilog or VHDL to a folder and returns the names of its files.

        The circuit stands behind a stream, with a test bench, scripts for synthesis and routing, constraints and a README.

        Parameters
        ----------
        path : path
            The folder, which is made where it is not there.
        format : str
            ``verilog`` or ``vhdl``.
        X : array or table, optional
            Rows for the test bench; random ones without it.
        rows : int
            Rows of the test bench.
        word_bits : int
            Bits of the words that rows come in: 8, 16, 32 or 64.
        name, encoder, fraction, pipeline, clock, cells, one_hot, margins
            As for ``export``; ``cells`` is ``"ecp5"`` and ``clock`` ``"100MHz"`` where nothing is said.
        """
        check_is_fitted(self)
        settings = {
            "name": name,
            "encoder": encoder,
            "fraction": fraction,
            "pipeline": pipeline,
            "clock": clock,
            "handshake": None,
            "cells": cells,
            "one_hot": one_hot,
            "margins": margins,
            "all_inputs": None,
            "bus": None,
            "simplify": None,
        }
        given = None if X is None else self._read(X, fitting=False)
        files = _core.export_project(self.model_, format, settings, given, word_bits=word_bits, most=rows)
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in files:
            (folder / file).write_text(text, encoding="utf-8")
        return [file for file, _ in files]

    def to_verilog(self, **options: Any) -> str:
        """The circuit as Verilog; options as for ``export``."""
        return self.export("verilog", **options).decode()

    def to_c(self, **options: Any) -> str:
        """The circuit as C; options as for ``export``."""
        return self.export("c", **options).decode()

    def verify(
        self, file: str | bytes | os.PathLike[str], format: str | None = None, *, fraction: int | None = None
    ) -> bool:
        """Says whether an exported file computes what the model computes: returns ``True`` if it does.

        ``file`` is a path, or with ``format`` the content itself as ``bytes``. BLIF, AIGER and the Verilog of
        ``export`` are proven equal for all rows. Files of C and Rust are compiled and tested on random rows, which is no
        proof. Raises ``ValueError`` with a row for which they differ, and ``RuntimeError`` when neither such a row nor a
        proof is found in reasonable time.
        """
        check_is_fitted(self)
        if isinstance(file, bytes):
            content = file
        else:
            content = Path(file).read_bytes()
            format = format or _core.format_of(Path(file).suffix[1:])
        if format is None:
            raise ValueError("the format cannot be told from the name: give it as format=")
        if format in ("c", "rust") and not isinstance(file, bytes):
            difference = _core.test_code(self.model_, file, format)
            if difference is not None:
                raise ValueError(f"the file differs from the model: {difference}")
            return True
        differs = _core.verify(self.model_, content, format, fraction=fraction)
        if differs is not None:
            ones = ", ".join(name for name, value in differs if value) or "nothing"
            raise ValueError(f"the file differs from the model for the row where just this is so: {ones}")
        return True

    # Looks

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if self.__sklearn_is_fitted__():
            bundle["text/html"] = self._repr_html_()
        return bundle

    def _repr_html_(self) -> str:
        if not self.__sklearn_is_fitted__():
            from sklearn.utils import estimator_html_repr

            return str(estimator_html_repr(self))
        return model_card(type(self).__name__, self.summary())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        return tags


class CircuitClassifier(Explaining, ClassifierMixin, CircuitEstimator):  # type: ignore[misc]
    """A classifier that is a circuit."""

    classes_: NDArray[Any]

    def _read_labels(self, y: Any) -> NDArray[Any]:
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y is None."
            )
        y = _check_y(_inputs.plain_labels(y), estimator=self)
        if y.dtype.kind in "Mm":
            raise ValueError("the labels in y are dates or times: those are a quantity, and no classes")
        if y.dtype.kind == "O":
            gaps = [row for row, label in enumerate(y) if label is None]
            if gaps:
                raise ValueError(f"y has no label in row {gaps[0]}" + (f" and {len(gaps) - 1} more" if gaps[1:] else ""))
            try:
                sorted(set(y.tolist()))
            except TypeError as error:
                kinds = sorted({type(label).__name__ for label in y})
                raise TypeError(f"the labels in y are of kinds that have no order among them: {kinds}") from error
        check_classification_targets(y)
        return y  # type: ignore[no-any-return]

    def _read_validation(self, eval_set: Any, classes: NDArray[Any]) -> list[Any]:
        """Validation rows and the positions of their labels, set by set."""
        sets = eval_set if isinstance(eval_set, list) else [eval_set]
        if not sets or any(not isinstance(held, tuple) or len(held) != 2 for held in sets):
            raise ValueError("eval_set must be pairs of rows and labels: (X, y) or [(X, y), …]")
        return [(self._read(X, fitting=False), self._codes(self._read_labels(y), classes)) for X, y in sets]

    @staticmethod
    def _codes(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.uint32]:
        """The position of each label among the classes."""
        codes = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
        known = classes[codes] == y
        if not known.all():
            raise ValueError(f"y has labels that are not among the classes: {np.unique(y[~known])[:10].tolist()}")
        return codes.astype(np.uint32)

    def _train(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        eval_set: Any,
        start: _core.Model | None,
        classes: NDArray[Any] | None,
        callbacks: Any = None,
    ) -> None:
        label = getattr(y, "name", None)
        rows = self._read(X, fitting=start is None)
        y = self._read_labels(y)
        self._check_rows(rows, y)
        if classes is None:
            classes = np.unique(y)
        self._check_classes(y, classes)
        weights = self._weights(sample_weight, len(y))
        sets = [] if eval_set is None else self._read_validation(eval_set, classes)
        settings = self._settings() | self._class_settings(y, classes)
        progress = Progress(self.verbose, callbacks or []) if self.verbose or callbacks else None
        self.model_, report = _core.train(
            self._kind,
            json.dumps(settings, default=_plain),
            rows,
            self._codes(y, classes),
            class_names(classes),
            threads=self._threads(),
            device=getattr(self, "device", "cpu"),
            weights=weights,
            validation=sets[-1] if sets else None,
            start=start,
            label=label if isinstance(label, str) else None,
            progress=progress,
        )
        if progress is not None:
            progress.finish()
        self.classes_ = classes
        self._remember(json.loads(report), start is not None)
        if sets:
            self._remember_evaluations(sets, classes)

    def _check_classes(self, y: NDArray[Any], classes: NDArray[Any]) -> None:
        if len(classes) < 2:
            raise ValueError(
                f"Classifier can't train when only one class is present: all {len(y)} labels are {classes.tolist()}"
            )

    def _class_settings(self, y: NDArray[Any], classes: NDArray[Any]) -> dict[str, Any]:
        return {}

    def _remember_evaluations(self, sets: list[Any], classes: NDArray[Any]) -> None:
        """What became of validation rows by round, where there are rounds."""

    def predict(
        self, X: Any, *, pred_contrib: bool = False, background: Any = None, device: str = "cpu"
    ) -> NDArray[Any]:
        """The class of each row.

        Many rows may be run on a GPU, with ``device="cuda"``; the answers are the same.

        With ``pred_contrib``, what each column adds to the margin in log-odds instead: exact Shapley values, a column of the
        result for each column of ``X`` and a last one for the mean margin of the background, class by class where there are
        more than two. The background is the rows to compare with, else some of ``X``.
        """
        self._check_fitted()
        if pred_contrib:
            return self._contributions(X, background)
        model = self.model_.on(device)
        classes: NDArray[Any] = self.classes_[self._each(X, model.predict, model.predict_few)]
        return classes

    def predict_proba(self, X: Any, *, device: str = "cpu") -> NDArray[np.float64]:
        """The probability of each class for each row, in the order of ``classes_``; ``device`` is as in ``predict``."""
        self._check_fitted()
        model = self.model_.on(device)
        return self._each(X, model.probabilities, model.probabilities_few)

    @classmethod
    def _check_kind(cls, model: _core.Model) -> None:
        if model.says_values:
            raise ValueError("the file holds a model of values, and a classifier says classes: use GatewoodRegressor")

    @classmethod
    def _of(cls: type[Classifier], model: _core.Model) -> Classifier:
        estimator = super()._of(model)
        estimator.classes_ = classes_from_names(model.classes)
        weights = getattr(estimator, "class_weight", None)
        if isinstance(weights, dict):
            labels = dict(zip(model.classes, estimator.classes_.tolist()))
            setattr(estimator, "class_weight", {labels[name]: weight for name, weight in weights.items()})
        return estimator


def _plain(value: Any) -> Any:
    """Scalars and arrays of NumPy as JSON has them."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(f"a setting cannot be {type(value).__name__}")
