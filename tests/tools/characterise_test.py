"""`heddle characterise`: its numbers are those of the commands that show one of them each."""
import csv
import io
import json
import shutil

from heddle_command import SAMPLE, SAMPLES, CommandTest, heddle, heddle_on_a_terminal, main, results


def table(*arguments):
    done = heddle("characterise", *arguments, "--csv")
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout)))


class Characterise(CommandTest):
    def test_counts_are_those_of_the_trace(self):
        for file in sorted(SAMPLES.glob("*.htrace")):
            (row,) = table(file, "--no-timing")
            launches = [launch for launch in json.loads(heddle("trace", "limits", file, "--json").stdout)]
            self.assertEqual(row["trace"], file.stem)
            self.assertEqual(int(row["launches"]), len(launches))
            self.assertEqual(int(row["thread_instructions"]), sum(l["thread_instructions"] for l in launches))
            self.assertAlmostEqual(
                float(row["bytes_per_instruction"]), file.stat().st_size / int(row["thread_instructions"]), places=4
            )

    def test_launches_that_lost_all_blocks_have_no_share(self):
        cut = self.folder / "cut.htrace"
        whole = (SAMPLES / "bfs.htrace").read_bytes()
        lost = set()
        for size in (600, 1200, 1800, 1850, *range(2000, len(whole), 1500)):
            cut.write_bytes(whole[:size])
            recovered = self.folder / "recovered.htrace"
            if heddle("trace", "repack", "--recover", cut, "-o", recovered).returncode != 0:
                continue  # nothing was complete
            for options in ([], ["--no-timing"]):
                done = heddle("characterise", recovered, "--csv", *options)
                if done.returncode == 0:
                    (row,) = csv.DictReader(io.StringIO(done.stdout))
                    self.assertEqual(row["simd_efficiency_32"] == "-", row["thread_instructions"] == "0")
                    lost.add(row["thread_instructions"] == "0")
                else:
                    self.assertIn(f"heddle: {recovered}: ", done.stderr, f"cut at {size}: status {done.returncode}")
        self.assertEqual(lost, {False, True}, "the cuts have to lose all blocks, and some")

    def test_efficiency_is_that_of_a_replay_and_below_the_bound(self):
        for file in sorted(SAMPLES.glob("*.htrace")):
            (row,) = table(file, "--no-timing")
            (run,) = results(file, "--machine", "fermi_fixed", "--divergence", "pdom")
            self.assertAlmostEqual(float(row["simd_efficiency_32"]), run["total"]["lane_activity"], delta=0.051)
            launches = json.loads(heddle("trace", "limits", file, "--json").stdout)
            issues = sum(l["lane_activity"]["issues"] for l in launches)
            instructions = sum(l["thread_instructions"] for l in launches)
            self.assertAlmostEqual(float(row["bound_32"]), 100 * instructions / issues / 32, delta=0.051)
            self.assertLessEqual(float(row["simd_efficiency_32"]), float(row["bound_32"]) + 0.1)
            widths = [float(row[f"simd_efficiency_{w}"]) for w in (4, 8, 16, 32, 64)]
            self.assertEqual(widths, sorted(widths, reverse=True), f"{file.stem}: wider warps do not lose less")

    def test_timing_is_that_of_a_replay(self):
        (row,) = table(SAMPLES / "reduction.htrace")
        (run,) = results(SAMPLES / "reduction.htrace", "--machine", "baws_gtx480", "--per-instruction")
        self.assertEqual(int(row["cycles"]), run["total"]["cycles"])
        launches = run["launch"]
        barriers = sum(launch["barriers"] for launch in launches)
        threads = sum(launch["threads"] for launch in launches)
        self.assertAlmostEqual(float(row["barriers_per_thread"]), barriers / threads, delta=0.051)
        memory = [launch["instruction_profile"]["memory"] for launch in launches]
        self.assertAlmostEqual(
            float(row["transactions_per_access"]),
            sum(m["transactions"] for m in memory) / sum(m["data_accesses"] for m in memory),
            delta=0.0051,
        )

    def test_classes_are_the_papers(self):
        rows = {row["trace"]: row for row in table(*sorted(SAMPLES.glob("*.htrace")))}
        self.assertIn("divergent", rows["bfs"]["classes"])
        self.assertNotIn("divergent", rows["reduction"]["classes"])
        # Few threads, and a tree at the end that leaves 94 % of the lanes.
        self.assertTrue(rows["reduction"]["classes"].startswith("A"), rows["reduction"]["classes"])

    def test_on_a_terminal_the_table_fits_it(self):
        for columns in (80, 120):
            status, text = heddle_on_a_terminal("characterise", SAMPLE, SAMPLES / "reduction.htrace", columns=columns)
            self.assertEqual(status, 0)
            lines = text.decode().splitlines()
            self.assertLessEqual(max(map(len, lines)), columns)
            # Every column of the file is there, and every table names the traces.
            titles = heddle("characterise", SAMPLE).stdout.splitlines()[0].strip("| ").split(" | ")
            self.assertGreater(len(titles), 20)
            heads = [line for line in lines if line.startswith("kernel ")]
            for title in titles:
                self.assertTrue(any(title in line for line in heads), title)
            self.assertEqual(sum(line.startswith("reduction ") for line in lines), len(heads))

    def test_the_markdown_table_has_as_many_cells_in_every_row_and_jobs_change_nothing(self):
        files = sorted(SAMPLES.glob("*.htrace"))
        one = heddle("characterise", *files)
        self.assertEqual(one.returncode, 0, one.stderr)
        lines = one.stdout.splitlines()
        self.assertEqual(len(lines), 2 + len(files))
        self.assertEqual({line.count("|") for line in lines}, {lines[0].count("|")})
        self.assertEqual(heddle("characterise", *files, "--jobs", 3).stdout, one.stdout)

    def test_a_trace_compared_with_itself_differs_in_nothing(self):
        for file in sorted(SAMPLES.glob("*.htrace")):
            done = heddle("characterise", "--compare", file, file, "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            kernels = json.loads(done.stdout)["kernel"]
            (row,) = table(file)
            numbers = [kernel["number"] for kernel in kernels]
            for number in (value for one in numbers for value in one.values()):
                self.assertEqual(number.get("a"), number.get("b"))
                self.assertEqual(number.get("difference", 0), 0)
            # The kernels together are the trace.
            for key, column in (("thread_instructions", "thread_instructions"), ("cycles", "cycles")):
                self.assertEqual(sum(one[key]["a"] for one in numbers), int(row[column]))
            self.assertEqual(sum(kernel["launches"] for kernel in kernels), int(row["launches"]))

    def test_folders_are_compared_by_name(self):
        a, b = self.folder / "a", self.folder / "b"
        for folder, names in ((a, ("bfs", "mandelbrot")), (b, ("bfs", "reduction"))):
            (folder / "deep").mkdir(parents=True)
            for name in names:
                shutil.copy(SAMPLES / f"{name}.htrace", folder / "deep")
        done = heddle("characterise", "--compare", a, b, "--json", "--no-timing")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout)
        self.assertEqual({kernel["trace"] for kernel in found["kernel"]}, {"deep/bfs"})
        self.assertEqual(
            [(part["trace"], part["only_in"]) for part in found["missing"]],
            [("deep/mandelbrot", "a"), ("deep/reduction", "b")],
        )
        text = heddle("characterise", "--compare", a, b, "--no-timing").stdout
        self.assertIn("Only A has trace deep/mandelbrot.", text)
        self.assertNotIn("cycles", text)
        rows = list(csv.DictReader(io.StringIO(heddle("characterise", "--compare", a, b, "--csv").stdout)))
        self.assertIn("transactions", {row["number"] for row in rows})
        self.assertEqual(
            heddle("characterise", "--compare", a, b, "--csv", "--jobs", 3).stdout.count("\n"), len(rows) + 1
        )

    def test_what_cannot_be_compared_is_refused(self):
        bfs, reduction = SAMPLES / "bfs.htrace", SAMPLES / "reduction.htrace"
        self.assert_refused(1, "characterise", "--compare", bfs, reduction, says=["no kernel in common", "bfs"])
        self.assert_refused(2, "characterise", "--compare", bfs, says=["--compare", "two"])
        self.assert_refused(2, "characterise", bfs, bfs, "--json", says=["--json", "--compare"])
        self.assert_refused(2, "characterise", "--compare", bfs, self.folder / "none.htrace", says=["none.htrace"])
        empty = self.folder / "empty"
        empty.mkdir()
        self.assert_refused(1, "characterise", "--compare", SAMPLES, empty, says=["no trace of one name", "0 traces"])
        self.assert_refused(2, "characterise", "--compare", SAMPLES, bfs, says=["is a folder, not a trace"])

    def test_wrong_words_are_refused(self):
        self.assert_refused(2, "characterise", self.folder / "none.htrace", says=["none.htrace"])
        self.assert_refused(2, "characterise", SAMPLE, "--machine", "baws", says=["--machine", "baws_gtx480"])
        self.assert_refused(2, "characterise", SAMPLE, "-o", SAMPLE, says=["trace"])
        broken = self.folder / "broken.htrace"
        broken.write_bytes(b"no trace")
        self.assert_refused(1, "characterise", SAMPLE, broken, says=["broken.htrace"])
        # A replay that fails tells of which trace it was.
        self.assert_refused(
            1,
            "characterise",
            SAMPLE,
            SAMPLES / "reduction.htrace",
            "--machine",
            "toy",
            says=[f"{SAMPLES}/reduction.htrace: launch 0", "shuffles"],
        )
        self.assert_folder_has("broken.htrace")


if __name__ == "__main__":
    main()
