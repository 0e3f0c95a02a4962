"""Names and notes of traces, results and files that would act on a terminal, or on who reads what is written of them."""
import json
import os
import pathlib
import re
import subprocess
import unicodedata
import xml.dom.minidom

from heddle_command import BUILD, HEDDLE, SAMPLES, CommandTest, heddle, heddle_on_a_terminal, main

TAINT = os.environ["HEDDLE_TAINT_TRACE"]
# A colour, a title, markup, another writing direction, a line end, a colour by C1, quotes.
EVIL = "\x1b[31mRED\x1b]0;owned\x07</script><script>alert(1)</script>\u202e\n\x9b31m\x7f\"'\\|`,\r\t"
SAMPLE = str(SAMPLES / "bfs.htrace")
ACTS = {chr(c) for c in [*range(0x20), 0x7F, *range(0x80, 0xA0), 0x202E]} - {"\n", "\t"}


def acting(data):
    """The characters of an output that act on a terminal; bytes that are no UTF-8 are among them."""
    text = data.decode("utf-8", errors="surrogateescape")
    return sorted({hex(ord(c)) for c in text if c in ACTS or unicodedata.category(c) == "Cs"})


class HostileText(CommandTest):
    def setUp(self):
        super().setUp()
        self.trace = self.folder / "evil.htrace"
        self.taint(SAMPLE, self.trace, EVIL)

    def taint(self, source, target, text):
        subprocess.run([TAINT, source, str(target), text], check=True)

    def run_clean(self, *arguments, status=0):
        """Runs `heddle`; nothing that it prints may act. Returns what it printed."""
        done = subprocess.run(
            [HEDDLE, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            timeout=240,
            check=False,
        )
        words = " ".join(map(repr, arguments))
        self.assertEqual(done.returncode, status, (words, done.stderr[-2000:]))
        self.assertEqual(acting(done.stdout), [], words)
        self.assertEqual(acting(done.stderr), [], words)
        return done.stdout.decode(), done.stderr.decode()

    def assert_clean(self, *paths):
        for path in paths:
            self.assertEqual(acting(pathlib.Path(path).read_bytes()), [], path)

    def test_what_looks_into_traces(self):
        for command in (
            ["trace", "info"],
            ["trace", "info", "--per-launch"],
            ["trace", "info", "--json"],
            ["trace", "dump", "--launches", "1"],
            ["trace", "dump", "--launches", "1", "--json"],
            ["trace", "dump", "--program"],
            ["trace", "dump", "--program", "--json"],
            ["trace", "limits"],
            ["trace", "limits", "--json"],
            ["characterise"],
            ["characterise", "--csv"],
        ):
            out, _ = self.run_clean(*command, self.trace)
            self.assertIn("evil" if command[0] == "characterise" else "RED", out)
            if command == ["trace", "info"]:
                self.assertIn("Races in global memory", out)
                self.assertIn("Reads outside all allocations", out)
        self.run_clean("trace", "diff", SAMPLE, self.trace, status=1)
        dump = self.folder / "dump.txt"
        self.run_clean("trace", "dump", "--program", self.trace, "-o", dump)
        self.assert_clean(dump)

    def test_lines_and_tables_stay_whole(self):
        clean, _ = self.run_clean("trace", "info", SAMPLE)
        out, _ = self.run_clean("trace", "info", self.trace)
        # Notes and a certificate are new; no name adds a line to a table.
        launches = out.split("\nLaunches\n")[1].split("\n\n")[0].splitlines()
        self.assertEqual(len(launches), len(clean.split("\nLaunches\n")[1].split("\n\n")[0].splitlines()))
        for line in launches[2:]:
            self.assertRegex(line, r"^ +\d+  \\u001b\[31mRED")

    def test_check_refuses_them_and_new_traces_have_none(self):
        out, _ = self.run_clean("trace", "check", self.trace, status=1)
        self.assertRegex(out, r"^error: text: file: frame 0, FileHeader\.\w+ is \"\\u001b\[31mRED")
        self.assertIn(": not ok (", out)
        for command in (["extract", "--launches", "0"], ["repack", "--encode"], ["merge", SAMPLE]):
            new = self.folder / f"{command[0]}.htrace"
            done = heddle("trace", *command, self.trace, "-o", new)
            if command[0] == "merge":  # other targets
                self.assertEqual(acting(done.stderr.encode()), [])
                continue
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(": ok (", self.run_clean("trace", "check", new)[0])

    def test_replays_and_what_they_write(self):
        result = self.folder / "result.json"
        out, _ = self.run_clean(
            "replay", self.trace, "--divergence", "pdom,mimd", "--per-launch", "--per-instruction", "-o", result
        )
        self.assertIn("Kernel \\u001b[31mRED", out)
        self.assert_clean(result)
        self.run_clean("replay", self.trace, "--json", "--per-instruction")
        self.run_clean("replay", self.trace, "--kernels", "nothing has this name", status=2)
        for show in ("both", "progress"):
            drawing = self.folder / f"{show}.svg"
            self.run_clean("replay", self.trace, "--quiet", "--draw", drawing, "--draw-show", show)
            self.assert_clean(drawing)
            xml.dom.minidom.parse(str(drawing))
        timeline = self.folder / "timeline.pftrace"
        self.run_clean("replay", self.trace, "--quiet", "--timeline", timeline)
        self.assertNotIn(b"\x1b[31m", timeline.read_bytes())

    def test_results_that_others_wrote(self):
        result = self.folder / "result.json"
        heddle("replay", SAMPLE, "--per-instruction", "-o", result)
        content = json.loads(result.read_text())
        content["note"] = [EVIL]
        content["provenance"]["trace_name"] = EVIL
        content["provenance"]["machine"]["name"] = EVIL
        content["divergence"]["name"] = EVIL
        for launch in content["launch"]:
            launch["kernel"] = EVIL
        result.write_text(json.dumps(content))
        page = self.folder / "page.html"
        self.run_clean("report", result, "-o", page)
        self.assertNotIn(b"\x1b", page.read_bytes())
        self.assertNotIn(b"<script>alert", page.read_bytes())
        self.run_clean("report", result, "--json")

    def test_exported_traces_have_no_lines_of_their_own(self):
        exported = self.folder / "accelsim"
        self.run_clean("trace", "export", self.trace, "--accelsim", exported)
        plain = self.folder / "plain"
        self.run_clean("trace", "export", SAMPLE, "--accelsim", plain)
        for file in plain.iterdir():
            self.assert_clean(exported / file.name)
            self.assertEqual(len((exported / file.name).read_text().splitlines()), len(file.read_text().splitlines()))

    def test_the_python_reader(self):
        environment = {**os.environ, "PYTHONPATH": str(BUILD / "python")}
        python = "/usr/bin/python3"  # Debian's packages belong to it
        if (
            subprocess.run(
                [python, "-c", "import google.protobuf, numpy, zstandard"], stderr=subprocess.DEVNULL, check=False
            ).returncode
            != 0
        ):
            self.skipTest("its packages are not installed")
        done = subprocess.run(
            [python, "-m", "heddle.trace", str(self.trace)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=240,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(acting(done.stdout), [])
        self.assertIn(b"RED", done.stdout)

    def test_sweeps(self):
        spec = self.folder / "spec.textproto"
        spec.write_text(
            f'name: "s"\ntrace: "{self.trace}"\nmachine: "toy"\ndivergence: "pdom"\nscheduler: "lrr"\n'
            f'scheduler: "gto"\n'
        )
        sweep = self.folder / "sweep"
        self.run_clean("sweep", "plan", spec, "-o", sweep)
        self.run_clean("sweep", "run", sweep)
        self.run_clean("sweep", "status", sweep)
        self.run_clean("sweep", "collect", sweep, "--per-launch")
        for file in (sweep / "results").rglob("*.json"):
            content = json.loads(file.read_text())
            for launch in content["launch"]:
                launch["kernel"] = EVIL
            file.write_text(json.dumps(content))
        table = self.folder / "table.csv"
        self.run_clean("sweep", "collect", sweep, "--per-launch", "-o", table)
        self.assert_clean(table)
        self.assertIn("RED", table.read_text())

    def test_names_of_files(self):
        evil = self.folder / "\x1b[31mRED\n\x9b.htrace"
        evil.write_bytes(pathlib.Path(SAMPLE).read_bytes())
        for command in (["trace", "info"], ["trace", "check"], ["trace", "limits"], ["replay"], ["characterise"]):
            out, _ = self.run_clean(*command, evil)
            self.assertNotRegex(out, "(?m)^\\\\u009b", f"{command}: the name begins a line")
        missing = self.folder / "\x1b]0;owned\x07"
        for command in (["trace", "info"], ["replay"], ["report"], ["sweep", "run"], ["corpus", "verify"]):
            done = heddle(*command, missing)
            self.assertEqual(done.returncode, 2, (command, done.stderr))
            self.assertEqual(acting(done.stderr.encode()), [], command)
        self.run_clean("replay", SAMPLE, "--\x1b[31m", status=2)
        self.run_clean("replay", SAMPLE, "--divergence", "\x1b[31m", status=2)

    def test_on_a_terminal(self):
        status, shown = heddle_on_a_terminal("trace", "limits", self.trace, stderr=subprocess.STDOUT)
        self.assertEqual(status, 0)
        self.assertIn(b"RED", shown)
        self.assertEqual(acting(shown), [])

    def test_long_names_are_cut(self):
        self.taint(SAMPLE, self.trace, "k" * 60_000)
        for command in (["trace", "info"], ["trace", "limits"], ["replay"]):
            out, _ = self.run_clean(*command, self.trace)
            self.assertLess(max(map(len, out.splitlines())), 5_000, command)
            self.assertLess(len(out), 100_000, command)
        drawing = self.folder / "drawing.svg"
        self.run_clean("replay", self.trace, "--quiet", "--draw", drawing)
        self.assertLess(float(re.search(r'width="(\d+)"', drawing.read_text()).group(1)), 4000)
        self.taint(SAMPLE, self.trace, "k" * 70_000)
        _, error = self.run_clean("trace", "info", self.trace, status=1)
        self.assertRegex(error, r"frame \d+, \w+: [\w.]+ is longer than the 65536 bytes of a name")


if __name__ == "__main__":
    main()
