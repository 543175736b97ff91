"""User code that `mypy --strict` accepts."""

from __future__ import annotations

import numpy as np
from gatewood import BooleanTreeClassifier, GatewoodClassifier, PackedBits, load
from gatewood.datasets import load as load_set
from numpy.typing import NDArray


def train(rows: NDArray[np.bool_], labels: NDArray[np.int64]) -> GatewoodClassifier:
    model = GatewoodClassifier(arity=4, n_estimators=10, encode={"max_bins": 8}, random_state=0)
    model.fit(rows, labels, eval_set=(rows, labels))
    probabilities: NDArray[np.float64] = model.predict_proba(PackedBits.pack(rows))
    print(probabilities.mean(), model.n_rounds_, model.learning_curve_["round"])
    model.save("model.gw")
    model.verify(model.export("verilog", "model.v"), "verilog")
    return model


def use(path: str) -> str:
    model = load(path)
    if isinstance(model, BooleanTreeClassifier):
        return model.to_c()
    return model.to_verilog(name="grove")


cubes = load_set("cubes", noise=0.1)
print(cubes.X_train.shape, cubes.y_train.shape, cubes.encode)
