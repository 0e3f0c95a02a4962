"""`heddle report`: what the page and the figures are made of, and what is refused. The page itself: report_page_test.py."""
import json

from heddle_command import BUILD, SAMPLES, SOURCE, CommandTest, heddle, main, results

TRACES = [str(SAMPLES / name) for name in ("bfs.htrace", "nqueens.htrace")]


class Data(CommandTest):
    def report(self, *arguments):
        """The data of a report, after writing the results of the replays into files."""
        done = heddle("report", "--json", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def replay(self, name, *arguments):
        path = self.folder / name
        done = heddle("replay", *arguments, "--quiet", "-o", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        return path

    def test_every_number_is_that_of_the_results(self):
        path = self.replay(
            "r.jsonl",
            *TRACES,
            "--divergence",
            "nrec,pdom,dwf",
            "--scheduler",
            "lrr,gto",
            "--machine",
            "baws_gtx480",
            "--per-instruction",
            "--bins",
            500,
            "--warp-phases",
            2,
        )
        runs = [json.loads(line) for line in path.read_text().splitlines()]
        data = self.report(path, "--source", SOURCE / "traces" / "kernels" / "nqueens")
        self.assertEqual([k["name"] for k in data["kernels"]], ["bfs", "nqueens"])
        self.assertEqual(
            [r["name"] for r in data["runs"]], ["nrec lrr", "nrec gto", "pdom lrr", "pdom gto", "dwf lrr", "dwf gto"]
        )
        self.assertEqual(data["runs"][data["machines"][0]["baseline"]]["name"], "pdom lrr")
        self.assertEqual(len(data["cells"]), 12)
        for cell in data["cells"]:
            run = runs[6 * cell["k"] + cell["r"]]
            total = run["total"]
            self.assertEqual(
                (cell["cycles"], cell["wi"], cell["ti"]),
                (total["cycles"], total["warp_instructions"], total["thread_instructions"]),
            )
            self.assertAlmostEqual(cell["ipc"], total["ipc"])
            self.assertAlmostEqual(cell["activity"], total["lane_activity"])
            launches = run["launch"]
            everything = sum(launch["stalls"]["total"] for launch in launches)
            self.assertEqual(sum(cell["stalls"]), everything)
            self.assertEqual(sum(cell["ports"]), everything)
            self.assertEqual(sum((i + 1) * n for i, n in enumerate(cell["sizes"])), cell["ti"])
            self.assertEqual(cell["l1"][0], sum(launch["l1_data"]["accesses"] for launch in launches))
            self.assertEqual(cell["l1"][0], sum(cell["l1"][1:]))
            # The profile and what is elsewhere add up to the breakdown, class by class.
            hot = cell["hot"]
            columns = [hot["elsewhere"]] + [c for c in hot["cycles"] if c]
            self.assertEqual([sum(c[i] for c in columns) for i in range(10)], cell["stalls"])
            self.assertEqual(len(hot["issues"]), len(data["kernels"][cell["k"]]["instructions"]))
            # Bins lose nothing, and runs of a kernel share their width.
            series = cell["series"]
            self.assertEqual((sum(series["wi"]), sum(series["ti"])), (cell["wi"], cell["ti"]))
            self.assertEqual(sum(map(sum, series["sizes"])), cell["wi"])
            self.assertEqual(len({c["series"]["width"] for c in data["cells"] if c["k"] == cell["k"]}), 1)
            # Warps: each from its dispatch to the retirement of its block.
            warps = [w for launch in launches for w in launch["warp_timeline"]]
            self.assertEqual(len(cell["warps"]["list"]), len(warps))
            for shown, warp in zip(cell["warps"]["list"], warps):
                self.assertEqual(sum(shown[5:]), warp["phase"][-1]["release"] - warp["phase"][0]["start"])
        source = [i for i in data["kernels"][1]["instructions"] if i[2] == "nqueens.cu" and i[4]]
        self.assertTrue(source, "lines of the source that --source names")
        line = (SOURCE / "traces" / "kernels" / "nqueens" / "nqueens.cu").read_text().splitlines()[source[0][3] - 1]
        self.assertEqual(source[0][4], line.strip())

    def test_machines_and_overrides_are_kept_apart_and_seeds_put_together(self):
        files = [
            self.replay("a.jsonl", TRACES[1], "--divergence", "pdom,dwf"),
            self.replay("b.jsonl", TRACES[1], "--divergence", "pdom", "--set", "sms=2"),
            self.replay("c.jsonl", TRACES[1], "--divergence", "pdom", "--machine", "capri_fx5800", "--jitter", 3),
        ]
        data = self.report(*files)
        self.assertEqual([m["name"] for m in data["machines"]], ["fermi_fixed", "fermi_fixed sms=2", "capri_fx5800"])
        self.assertEqual(
            [(r["name"], r["machine"]) for r in data["runs"]],
            [("pdom lrr", 0), ("dwf lrr", 0), ("pdom lrr", 1), ("pdom lrr", 2)],
        )
        seeded = [json.loads(line)["total"]["cycles"] for line in files[2].read_text().splitlines()]
        cell = next(c for c in data["cells"] if c["r"] == 3)
        self.assertEqual(cell["range"], [min(seeded), max(seeded), 3])
        self.assertEqual(cell["cycles"], (sum(seeded) + 1) // 3)

    def test_a_folder_of_a_sweep_is_read_below_its_results(self):
        (run,) = results(TRACES[1])
        folder = self.folder / "sweep"
        (folder / "results" / "ab").mkdir(parents=True)
        (folder / "failed").mkdir()
        (folder / "failed" / "x.json").write_text("no result")
        (folder / "results" / "ab" / "x.json").write_text(json.dumps({**run, "key": "x", "point": {"sms": 2}}))
        self.assertEqual(self.report(folder)["cells"], self.report(folder / "results" / "ab" / "x.json")["cells"])

    def test_results_of_single_kernels_of_a_trace_are_put_together(self):
        # As a sweep over kernels makes them: here the same kernel under two names.
        (run,) = results(TRACES[1])
        other = json.loads(json.dumps(run).replace("nqueens(", "queens("))
        path = self.folder / "r.jsonl"
        path.write_text(f"{json.dumps(run)}\n{json.dumps(other)}\n")
        data = self.report(path)
        self.assertEqual([kernel["name"] for kernel in data["kernels"]], ["nqueens/nqueens", "nqueens/queens"])
        self.assertEqual([(cell["k"], cell["r"]) for cell in data["cells"]], [(0, 0), (1, 0)])

    def test_the_same_results_twice_are_told_and_shown_once(self):
        path = self.replay("r.jsonl", TRACES[1])
        done = heddle("report", "--json", path, path)
        self.assertIn("1 result is there more than once", done.stderr)
        self.assertEqual(json.loads(done.stdout), self.report(path))

    def test_what_is_refused(self):
        path = self.replay("r.jsonl", TRACES[1])
        run = json.loads(path.read_text())
        self.assert_refused(2, "report", path, says=["-o", "report.html"])
        self.assert_refused(2, "report", self.folder / "none.jsonl", "--json", says=["none.jsonl", "No such file"])
        self.assert_refused(2, "report", path, "-o", path, says=["one of the results"])
        self.assert_refused(
            2, "report", path, "--figure", "speed", "-o", "x.pdf", says=['unknown figure "speed"', "speedup"]
        )
        self.assert_refused(2, "report", path, "--figure", "speedup", "-o", "x.bmp", says=[".pdf, .svg or .png"])
        self.assert_refused(2, "report", path, "--json", "--source", self.folder / "no", says=["no such folder"])

        def refused(text, *says):
            other = self.folder / "other.jsonl"
            other.write_text(text)
            self.assert_refused(1, "report", path, other, "--json", says=says)

        refused("{", "other.jsonl:1:", "not a result")
        refused(json.dumps({**run, "schema": 9}), "schema 9", "reads schema 1")
        refused(json.dumps({"cycles": 3}), 'no "schema"')
        refused(
            json.dumps({**run, "provenance": {**run["provenance"], "trace_digest": "00"}, "launch": []}),
            "has no launch",
        )
        refused(
            json.dumps({**run, "launch": [{**run["launch"][0], "cycles": 1}]}), "differ", "nqueens.htrace", "pdom lrr"
        )
        (self.folder / "empty").mkdir()
        self.assert_refused(1, "report", self.folder / "empty", "--json", says=["no results"])

    def test_the_page_holds_the_data_or_the_command_says_what_is_missing(self):
        path = self.replay("r.jsonl", TRACES[1])
        done = heddle("report", path, "-o", self.folder / "r.html")
        if (
            BUILD / "tools" / "study" / "report" / "page" / "page.html"
        ).stat().st_size > 0:  # empty if npm is missing or failed
            self.assertEqual(done.returncode, 0, done.stderr)
            text = (self.folder / "r.html").read_text()
            self.assertIn("<title>Heddle: 1 kernel, 1 run</title>", text)
            self.assertIn("Apache License", text)
            self.assertNotRegex(text, r"""(src|href)=["']?(https?:)?//""")
            self.assertNotRegex(text, "unsafe-eval|{{[A-Z]")
        else:
            self.assertEqual(done.returncode, 1)
            self.assertIn("has no report page, which needs npm", done.stderr)
            self.assert_folder_has("r.jsonl")


if __name__ == "__main__":
    main()
