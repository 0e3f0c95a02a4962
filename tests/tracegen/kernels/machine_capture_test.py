#!/usr/bin/env python3
"""Captures kernels at the machine level, with the user's own toolkit: outputs are right, and the traces can be replayed,
and exported to Accel-Sim and back.

machine_capture_test.py CAPTURE_PROGRAM HEDDLE KERNELS_FOLDER

Every eighth small recipe of CUDA kernels is taken, and all of OpenCL; HEDDLE_ALL_KERNELS=1 takes all. Kernels with matrix
instructions are always taken, for sm_80 and sm_90. Without nvcc, ptxas or nvdisasm the test is skipped (exit status 77),
and says what is missing.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
TOOLS = pathlib.Path(__file__).resolve().parents[3] / "tools"
sys.dont_write_bytecode = True
sys.path.insert(0, str(TOOLS))
import nvcc_ptx  # noqa: E402

POLICIES = ["pdom", "its", "dwf", "tbc"]
# What is not known may be refused, if it is said where.
NOT_YET = re.compile(r"\+0x[0-9a-f]+: .*(?:without a meaning yet|cannot be executed yet|not known)")
# Of kernels that call mathematical functions, and others: from clang's PTX.
FROM_CLANG = ["black_scholes", "mandelbrot", "reduction", "softmax", "vector_add"]
# Matrix instructions and asynchronous copies, on a machine that has products of all their elements.
OF_MATRICES = ["flash_attention_2", "gemm_mma_pipeline", "gemm_wmma"]
MATRIX_MACHINE = "hopper_h100"
# Regrouping puts threads of several warps together there, whose uniform registers differ.
REGROUPED = ["stream_cluster", "suffix_match"]


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)


class Captures:
    def __init__(self, capture, heddle, folder):
        self.capture, self.heddle, self.folder = capture, heddle, folder
        self.failures = []
        self.tried = self.captured = 0
        self.mixed = dict.fromkeys(POLICIES, 0)  # issues of threads whose uniform registers differ

    def fail(self, recipe, what):
        self.failures.append(f"{recipe.stem}: {what}")

    def take(self, recipe, *options, architecture="sm_80", machine=None):
        """Captures, looks at what the trace says, and replays it on a machine."""
        trace = self.folder / "out.htrace"
        self.tried += 1
        done = run(
            self.capture,
            "--quiet",
            "--native",
            "--level",
            "machine",
            "--arch",
            architecture,
            *options,
            "-o",
            trace,
            recipe,
        )
        if done.returncode == 1 and machine is None and NOT_YET.search(done.stderr):
            print(f"{recipe.stem}: {done.stderr.strip()}")
            return
        if done.returncode != 0:
            self.fail(recipe, done.stderr.strip())
            return
        checked = run(self.heddle, "trace", "check", trace)
        if checked.returncode != 0:
            self.fail(recipe, f"check: {checked.stdout.strip()} {checked.stderr.strip()}")
        told = run(self.heddle, "trace", "info", "--json", trace)
        info = json.loads(told.stdout)
        if info["header"]["abstraction_level"] != "machine" or info["header"]["target"] != architecture:
            self.fail(recipe, f"the header says {info['header']}")
        self.captured += 1
        executed = {self.replay(recipe, trace, policy, machine) for policy in POLICIES}
        # Joins are recorded, and no warp executes them; the replay itself counts them.
        if len(executed) != 1 or not 0 < min(executed) <= info["thread_instructions"]:
            self.fail(recipe, f"{executed} of {info['thread_instructions']} thread-instructions")
        if architecture != "sm_90":  # whose opcodes Accel-Sim does not know
            self.exchange(recipe, trace)

    def replay(self, recipe, trace, policy, machine):
        """The thread-instructions whose guard held; 0 if the replay fails."""
        where = ["--machine", machine] if machine else []
        done = run(self.heddle, "replay", trace, "--divergence", policy, "--force-regrouping", "--json", *where)
        if done.returncode != 0:
            self.fail(recipe, f"{policy}: {done.stderr.strip()}")
            return 0
        launches = json.loads(done.stdout)["launch"]
        mixed = sum(launch.get("uniform_values", {}).get("mixed_issues", 0) for launch in launches)
        self.mixed[policy] += mixed
        if policy == "pdom" and mixed > 0:
            self.fail(recipe, f"a uniform register differs within a warp, in {mixed} issues: the recording is wrong")
        return sum(launch["thread_instructions"] - launch.get("predicated_off", 0) for launch in launches)

    def exchange(self, recipe, trace):
        """To Accel-Sim and back: threads run the same instructions, and warps make the same accesses."""
        exported, imported = self.folder / "exported", self.folder / "imported.htrace"
        shutil.rmtree(exported, ignore_errors=True)
        for command in (
            ["trace", "export", trace, "--accelsim", exported],
            ["trace", "import", "--accelsim", exported, "-o", imported],
        ):
            done = run(self.heddle, *command)
            if done.returncode != 0:
                self.fail(recipe, f"{command[1]}: {done.stderr.strip()}")
                return
        before, after = self.work(trace), self.work(imported)
        # Joins of an import are issued where the guard behind them parts threads.
        if "NOP.JOIN" in run(self.heddle, "trace", "dump", "--program", imported).stdout:
            before, after = ([counts for _, counts in launches] for launches in (before, after))
        # Functions that are called have one place to go back to here, and several in an import, to which calls are jumps.
        # An asynchronous copy comes back as a load.
        program = run(self.heddle, "trace", "dump", "--program", trace).stdout
        if before != after and "CALL" not in program and "LDGSTS" not in program:
            self.fail(recipe, f"{before} are {after} after export and import")

    def work(self, trace):
        done = run(self.heddle, "replay", trace, "--machine", "baws_gtx480", "--divergence", "pdom", "--json")
        counted = ("data_loads", "data_stores", "data_atomics", "transactions", "shared_accesses")
        return [
            (
                launch["thread_instructions"] - launch.get("predicated_off", 0),
                {name: launch["memory_instructions"].get(name) for name in counted},
            )
            for launch in json.loads(done.stdout)["launch"]
        ]


def missing():
    """What of a toolkit is not there; empty if all is."""
    if nvcc_ptx.find_nvcc() is None:
        return "no nvcc"
    for name in ("ptxas", "nvdisasm"):
        if run("sh", "-c", f"command -v {name} || test -x /usr/local/cuda/bin/{name}").returncode != 0:
            return f"no {name}"
    return ""


def main():
    capture, heddle, kernels = map(pathlib.Path, sys.argv[1:])
    if reason := missing():
        print(f"{reason}: nothing to assemble with")
        sys.exit(SKIPPED)
    recipes = [path for path in sorted(kernels.glob("*/*.tiny.textproto")) if nvcc_ptx.is_cuda(path)]
    step = 1 if os.environ.get("HEDDLE_ALL_KERNELS") else 8
    with tempfile.TemporaryDirectory() as scratch:
        captures = Captures(capture, heddle, pathlib.Path(scratch))
        for recipe in recipes[::step] + [path for path in recipes if step > 1 and path.parent.name in REGROUPED]:
            captures.take(recipe)
        for recipe in sorted(kernels.glob("*/*.tiny.textproto")):
            if '.cl"' in recipe.read_text():
                captures.take(recipe)
        for recipe in recipes:
            for architecture in ("sm_80", "sm_90") if recipe.parent.name in OF_MATRICES else ():
                captures.take(recipe, architecture=architecture, machine=MATRIX_MACHINE)
        some = [path for path in recipes if path.parent.name in FROM_CLANG]
        for recipe in recipes if step == 1 else some:
            captures.take(recipe, "--ptx-from", "clang")
    print(f"{captures.captured} of {captures.tried} captures")
    if captures.captured * 10 < captures.tried * 9:
        captures.failures.append("too many are refused")
    for policy in ("dwf", "tbc"):
        if captures.mixed[policy] == 0:
            captures.failures.append(f"warps of {policy} never hold different values of a uniform register")
    if len(recipes) < 40:
        captures.failures.append(f"there are only {len(recipes)} recipes")
    if captures.failures:
        sys.exit("\n".join(captures.failures))


main()
