"""A visit to a machine with a graphics card: what is most important first, and what was found is written after each step."""

import argparse
import concurrent.futures
import datetime
import json
import os
import pathlib
import platform
import shutil
import sys
import tarfile
import traceback

from kit import build, files, kernels, machine_code, plans, processes, profiler, results, tools_found

BUNDLE = pathlib.Path(__file__).resolve().parent.parent
# Workloads of a group; each runs from both sources of code.
GROUP, PROFILED_GROUP = 16, 6
APPLICATION_SECONDS = 30
BENCHMARK_SECONDS = 60
# Kept back to write results.
RESERVE_MINUTES = 0.1
STAND_IN = "stand-in"


def say(text):
    print(f"visit: {text}", file=sys.stderr, flush=True)


class Visit:
    """One visit: its budget, its state, and the steps in their order."""

    def __init__(self, args, manifest):
        self.args = args
        self.manifest = manifest
        self.output = args.output
        self.work = args.work
        self.budget = processes.Budget(args.minutes - RESERVE_MINUTES)
        self.state = state_of(args, manifest)
        self.seconds_before = self.state.values["seconds"]
        self.tools = tools_found.find(args.tool)
        self.plans = {}  # by name of the workload, once its contents are there
        self.jobs = {}  # by key
        self.builder = None
        self.programs = {}
        self.raw = []  # (name, text) of what tools have said

    # --- writing

    def write(self, complete=False):
        """Writes state and results, each complete or not at all."""
        self.state.values["seconds"] = self.seconds_before + self.budget.spent()
        self.state.write()
        visit = results.assemble(self.manifest, self.plans, self.state, complete)
        files.write_json(self.output / "results.json", visit)

    def keep(self, name, text):
        """Keeps what a tool has said, for whoever doubts how it was read."""
        self.raw.append(name)
        folder = self.work / "raw"
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(text)

    def pack_raw(self):
        part = self.output / "raw.tar.gz.part"
        with tarfile.open(part, "w:gz") as archive:
            for path in sorted((self.work / "raw").glob("*")):
                archive.add(path, arcname=f"raw/{path.name}")
        os.replace(part, self.output / "raw.tar.gz")

    # --- steps

    def run(self):
        """All steps. Results are there whenever it ends, as far as it came."""
        self.state.values["date"] = self.state.values["date"] or datetime.datetime.now(datetime.timezone.utc).strftime(
            "%Y-%m-%d"
        )
        self.write()
        if not self.find_card():
            self.write()
            return 1
        self.attempt("making kernels ready", self.make_jobs)
        small = self.of_size("small") or self.of_size(self.manifest["workloads"][0]["size"])
        others = [job for job in self.jobs.values() if job not in small]
        self.attempt("the test of the profiler", lambda: self.test_profiler(small or others))
        for jobs in (small, others):
            self.attempt("running kernels", lambda jobs=jobs: self.run_jobs(jobs))
            if jobs is small:
                self.attempt("benchmarks", self.run_benchmarks)
            self.attempt("profiling", lambda jobs=jobs: self.profile_jobs(jobs, 1))
        self.attempt("reading machine code", self.read_code)
        self.attempt("programs", self.run_applications)
        for repetition in range(2, 1 + self.args.profiles):
            self.attempt("profiling again", lambda n=repetition: self.profile_jobs(small, n))
        results.read_clock(self.tools["nvidia-smi"], self.state, "end")
        return self.end()

    def attempt(self, what, step):
        """Makes a part of the visit. A fault of ours there must not take the other parts with it: there may be no second
        visit."""
        try:
            step()
        except Exception as error:  # noqa: BLE001
            say(f"{what}: {type(error).__name__}: {error}")
            self.keep(f"fault-{len(self.raw)}.txt", traceback.format_exc())
            self.state.skip(what, f"a fault of the visit itself: {type(error).__name__}: {error}")
        self.write()

    def end(self):
        left = [name for name in self.all_steps() if not self.state.is_done(name)]
        self.write(complete=not left)
        self.pack_raw()
        wrong = [
            f"{name}: {output['wrong']}"
            for name, found in self.state.values["done"].items()
            if name.startswith("run ")
            for output in found["outputs"]
            if not output["right"]
        ]
        for text in wrong:
            say(f"wrong output: {text}")
        count = len(self.state.values["done"])
        say(
            f"{count} steps done, {len(self.state.values['failed'])} failed, {len(left)} left, in {self.budget.spent():.0f} s"
        )
        return 0

    def all_steps(self):
        """Every step that a whole visit makes."""
        names = [results.step("benchmark", name) for name in build.BENCHMARKS]
        names += [results.step("application", application["name"]) for application in self.manifest["applications"]]
        for entry in self.manifest["workloads"]:
            for source in results.SOURCES:
                names.append(results.step("run", entry["name"], source))
                if not self.state.values["no_counters"]:
                    names.append(results.step("profile", entry["name"], f"{source} 1"))
        return names

    def find_card(self):
        """Makes the programs, and asks what card there is."""
        values = results.read_clock(self.tools["nvidia-smi"], self.state, "start")
        arch = self.args.arch
        prebuilt = BUNDLE / "prebuilt"
        # A first builder for the programs alone: they do not depend on the card.
        stand_in = STAND_IN in tools_found.version(self.tools["nvcc"])
        first = build.Builder(
            BUNDLE, self.work / "programs", self.tools, arch, stand_in, None if stand_in else prebuilt
        )
        made = build.in_parallel(
            {name: (lambda name=name: first.program(name)) for name in build.PROGRAMS}, self.args.jobs
        )
        card = self.ask_card(made)
        if card is None and not stand_in:
            # Programs that were compiled elsewhere need not run here.
            first = build.Builder(BUNDLE, self.work / "programs-here", self.tools, arch)
            made = build.in_parallel(
                {name: (lambda name=name: first.program(name)) for name in build.PROGRAMS}, self.args.jobs
            )
            card = self.ask_card(made)
        if card is None:
            return False
        self.programs = {name: thing.path for name, thing in made.items()}
        self.describe(card, values)
        arch = arch or f"sm_{card['compute_major']}{card['compute_minor']}"
        fits = (
            prebuilt.exists() and not stand_in and json.loads((prebuilt / "prebuilt.json").read_text())["arch"] == arch
        )
        self.builder = build.Builder(
            BUNDLE, self.work / "built", self.tools, arch, stand_in, prebuilt if fits else None
        )
        return True

    def ask_card(self, made):
        """What plan_card says of the card; None, with a message, if it says nothing."""
        for name, thing in made.items():
            if thing.why:
                say(f"{name}: {thing.why}")
                self.state.skip("everything", f"{name}: {thing.why}")
                return None
        ended = processes.run([made["plan_card"].path, "card"], self.budget.limit(60))
        lines = kernels.read_lines(ended.output)
        if ended.ok and lines and "name" in lines[0]:
            self.state.values["skipped"].pop("everything", None)
            return lines[0]
        why = lines[0]["error"] if lines and "error" in lines[0] else ended.why()
        say(f"no card: {why}")
        self.state.skip("everything", f"no card: {why}")
        return None

    def describe(self, card, smi):
        """Writes down card and tools."""
        values = self.state.values
        version = card.pop("cuda_driver")
        stand_ins = ["the card"] if card.pop("stand_in", False) else []
        values["card"] = card
        versions = {name: tools_found.version(self.tools[name]) for name in ("nvcc", "ptxas", "ncu", "nvdisasm")}
        if not versions["nvdisasm"]:
            versions["nvdisasm"] = tools_found.version(self.tools["cuobjdump"])
        stand_ins += [name for name, text in versions.items() if STAND_IN in text]
        values["stand_ins"] = sorted(set(values["stand_ins"]) | set(stand_ins))
        values["tools"] = {
            "driver": smi.get("driver_version", ""),
            "cuda_driver": f"{version // 1000}.{version % 1000 // 10}",
            **versions,
            "python": platform.python_version(),
        }
        say(f"{card['name']}, {', '.join(f'{name} {text}' for name, text in versions.items() if text)}")

    def make_jobs(self):
        """Device code, contents and check programs of all workloads, made at once."""
        entries = self.manifest["workloads"]
        tasks = {}
        for entry in entries:
            plan = kernels.unpack(BUNDLE, entry["name"], self.work)
            folder = self.work / "contents" / entry["name"]
            for source in results.SOURCES:
                tasks[entry["name"], source] = lambda e=entry, p=plan, s=source: self.builder.image(e["workload"], p, s)
            tasks[entry["name"], "check"] = lambda e=entry, p=plan: self.builder.check(e["workload"], p)
            tasks[entry["name"], "contents"] = lambda p=plan, f=folder: build.Made(
                why=kernels.make_contents(self.programs["plan_host"], p, f)
            )
            self.plans[entry["name"]] = plan
        for name in build.BENCHMARKS:
            tasks["benchmark", name] = lambda name=name: self.builder.benchmark(name)
        self.made = build.in_parallel(tasks, self.args.jobs)
        for entry in entries:
            name = entry["name"]
            for source in results.SOURCES:
                image = self.made[name, source]
                why = self.made[name, "contents"].why or image.why
                run = results.step("run", name, source)
                if why:
                    if not self.state.is_done(run):
                        self.state.fail(run, why)
                    self.state.fail(results.step("profile", name, f"{source} 1"), why)
                    continue
                job = kernels.Job(
                    name,
                    entry["workload"],
                    source,
                    self.plans[name],
                    image,
                    self.work / "contents" / name,
                    self.work / "after" / f"{name}-{source}",
                )
                self.jobs[job.key] = job
        self.write()
        say(f"{len(self.jobs)} of {2 * len(entries)} kernels made ready in {self.budget.spent():.0f} s")

    def of_size(self, size):
        return [job for job in self.jobs.values() if job.name.endswith(f"-{size}")]

    def run_jobs(self, jobs):
        """Outputs and times."""
        waiting = [job for job in jobs if not self.state.is_done(results.step("run", job.name, job.source))]
        with concurrent.futures.ThreadPoolExecutor(self.args.jobs) as pool:
            for begin in range(0, len(waiting), GROUP):
                group = waiting[begin : begin + GROUP]
                futures = []
                for job, lines, wrong in kernels.run(
                    self.programs["plan_card"], group, self.work, self.budget, self.args.hang_seconds
                ):
                    run = results.step("run", job.name, job.source)
                    if wrong:
                        self.state.fail(run, wrong)
                        self.state.fail(results.step("profile", job.name, f"{job.source} 1"), wrong)
                        say(f"{run}: {wrong}")
                        continue
                    library = self.made[job.name, "check"].path
                    futures.append((run, job, lines, pool.submit(self.outputs_of, job, library)))
                for run, job, lines, future in futures:
                    self.state.finish(run, found_by_run(job, lines, future.result()))
                self.write()
                if self.budget.left() < 1:
                    return

    def outputs_of(self, job, library):
        outputs = kernels.read_outputs(self.programs["plan_host"], job, library)
        shutil.rmtree(job.results, ignore_errors=True)
        return outputs

    def test_profiler(self, jobs):
        """Whether the profiler can be used, with the kernel that has the least to do."""
        values = self.state.values
        if values["no_counters"] or values["metrics"] is not None or not jobs:
            return
        wanted = [metric["name"] for metric in json.loads((BUNDLE / "counters.json").read_text())["metrics"]]
        sizes = {
            entry["name"]: entry["thread_instructions"] / max(entry["launches"], 1)
            for entry in self.manifest["workloads"]
        }
        job = min(jobs, key=lambda job: sizes[job.name])
        (self.work / "test.jobs").write_text(job.line(False, 0, 0, [0]) + "\n")
        program = [self.programs["plan_card"], "run", self.work / "test.jobs"]
        try:
            limit = self.budget.limit(90)
            values["metrics"], skipped = profiler.test(self.tools["ncu"], wanted, program, self.work, limit)
            for name, why in skipped:
                self.state.skip(f"counter {name}", why)
        except profiler.NoCounters as error:
            if self.budget.left() > 1:
                values["no_counters"] = str(error)
                self.state.skip("all counters", str(error))
                say(f"no counters, times only: {error}")
        for path in (self.work / "test.csv", self.work / "test.out"):
            if path.exists():
                self.keep(f"profiler-{path.name}", path.read_text(errors="replace"))
        self.write()

    def profile_jobs(self, jobs, repetition):
        metrics = self.state.values["metrics"]
        if not metrics:
            return
        waiting = [
            job
            for job in jobs
            if self.state.done(results.step("run", job.name, job.source)) is not None
            and not self.state.is_done(results.step("profile", job.name, f"{job.source} {repetition}"))
        ]
        groups = [waiting[begin : begin + PROFILED_GROUP] for begin in range(0, len(waiting), PROFILED_GROUP)]
        while groups and self.budget.left() > 5:
            group = groups.pop(0)
            results.read_clock(self.tools["nvidia-smi"], self.state, f"before profiling {group[0].key}")
            found, wrong, text = kernels.profile(
                self.tools["ncu"], metrics, self.programs["plan_card"], group, self.work, self.budget
            )
            self.keep(f"profile-{group[0].name}-{group[0].source}-{len(group)}-{repetition}.csv", text)
            if wrong and len(group) > 1:
                # Whatever it is, it may be one of them.
                say(f"profiling {group[0].key} and {len(group) - 1} more: {wrong}")
                groups[:0] = [group[: len(group) // 2], group[len(group) // 2 :]]
            for job in group:
                step = results.step("profile", job.name, f"{job.source} {repetition}")
                if job.key in found:
                    self.state.finish(step, {str(number): entry for number, entry in found[job.key].items()})
                elif wrong and len(group) == 1:
                    self.state.fail(step, wrong)
                    say(f"{step}: {wrong}")
            self.write()

    def run_benchmarks(self):
        for name in build.BENCHMARKS:
            step = results.step("benchmark", name)
            if self.state.is_done(step) or self.budget.left() < 5:
                continue
            made = self.made["benchmark", name]
            if made.why:
                self.state.fail(step, made.why)
                continue
            words = ["small"] if self.state.values["stand_ins"] else []
            ended = processes.run([made.path, *words], self.budget.limit(BENCHMARK_SECONDS))
            lines = kernels.read_lines(ended.output)
            errors = [line["error"] for line in lines if "error" in line]
            found = [benchmark_of(line) for line in lines if "benchmark" in line]
            if found:
                self.state.finish(step, found)
            if errors or not ended.ok:
                why = errors[0] if errors else ended.why()
                say(f"{step}: {why}")
                if found:
                    self.state.skip(f"the rest of {step}", why)
                elif self.budget.left() > 1:
                    self.state.fail(step, why)
            self.write()

    def read_code(self):
        """Registers by the assembler, and instructions by the disassembler, of all that ran. Needs no card."""
        tool = self.tools["cuobjdump"]
        classes = json.loads((BUNDLE / "counters.json").read_text())["sass_classes"]
        if not tool:
            self.state.skip("instructions in machine code", "cuobjdump is not there")
        waiting = [
            job
            for job in self.jobs.values()
            if self.state.done(results.step("run", job.name, job.source)) is not None
            and not self.state.is_done(results.step("code", job.name, job.source))
        ]
        with concurrent.futures.ThreadPoolExecutor(self.args.jobs) as pool:
            for job, found in zip(waiting, pool.map(lambda job: code_of(job, tool, classes, self.budget), waiting)):
                if found:
                    self.state.finish(results.step("code", job.name, job.source), found)
        self.write()

    def run_applications(self):
        """Programs of the tests: compiled at once, run one after the other."""
        waiting = [
            application
            for application in self.manifest["applications"]
            if not self.state.is_done(results.step("application", application["name"]))
        ]
        if self.budget.left() < 20 or not waiting:
            return
        tasks = {application["name"]: (lambda a=application: self.builder.application(a)) for application in waiting}
        made = build.in_parallel(tasks, self.args.jobs)
        for application in waiting:
            if self.budget.left() < 2:
                break
            step = results.step("application", application["name"])
            found = self.run_application(application, made[application["name"]])
            if found:
                self.state.finish(step, found)
        self.write()

    def run_application(self, application, made):
        """A heddle.hardware.v1.Application; None if there was no time for it."""
        found = {
            "name": application["name"],
            "compiled": not made.why,
            "expected_digest": application["expected_digest"],
            "equal": False,
        }
        if made.why:
            return dict(found, difference=made.why)
        output = self.work / "application.out"
        folder = pathlib.Path(made.path).parent
        ended = processes.run([made.path], self.budget.limit(APPLICATION_SECONDS), folder, output=output)
        if ended.status is None:
            return None if self.budget.left() <= 1 else dict(found, exit_status=-1, difference=ended.why())
        expected = (BUNDLE / "applications" / f"{application['name']}.expected").read_text()
        found.update(exit_status=ended.status, output_digest=files.digest(output))
        found["equal"] = found["output_digest"] == application["expected_digest"]
        if not found["equal"]:
            found["difference"] = first_difference(ended.output, expected)
        return found


def state_of(args, manifest):
    from kit import state  # noqa: PLC0415: its name is that of the object here

    made = state.State(args.output, manifest["digest"])
    if made.resume():
        say(f"goes on: {len(made.values['done'])} steps were done before")
    return made


def found_by_run(job, lines, outputs):
    functions = {}
    for line in lines:
        if "function" in line and "registers" in line:
            functions[line["function"]] = {
                key: line[key] for key in ("registers", "static_shared_bytes", "local_bytes") if key in line
            }
    times = {str(line["timed"]): line["microseconds"] for line in lines if "timed" in line}
    return {"options": job.image.options, "functions": functions, "microseconds": times, "outputs": outputs}


def benchmark_of(line):
    parameters = {key[2:]: value for key, value in line.items() if key.startswith("p.")}
    return {"name": line["benchmark"], "parameter": parameters, "unit": line["unit"], "value": line["value"]}


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


def first_difference(got, expected):
    lines, wanted = got.splitlines(), expected.splitlines()
    for number in range(max(len(lines), len(wanted))):
        mine = lines[number] if number < len(lines) else "(nothing)"
        theirs = wanted[number] if number < len(wanted) else "(nothing)"
        if mine != theirs:
            return f"line {number + 1} is '{mine[:200]}', expected '{theirs[:200]}'"
    return "line ends differ"


def parse(words):
    parser = argparse.ArgumentParser(
        prog="visit",
        description="Measures the graphics card of this machine with the bundle that this program lies in.",
    )
    parser.add_argument(
        "--output", type=pathlib.Path, required=True, help="folder for results.json, state.json, raw.tar.gz"
    )
    parser.add_argument("--work", type=pathlib.Path, help="folder for what is made here (default: OUTPUT/work)")
    parser.add_argument("--minutes", type=float, default=8, help="to be spent (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="compilers at once (default: processors)")
    parser.add_argument(
        "--profiles", type=int, default=2, help="profiled repetitions, if time allows (default: %(default)s)"
    )
    parser.add_argument(
        "--hang-seconds",
        type=float,
        default=20,
        help="without a word, after which a kernel hangs (default: %(default)s)",
    )
    parser.add_argument("--arch", default="", help="compute capability to compile for (default: the card's)")
    parser.add_argument(
        "--tool", action="append", default=[], metavar="NAME=PATH", help="a tool, or NAME=none to do without it"
    )
    args = parser.parse_args(words)
    if not args.minutes > 0:
        parser.error("--minutes must be above 0")
    pairs = [word.partition("=") for word in args.tool]
    known = (*tools_found.NAMES, "c++")
    for name, _, path in pairs:
        if name not in known or not path:
            parser.error(f"--tool {name}: is none of {', '.join(known)}, with =PATH")
    args.tool = {name: path for name, _, path in pairs}
    args.output = args.output.resolve()
    args.work = (args.work or args.output / "work").resolve()
    return args


def main(words):
    args = parse(words)
    try:
        manifest = json.loads((BUNDLE / "bundle.json").read_text())
    except (OSError, ValueError) as error:
        say(f"{BUNDLE}: is no bundle; tools/hardware/bundle makes one ({error})")
        return 2
    args.output.mkdir(parents=True, exist_ok=True)
    args.work.mkdir(parents=True, exist_ok=True)
    (args.work / "raw").mkdir(exist_ok=True)
    try:
        visit = Visit(args, manifest)
    except ValueError as error:
        say(str(error))
        return 2
    return visit.run()
