"""Makes a report of results: tables in Markdown, and a picture of error against training time for every set.

    python bench/compare/report.py OUT/results.jsonl… --out bench/compare/results

Where a job has several lines, the last one counts. Without matplotlib the pictures are left out.
"""

import argparse
import collections
import json
import pathlib
import statistics

OURS = "gatewood"
TITLES = {
    "mnist35": "MNIST 3 or 5, the paper's split, 1 bit a pixel", "mnist35-standard": "MNIST 3 or 5, standard split",
    "convex": "CONVEX", "cifar-auto-bird": "CIFAR-10 automobile or bird", "cifar10": "CIFAR-10",
    "rectangles": "RECTANGLES",
    "mnist": "MNIST, ten classes", "fashion-mnist": "Fashion-MNIST, ten classes", "adult": "Adult",
    "covertype2": "Covertype, class 2 or another", "covertype": "Covertype, seven classes",
    "electricity": "Electricity", "spambase": "Spambase", "nsl-kdd": "NSL-KDD", "unsw-nb15": "UNSW-NB15",
    "sms-spam": "SMS spam", "made-100k": "Made data, 100,000 rows", "made-1m": "Made data, a million rows",
    **{f"mnist{pair}-standard": f"MNIST {pair[0]} or {pair[1]}, standard split"
       for pair in ("27", "38", "45", "49", "58", "79")},
}


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def spread(values):
    return statistics.stdev(values) if len(values) > 1 else 0.0


def seconds(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 0.1 \
        else f"{value:.4f}"


def size(value):
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 10 else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


def percent(value):
    return f"{100 * value:.2f}"


def loss(value):
    return "-" if value is None else f"{value:.4f}"


def read(paths, cpu=False):
    """The last result of every job, and the lines that say why others have none; training times of the processor on wish."""
    last = {}
    for path in paths:
        for line in pathlib.Path(path).read_text().splitlines():
            result = json.loads(line)
            if cpu and "train_cpu_seconds" in result:
                result["train_seconds"] = result["train_cpu_seconds"]
            last[result["set"], result["method"], result["seed"], result["threads"]] = result
    return list(last.values())


class Cell:
    """One method on one set: its results over the seeds."""

    def __init__(self, results):
        self.results = results
        self.errors = [result["error"] for result in results]
        self.error, self.spread = mean(self.errors), spread(self.errors)
        losses = [result.get("log_loss") for result in results]
        # None where a method gives no probabilities, or the results are older than this figure.
        self.log_loss = None if None in losses else mean(losses)
        # The middle one: threads that wait for each other make a fit of some libraries many times longer now and then.
        self.train = statistics.median(result["train_seconds"] for result in results)
        self.predict = mean(result["predict_seconds"] for result in results)
        self.bytes = mean(result["model_bytes"] for result in results)
        self.rows = results[0]["test_rows"]


def gather(results):
    """Cells by set and method, and what did not end by set and method."""
    cells, missing = collections.defaultdict(dict), collections.defaultdict(dict)
    grouped = collections.defaultdict(list)
    for result in results:
        grouped[result["set"], result["method"]].append(result)
    for (name, method), group in grouped.items():
        good = [result for result in group if "error" in result]
        if good:
            cells[name][method] = Cell(good)
        bad = [result for result in group if "error" not in result]
        if bad:
            why = bad[0].get("skipped") or bad[0].get("failed")
            missing[name][method] = f"{why} ({len(bad)} of {len(group)})"
    return cells, missing


def grid(headings, lines):
    right = ["---" if index == 0 else "---:" for index in range(len(headings))]
    return "\n".join(f"| {' | '.join(line)} |" for line in [headings, right, *lines]) + "\n"


def set_section(name, cells, missing, picture):
    """The table of one set, and a sentence that says who is ahead."""
    order = sorted(cells, key=lambda method: (cells[method].error, cells[method].train))
    lines = []
    for method in order:
        cell = cells[method]
        shown = f"**{method}**" if method == OURS else method
        lines.append([shown, f"{percent(cell.error)} ± {percent(cell.spread)}", loss(cell.log_loss),
                      str(len(cell.errors)), seconds(cell.train), seconds(cell.predict), size(cell.bytes)])
    text = f"### {TITLES.get(name, name)}\n\n"
    sample = next(iter(cells.values())).results[0]
    threads = sorted({str(result["threads"]) for cell in cells.values() for result in cell.results})
    text += f"`{name}`: {sample['train_rows']:,} rows to learn from, {sample['test_rows']:,} to test on; "
    text += f"threads: {' and '.join(threads)}.\n\n"
    text += grid(["method", "error %", "log loss", "seeds", "training s", "predicting s", "model"], lines)
    for method, why in missing.items():
        text += f"\n{method}: no result, {why}."
    if missing:
        text += "\n"
    if OURS in cells:
        text += f"\n{standing(cells)}\n"
    if picture:
        text += f"\n![error against training time]({picture})\n"
    return text + "\n"


def standing(cells):
    ours = cells[OURS]
    rivals = {method: cell for method, cell in cells.items() if not method.startswith(OURS)}
    if not rivals:
        return ""
    best = min(rivals, key=lambda method: rivals[method].error)
    points = 100 * (rivals[best].error - ours.error)
    if points > 0:
        text = f"Gatewood has the lowest error, {points:.2f} points below {best}."
    elif points == 0:
        text = f"Gatewood and {best} have the same error."
    else:
        ahead = [method for method in rivals if rivals[method].error < ours.error]
        text = f"**{best} wins**, {-points:.2f} points below Gatewood; ahead of Gatewood: {', '.join(sorted(ahead))}."
    faster = [method for method in rivals if rivals[method].train < ours.train]
    return text + (f" Faster in training than Gatewood: {', '.join(sorted(faster))}." if faster
                   else " No rival trains faster.")


def ranks(values):
    """Ranks from 1, ties sharing the mean of their places; values that differ by rounding alone are ties."""
    order = sorted(values, key=values.get)
    result, start = {}, 0
    while start < len(order):
        end = start
        while end < len(order) and values[order[end]] - values[order[start]] < 1e-12:
            end += 1
        for method in order[start:end]:
            result[method] = (start + 1 + end) / 2
        start = end
    return result


def common_sets(cells, methods):
    """The PMLB sets that all of these methods have."""
    names = sorted(name for name in cells if name.startswith("pmlb/"))
    return [name for name in names if all(method in cells[name] for method in methods)]


def mean_ranks(cells, methods):
    """The mean rank of each method among these, over the sets that all of them have."""
    by_set = [ranks({method: cells[name][method].error for method in methods}) for name in common_sets(cells, methods)]
    return {method: mean(places[method] for places in by_set) for method in methods} if by_set else {}


def rank_table(title, cells, methods):
    """Mean rank and mean error of methods over the sets that all of them have."""
    common = common_sets(cells, methods)
    if not common or len(methods) < 2:
        return ""
    places = mean_ranks(cells, methods)
    lines = []
    for method in sorted(methods, key=places.get):
        behind = [cells[name][method].error - cells[name][OURS].error for name in common if OURS in methods]
        wins, losses = sum(d > 1e-12 for d in behind), sum(d < -1e-12 for d in behind)
        total = sum(cells[name][method].train for name in common)
        figures = [cells[name][method].log_loss for name in common]
        lines.append([
            f"**{method}**" if method == OURS else method,
            f"{places[method]:.2f}",
            percent(mean(cells[name][method].error for name in common)),
            "" if method == OURS else f"{wins} / {len(behind) - wins - losses} / {losses}",
            loss(None if None in figures else mean(figures)),
            "" if method == OURS else standing_by_loss(cells, common, method),
            seconds(total),
        ])
    beside = "Gatewood ahead / equal / behind"
    return (f"{title}, over {len(common)} sets:\n\n"
            + grid(["method", "mean rank", "mean error %", beside, "mean log loss", f"{beside} in log loss",
                    "training s, a split of each"], lines)
            + "\n")


def standing_by_loss(cells, names, method):
    """On how many sets Gatewood's log loss is lower, equal or higher; nothing where either has none."""
    pairs = [(cells[name][OURS].log_loss, cells[name][method].log_loss) for name in names if OURS in cells[name]]
    if not pairs or any(None in pair for pair in pairs):
        return "-"
    ahead, behind = (sum(sign * (theirs - ours) > 1e-12 for ours, theirs in pairs) for sign in (1, -1))
    return f"{ahead} / {len(pairs) - ahead - behind} / {behind}"


def clear_differences(cells, names, method):
    """Of paired splits: how often Gatewood is ahead or behind by more than two standard errors, in error and in log loss."""
    counts = []
    for figure in ("error", "log_loss"):
        ahead = behind = 0
        for name in names:
            ours, theirs = ({result["seed"]: result.get(figure) for result in cells[name][one].results}
                            for one in (OURS, method))
            pairs = [theirs[seed] - ours[seed] for seed in ours.keys() & theirs.keys()
                     if None not in (ours[seed], theirs[seed])]
            if len(pairs) > 1:
                slack = 2 * spread(pairs) / len(pairs) ** 0.5 + 1e-12
                ahead += mean(pairs) > slack
                behind += mean(pairs) < -slack
        counts += [ahead, behind]
    return counts


def clear_text(cells, methods):
    """A line for each rival that says how many differences are more than chance."""
    text = ""
    for method in methods:
        names = common_sets(cells, [OURS, method])
        if names and OURS in cells[names[0]]:
            error_ahead, error_behind, loss_ahead, loss_behind = clear_differences(cells, names, method)
            text += (f"- Beside {method}, differences of more than two standard errors of the splits: in error, Gatewood is ahead on "
                     f"{error_ahead} sets and behind on {error_behind}; in log loss, ahead on {loss_ahead} and behind on {loss_behind}.\n")
    return text + "\n" if text else ""


def pmlb_section(cells, missing, picture):
    names = sorted(name for name in cells if name.startswith("pmlb/"))
    methods = sorted({method for name in names for method in cells[name]})
    ours = [method for method in methods if method.startswith(OURS)]
    defaults = [method for method in methods if method.endswith("-defaults")]
    searched = [method for method in methods if method.endswith("-search")]
    text = "## The sets of PMLB\n\nStratified splits of 80 and 20 %, one a seed. "
    text += "A rank is a method's place on a set by its mean error over the splits; 1 is best, ties share places.\n\n"
    text += rank_table("Gatewood beside the rivals' defaults", cells, ours + defaults)
    text += clear_text(cells, defaults)
    # Those that have all sets; the others' sets are fewer, and not a fair choice of all.
    whole = [method for method in searched if all(method in cells[name] for name in names)]
    text += rank_table("Gatewood beside the rivals after a search", cells, ours + whole)
    if len(whole) < len(searched):
        text += rank_table("Beside all that were searched, where not all sets were run", cells, ours + searched)
    if whole:
        text += rank_table("All together", cells, ours + defaults + whole)
    if picture:
        text += f"![mean error against training time]({picture})\n\n"
    shown = ours + defaults + searched
    lines = []
    for name in names:
        known = {method: cells[name][method].error for method in shown if method in cells[name]}
        best = min(known.values())

        def figure(method):
            if method not in known:
                return "-"
            return f"**{percent(known[method])}**" if known[method] - best < 1e-12 else percent(known[method])

        lines.append([name.removeprefix("pmlb/"), *map(figure, shown)])
    text += "Mean error of every method on every set, the lowest in bold:\n\n" + grid(["set", *shown], lines) + "\n"
    text += loss_grid(cells, names, shown)
    for name in sorted(missing):
        for method, why in missing[name].items():
            text += f"- {name}, {method}: {why}\n"
    return text


def loss_grid(cells, names, methods):
    """The mean log loss of the methods that have one, set by set."""
    known = [method for method in methods
             if any(cells[name][method].log_loss is not None for name in names if method in cells[name])]
    if not known:
        return ""
    lines = []
    for name in names:
        here = {method: cells[name][method].log_loss for method in known if method in cells[name]}
        best = min((value for value in here.values() if value is not None), default=None)
        figures = [loss(here.get(method)) for method in known]
        bold = [f"**{figure}**" if best is not None and here.get(method) == best else figure
                for method, figure in zip(known, figures)]
        lines.append([name.removeprefix("pmlb/"), *bold])
    return "Mean log loss, likewise:\n\n" + grid(["set", *known], lines) + "\n"


def pmlb_figures(cells):
    """Mean error and summed training time of every method over the PMLB sets, as figures to draw."""
    names = [name for name in cells if name.startswith("pmlb/")]
    methods = {method for name in names for method in cells[name]}
    full = [method for method in methods if all(method in cells[name] for name in names)]
    total = lambda method: sum(cells[name][method].train for name in names)
    return {method: (total(method), mean(cells[name][method].error for name in names), 0.0) for method in full}


def summary_table(cells):
    lines = []
    for name in TITLES:
        here = cells.get(name, {})
        rivals = {method: cell for method, cell in here.items() if not method.startswith(OURS)}
        if OURS not in here or not rivals:
            continue
        ours, best = here[OURS], min(rivals, key=lambda method: rivals[method].error)
        ahead = ours.error < rivals[best].error
        lines.append([TITLES[name], f"{percent(ours.error)} ± {percent(ours.spread)}", loss(ours.log_loss),
                      seconds(ours.train), best, f"{percent(rivals[best].error)} ± {percent(rivals[best].spread)}",
                      loss(rivals[best].log_loss), seconds(rivals[best].train),
                      OURS if ahead else "neither" if ours.error == rivals[best].error else f"**{best}**"])
    headings = ["set", "Gatewood: error %", "log loss", "training s", "best rival", "its error %", "its log loss",
                "its training s", "lower error"]
    return "## Summary\n\n" + grid(headings, lines) + "\n" if lines else ""


def provenance(results):
    """Machine, versions and commit, as the results themselves say."""
    def each(key):
        return ", ".join(sorted({str(result[key]) for result in results if result.get(key) is not None}))
    versions = sorted({f"{result['method'].removesuffix('-defaults').removesuffix('-search')} {result['version']}"
                       for result in results if result.get("version")})
    return (f"- machine: {each('machine')}; each job on {each('threads')} threads, {each('jobs_at_a_time')} jobs at a "
            f"time on cores of their own; load of the machine before the run: {each('load_before') or 'unknown'}\n"
            f"- versions: {', '.join(versions)} (extra-trees, hist-boosting, random-forest and svm-rbf are "
            f"scikit-learn's); Python {each('python')}\n- commit: {each('commit')}\n")


PREFACE = """Every method gets the same rows and the same number of threads, its jobs mixed with the others'. Gatewood
runs with the defaults of its command. Training time goes from raw rows in memory to a model: for Gatewood encoding and
learning, for the rivals their own binning, categories and counting of words, and a search where one is named.
Predicting time goes from raw test rows in memory to their classes, once. Reading files is in nobody's time. A model's
size is that of its file as the library saves it, for scikit-learn a pickle. Training times are medians over seeds,
errors means ± their standard deviation, log losses means (no probability below 1e-15); where a set has no split of its own, each seed is another split.
`bench/compare/rivals.py` has the rivals' settings.
"""

CPU = """
The machine was busy with other work: training times are of the processor, those of all threads together. Predicting times mean little.
"""


def cpu_text(results):
    """What the times of the processor are of."""
    ours = [result for result in results if result["method"].startswith(OURS) and "error" in result]
    # Older lines have that of the whole command alone.
    older = {result["set"] for result in ours if "command_cpu_seconds" not in result}
    newer = sorted({result["set"] for result in ours} - older)
    small = [name for name in newer if name.startswith("pmlb/")]
    named = [name for name in newer if name not in small] + ([f"{len(small)} of PMLB's"] if small else [])
    if not older:
        return CPU
    return CPU + f"Gatewood's are of the whole command, with reading the file{', but for these sets: ' if named else ''}{', '.join(named)}.\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+")
    parser.add_argument("--out", required=True)
    parser.add_argument("--cpu", action="store_true", help="training times of the processor, for runs on a busy machine")
    args = parser.parse_args()
    out = pathlib.Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    results = read(args.results, args.cpu)
    cells, missing = gather(results)
    figures = pmlb_figures(cells)
    try:
        from pictures import draw
    except ImportError:
        draw = None

    def picture(name, title, points):
        if not draw or len(points) < 2:
            return None
        draw(out / f"{name}.svg", title, points)
        return f"{name}.svg"

    text = f"# Gatewood beside others\n\n{provenance(results)}\n{PREFACE}{cpu_text(results) if args.cpu else ''}\n"
    text += summary_table(cells)
    chosen = [name for name in TITLES if name in cells]
    if chosen:
        text += "## Set by set\n\n"
    for name in chosen:
        points = {method: (cell.train, cell.error, cell.spread) for method, cell in cells[name].items()}
        text += set_section(name, cells[name], missing[name], picture(name, TITLES[name], points))
    if figures:
        image = picture("pmlb", "PMLB sets, mean error", figures)
        text += pmlb_section(cells, {name: why for name, why in missing.items() if name.startswith("pmlb/")}, image)
    (out / "report.md").write_text(text.rstrip() + "\n")
    print(f"wrote {out / 'report.md'}")


if __name__ == "__main__":
    main()
