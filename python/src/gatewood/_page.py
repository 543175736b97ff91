"""A model as a page to look into with a browser, or in a notebook."""

from __future__ import annotations

import os
from html import escape
from pathlib import Path

#: Pixels that the page is high in a notebook.
_HEIGHT = 720


class ExplorerPage:
    """One HTML file with a model in it, which a notebook shows and ``save`` writes. It asks for nothing from anywhere."""

    def __init__(self, html: str) -> None:
        #: The page.
        self.html = html

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page to a file, to be opened with a browser.

        Parameters
        ----------
        path : str or path
            The file.
        """
        Path(path).write_text(self.html, encoding="utf-8")

    def _repr_html_(self) -> str:
        # A frame of its own: nothing in the page reaches the notebook.
        return (
            f'<iframe srcdoc="{escape(self.html, quote=True)}" sandbox="allow-scripts" title="Gatewood explorer" '
            f'style="width:100%;height:{_HEIGHT}px;border:1px solid #8a9a5b;border-radius:6px"></iframe>'
        )

    def __repr__(self) -> str:
        return f"ExplorerPage of {len(self.html):,} bytes: a notebook shows it, save(path) writes it"
