"""The API reference, made from the docstrings.

    python reference.py ../docs/src/python-api.md

The tests fail when the page is not what this makes of the package.
"""

from __future__ import annotations

import inspect
import pathlib
import sys
from typing import Any

import gatewood

HEAD = """# Python: API reference

Made from the docstrings by `python/reference.py`. [Python](python.md) is the page to start with.
"""


def text_of(thing: Any) -> str:
    """A docstring as Markdown: sections in bold, parameters as a list, examples as code."""
    lines = (inspect.getdoc(thing) or "").replace("``", "`").splitlines()
    made: list[str] = []
    section = ""
    for place, line in enumerate(lines):
        following = lines[place + 1] if place + 1 < len(lines) else ""
        if following and set(following) == {"-"}:
            section = line
            made.append(f"**{line}**\n")
        elif line and set(line) == {"-"}:
            continue
        elif section in ("Parameters", "Attributes") and line and not line.startswith(" "):
            name, _, kind = line.partition(" : ")
            made.append(f"- `{name}`" + (f" ({kind})" if kind else ""))
        elif section in ("Parameters", "Attributes"):
            made.append(f"  {line.strip()}".rstrip())
        else:
            made.append(line)
    return fenced(made)


def fenced(lines: list[str]) -> str:
    """Examples of the interpreter between fences."""
    made: list[str] = []
    inside = False
    for line in lines:
        if line.startswith(">>>") and not inside:
            made.append("```pycon")
            inside = True
        if inside and not line:
            made.append("```")
            inside = False
        made.append(line)
    if inside:
        made.append("```")
    return "\n".join(made)


def signature_of(name: str, thing: Any) -> str:
    """A call, one parameter a line where it is long."""
    signature = inspect.signature(thing)
    shown = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in signature.parameters.values()]
    text = str(signature.replace(parameters=shown, return_annotation=inspect.Signature.empty))
    return f"{name}{text}"


def methods_of(thing: type) -> list[tuple[str, Any]]:
    """The methods that a class and those before it in this package define."""
    found: dict[str, Any] = {}
    for base in reversed(thing.__mro__):
        if base.__module__.startswith("gatewood"):
            found |= {name: value for name, value in vars(base).items() if not name.startswith("_")}
    return [(name, value) for name, value in found.items() if callable(value) or isinstance(value, (property, classmethod))]


def describe(name: str, thing: Any) -> list[str]:
    """A class, function or module."""
    if inspect.isclass(thing):
        made = [f"## {name}", "", "```python", signature_of(name, thing), "```", "", text_of(thing), ""]
        for method, value in methods_of(thing):
            if isinstance(value, property):
                made += [f"### {name}.{method}", "", text_of(value.fget), ""]
                continue
            function = value.__func__ if isinstance(value, classmethod) else value
            made += [f"### {name}.{method}", "", "```python", signature_of(method, function), "```", ""]
            made += [text_of(function), ""]
        return made
    if inspect.ismodule(thing):
        made = [f"## gatewood.{name}", "", text_of(thing), ""]
        for own, value in vars(thing).items():
            callable_here = (inspect.isfunction(value) or inspect.isclass(value)) and value.__module__ == thing.__name__
            shown_above = any(value is getattr(gatewood, other) for other in gatewood.__all__)
            if callable_here and not own.startswith("_") and not shown_above:
                made += [f"### gatewood.{name}.{own}", "", "```python", signature_of(own, value), "```", ""]
                made += [text_of(value), ""]
        return made
    return [f"## {name}", "", "```python", signature_of(name, thing), "```", "", text_of(thing), ""]


def reference() -> str:
    """The whole page."""
    made = [HEAD]
    for name in gatewood.__all__:
        if not name.startswith("_"):
            made += describe(name, getattr(gatewood, name))
    return "\n".join(made).rstrip() + "\n"


if __name__ == "__main__":
    pathlib.Path(sys.argv[1]).write_text(reference())
