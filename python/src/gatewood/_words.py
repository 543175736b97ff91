"""What the library says to users of the command, in the words of this package."""

from __future__ import annotations

import re
import sys
import warnings

# Options of the command that are entries of ``encode`` here; those of columns are lists of their names.
_WORDS = "compare|decimal|date-order"
_COLUMNS = "drop|keep|categorical|numeric|text|date"


def in_python(text: str) -> str:
    """A sentence in which options of the command are settings of an estimator."""

    def setting(found: re.Match[str]) -> str:
        name, value = found.group(1).replace("-", "_"), found.group(2)
        return f'encode={{"{name}": {value if value.isdigit() else repr(value)}}}'.replace("'", '"')

    text = re.sub(rf"--({_WORDS}) (\w+)", setting, text)
    return re.sub(rf"--({_COLUMNS})\b(?!-)", r'encode={"\1": [COLUMN]}', text)


def warn(text: str) -> None:
    """Warns at the line of the user's that led here."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == "gatewood":
        level, frame = level + 1, frame.f_back
    warnings.warn(in_python(text), stacklevel=level)
