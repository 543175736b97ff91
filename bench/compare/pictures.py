"""Pictures of the report: error against training time, as SVG with the same bytes for the same figures."""

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "gatewood"
import matplotlib.pyplot  # noqa: E402
import matplotlib.ticker  # noqa: E402
from matplotlib.backends.backend_agg import RendererAgg  # noqa: E402

COLOURS = {"gatewood": "#0b7a3b", "lightgbm": "#c2452d", "xgboost": "#3566b0", "catboost": "#b08a1e",
           "random-forest": "#7a5195", "extra-trees": "#a05195", "hist-boosting": "#4d8f8b", "svm-rbf": "#666666"}


def draw(path, title, points):
    """Draws methods as points: name to (training seconds, error, spread of the error)."""
    figure, axes = matplotlib.pyplot.subplots(figsize=(6.4, 4.0))
    names = {}
    for method, (time, error, spread) in sorted(points.items()):
        family = method.removesuffix("-defaults").removesuffix("-search")
        colour = COLOURS.get(family, COLOURS["gatewood"] if family.startswith("gatewood") else "#999999")
        ours = family.startswith("gatewood")
        marker = "*" if ours else "^" if method.endswith("-search") else "o"
        axes.errorbar(time, 100 * error, 100 * spread, marker=marker, color=colour, markersize=12 if ours else 6,
                      capsize=2, linewidth=1)
        names[method] = axes.annotate(method, (time, 100 * error), xytext=(0, 0), textcoords="offset points", fontsize=8,
                                      color=colour, weight="bold" if ours else "normal", va="center")
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
    place_names(figure, axes, names, {method: (time, 100 * error) for method, (time, error, _) in points.items()})
    figure.savefig(path, format="svg", metadata={"Date": None})
    matplotlib.pyplot.close(figure)


# Where a name may stand beside its point, in points: the anchor, then how far right and up. The first that is free is taken.
BESIDE = [(anchor, right, up)
          for up in (0, 10, -10, 20, -20, 30, -30, 40, -40, 50, 60)
          for anchor, right in (("left", 10), ("right", -10), ("center", 0))
          if anchor != "center" or abs(up) >= 10]


def place_names(figure, axes, names, points):
    """Moves names so that they cover neither each other nor a point, and stay within the axes."""
    renderer = RendererAgg(1, 1, figure.dpi)
    frame = axes.get_window_extent(renderer)
    scale = figure.dpi / 72
    dots = [axes.transData.transform(point) for point in points.values()]
    taken = []
    for method in sorted(names, key=lambda method: (points[method][1], method)):
        name = names[method]
        for anchor, right, up in BESIDE:
            name.set_ha(anchor)
            name.set_position((right, up))
            box = name.get_window_extent(renderer).padded(scale)
            inside = frame.x0 < box.x0 and box.x1 < frame.x1 and frame.y0 < box.y0 and box.y1 < frame.y1
            covers = any(box.padded(4 * scale).contains(*dot) for dot in dots) or any(box.overlaps(other) for other in taken)
            if inside and not covers:
                break
        taken.append(name.get_window_extent(renderer))
