"""Pictures, cards, notebooks, types, examples."""

from __future__ import annotations

import doctest
import importlib
import os
import subprocess
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import nbformat
import numpy as np
import pytest
from gatewood import (
    BooleanTreeClassifier,
    GatewoodClassifier,
    plot_circuit,
    plot_importance,
    plot_learning_curve,
    plot_pixels,
)
from matplotlib import pyplot

HERE = Path(__file__).parent
NOTEBOOKS = sorted((HERE.parent / "notebooks").glob("*.ipynb"))
sys.path.append(str(HERE.parent / "notebooks"))
execute = importlib.import_module("execute")


@pytest.fixture(scope="module")
def grove(bits):
    X, y = bits
    return GatewoodClassifier(n_estimators=10, climb=100).fit(X, y, eval_set=(X, y))


def test_pictures_show_the_model(grove, bits):
    ax = plot_learning_curve(grove)
    assert len(ax.lines) >= 2
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), grove.learning_curve_["train_error"])
    assert plot_learning_curve(grove, loss=True).get_ylabel() == "loss"
    ax = plot_importance(grove, most=5)
    assert len(ax.patches) == 5
    assert ax.patches[-1].get_width() == max(grove.feature_importances_)
    image = plot_pixels(grove, (5, 8)).images[0].get_array()
    np.testing.assert_allclose(image.ravel(), grove.feature_importances_)
    with pytest.raises(ValueError, match="not images"):
        plot_pixels(grove, (7, 7))
    shown = {text.get_text() for text in plot_circuit(grove).texts}
    assert "votes" in shown
    # Truth tables are bits in lines, not hexadecimal.
    tables = [text for text in shown if "\n" in text]
    assert tables and all(set(text) <= set("01\n") for text in tables)
    tree = BooleanTreeClassifier(arity=2, depth=3).fit(*bits)
    assert len(plot_circuit(tree).texts) == 8 + 7
    with pytest.raises(ValueError, match="too many"):
        plot_circuit(BooleanTreeClassifier(depth=6).fit(*bits))
    pyplot.close("all")


def test_a_fitted_model_is_a_card(grove):
    html = grove._repr_mimebundle_()["text/html"]
    assert "gates" in html and "GatewoodClassifier" in html
    assert "GatewoodClassifier" in GatewoodClassifier()._repr_html_()
    odd = GatewoodClassifier(n_estimators=1).fit([[0], [1]] * 20, ["<b>", "&"] * 20)
    assert "<b>," not in odd._repr_html_() and "&lt;b&gt;" in odd._repr_html_()


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_print_what_they_show(notebook, tmp_path):
    shown = nbformat.read(notebook, as_version=4)
    assert execute.printed(execute.executed(notebook, tmp_path)) == execute.printed(shown), "python notebooks/execute.py"


def test_there_are_three_notebooks_with_small_outputs_and_no_paths():
    assert [path.stem for path in NOTEBOOKS] == ["explain_and_prove", "images_with_patterns", "table_to_verilog"]
    for path in NOTEBOOKS:
        text = path.read_text()
        assert len(text) < 200_000
        assert "/tmp/" not in text and "/home/" not in text and "/root/" not in text
        cells = nbformat.read(path, as_version=4).cells
        assert any("image/png" in output.get("data", {}) for cell in cells for output in cell.get("outputs", []))


@pytest.mark.parametrize("module", ["gatewood", "gatewood._grove", "gatewood._tree", "gatewood._packed", "gatewood._regressor", "gatewood.datasets"])
def test_examples_in_the_documentation_run(module):
    failed, tried = doctest.testmod(importlib.import_module(module))
    assert tried > 0 and failed == 0


def mypy(*arguments: str) -> None:
    configuration = "--config-file=" + str(HERE / "mypy.ini")
    cache = f"--cache-dir={sys.prefix}/mypy-cache"
    environment = os.environ | {"MYPYPATH": str(HERE.parent / "src")}
    command = [sys.executable, "-m", "mypy", "--strict", configuration, cache, *arguments]
    result = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert result.returncode == 0, result.stdout + result.stderr


def test_types_of_user_code_and_of_the_package_are_right():
    mypy(str(HERE / "typed_example.py"), str(HERE.parent / "src" / "gatewood"))


def test_wrong_user_code_is_refused(tmp_path):
    wrong = tmp_path / "wrong.py"
    wrong.write_text("from gatewood import GatewoodClassifier\nGatewoodClassifier(arity='four', colour=3)\n")
    with pytest.raises(AssertionError, match="(?s)colour|arg-type"):
        mypy(str(wrong))
