"""Results of `heddle replay --json`, and of sweeps, as a pandas table.

    from heddle import results
    runs = results.read("all.jsonl")                       # one row per run
    runs.pivot(index="trace", columns="run", values="cycles")   # refuses two numbers for one place
    results.read("sweep/", per="launch")                   # one row per launch
    results.read("hot.jsonl", per="instruction")           # one row per instruction, of results with --per-instruction

Columns: `trace` (the file's name, with the digest where two traces have one name); `run`, the name of all that distinguishes a
run beside trace and seed: policies, all their parameters, machine and overrides, kernels, versions of model and libraries, of
which it shows those in which the rows differ; `machine`, `divergence`, `scheduler`, `dispatch`, `fetch`, `memory`, `seed`; every number of proto/result.proto under its
own name, those of a message within with a dot (`stalls.issued`, `l1_data.misses`, `divergence_counter.splits`); parameters as
`parameter.divergence.NAME`; overrides of the machine as `set.NAME`; what a sweep put beside the result as `point.NAME`.
`abstraction_level` is that of the trace; `code` says whose instructions kernels are that came as PTX text, such as
"PTX 9.0 by NVVM 13.0 for sm_80", and is missing where none did. Per run, counters are sums over launches; of gauges of
policies and of what they declare as a largest value it is the largest. Counters are integers; a number that a run does not have
is missing (pandas.NA), not zero.
"""
import hashlib
import json
import os
import pathlib
import warnings

import pandas

SCHEMA = 1
LEVELS = ("run", "launch", "instruction")
SEAMS = ("divergence", "scheduler", "dispatch", "fetch", "memory")
# Integers that are sizes of something, not counts: their sum over launches means nothing.
NOT_ADDED = (
    "launch",
    "blocks_per_sm",
    "blocks_per_sm_fewer_registers",
    "blocks_per_sm_more_registers",
    "registers_per_thread",
    "dram.controllers",
    "l2.slices",
    "network_to_memory.inputs",
    "network_to_memory.outputs",
    "network_to_sms.inputs",
    "network_to_sms.outputs",
)
NOT_FLAT = ("instruction_profile", "time_series", "warp_timeline")  # lists of messages; the JSON has them


def read(*paths, per="run"):
    """A table of the results in files and folders. Of a folder, all *.json and *.jsonl below its `results` count if it has
    one (a sweep), else all below itself. Of a sweep, results of points that are not in its present plan are left out with a
    warning. ValueError for what is no result, naming file and line."""
    if per not in LEVELS:
        raise ValueError(f'per="{per}": known are {", ".join(LEVELS)}')
    results = list(load(*paths))
    names = _names(results)
    rows = [row for result, name in zip(results, names) for row in _rows(result, per, name)]
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
    files = sorted(
        pathlib.Path(folder) / name
        for folder, _, names in os.walk(root)
        for name in names
        if name.endswith((".json", ".jsonl"))
    )
    points = path / "points.jsonl"
    if root == path or not points.exists():
        return files
    # The folder keeps the results of earlier plans and of other versions of the model.
    keys = _keys(points)
    planned = [file for file in files if file.stem in keys]
    if left_out := len(files) - len(planned):
        warnings.warn(
            f"{path}: left out {left_out} result{'s' * (left_out > 1)} of points that are not in its plan", stacklevel=4
        )
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
            # Of a launch 0 or 1: the number of launches of which it is so.
            out[prefix + name] = int(value) if name == "without_scoreboard" else value
    return out


def _choice(result, seam):
    """A policy with all its parameters: its name, and the texts "name=value"."""
    choice = result.get(seam) or {}
    return choice.get("name"), sorted(f"{name}={value}" for name, value in choice.get("parameter", {}).items())


def _parts(result):
    """All that distinguishes a run but trace and seed, as pairs of a kind and a text; the policies apart from these."""
    provenance = result["provenance"]
    # The noise is part of the machine; its seed is not.
    overrides = [f"set.{override}" for override in provenance["override"]]
    machine = json.dumps(provenance["machine"], sort_keys=True)
    libraries = sorted(f"{one['name']} {one['digest'][:8]}" for one in provenance.get("policy_library", []))
    return {
        "machine": provenance["machine"]["name"],
        "set": " ".join(overrides),
        "fields": f"machine {_short(machine)}",
        "kernels": f"kernels={provenance['kernels']}" if provenance.get("kernels") else "",
        "model": f"model {provenance.get('model_version', provenance['heddle_version'])}",
        "libraries": " ".join(libraries),
    }


def _short(text):
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _names(results):
    """By result: the names of its trace and of its run. Results with the same name of run are alike in all but trace and seed."""
    digests = {}
    for result in results:
        digests.setdefault(result["provenance"]["trace_name"], set()).add(result["provenance"]["trace_digest"])
    parts = [_parts(result) for result in results]
    choices = [{seam: _choice(result, seam) for seam in SEAMS} for result in results]
    differ = {kind for kind in (parts[0] if parts else ()) if len({one[kind] for one in parts}) > 1}
    # What name and overrides of a machine tell needs no digest of its fields.
    if len({(one["machine"], one["set"]) for one in parts}) == len(
        {(one["machine"], one["set"], one["fields"]) for one in parts}
    ):
        differ.discard("fields")
    common = {}  # by seam and policy: the parameters that all its runs have
    for choice in choices:
        for seam, (name, parameters) in choice.items():
            common[seam, name] = common.get((seam, name), set(parameters)) & set(parameters)
    seams = [seam for seam in SEAMS if len({str(choice[seam]) for choice in choices}) > 1]
    names = []
    for result, part, choice in zip(results, parts, choices):
        words = []
        for seam in seams or ["divergence", "scheduler"]:
            name, parameters = choice[seam]
            own = [parameter for parameter in parameters if parameter not in common[seam, name]]
            words.append((name or "none") + (":" + ",".join(own) if own else ""))
        words += [part[kind] for kind in part if kind in differ and part[kind]]
        trace = result["provenance"]["trace_name"]
        if len(digests[trace]) > 1:
            trace += f" {result['provenance']['trace_digest'][:8]}"
        names.append({"trace": trace, "run": " ".join(words)})
    return names


def _identity(result, names):
    provenance = result["provenance"]
    out = {
        **names,
        "digest": provenance["trace_digest"],
        "machine": provenance["machine"]["name"],
        "abstraction_level": provenance["abstraction_level"],
        "seed": provenance["seed"],
    }
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


def _rows(result, per, names):
    identity = _identity(result, names)
    if per == "run":
        # Counters add up over launches; ratios do not, so that only those of `total` are there.
        # Of what policies count themselves, gauges and largest values do not either: the largest counts.
        largest = {f"{seam}_counter.{name}" for seam in SEAMS for name in (result.get(seam) or {}).get("largest", [])}
        sums = {}
        for launch in result["launch"]:
            for name, value in _flat(launch).items():
                if name in largest:
                    sums[name] = max(sums.get(name, 0), value)
                elif isinstance(value, int) and name not in NOT_ADDED:
                    sums[name] = sums.get(name, 0) + value
        # Of kernels that are not PTX of the recording's own compiler: what they are.
        codes = sorted({launch["code"] for launch in result["launch"] if "code" in launch})
        if codes:
            sums["code"] = "; ".join(codes)
        yield {**identity, **sums, **result["total"]}
        return
    for launch in result["launch"]:
        if per == "launch":
            yield {**identity, **_flat(launch)}
            continue
        for instruction in launch.get("instruction_profile", {}).get("instruction", []):
            yield {**identity, "launch": launch["launch"], "kernel": launch["kernel"], **_flat(instruction)}
