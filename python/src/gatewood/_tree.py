"""The single tree for scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ._estimator import CircuitClassifier


class BooleanTreeClassifier(CircuitClassifier):
    """One full tree of truth-table gates, for two classes.

    Whatever is left at ``None`` has the library's default. Rows have no weights here: a gate counts rows.

    Parameters
    ----------
    arity : int
        Inputs of every gate, 1 to 12.
    depth : int
        Gates from a leaf to the output.
    climb : int
        Trials of hill climbing over the whole tree; 0 leaves the greedy tree as it is.
    height : int
        Levels above the leaves at which a trial is judged.
    criterion : "information-gain" or "accuracy"
        How inner gates choose their tables.
    unseen : "prior" or "zero"
        What gates say at addresses that no training row has.
    device : str
        Where it is learned: ``"cpu"``, ``"cuda"`` or ``"cuda:1"``. The model does not depend on it.
    encode, random_state, n_jobs, verbose
        As for ``GatewoodClassifier``.

    Attributes
    ----------
    classes_ : array
        The two labels.
    n_features_in_, feature_names_in_
        The columns seen in training.
    feature_importances_ : array
        What each column is worth to the circuit.
    model_
        The native model.

    Examples
    --------
    >>> from gatewood import BooleanTreeClassifier
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]] * 10
    >>> y = ["same", "other", "other", "same"] * 10
    >>> BooleanTreeClassifier(depth=4).fit(X, y).predict([[1, 0], [1, 1]]).tolist()
    ['other', 'same']
    """

    _kind = "tree"

    def __init__(
        self,
        *,
        arity: int | None = None,
        depth: int | None = None,
        climb: int | None = None,
        height: int | None = None,
        criterion: str | None = None,
        unseen: str | None = None,
        encode: dict[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        device: str = "cpu",
        verbose: int = 0,
    ) -> None:
        super().__init__(encode, random_state, n_jobs, verbose)
        self.arity = arity
        self.depth = depth
        self.climb = climb
        self.height = height
        self.criterion = criterion
        self.unseen = unseen
        self.device = device

    def fit(self, X: Any, y: Any) -> BooleanTreeClassifier:
        """Learns from rows, as ``GatewoodClassifier.fit`` takes them, and their labels of two classes."""
        self._train(X, y, None, None, None, None)
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """1 for rows of the second class, -1 for the others: a tree has no margins."""
        check_is_fitted(self)
        ones: NDArray[np.float64] = self._each(X, self.model_.predict).astype(np.float64)
        return 2.0 * ones - 1.0

    def _check_classes(self, y: NDArray[Any], classes: NDArray[Any]) -> None:
        super()._check_classes(y, classes)
        if len(classes) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass: "
                f"y has {len(classes)} classes."
            )

    def _remember(self, report: dict[str, Any], continues: bool) -> None:
        report.pop("grove")
        super()._remember(report, continues)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
