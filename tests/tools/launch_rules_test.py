"""`--launches`: launches side by side, from the command line to results, sweeps and refusals."""
import json

from heddle_command import SAMPLES, heddle, main
from sweep_command import SweepTest

MACHINE = ("--machine", "baws_gtx480")
RULES = ("in_order", "fill_first", "spatial_split")

SPEC = """
name: "side_by_side"
trace: "{trace}"
machine: "baws_gtx480"
launches: "{launches}"
"""


class SideBySide(SweepTest):
    def replay(self, trace, *arguments):
        done = heddle("replay", trace, *MACHINE, *arguments, "--json", "--quiet")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        [line] = done.stdout.splitlines()
        return json.loads(line)

    def merged(self):
        """A trace of three programs, whose launches do not wait for one another's."""
        trace = self.folder / "merged.htrace"
        samples = [SAMPLES / f"{name}.htrace" for name in ("bfs", "spmv", "reduction")]
        self.assertEqual(heddle("trace", "merge", "-o", trace, *samples).returncode, 0)
        return trace

    def test_programs_together_take_less_time(self):
        trace = self.merged()
        in_order, *side_by_side = (self.replay(trace, "--launches", rule) for rule in RULES)
        self.assertNotIn("launches", in_order["provenance"])
        self.assertNotIn("side_by_side", in_order)
        for rule, result in zip(RULES[1:], side_by_side):
            self.assertEqual(result["provenance"]["launches"], rule)
            self.assertLess(result["total"]["cycles"], in_order["total"]["cycles"])
            self.assertEqual(result["total"]["thread_instructions"], in_order["total"]["thread_instructions"])
            for launch, alone in zip(result["launch"], in_order["launch"]):
                self.assertEqual(launch["thread_instructions"], alone["thread_instructions"])
                times = launch["times"]
                self.assertLessEqual(times["ready"], times["began"])
                self.assertLess(times["began"], times["ended"])
                self.assertEqual(launch["cycles"], times["ended"] - times["ready"])
            first, *_ = stretches = result["side_by_side"]["stretch"]
            self.assertEqual(result["total"]["cycles"], sum(stretch["cycles"] for stretch in stretches))
            self.assertEqual(
                sorted(number for stretch in stretches for number in stretch["launch"]), list(range(1, 12))
            )
            self.assertIn("l2", first)
            self.assertNotIn("l2", result["launch"][0])
            # The table has what the launches share, too.
            drams = [part["dram"] for part in [*stretches, *result["launch"]] if "dram" in part]
            lines = sum(dram["read_requests"] + dram["write_requests"] for dram in drams)
            table = heddle("replay", trace, *MACHINE, "--launches", rule).stdout
            self.assertRegex(table, rf"DRAM lines.*\n.*\n.* {lines:,} ")

    def test_a_trace_of_one_stream_comes_to_the_same(self):
        in_order = self.replay(SAMPLES / "bfs.htrace")
        for rule in RULES[1:]:
            result = self.replay(SAMPLES / "bfs.htrace", "--launches", rule)
            for launch in result["launch"]:
                launch.pop("times")
            self.assertEqual(result["launch"], in_order["launch"])
            self.assertEqual(result["total"], in_order["total"])

    def test_results_do_not_depend_on_threads(self):
        trace = self.merged()
        arguments = ("--launches", "spatial_split", "--divergence", "pdom,dwf", "--json", "--quiet")
        outputs = {heddle("replay", trace, *MACHINE, *arguments, "--jobs", jobs).stdout for jobs in (1, 4)}
        self.assertEqual(len(outputs), 1)

    def test_sweeps_run_the_same(self):
        trace = self.merged()
        folder = self.plan(SPEC.format(trace=trace, launches="fill_first"))
        self.sweep("run", folder)
        [result] = self.results(folder).values()
        point = json.loads(result)
        self.assertEqual(point["total"], self.replay(trace, "--launches", "fill_first")["total"])
        spec = self.folder / "wrong.textproto"
        spec.write_text(SPEC.format(trace=trace, launches="at_once"))
        self.assert_refused(2, "sweep", "plan", spec, "-o", self.folder / "wrong", says=["launches", "at_once"])
        spec.write_text(SPEC.format(trace=trace, launches="fill_first") + "bins: 100\n")
        self.assert_refused(2, "sweep", "plan", spec, "-o", self.folder / "wrong", says=["launches", "bins"])

    def test_what_is_of_one_launch_is_refused(self):
        trace = self.merged()
        for option in (["--draw", "x.svg"], ["--timeline", "x.pftrace"], ["--bins", "100"], ["--warp-phases", "1"]):
            self.assert_refused(
                2, "replay", trace, *MACHINE, "--launches", "fill_first", *option, cwd=self.folder, says=["in_order"]
            )
        self.assert_refused(2, "replay", trace, "--launches", "together", says=["--launches", "together"])
        self.assert_refused(
            1,
            "replay",
            trace,
            *MACHINE,
            "--launches",
            "fill_first",
            "--dispatch",
            "warps",
            "--quiet",
            says=["launch 1 (bfs_level", "single warps", "--launches in_order"],
        )


if __name__ == "__main__":
    main()
