"""What the documents say is so: the snippets run, the reference is that of the package."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent
ROOT = PACKAGE.parent


@pytest.mark.parametrize("page", ["README.md", "python/README.md", "docs/src/python.md"])
def test_the_first_ten_lines_run_as_they_stand(page, tmp_path):
    snippet = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)[0]
    assert len([line for line in snippet.splitlines() if line]) <= 10
    result = subprocess.run([sys.executable, "-c", snippet], cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert float(result.stdout) > 0.9
    assert (tmp_path / "cancer.v").read_text().rstrip().endswith("endmodule")


def test_the_reference_is_that_of_the_package():
    spec = importlib.util.spec_from_file_location("reference", PACKAGE / "reference.py")
    reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference)
    page = (ROOT / "docs/src/python-api.md").read_text()
    assert page == reference.reference(), "make it again: python reference.py ../docs/src/python-api.md"
