"""tools/hardware: a bundle, and visits with it, in which heddle-nvcc and a stand-in for Nsight Compute take the place
of a card.

Nothing here is a measurement, and results have to say so.
"""
import filecmp
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import visit_schema  # noqa: E402
from heddle_command import BUILD, CAPTURE, SOURCE  # noqa: E402

TOOLS = SOURCE / "tools/hardware"
NVCC = BUILD / "bin/heddle-nvcc"
STAND_IN_NCU = TOOLS / "stand_in/ncu"
KERNELS = "vector_add|bfs|black_scholes"
ON_CUDA, ON_PTX = "CUDA_SOURCE", "TRACE_PTX"
LIMIT = 1200
# Programs that heddle-nvcc has compiled take this for a setting of theirs.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "HEDDLE_CAPTURE"}

# Each of these makes visits of its own; together they take minutes.
in_campaign = unittest.skipUnless(os.environ.get("HEDDLE_ALL_VISITS"), "tools/campaign run hardware")


def make_bundle(folder, *options):
    command = [TOOLS / "bundle", folder, "--build", BUILD, "--sizes", "tiny", "--jobs", "2", *options]
    words = [str(word) for word in command]
    return subprocess.run(words, capture_output=True, text=True, timeout=LIMIT, check=False, env=ENVIRONMENT)


class VisitTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.root = pathlib.Path(cls.scratch.name)
        cls.bundle = cls.root / "bundle"
        done = make_bundle(cls.bundle, "--kernels", KERNELS, "--applications", "vector_add|errors")
        assert done.returncode == 0, done.stderr
        # What is made of the sources is the same for all visits.
        cls.work = cls.root / "work"
        cls.whole, cls.results = cls.visit_with(cls.root / "whole")
        cls.schema = visit_schema.read((SOURCE / "proto/hardware.proto").read_text())

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.output = pathlib.Path(self.folder.name) / "output"

    @classmethod
    def command(cls, output, *options, bundle=None, tools=(), minutes=15):
        tools = {
            "nvcc": NVCC, "ncu": STAND_IN_NCU, "ptxas": "none", "cuobjdump": "none", "nvidia-smi": "none", **dict(tools)
        }  # fmt: skip
        words = [(bundle or cls.bundle) / "visit", "--output", output, "--work", cls.work, "--minutes", minutes]
        words += ["--jobs", 2, "--profiles", 1, "--compile-seconds", LIMIT, *options]
        for name, path in tools.items():
            words += ["--tool", f"{name}={path}"]
        return [str(word) for word in words]

    @classmethod
    def visit_with(cls, output, *options, mode="", status=0, **how):
        """A visit that ends with `status`; what it says, and its results."""
        environment = dict(ENVIRONMENT, HEDDLE_STAND_IN_NCU=mode)
        done = subprocess.run(
            cls.command(output, *options, **how),
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
            env=environment,
        )
        assert done.returncode == status, f"ended with {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stderr, json.loads((output / "results.json").read_text())

    def kernel(self, results, workload, source=ON_CUDA):
        found = [k for k in results["kernel"] if k["workload"] == workload and k["source"] == source]
        self.assertEqual(len(found), 1, f"{workload} {source}: {results['skipped']}")
        return found[0]

    def why(self, results, what):
        found = [skipped["why"] for skipped in results["skipped"] if skipped["what"] == what]
        self.assertEqual(len(found), 1, f"{what}: {results['skipped']}")
        return found[0]

    def copied_bundle(self, workload, change):
        """A bundle in which a kernel's source has been changed; and a work folder for it that has the programs."""
        bundle = pathlib.Path(self.folder.name) / "changed"
        shutil.copytree(self.bundle, bundle)
        source = bundle / "kernels" / workload / f"{workload}.cu"
        text = source.read_text()
        self.assertNotEqual(change(text), text)
        source.write_text(change(text))
        work = pathlib.Path(self.folder.name) / "work"
        shutil.copytree(self.work, work)
        for path in (work / "built").glob(f"{workload}-*"):
            path.unlink()
        return bundle, work

    # --- the bundle

    @in_campaign
    def test_bundle_is_deterministic(self):
        again = pathlib.Path(self.folder.name) / "again"
        done = make_bundle(again, "--kernels", KERNELS, "--applications", "vector_add|errors")
        self.assertEqual(done.returncode, 0, done.stderr)
        names = sorted(path.relative_to(again) for path in again.rglob("*") if path.is_file())
        self.assertEqual(
            names,
            sorted(
                path.relative_to(self.bundle)
                for path in self.bundle.rglob("*")
                if path.is_file() and "__pycache__" not in path.parts
            ),
        )
        for name in names:
            self.assertTrue(filecmp.cmp(again / name, self.bundle / name, shallow=False), name)
        self.assertIn(json.loads((again / "bundle.json").read_text())["digest"], done.stdout)

    def test_bundle_refuses(self):
        self.assertIn("is there already", make_bundle(self.bundle).stderr)
        other = pathlib.Path(self.folder.name) / "other"
        self.assertEqual(make_bundle(other, "--kernels", "no_such_kernel").returncode, 2)
        done = subprocess.run(
            [TOOLS / "bundle", other, "--build", self.folder.name], capture_output=True, text=True, check=False
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("build it", done.stderr)
        self.assertFalse(other.exists())

    # --- a whole visit

    def test_results_are_of_the_schema_and_say_that_they_are_made_up(self):
        self.assertEqual(visit_schema.faults(self.schema, "Visit", self.results, "visit"), [])
        for word in ("the card", "ncu", "nvcc"):
            self.assertIn(word, self.results["made_up"])
        self.assertTrue(self.results["conditions"]["complete"])
        bundle = json.loads((self.bundle / "bundle.json").read_text())
        self.assertEqual(self.results["tools"]["bundle_digest"], bundle["digest"])
        self.assertRegex(self.results["conditions"]["date"], r"^\d{4}-\d\d-\d\d$")

    def test_outputs_are_those_of_the_capture(self):
        for workload in KERNELS.split("|"):
            kernel = self.kernel(self.results, workload)
            self.assertEqual(kernel["size"], "tiny")
            plan = (self.bundle / "plans" / f"{workload}-tiny" / "plan.txt").read_text()
            self.assertEqual(len(kernel["output"]), len(re.findall("^check ", plan, re.M)))
            for output in kernel["output"]:
                after = re.search(rf"^buffer {output['buffer']} \S+ \d+ \S+ (\S+)", plan, re.M).group(1)
                self.assertTrue(output["right"])
                # The stand-in runs what a capture runs, bit for bit.
                self.assertEqual((output["digest"], output["expected_digest"]), (after, after))

    def test_launches_have_times_and_counters(self):
        kernel = self.kernel(self.results, "bfs")
        self.assertEqual([launch["launch"] for launch in kernel["launch"]], list(range(9)))
        self.assertEqual(kernel["launch"][0]["kernel"], "bfs_start(int*, int, int)")
        self.assertTrue(all(len(launch["microseconds"]) == 11 for launch in kernel["launch"]))
        fixture = (TOOLS / "stand_in/counters.csv").read_text().splitlines()[1:]
        expected = {line.split(",")[0]: float(line.split(",")[2]) for line in fixture}
        for launch in kernel["launch"]:
            self.assertEqual({c["name"]: c["value"][0] for c in launch["counter"]}, expected)
            self.assertEqual(launch["passes"], 9)
        self.assertEqual(len(kernel["code"]), 2)
        self.assertGreater(kernel["code"][0]["registers"], 0)

    def test_what_is_left_out_is_named(self):
        self.assertIn("takes no PTX", self.why(self.results, f"kernel bfs tiny {ON_PTX}"))
        self.assertIn("cuobjdump", self.why(self.results, "instructions in machine code"))

    def test_programs(self):
        found = {application["name"]: application for application in self.results["application"]}
        self.assertTrue(found["vector_add"]["compiled"] and found["vector_add"]["equal"])
        self.assertEqual(found["vector_add"]["output_digest"], found["vector_add"]["expected_digest"])

    def test_benchmarks_are_those_of_the_list(self):
        known = {b["name"]: b for b in json.loads((TOOLS / "benchmarks.json").read_text())["benchmarks"]}
        names = {benchmark["name"] for benchmark in self.results["benchmark"]}
        for benchmark in self.results["benchmark"]:
            self.assertEqual(benchmark["unit"], known[benchmark["name"]]["unit"])
            self.assertEqual(
                sorted(benchmark["parameter"]),
                sorted(known[benchmark["name"]]["parameters"].replace(",", " ").split()),
                benchmark["name"],
            )
        # The stand-in's compiler does not know the statements that these need.
        unknown = {
            "latency_shared",
            "shared_conflict_cycles",
            "cycles_shared_load",
            "latency_constant",
            "latency_tensor",
            "throughput_tensor",
        }
        unknown |= {"latency_shared_cluster", "latency_transaction_barrier", "latency_copy"}
        # A stand-in has no pipelines, caches or order of warps: these programs print nothing there.
        unknown |= {
            "cycles_loop",
            "cycles_branch",
            "cycles_divergence",
            "cycles_call",
            "cycles_by_code_footprint",
            "latency_l1_pattern",
            "cycles_l1_load",
            "cycles_store",
            "latency_atomic_shared_pattern",
            "cycles_atomic_shared",
            "latency_atomic_global_pattern",
            "cycles_atomic_global",
            "cycles_after_atomics",
            "cycles_misses",
            "cycles_pending_hits",
            "latency_line_state",
            "throughput_by_warps",
            "spread_of_warps",
            "throughput_pair",
            "cycles_issue_alone",
            "latency_l1_by_stride",
            "latency_l2_by_stride",
            "bandwidth_l2_by_stride",
        }
        self.assertEqual(set(known) - names, unknown)

    def test_files_come_back_within_limits(self):
        files = [path for path in (self.root / "whole").rglob("*") if path.is_file()]
        self.assertEqual(
            sorted(path.name for path in files),
            ["journal.jsonl", "raw.tar.gz", "results.json", "results.json.gz"],
        )

    def test_results_of_a_journal_alone(self):
        shutil.copytree(self.root / "whole", self.output)
        (self.output / "results.json").unlink()
        _, again = self.visit_with(self.output, "--write-only")
        self.assertEqual(again["kernel"], self.results["kernel"])

    # --- cut short

    def test_goes_on_after_it_was_killed(self):
        journal = self.output / "journal.jsonl"
        running = subprocess.Popen(
            self.command(self.output), stderr=subprocess.DEVNULL, start_new_session=True, env=ENVIRONMENT
        )
        end = time.monotonic() + LIMIT
        while time.monotonic() < end and not (journal.exists() and '"done":"run ' in journal.read_text()):
            time.sleep(0.01)
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
        before = journal.read_text().count('"done":')
        json.loads((self.output / "results.json").read_text())
        said, results = self.visit_with(self.output)
        self.assertRegex(said, r"goes on: \d+ steps were done before")
        steps = re.findall(r'"done":"([^"]+)"', journal.read_text())
        self.assertGreater(len(steps), before)
        self.assertEqual(len(steps), len(set(steps)), "a step was made twice")
        self.assertTrue(results["conditions"]["complete"])
        self.assertEqual(len(results["kernel"]), len(self.results["kernel"]))

    @in_campaign
    def test_nearly_no_time(self):
        _, results = self.visit_with(self.output, minutes=0.151)
        self.assertFalse(results["conditions"]["complete"])
        self.assertEqual(results["kernel"], [])
        self.assertEqual(visit_schema.faults(self.schema, "Visit", results, "visit"), [])
        self.assertIn("no time", self.why(results, f"kernel bfs tiny {ON_CUDA}"))
        # What was found is kept, and more time finds the rest.
        _, results = self.visit_with(self.output)
        self.assertTrue(results["conditions"]["complete"])

    def test_journal_of_another_bundle(self):
        self.output.mkdir()
        (self.output / "journal.jsonl").write_text('{"bundle": "0"}\n')
        done = subprocess.run(self.command(self.output), capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("another bundle", done.stderr)

    # --- tools that are missing or broken

    def test_no_compiler(self):
        broken = pathlib.Path(self.folder.name) / "nvcc"
        broken.write_text("#!/bin/sh\necho 'error: no licence' >&2\nexit 1\n")
        broken.chmod(0o755)
        elsewhere = ("--work", pathlib.Path(self.folder.name) / "empty")
        _, results = self.visit_with(self.output, *elsewhere, tools={"nvcc": broken}, status=1)
        self.assertIn("no licence", self.why(results, "everything"))
        self.assertIn("no licence", self.why(results, f"kernel bfs tiny {ON_CUDA}"))
        _, results = self.visit_with(self.output, *elsewhere, tools={"nvcc": "/no/such/nvcc"}, status=1)
        self.assertIn("cannot be started", self.why(results, "everything"))

    def expect_times_only(self, results, reason):
        self.assertIn(reason, self.why(results, "all counters"))
        for launch in self.kernel(results, "bfs")["launch"]:
            self.assertTrue(launch["microseconds"])
            self.assertNotIn("counter", launch)
        self.assertTrue(results["conditions"]["complete"])

    @in_campaign
    def test_no_profiler(self):
        self.expect_times_only(self.visit_with(self.output, tools={"ncu": "none"})[1], "ncu is not there")

    def test_profiler_without_permission(self):
        self.expect_times_only(self.visit_with(self.output, mode="permission")[1], "ERR_NVGPUCTRPERM")

    @in_campaign
    def test_profiler_that_prints_no_table(self):
        self.expect_times_only(self.visit_with(self.output, mode="broken")[1], "printed no table")

    @in_campaign
    def test_profiler_that_does_not_know_a_counter(self):
        name = "dram__bytes_read.sum"
        _, results = self.visit_with(self.output, mode=f"metric:{name}")
        self.assertIn("not known", self.why(results, f"counter {name}"))
        counters = {counter["name"] for counter in self.kernel(results, "bfs")["launch"][0]["counter"]}
        all_of_them = {counter["name"] for counter in self.kernel(self.results, "bfs")["launch"][0]["counter"]}
        self.assertEqual(all_of_them - counters, {name})

    @in_campaign
    def test_profiler_with_a_line_per_counter(self):
        _, results = self.visit_with(self.output, mode="long")
        self.assertEqual(
            [launch["counter"] for launch in self.kernel(results, "bfs")["launch"]],
            [launch["counter"] for launch in self.kernel(self.results, "bfs")["launch"]],
        )

    @in_campaign
    def test_profiler_that_loses_a_launch(self):
        _, results = self.visit_with(self.output, mode="short")
        # The test of the profiler has one launch, so it sees nothing.
        self.expect_times_only(results, "no table")

    # --- kernels

    def test_kernel_with_wrong_output(self):
        bundle, work = self.copied_bundle(
            "vector_add", lambda text: re.sub(r"(\w+\[\w+\]) \+ (\w+\[)", r"\1 - \2", text)
        )
        said, results = self.visit_with(self.output, "--work", work, bundle=bundle)
        output = self.kernel(results, "vector_add")["output"][0]
        self.assertFalse(output["right"])
        self.assertIn("expected", output["wrong"])
        self.assertNotEqual(output["digest"], output["expected_digest"])
        self.assertIn("wrong output: run vector_add-tiny", said)
        self.assertTrue(self.kernel(results, "bfs")["output"][0]["right"])

    @in_campaign
    def test_kernel_that_hangs(self):
        stuck = "{ volatile int going = 1; while (going != 0) going = (3 * going) | 1; "
        bundle, work = self.copied_bundle(
            "vector_add", lambda text: re.sub(r"(__global__[^{]*)\{", r"\1" + stuck, text)
        )
        _, results = self.visit_with(self.output, "--work", work, "--hang-seconds", 3, bundle=bundle)
        self.assertIn("was stopped", self.why(results, f"kernel vector_add tiny {ON_CUDA}"))
        # The others of its group run, and nobody profiles it.
        self.assertTrue(self.kernel(results, "bfs")["output"][0]["right"])
        self.assertTrue(self.kernel(results, "black_scholes")["launch"][0]["counter"])

    @in_campaign
    def test_kernel_that_does_not_compile(self):
        bundle, work = self.copied_bundle("vector_add", lambda text: text + "\n#error no such luck\n")
        _, results = self.visit_with(self.output, "--work", work, bundle=bundle)
        self.assertIn("no such luck", self.why(results, f"kernel vector_add tiny {ON_CUDA}"))
        self.assertTrue(self.kernel(results, "bfs")["output"][0]["right"])

    @in_campaign
    def test_contents_that_are_not_those_of_the_capture(self):
        bundle = pathlib.Path(self.folder.name) / "changed"
        shutil.copytree(self.bundle, bundle)
        plan = bundle / "plans/vector_add-tiny/plan.txt"
        plan.write_text(re.sub(r"uniform (\d+)", r"uniform 1\1", plan.read_text(), count=1))
        work = pathlib.Path(self.folder.name) / "work"
        shutil.copytree(self.work, work)
        for folder in ("plans", "contents"):
            shutil.rmtree(work / folder / "vector_add-tiny")
        _, results = self.visit_with(self.output, "--work", work, bundle=bundle)
        self.assertIn("not those of the capture", self.why(results, f"kernel vector_add tiny {ON_CUDA}"))


class ToolkitTest(unittest.TestCase):
    """With the vendor's compiler: everything is compiled for a card, and nothing runs."""

    def test_everything_compiles_for_a_card(self):
        sys.path.insert(0, str(TOOLS))
        from kit import build, machine_code, plans, tools_found

        tools = tools_found.find({})
        if not tools["nvcc"] or not tools["ptxas"]:
            self.skipTest("needs nvcc and ptxas of a CUDA toolkit")
        with tempfile.TemporaryDirectory() as folder:
            bundle = pathlib.Path(folder) / "bundle"
            done = make_bundle(bundle, "--kernels", "black_scholes|mandelbrot", "--applications", "none")
            self.assertEqual(done.returncode, 0, done.stderr)
            builder = build.Builder(bundle, pathlib.Path(folder) / "built", tools, "sm_90")
            for name in build.PROGRAMS:
                self.assertEqual(builder.program(name).why, "", name)
            for name in build.BENCHMARKS:
                self.assertEqual(builder.benchmark(name).why, "", name)
            plan = plans.read(bundle / "plans/black_scholes-tiny")
            for source in (build.CUDA, build.TRACE_PTX):
                made = builder.image("black_scholes", plan, source)
                self.assertEqual(made.why, "", source)
                self.assertIn(plan.launches[0].function, machine_code.read_assembler(made.log))
            self.assertIn("libdevice", made.options)
            plan = plans.read(bundle / "plans/mandelbrot-tiny")
            self.assertEqual(builder.image("mandelbrot", plan, build.TRACE_PTX).why, "")
            self.assertIn("nvcc compiles CUDA", builder.image("mandelbrot", plan, build.CUDA).why)


if __name__ == "__main__":
    if not CAPTURE:
        sys.exit(77)
    unittest.main()
