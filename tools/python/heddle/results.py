"""Results of `heddle replay --json`, and of sweeps, as a pandas table.

    from heddle import results
    runs = results.read("all.jsonl")                       # one row per run
    runs.pivot_table(index="trace", columns="divergence", values="cycles")
    results.read("sweep/", per="launch")                   # one row per launch
    results.read("hot.jsonl", per="instruction")           # one row per instruction, of results with --per-instruction

Columns: `trace`, `machine`, `divergence`, `scheduler`, `dispatch`, `fetch`, `seed`; every number of proto/result.proto under its
own name, those of a message within with a dot (`stalls.issued`, `l1_data.misses`, `divergence_counter.splits`); parameters as
`parameter.divergence.NAME`; overrides of the machine as `set.NAME`; what a sweep put beside the result as `point.NAME`.
Counters are integers; a number that a run does not have is missing (pandas.NA), not zero.
"""
import json
import os
import pathlib
import warnings

import pandas

SCHEMA = 1
LEVELS = ("run", "launch", "instruction")
SEAMS = ("divergence", "scheduler", "dispatch", "fetch")
# Integers that are sizes of something, not counts: their sum over launches means nothing.
NOT_ADDED = ("launch", "blocks_per_sm", "blocks_per_sm_fewer_registers", "blocks_per_sm_more_registers",
             "registers_per_thread", "dram.controllers", "l2.slices", "network_to_memory.inputs",
             "network_to_memory.outputs", "network_to_sms.inputs", "network_to_sms.outputs")
NOT_FLAT = ("instruction_profile", "time_series", "warp_timeline")  # lists of messages; the JSON has them


def read(*paths, per="run"):
    """A table of the results in files and folders. Of a folder, all *.json and *.jsonl below its `results` count if it has
    one (a sweep), else all below itself. Of a sweep, results of points that are not in its present plan are left out with a
    warning. ValueError for what is no result, naming file and line."""
    if per not in LEVELS:
        raise ValueError(f'per="{per}": known are {", ".join(LEVELS)}')
    rows = [row for result in load(*paths) for row in _rows(result, per)]
    table = pandas.DataFrame(rows)
    for column in table.columns:
        # Integers stay integers where some rows lack them.
        values = table[column].dropna()
        if len(values) and values.map(lambda value: isinstance(value, int) and not isinstance(value, bool)).all():
            table[column] = table[column].astype("Int64")
    return table


def load(*paths):
    """The results themselves as dictionaries, one after the other."""
    for path in paths:
        for file in _files(pathlib.Path(path)):
            with open(file, encoding="utf-8") as lines:
                for number, line in enumerate(lines, 1):
                    if line.strip():
                        yield _checked(line, f"{file}:{number}")


def _files(path):
    if not path.is_dir():
        return [path]
    root = path / "results" if (path / "results").is_dir() else path
    files = sorted(pathlib.Path(folder) / name for folder, _, names in os.walk(root) for name in names
                   if name.endswith((".json", ".jsonl")))
    points = path / "points.jsonl"
    if root == path or not points.exists():
        return files
    # The folder keeps the results of earlier plans and of other versions of the model.
    keys = _keys(points)
    planned = [file for file in files if file.stem in keys]
    if left_out := len(files) - len(planned):
        warnings.warn(f"{path}: left out {left_out} result{'s' * (left_out > 1)} of points that are not in its plan", stacklevel=4)
    return planned


def _keys(points):
    keys = set()
    for number, line in enumerate(points.read_text(encoding="utf-8").splitlines(), 1):
        try:
            keys.add(json.loads(line)["key"])
        except (json.JSONDecodeError, KeyError, TypeError) as error:
            raise ValueError(f"{points}:{number}: is no point of a sweep; plan the sweep again") from error
    return keys


def _checked(line, place):
    try:
        result = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"{place}: not a result of `heddle replay --json`: {error}") from error
    if not isinstance(result, dict) or "schema" not in result:
        raise ValueError(f'{place}: not a result of `heddle replay --json`: it has no "schema"')
    if result["schema"] != SCHEMA:
        raise ValueError(f"{place}: results of schema {result['schema']}, this package reads schema {SCHEMA}")
    return result


def _flat(message, prefix=""):
    """Numbers and texts of a message and of those within; no lists of messages."""
    out = {}
    for name, value in message.items():
        if isinstance(value, dict):
            out.update(_flat(value, f"{prefix}{name}."))
        elif not (name in NOT_FLAT or isinstance(value, list) and value and isinstance(value[0], dict)):
            out[prefix + name] = value
    return out


def _identity(result):
    provenance = result["provenance"]
    out = {"trace": provenance["trace_name"], "digest": provenance["trace_digest"],
           "machine": provenance["machine"]["name"], "seed": provenance["seed"]}
    for seam in SEAMS:
        choice = result.get(seam, {})
        out[seam] = choice.get("name")
        out.update({f"parameter.{seam}.{name}": value for name, value in choice.get("parameter", {}).items()})
    for override in provenance["override"]:
        name, _, value = override.partition("=")
        out[f"set.{name}"] = value
    if isinstance(result.get("point"), dict):
        out.update(_flat(result["point"], "point."))
    return out


def _rows(result, per):
    identity = _identity(result)
    if per == "run":
        # Counters add up over launches; ratios do not, so that only those of `total` are there.
        sums = {}
        for launch in result["launch"]:
            for name, value in _flat(launch).items():
                if isinstance(value, int) and name not in NOT_ADDED:
                    sums[name] = sums.get(name, 0) + value
        yield {**identity, **sums, **result["total"]}
        return
    for launch in result["launch"]:
        if per == "launch":
            yield {**identity, **_flat(launch)}
            continue
        for instruction in launch.get("instruction_profile", {}).get("instruction", []):
            yield {**identity, "launch": launch["launch"], "kernel": launch["kernel"], **_flat(instruction)}
