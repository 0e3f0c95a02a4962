"""What a replay gives: JSON, tables, products of policies, overrides."""
import json

from heddle_command import SAMPLE, SAMPLES, CommandTest, heddle, main, results


class Results(CommandTest):
    def test_one_line_of_json_per_configuration_in_the_order_of_the_product(self):
        runs = results(SAMPLE, "--divergence", "nrec,pdom", "--scheduler", "lrr,gto")
        self.assertEqual([(r["divergence"]["name"], r["scheduler"]["name"]) for r in runs],
                         [("nrec", "lrr"), ("nrec", "gto"), ("pdom", "lrr"), ("pdom", "gto")])

    def test_total_is_the_sum_over_the_launches(self):
        for run in results(SAMPLE, "--divergence", "nrec,pdom,dwf,mimd"):
            for counter in ("cycles", "warp_instructions", "thread_instructions"):
                self.assertEqual(run["total"][counter], sum(launch[counter] for launch in run["launch"]))
                self.assertIsInstance(run["total"][counter], int)
            self.assertAlmostEqual(run["total"]["ipc"], run["total"]["thread_instructions"] / run["total"]["cycles"])

    def test_every_policy_executes_the_same_thread_instructions(self):
        info = json.loads(heddle("trace", "info", SAMPLE, "--json").stdout)
        runs = results(SAMPLE, "--divergence", "all", "--scheduler", "all")
        self.assertGreater(len(runs), 10)
        self.assertEqual({run["total"]["thread_instructions"] for run in runs}, {info["thread_instructions"]})

    def test_scheduler_cycles_and_sizes_add_up(self):
        for run in results(SAMPLE, "--divergence", "nrec,pdom,dwf,mimd", "--scheduler", "lrr,gto"):
            for launch in run["launch"]:
                cycles = launch["scheduler_cycles"]
                self.assertEqual(cycles["total"], sum(cycles[k] for k in ("issued", "stall", "memory", "idle")))
                self.assertEqual(launch["warp_instructions"], sum(launch["issues_by_size"]))
                self.assertEqual(launch["thread_instructions"],
                                 sum((i + 1) * n for i, n in enumerate(launch["issues_by_size"])))

    def test_provenance_holds_what_is_needed_to_run_it_again(self):
        run, = results(SAMPLE, "--divergence", "dwf:lane_aware=false", "--set", "core.schedulers=1", "--set", "sms=3")
        provenance = run["provenance"]
        self.assertEqual(provenance["override"], ["core.schedulers=1", "sms=3"])
        self.assertEqual((provenance["machine"]["name"], provenance["machine"]["sms"]), ("fermi_fixed", 3))
        self.assertEqual(provenance["machine"]["core"]["schedulers"], 1)
        self.assertEqual(run["divergence"]["parameter"]["lane_aware"], "false")
        self.assertIn("swizzle", run["divergence"]["parameter"], "defaults are recorded, too")
        self.assertRegex(provenance["trace_digest"], "^[0-9a-f]{64}$")
        self.assertEqual(provenance["abstraction_level"], "ptx")
        self.assertRegex(provenance["heddle_version"], r"^\d+\.\d+\.\d+$")
        self.assertEqual(run["schema"], 1)

    def test_counters_that_a_policy_declares_are_in_its_results(self):
        declared = json.loads(heddle("policies", "--json").stdout)
        for run in results(SAMPLE, "--divergence", "all", "--scheduler", "all"):
            for seam in ("divergence", "scheduler"):
                policy = next(p for p in declared[seam] if p["name"] == run[seam]["name"])
                names = sorted(counter["name"] for counter in policy["counters"])
                for launch in run["launch"]:
                    self.assertEqual(sorted(launch[f"{seam}_counter"]), names)

    def test_the_same_run_gives_the_same_bytes(self):
        arguments = ["replay", SAMPLE, "--divergence", "nrec,pdom,dwf,mimd", "--scheduler", "lrr,gto", "--json"]
        self.assertEqual(heddle(*arguments).stdout, heddle(*arguments).stdout)

    def test_a_run_by_itself_equals_the_run_in_a_product(self):
        together = results(SAMPLE, "--divergence", "nrec,pdom,dwf", "--scheduler", "lrr,gto")
        alone = [results(SAMPLE, "--divergence", d, "--scheduler", s)[0] for d in ("nrec", "pdom", "dwf")
                 for s in ("lrr", "gto")]
        self.assertEqual(together, alone)

    def test_kernels_selects_launches_by_name(self):
        everything, = results(SAMPLE)
        self.assertEqual(results(SAMPLE, "--kernels", "^bfs_level")[0]["launch"], everything["launch"])
        self.assertEqual(results(SAMPLE, "--kernels", "level")[0]["launch"], everything["launch"])

    def test_a_slower_memory_takes_longer(self):
        fast, = results(SAMPLE)
        slow, = results(SAMPLE, "--set", "memory.fixed.global_cycles=2000")
        self.assertGreater(slow["total"]["cycles"], fast["total"]["cycles"])
        self.assertEqual(slow["total"]["warp_instructions"], fast["total"]["warp_instructions"])

    def test_every_sample_can_be_replayed_on_every_machine(self):
        samples = sorted(SAMPLES.glob("*.htrace"))
        self.assertGreaterEqual(len(samples), 5)
        for sample in samples:
            self.assertEqual(heddle("trace", "check", sample).returncode, 0, sample)
            for machine in ("fermi_fixed", "thesis_fixed"):
                run, = results(sample, "--machine", machine)
                self.assertGreater(run["total"]["cycles"], 0)


class Files(CommandTest):
    def test_o_writes_the_lines_and_the_table_goes_to_the_terminal(self):
        target = self.folder / "all.jsonl"
        done = heddle("replay", SAMPLE, "--divergence", "nrec,pdom", "-o", target)
        self.assertEqual([json.loads(line) for line in target.read_text().splitlines()],
                         results(SAMPLE, "--divergence", "nrec,pdom"))
        self.assertIn("speed-up", done.stdout)
        self.assert_folder_has("all.jsonl")

    def test_o_dash_is_standard_output(self):
        done = heddle("replay", SAMPLE, "-o", "-")
        self.assertEqual(json.loads(done.stdout), results(SAMPLE)[0])

    def test_quiet_prints_nothing(self):
        target = self.folder / "r.json"
        done = heddle("replay", SAMPLE, "--divergence", "pdom,dwf", "--scheduler", "dmaj", "--quiet", "-o", target)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertEqual(json.loads(target.read_text())["divergence"]["name"], "dwf")


class Table(CommandTest):
    def test_the_table_has_a_row_per_run_and_names_its_base(self):
        done = heddle("replay", SAMPLE, "--divergence", "nrec,pdom,dwf,mimd", "--scheduler", "lrr,gto")
        self.assertEqual(done.returncode, 0, done.stderr)
        runs = results(SAMPLE, "--divergence", "nrec,pdom,dwf,mimd", "--scheduler", "lrr,gto")
        lines = done.stdout.splitlines()
        self.assertIn("bfs_level", lines[0])
        self.assertIn("machine fermi_fixed", lines[0])
        self.assertIn(runs[0]["provenance"]["trace_digest"][:12], lines[0])
        base = next(r for r in runs if r["divergence"]["name"] == "pdom")["total"]["cycles"]
        for line, run in zip(lines[4:], runs):
            cells = line.split()
            self.assertEqual(cells[:3], [run["divergence"]["name"], run["scheduler"]["name"],
                                         f"{run['total']['cycles']:,}"])
            self.assertEqual(cells[-1], f"{base / run['total']['cycles']:.2f}")

    def test_skipped_pairs_are_told(self):
        done = heddle("replay", SAMPLE, "--divergence", "pdom,dwf", "--scheduler", "lrr,dmaj")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertIn("note: skipped pdom with dmaj: ", done.stderr)

    def test_per_launch_adds_one_table_for_each_launch(self):
        run, = results(SAMPLE)
        done = heddle("replay", SAMPLE, "--per-launch")
        for launch in run["launch"]:
            name = launch["kernel"].split("(")[0]
            self.assertIn(f"\nLaunch {launch['launch']}: {name}, ", done.stdout)


class TraceInfo(CommandTest):
    def test_json_and_text_agree(self):
        info = json.loads(heddle("trace", "info", SAMPLE, "--json").stdout)
        text = heddle("trace", "info", SAMPLE).stdout
        self.assertIn(f"{info['thread_instructions']:,}", text)
        self.assertIn("bfs_level", text)

    def test_check_of_a_good_trace(self):
        done = heddle("trace", "check", SAMPLE)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn(": ok (", done.stdout)
        report = json.loads(heddle("trace", "check", SAMPLE, "--json").stdout)
        self.assertTrue(report["ok"])
        self.assertFalse([f for f in report["findings"] if f["severity"] == "error"])


if __name__ == "__main__":
    main()
