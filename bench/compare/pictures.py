"""Pictures of the report: error against training time, as SVG with the same bytes for the same figures."""

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "gatewood"
import matplotlib.pyplot  # noqa: E402
import matplotlib.ticker  # noqa: E402

COLOURS = {"gatewood": "#0b7a3b", "lightgbm": "#c2452d", "xgboost": "#3566b0", "catboost": "#b08a1e",
           "random-forest": "#7a5195", "extra-trees": "#a05195", "hist-boosting": "#4d8f8b", "svm-rbf": "#666666"}


def draw(path, title, points):
    """Draws methods as points: name to (training seconds, error, spread of the error)."""
    figure, axes = matplotlib.pyplot.subplots(figsize=(6.4, 4.0))
    for method, (time, error, spread) in sorted(points.items()):
        family = method.removesuffix("-defaults").removesuffix("-search")
        colour = COLOURS.get(family, COLOURS["gatewood"] if family.startswith("gatewood") else "#999999")
        ours = family.startswith("gatewood")
        marker = "*" if ours else "^" if method.endswith("-search") else "o"
        axes.errorbar(time, 100 * error, 100 * spread, marker=marker, color=colour, markersize=12 if ours else 6,
                      capsize=2, linewidth=1)
        axes.annotate(method, (time, 100 * error), xytext=(7, 4), textcoords="offset points", fontsize=8,
                      color=colour, weight="bold" if ours else "normal")
    axes.set_xscale("log")
    axes.margins(x=0.2, y=0.12)
    axes.xaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axes.set_xlabel("training time, seconds (log scale)")
    axes.set_ylabel("test error, %")
    axes.set_title(title, fontsize=10)
    axes.grid(alpha=0.25)
    figure.tight_layout()
    figure.savefig(path, format="svg", metadata={"Date": None})
    matplotlib.pyplot.close(figure)
