"""Parts of tools/hardware that read what tools print. The files in outputs/ are what CUDA 13's ptxas and cuobjdump
have printed for a small file of two kernels; tables of the profiler are made up, in its documented form."""
import json
import os
import pathlib
import re
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["HEDDLE_SOURCE"])
sys.path.insert(0, str(SOURCE / "tools/hardware"))

import visit_schema  # noqa: E402
from kit import build, clocks, kernels, machine_code, profiler, ptx, state  # noqa: E402

OUTPUTS = pathlib.Path(__file__).parent / "outputs"

WIDE = """==PROF== Connected to process 7 (/plan_card)
==PROF== Profiling "_Z3addPf": 0%....50%....100% - 12 passes
==PROF== Profiling "_Z3addPf": 0%....50%....100% - 1 pass
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","gpu__time_duration.sum","sm__cycles_elapsed.max","x__y.sum"
"","","","","","","","","","","","ns","cycle",""
"0","7","plan_card","127.0.0.1","_Z3addPf","1","7","(128, 1, 1)","(4, 2, 1)","0","9.0","2,848","1,234,567.5","n/a"
"1","7","plan_card","127.0.0.1","_Z3addPf","1","7","(64, 1, 1)","(1, 1, 1)","0","9.0","3","4","0"
==PROF== Disconnected from process 7
"""
LONG = """"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"
"0","7","plan_card","127.0.0.1","_Z3addPf","1","7","(128, 1, 1)","(4, 2, 1)","0","9.0","Command line profiler metrics","gpu__time_duration.sum","ns","2,848"
"0","7","plan_card","127.0.0.1","_Z3addPf","1","7","(128, 1, 1)","(4, 2, 1)","0","9.0","Command line profiler metrics","sm__cycles_elapsed.max","cycle","1,234,567.5"
"1","7","plan_card","127.0.0.1","_Z3addPf","1","7","(64, 1, 1)","(1, 1, 1)","0","9.0","Command line profiler metrics","gpu__time_duration.sum","ns","3"
"""


class ProfilerTest(unittest.TestCase):
    def test_a_column_per_counter(self):
        rows = profiler.read_rows(WIDE)
        self.assertEqual([row["kernel"] for row in rows], ["_Z3addPf"] * 2)
        self.assertEqual((rows[0]["grid"], rows[0]["block"]), ((4, 2, 1), (128, 1, 1)))
        # What has no value is absent, and nothing that describes the launch counts as a counter.
        self.assertEqual(
            rows[0]["counters"],
            {"gpu__time_duration.sum": ("ns", 2848.0), "sm__cycles_elapsed.max": ("cycle", 1234567.5)},
        )
        self.assertEqual(rows[1]["counters"]["x__y.sum"], ("", 0.0))
        self.assertEqual(profiler.read_passes(WIDE), [12, 1])

    def test_a_line_per_counter(self):
        rows = profiler.read_rows(LONG)
        self.assertEqual(rows[0]["counters"], profiler.read_rows(WIDE)[0]["counters"])
        self.assertEqual(rows[1]["counters"], {"gpu__time_duration.sum": ("ns", 3.0)})

    def test_what_is_no_table(self):
        broken = [
            "",
            "==ERROR== nothing",
            '"ID"\n',
            '"ID","Kernel Name"\n"0","x"\n',
            WIDE.split("\n")[3],
            WIDE.replace('"","","","","","","","","","","","ns","cycle",""\n', ""),
            '"unfinished',
            '"ID","Kernel Name","Grid Size","Block Size"\n"0',
        ]
        for text in broken:
            self.assertEqual(profiler.read_rows(text), [], text)

    def test_counters_that_the_tool_does_not_know(self):
        wanted = ["smsp__inst_executed.sum", "dram__bytes_read.sum", "sm__x.avg.per_cycle_active"]
        text = "==ERROR== Failed to find metric regex:^dram__bytes_read\\.sum$\n==ERROR== Failed to find metric sm__x"
        self.assertEqual(profiler.unknown_metrics(text, wanted), ["dram__bytes_read.sum"])
        text = "==ERROR== Failed to find metric regex:^dram__bytes_read(\\.(sum|avg))?$"
        self.assertEqual(profiler.unknown_metrics(text, wanted), ["dram__bytes_read.sum"])


class MachineCodeTest(unittest.TestCase):
    def test_the_assembler(self):
        found = machine_code.read_assembler((OUTPUTS / "ptxas.txt").read_text())
        nothing = {"spill_store_bytes": 0, "spill_load_bytes": 0}
        self.assertEqual(
            found,
            {
                "_Z5PlainPdi": {"registers": 10, "static_shared_bytes": 0, **nothing},
                "_Z6SharedPfi": {"registers": 18, "static_shared_bytes": 512, **nothing},
            },
        )

    def test_the_disassembler(self):
        classes = json.loads((SOURCE / "tools/hardware/counters.json").read_text())["sass_classes"]
        found = machine_code.count_instructions((OUTPUTS / "cuobjdump.txt").read_text(), classes)
        self.assertEqual(set(found), {"_Z5PlainPdi", "_Z6SharedPfi"})
        self.assertEqual(found["_Z5PlainPdi"]["fp64"], 1)  # DFMA
        self.assertEqual(found["_Z5PlainPdi"]["control"], 3)  # two EXIT, one of them under a predicate, and BRA
        self.assertEqual(sum(found["_Z5PlainPdi"].values()), 32)
        self.assertNotIn("unknown", found["_Z6SharedPfi"])
        without = {name: opcodes for name, opcodes in classes.items() if name != "fp64"}
        found = machine_code.count_instructions((OUTPUTS / "cuobjdump.txt").read_text(), without)
        self.assertEqual(found["_Z5PlainPdi"]["unknown"], 1)


MODULE = """//
.version 7.0
.target sm_70
.address_size 64

.extern .func  (.param .b32 func_retval0) __nv_sinf
(
	.param .b32 __nv_sinf_param_0
)
;
.visible .entry f() {
	call.uni (retval0), __nv_sinf, (param0);
}
"""
WRAPPERS = """//
.version 9.0
.target sm_90
.address_size 64

.visible .func  (.param .b32 func_retval0) heddle__nv_sinf(.param .b32 x) { ret; }
"""


class PtxTest(unittest.TestCase):
    def test_math_functions_get_bodies(self):
        self.assertEqual(ptx.math_functions(MODULE), {"__nv_sinf": 1})
        source = ptx.wrapper_source({"__nv_sinf": 1, "__nv_powf": 2})
        self.assertIn("float heddle__nv_powf(float x0, float x1) { return __nv_powf(x0, x1); }", source)
        joined = ptx.join(MODULE, WRAPPERS)
        self.assertNotIn(".extern", joined)
        self.assertEqual(joined.count("heddle__nv_sinf"), 2)
        self.assertIn(".version 9.0\n.target sm_70\n", joined)
        self.assertLess(joined.index("heddle__nv_sinf(.param"), joined.index("call.uni"))

    def test_functions_whose_types_are_not_known(self):
        for name, text in (
            ("double", MODULE.replace("b32", "b64").replace("__nv_sinf", "__nv_sin")),
            ("other", MODULE.replace("__nv_sinf", "vprintf")),
        ):
            with self.assertRaises(ptx.Unknown, msg=name):
                ptx.math_functions(text)
        with self.assertRaises(ptx.Unknown):
            ptx.join(MODULE, "no PTX")


class ClocksTest(unittest.TestCase):
    def test_what_holds_clocks_down(self):
        self.assertEqual(clocks.reasons("0x0000000000000005"), "idle, software power cap")
        self.assertEqual(clocks.reasons("0x0"), "")
        self.assertEqual(clocks.reasons("[N/A]"), "")
        self.assertIsNone(clocks.number("[N/A]", int))


class JobsTest(unittest.TestCase):
    def test_output_that_was_cut(self):
        text = '{"begin": "a"}\n{"timed": 0}\n{"end": "a"}\nnoise\n{"begin": "b"}\n{"timed": 0}\n{"tim'
        jobs = kernels.split_jobs(kernels.read_lines(text))
        self.assertEqual(jobs["a"], {"lines": [{"timed": 0}], "ended": True})
        self.assertEqual(jobs["b"], {"lines": [{"timed": 0}], "ended": False})

    def test_launches_for_the_profiler(self):
        class Launch:
            def __init__(self, function):
                self.function = function

        class Plan:
            launches = [Launch("often") for _ in range(500)]

        Plan.launches[333] = Launch("once")
        for most in kernels.MOST_PROFILED:
            chosen = kernels.profiled_launches(Plan, most)
            self.assertIn(333, chosen)
            self.assertEqual(chosen[0], 0)
            self.assertLessEqual(len(chosen), most + 2)
        self.assertEqual(kernels.profiled_launches(Plan, 48)[-1], 499)
        self.assertEqual(kernels.profiled_launches(Plan, 1000), list(range(500)))

    def test_fewer_launches_where_time_is_short(self):
        class Job:
            class plan:
                launches = [type("Launch", (), {"function": "f"}) for _ in range(100)]

        self.assertEqual(kernels.affordable([Job] * 4, 0, 1), 48)
        self.assertEqual(kernels.affordable([Job] * 4, 1, 192), 48)
        self.assertEqual(kernels.affordable([Job] * 4, 1, 191), 24)
        self.assertEqual(kernels.affordable([Job] * 4, 1, 0), 1)


class StateTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.journal = pathlib.Path(self.folder.name) / state.NAME

    def test_goes_on_where_it_was_cut(self):
        first = state.State(self.folder.name, "d1")
        self.assertEqual(first.open(), 0)
        first.finish("run a", {"x": 1})
        first.fail("run b", "line one\nline two")
        first.set("metrics", ["m"])
        with self.journal.open("a") as file:
            file.write('{"done":"run c","fou')
        second = state.State(self.folder.name, "d1")
        self.assertEqual(second.open(), 1)
        self.assertEqual(second.done("run a"), {"x": 1})
        self.assertTrue(second.is_done("run b"))
        self.assertFalse(second.is_done("run c"))
        self.assertEqual(second.failures(), {"run b": "line one line two"})
        second.finish("run c", {})
        third = state.State(self.folder.name, "d1")
        self.assertEqual(third.open(), 2)
        self.assertEqual(third.get("metrics"), ["m"])

    def test_a_journal_of_another_bundle(self):
        state.State(self.folder.name, "d1").open()
        with self.assertRaisesRegex(ValueError, "another bundle"):
            state.State(self.folder.name, "d2").open()
        self.journal.write_text("")
        with self.assertRaises(ValueError):
            state.State(self.folder.name, "d1").open()


class BenchmarksTest(unittest.TestCase):
    """The programs of the micro-benchmarks, of which a stand-in for a card runs only some."""

    FOLDER = SOURCE / "tools/hardware/benchmarks"

    def test_programs_print_what_the_list_names(self):
        sources = [path.read_text() for path in self.FOLDER.glob("*.cu")]
        sources.append((SOURCE / "tools/hardware/kit/measure.py").read_text())
        text = "\n".join(sources)
        known = {b["name"] for b in json.loads((SOURCE / "tools/hardware/benchmarks.json").read_text())["benchmarks"]}
        # Some names are put together.
        prefixes = tuple(re.findall(r'std::string\("(\w+_)"\)', text))
        self.assertEqual([name for name in known if f'"{name}"' not in text and not name.startswith(prefixes)], [])
        printed = set(re.findall(r'\bPrint\(\s*"(\w+)"', text))
        self.assertIn("cycles_loop", printed)
        self.assertEqual(printed - known, set())

    def test_each_program_belongs_to_a_visit(self):
        self.assertEqual({path.stem for path in self.FOLDER.glob("*.cu")}, {*build.BENCHMARKS, build.SECTORS})


class KeptResultsTest(unittest.TestCase):
    """What stands in traces/hardware was measured on a card."""

    def faults(self, visit):
        schema = visit_schema.read((SOURCE / "proto/hardware.proto").read_text())
        found = visit_schema.faults(schema, "Visit", visit, "visit")
        if visit.get("made_up") or "stand-in" in json.dumps(visit.get("tools", {})):
            found.append("is not measured on a card")
        if not visit.get("card", {}).get("name") or not visit.get("tools", {}).get("driver"):
            found.append("does not say which card and driver")
        return found

    def test_nothing_there_is_made_up(self):
        for path in (SOURCE / "traces/hardware").rglob("*.json"):
            self.assertEqual(self.faults(json.loads(path.read_text())), [], path)

    def test_what_a_stand_in_made_is_refused(self):
        card, tools = {"name": "a card"}, {"driver": "1.2"}
        self.assertEqual(self.faults({"schema": 1, "card": card, "tools": tools}), [])
        self.assertIn("is not measured on a card", self.faults({"card": card, "tools": tools, "made_up": "a test"}))
        self.assertIn(
            "is not measured on a card", self.faults({"card": card, "tools": dict(tools, ncu="stand-in for ncu")})
        )
        self.assertTrue(self.faults({"card": card}))
        self.assertTrue(self.faults({"card": card, "tools": tools, "kernel": [{"no_such_field": 1}]}))


if __name__ == "__main__":
    unittest.main()
