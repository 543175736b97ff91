"""Model files, exports, proofs, data sets."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import gatewood
import numpy as np
import pandas as pd
import pytest
from gatewood import BooleanTreeClassifier, GatewoodClassifier
from gatewood.datasets import load
from sklearn.base import clone


@pytest.fixture(scope="module", params=["grove", "tree"])
def fitted(request, bits):
    X, y = bits
    model = GatewoodClassifier(n_estimators=6, climb=100) if request.param == "grove" else BooleanTreeClassifier(arity=3, depth=3)
    return model.fit(X, y)


def test_files_come_back(fitted, bits, tmp_path):
    path = tmp_path / "model.gw"
    fitted.save(path)
    assert path.read_bytes() == fitted.model_.to_bytes()
    again = gatewood.load(path)
    assert type(again) is type(fitted)
    assert again.model_ == fitted.model_
    np.testing.assert_array_equal(again.predict(bits[0]), fitted.predict(bits[0]))
    assert again.score(*bits) == fitted.score(*bits)
    settings = fitted.summary()["settings"]
    assert again.get_params()["arity"] == settings["arity"]
    assert type(fitted).load(str(path)).model_ == fitted.model_
    other = BooleanTreeClassifier if isinstance(fitted, GatewoodClassifier) else GatewoodClassifier
    with pytest.raises(ValueError, match="gatewood.load"):
        other.load(path)


def test_damaged_and_missing_files_say_so(fitted, tmp_path):
    path = tmp_path / "model.gw"
    content = bytearray(fitted.model_.to_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match="model.gw: damaged"):
        gatewood.load(path)
    with pytest.raises(OSError, match="missing.gw"):
        gatewood.load(tmp_path / "missing.gw")
    with pytest.raises(OSError):
        fitted.save(tmp_path / "no" / "such" / "folder.gw")


@pytest.mark.parametrize("format", ["verilog", "vhdl"])
def test_a_design_is_written(fitted, format, tmp_path):
    files = fitted.export_project(tmp_path / "design", format, cells="ice40", clock="50MHz", rows=16, word_bits=8)
    assert sorted(files) == sorted(path.name for path in (tmp_path / "design").iterdir())
    assert "Makefile" in files and "model_ports.h" in files
    with pytest.raises(ValueError, match="no project"):
        fitted.export_project(tmp_path / "other", "blif")
    with pytest.raises(ValueError, match="12 bits"):
        fitted.export_project(tmp_path / "other", word_bits=12)


@pytest.mark.parametrize("format", ["verilog", "vhdl", "blif", "aiger", "aiger-ascii", "c", "rust", "dot", "json"])
def test_every_format_is_written(fitted, format, tmp_path):
    written = fitted.export(format, tmp_path / "out")
    assert written == (tmp_path / "out").read_bytes() != b""


@pytest.mark.parametrize("format", ["verilog", "blif", "aiger"])
def test_exports_are_proven_equal_and_changes_are_found(fitted, format, tmp_path):
    path = tmp_path / ("model." + {"verilog": "v", "blif": "blif", "aiger": "aig"}[format])
    fitted.export(format, path)
    fitted.verify(path)
    fitted.verify(path.read_bytes(), format)
    other = type(fitted)(**fitted.get_params()).set_params(random_state=9)
    X = np.random.default_rng(1).integers(0, 2, (200, 40)).astype(bool)
    other.fit(X, X[:, 0])
    # Encoders may keep other bits: then the file cannot be of this model, which is said too.
    with pytest.raises(ValueError, match="differs|inputs"):
        other.verify(path)


def test_exported_c_is_tested_and_changes_are_found(fitted, tmp_path):
    path = tmp_path / "model.c"
    fitted.export("c", path)
    fitted.verify(path)
    text = path.read_text()
    # The functions for many rows then differ from that for one.
    changed = text.replace("return best;", "return best ^ 1;").replace("return outputs;", "return outputs ^ 1;")
    assert changed != text
    path.write_text(changed)
    with pytest.raises(ValueError, match="differs"):
        fitted.verify(path)


def test_c_says_what_the_model_says(fitted, bits, tmp_path):
    assert "uint64_t" in fitted.to_c() or "stdint" in fitted.to_c()
    assert fitted.to_verilog(name="judge").count("module judge") == 1
    with pytest.raises(ValueError, match="formats are"):
        fitted.export("pdf")


def test_named_sets_load_with_options(tmp_path):
    cubes = load("cubes", noise=0.1, train=200, test=100)
    assert cubes.name == "cubes:noise=0.1,train=200,test=100"
    assert cubes.image == (32, 32, 1)
    model = BooleanTreeClassifier(depth=5, encode=cubes.encode).fit(cubes.X_train, cubes.y_train)
    assert model.score(cubes.X_train, cubes.y_train) > 0.7
    with pytest.raises(ValueError, match="noise"):
        load("cubes", noise=7)
    with pytest.raises(ValueError, match="did you mean"):
        load("cubez")
    with pytest.raises(OSError, match="fetch"):
        load("mnist", data_dir=tmp_path)


def test_mnist35_is_embedded():
    digits = load("mnist35")
    assert digits.X_train.shape == (2276, 784)
    assert digits.X_test.shape == (9662, 784)
    assert set(digits.y_train.tolist()) == {3, 5}
    model = GatewoodClassifier(n_estimators=60, encode=digits.encode).fit(digits.train, digits.y_train)
    assert model.feature_names_in_[29] == "r1c1"
    assert model.score(digits.test, digits.y_test) > 0.95
    np.testing.assert_array_equal(model.predict(digits.test), model.predict(digits.X_test))


def command() -> Path | None:
    """The command, where the tests are told of it or it is installed."""
    given = os.environ.get("GATEWOOD_COMMAND") or shutil.which("gatewood")
    return Path(given) if given else None


@pytest.mark.skipif(command() is None, reason="GATEWOOD_COMMAND does not name the command")
@pytest.mark.parametrize(
    "model",
    [
        GatewoodClassifier(n_estimators=12, arity=3),
        GatewoodClassifier(n_estimators=6, honest_fraction=0.2, feature_reuse=0.3, reg_lambda=2.5, sample_rows=256, vote_bits=6, learning_rate=0.2),
        BooleanTreeClassifier(depth=4, climb=500),
    ],
    ids=str,
)
def test_python_and_the_command_write_the_same_file(model, tmp_path):
    kind, model = model._kind, clone(model).set_params(random_state=5)
    chosen = {name: value for name, value in model.get_params().items() if value and name != "random_state"}
    options = [f"--{name.replace('n_estimators', 'rounds').replace('_', '-')}={value}" for name, value in chosen.items()]

    def train(data: str) -> bytes:
        path = tmp_path / "command.gw"
        arguments = [str(command()), "train", data, f"--model={kind}", "--seed=5", "-o", str(path), *options]
        subprocess.run(arguments, check=True, cwd=tmp_path, capture_output=True)
        return path.read_bytes()

    # A named set, as a native table.
    cubes = load("cubes", noise=0.05, train=300, test=100)
    model.set_params(encode=cubes.encode).fit(cubes.train, cubes.y_train)
    model.save(tmp_path / "python.gw", data=cubes.name)
    assert (tmp_path / "python.gw").read_bytes() == train("cubes:noise=0.05,train=300,test=100")

    # A file, as a data frame.
    rng = np.random.default_rng(2)
    table = pd.DataFrame({"width": rng.normal(size=400).round(3), "rooms": rng.integers(1, 7, 400)})
    table["colour"] = rng.choice(["red", "green", "blue"], 400)
    table.loc[::13, "width"] = np.nan
    table["kind"] = np.where(table["rooms"] + (table["colour"] == "red") > 4, "large", "small")
    table.to_csv(tmp_path / "rows.csv", index=False)
    model.set_params(encode=None).fit(table.drop(columns="kind"), table["kind"])
    model.save(tmp_path / "python.gw", data="rows.csv")
    written = train("rows.csv")
    assert gatewood.load(tmp_path / "python.gw").summary() == gatewood.load(tmp_path / "command.gw").summary()
    assert (tmp_path / "python.gw").read_bytes() == written
