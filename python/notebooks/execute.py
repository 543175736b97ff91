"""Runs the notebooks and keeps what they print: ``python notebooks/execute.py`` in an environment with gatewood and nbclient."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient


def executed(path: Path, folder: Path) -> Any:
    """A notebook as it is after a run in a folder, less what differs from run to run."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(folder)}})
    client.execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return notebook


def printed(notebook: Any) -> list[str]:
    """What the cells of a notebook print, a text for each cell of code."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    streams = [[output for output in cell.outputs if output.output_type == "stream" and output.name == "stdout"] for cell in cells]
    return ["".join(output.text for output in outputs) for outputs in streams]


if __name__ == "__main__":
    wanted = [Path(name) for name in sys.argv[1:]] or sorted(Path(__file__).parent.glob("*.ipynb"))
    for path in wanted:
        with tempfile.TemporaryDirectory() as folder:
            nbformat.write(executed(path, Path(folder)), path)
        print(f"{path.name}: {path.stat().st_size // 1000} kB")
