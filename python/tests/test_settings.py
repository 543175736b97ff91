"""Python and the command agree, setting by setting: the same rows and setting give the same file."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import gatewood
import numpy as np
import pandas as pd
import pytest
from gatewood import BooleanTreeClassifier, GatewoodClassifier, _core

COMMAND = os.environ.get("GATEWOOD_COMMAND") or shutil.which("gatewood")

pytestmark = pytest.mark.skipif(COMMAND is None, reason="GATEWOOD_COMMAND does not name the command")

# A value of each setting that is not its default.
GROVE: dict[str, Any] = {
    "arity": 3,
    "root_arity": 5,
    "depth": 1,
    "climb": 50,
    "candidates": 4,
    "rounds": 2,
    "cv_folds": 3,
    "validation_fraction": 0.2,
    "trees_per_round": 2,
    "learning_rate": 0.3,
    "sample_rows": 100,
    "sampling_power": 1.5,
    "honest_fraction": 0.25,
    "feature_reuse": 0.5,
    "reg_lambda": 3.5,
    "vote_bits": 5,
    "refits": 1,
    "shared_gates": 3,
    "refit_rows": 50,
    "use_dont_cares": True,
    "early_stopping_rounds": 2,
    "shared_trees": True,
    "class_weight": "balanced",
    "spans": 3,
    "patterns": 5,
    "max_gates": 40,
    "time_limit": 0.5,
    "seed": 9,
}
TREE: dict[str, Any] = {"arity": 3, "depth": 2, "climb": 50, "height": 2, "criterion": "accuracy", "unseen": "zero", "seed": 9}
SHAPE = {"width": 4, "height": 3, "channels": 1}
ENCODE: dict[str, Any] = {
    "max_bins": 5,
    "bit_budget": 100,
    "few_values": "values",
    "few_limit": 3,
    "categories": 2,
    "words": 7,
    "pixel_bits": 2,
    "pixel_code": "gray",
    "min_entropy": 0.1,
    "merge_equal": False,
    "merge_within": 0.01,
    "compare": 2,
    "image": SHAPE,
    "drop": ["a0"],
    "keep": ["a1"],
    "categorical": ["a2"],
    "numeric": ["a3"],
    "decimal": "comma",
    "date_order": "month",
    "columns": {"a6": {"bits": 2}},
}
OF_IMAGES = {"spans", "patterns", "image"}


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    rows = pd.DataFrame({f"a{column}": rng.integers(0, 200, 160) for column in range(12)})
    rows["kind"] = np.where(rows["a0"] + rows["a4"] > 190, "large", "small")
    return rows


def written(name: str, value: Any) -> list[str]:
    """A setting as options of the command."""
    option = {"image": "shape", "columns": "column-settings"}.get(name, name.replace("_", "-"))
    if name == "image":
        return ["--shape", f"{value['height']}x{value['width']}"]
    if name == "columns":
        return ["--column-settings", json.dumps(value)]
    if value is True and name in ("shared_trees", "use_dont_cares"):
        return [f"--{option}"]
    if isinstance(value, list):
        value = ",".join(value)
    return [f"--{option}", str(value).lower() if isinstance(value, bool) else str(value)]


CASES = [
    *[("grove", "learn", name) for name in GROVE],
    *[("tree", "learn", name) for name in TREE],
    *[("grove", "encode", name) for name in ENCODE],
]


@pytest.mark.parametrize(("kind", "part", "name"), CASES, ids=["-".join(case) for case in CASES])
def test_a_setting_gives_the_same_file(kind, part, name, table, tmp_path):
    value = (ENCODE if part == "encode" else GROVE if kind == "grove" else TREE)[name]
    chosen: dict[str, Any] = {"seed": 4, **({"rounds": 3} if kind == "grove" else {})}
    encode: dict[str, Any] = {"image": SHAPE} if name in OF_IMAGES else {}
    if name == "height":
        chosen["depth"] = 3
    if name in ("shared_gates", "refit_rows"):
        chosen["refits"] = 2
    (encode if part == "encode" else chosen)[name] = value
    table.to_csv(tmp_path / "rows.csv", index=False)
    options = [word for setting in {**chosen, **encode}.items() for word in written(*setting)]
    arguments = [COMMAND, "train", "rows.csv", "--label=kind", f"--model={kind}", "-o", "command.gw", *options]
    run = subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr

    names = {"rounds": "n_estimators", "seed": "random_state"}
    parameters = {names.get(setting, setting): value for setting, value in chosen.items()}
    make = GatewoodClassifier if kind == "grove" else BooleanTreeClassifier
    model = make(**parameters, encode=encode or None).fit(table.drop(columns="kind"), table["kind"])
    model.save(tmp_path / "python.gw", data="rows.csv")
    found, expected = (gatewood.load(tmp_path / f"{front}.gw").summary() for front in ("python", "command"))
    assert found["settings"] == expected["settings"]
    if name != "time_limit":  # whose model depends on the clock
        assert (tmp_path / "python.gw").read_bytes() == (tmp_path / "command.gw").read_bytes()


def test_no_setting_is_forgotten():
    # Weights of classes are chosen as class_weight. Columns of text and dates are named in tests of tables.
    for kind, cases in (("grove", GROVE), ("tree", TREE)):
        settings = json.loads(_core.default_settings(kind))
        encode = settings.pop("encode")
        assert set(settings) - {"model", "class_weights", "judge"} <= set(cases)
        assert set(encode) <= set(ENCODE)


def test_devices_are_chosen_by_name():
    X, y = np.random.default_rng(2).integers(0, 2, (300, 12)), [0, 1, 1] * 100
    of = {device: GatewoodClassifier(n_estimators=4, device=device).fit(X, y) for device in ("cpu", "auto")}
    assert of["cpu"].model_.to_bytes() == of["auto"].model_.to_bytes()
    with pytest.raises(ValueError, match="cpu, cuda, cuda:N and auto"):
        GatewoodClassifier(device="gpu").fit(X, y)
    # Whether there are GPUs here or not, there are not a thousand.
    with pytest.raises(Exception, match="device cpu"):
        GatewoodClassifier(device="cuda:999").fit(X, y)
    with pytest.raises(Exception, match="device cpu"):
        BooleanTreeClassifier(depth=3, device="cuda:999").fit(X, y)
    model = of["cpu"]
    for ask in (model.predict, model.predict_proba):
        assert (ask(X, device="auto") == ask(X)).all()
        with pytest.raises(ValueError, match="cpu, cuda, cuda:N and auto"):
            ask(X, device="gpu")
        with pytest.raises(Exception, match="device cpu"):
            ask(X, device="cuda:999")
