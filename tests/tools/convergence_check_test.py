"""`heddle replay --check-convergence`: what policies make of the rule which threads execute together."""
from heddle_command import SAMPLE as BFS
from heddle_command import CommandTest, heddle, main, results

ON = ("--machine", "baws_gtx480")


class ConvergenceCheck(CommandTest):
    def results(self, *arguments):
        """{divergence policy: result}"""
        return {result["divergence"]["name"]: result for result in results(BFS, *ON, *arguments)}

    def sums(self, result, what="all"):
        found = [launch["convergence"][what] for launch in result["launch"]]
        return {key: sum(one[key] for one in found) for key in found[0]}

    def test_a_stack_keeps_the_rule_and_paths_that_never_rejoin_break_it(self):
        results = self.results("--divergence", "pdom,nrec,tbc", "--check-convergence", "cycle")
        stack, never, block_wide = (self.sums(results[name]) for name in ("pdom", "nrec", "tbc"))
        # What has to be together is a matter of the recording, not of the policy.
        self.assertEqual(stack["instances"], never["instances"])
        self.assertEqual(stack["shared"], block_wide["shared"])
        self.assertGreater(stack["shared"], 0)
        self.assertEqual((stack["broken"], stack["parts"], stack["exceeding"], stack["regrouped"]), (0, 0, 0, 0))
        self.assertGreater(never["broken"], 0)
        self.assertGreaterEqual(never["parts"], 2 * never["broken"])
        self.assertGreater(block_wide["regrouped"], 0)

    def test_issues_are_instances_and_the_parts_of_those_that_are_broken(self):
        result = self.results("--divergence", "nrec", "--check-convergence", "cycle")["nrec"]
        found = self.sums(result)
        issues = sum(launch["warp_instructions"] for launch in result["launch"])
        self.assertEqual(found["instances"] - found["broken"] + found["parts"], issues)

    def test_nothing_else_of_the_result_changes(self):
        checked = self.results("--divergence", "dwf", "--check-convergence", "construct")["dwf"]
        for launch in checked["launch"]:
            self.assertEqual(launch.pop("convergence")["rule"], "construct")
        self.assertEqual(checked, self.results("--divergence", "dwf")["dwf"])

    def test_the_table_says_it(self):
        text = heddle("replay", BFS, *ON, "--divergence", "pdom,nrec", "--check-convergence", "cycle").stdout
        self.assertIn('Convergence by the rule "cycle"', text)
        self.assertRegex(text, r"pdom +lrr +[0-9,]+ +0.00 % +- ")
        self.assertRegex(text, r"nrec +lrr +[0-9,]+ +[1-9][0-9.]+ % .*bfs.cu:")

    def test_what_does_not_go_together_is_refused(self):
        self.assert_refused(2, "replay", BFS, "--check-convergence", "loops", says=["loops", "cycle", "construct"])
        self.assert_refused(
            2, "replay", BFS, "--check-convergence", "cycle", "--draw", "x.svg", says=["--check-convergence", "--draw"]
        )
        self.assert_refused(
            2, "replay", BFS, "--check-convergence", "cycle", "--check-order", says=["do not go together"]
        )


if __name__ == "__main__":
    main()
