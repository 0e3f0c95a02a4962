"""Results of a visit in the form of heddle.hardware.v1.Visit (proto/hardware.proto), as JSON."""

from kit import build, kernels, profiler

BETWEEN = (
    "buffers that a kernel changes are copied anew on the card before each repetition; caches are left as that and the "
    "launch before leave them"
)
NO_TIME = "there was no time left for it"
SOURCES = (build.CUDA, build.TRACE_PTX)


def step(kind, name, source=""):
    """The name of a step in the state."""
    return " ".join(word for word in (kind, name, source) if word)


def assemble(bundle, plans, state, complete):
    """The Visit. `bundle`: bundle.json; `plans`: by name of the workload."""
    skipped = [{"what": what, "why": why} for what, why in state.skipped.items()]
    found = []
    for entry in bundle["workloads"]:
        for source in SOURCES:
            kernel = make_kernel(entry, plans.get(entry["name"]), source, state, skipped)
            if kernel:
                found.append(kernel)
    result = {
        "schema": 1,
        "card": dict(state.get("card"), clock=state.clocks),
        "tools": dict(
            state.get("tools"),
            heddle=bundle["heddle"],
            bundle_digest=bundle["digest"],
            counters_digest=bundle["counters_digest"],
        ),
        "conditions": {
            "date": state.get("date"),
            "clock_control": profiler.CLOCK_CONTROL,
            "cache_control": profiler.CACHE_CONTROL,
            "warm_up_launches": kernels.WARM_UPS,
            "timing": "events",
            "between_repetitions": BETWEEN,
            "seconds": round(state.get("seconds"), 1),
            "complete": complete,
        },
        "kernel": found,
        "application": make_applications(bundle, state, skipped),
        "benchmark": make_benchmarks(state, skipped),
        "skipped": skipped,
    }
    if state.get("stand_ins"):
        result["made_up"] = f"not measured on a card: {', '.join(state.get('stand_ins'))} stood in, to test the visit"
    return result


def why_not(state, name):
    return state.failures().get(name) or state.skipped.get("everything") or NO_TIME


def make_kernel(entry, plan, source, state, skipped):
    """A heddle.hardware.v1.Kernel, or None where nothing was found; what is missing is added to `skipped`."""
    what = f"kernel {entry['workload']} {entry['size']} {source}"
    ran = state.done(step("run", entry["name"], source))
    if plan is None or ran is None:
        skipped.append({"what": what, "why": why_not(state, step("run", entry["name"], source))})
        return None
    kernel = {
        "workload": entry["workload"],
        "size": "" if entry["size"] == "small" else entry["size"],
        "source": source,
        "options": ran["options"],
        "trace_digest": entry["trace_digest"],
        "output": ran["outputs"],
        "code": make_code(entry, plan, source, state, ran),
        "launch": [],
    }
    profiles = []
    repetition = 1
    while (profile := state.done(step("profile", entry["name"], f"{source} {repetition}"))) is not None:
        profiles.append(profile)
        repetition += 1
    if not profiles and not state.get("no_counters"):
        first = step("profile", entry["name"], f"{source} 1")
        skipped.append({"what": f"counters of {what}", "why": why_not(state, first)})
    for number, launch in enumerate(plan.launches):
        kernel["launch"].append(make_launch(number, launch, ran, profiles))
    return kernel


def make_launch(number, launch, ran, profiles):
    entry = {
        "launch": number,
        "kernel": launch.name,
        "grid": dict(zip("xyz", launch.grid)),
        "block": dict(zip("xyz", launch.block)),
        "dynamic_shared_bytes": launch.shared_bytes,
        "microseconds": ran["microseconds"].get(str(number), []),
    }
    measured = [profile[str(number)] for profile in profiles if str(number) in profile]
    if measured:
        if measured[0]["passes"]:
            entry["passes"] = measured[0]["passes"]
        entry["counter"] = [
            {
                "name": name,
                "unit": unit,
                "value": [short(each["counters"][name][1]) for each in measured if name in each["counters"]],
            }
            for name, (unit, _) in measured[0]["counters"].items()
        ]
    return entry


def make_code(entry, plan, source, state, ran):
    """Registers and memory by the assembler, else by the driver; instructions by the disassembler."""
    told = state.done(step("code", entry["name"], source)) or {"functions": {}, "digest": ""}
    names = {launch.function: launch.name for launch in plan.launches}
    codes = []
    for function, name in names.items():
        code = {"kernel": name}
        code.update(ran["functions"].get(function, {}))
        code.update(told["functions"].get(function, {}))
        if told["digest"]:
            code["digest"] = told["digest"]
        codes.append(code)
    return codes


def make_applications(bundle, state, skipped):
    found = []
    for application in bundle["applications"]:
        name = step("application", application["name"])
        if state.done(name):
            found.append(state.done(name))
        else:
            skipped.append({"what": name, "why": why_not(state, name)})
    return found


def make_benchmarks(state, skipped):
    found = []
    names = [*build.BENCHMARKS] + ([] if state.get("no_counters") else [build.SECTORS])
    for name in names:
        lines = state.done(step("benchmark", name))
        if lines is None:
            skipped.append({"what": f"benchmark {name}", "why": why_not(state, step("benchmark", name))})
        found += lines or []
    return found


def short(value):
    """Whole numbers without a fraction: results are long."""
    return int(value) if float(value).is_integer() and abs(value) < 2**53 else value
