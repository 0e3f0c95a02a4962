"""Figures for papers of the data of a report: `heddle report RESULTS --figure NAME -o FILE` calls this.

    python3 -m heddle.figures NAME DATA OUTPUT      DATA: of `heddle report --json`; OUTPUT: .pdf, .svg or .png

As a module, draw(data, name) gives the matplotlib figure to change it further. Text in PDF files stays text; the same data
give the same file. Colours are those of the page, and hatching tells the classes apart in grey. Runs are named by the
policies in which they differ.
"""
import json
import math
import sys

try:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.colors
    import matplotlib.pyplot as plt
except ImportError as missing:
    print(f"heddle: --figure needs matplotlib ({missing}): install python3-matplotlib", file=sys.stderr)
    sys.exit(1)

WIDTH = 7.0  # inches: two columns of a paper
STYLE = {
    "pdf.fonttype": 42,
    "svg.hashsalt": "heddle",
    "svg.fonttype": "none",
    "font.size": 7,
    "axes.linewidth": 0.5,
    "hatch.linewidth": 0.4,
    "figure.constrained_layout.use": True,
    "xtick.major.width": 0.5,
    "ytick.major.width": 0.5,
    "legend.frameon": False,
}
COLORS = ["#3b6fb6", "#e58a45", "#3d8f5a", "#e0607e", "#8e4a9e", "#63b8d8", "#7a3b2e", "#d9b23c"]
HATCHES = ["", "////", "....", "\\\\\\\\", "xxxx", "----", "||||", "++++"]
MARKERS = "os^Dvp*h"
MOST_BARS = 16  # of a kernel: with more nobody finds a run in the legend again
SEAMS = ("divergence", "scheduler", "dispatch", "fetch", "memory")
STALLS = [
    ("issued", COLORS[0], ""),
    ("no unit free", COLORS[5], "...."),
    ("memory", COLORS[3], "////"),
    ("arithmetic", COLORS[7], "\\\\\\\\"),
    ("branch", COLORS[4], "xxxx"),
    ("fetch", COLORS[2], "----"),
    ("policy", COLORS[1], "++++"),
    ("barrier", COLORS[6], "||||"),
    ("exited", "#a9adb3", "////"),
    ("no warp", "#d3d6da", ""),
]
PORTS = [
    STALLS[0],
    ("front end full", COLORS[5], "...."),
    ("all wait for memory", COLORS[3], "////"),
    ("idle", "#a9adb3", "////"),
]
THREADS = [
    ("in flight", COLORS[0], ""),
    ("barrier", COLORS[6], "||||"),
    ("other side", COLORS[1], "++++"),
    ("reconverging", COLORS[7], "\\\\\\\\"),
    ("finished", "#a9adb3", "////"),
    ("ready", COLORS[5], "...."),
]


class Table:
    """Cells by kernel and run, of the first machine that has any."""

    def __init__(self, data):
        self.data = data
        self.machine = min(run["machine"] for run in data["runs"])
        self.base = data["machines"][self.machine]["baseline"]
        self.runs = [i for i, run in enumerate(data["runs"]) if run["machine"] == self.machine]
        self.cells = {(cell["k"], cell["r"]): cell for cell in data["cells"]}
        self.kernels = [k for k in range(len(data["kernels"])) if any((k, r) in self.cells for r in self.runs)]
        self.differing = [seam for seam in SEAMS if len({data["runs"][r][seam] for r in self.runs}) > 1]
        self.notes = []  # what a reader of the figure has to know and cannot see in it

    def kernel(self, k):
        """Its name."""
        return self.data["kernels"][k]["name"]

    def run(self, r):
        """Its name: the policies in which the runs differ; all that the results name if there is one run."""
        policies = [self.data["runs"][r][seam] for seam in self.differing]
        return " ".join(filter(None, policies)) or self.data["runs"][r]["name"]

    def speedup(self, k, r):
        """Over the baseline; None where one was not run or took no time."""
        cell, base = self.cells.get((k, r)), self.cells.get((k, self.base))
        return base["cycles"] / cell["cycles"] if cell and base and cell["cycles"] and base["cycles"] else None

    def mean(self, r):
        """Geometric mean of the speed-ups, None where one is missing."""
        values = [self.speedup(k, r) for k in self.kernels]
        return None if None in values or not values else math.exp(sum(map(math.log, values)) / len(values))


def heatmap(table):
    """Speed-ups of all kernels and runs; blue is faster than the baseline, orange slower."""
    rows = [[table.speedup(k, r) for r in table.runs] for k in table.kernels] + [[table.mean(r) for r in table.runs]]
    span = max([math.log(1.05)] + [abs(math.log(value)) for row in rows for value in row if value])
    colors = matplotlib.colors.LinearSegmentedColormap.from_list("speed", ["#be5a14", "#f6f6f4", "#1c5ca8"])
    figure, axes = plt.subplots(figsize=(WIDTH, 0.8 + 0.17 * len(rows)))
    image = axes.imshow(
        [[math.log(v) if v else math.nan for v in row] for row in rows],
        cmap=colors,
        vmin=-span,
        vmax=span,
        aspect="auto",
    )
    axes.set_xticks(range(len(table.runs)), [table.run(r) for r in table.runs], rotation=45, ha="right")
    axes.set_yticks(range(len(rows)), [table.kernel(k) for k in table.kernels] + ["geometric mean"])
    for y, row in enumerate(rows):
        for x, value in enumerate(row):
            strong = value and abs(math.log(value)) > 0.6 * span
            axes.text(
                x,
                y,
                f"{value:.2f}" if value else "-",
                ha="center",
                va="center",
                fontsize=6,
                color="white" if strong else "black",
            )
    ticks = [-span, 0, span]
    figure.colorbar(image, ticks=ticks, label=f"speed-up over {table.run(table.base)}").ax.set_yticklabels(
        [f"{math.exp(tick):.2f}" for tick in ticks]
    )
    return figure


def _style(i):
    """Colour, and number of the hatch or marker, of the i-th run: another pair for each of 64."""
    return COLORS[i % len(COLORS)], (i + i // len(COLORS)) % len(HATCHES)


def _legend_above(axes, names, inches, fontsize=7):
    """A legend above the axes, in as many columns as there is room for; makes the figure higher by its lines."""
    columns = max(1, min(len(names), int(72 * inches / (0.52 * fontsize * (max(map(len, names)) + 6)))))
    lines = math.ceil(len(names) / columns)
    figure = axes.figure
    figure.set_size_inches(figure.get_figwidth(), figure.get_figheight() + lines * 1.6 * fontsize / 72)
    axes.legend(ncol=columns, loc="lower center", bbox_to_anchor=(0.5, 1.0), fontsize=fontsize, columnspacing=1.2)


def speedup(table):
    """Grouped bars: all runs, kernel by kernel."""
    runs = table.runs[:MOST_BARS]
    if table.base not in runs:
        runs[-1] = table.base
    left_out = [table.run(r) for r in table.runs if r not in runs]
    if left_out:
        table.notes.append(
            f"draws {len(runs)} of {len(table.runs)} runs and leaves out {', '.join(left_out)}; heatmap shows all"
        )
    figure, axes = plt.subplots(figsize=(WIDTH, 2.0))
    names = [table.kernel(k) for k in table.kernels] + ["geo. mean"]
    width = 0.8 / len(runs)
    for i, r in enumerate(runs):
        values = [table.speedup(k, r) or math.nan for k in table.kernels] + [table.mean(r) or math.nan]
        at = [x + (i - (len(runs) - 1) / 2) * width for x in range(len(names))]
        color, hatch = _style(i)
        axes.bar(
            at, values, width, label=table.run(r), color=color, hatch=HATCHES[hatch], edgecolor="black", linewidth=0.3
        )
        for x, k in zip(at, table.kernels):
            cell, base = table.cells.get((k, r), {}), table.cells.get((k, table.base))
            if "range" in cell and base:
                least, most = base["cycles"] / cell["range"][1], base["cycles"] / cell["range"][0]
                axes.plot([x, x], [least, most], color="black", linewidth=0.6)
    axes.axhline(1, color="black", linewidth=0.5, linestyle="--")
    axes.set_xticks(
        range(len(names)), names, rotation=30 if len(names) > 8 else 0, ha="right" if len(names) > 8 else "center"
    )
    axes.set_ylabel(f"speed-up over {table.run(table.base)}")
    axes.margins(x=0.01)
    _legend_above(axes, [table.run(r) for r in runs], WIDTH)
    return figure


def _stacked(table, parts, label):
    """One small chart per kernel: bars of classes, by run, as shares of the baseline's whole."""
    columns = min(3, len(table.kernels))
    lines = math.ceil(len(table.kernels) / columns)
    figure, grid = plt.subplots(
        lines, columns, figsize=(WIDTH, 0.6 + lines * (0.55 + 0.11 * len(table.runs))), squeeze=False, sharex=True
    )
    handles, longest = {}, 0.0
    for axes in grid.flat[len(table.kernels) :]:
        axes.axis("off")
    for axes in grid.flat[len(table.kernels) - columns : len(table.kernels)]:
        axes.tick_params(labelbottom=True)  # the lowest of its column: only the last line has numbers by itself
    for axes, k in zip(grid.flat, table.kernels):
        runs = [r for r in table.runs if (k, r) in table.cells]
        base = sum(parts(table.cells.get((k, table.base), table.cells[k, runs[0]]))[1]) or 1
        left = [0.0] * len(runs)
        for i, (name, color, hatch) in enumerate(parts(table.cells[k, runs[0]])[0]):
            values = [100 * parts(table.cells[k, r])[1][i] / base for r in runs]
            if any(values):
                bars = axes.barh(
                    range(len(runs)), values, left=left, color=color, hatch=hatch, edgecolor="black", linewidth=0.2
                )
                handles.setdefault(name, bars)
            left = [a + b for a, b in zip(left, values)]
        longest = max(longest, *left)
        axes.set_yticks(range(len(runs)), [table.run(r) for r in runs], fontsize=6)
        axes.invert_yaxis()
        axes.set_title(table.kernel(k), fontsize=7)
    grid[0, 0].set_xlim(0, 1.03 * longest)  # of all, which share it
    figure.supxlabel(label, fontsize=7)
    figure.legend(handles.values(), handles.keys(), ncol=5, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return figure


def stalls(table):
    """Where the cycles of the issue ports went."""
    return _stacked(
        table,
        lambda cell: (STALLS, cell["stalls"]) if "stalls" in cell else (PORTS, cell["ports"]),
        f"% of the port cycles of {table.run(table.base)}",
    )


def threads(table):
    """What threads do while their SM issues nothing."""
    return _stacked(
        table, lambda cell: (THREADS, cell["threads"]), f"% of the thread cycles of {table.run(table.base)}"
    )


def sizes(table):
    """Warp sizes over time of the kernel and run with the largest speed-up, below those of the baseline."""
    found = [
        (table.speedup(k, r) or 0, k, r)
        for k in table.kernels
        for r in table.runs
        if r != table.base
        and "series" in table.cells.get((k, r), {})
        and "series" in table.cells.get((k, table.base), {})
    ]
    if not found:
        raise ValueError(
            "no kernel has a course over time under the baseline and another run: replay with --bins CYCLES"
        )
    _, k, best = max(found)
    figure, grid = plt.subplots(2, 1, figsize=(WIDTH, 3.0), sharex=True, sharey=True)
    machine = table.data["machines"][table.machine]
    colors = matplotlib.colormaps["viridis"]
    for axes, r in zip(grid, (table.base, best)):
        series = table.cells[k, r]["series"]
        at = [i * series["width"] for i in range(len(series["wi"]))]
        slots = [cycles * machine["ports"] or 1 for cycles in series["resident"]]
        classes = series["sizes"]
        step = math.ceil(machine["warp_size"] / len(classes))
        axes.stackplot(
            at,
            [[100 * n / s for n, s in zip(counts, slots)] for counts in classes],
            step="post",
            linewidth=0,
            colors=[colors(i / max(1, len(classes) - 1)) for i in range(len(classes))],
            labels=[f"{i * step + 1}-{min(machine['warp_size'], (i + 1) * step)}" for i in range(len(classes))],
        )
        axes.set_title(f"{table.kernel(k)}, {table.run(r)}", fontsize=7)
        axes.set_ylabel("% of port cycles")
        axes.margins(x=0)
    grid[1].set_xlabel("cycles")
    grid[0].legend(title="active threads", loc="upper left", bbox_to_anchor=(1.0, 1.05))
    return figure


def roofline(table):
    """IPC over thread-instructions per byte of DRAM traffic, under the roofs of issue ports and DRAM."""
    machine = table.data["machines"][table.machine]
    points = {
        (k, r): (cell["ti"] / (cell["dram"]["accesses"] * machine["dram_access_bytes"]), cell["ipc"])
        for r in table.runs
        for k in table.kernels
        if "dram" in (cell := table.cells.get((k, r), {})) and cell["dram"]["accesses"]
    }
    if not points:
        raise ValueError("no run has DRAM traffic: the machine's latencies are fixed, or nothing left its caches")
    figure, axes = plt.subplots(figsize=(3.4, 2.4))
    peak, bandwidth = machine["peak_ipc"], machine["dram_bytes_per_cycle"]
    intensities = [x for x, _ in points.values()]
    left, right = min(intensities) / 2, max(intensities + [peak / bandwidth]) * 2
    axes.plot([left, peak / bandwidth, right], [left * bandwidth, peak, peak], color="black", linewidth=1)
    axes.set(xscale="log", yscale="log", xlabel="thread-instructions per byte of DRAM traffic", ylabel="IPC")
    runs = [r for r in table.runs if any((k, r) in points for k in table.kernels)]
    for i, r in enumerate(runs):
        color, marker = _style(i)
        axes.plot(
            *zip(*(points[k, r] for k in table.kernels if (k, r) in points)),
            MARKERS[marker],
            markersize=3,
            label=table.run(r),
            color=color,
        )
    _name_kernels(
        axes,
        {
            table.kernel(k): of_kernel
            for k in table.kernels
            if (of_kernel := [points[k, r] for r in runs if (k, r) in points])
        },
    )
    _legend_above(axes, [table.run(r) for r in runs], 3.4, fontsize=5)
    return figure


def _name_kernels(axes, points):
    """A thin line through the points of each kernel, and its name at the highest, above the names that are in its way."""
    width, height = (72 * inches for inches in axes.figure.get_size_inches())
    limits = [[math.log(end) for end in ends] for ends in (axes.get_xlim(), axes.get_ylim())]
    taken = []  # left and right end, and height, of names, in points
    for name, of_kernel in sorted(points.items(), key=lambda item: max(y for _, y in item[1])):
        axes.plot(*zip(*sorted(of_kernel, key=lambda point: point[1])), color="#a9adb3", linewidth=0.5, zorder=1)
        highest = max(of_kernel, key=lambda point: point[1])
        x, y = (
            size * (math.log(value) - low) / (high - low)
            for value, (low, high), size in zip(highest, limits, (width, height))
        )
        reach, shift = 1.5 * len(name), 3.0  # a letter of 5 points is 3 wide
        while any(a < x + reach and x - reach < b and abs(y + shift - at) < 5.5 for a, b, at in taken):
            shift += 1
        taken.append((x - reach, x + reach, y + shift))
        axes.annotate(name, highest, (0, shift), textcoords="offset points", fontsize=5, ha="center", va="bottom")


FIGURES = {function.__name__: function for function in (heatmap, speedup, stalls, threads, sizes, roofline)}


def draw(data, name):
    """The figure of that name; prints a note if it does not show all runs. ValueError if the results do not have what it
    shows."""
    table = Table(data)
    with matplotlib.rc_context(STYLE):
        figure = FIGURES[name](table)
    for note in table.notes:
        print(f"heddle: note: --figure {name}: {note}", file=sys.stderr)
    return figure


def main(arguments):
    """The program."""
    if len(arguments) != 4 or arguments[1] not in FIGURES:
        print(f"usage: python3 -m heddle.figures {'|'.join(FIGURES)} DATA OUTPUT", file=sys.stderr)
        return 2
    _, name, data, output = arguments
    try:
        with open(data, encoding="utf-8") as file:
            figure = draw(json.load(file), name)
        metadata = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}.get(output.rsplit(".", 1)[-1])
        with matplotlib.rc_context(STYLE):
            figure.savefig(output, dpi=200, bbox_inches="tight", metadata=metadata)
    except (OSError, ValueError) as error:
        print(f"heddle: --figure {name}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
