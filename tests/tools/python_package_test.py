"""The Python package: results as tables, the figures of `heddle report --figure`, the example. What needs a package that is
not installed is skipped."""
import json
import os
import re
import subprocess
import sys
import unittest

from heddle_command import BUILD, SAMPLES, SOURCE, CommandTest, heddle, main

PYTHON = "/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else sys.executable  # Debian's has its packages


def lacks(*modules):
    """What of these Debian's Python cannot import, in words; empty if nothing."""
    missing = [
        name
        for name in modules
        if subprocess.run([PYTHON, "-c", f"import {name}"], capture_output=True, check=False).returncode
    ]
    return f"missing in {PYTHON}: {', '.join(missing)}" if missing else ""


NO_PANDAS = lacks("pandas")
NO_MATPLOTLIB = lacks("matplotlib")
NO_EXAMPLE = lacks("pandas", "matplotlib", "google.protobuf", "zstandard")


class Package(CommandTest):
    def setUp(self):
        super().setUp()
        self.results = self.folder / "r.jsonl"
        done = heddle(
            "replay",
            SAMPLES / "bfs.htrace",
            SAMPLES / "nqueens.htrace",
            "--machine",
            "baws_gtx480",
            "--divergence",
            "pdom,dwf",
            "--per-instruction",
            "--bins",
            500,
            "--quiet",
            "-o",
            self.results,
        )
        self.assertEqual(done.returncode, 0, done.stderr)

    def python(self, *arguments):
        return subprocess.run(
            [PYTHON, *map(str, arguments)],
            env={**os.environ, "PYTHONPATH": str(BUILD / "python"), "MPLCONFIGDIR": str(self.folder)},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    @unittest.skipIf(NO_PANDAS, NO_PANDAS)
    def test_results_become_tables_of_runs_launches_and_instructions(self):
        done = self.python(
            "-c",
            f"""
import json
from heddle import results
out = {{}}
for per in results.LEVELS:
    table = results.read({str(self.results)!r}, per=per)
    out[per] = json.loads(table.to_json(orient="records", double_precision=15))
    assert str(table["stalls.issued"].dtype) == "Int64", table["stalls.issued"].dtype
print(json.dumps(out))
""",
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        tables = json.loads(done.stdout)
        runs = [json.loads(line) for line in self.results.read_text().splitlines()]
        self.assertEqual(len(tables["run"]), 4)
        for row, run in zip(tables["run"], runs):
            self.assertEqual(
                (row["trace"], row["divergence"], row["machine"]),
                (run["provenance"]["trace_name"], run["divergence"]["name"], "baws_gtx480"),
            )
            self.assertEqual(row["cycles"], run["total"]["cycles"])
            self.assertAlmostEqual(row["ipc"], run["total"]["ipc"])
            self.assertEqual(row["l1_data.misses"], sum(launch["l1_data"]["misses"] for launch in run["launch"]))
            self.assertNotIn("blocks_per_sm", row)
        self.assertEqual(tables["run"][1]["parameter.divergence.lane_aware"], "true")
        self.assertIsNone(tables["run"][0]["parameter.divergence.lane_aware"], "pdom has no such parameter")
        self.assertEqual(
            [row["cycles"] for row in tables["launch"]], [launch["cycles"] for run in runs for launch in run["launch"]]
        )
        self.assertEqual(
            sum(row["thread_instructions"] for row in tables["instruction"]),
            sum(run["total"]["thread_instructions"] for run in runs),
        )

    def documented(self):
        """The lines of the example in docs/how-to/reports.md that make tables, reading self.results."""
        example = re.search(
            r"```python\nfrom heddle import results, trace\n(.*?)```",
            (SOURCE / "docs/how-to/reports.md").read_text(),
            re.S,
        ).group(1)
        lines = [line.split("#")[0].rstrip() for line in example.splitlines() if line.startswith("runs")]
        self.assertEqual([line.split("(")[0] for line in lines], ["runs = results.read", "runs.pivot"])
        return (
            "from heddle import results\n"
            + lines[0].replace('"all.jsonl"', repr(str(self.results)))
            + "\ntable = "
            + lines[1]
        )

    @unittest.skipIf(NO_PANDAS, NO_PANDAS)
    def test_the_documented_table_keeps_runs_apart_that_differ_in_anything(self):
        self.results = self.folder / "unlike.jsonl"
        runs = (
            ["--divergence", "pdom,its:yield=none,its:yield=long_latency", "--scheduler", "gto"],
            ["--divergence", "pdom", "--scheduler", "gto", "--set", "core.schedulers=1"],
            ["--divergence", "pdom", "--scheduler", "gto", "--machine", "volta_80sm"],
            ["--divergence", "pdom", "--scheduler", "gto", "--kernels", "bfs_level"],
        )
        with open(self.results, "w", encoding="utf-8") as lines:
            for run in runs:
                machine = [] if "--machine" in run else ["--machine", "baws_gtx480"]
                done = heddle("replay", SAMPLES / "bfs.htrace", *machine, *run, "--json", "--quiet")
                self.assertEqual(done.returncode, 0, done.stderr)
                lines.write(done.stdout)
        done = self.python("-c", self.documented() + "\nprint(table.to_json(orient='split'))")
        self.assertEqual(done.returncode, 0, done.stderr)
        table = json.loads(done.stdout)
        written = [json.loads(line)["total"]["cycles"] for line in self.results.read_text().splitlines()]
        self.assertEqual(len(table["columns"]), 6)
        self.assertEqual(table["index"], ["bfs.htrace"])
        self.assertEqual(sorted(table["data"][0]), sorted(written))
        named = dict(zip(table["columns"], table["data"][0]))
        self.assertEqual(named["its:yield=long_latency baws_gtx480"], written[2])
        self.assertEqual(named["pdom baws_gtx480 set.core.schedulers=1"], written[3])
        self.assertEqual(named["pdom baws_gtx480 kernels=bfs_level"], written[5])

    @unittest.skipIf(NO_PANDAS, NO_PANDAS)
    def test_the_documented_table_refuses_two_numbers_for_one_place(self):
        self.results = self.folder / "seeds.jsonl"
        heddle(
            "replay", SAMPLES / "bfs.htrace", "--machine", "baws_gtx480", "--jitter", 2, "--quiet", "-o", self.results
        )
        done = self.python("-c", self.documented())
        self.assertIn("duplicate entries", done.stderr.splitlines()[-1])
        mean = (
            self.documented().rsplit("\n", 1)[0]
            + """
print(runs.pivot_table(index="trace", columns="run", values="cycles", aggfunc="mean").iloc[0, 0])"""
        )
        cycles = [json.loads(line)["total"]["cycles"] for line in self.results.read_text().splitlines()]
        self.assertAlmostEqual(float(self.python("-c", mean).stdout), sum(cycles) / 2)

    @unittest.skipIf(NO_PANDAS, NO_PANDAS)
    def test_traces_of_one_name_and_machines_of_one_name_are_told_apart(self):
        run = json.loads(self.results.read_text().splitlines()[0])
        other = json.loads(json.dumps(run))
        other["provenance"]["trace_digest"] = "0123456789" + run["provenance"]["trace_digest"][10:]
        wider = json.loads(json.dumps(run))
        wider["provenance"]["machine"]["core"]["warp_size"] = 64
        self.results = self.folder / "named.jsonl"
        self.results.write_text("".join(json.dumps(one) + "\n" for one in (run, other, wider)))
        done = self.python("-c", self.documented() + "\nprint(list(table.index), list(table.columns))")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("bfs.htrace 01234567", done.stdout)
        self.assertEqual(done.stdout.count("pdom lrr machine "), 2)

    @unittest.skipIf(NO_PANDAS, NO_PANDAS)
    def test_what_is_no_result_is_refused_with_its_place(self):
        bad = self.folder / "bad.jsonl"
        for text, says in (
            ("{", "bad.jsonl:1: not a result"),
            ('{"schema": 2}', "schema 2, this package reads schema 1"),
            ("{}", 'no "schema"'),
        ):
            bad.write_text(text)
            done = self.python("-c", f"from heddle import results; results.read({str(bad)!r})")
            self.assertIn(says, done.stderr.splitlines()[-1])

    @unittest.skipIf(NO_PANDAS, NO_PANDAS)
    def test_of_a_sweep_the_results_of_its_plan_are_read(self):
        folder = self.folder / "sweep"
        run, other = (json.loads(line) for line in self.results.read_text().splitlines()[:2])
        for key, result in (("ab12", run), ("cd34", other)):
            (folder / "results" / key[:2]).mkdir(parents=True)
            (folder / "results" / key[:2] / f"{key}.json").write_text(json.dumps({**result, "key": key}))
        (folder / "points.jsonl").write_text('{"key":"ab12"}\n{"key":"ef56"}\n')
        done = self.python("-c", f"from heddle import results; print(*results.read({str(folder)!r})['divergence'])")
        self.assertEqual(done.stdout, "pdom\n")
        self.assertIn("left out 1 result of points that are not in its plan", done.stderr)

    @unittest.skipIf(NO_MATPLOTLIB, NO_MATPLOTLIB)
    def test_every_figure_is_drawn_and_the_same_twice(self):
        names = (
            re.search(r"matplotlib instead: ([a-z, \n]+)", re.sub(r"\s+", " ", heddle("report", "--help").stdout))
            .group(1)
            .split(", ")
        )
        names = [name.split()[0] for name in names]
        self.assertEqual(names, ["heatmap", "speedup", "stalls", "threads", "sizes", "roofline"])
        for name in names:
            file = self.folder / f"{name}.svg"
            drawn = []
            for _ in range(2 if name == "speedup" else 1):
                done = heddle("report", self.results, "--figure", name, "-o", file)
                self.assertEqual((done.returncode, done.stderr), (0, ""), name)
                drawn.append(file.read_bytes())
            self.assertEqual(drawn[0], drawn[-1])
            self.assertRegex(drawn[0].decode(), r">[^<]*\bdwf\b", name)
        for ending, magic in (("pdf", b"%PDF"), ("png", b"\x89PNG")):
            file = self.folder / f"speedup.{ending}"
            self.assertEqual(heddle("report", self.results, "--figure", "speedup", "-o", file).returncode, 0)
            self.assertTrue(file.read_bytes().startswith(magic))

    def texts(self, figure, *replay):
        """The texts of a figure of a replay, and what `heddle report` says."""
        path = self.folder / "own.jsonl"
        self.assertEqual(heddle("replay", *replay, "--quiet", "-o", path).returncode, 0)
        done = heddle("report", path, "--figure", figure, "-o", self.folder / "own.svg")
        self.assertEqual(done.returncode, 0, done.stderr)
        return re.findall(r">([^<>]+)</text>", (self.folder / "own.svg").read_text()), done.stderr

    @unittest.skipIf(NO_MATPLOTLIB, NO_MATPLOTLIB)
    def test_speed_ups_of_all_runs_are_drawn_and_named_by_what_differs(self):
        texts, said = self.texts("speedup", SAMPLES / "nqueens.htrace", "--scheduler", "lrr,gto,oldest,two_level")
        self.assertLessEqual({"lrr", "gto", "oldest", "two_level", "speed-up over lrr"}, set(texts))
        self.assertEqual(said, "")
        texts, _ = self.texts(
            "speedup", SAMPLES / "nqueens.htrace", "--divergence", "pdom,dwf", "--scheduler", "lrr,gto"
        )
        self.assertLessEqual({"pdom lrr", "pdom gto", "dwf lrr", "dwf gto"}, set(texts))

    @unittest.skipIf(NO_MATPLOTLIB, NO_MATPLOTLIB)
    def test_runs_that_have_no_room_are_named(self):
        texts, said = self.texts(
            "speedup",
            SAMPLES / "nqueens.htrace",
            "--divergence",
            "nrec,dwf,mimd,pdom,dws,its",
            "--scheduler",
            "lrr,gto,oldest",
        )
        self.assertIn("draws 16 of 18 runs and leaves out", said)
        left_out = said.split("leaves out ")[1].split(";")[0].split(", ")
        self.assertEqual(len(left_out), 2)
        self.assertFalse(set(left_out) & set(texts))
        self.assertIn("speed-up over pdom lrr", texts)

    def drawn(self, figure, code):
        """Draws a figure of own.jsonl, runs `code` on it, and returns what that prints as JSON."""
        heddle("report", self.folder / "own.jsonl", "--json", "-o", self.folder / "own.json")
        done = self.python(
            "-c",
            f"""
import json
from heddle import figures
figure = figures.draw(json.load(open({str(self.folder / "own.json")!r})), {figure!r})
figure.canvas.draw()
{code}""",
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    @unittest.skipIf(NO_MATPLOTLIB, NO_MATPLOTLIB)
    def test_the_lowest_panel_of_each_column_has_numbers(self):
        # Five kernels: two in the last line of three columns.
        self.texts("stalls", *sorted(SAMPLES.glob("*.htrace")))
        numbers = self.drawn(
            "stalls",
            "print(json.dumps([[t.label1.get_visible() for t in a.xaxis.get_major_ticks()][0] for a in figure.axes]))",
        )
        self.assertEqual(numbers, [False, False, True, True, True, True])

    @unittest.skipIf(NO_MATPLOTLIB, NO_MATPLOTLIB)
    def test_the_roofline_tells_runs_and_kernels_apart(self):
        texts, _ = self.texts(
            "roofline",
            SAMPLES / "spmv.htrace",
            SAMPLES / "bfs.htrace",
            "--machine",
            "baws_gtx480",
            "--divergence",
            "pdom,nrec,dwf",
            "--scheduler",
            "lrr,gto,oldest,two_level",
        )
        self.assertLessEqual({"bfs", "spmv", "dwf gto"}, set(texts))
        styles, free = self.drawn(
            "roofline",
            """
axes, = figure.axes
points = [line for line in axes.lines if line.get_marker() not in ("None", "")]
free = axes.get_legend().get_window_extent().y0 >= axes.get_window_extent().y1
print(json.dumps([[[line.get_color(), line.get_marker()] for line in points], bool(free)]))""",
        )
        self.assertEqual(len({tuple(style) for style in styles}), 12)
        self.assertTrue(free, "the legend lies over the roofs")

    @unittest.skipIf(NO_MATPLOTLIB, NO_MATPLOTLIB)
    def test_a_figure_of_what_the_results_do_not_have_is_refused(self):
        plain = self.folder / "plain.jsonl"
        heddle("replay", SAMPLES / "nqueens.htrace", "--divergence", "pdom,dwf", "--quiet", "-o", plain)
        for name, says in (("sizes", "--bins CYCLES"), ("roofline", "no run has DRAM traffic")):
            self.assert_refused(
                1, "report", plain, "--figure", name, "-o", self.folder / "x.pdf", says=[f"--figure {name}", says]
            )
            self.assertFalse((self.folder / "x.pdf").exists())

    @unittest.skipIf(NO_EXAMPLE, NO_EXAMPLE)
    def test_the_example_draws_its_three_figures(self):
        done = self.python(
            SOURCE / "tools" / "python" / "examples" / "three_figures.py",
            self.results,
            SAMPLES / "bfs.htrace",
            self.folder / "out",
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(
            sorted(path.name for path in (self.folder / "out").iterdir()), ["speed_up.png", "stalls.png", "threads.png"]
        )
        (run,) = (json.loads(line) for line in heddle("replay", SAMPLES / "bfs.htrace", "--json").stdout.splitlines())
        self.assertIn(f"{run['total']['thread_instructions']} thread-instructions", done.stdout)


if __name__ == "__main__":
    main()
