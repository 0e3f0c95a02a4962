"""All papers of `heddle reproduce` with the smallest inputs: nothing that could be computed is missing."""
import json
import unittest

from heddle_command import BUILD, CAPTURE, CommandTest, heddle, main

# Beside what the claims' files say cannot be computed: claims that the smallest inputs do not reach.
NOT_AT_THIS_SIZE = {
    "vtw table_2_dwr": "warp_progress.dwr",  # every grid fits the machine at once
    "baws2016 fig_12_stn": "none of the kernels",  # of STN only, which is missing
}
# Means of ratios of barrier stalls leave out kernels that have no barrier.
WITHOUT_BARRIER = {"BT", "PVC", "SS", "MG", "SRAD2"}


@unittest.skipUnless(CAPTURE, "this build has no capture")
class Papers(CommandTest):
    def test_every_claim_has_numbers_or_a_reason(self):
        # Results are kept in the build: a second run of this test finds those that are still of this model. So are the
        # traces, which the tests of the kernels make, too; what is missing is recorded.
        folder = BUILD / "tests" / "reproduced"
        done = heddle(
            "reproduce",
            "all",
            "-o",
            folder,
            "--size",
            "tiny",
            "--traces",
            BUILD / "tests" / "tracegen" / "kernels" / "captured",
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("replays failed", done.stderr)
        for paper in ("baws2016", "capri2012", "fung2008", "harp2014", "vtw"):
            document = json.loads((folder / f"{paper}.json").read_text())
            computed = 0
            for claim in document["claims"]:
                with self.subTest(paper=paper, claim=claim["id"]):
                    if "numbers" in claim:
                        computed += 1
                        missing = {kernel["name"] for kernel in document["kernels"] if kernel["missing"]}
                        if "fig_10_barrier" in claim["id"]:
                            missing |= WITHOUT_BARRIER
                        self.assertLessEqual(set(claim.get("left_out", {})), missing)
                    elif (reason := NOT_AT_THIS_SIZE.get(f"{paper} {claim['id']}")) is not None:
                        self.assertIn(reason, claim["not_computed"])
                    else:
                        self.assertNotIn("has not been run", claim["not_computed"])
                        self.assertTrue(claim["not_computed"])
            self.assertGreater(computed, 30)
            self.assertIn(f"| [{paper}](#{paper}) |", (folder / "reproduction.md").read_text())


if __name__ == "__main__":
    main()
