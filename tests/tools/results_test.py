"""What a replay gives: JSON, tables, products of policies, overrides."""
import json

from heddle_command import SAMPLE, SAMPLES, CommandTest, heddle, main, results


class Results(CommandTest):
    def test_one_line_of_json_per_configuration_in_the_order_of_the_product(self):
        runs = results(SAMPLE, "--divergence", "nrec,pdom", "--scheduler", "lrr,gto")
        self.assertEqual(
            [(r["divergence"]["name"], r["scheduler"]["name"]) for r in runs],
            [("nrec", "lrr"), ("nrec", "gto"), ("pdom", "lrr"), ("pdom", "gto")],
        )

    def test_a_slow_memory_is_not_taken_for_a_hang(self):
        # One controller with an endless queue, whose every command waits for 10^4 cycles, at a 7th and a 700th of the
        # core's clock: SMs whose memory stage tries again in every cycle wait for millions.
        slow = [f"memory.hierarchy.dram.timing.{time}=10000" for time in ("rc", "ras", "rp", "rcd", "ccd", "cl")]
        slow += ["memory.hierarchy.dram.controllers=1", "memory.hierarchy.dram.queue=0"]
        for mhz in (100, 1):
            sets = [word for one in slow + [f"clocks.dram_mhz={mhz}"] for word in ("--set", one)]
            done = heddle("replay", SAMPLES / "spmv.htrace", "--machine", "baws_gtx480", "--json", *sets)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertGreater(json.loads(done.stdout)["total"]["cycles"], 1 << 22)

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
                self.assertEqual(
                    launch["thread_instructions"], sum((i + 1) * n for i, n in enumerate(launch["issues_by_size"]))
                )

    def test_provenance_holds_what_is_needed_to_run_it_again(self):
        (run,) = results(SAMPLE, "--divergence", "dwf:lane_aware=false", "--set", "core.schedulers=1", "--set", "sms=3")
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
        self.assertRegex(provenance["model_version"], r"^\d+\.\d+\.\d+\+[0-9a-f]{12}$")
        self.assertEqual((provenance["kernels"], provenance["policy_library"]), ("", []))
        (run,) = results(SAMPLE, "--kernels", "^bfs")
        self.assertEqual(run["provenance"]["kernels"], "^bfs")

    def test_a_table_shows_what_is_not_as_usual_and_compares_nothing_with_itself(self):
        text = heddle(
            "replay", SAMPLE, "--machine", "baws_gtx480", "--divergence", "its:yield=long_latency", "--fetch", "cff"
        ).stdout
        self.assertIn("its:yield=long_latency", text)
        self.assertIn("cff", text)
        self.assertNotIn("peed-up", text)
        self.assertIn("speed-up", heddle("replay", SAMPLE, "--scheduler", "lrr,gto").stdout)
        self.assertRegex(
            heddle("replay", SAMPLE, "--divergence", "its:yield=none").stdout, r"\nits +lrr", "that is the default"
        )

    def test_runs_that_come_to_the_same_are_told(self):
        fetches = [SAMPLE, "--machine", "baws_gtx480", "--fetch", "round_robin,fef"]
        told = heddle("replay", *fetches).stderr.splitlines()
        self.assertEqual(
            told,
            [
                "heddle: note: on machine baws_gtx480 fetch policy fef decides as round_robin does: "
                "core.ibuffer.fetch_when=EMPTY",
                "heddle: note: pdom with lrr, fetch fef is the same run as pdom with lrr",
            ],
        )
        one, other = results(*fetches)
        self.assertEqual(one["launch"], other["launch"], "as it is declared")
        self.assertEqual(heddle("replay", *fetches, "--set", "core.ibuffer.fetch_when=FREE_SLOT").stderr, "")
        # Parameters that no rule reads, and what nobody declares: where no warp ever parts nothing is left to a policy.
        unread = heddle("replay", SAMPLE, "--divergence", "dwf,dwf:pool_entries=8").stderr.splitlines()
        self.assertEqual(unread[-1], "heddle: note: dwf:pool_entries=8 with lrr is the same run as dwf with lrr")
        found = heddle(
            "replay", SAMPLES / "nqueens.htrace", "--divergence", "pdom,nrec", "--set", "core.warp_size=1"
        ).stderr
        self.assertEqual(
            found, "heddle: note: the same in every counter but those of policies: pdom with lrr = nrec with lrr\n"
        )

    def test_counters_that_a_policy_declares_are_in_its_results(self):
        declared = json.loads(heddle("policies", "--json").stdout)
        for run in results(SAMPLE, "--divergence", "all", "--scheduler", "all"):
            for seam in ("divergence", "scheduler"):
                policy = next(p for p in declared[seam] if p["name"] == run[seam]["name"])
                names = sorted(counter["name"] for counter in policy["counters"])
                for launch in run["launch"]:
                    self.assertEqual(sorted(launch[f"{seam}_counter"]), names)

    def test_several_traces_give_what_each_gives_alone_on_any_number_of_threads(self):
        traces = sorted(str(path) for path in SAMPLES.glob("*.htrace"))
        for machine in ("fermi_fixed", "baws_gtx480"):
            policies = ["--machine", machine, "--divergence", "pdom,dwf", "--json"]
            together = heddle("replay", *traces, *policies, "--jobs", "3").stdout
            self.assertEqual(together, "".join(heddle("replay", trace, *policies).stdout for trace in traces))
            names = [json.loads(line)["provenance"]["trace_name"] for line in together.splitlines()]
            self.assertEqual(names[::2], [trace.rsplit("/", 1)[1] for trace in traces])

    def test_several_traces_are_compared_in_one_table(self):
        traces = sorted(str(path) for path in SAMPLES.glob("*.htrace"))
        policies = ["--divergence", "nrec,pdom"]
        text = heddle("replay", *traces, *policies).stdout
        table = text[text.index("Speed-up over pdom with lrr, 5 traces") :].splitlines()
        self.assertEqual(
            table[2].split(),
            ["divergence", "scheduler", "bfs", "mandelbrot", "nqueens", "reduction", "spmv", "least", "mean", "most"],
        )
        speed_ups = []
        for trace in traces:
            nrec, pdom = results(trace, *policies)
            speed_ups.append(pdom["total"]["cycles"] / nrec["total"]["cycles"])
        mean = 1.0
        for speed_up in speed_ups:
            mean *= speed_up ** (1 / len(speed_ups))
        expected = [f"{value:.2f}" for value in (*speed_ups, min(speed_ups), mean, max(speed_ups))]
        self.assertEqual(table[4].split(), ["nrec", "lrr", *expected])

    def test_traces_without_the_kernel_that_is_asked_for_are_left_out_with_a_note(self):
        traces = sorted(str(path) for path in SAMPLES.glob("*.htrace"))
        run = heddle("replay", *traces, "--kernels", "spmv")
        self.assertIn("skipped", run.stderr)
        self.assertEqual(run.stdout.count("Kernel spmv"), 1)
        self.assertNotIn("traces; the mean", run.stdout)

    def test_the_same_run_gives_the_same_bytes(self):
        arguments = ["replay", SAMPLE, "--divergence", "nrec,pdom,dwf,mimd", "--scheduler", "lrr,gto", "--json"]
        self.assertEqual(heddle(*arguments).stdout, heddle(*arguments).stdout)

    def test_a_run_by_itself_equals_the_run_in_a_product(self):
        together = results(SAMPLE, "--divergence", "nrec,pdom,dwf", "--scheduler", "lrr,gto")
        alone = [
            results(SAMPLE, "--divergence", d, "--scheduler", s)[0]
            for d in ("nrec", "pdom", "dwf")
            for s in ("lrr", "gto")
        ]
        self.assertEqual(together, alone)

    def test_kernels_selects_launches_by_name(self):
        (everything,) = results(SAMPLE)
        self.assertEqual(results(SAMPLE, "--kernels", "^bfs_level")[0]["launch"], everything["launch"])
        self.assertEqual(results(SAMPLE, "--kernels", "level")[0]["launch"], everything["launch"])

    def test_a_slower_memory_takes_longer(self):
        (fast,) = results(SAMPLE)
        (slow,) = results(SAMPLE, "--set", "memory.fixed.global_cycles=2000")
        self.assertGreater(slow["total"]["cycles"], fast["total"]["cycles"])
        self.assertEqual(slow["total"]["warp_instructions"], fast["total"]["warp_instructions"])

    def test_every_sample_can_be_replayed_on_every_machine(self):
        samples = sorted(SAMPLES.glob("*.htrace"))
        self.assertGreaterEqual(len(samples), 5)
        for sample in samples:
            self.assertEqual(heddle("trace", "check", sample).returncode, 0, sample)
            for machine in ("fermi_fixed", "thesis_fixed"):
                (run,) = results(sample, "--machine", machine)
                self.assertGreater(run["total"]["cycles"], 0)

    def test_every_machine_of_the_tree_runs_a_sample(self):
        instructions = results(SAMPLE)[0]["total"]["thread_instructions"]
        machines = [json.loads(line) for line in heddle("machines", "--json").stdout.splitlines()]
        self.assertGreaterEqual(len(machines), 10)
        for machine in machines:
            with self.subTest(machine["name"]):
                done = heddle("replay", SAMPLE, "--machine", machine["name"], "--json")
                if "can be replayed so far" in done.stderr:
                    self.skipTest("its front end or memory is not there yet")
                self.assertEqual(done.returncode, 0, done.stderr)
                run = json.loads(done.stdout)
                self.assertEqual(run["total"]["thread_instructions"], instructions)
                self.assertEqual(run["provenance"]["machine"], machine)


class Jobs(CommandTest):
    def test_the_results_do_not_depend_on_the_number_of_threads(self):
        # Eight launches under many pairs of policies.
        arguments = ["replay", SAMPLE, "--divergence", "nrec,pdom,dwf,mimd", "--scheduler", "lrr,gto,fifo", "--json"]
        one = heddle(*arguments)
        self.assertEqual(one.returncode, 0, one.stderr)
        for jobs in (2, 3, 16):
            self.assertEqual(heddle(*arguments, "--jobs", jobs).stdout, one.stdout, jobs)

    def test_the_error_does_not_depend_on_the_number_of_threads(self):
        # Some launches take more cycles, some fewer; under several policies.
        arguments = ["replay", SAMPLE, "--divergence", "nrec,pdom,dwf", "--max-cycles", 20000]
        one = heddle(*arguments)
        self.assertEqual(one.returncode, 1)
        self.assertIn("not done after 20000 cycles", one.stderr)
        for jobs in (2, 5):
            many = heddle(*arguments, "--jobs", jobs)
            self.assertEqual((many.returncode, many.stderr, many.stdout), (1, one.stderr, ""), jobs)

    def test_wrong_numbers_of_threads_and_of_runs(self):
        self.assert_refused(2, "replay", SAMPLE, "--jobs", 0, says=["--jobs", "1"])
        self.assert_refused(2, "replay", SAMPLE, "--jobs", "many", says=["--jobs"])
        self.assert_refused(2, "replay", SAMPLE, "--jitter", 1, says=["--jitter", "2"])

    def test_jitter_needs_a_memory_whose_latency_can_vary(self):
        self.assert_refused(
            2, "replay", SAMPLE, "--jitter", 3, says=["--jitter", "fermi_fixed", "memory.fixed", "baws_gtx480"]
        )

    def test_jitter_runs_every_pair_with_every_seed(self):
        done = heddle(
            "replay", SAMPLE, "--machine", "capri_fx5800", "--divergence", "pdom,nrec", "--jitter", 3, "--json"
        )
        if "can be replayed so far" in done.stderr:
            self.skipTest("the memory hierarchy is not there yet")
        self.assertEqual(done.returncode, 0, done.stderr)
        runs = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(
            [(r["divergence"]["name"], r["provenance"]["seed"]) for r in runs],
            [("pdom", 1), ("pdom", 2), ("pdom", 3), ("nrec", 1), ("nrec", 2), ("nrec", 3)],
        )
        memory = runs[0]["provenance"]["machine"]["memory"]["hierarchy"]
        self.assertGreater(memory["jitter_cycles"], 0)
        self.assertGreater(len({r["total"]["cycles"] for r in runs[:3]}), 1, "the noise changes nothing")
        self.assertEqual(
            heddle(
                "replay",
                SAMPLE,
                "--machine",
                "capri_fx5800",
                "--divergence",
                "pdom,nrec",
                "--jitter",
                3,
                "--json",
                "--jobs",
                4,
            ).stdout,
            done.stdout,
        )
        table = heddle("replay", SAMPLE, "--machine", "capri_fx5800", "--divergence", "pdom,nrec", "--jitter", 3).stdout
        self.assertIn("Means of 3 runs", table)


class Files(CommandTest):
    def test_o_writes_the_lines_and_the_table_goes_to_the_terminal(self):
        target = self.folder / "all.jsonl"
        done = heddle("replay", SAMPLE, "--divergence", "nrec,pdom", "-o", target)
        self.assertEqual(
            [json.loads(line) for line in target.read_text().splitlines()], results(SAMPLE, "--divergence", "nrec,pdom")
        )
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
            self.assertEqual(
                cells[:3], [run["divergence"]["name"], run["scheduler"]["name"], f"{run['total']['cycles']:,}"]
            )
            self.assertEqual(cells[-1], f"{base / run['total']['cycles']:.2f}")

    def test_skipped_pairs_are_told(self):
        done = heddle("replay", SAMPLE, "--divergence", "pdom,dwf", "--scheduler", "lrr,dmaj")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertIn("note: skipped pdom with dmaj: ", done.stderr)

    def test_per_launch_adds_one_table_for_each_launch(self):
        (run,) = results(SAMPLE)
        done = heddle("replay", SAMPLE, "--per-launch")
        for launch in run["launch"]:
            name = launch["kernel"].split("(")[0]
            self.assertIn(f"\nLaunch {launch['launch']}: {name}, ", done.stdout)

    def test_the_residency_is_told_with_its_sensitivity(self):
        done = heddle("replay", SAMPLE, "--set", "sms=1")
        launch = results(SAMPLE, "--set", "sms=1")[0]["launch"][0]
        self.assertIn(f"\nBlocks of bfs_level: {launch['blocks_per_sm']} per SM (bounded by ", done.stdout)
        self.assertGreater(launch["registers_per_thread"], 0)
        self.assertLessEqual(launch["blocks_per_sm_more_registers"], launch["blocks_per_sm"])
        self.assertGreaterEqual(launch["blocks_per_sm_fewer_registers"], launch["blocks_per_sm"])
        few = 128 * (launch["registers_per_thread"] + 8)
        (tight,) = results(SAMPLE, "--set", "sms=1", "--set", f"core.registers={few}")
        self.assertLess(tight["launch"][0]["blocks_per_sm"], launch["blocks_per_sm"])


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
