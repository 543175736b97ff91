"""Groves for scikit-learn."""

from __future__ import annotations

from typing import Any, Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score
from sklearn.utils.validation import check_is_fitted

from . import _core, _inputs
from ._classes import class_names
from ._estimator import CircuitClassifier
from ._rounds import Rounds
from ._words import warn

# Bytes of the stages that are predicted together.
STAGED_BYTES = 64 << 20


class GatewoodClassifier(Rounds, CircuitClassifier):
    """A grove: boosted small trees of truth-table gates whose roots cast integer votes.

    Whatever is left at ``None`` has the library's default, which may depend on the data.

    Parameters
    ----------
    arity : int
        Inputs of every gate.
    root_arity : int
        Inputs of the root, where they are other than those of the gates below it.
    depth : int
        Gates from a leaf to the root, both included: 1 to 3.
    climb : int
        Trials of hill climbing for each tree.
    candidates : int
        Candidate columns that are compared for each trial; the most informative one is tried; 1 for none.
        Used for two classes that the first rounds nearly separate; other data learns better without.
    n_estimators : int
        Rounds of boosting. A round adds a tree for each class, or ``trees_per_round`` for two classes.
    cv_folds : int
        Parts of the rows, a fifth each, that are held out in turn to choose the rounds where those are left open: 0 to 5.
    validation_fraction : float
        Part of the rows that is held out for good where the rounds are left open, there are no folds and no ``eval_set``:
        it chooses the rounds and calibrates the probabilities. 0 to 0.5; 0 for none.
    trees_per_round : int
        Trees of a round that learn side by side.
    learning_rate : float
        Part of a Newton step that a tree takes.
    sample_rows : int
        Rows a tree is climbed on, drawn in proportion to their gradient.
    sampling_power : float
        The power of their gradient that rows are drawn by instead, 1 to 2: with more, rows with a large loss are drawn
        more often. Of two classes, only those that the first rounds nearly separate.
    honest_fraction : float
        Part of the rows that a tree is not climbed on, 0 to 0.9: its votes come mostly from these, since the climb
        flatters the rows it saw.
    feature_reuse : float
        Part of the columns tried that are drawn by how often the trees so far read them, 0 to 1; the others are drawn
        evenly.
    reg_lambda : float
        L2 regularisation of votes: added to the hessian of every root address, in rows.
    vote_bits : int
        Bits of a vote, its sign included: 1 to 16.
    refits : int
        Passes in which every gate is fitted anew with all others in place: for circuits of few LUTs. Trees are then one gate of
        up to six inputs, and votes are of one bit.
    shared_gates : int
        Gates that trees share, where gates are fitted anew.
    refit_rows : int
        Rows that gates are fitted anew to, others in every pass. All by default.
    use_dont_cares : bool
        Gates lose inputs that no training row needs, since what they say at addresses that were never seen is free.
    early_stopping_rounds : int
        Rounds without improvement on the rows of ``eval_set``, or on a tenth of the rows where there is none, after which
        learning stops.
    eval_metric : {"logloss", "error", "auc"}
        What the rounds that are kept are chosen by on the rows of ``eval_set``, or on those put aside for
        ``early_stopping_rounds``.
    shared_trees : bool
        Whether the trees of a many-class grove vote on all classes.
    spans : int
        Pixels of the lines in images that trees read as spans, any of them or all, 2 to 12; 0 for none. Images are those
        whose shape is in ``encode``.
    patterns : int
        Patterns that are learned from images for trees to read; 0 for none. Left open, as suits images of 200 rows or more.
    augment : list of str
        What is done to training images to have more of them: ``"shift"``, ``"mirror"``, ``"turn"``, ``"warp"``, ``"jitter"``; an empty list for nothing.
    max_gates : int
        Gates the grove may have at the most.
    max_luts, max_ands : int
        LUTs of six inputs, or ANDs of two, that the whole circuit may take, its encoder counted: held-out rows choose the best
        model that fits.
    time_limit : float
        Seconds of learning. Rounds and learning rate, where not given, are chosen to make most of them; the model then
        depends on the machine.
    class_weight : dict, "balanced" or None
        What a row of each class counts for, as in scikit-learn.
    encode : dict
        How columns become bits: ``max_bins``, ``bit_budget``, ``few_values``, ``few_limit``, ``categories``,
        ``words``, ``pixel_bits``, ``pixel_code``, ``min_entropy``, ``merge_equal``, ``merge_within``, ``compare``, ``image`` and, by
        name, ``columns``. With ``pixel_bits``, ``pixel_code`` or ``image``, arrays of ``uint8`` are images;
        ``"image": {"width": 28, "height": 28}`` says how their pixels lie (``"channels": 3`` for colours, one plane
        after the other), so that a grove can read lines of them. An array of three or four dimensions says so itself.
    random_state : int, RandomState or None
        Where all randomness comes from. The same number gives the same model on any machine.
    n_jobs : int
        Threads; -1 for one a core. The model does not depend on it.
    device : str
        Where it is learned: ``"cpu"``, ``"cuda"``, ``"cuda:1"`` for a certain GPU, or ``"auto"`` for a GPU where there is one
        and rows are many. The model does not depend on it.
    verbose : int
        Whether to show progress on stderr.

    Attributes
    ----------
    classes_ : array
        The labels, in the order of the columns of ``predict_proba``.
    n_features_in_, feature_names_in_
        The columns seen in training.
    feature_importances_ : array
        What each column is worth: on a table, how much the log loss of some rows rises when it is shuffled among them.
    learning_curve_ : dict of arrays
        Errors and losses by round.
    image_shape_ : tuple
        Height, width and colours, where ``X`` was an array of images: of three dimensions, or of four.
    n_rounds_, best_iteration_ : int
        Rounds that were kept.
    evals_result_ : dict
        With ``eval_set``: for ``validation_0``, ``validation_1``, …, lists of ``error`` and ``log_loss`` by round kept;
        of ``auc`` too, where ``eval_metric`` is that.
    model_
        The native model.

    Examples
    --------
    >>> from gatewood import GatewoodClassifier
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]] * 10
    >>> y = [0, 1, 1, 0] * 10
    >>> GatewoodClassifier(n_estimators=20).fit(X, y).predict([[1, 0], [1, 1]])
    array([1, 0])
    """

    _kind = "grove"

    evals_result_: dict[str, dict[str, list[float]]]

    def __init__(
        self,
        *,
        arity: int | None = None,
        root_arity: int | None = None,
        depth: int | None = None,
        climb: int | None = None,
        candidates: int | None = None,
        n_estimators: int | None = None,
        cv_folds: int | None = None,
        validation_fraction: float | None = None,
        trees_per_round: int | None = None,
        learning_rate: float | None = None,
        sample_rows: int | None = None,
        sampling_power: float | None = None,
        honest_fraction: float | None = None,
        feature_reuse: float | None = None,
        reg_lambda: float | None = None,
        vote_bits: int | None = None,
        refits: int | None = None,
        shared_gates: int | None = None,
        refit_rows: int | None = None,
        use_dont_cares: bool | None = None,
        early_stopping_rounds: int | None = None,
        eval_metric: str | None = None,
        shared_trees: bool | None = None,
        spans: int | None = None,
        patterns: int | None = None,
        augment: list[str] | None = None,
        max_gates: int | None = None,
        max_luts: int | None = None,
        max_ands: int | None = None,
        time_limit: float | None = None,
        class_weight: Any = None,
        encode: dict[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        device: str = "cpu",
        verbose: int = 0,
    ) -> None:
        super().__init__(encode, random_state, n_jobs, verbose)
        self.device = device
        self.arity = arity
        self.root_arity = root_arity
        self.depth = depth
        self.climb = climb
        self.candidates = candidates
        self.n_estimators = n_estimators
        self.cv_folds = cv_folds
        self.validation_fraction = validation_fraction
        self.trees_per_round = trees_per_round
        self.learning_rate = learning_rate
        self.sample_rows = sample_rows
        self.sampling_power = sampling_power
        self.honest_fraction = honest_fraction
        self.feature_reuse = feature_reuse
        self.reg_lambda = reg_lambda
        self.vote_bits = vote_bits
        self.refits = refits
        self.shared_gates = shared_gates
        self.refit_rows = refit_rows
        self.use_dont_cares = use_dont_cares
        self.early_stopping_rounds = early_stopping_rounds
        self.eval_metric = eval_metric
        self.shared_trees = shared_trees
        self.spans = spans
        self.patterns = patterns
        self.augment = augment
        self.max_gates = max_gates
        self.max_luts = max_luts
        self.max_ands = max_ands
        self.time_limit = time_limit
        self.class_weight = class_weight

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        eval_set: Any = None,
        *,
        init_model: Any = None,
        callbacks: Any = None,
    ) -> GatewoodClassifier:
        """Learns from rows and their labels.

        Parameters
        ----------
        X : NumPy array of any type, PackedBits, data frame of pandas, polars or PyArrow, or SciPy sparse matrix
            The rows. Missing values and texts are welcome.
        y : array
            The label of each row.
        sample_weight : array, optional
            What each row counts for.
        eval_set : (X, y) or a list of such pairs, optional
            Validation rows: the grove is cut back to the round that was best on the last of them. ``evals_result_`` has the
            error and the log loss of each by round.
        init_model : path, fitted GatewoodClassifier or native model, optional
            A grove to continue: its columns, classes and trees stay, and the rounds come on top.
        callbacks : list of callables, optional
            Each is called for every round with a dict of ``round``, ``gates``, ``train_error``, ``train_loss`` and, where
            there are validation rows, ``validation_error``, ``validation_loss`` and perhaps ``validation_auc``; and some
            times a second while learning without these. ``done`` and ``total`` (units of work) and ``seconds`` are there
            always. What one raises stops the training.
        """
        if self.eval_metric is not None and eval_set is None and self.early_stopping_rounds is None:
            warn(
                "eval_metric says what eval_set and early_stopping_rounds go by, and there is neither: "
                "rounds are chosen by log loss"
            )
        start = None if init_model is None else self._start(init_model)
        self._train(X, y, sample_weight, eval_set, start, None if start is None else self.classes_, callbacks)
        return self

    def _start(self, model: Any) -> _core.Model:
        """The native model to continue; takes over its classes and columns."""
        if isinstance(model, GatewoodClassifier):
            check_is_fitted(model)
            other = model
        elif isinstance(model, _core.Model):
            other = GatewoodClassifier._of(model)
        else:
            other = GatewoodClassifier.load(model)
        for name in ("classes_", "n_features_in_", "n_rounds_", "learning_curve_", "feature_names_in_", "_file_names_columns"):
            if hasattr(other, name):
                setattr(self, name, getattr(other, name))
            elif hasattr(self, name):
                delattr(self, name)
        return other.model_

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> GatewoodClassifier:
        """Goes on from the fitted grove with further rounds on these rows; the first call is a ``fit``.

        ``classes`` names all classes, where the first rows do not have them all. The encoder is that of the first rows.
        ``n_rounds_`` and ``learning_curve_`` count the rounds of all calls.
        """
        if self.__sklearn_is_fitted__():
            if classes is not None and not np.array_equal(np.unique(classes), self.classes_):
                raise ValueError(f"classes is not what it was in the first call: {self.classes_.tolist()}")
            self._train(X, y, sample_weight, None, self.model_, self.classes_)
        else:
            known = None if classes is None else np.unique(classes)
            self._train(X, y, sample_weight, None, None, known)
        return self

    def _staged(self, X: Any, ask: Callable[[Any, list[int], int], Any]) -> Iterator[Any]:
        check_is_fitted(self)
        yield from self._staged_rows(self._read(X, fitting=False), ask)

    def _staged_rows(self, rows: Any, ask: Callable[[Any, list[int], int], Any] | None = None) -> Iterator[Any]:
        ask = ask or self.model_.staged_probabilities
        stages = self._stages()
        # As many stages at a time as take little memory.
        step = max(1, STAGED_BYTES // (8 * len(self.classes_) * _inputs.count(rows)))
        for first in range(0, len(stages), step):
            yield from ask(rows, stages[first : first + step], self._threads() or 0)

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """The class of each row after each round, as an iterator."""
        for codes in self._staged(X, self.model_.staged_classes):
            yield self.classes_[codes]

    def staged_predict_proba(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """The probability of each class for each row after each round, as an iterator."""
        yield from self._staged(X, self.model_.staged_probabilities)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The margin of each row in log-odds: one for two classes, else one a class."""
        check_is_fitted(self)
        margins = self._each(X, self.model_.margins)
        return margins[:, 0] if margins.shape[1] == 1 else margins

    def _class_settings(self, y: NDArray[Any], classes: NDArray[Any]) -> dict[str, Any]:
        if self.class_weight is None:
            return {}
        if not isinstance(self.class_weight, dict):
            return {"class_weight": self.class_weight}
        names = dict(zip(classes.tolist(), class_names(classes)))
        unknown = [label for label in self.class_weight if label not in names]
        if unknown:
            raise ValueError(f"class_weight has labels that are not among the classes: {unknown}")
        return {"class_weight": {names[label]: float(weight) for label, weight in self.class_weight.items()}}

    def _remember_evaluations(self, sets: list[Any], classes: NDArray[Any]) -> None:
        """The error and the log loss of each set by round."""
        self.evals_result_ = {}
        try:
            self._stages()
        except ValueError:
            return
        for place, (rows, codes) in enumerate(sets):
            errors, losses, areas = [], [], []
            for chances in self._staged_rows(rows):
                errors.append(float(np.mean(np.argmax(chances, axis=1) != codes)))
                own = np.clip(chances[np.arange(len(codes)), codes], 1e-15, None)
                losses.append(float(-np.mean(np.log(own))))
                if self.eval_metric == "auc":
                    areas.append(_area(chances, codes))
            found = {"error": errors, "log_loss": losses}
            self.evals_result_[f"validation_{place}"] = found | ({"auc": areas} if areas else {})


def _area(chances: NDArray[np.float64], codes: NDArray[Any]) -> float:
    """The area under the ROC curve; of many classes, the mean over each against the rest. NaN where there is one class alone."""
    classes = [1] if chances.shape[1] == 2 else range(chances.shape[1])
    sides = [(codes == one, chances[:, one]) for one in classes]
    areas = [roc_auc_score(is_one, chance) for is_one, chance in sides if is_one.any() and not is_one.all()]
    return float(np.mean(areas)) if areas else float("nan")
