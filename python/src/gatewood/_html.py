"""A fitted model as a card in a notebook."""

from __future__ import annotations

from html import escape
from typing import Any

_STYLE = (
    "display:inline-block;border:1px solid #8a9a5b;border-radius:6px;padding:8px 14px;"
    "font-family:sans-serif;font-size:13px;line-height:1.5"
)


def model_card(name: str, summary: dict[str, Any]) -> str:
    """The facts of a model as HTML."""
    classes = ", ".join(escape(label) for label in summary["classes"][:10])
    if len(summary["classes"]) > 10:
        classes += f" and {len(summary['classes']) - 10} more"
    said = ("classes", classes)
    if summary["values"]:
        quantiles = ", ".join(map(str, summary["quantiles"]))
        said = ("says", f"quantiles {quantiles}" if quantiles else escape(summary["label"] or "a number"))
    facts = [
        ("trees", f"{summary['trees']:,}"),
        ("gates", f"{summary['gates']:,}"),
        ("depth", f"{summary['depth']}"),
        ("bits read", f"{summary['bits_used']:,} of {summary['bits']:,}, from {summary['columns']:,} columns"),
        said,
        ("model file", f"{summary['bytes']:,} bytes"),
        ("trained on", f"{summary['provenance']['rows']:,} rows {escape(summary['provenance']['data'])}"),
    ]
    rows = "".join(
        f'<tr><td style="text-align:right;color:#777;padding:0 8px 0 0">{fact}</td>'
        f'<td style="text-align:left;padding:0">{value}</td></tr>'
        for fact, value in facts
    )
    return f'<div style="{_STYLE}"><b>{escape(name)}</b><table style="margin:4px 0 0">{rows}</table></div>'
