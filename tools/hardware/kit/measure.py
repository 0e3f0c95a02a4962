"""The parts of a visit that measure kernels: made ready, run, profiled, and their machine code read."""

import concurrent.futures
import json
import shutil

from kit import build, files, kernels, machine_code, processes, profiler, results

# Kernels of a group, each from one source of code: results are written after each group.
GROUP, PROFILED_GROUP = 32, 12
BENCHMARK_SECONDS = 60
# Of the time that is left, for the counters of the kernels in hand.
PROFILE_SHARE = 0.7
LEAST_SECONDS = 5  # left, or it is not begun


def make_ready(visit):
    """Device code, contents and check programs of all workloads, made at once; and the micro-benchmarks."""
    entries = visit.manifest["workloads"]
    tasks = {("benchmark", name): (lambda name=name: visit.builder.benchmark(name)) for name in build.BENCHMARKS}
    tasks["benchmark", build.SECTORS] = lambda: visit.builder.benchmark(build.SECTORS)
    for entry in entries:
        name, workload = entry["name"], entry["workload"]
        plan = visit.plans[name]
        for source in results.SOURCES:
            tasks[name, source] = lambda w=workload, p=plan, s=source: visit.builder.image(w, p, s)
        tasks[name, "check"] = lambda w=workload, p=plan: visit.builder.check(w, p)
        folder = visit.work / "contents" / name
        tasks[name, "contents"] = lambda p=plan, f=folder: build.Made(
            why=kernels.make_contents(visit.programs["plan_host"], p, f)
        )
    visit.made.update(build.in_parallel(tasks, visit.args.jobs))
    for entry in entries:
        for source in results.SOURCES:
            add_job(visit, entry, source)


def add_job(visit, entry, source):
    name = entry["name"]
    image = visit.made[name, source]
    why = visit.made[name, "contents"].why or image.why
    if why:
        fail(visit, name, source, why)
        return
    contents, after = visit.work / "contents" / name, visit.work / "after" / f"{name}-{source}"
    job = kernels.Job(name, entry["workload"], source, visit.plans[name], image, contents, after)
    visit.jobs[job.key] = job


def fail(visit, name, source, why):
    """Notes that a kernel does not run; so it is not profiled either."""
    for step in (results.step("run", name, source), results.step("profile", name, f"{source} 1")):
        if not visit.state.is_done(step):
            visit.state.fail(step, why)


def run_jobs(visit, jobs):
    """Outputs and times."""
    waiting = [job for job in jobs if not visit.state.is_done(results.step("run", job.name, job.source))]
    for begin in range(0, len(waiting), GROUP):
        group = waiting[begin : begin + GROUP]
        with concurrent.futures.ThreadPoolExecutor(visit.args.jobs) as pool:
            futures = []
            for job, lines, wrong in kernels.run(
                visit.programs["plan_card"], group, visit.work, visit.budget, visit.args.hang_seconds
            ):
                if wrong:
                    visit.say(f"{job.key}: {wrong}")
                    fail(visit, job.name, job.source, wrong)
                else:
                    futures.append((job, lines, pool.submit(outputs_of, visit, job)))
            for job, lines, future in futures:
                outputs, unchecked = future.result()
                found = found_by_run(job, lines, outputs)
                visit.state.finish(results.step("run", job.name, job.source), found)
                if unchecked:
                    visit.state.skip(f"outputs of kernel {job.key}", unchecked)
        visit.write()
        if visit.budget.left() < 1:
            return


def outputs_of(visit, job):
    """Verdicts on a job's outputs, and why there are none."""
    check = visit.made[job.name, "check"]
    found = kernels.read_outputs(visit.programs["plan_host"], job, check)
    shutil.rmtree(job.results, ignore_errors=True)
    return found


def found_by_run(job, lines, outputs):
    functions = {}
    for line in lines:
        if "function" in line and "registers" in line:
            functions[line["function"]] = {
                key: line[key] for key in ("registers", "static_shared_bytes", "local_bytes") if key in line
            }
    times = {str(line["timed"]): line["microseconds"] for line in lines if "timed" in line}
    return {"options": job.image.options, "functions": functions, "microseconds": times, "outputs": outputs}


def test_profiler(visit, jobs):
    """Whether the profiler can be used, with the kernel that has the least to do."""
    state = visit.state
    if state.get("no_counters") or state.get("metrics") is not None or not jobs:
        return
    wanted = [metric["name"] for metric in json.loads((visit.bundle / "counters.json").read_text())["metrics"]]
    sizes = {
        entry["name"]: entry["thread_instructions"] / max(entry["launches"], 1) for entry in visit.manifest["workloads"]
    }
    job = min(jobs, key=lambda job: (sizes[job.name], job.key))
    listing = visit.work / "test.jobs"
    listing.write_text(job.line(False, 0, 0, [0]) + "\n")
    program = [visit.programs["plan_card"], "run", listing]
    try:
        limit = visit.budget.limit(90)
        metrics, skipped = profiler.test(visit.tools["ncu"], wanted, program, visit.work, limit)
        state.set("metrics", metrics)
        for name, why in skipped:
            state.skip(f"counter {name}", why)
    except profiler.NoCounters as error:
        if visit.budget.left() > 1:
            state.set("no_counters", str(error))
            state.skip("all counters", error)
            visit.say(f"no counters, times only: {error}")
    for path in (visit.work / "test.csv", visit.work / "test.out"):
        if path.exists():
            visit.keep(f"profiler-{path.name}", path.read_text(errors="replace"))


def profile_jobs(visit, jobs, repetition):
    metrics = visit.state.get("metrics")
    if not metrics:
        return
    waiting = [
        job
        for job in jobs
        if visit.state.done(results.step("run", job.name, job.source)) is not None
        and not visit.state.is_done(results.step("profile", job.name, f"{job.source} {repetition}"))
    ]
    groups = [waiting[begin : begin + PROFILED_GROUP] for begin in range(0, len(waiting), PROFILED_GROUP)]
    while groups and visit.budget.left() > LEAST_SECONDS:
        remaining = [job for group in groups for job in group]
        most = kernels.affordable(remaining, visit.seconds_per_profile, PROFILE_SHARE * visit.budget.left())
        group = groups.pop(0)
        begun = visit.budget.spent()
        visit.clocks.read(f"before profiling {group[0].key}")
        found, wrong, text = kernels.profile(
            visit.tools["ncu"], metrics, visit.programs["plan_card"], group, most, visit.work, visit.budget
        )
        if found:
            count = sum(len(entries) for entries in found.values())
            visit.seconds_per_profile = (visit.budget.spent() - begun) / count
        visit.keep(f"profile-{repetition}-{group[0].name}-{group[0].source}-{len(group)}.csv", text)
        if wrong and len(group) > 1:
            # Whatever it is, it may be one of them.
            visit.say(f"profiling {group[0].key} and {len(group) - 1} more: {wrong}")
            groups[:0] = [group[: len(group) // 2], group[len(group) // 2 :]]
        for job in group:
            step = results.step("profile", job.name, f"{job.source} {repetition}")
            if job.key in found:
                visit.state.finish(step, {str(number): entry for number, entry in found[job.key].items()})
            elif wrong and len(group) == 1:
                visit.state.fail(step, wrong)
                visit.say(f"{step}: {wrong}")
        visit.write()


def run_benchmarks(visit):
    for name in build.BENCHMARKS:
        step = results.step("benchmark", name)
        if visit.state.is_done(step) or visit.budget.left() < LEAST_SECONDS:
            continue
        made = visit.made["benchmark", name]
        if made.why:
            visit.state.fail(step, made.why)
            continue
        words = ["small"] if visit.state.get("stand_ins") else []
        ended = processes.run(
            [made.path, *words], visit.budget.limit(BENCHMARK_SECONDS), output=visit.work / "bench.out"
        )
        lines = kernels.read_lines(ended.output)
        found = [benchmark_of(line) for line in lines if "benchmark" in line]
        why = next((line["error"] for line in lines if "error" in line), "" if ended.ok else ended.why())
        if found or not why:
            # Some have nothing to measure on some cards.
            visit.state.finish(step, found)
        if why:
            visit.say(f"{step}: {why}")
            if found:
                visit.state.skip(f"the rest of {step}", why)
            elif visit.budget.left() > 1:
                visit.state.fail(step, why)


SECTORS, REQUESTS = (f"l1tex__t_{what}_pipe_lsu_mem_global_op_ld.sum" for what in ("sectors", "requests"))
ELAPSED = "sm__cycles_elapsed.max"


def count_known(visit):
    """What the profiler counts where the answer is known: sectors per request; and cycles of kernels that do nothing."""
    step = results.step("benchmark", build.SECTORS)
    counters = [SECTORS, REQUESTS, ELAPSED]
    if visit.state.is_done(step) or not set(counters) <= set(visit.state.get("metrics") or ()):
        return
    made = visit.made["benchmark", build.SECTORS]
    if made.why:
        visit.state.fail(step, made.why)
        return
    ended, text = profiler.profile(
        visit.tools["ncu"],
        counters,
        visit.work / "sectors.csv",
        [made.path, *(["small"] if visit.state.get("stand_ins") else [])],
        visit.budget.limit(BENCHMARK_SECONDS),
        visit.work / "sectors.out",
    )
    visit.keep("sectors.csv", text)
    rows = profiler.read_rows(text)
    lines = [line for line in kernels.read_lines(ended.output) if "profiled" in line]
    if not ended.ok or len(rows) != len(lines):
        if visit.budget.left() > 1:
            visit.state.fail(step, f"ncu {profiler.why(ended, text)}")
        return
    visit.state.finish(step, sectors_found(lines, rows) + cycles_found(lines, rows))


def sectors_found(lines, rows):
    found = []
    for line, row in zip(lines, rows):
        sectors, requests = (row["counters"].get(name, ("", 0.0))[1] for name in (SECTORS, REQUESTS))
        if line["function"] == "StridedLoad" and requests:
            parameters = benchmark_parameters(line)
            found.append(
                {
                    "name": "sectors_per_request",
                    "parameter": parameters,
                    "unit": "sectors",
                    "value": [sectors / requests],
                }
            )
    return found


def cycles_found(lines, rows):
    """A benchmark for each size of the grid, with a value for each launch."""
    values = {}
    for line, row in zip(lines, rows):
        if line["function"] == "Nothing" and ELAPSED in row["counters"]:
            values.setdefault(line["p.blocks"], []).append(row["counters"][ELAPSED][1])
    return [
        {"name": "launch_cycles", "parameter": {"blocks": blocks}, "unit": "cycles", "value": each}
        for blocks, each in values.items()
    ]


def benchmark_parameters(line):
    return {key[2:]: value for key, value in line.items() if key.startswith("p.")}


def benchmark_of(line):
    return {
        "name": line["benchmark"],
        "parameter": benchmark_parameters(line),
        "unit": line["unit"],
        "value": line["value"],
    }


def read_code(visit):
    """Registers by the assembler, and instructions by the disassembler, of all that ran. Needs no card."""
    tool = visit.tools["cuobjdump"]
    classes = json.loads((visit.bundle / "counters.json").read_text())["sass_classes"]
    if not tool:
        visit.state.skip("instructions in machine code", "cuobjdump is not there")
    waiting = [
        job
        for job in visit.jobs.values()
        if visit.state.done(results.step("run", job.name, job.source)) is not None
        and not visit.state.is_done(results.step("code", job.name, job.source))
    ]
    with concurrent.futures.ThreadPoolExecutor(visit.args.jobs) as pool:
        for job, found in zip(waiting, pool.map(lambda job: code_of(job, tool, classes, visit.budget), waiting)):
            if found:
                visit.state.finish(results.step("code", job.name, job.source), found)


def code_of(job, tool, classes, budget):
    """What assembler and disassembler say of a job's machine code; None for PTX, or if there is no time."""
    if not job.image.path.endswith(".cubin") or budget.left() < 1:
        return None
    functions = machine_code.read_assembler(job.image.log)
    if tool:
        ended = processes.run([tool, "-sass", job.image.path], budget.limit(30))
        counts = machine_code.count_instructions(ended.output, classes) if ended.ok else {}
        for name, count in counts.items():
            functions.setdefault(name, {})["static_instructions"] = count
    return {"functions": functions, "digest": files.digest(job.image.path)}
