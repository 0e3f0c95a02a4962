"""A visit to a machine with a graphics card: what is most important first, and what was found is written after each
step."""

import argparse
import datetime
import gzip
import json
import os
import pathlib
import shutil
import sys
import tarfile
import traceback

from kit import applications, build, card, clocks, files, kernels, measure, processes, results, tools_found
from kit import state as states

BUNDLE = pathlib.Path(__file__).resolve().parent.parent
# Kept back to write results.
RESERVE_MINUTES = 0.15
# Of a launch with all counters, until one was seen: it only says how many launches of a workload are worth their time.
GUESSED_SECONDS_PER_PROFILE = 0.4
ORDER = (build.TRACE_PTX, build.CUDA)


class Visit:
    """One visit: what it has to do with, and its parts in their order."""

    def __init__(self, args, manifest, state):
        self.args = args
        self.manifest = manifest  # bundle.json
        self.state = state
        self.bundle = BUNDLE
        self.work = args.work
        self.budget = processes.Budget(args.minutes - RESERVE_MINUTES)
        self.tools = tools_found.find(args.tool)
        self.clocks = clocks.Clocks(self.tools["nvidia-smi"], state)
        self.plans = {}  # by name of the workload
        self.jobs = {}  # kernels that can run, by key
        self.made = {}  # device code and the like, by what it is of
        self.builder = None
        self.programs = {}
        self.seconds_per_profile = GUESSED_SECONDS_PER_PROFILE  # of a launch; then what was seen
        self._seconds_before = state.get("seconds")

    def say(self, text):
        print(f"visit: {self.budget.spent():5.1f} s: {text}", file=sys.stderr, flush=True)

    def keep(self, name, text):
        """Keeps what a tool has said, for whoever doubts how it was read."""
        (self.work / "raw" / name).write_text(text)

    def write(self, complete=False):
        """Writes results as far as they are there."""
        self.state.set("seconds", round(self._seconds_before + self.budget.spent(), 3))
        try:
            visit = results.assemble(self.manifest, self.plans, self.state, complete)
            files.write_results(self.args.output / "results.json", visit)
        except Exception:  # noqa: BLE001: the journal has everything, and --write-only makes results of it
            self.keep("fault-writing-results.txt", traceback.format_exc())
            self.say(f"results cannot be written: {traceback.format_exc().splitlines()[-1]}")

    def run(self):
        """All parts. Results are there whenever it ends, as far as it came. Gives the exit status."""
        today = datetime.datetime.now(datetime.timezone.utc)
        self.state.set("date", self.state.get("date") or today.strftime("%Y-%m-%d"))
        for entry in self.manifest["workloads"]:
            self.plans[entry["name"]] = kernels.unpack(BUNDLE, entry["name"], self.work)
        self.write()
        if self.args.write_only:
            return self.end()
        smi = self.clocks.read("start")
        try:
            self.programs, found, self.builder = card.find(BUNDLE, self.work, self.tools, self.args, self.budget)
        except card.NoCard as error:
            if self.budget.left() < 1:
                return self.end()
            self.say(f"no card: {error}")
            self.state.skip("everything", f"no card: {error}")
            self.write()
            return 1
        self.state.skip("everything", "")
        self.say(card.describe(found, self.tools, smi, self.state))
        self.measure_all()
        self.clocks.read("end", always=True)
        return self.end()

    def measure_all(self):
        self.attempt("making kernels ready", lambda: measure.make_ready(self))
        self.say(f"{len(self.jobs)} of {len(results.SOURCES) * len(self.manifest['workloads'])} kernels are ready")
        first_size = self.manifest["workloads"][0]["size"]
        small = [job for job in self.jobs.values() if job.name.endswith(f"-{first_size}")]
        others = [job for job in self.jobs.values() if job not in small]
        # The PTX of the traces first: it is what replays describe.
        small, others = ([job for source in ORDER for job in jobs if job.source == source] for jobs in (small, others))
        self.attempt("the test of the profiler", lambda: measure.test_profiler(self, small or others))
        self.attempt("running kernels", lambda: measure.run_jobs(self, small))
        self.attempt("benchmarks", lambda: measure.run_benchmarks(self))
        self.attempt("counting what is known", lambda: measure.count_known(self))
        self.attempt("running larger kernels", lambda: measure.run_jobs(self, others))
        self.attempt("profiling", lambda: measure.profile_jobs(self, small, 1))
        self.attempt("profiling larger kernels", lambda: measure.profile_jobs(self, others, 1))
        self.attempt("reading machine code", lambda: measure.read_code(self))
        self.attempt("programs", lambda: applications.run_all(self))
        for repetition in range(2, 1 + self.args.profiles):
            self.attempt("profiling again", lambda n=repetition: measure.profile_jobs(self, small + others, n))

    def attempt(self, what, part):
        """Makes a part of the visit. A fault of ours there must not take the other parts with it: there may be no
        second visit."""
        try:
            part()
        except Exception as error:  # noqa: BLE001
            self.say(f"{what}: {type(error).__name__}: {error}")
            self.keep(f"fault-{what.replace(' ', '-')}.txt", traceback.format_exc())
            self.state.skip(what, f"a fault of the visit itself: {type(error).__name__}: {error}")
        self.write()
        self.say(f"{what}: {len(self.state.steps())} steps are done")

    def end(self):
        """Writes everything a last time, and says how it went."""
        left = [name for name in self.all_steps() if not self.state.is_done(name)]
        self.write(complete=not left)
        output = self.args.output
        with gzip.open(output / "results.json.gz.part", "wb") as zipped:
            zipped.write((output / "results.json").read_bytes())
        os.replace(output / "results.json.gz.part", output / "results.json.gz")
        if any((self.work / "raw").iterdir()):
            with tarfile.open(output / "raw.tar.gz.part", "w:gz") as archive:
                archive.add(self.work / "raw", arcname="raw")
            os.replace(output / "raw.tar.gz.part", output / "raw.tar.gz")
        self.tell_faults()
        self.say(f"{len(self.state.steps())} steps done, {len(self.state.failures())} failed, {len(left)} left")
        return 0

    def tell_faults(self):
        for step in self.state.steps():
            outputs = self.state.done(step)["outputs"] if step.startswith("run ") else []
            for output in outputs:
                if not output["right"]:
                    self.say(f"wrong output: {step}: {output['wrong']}")
        for step, why in self.state.failures().items():
            # What does not run is not profiled, for the same reason.
            if self.state.failures().get(step.replace("profile ", "run ", 1).rpartition(" ")[0]) != why:
                self.say(f"failed: {step}: {why}")

    def all_steps(self):
        """Every step that a whole visit makes."""
        names = [results.step("benchmark", name) for name in build.BENCHMARKS]
        names += [results.step("application", application["name"]) for application in self.manifest["applications"]]
        for entry in self.manifest["workloads"]:
            for source in results.SOURCES:
                names.append(results.step("run", entry["name"], source))
                if not self.state.get("no_counters"):
                    names.append(results.step("profile", entry["name"], f"{source} 1"))
        return names


def parse(words):
    parser = argparse.ArgumentParser(
        prog="visit",
        description="Measures the graphics card of this machine with the bundle that this program lies in.",
    )
    parser.add_argument(
        "--output",
        type=pathlib.Path,
        required=True,
        help="folder for results.json, journal.jsonl and raw.tar.gz; an earlier visit whose journal is there goes on",
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
    parser.add_argument(
        "--compile-seconds", type=float, default=120, help="after which a compiler is stopped (default: %(default)s)"
    )
    parser.add_argument("--arch", default="", help="compute capability to compile for (default: the card's)")
    parser.add_argument(
        "--tool", action="append", default=[], metavar="NAME=PATH", help="a tool, or NAME=none to do without it"
    )
    parser.add_argument("--write-only", action="store_true", help="measure nothing: write the results of a journal")
    args = parser.parse_args(words)
    if not args.minutes > 0 or args.jobs < 1:
        parser.error("--minutes and --jobs must be above 0")
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
        print(f"visit: {BUNDLE}: is no bundle; tools/hardware/bundle makes one ({error})", file=sys.stderr)
        return 2
    args.output.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(args.work / "after", ignore_errors=True)
    (args.work / "raw").mkdir(parents=True, exist_ok=True)
    state = states.State(args.output, manifest["digest"])
    try:
        before = state.open()
    except ValueError as error:
        print(f"visit: {error}", file=sys.stderr)
        return 2
    visit = Visit(args, manifest, state)
    if before:
        visit.say(f"goes on: {before} steps were done before")
    return visit.run()
