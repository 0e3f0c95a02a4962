"""`heddle reproduce`: a small paper of our own from worked examples and samples, and the claims of the real ones."""
import json
import pathlib
import shutil
import subprocess

from heddle_command import HEDDLE, SAMPLES, SOURCE, CommandTest, heddle, main

# Two structural claims, an effect, an order that does not hold, rows with a kernel that is missing, and one that cannot
# be computed. `one_block` is what the third claim turns on.
PAPER = """
name: "ours" title: "A paper of ours" comparison: "Two worked examples and two samples."
kernel { name: "figure" trace: "fung_4_1" worked: true }
kernel { name: "search" trace: "bfs" }
kernel { name: "queens" trace: "nqueens" }
kernel { name: "lost" missing: "nobody has it" }
list { name: "all" kernel: ["search", "queens", "lost"] }
run { name: "pdom" machine: "fermi_fixed" }
run { name: "nrec" like: "pdom" divergence: "nrec" }
run { name: "narrow" like: "pdom" set: "core.warp_size=16" }
run { name: "toy" machine: "toy" divergence: "dwf:swizzle=none" scheduler: "dpc" }
run { name: "table" machine: "capri_fx5800" cost { policy: "capri:capt_entries=8" } }
run { name: "fits" machine: "vtw_gtx480" residency { threads: 256 registers: 19 } }
run { name: "bound" limits { warp_size: 32 only_regrouping: true } }
claim { id: "bits" where: "Section 1" statement: "Size" kind: STRUCTURAL value: "bits@table" paper: 272 unit: "bits" }
claim { id: "blocks" where: "Section 1" statement: "Residency" kind: STRUCTURAL value: "blocks@fits" paper: 91 }
claim { id: "issues" where: "Figure 1" statement: "Issues" kind: STRUCTURAL value: "of(figure, warp_instructions@toy)" paper: 11 }
claim { id: "gain" where: "Figure 2" statement: "PDOM issues fewer" kind: TREND value: "arithmetic(all, warp_instructions@nrec / warp_instructions@pdom)" neutral: 1 decimals: 2 }
claim { id: "order" where: "Figure 3" statement: "Wrong way round" kind: TREND suspect: "width"
  order { label: "pdom" value: "sum(all, warp_instructions@pdom)" } order { label: "nrec" value: "sum(all, warp_instructions@nrec)" } }
claim { id: "rows" where: "Table 1" statement: "Instructions" kind: VALUE each: "thread_instructions@bound / 1000" tolerance: 1
  row { kernel: "search" paper: 210 } row { kernel: "queens" paper: 100 } row { kernel: "lost" paper: 5 } }
claim { id: "area" where: "Table 2" statement: "Area" kind: VALUE not_computed: "no circuit model" }
claim { id: "activity" where: "Figure 4" statement: "Narrow warps are fuller" kind: TREND unit: "%"
  order { label: "16" value: "of(queens, lane_activity@narrow)" } order { label: "32" value: "of(queens, lane_activity@pdom)" } }
variation { id: "width" open: "Warps have 32 threads." other: "warps of 16" set: "core.warp_size=16" machine: "fermi_fixed" }
variation { id: "no_queens" cause: true open: "Queens are a search." other: "without them" without: "queens" claim: "gain" }
variation { id: "told" open: "Who waters the plants." not_swept: "no parameter" }
finding { claim: "order" text: "It was claimed the wrong way round." }
"""


class Reproduce(CommandTest):
    def test_that_nothing_can_be_recorded_is_told_once(self):
        # A copy has no heddle-capture beside it, whatever the build.
        alone = self.folder / "alone" / "heddle"
        alone.parent.mkdir()
        shutil.copy2(HEDDLE, alone)
        done = subprocess.run(
            [
                alone,
                "reproduce",
                "harp2014",
                "--size",
                "tiny",
                "-o",
                self.folder / "out",
                "--plan",
                "--recipes",
                SOURCE / "traces" / "kernels",
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        (line,) = done.stderr.splitlines()
        self.assertRegex(line, "heddle-capture is not beside|no capture")

    def reproduce(self, *arguments, text=PAPER, status=0):
        paper = self.folder / "ours.textproto"
        paper.write_text(text)
        done = heddle(
            "reproduce", paper, "-o", self.folder / "out", "--traces", SAMPLES, "--recipes", self.folder, *arguments
        )
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout

    def document(self):
        return json.loads((self.folder / "out" / "ours.json").read_text())

    def claims(self):
        return {claim["id"]: claim for claim in self.document()["claims"]}

    def page(self):
        return (self.folder / "out" / "ours.md").read_text()

    def test_a_field_that_the_machine_does_not_read_is_told(self):
        paper = self.folder / "ours.textproto"
        paper.write_text(PAPER.replace('set: "core.warp_size=16" }', 'set: "core.skip_empty_groups=true" }', 1))
        done = heddle(
            "reproduce", paper, "-o", self.folder / "out", "--traces", SAMPLES, "--recipes", self.folder, "--plan"
        )
        self.assertIn(
            "heddle: note: ours: machine fermi_fixed: core.skip_empty_groups=true has no effect: "
            "core.front_end is THESIS\n",
            done.stderr,
        )

    def test_every_claim_is_scored_or_has_a_reason(self):
        told = self.reproduce()
        self.assertIn("2 of 3 structural claims", told)
        claims = self.claims()
        self.assertEqual([claims[i]["size"] for i in ("bits", "blocks", "issues")], ["agrees", "differs", "agrees"])
        self.assertEqual(claims["blocks"]["numbers"][0]["ours"], 90)
        self.assertEqual(claims["gain"]["direction"], "agrees")
        self.assertEqual(claims["order"]["direction"], "opposite")
        self.assertEqual(claims["rows"]["compared"], 2)
        self.assertEqual(claims["rows"]["left_out"], {"lost": "nobody has it"})
        self.assertEqual(claims["area"]["not_computed"], "no circuit model")
        self.assertEqual(claims["activity"]["direction"], "agrees")
        page = self.page()
        for words in (
            "| structural claims |",
            "no circuit model",
            "missing: nobody has it",
            "### What does not come out",
            "`--sensitivity` and `--causes` test them",
        ):
            self.assertIn(words, page)

    def test_what_is_there_is_not_run_again_and_what_is_missing_is(self):
        self.reproduce()
        page = self.page()
        results = sorted((self.folder / "out" / "ours").glob("results/*/*.json"))
        self.assertEqual(len(results), self.document()["replays"])
        before = {path: path.stat().st_mtime_ns for path in results}
        results[0].unlink()
        self.reproduce("--jobs", "2")
        self.assertEqual(self.page(), page)
        for path in results[1:]:
            self.assertEqual(path.stat().st_mtime_ns, before[path])
        self.assertTrue(results[0].exists())

    def test_a_plan_is_a_sweep(self):
        self.assertIn("replays planned", self.reproduce("--plan"))
        folder = self.folder / "out" / "ours"
        self.assertFalse((self.folder / "out" / "ours.md").exists())
        done = heddle("sweep", "run", folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        results = {path: path.stat().st_mtime_ns for path in folder.glob("results/*/*.json")}
        self.reproduce()
        self.assertEqual(results, {path: path.stat().st_mtime_ns for path in folder.glob("results/*/*.json")})

    def test_the_other_choice_is_run_for_what_it_concerns(self):
        self.reproduce("--sensitivity")
        claims = self.claims()
        self.assertEqual([one["variation"] for one in claims["order"]["varied"]], ["width"])
        self.assertFalse(claims["order"]["varied"][0]["flips"])
        self.assertTrue(claims["activity"]["varied"][0]["flips"], "warps of 16 against warps of 16: no order")
        self.assertNotIn("varied", claims["issues"])
        self.assertNotIn("varied", claims["bits"])
        self.assertIn("not by itself", self.page())

    def test_kernels_can_be_left_out(self):
        self.reproduce("--sensitivity")
        varied = {one["variation"]: one for one in self.claims()["gain"]["varied"]}
        self.assertEqual(set(varied), {"width", "no_queens"})
        self.assertIn("queens", varied["no_queens"]["left_out"])
        self.assertNotIn("queens", self.claims()["gain"].get("left_out", {}))
        self.assertNotIn("no_queens", [one["variation"] for one in self.claims()["activity"]["varied"]])

    def test_causes_are_run_for_what_does_not_come_out_alone(self):
        self.reproduce("--causes", "1")
        self.assertNotIn("varied", self.claims()["order"], "it needs four replays")
        self.reproduce("--causes", "4")
        claims = self.claims()
        self.assertEqual([one["variation"] for one in claims["order"]["varied"]], ["width"])
        self.assertEqual([name for name, claim in claims.items() if "varied" in claim], ["order"])
        page = self.page()
        for words in ("It was claimed the wrong way round. (order)", "not by itself", "no parameter"):
            self.assertIn(words, page)

    def test_noise_and_variations_can_have_inputs_of_their_own(self):
        text = PAPER.replace("fermi_fixed", "baws_gtx480")
        for name in ("bfs", "nqueens"):  # the samples are of size tiny; here they are both sizes
            for size in ("", ".tiny"):
                (self.folder / f"{name}{size}.htrace").write_bytes((SAMPLES / f"{name}.htrace").read_bytes())
        paper = self.folder / "ours.textproto"
        paper.write_text(text)
        done = heddle(
            "reproduce",
            paper,
            "-o",
            self.folder / "out",
            "--traces",
            self.folder,
            "--recipes",
            self.folder,
            "--tests",
            "tiny",
            "--jitter",
            "2",
            "--sensitivity",
            "--causes",
            "9",
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        tests = json.loads((self.folder / "out" / "ours.tiny.json").read_text())
        self.assertEqual((tests["input_size"], tests["seeds_of_noise"]), ("tiny", 2))
        self.assertEqual((self.document()["input_size"], self.document()["seeds_of_noise"]), ("small", 0))
        self.assertGreater(tests["replays"], self.document()["replays"])
        self.assertIn("varied", {claim["id"]: claim for claim in tests["claims"]}["activity"])
        self.assertNotIn("varied", self.claims()["activity"])
        page = self.page()
        for words in ("| with `tiny` |", "| inputs |", "2 seeds of noise"):
            self.assertIn(words, page)
        whole = (self.folder / "out" / "reproduction.md").read_text()
        self.assertIn("--jitter 2 --sensitivity --tests tiny --causes 9", whole)
        self.assert_refused(
            2, "reproduce", paper, "-o", self.folder / "out", "--plan", "--causes", "9", says=("--causes",)
        )

    def test_noise_needs_a_memory_that_has_some(self):
        text = PAPER.replace("fermi_fixed", "baws_gtx480")
        self.reproduce("--jitter", "2", text=text)
        gain = self.claims()["gain"]
        self.assertEqual(self.document()["seeds_of_noise"], 2)
        self.assertEqual(gain["direction"], "agrees")
        self.assertEqual(gain["numbers"][0]["noise"], 0, "issues of static warps do not depend on time")

    def test_claims_are_held_against_the_rules_of_comparison(self):
        self.reproduce()
        claims = self.claims()
        self.assertEqual(claims["bits"]["verdict"], "reproduced")
        self.assertEqual(claims["blocks"]["verdict"], "contradicted")
        self.assertEqual(claims["order"]["verdict"], "contradicted")
        self.assertEqual(claims["area"]["verdict"], "not_computed")
        self.assertEqual(claims["gain"]["verdict"], "reproduced")
        left_out = claims["gain"]["leave_one_out"]
        self.assertLess(left_out["low"], left_out["high"])
        self.assertIn(left_out["most_influential"], ("search", "queens"))
        self.assertIn(left_out["without_it"], (left_out["low"], left_out["high"]))
        rules = self.document()["rules"]
        self.assertEqual(rules["reproduced"]["of"], 4, "gain, order, activity and area: two rows have no order")
        self.assertEqual(rules["exchanged_labels"]["permutations"], 999)
        page = self.page()
        for words in ("### By the rules of comparison", "With the labels of the runs exchanged", "**Blocks per SM**"):
            self.assertIn(words, page)

    def test_one_large_program_makes_a_mean_fragile(self):
        self.reproduce(text=PAPER.replace("neutral: 1 decimals: 2", "neutral: 1 decimals: 2 largest: 1.01"))
        gain = self.claims()["gain"]
        self.assertEqual(gain["direction"], "agrees")
        self.assertEqual(gain["verdict"], "fragile")
        self.assertIn("is beyond the paper's largest", gain["reason"])

    def test_kernels_say_where_they_are_from_and_how_many_blocks_fit(self):
        text = PAPER.replace('trace: "bfs" }', 'trace: "bfs" paper_blocks_per_sm: 3 }')
        self.reproduce(text=text)
        kernels = {kernel["name"]: kernel for kernel in self.document()["kernels"]}
        self.assertEqual(kernels["search"]["from"], "own")
        self.assertNotIn("from", kernels["lost"])
        residency = kernels["search"]["residency"]
        self.assertEqual(residency["paper"]["blocks_per_sm"], 3)
        self.assertGreater(residency["counted"]["blocks_per_sm"], 0)
        self.assertGreater(residency["assembled"]["registers"], 0)
        self.assertNotIn("schedule_dependent_per_cent", kernels["search"], "samples are not certified")
        self.assertIn("Not certified", self.page())

    def test_residency_can_be_the_papers(self):
        text = PAPER.replace('trace: "bfs" }', 'trace: "bfs" paper_blocks_per_sm: 1 }').replace(
            "fermi_fixed", "baws_gtx480"
        )
        self.reproduce(text=text)
        self.assertNotIn("core.max_blocks=1", (self.folder / "out" / "ours" / "points.jsonl").read_text())
        self.reproduce("--paper-residency", text=text)
        points = map(json.loads, (self.folder / "out" / "ours" / "points.jsonl").read_text().splitlines())
        bound = {point["trace"] for point in points if "core.max_blocks=1" in point.get("set", [])}
        self.assertEqual(bound, {"bfs"})
        self.assertEqual(self.document()["residency"], "paper")
        self.assertIn("the paper's blocks where it states them", self.page())

    def test_rows_whose_paths_depend_on_the_order_of_threads_are_marked(self):
        if not (pathlib.Path(HEDDLE).parent / "heddle-capture").exists():
            self.skipTest("this build has no capture")
        # The building of a hash table, whose threads take places as they come; and blocks that wait for one another, which nothing
        # certifies.
        text = PAPER.replace('trace: "bfs"', 'trace: "hash_join" kernels: "build"').replace(
            'trace: "nqueens"', 'trace: "stencil_global_barrier"'
        )
        paper = self.folder / "ours.textproto"
        paper.write_text(text)
        done = heddle(
            "reproduce",
            paper,
            "-o",
            self.folder / "out",
            "--recipes",
            SOURCE / "traces" / "kernels",
            "--size",
            "tiny",
            "--certify",
            "2",
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("stencil_global_barrier.tiny.htrace is recorded without a certificate", done.stderr)
        kernels = {kernel["name"]: kernel for kernel in self.document()["kernels"]}
        self.assertGreater(kernels["search"]["schedule_dependent_per_cent"], 1)
        self.assertNotIn("schedule_dependent_per_cent", kernels["queens"])
        self.assertGreater(kernels["queens"]["thread_instructions"], 0)
        self.assertIn("reproduced_without_schedule_dependent", self.document()["rules"])
        page = self.page()
        self.assertRegex(page, r"depend on the order of threads\*\*: search \([0-9.]+ %\)")
        self.assertRegex(page, "Not certified.*: figure, queens")

    def test_an_original_takes_the_place_of_our_kernel(self):
        originals = self.folder / "originals"
        traces = originals / "suite" / "traces"
        traces.mkdir(parents=True)
        shutil.copy2(SAMPLES / "reduction.htrace", traces / "finder.paper.htrace")
        text = PAPER.replace(
            'trace: "bfs" }',
            'trace: "bfs" original { suite: "suite" program: "finder" size: "paper" note: "theirs" } }',
        ).replace(
            'missing: "nobody has it" }', 'missing: "nobody has it" original { suite: "suite" program: "lost" } }'
        )
        own = self.reproduce(text=text) and self.claims()["gain"]["numbers"][0]["ours"]
        self.reproduce("--originals", originals, text=text)
        kernels = {kernel["name"]: kernel for kernel in self.document()["kernels"]}
        self.assertEqual(
            [kernels[name].get("from") for name in ("search", "queens", "lost")], ["original", "own", None]
        )
        self.assertNotEqual(self.claims()["gain"]["numbers"][0]["ours"], own)
        self.assertEqual(self.claims()["rows"]["left_out"], {"lost": "nobody has it"})
        self.assertIn("| search | the paper's program | `suite finder` |", self.page())
        # A program that we lack, and that is there as an original.
        shutil.copy2(SAMPLES / "reduction.htrace", traces / "lost.default.htrace")
        self.reproduce("--originals", originals, text=text)
        self.assertNotIn("left_out", self.claims()["rows"])
        self.assert_refused(
            2,
            "reproduce",
            self.folder / "ours.textproto",
            "-o",
            self.folder / "out",
            "--originals",
            self.folder / "nowhere",
            says=("--originals",),
        )

    def test_scores_are_frozen_and_claims_with_them(self):
        self.reproduce("--freeze")
        ledger = (self.folder / "out" / "ours.ledger").read_text()
        self.assertIn('direction: "opposite"', ledger)
        paper = self.folder / "ours.textproto"
        (self.folder / "ours.ledger").write_text(ledger)
        self.reproduce()
        scores = self.document()["ledger"]
        self.assertEqual(scores["directions_then"], scores["directions_now"])
        self.assertEqual(scores["directions_then"]["of"], 3)
        self.assertIn("The ledger of", self.page())
        paper.write_text(PAPER.replace("tolerance: 1", "tolerance: 2"))
        self.assert_refused(
            2, "reproduce", paper, "-o", self.folder / "out", says=("ours.textproto", "claim rows", "ledger")
        )
        (self.folder / "ours.ledger").write_text("entry { nonsense: 1 }")
        paper.write_text(PAPER)
        self.assert_refused(
            2, "reproduce", paper, "-o", self.folder / "out", says=("ours.ledger", "line 1", "nonsense")
        )

    def test_claims_that_agree_are_audited(self):
        text = PAPER.replace("neutral: 1 decimals: 2", 'neutral: 1 decimals: 2 suspect: ["width", "no_queens"]')
        self.reproduce("--causes", "9", "--audit", "5", text=text)
        self.assertEqual(self.document()["rules"]["audited"], ["gain"], "of those that agree it alone has suspects")
        self.assertIn("varied", self.claims()["gain"])
        self.assertIn("**Audit.** 1 claims that agree", self.page())
        self.assert_refused(
            2,
            "reproduce",
            self.folder / "ours.textproto",
            "-o",
            self.folder / "out",
            "--audit",
            "5",
            says=("--audit", "--causes"),
        )

    def test_headlines_have_more_seeds_of_noise(self):
        text = PAPER.replace("fermi_fixed", "baws_gtx480").replace(
            "neutral: 1 decimals: 2", "neutral: 1 headline: true"
        )
        self.reproduce("--jitter", "2", "--headline-jitter", "4", text=text)
        points = (self.folder / "out" / "ours" / "points.jsonl").read_text().splitlines()
        seeds = {}
        for point in map(json.loads, points):
            seeds.setdefault(point["divergence"], set()).add(point["seed"])
        self.assertEqual(seeds["nrec"], {1, 2, 3, 4}, "of the headline alone")
        self.assertEqual(self.document()["seeds_of_noise_of_headlines"], 4)

    def test_only_baselines_can_be_fitted_to(self):
        fit = 'fit { what: "inputs" claim: "gain" date: "2026-11-28" }'
        paper = self.folder / "wrong.textproto"
        paper.write_text(PAPER + fit)
        self.assert_refused(
            2, "reproduce", paper, "-o", self.folder / "out", says=("claim gain", "run nrec is no baseline")
        )
        baselines = PAPER.replace('machine: "fermi_fixed" }', 'machine: "fermi_fixed" baseline: true }', 1).replace(
            'divergence: "nrec" }', 'divergence: "nrec" baseline: true }'
        )
        self.reproduce(text=baselines + fit)
        self.assertEqual(self.claims()["gain"]["verdict"], "fitted")
        self.assertIn("**Fitted to baselines**", self.page())

    def test_deviations_are_a_register(self):
        deviation = (
            'deviation { id: "scope" where: "Section 2" theirs: "blocks" ours: "cores" effect: "more to regroup" '
            'bias: FOR_THE_PAPER claim: "gain" }'
        )
        self.reproduce(text=PAPER + deviation)
        (told,) = self.document()["deviations"]
        self.assertEqual((told["bias"], told["claims"]), ("FOR_THE_PAPER", ["gain"]))
        self.assertIn("| scope | Section 2 | blocks | cores | more to regroup | for the paper | gain |", self.page())
        paper = self.folder / "wrong.textproto"
        for broken, word in (
            (deviation.replace("FOR_THE_PAPER", "BIAS_UNSPECIFIED"), "bias"),
            (deviation.replace('"gain"', '"pain"'), "pain"),
        ):
            paper.write_text(PAPER + broken)
            self.assert_refused(2, "reproduce", paper, "-o", self.folder / "out", says=("deviation scope", word))

    def test_wrong_claims_are_refused_with_their_place(self):
        def refused(text, *says):
            paper = self.folder / "wrong.textproto"
            paper.write_text(text)
            self.assert_refused(2, "reproduce", paper, "-o", self.folder / "out", says=("wrong.textproto", *says))

        refused(PAPER.replace("bits@table", "bits@tabel"), "claim bits", "tabel", 'did you mean "table"')
        refused(PAPER.replace("bits@table", "cycles@table"), "claim bits", "bits")
        refused(PAPER.replace("bits@table", "cycles@pdom"), "claim bits", "of(KERNEL")
        refused(PAPER.replace('kernel: "queens" paper', 'kernel: "quins" paper'), "claim rows", "quins")
        refused(PAPER.replace('like: "pdom" divergence', 'like: "dwf" divergence'), "run nrec")
        refused(PAPER.replace("neutral: 1 ", ""), "claim gain", "no effect")
        refused(PAPER.replace('suspect: "width"', 'suspect: "length"'), "claim order", "length")
        refused(PAPER.replace('without: "queens"', 'without: "quins"'), "variation no_queens", "quins")
        refused(PAPER.replace('finding { claim: "order"', 'finding { claim: "odor"'), "odor")
        refused(PAPER.replace('name: "ours"', 'name: "our paper"'), "our paper", "other characters than letters")
        refused(PAPER + "claim { }", "")
        refused(PAPER + "chaim { }", "line")
        paper = self.folder / "mine.textproto"
        paper.write_text(PAPER)
        self.assert_refused(
            2, "reproduce", paper, "-o", self.folder / "out", "--page", paper, says=("--page", "claims")
        )
        self.assert_refused(2, "reproduce", "fung2009", "-o", self.folder / "out", says=("fung2008",))

    def test_the_papers_are_what_they_should_be(self):
        """Planned with whatever traces the samples offer: every expression, policy and machine is looked up."""
        done = heddle(
            "reproduce",
            "all",
            "-o",
            self.folder / "out",
            "--traces",
            SAMPLES,
            "--recipes",
            self.folder,
            "--plan",
            "--sensitivity",
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        for paper in ("baws2016", "capri2012", "fung2008", "harp2014", "vtw"):
            self.assertIn(f"/{paper}: ", done.stdout)

    def test_the_structural_claims_of_the_papers_hold(self):
        """Without a trace of any kernel what follows from the rules alone is computed all the same."""
        empty = self.folder / "traces"
        empty.mkdir()
        done = heddle("reproduce", "all", "-o", self.folder / "out", "--traces", empty, "--recipes", empty)
        self.assertEqual(done.returncode, 0, done.stderr)
        structural = {}
        for paper in ("baws2016", "capri2012", "fung2008", "harp2014", "vtw"):
            document = json.loads((self.folder / "out" / f"{paper}.json").read_text())
            for claim in document["claims"]:
                if claim["kind"] == "STRUCTURAL" and "not_computed" not in claim:
                    structural[f"{paper} {claim['id']}"] = claim["size"]
        self.assertGreaterEqual(len(structural), 30)
        # The window of Figure 4.1 is not delimited in the thesis: docs/policies/dwf.md.
        differing = [claim for claim, size in structural.items() if size != "agrees" and "fig_4.1" not in claim]
        self.assertEqual(differing, [])


if __name__ == "__main__":
    main()
