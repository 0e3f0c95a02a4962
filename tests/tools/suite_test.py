"""`heddle suite`: programs are built in a copy, recorded, checked; what is wrong is named, skipped and counted."""
import json
import re
import shutil
import signal
import subprocess
import sys
import time

from heddle_command import CAPTURE, HEDDLE, SOURCE, CommandTest, heddle, main

EXAMPLE = SOURCE / "traces" / "suites" / "example"


class SuiteTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.source = self.folder / "source"
        shutil.copytree(EXAMPLE, self.source)
        self.file = self.folder / "mine.textproto"
        self.write((SOURCE / "traces" / "suites" / "example.textproto").read_text())

    def write(self, text):
        """The suite, with the digests that its sources have now."""
        self.file.write_text(text)
        told = heddle("suite", "check", self.file, "--source", self.source).stdout
        for place, digest in re.findall(r'^program \S+:( reference:)? the sources have sha256: "(\w+)"$', told, re.M):
            before = re.compile(r'(reference \{.*?sha256: ")\w+' if place else r'(sha256: ")\w+', re.S)
            self.file.write_text(before.sub(rf"\g<1>{digest}", self.file.read_text(), count=1))

    def edit(self, old, new):
        self.assertIn(old, self.file.read_text())
        self.write(self.file.read_text().replace(old, new))

    def edit_source(self, name, old, new):
        path = self.source / name
        self.assertIn(old, path.read_text())
        path.write_text(path.read_text().replace(old, new))
        self.write(self.file.read_text())

    def suite(self, *arguments, status=0, size="tiny"):
        """The rows of a run, by program."""
        done = heddle(
            *("suite", "run", self.file, "--source", self.source, "-o", self.folder / "out", "--size", size),
            *("--date", "2026-11-27", "--json", *arguments),
        )
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        result = json.loads(done.stdout)
        self.result = result
        return {row["program"]: row for row in result["program"]}

    def only_row(self, *arguments, **options):
        (row,) = self.suite(*arguments, **options).values()
        return row

    def refused(self, state, step, reason, **options):
        row = self.only_row(status=0 if state == "SKIPPED" else 1, **options)
        self.assertEqual((row["state"], row["step"]), (state, step), row)
        self.assertIn(reason, row["reason"])
        self.assertEqual((row["trace"], row["launches"], row["thread_instructions"]), ("", 0, 0), "no row of it")
        self.assertEqual(list(self.folder.glob("out/traces/*.htrace")), [])
        self.assertFalse((self.folder / "out" / "corpus").exists())
        self.assertEqual(self.result[state.lower()], 1)
        return row


class Running(SuiteTest):
    def test_a_program_is_recorded_and_its_output_proved(self):
        before = {p: p.read_bytes() for p in self.source.rglob("*") if p.is_file()}
        row = self.only_row()
        self.assertEqual(row["state"], "RIGHT")
        self.assertEqual(row["how"], "prints what the host prints")
        self.assertEqual(row["launches"], 1)
        trace = self.folder / "out" / row["trace"]
        info = json.loads(heddle("trace", "info", trace, "--json").stdout)
        self.assertIn(row["trace_digest"], json.dumps(info))
        self.assertIn('"block": [64, 1, 1]', json.dumps(info).replace("[64,1,1]", "[64, 1, 1]"), "the size's variable")
        self.assertEqual(heddle("corpus", "verify", self.result["corpus"]).returncode, 0)
        self.assertIn("CC0-1.0", heddle("corpus", "list", self.result["corpus"]).stdout)
        self.assertEqual(before, {p: p.read_bytes() for p in self.source.rglob("*") if p.is_file()}, "only read")

    def test_it_goes_on_where_it_was(self):
        out = self.folder / "out"
        first = self.only_row()
        stamp = (out / first["trace"]).stat().st_mtime_ns
        self.assertEqual(self.only_row(), first)
        self.assertEqual((out / first["trace"]).stat().st_mtime_ns, stamp)
        (out / first["trace"]).write_bytes(b"damaged")
        self.assertEqual(self.only_row()["trace_digest"], first["trace_digest"], "recorded again")
        self.only_row("--again")
        self.assertNotEqual((out / first["trace"]).stat().st_mtime_ns, stamp)
        self.edit('value: "64"', 'value: "32"')
        self.assertNotEqual(self.only_row()["trace_digest"], first["trace_digest"], "the text of the suite counts")

    def test_without_a_check_it_is_unchecked_and_not_right(self):
        text = self.file.read_text()
        self.write(re.sub(r"  check \{.*?\n  \}\n", "", text, flags=re.S))
        row = self.only_row()
        self.assertEqual(row["state"], "UNCHECKED")
        self.assertEqual((self.result["right"], self.result["unchecked"]), (0, 1))
        self.assertFalse((self.folder / "out" / "corpus").exists())

    def test_a_known_fault_is_let_pass_and_told(self):
        self.edit_source(
            "scale.cu", "int value = left[i] + right[i];", "int value = left[i] + right[i] + left[i - (1 << 20)];"
        )
        self.refused("FAILED", "run", "exit status")
        self.edit("  check {", '  fault { what: "reads in front" option: "--allow-bounds" }\n  check {')
        row = self.only_row()
        self.assertEqual((row["state"], row["passed_faults"]), ("RIGHT", ["reads in front"]))

    def test_the_table_ends_with_counts(self):
        done = heddle(
            *("suite", "run", self.file, "--source", self.source, "-o", self.folder / "out"),
            *("--size", "tiny", "--date", "2026-11-27"),
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"scale +right +1 +26,192 ")
        self.assertIn("1 right, 0 unchecked, 0 wrong, 0 failed, 0 skipped, of 1", done.stdout)

    def test_an_interrupt_keeps_what_is_complete(self):
        self.edit_source("Makefile", "\t$(NVCC)", "\tsleep 100\n\t$(NVCC)")
        with subprocess.Popen(
            [HEDDLE, "suite", "run", self.file, "--source", self.source, "-o", self.folder / "out", "--size", "tiny"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as running:
            log = self.folder / "out/programs/scale.tiny/build.out"
            end = time.monotonic() + 60
            while not (log.exists() and "sleep" in log.read_text()) and time.monotonic() < end:
                time.sleep(0.05)
            second = heddle("suite", "run", self.file, "--source", self.source, "-o", self.folder / "out")
            self.assertIn("another run writes to this folder", second.stderr)
            running.send_signal(signal.SIGINT)
            out, err = running.communicate(timeout=60)
        self.assertEqual(running.returncode, 130)
        self.assertIn("the same command goes on", err)
        self.assertIn("not run", out)


class BadInput(SuiteTest):
    def test_other_sources_are_skipped(self):
        (self.source / "scale.cu").write_text("another\n")
        self.refused("SKIPPED", "sources", "the sources have digest")

    def test_missing_sources_are_skipped(self):
        (self.source / "scale.cu").unlink()
        self.refused("SKIPPED", "sources", "scale.cu: is not in the sources")

    def test_a_makefile_that_fails(self):
        self.edit_source("Makefile", "\t$(NVCC)", "\techo broken tool >&2; false\n\t$(NVCC)")
        row = self.refused("FAILED", "build", "make (build.err): exit status 2")
        self.assertIn("broken tool", (self.folder / "out" / row["log"]).read_text())

    def test_a_wrong_output(self):
        self.edit_source("scale_host.cc", "* 3 + 1", "* 3 + 2")
        self.refused("WRONG", "check", "of 4 differ")

    def test_a_program_that_fails(self):
        self.edit_source("scale.cu", 'std::printf("elements', 'return 7;\n  std::printf("elements')
        self.refused("FAILED", "run", "exit status 7")

    def test_a_reference_that_fails(self):
        self.edit_source("scale_host.cc", "return 0;", "return 5;")
        self.refused("FAILED", "reference", "exit status 5")

    def test_a_program_that_hangs(self):
        self.edit_source("scale.cu", "if (argc != 2)", "for (volatile int i = 0; argc == 2;) i = 1;\n  if (argc != 2)")
        self.edit("  check {", "  limits { run_seconds: 1 }\n  check {")
        self.refused("FAILED", "run", "did not end within 1 s")

    def test_a_missing_input(self):
        self.edit(
            'name: "pairs.tiny.txt"\n  generator',
            f'name: "pairs.tiny.txt"\n  from: "gone.txt" sha256: "{"0" * 64}"\n}}\ndata {{\n  name: "other"\n  generator',
        )
        self.refused("SKIPPED", "data", "gone.txt is not in the sources")

    def test_an_input_with_another_digest(self):
        self.edit('name: "pairs.tiny.txt"\n', f'name: "pairs.tiny.txt"\n  sha256: "{"0" * 64}"\n')
        row = self.only_row(status=0)
        self.assertEqual((row["state"], row["step"]), ("SKIPPED", "data"), row)
        self.assertIn("has digest", row["reason"])

    def test_a_size_that_it_does_not_have(self):
        self.refused("SKIPPED", "suite", "has no size huge", size="huge")

    def test_what_is_missing_says_why(self):
        self.write(self.file.read_text() + 'program { name: "gone" missing: "its sources are lost" }\n')
        rows = self.suite()
        self.assertEqual((rows["gone"]["state"], rows["gone"]["reason"]), ("SKIPPED", "its sources are lost"))
        self.assertEqual(rows["scale"]["state"], "RIGHT")
        self.assertEqual(list(self.suite("--only", "^sc")), ["scale"])

    def test_programs_that_were_not_asked_for_stay_in_the_corpus(self):
        text = self.file.read_text()
        program = text[text.index("program {") :]
        self.file.write_text(text + program.replace('name: "scale"', 'name: "again"'))
        self.suite()
        self.suite("--only", "again")
        listed = heddle("corpus", "list", self.result["corpus"]).stdout
        self.assertIn("traces/scale.tiny.htrace", listed)
        self.assertIn("traces/again.tiny.htrace", listed)
        self.file.write_text(
            text.replace('value: "64"', 'value: "32"', 1) + program.replace('name: "scale"', 'name: "again"')
        )
        self.suite("--only", "again")
        listed = heddle("corpus", "list", self.result["corpus"]).stdout
        self.assertNotIn("traces/scale.tiny.htrace", listed, "it is not what the suite says now")

    def test_requests_that_nothing_can_be_run_for(self):
        run = lambda *words: heddle("suite", "run", *words, "-o", self.folder / "out")
        for arguments, message in (
            ((self.file, "--source", self.folder / "gone"), "is no folder with the sources of a suite"),
            ((self.file, "--source", self.source, "--only", "nothing"), "no program of example has such a name"),
            ((self.file, "--source", self.source, "--only", "("), "--only"),
            (("exampel", "--source", self.source), 'did you mean "example"?'),
        ):
            done = run(*arguments)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(message, done.stderr)

    def test_check_tells_all_and_runs_nothing(self):
        self.file.write_text('name: "../x"\nprogram { name: "p" build { argument: ["touch", "/tmp/x"] } }\n')
        done = heddle("suite", "check", self.file)
        self.assertEqual(done.returncode, 1)
        for message in ("needs a name of letters", "source: needs `license`", "program p: has no size"):
            self.assertIn(message, done.stdout)


class Listing(SuiteTest):
    def test_suites_programs_and_generators(self):
        self.assertIn("example", heddle("suite", "list").stdout)
        self.assertIn("prints what the host prints", heddle("suite", "list", self.file).stdout)
        self.assertIn("adjacency_graph", heddle("suite", "list", "--generators").stdout)
        self.assertEqual(json.loads(heddle("suite", "list", self.file, "--json").stdout)["name"], "example")


if __name__ == "__main__":
    if not CAPTURE:
        sys.exit(77)
    main()
