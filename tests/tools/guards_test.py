"""PTX as given, with accesses under guards: every command tells guards from branches, and whose code it is.

The trace is that of tests/traces/fixtures/1.7/guarded.ptx: two blocks of two warps, and two guards that hold for all
threads but 28 of the last warp."""
import json
import os
import pathlib
import subprocess
import sys
import unittest

from heddle_command import BUILD, CAPTURE, SAMPLE, SOURCE, CommandTest, heddle, main, results

FIXTURE = SOURCE / "tests" / "traces" / "fixtures" / "1.7"
TRACE = FIXTURE / "guarded.htrace"
CODE = "PTX 8.4 by hand for sm_80"
PYTHON = "/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else sys.executable  # Debian's has its packages


class Guards(CommandTest):
    def test_info_says_whose_code_it_is_and_counts_guards(self):
        text = heddle("trace", "info", TRACE).stdout
        self.assertIn(f"Code         {CODE}: guarded\n", text)
        self.assertIn("Format       1.7", text)
        self.assertIn("guards: the same of predicates", text)
        (launch,) = json.loads(heddle("trace", "info", TRACE, "--json").stdout)["launch"]
        self.assertEqual(
            launch["code"],
            {"level": "LEVEL_PTX_GIVEN", "producer": "hand", "isa_version": "8.4", "target": "sm_80"},
        )
        divergence = launch["divergence"]
        self.assertEqual((divergence["warp_guards"], divergence["divergent_warp_guards"]), (8, 2))
        self.assertEqual((divergence["warp_branches"], divergence["divergent_warp_branches"]), (0, 0))

    def test_nothing_of_it_is_told_of_other_traces(self):
        text = heddle("trace", "info", SAMPLE).stdout
        self.assertNotIn("\nCode ", text)
        self.assertNotIn("guards", text)
        (launch, *_) = json.loads(heddle("trace", "info", SAMPLE, "--json").stdout)["launch"]
        self.assertNotIn("code", launch)
        self.assertNotIn("warp_guards", launch["divergence"])

    def test_dump_marks_guarded_instructions(self):
        program = heddle("trace", "dump", TRACE, "--program").stdout
        self.assertIn(f"\n {CODE}\n", program)
        for guarded in ("@ld.global.u32", "@add.s32", "@st.global.u32"):
            self.assertIn(guarded, program)
        self.assertNotIn("@setp", program)
        self.assertIn("if its guard is false", program)
        threads = heddle("trace", "dump", TRACE, "--blocks", "1", "--threads", "35,36").stdout
        self.assertEqual(threads.count("@ld.global.u32"), 1, "thread 36 of block 1 is element 100")
        self.assertEqual(threads.count("@add.s32"), 2, "what only computes is run by all")

    def test_check_finds_nothing(self):
        done = heddle("trace", "check", TRACE)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_copies_keep_it(self):
        for command in (["repack"], ["extract", "--blocks", "1"], ["merge", TRACE]):
            copy = self.folder / f"{command[0]}.htrace"
            done = heddle("trace", command[0], TRACE, *command[1:], "-o", copy)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"Code         {CODE}", heddle("trace", "info", copy).stdout)
            self.assertIn("Format       1.7", heddle("trace", "info", copy).stdout)

    def test_characterise_counts_guards_apart(self):
        done = heddle("characterise", "--compare", TRACE, TRACE, "--json")
        (kernel,) = json.loads(done.stdout)["kernel"]
        self.assertEqual(kernel["code"], {"a": CODE, "b": CODE})
        number = {key: value["a"] for key, value in kernel["number"].items() if "a" in value}
        self.assertEqual(number["guards"], 256)
        self.assertEqual(number["warp_guards"], 8)
        self.assertNotIn("guard_splits", number, "warps stay together at guards")
        self.assertEqual((number["warp_branches"], number["warp_splits"]), (0, 0))

    def test_results_say_so(self):
        (run,) = results(TRACE, "--machine", "fermi_fixed")
        self.assertEqual(run["launch"][0]["code"], CODE)
        self.assertEqual(run["launch"][0]["predicated_off"], 56, "28 threads pass a load and a store")
        self.assertFalse(any("predicate" in note for note in run["note"]), "no guard parts a warp")
        (other,) = results(SAMPLE, "--machine", "fermi_fixed")
        self.assertNotIn("code", other["launch"][0])
        self.assertNotIn("predicated_off", other["launch"][0])
        self.assertFalse(any("predicate" in note for note in other["note"]))

    @unittest.skipIf(
        subprocess.run([PYTHON, "-c", "import pandas"], capture_output=True, check=False).returncode, "needs pandas"
    )
    def test_tables_of_results_have_a_column(self):
        file = self.folder / "r.jsonl"
        file.write_text("".join(heddle("replay", trace, "--json").stdout for trace in (TRACE, SAMPLE)))
        script = (
            "from heddle import results\nimport sys\n"
            "for per in ('run', 'launch'):\n"
            "    t = results.read(sys.argv[1], per=per)\n"
            "    print(set(t['abstraction_level']), set(t['code'].dropna()), t['code'].isna().any())\n"
        )
        paths = os.pathsep.join(map(str, (SOURCE / "tools" / "python", BUILD / "python")))
        done = subprocess.run(
            [PYTHON, "-c", script, file],
            env=dict(os.environ, PYTHONPATH=paths),
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.stdout.splitlines(), [f"{{'ptx'}} {{'{CODE}'}} True"] * 2, done.stderr)

    @unittest.skipUnless(CAPTURE and pathlib.Path(CAPTURE).exists(), "needs a build with capture")
    def test_a_capture_is_the_fixture(self):
        anew = self.folder / "anew.htrace"
        done = heddle("capture", "-o", anew, FIXTURE / "guarded.textproto")
        self.assertEqual(done.returncode, 0, done.stderr)
        diff = heddle("trace", "diff", TRACE, anew)
        self.assertEqual(diff.returncode, 0, diff.stdout)
        self.assertTrue(diff.stdout.startswith("equal:"), diff.stdout)


if __name__ == "__main__":
    main()
