"""Pictures of the report: error against training time, as SVG with the same bytes for the same figures."""

import math

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
    places = label_places({method: (time, error) for method, (time, error, _) in points.items()})
    for method, (time, error, spread) in sorted(points.items()):
        family = method.removesuffix("-defaults").removesuffix("-search")
        colour = COLOURS.get(family, COLOURS["gatewood"] if family.startswith("gatewood") else "#999999")
        ours = family.startswith("gatewood")
        marker = "*" if ours else "^" if method.endswith("-search") else "o"
        axes.errorbar(time, 100 * error, 100 * spread, marker=marker, color=colour, markersize=12 if ours else 6,
                      capsize=2, linewidth=1)
        axes.annotate(method, (time, 100 * error), xytext=(7, places[method]), textcoords="offset points", fontsize=8,
                      color=colour, weight="bold" if ours else "normal")
    axes.set_xscale("log")
    axes.margins(x=0.2, y=0.12)
    # A number at 1, 2 and 5 of each power of ten, and none at the ticks between.
    axes.xaxis.set_major_locator(matplotlib.ticker.LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda value, _: f"{value:,.15g}"))
    axes.xaxis.set_minor_formatter(matplotlib.ticker.NullFormatter())
    axes.set_xlabel("training time, seconds (log scale)")
    axes.set_ylabel("test error, %")
    axes.set_title(title, fontsize=10)
    axes.grid(alpha=0.25)
    figure.tight_layout()
    figure.savefig(path, format="svg", metadata={"Date": None})
    matplotlib.pyplot.close(figure)


def label_places(points):
    """How far above its point each name stands, so that names of near points do not cover each other."""
    times, errors = zip(*points.values())
    width = max(math.log(max(times) / min(times)), 1e-9)
    height = max(max(errors) - min(errors), 1e-9)
    taken, places = [], {}
    for method, (time, error) in sorted(points.items(), key=lambda item: item[1][1]):
        x, y = math.log(time) / width, error / height
        step = 0
        while any(abs(x - there_x) < 0.25 and abs(y + 0.045 * step - there_y) < 0.04 for there_x, there_y in taken):
            step += 1
        taken.append((x, y + 0.045 * step))
        places[method] = 4 + 10 * step
    return places
