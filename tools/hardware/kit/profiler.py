"""Nsight Compute: whether it may read counters, which of ours it knows, and what it measures.

The profiler runs the program again and again for one launch until it has read all counters (kernel replay); what a
kernel has written is put back in between. Clocks are left alone. Caches are emptied before each pass, as a replay of
ours begins with empty ones.
"""

import csv
import io
import os
import re

from kit import processes

CLOCK_CONTROL, CACHE_CONTROL = "none", "all"
OPTIONS = [
    "--target-processes", "application-only", "--profile-from-start", "off", "--clock-control", CLOCK_CONTROL,
    "--cache-control", CACHE_CONTROL, "--replay-mode", "kernel", "--csv", "--page", "raw", "--print-units", "base",
    "--print-kernel-base", "mangled",
]  # fmt: skip
NO_PERMISSION = "ERR_NVGPUCTRPERM"
PASSES = re.compile(r"- (\d+) pass(?:es)?\s*$", re.M)
NOT_FOUND = re.compile(r"Failed to find metric\s+(?:regex:\^?)?([\w.\\]+)")
TRIES = 12


class NoCounters(Exception):
    """The profiler cannot be used; the text says why."""


def command(ncu, metrics, log, program):
    return [ncu, *OPTIONS, "--metrics", ",".join(metrics), "--log-file", log, *program]


def profile(ncu, metrics, log, program, seconds, output):
    """Runs a program under the profiler. Gives how it ended, and what is in the profiler's log."""
    log.unlink(missing_ok=True)
    # Numbers as English has them, whatever the user's language.
    environment = dict(os.environ, LC_ALL="C")
    ended = processes.run(command(ncu, metrics, log, program), seconds, environment=environment, output=output)
    text = log.read_text(errors="replace") if log.exists() else ""
    return ended, text


def number(text):
    """A number as the profiler prints it, with or without marks between thousands; None for "n/a" and the like."""
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def read_rows(text):
    """Results that the profiler has printed as CSV: one dictionary per launch, with "kernel", "grid", "block" and
    "counters", (unit, value) by name. Lines around the table are the tool's messages. There are two forms: a column per
    counter, with units in a second line (page raw), and a line per counter (page details)."""
    lines = [line for line in text.splitlines() if line.startswith('"')]
    begin = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if begin is None:
        return []
    try:
        names, *rows = csv.reader(io.StringIO("\n".join(lines[begin:])))
    except csv.Error:
        return []
    rows = [dict(zip(names, row)) for row in rows if len(row) == len(names)]
    if not {"Kernel Name", "Grid Size", "Block Size"} <= set(names):
        return []
    return read_long(rows) if "Metric Name" in names else read_wide(names, rows)


def launch_of(row):
    return {
        "kernel": row["Kernel Name"],
        "grid": sizes(row["Grid Size"]),
        "block": sizes(row["Block Size"]),
        "counters": {},
    }


def read_wide(names, rows):
    if not rows or rows[0]["ID"] != "":
        return []
    units, results = rows[0], []
    for row in rows[1:]:
        results.append(launch_of(row))
        for name in names:
            if COUNTER.match(name) and number(row[name]) is not None:
                results[-1]["counters"][name] = (units[name], number(row[name]))
    return results


def read_long(rows):
    results = {}
    for row in rows:
        launch = results.setdefault(row["ID"], launch_of(row))
        if COUNTER.match(row["Metric Name"]) and number(row["Metric Value"]) is not None:
            launch["counters"][row["Metric Name"]] = (row["Metric Unit"], number(row["Metric Value"]))
    return list(results.values())


# "smsp__inst_executed.sum"; other columns are about the launch.
COUNTER = re.compile(r"[a-z0-9]+__[\w.]+$")


def sizes(text):
    """ "(4, 1, 1)" as numbers."""
    return tuple(int(word) for word in re.findall(r"\d+", text))


def read_passes(text):
    """In how many passes each launch was profiled, in the order of the launches."""
    return [int(match) for match in PASSES.findall(text)]


def unknown_metrics(text, metrics):
    """Those of our metrics that a message names as not known."""
    named = {match.replace("\\", "").rstrip(".") for match in NOT_FOUND.findall(text)}
    return [name for name in metrics if name in named or name.rsplit(".", 1)[0] in named]


def test(ncu, metrics, program, folder, seconds):
    """Profiles one launch of `program` with all metrics, and leaves out those that the tool does not know. Gives the
    metrics that can be measured, and (name, why) of the others. Raises NoCounters."""
    if not ncu:
        raise NoCounters("ncu is not there")
    wanted, skipped, tested = list(metrics), [], None
    for _ in range(TRIES):
        ended, text = profile(ncu, wanted, folder / "test.csv", program, seconds, folder / "test.out")
        if NO_PERMISSION in text + ended.errors + ended.output:
            raise NoCounters(f"{NO_PERMISSION}: this user may not read the card's counters")
        if ended.status is None:
            raise NoCounters(f"ncu {ended.why()}")
        rows = read_rows(text)
        if ended.ok and rows:
            missing = [name for name in wanted if name not in rows[0]["counters"]]
            skipped += [(name, "has no value") for name in missing]
            return [name for name in wanted if name not in missing], skipped
        told = unknown_metrics(text + ended.errors + ended.output, wanted)
        if told:
            skipped += [(name, "is not known to ncu") for name in told]
            wanted = [name for name in wanted if name not in told]
        elif tested is None and len(wanted) > 1:
            # It names none: perhaps it does not measure anything at all.
            tested = wanted
            wanted = ["smsp__inst_executed.sum"] if "smsp__inst_executed.sum" in wanted else wanted[:1]
            ended, text = profile(ncu, wanted, folder / "test.csv", program, seconds, folder / "test.out")
            if not ended.ok or not read_rows(text):
                raise NoCounters(f"ncu {why(ended, text)}")
            wanted = find_known(ncu, tested, program, folder, seconds)
            skipped += [(name, "makes ncu fail") for name in tested if name not in wanted]
        else:
            break
        if not wanted:
            break
    raise NoCounters(f"ncu {why(ended, text)}")


def why(ended, text):
    errors = [line for line in text.splitlines() if "==ERROR==" in line]
    if errors:
        return errors[0][:300]
    return ended.why() if not ended.ok else "printed no table of the form that is documented"


def find_known(ncu, metrics, program, folder, seconds):
    """Halves a list of which some make the tool fail, until the rest is found; gives up parts after some tries."""
    known, parts, tries = [], [metrics], 0
    while parts and tries < TRIES:
        part = parts.pop()
        tries += 1
        ended, text = profile(ncu, part, folder / "test.csv", program, seconds, folder / "test.out")
        if ended.ok and read_rows(text):
            known += part
        elif len(part) > 1:
            parts += [part[: len(part) // 2], part[len(part) // 2 :]]
    return [name for name in metrics if name in known]
