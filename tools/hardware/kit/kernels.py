"""Workloads on the card: made ready, run for outputs and times, and run under the profiler."""

import dataclasses
import gzip
import json
import pathlib
import shutil

from kit import build, files, plans, processes, profiler

WARM_UPS, REPETITIONS, TIMED_SECONDS = 2, 11, 1.0
# Of a workload with more launches, these many are profiled, evenly spread, and one of each kernel at least. Fewer
# where time is short.
MOST_PROFILED = (48, 24, 12, 6, 3, 1)
START_SECONDS = 30
PROFILED_LAUNCH_SECONDS = 4


@dataclasses.dataclass
class Job:
    """One workload at one size, from one source of code."""

    name: str  # of the entry in bundle.json
    workload: str
    source: str
    plan: plans.Plan
    image: build.Made
    contents: pathlib.Path
    results: pathlib.Path

    @property
    def key(self):
        return f"{self.name}/{self.source}"

    def line(self, results, warm_ups, repetitions, launches):
        numbers = ",".join(str(number) for number in launches) or "-"
        words = [self.key, self.plan.folder, self.image.path, self.contents, self.results if results else "-"]
        return " ".join(str(word) for word in [*words, warm_ups, repetitions, TIMED_SECONDS, numbers])


def unpack(bundle, name, folder):
    """The plan of a workload, with its files as they were before the bundle was made smaller."""
    target = folder / "plans" / name
    if not target.exists():
        part = folder / "plans" / f"{name}.part"
        shutil.rmtree(part, ignore_errors=True)
        shutil.copytree(bundle / "plans" / name, part)
        for path in part.glob("*.gz"):
            path.with_suffix("").write_bytes(gzip.decompress(path.read_bytes()))
            path.unlink()
        part.rename(target)
    return plans.read(target)


def make_contents(plan_host, plan, folder):
    """Makes the contents of all buffers in `folder`, and compares them with those of the capture. Gives what is
    wrong."""
    if folder.exists():
        return ""
    part = folder.with_name(folder.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    ended = processes.run([plan_host, "make", plan.folder, part], 120)
    if not ended.ok:
        return f"contents cannot be made: {ended.why()}"
    for buffer in plan.buffers:
        if files.digest(part / f"before-{buffer.name}.bin") != buffer.before:
            return f"the contents of buffer {buffer.name} are not those of the capture"
    for number, (name, digest) in enumerate(plan.variables):
        if files.digest(part / f"symbol-{number}.bin") != digest:
            return f"the contents of variable {name} are not those of the capture"
    part.rename(folder)
    return ""


def profiled_launches(plan, most):
    """Numbers of the launches that the profiler is to see."""
    count = len(plan.launches)
    if count <= most:
        return list(range(count))
    chosen = {round(i * (count - 1) / max(most - 1, 1)) for i in range(most)}
    firsts = {}
    for number, launch in enumerate(plan.launches):
        firsts.setdefault(launch.function, number)
    return sorted(chosen | set(firsts.values()))


def affordable(jobs, seconds_per_launch, seconds):
    """How many launches of each job can be profiled in the time: one of MOST_PROFILED. `seconds_per_launch`: as far as
    is known; 0 = not at all."""
    for most in MOST_PROFILED:
        if sum(len(profiled_launches(job.plan, most)) for job in jobs) * seconds_per_launch <= seconds:
            return most
    return MOST_PROFILED[-1]


def read_lines(text):
    """JSON objects, one per line, as far as they are complete."""
    found = []
    for line in text.splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


def split_jobs(lines):
    """What a run of plan_card says, by job: its lines, and whether it came to its end."""
    jobs, current = {}, None
    for line in lines:
        if "begin" in line:
            current = jobs.setdefault(line["begin"], {"lines": [], "ended": False})
        elif "end" in line and current is not None:
            current["ended"] = True
            current = None
        elif current is not None:
            current["lines"].append(line)
    return jobs


def run(plan_card, jobs, work, budget, hang_seconds):
    """Runs jobs in as few processes as it takes: a job that fails or hangs ends its process, and the others go on in a
    new one. A job hangs when it tells nothing for `hang_seconds`. Yields (job, lines, what is wrong) for each that has
    begun; stops when there is no time left.
    """
    waiting = list(jobs)
    while waiting and budget.left() > 1:
        listing, output = work / "jobs", work / "jobs.out"
        listing.write_text("".join(job.line(True, WARM_UPS, REPETITIONS, []) + "\n" for job in waiting))
        for job in waiting:
            job.results.mkdir(parents=True, exist_ok=True)
        ended = processes.run_watched([plan_card, "run", listing], budget, hang_seconds, output)
        told = split_jobs(read_lines(ended.output))
        rest = []
        for job in waiting:
            if job.key not in told:
                rest.append(job)
                continue
            errors = [line["error"] for line in told[job.key]["lines"] if "error" in line]
            wrong = errors[0] if errors else ""
            if not told[job.key]["ended"] and not wrong:
                if ended.status is None and budget.left() <= 1:
                    return  # it had no chance
                wrong = f"plan_card {ended.why()}"
            yield job, told[job.key]["lines"], wrong
        if len(rest) == len(waiting):
            if budget.left() <= 1:
                return
            for job in rest:
                yield job, [], f"plan_card {ended.why()}"
            return
        waiting = rest


def read_outputs(plan_host, job, check):
    """Outputs of a job, as heddle.hardware.v1.Output, and why some of them have no verdict: what could not be checked
    is left out. `check`: the library with the check program."""
    if check.why:
        return [], f"the check program {check.why}"
    command = [plan_host, "check", job.plan.folder, job.contents, job.results, *([check.path] if check.path else [])]
    ended = processes.run(command, 120)
    verdicts = read_lines(ended.output)
    if not ended.ok or len(verdicts) != len(job.plan.checks):
        return [], f"plan_host {ended.why()}"
    after = {buffer.name: buffer.after for buffer in job.plan.buffers}
    outputs, unchecked = [], ""
    for plan_check, verdict in zip(job.plan.checks, verdicts):
        if "unchecked" in verdict:
            unchecked = verdict["unchecked"]
            continue
        output = {
            "buffer": plan_check.buffer,
            "digest": files.digest(job.results / f"after-{plan_check.buffer}.bin"),
            # What the host computes; a check program keeps that to itself, and then it is what the capture has
            # computed.
            "expected_digest": plan_check.expected or after[plan_check.buffer],
        }
        output.update({key: verdict[key] for key in ("right", "tolerance", "largest_error", "wrong") if key in verdict})
        outputs.append(output)
    return outputs, unchecked


def profile(ncu, metrics, plan_card, jobs, most, work, budget):
    """Profiles jobs in one process. Gives (counters by job and launch, what is wrong, the profiler's log). A result
    that does not belong to the launch in its place makes all of the group worthless."""
    listing = work / "jobs"
    launches = {job.key: profiled_launches(job.plan, most) for job in jobs}
    listing.write_text("".join(job.line(False, 0, 0, launches[job.key]) + "\n" for job in jobs))
    count = sum(len(numbers) for numbers in launches.values())
    limit = budget.limit(START_SECONDS + PROFILED_LAUNCH_SECONDS * count)
    ended, text = profiler.profile(
        ncu, metrics, work / "profile.csv", [plan_card, "run", listing], limit, work / "profile.out"
    )
    if ended.status is None and budget.left() <= 1:
        return {}, "", text
    if not ended.ok:
        return {}, f"ncu {profiler.why(ended, text)}", text
    rows, passes = profiler.read_rows(text), profiler.read_passes(text)
    told = split_jobs(read_lines(ended.output))
    seen = [
        (job, line["profiled"])
        for job in jobs
        for line in told.get(job.key, {"lines": []})["lines"]
        if "profiled" in line
    ]
    if len(rows) != len(seen):
        return {}, f"ncu has {len(rows)} results for {len(seen)} launches", text
    found = {}
    for i, ((job, number), row) in enumerate(zip(seen, rows)):
        launch = job.plan.launches[number]
        if (row["grid"], row["block"]) != (launch.grid, launch.block):
            return {}, f"result {i} of ncu is of another launch than launch {number} of {job.key}", text
        counters = {name: row["counters"][name] for name in metrics if name in row["counters"]}
        entry = {"counters": counters, "passes": passes[i] if len(passes) == len(seen) else 0}
        found.setdefault(job.key, {})[number] = entry
    return found, "", text
