"""Makes programs and device code out of a bundle's sources, with the toolkit of the machine where this runs.

Everything goes into one folder: `prebuilt/` of a bundle, or the work folder of a visit. A visit takes what is prebuilt
for its card and makes the rest.
"""

import collections
import concurrent.futures
import dataclasses
import hashlib
import json
import os
import pathlib
import re
import threading

from kit import files, processes, ptx

CUDA, TRACE_PTX = "CUDA_SOURCE", "TRACE_PTX"
SHARED = ["tools/hardware/programs/plan.cc"] + [
    f"tracegen/contents/{name}.cc" for name in ("contents", "kind_text", "sparse_matrix")
]
PROGRAMS = {
    "plan_host": ["tools/hardware/programs/plan_host.cc", *SHARED],
    "plan_card": [f"tools/hardware/programs/{name}.cc" for name in ("plan_card", "plan_run", "card", "driver")]
    + SHARED,
}
BENCHMARKS = (
    "memory_latency", "arithmetic", "bandwidth", "tensor", "synchronization", "clusters_and_copies", "footprint",
    "branches", "instruction_caches", "l1_patterns", "atomics", "misses", "line_states", "sub_cores", "pipelines",
    "strides",
)  # fmt: skip
SECTORS = "sectors"  # which runs under the profiler
# Options of heddle-nvcc alone, and of cards that are not this one.
OWN_OPTIONS = re.compile(r"--no-unroll|--cuda-version \S+|-gencode \S+|-arch=\S+")


@dataclasses.dataclass
class Made:
    path: str = ""  # "" if it could not be made
    why: str = ""  # then: why
    log: str = ""  # what the assembler said
    options: str = ""


class Builder:
    """Makes one thing per call. Calls may come from several threads; a thing that is there already is not made
    again."""

    def __init__(self, bundle, folder, tools, arch, stand_in=False, prebuilt=None, programs_run=True):
        self.bundle = pathlib.Path(bundle)
        self.folder = pathlib.Path(folder)
        self.tools = tools
        self.arch = arch
        self.stand_in = stand_in
        self.prebuilt = pathlib.Path(prebuilt) if prebuilt else None
        self.programs_run = programs_run  # those that were compiled elsewhere run here
        self.limit = lambda seconds: seconds  # how many of the seconds that a compiler may take are left
        self.folder.mkdir(parents=True, exist_ok=True)
        self._locks = collections.defaultdict(threading.Lock)  # by name of what is made

    def _there(self, name):
        """What is there of that name, in the folder or prebuilt; None if nothing is."""
        prebuilt = self.prebuilt if self.programs_run or name.endswith(".cubin") else None
        for folder in (self.folder, prebuilt):
            record = folder / f"{name}.made.json" if folder else None
            if record and record.exists():
                path = folder / name
                if path.exists():
                    return dataclasses.replace(Made(**json.loads(record.read_text())), path=str(path))
        return None

    def _make(self, name, commands, options, needs=(), seconds=120):
        """Runs commands that make the file `name`; OUT in them is the name under which it is made first."""
        with self._locks[name]:
            return self._there(name) or self._make_anew(name, commands, options, needs, seconds)

    def _make_anew(self, name, commands, options, needs, seconds):
        for tool in needs:
            if not self.tools.get(tool):
                return Made(why=f"{tool} is not there")
        part = self.folder / f"{name}.part"
        log = ""
        for command in commands:
            words = [part if word == "OUT" else word for word in command]
            ended = processes.run(words, self.limit(seconds), self.folder)
            log += ended.output + ended.errors
            if not ended.ok:
                # Not noted: another compiler may do better.
                return Made(why=self._without_folders(f"cannot be compiled: {ended.why()}"))
        os.replace(part, self.folder / name)
        made = Made(name, "", self._without_folders(log)[-20000:], options)
        files.write_json(self.folder / f"{name}.made.json", dataclasses.asdict(made))
        return dataclasses.replace(made, path=str(self.folder / name))

    def _without_folders(self, text):
        return text.replace(f"{self.folder}/", "").replace(f"{self.bundle}/", "")

    def _stand_in_options(self):
        return ["-DHEDDLE_STAND_IN"] if self.stand_in else []

    def program(self, name):
        """plan_host or plan_card."""
        sources = [self.bundle / "src" / source for source in PROGRAMS[name]]
        command = [
            self.tools["nvcc"],
            "-std=c++20",
            "-O2",
            "-Xcompiler",
            "-ffp-contract=off",
            "-I",
            self.bundle / "src",
        ]
        command += [*self._stand_in_options(), *sources, "-o", "OUT", "-ldl"]
        if self.stand_in:
            command += ["-lcuda"]
        return self._make(name, [command], "-O2", ["nvcc"])

    def image(self, workload, plan, source):
        """Device code of a workload, for the card: a cubin. From PTX without an assembler: the PTX itself."""
        if source == CUDA:
            return self._cuda_image(workload, plan)
        return self._ptx_image(workload, plan)

    def _cuda_image(self, workload, plan):
        if not plan.source.endswith(".cu"):
            return Made(why=f"its source is {plan.source}, and nvcc compiles CUDA")
        defines = [f"-D{define}" for define in plan.defines]
        words = [f"-arch={self.arch}", "-O3", *defines]
        key = hashlib.sha256(" ".join(words).encode()).hexdigest()[:8]
        command = [self.tools["nvcc"], "-cubin", *words, "-Xptxas", "-v"]
        command += [self.bundle / "kernels" / workload / plan.source, "-o", "OUT"]
        options = "nvcc " + " ".join(words)
        if not plan.unroll:
            options += " (the trace's loops are not unrolled, which nvcc has no option for)"
        return self._make(f"{workload}-{key}.cuda.cubin", [command], options, ["nvcc"])

    def _ptx_image(self, workload, plan):
        if self.stand_in:
            return Made(why="the stand-in for a card takes no PTX")
        text = (plan.folder / "kernels.ptx").read_text()
        key = hashlib.sha256(text.encode()).hexdigest()[:8]
        name = f"{workload}-{key}.ptx"
        there = self._there(f"{name}.cubin")
        if there:
            return there
        try:
            functions = ptx.math_functions(text)
        except ptx.Unknown as error:
            return Made(why=str(error))
        options = ""
        if functions:
            options = ", with libdevice of the toolkit for " + " ".join(sorted(functions))
            wrappers = self._math_functions(functions)
            if wrappers.why:
                return Made(why=f"libdevice of the toolkit: {wrappers.why}")
            text = ptx.join(text, pathlib.Path(wrappers.path).read_text())
        joined = self.folder / name
        # Two sizes of a workload can have one text.
        with self._locks[name]:
            joined.write_text(text)
        if not self.tools["ptxas"]:
            return Made(path=str(joined), options="the driver's assembler" + options)
        command = [self.tools["ptxas"], "-v", f"-arch={self.arch}", joined, "-o", "OUT"]
        return self._make(f"{name}.cubin", [command], f"ptxas -arch={self.arch}{options}", ["ptxas"])

    def _math_functions(self, functions):
        key = hashlib.sha256(" ".join(sorted(functions)).encode()).hexdigest()[:8]
        source = self.folder / f"math-{key}.cu"
        with self._locks[source.name]:
            source.write_text(ptx.wrapper_source(functions))
        command = [self.tools["nvcc"], f"-arch={self.arch}", "-rdc=true", "-ptx", source, "-o", "OUT"]
        return self._make(f"math-{key}.ptx", [command], "", ["nvcc"])

    def check(self, workload, plan):
        """The library with the workload's check program; an empty path without `why` if it has none."""
        programs = [check.program for check in plan.checks if check.program]
        if not programs:
            return Made()
        # As capture compiles it.
        command = [self.tools["c++"], "-std=c++20", "-O2", "-ffp-contract=off", "-fPIC", "-shared"]
        command += [self.bundle / "kernels" / workload / programs[0], "-o", "OUT"]
        return self._make(f"{workload}.check.so", [command], "", ["c++"])

    def benchmark(self, name):
        command = [self.tools["nvcc"], "-std=c++20", "-O3", f"-arch={self.arch}", "-I", self.bundle / "src"]
        command += [
            *self._stand_in_options(),
            self.bundle / "src/tools/hardware/benchmarks" / f"{name}.cu",
            "-o",
            "OUT",
        ]
        return self._make(f"benchmark-{name}", [command], f"nvcc -O3 -arch={self.arch}", ["nvcc"])

    def application(self, application):
        """A program of the bundle's list, with the modules that it loads beside it."""
        name = application["name"]
        folder = self.folder / f"application-{name}"
        folder.mkdir(exist_ok=True)
        for module in application["modules"]:
            for ending in ("cubin", "ptx"):
                command = [
                    self.tools["nvcc"],
                    f"-{ending}",
                    f"-arch={self.arch}",
                    self.bundle / "applications" / module,
                ]
                target = f"application-{name}/{pathlib.Path(module).stem}.{ending}"
                made = self._make(target, [[*command, "-o", "OUT"]], "", ["nvcc"])
                if made.why:
                    return made
        options = application["options"].split()
        if not self.stand_in:
            options = [*OWN_OPTIONS.sub("", application["options"]).split(), f"-arch={self.arch}"]
        source = self.bundle / "applications" / f"{name}.cu"
        command = [self.tools["nvcc"], "-O1", *options, source, "-o", "OUT"]
        if "<cuda.h>" in source.read_text():
            command.append("-lcuda")
        return self._make(f"application-{name}/program", [command], " ".join(options), ["nvcc"])


def in_parallel(tasks, jobs):
    """Calls all functions of a dictionary, and gives their results by the same keys. Whatever a function raises
    becomes a Made with the reason."""

    def call(function):
        try:
            return function()
        except Exception as error:  # noqa: BLE001: there is no second visit to fix it
            return Made(why=f"{type(error).__name__}: {error}")

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        futures = {key: pool.submit(call, function) for key, function in tasks.items()}
        return {key: future.result() for key, future in futures.items()}
