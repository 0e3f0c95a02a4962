"""`--memory`: what the L1 data cache keeps, from the command line to results, sweeps and refusals."""
import csv
import io
import json

from heddle_command import SAMPLES, CommandTest, heddle, main

SAMPLE = SAMPLES / "spmv.htrace"
ONE_SM = ("--set", "sms=1")


class MemoryPolicies(CommandTest):
    def replay(self, *arguments):
        done = heddle("replay", SAMPLE, *arguments, "--json", "--quiet")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_results_carry_name_parameters_and_counters(self):
        lru, pcal = self.replay("--machine", "baws_gtx480", *ONE_SM, "--memory", "lru,pcal:tokens=2")
        self.assertEqual(lru["memory"], {"name": "lru", "parameter": {}, "largest": []})
        self.assertEqual(pcal["memory"]["name"], "pcal")
        self.assertEqual(pcal["memory"]["parameter"]["tokens"], "2")
        self.assertEqual(lru["total"]["thread_instructions"], pcal["total"]["thread_instructions"])
        for launch in lru["launch"]:
            self.assertNotIn("memory_policy", launch)
            self.assertEqual(launch["memory_counter"], {})
        launch = pcal["launch"][0]
        self.assertGreater(launch["memory_counter"]["without_token"], 0)
        self.assertGreater(launch["memory_policy"]["past_misses"], 0)
        self.assertLessEqual(launch["memory_policy"]["past_misses"], launch["l1_data"]["misses"])

    def test_as_many_tokens_as_warps_are_the_machine_s_own_rule(self):
        lru, pcal = self.replay("--machine", "baws_gtx480", *ONE_SM, "--memory", "lru,pcal:tokens=4096")
        for one, other in zip(lru["launch"], pcal["launch"]):
            self.assertEqual(other["memory_policy"]["past_misses"], 0)
            for name in ("memory_policy", "memory_counter"):
                one.pop(name, None)
                other.pop(name)
            self.assertEqual(one, other)

    def test_a_machine_without_a_cache_has_no_use_for_one(self):
        (result,) = self.replay("--machine", "fermi_fixed")
        self.assertNotIn("memory", result)
        self.assert_refused(
            2,
            "replay",
            SAMPLE,
            "--machine",
            "fermi_fixed",
            "--memory",
            "pcal",
            says=["pcal", "fermi_fixed", "no first-level data cache"],
        )
        self.assert_refused(2, "replay", SAMPLE, "--memory", "pcla", says=["--memory", "pcla", "pcal"])

    def test_a_table_names_it_where_it_is_not_the_usual(self):
        done = heddle("replay", SAMPLE, "--machine", "baws_gtx480", *ONE_SM, "--memory", "lru,pcal")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("memory", done.stdout)
        self.assertIn("pcal", done.stdout)

    def test_a_sweep_varies_its_parameters_and_fields_of_the_memory(self):
        spec = self.folder / "s.textproto"
        spec.write_text(
            f'name: "s" trace: "{SAMPLE}" machine: "baws_gtx480" memory: "pcal" '
            'parameter { name: "memory.tokens" value: "1" value: "4" } '
            'parameter { name: "memory.hierarchy.l1_data.ways" value: "2" value: "4" } '
            'parameter { name: "sms" value: "1" }'
        )
        folder = self.folder / "s"
        table = self.folder / "t.csv"
        for arguments in (("plan", spec, "-o", folder), ("run", folder), ("collect", folder, "-o", table)):
            done = heddle("sweep", *arguments)
            self.assertEqual(done.returncode, 0, done.stderr)
        rows = list(csv.DictReader(io.StringIO(table.read_text())))
        self.assertEqual(
            [(row["memory"], row["set.memory.hierarchy.l1_data.ways"]) for row in rows],
            [("pcal:tokens=1", "2"), ("pcal:tokens=1", "4"), ("pcal:tokens=4", "2"), ("pcal:tokens=4", "4")],
        )
        self.assertEqual(len({row["thread_instructions"] for row in rows}), 1)
        self.assertGreater(len({row["cycles"] for row in rows}), 1)


if __name__ == "__main__":
    main()
