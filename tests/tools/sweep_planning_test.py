"""`heddle sweep plan`: which points a specification makes, and what is refused."""
import hashlib
import json

from heddle_command import SAMPLES, heddle, main, results
from sweep_command import SMALL, SweepTest


class Planning(SweepTest):
    def test_the_product_of_all_lists(self):
        folder = self.plan(SMALL)
        points = self.points(folder)
        self.assertEqual(len(points), 2 * 3 * 2 * 2)
        self.assertEqual(len({p["key"] for p in points}), len(points))
        self.assertEqual([p["trace"] for p in points], ["bfs"] * 12 + ["nqueens"] * 12)
        self.assertEqual(points[0]["set"], ["core.schedulers=1"])
        self.assertEqual(points[6]["parameters"], {"core.schedulers": "2"})
        plan = json.loads((folder / "plan.json").read_text())
        self.assertEqual(plan["points_digest"], hashlib.sha256((folder / "points.jsonl").read_bytes()).hexdigest())

    def test_a_key_depends_on_what_is_run_and_not_on_how_it_is_written(self):
        plain = self.points(self.plan(f'name: "a" trace: "{SAMPLES}/bfs.htrace" divergence: "dwf"', "a"))
        default = self.points(
            self.plan(f'name: "b" trace: "{SAMPLES}/bfs.htrace" divergence: "dwf:lane_aware=true"', "b")
        )
        other = self.points(
            self.plan(f'name: "c" trace: "{SAMPLES}/bfs.htrace" divergence: "dwf:lane_aware=false"', "c")
        )
        self.assertEqual(plain[0]["key"], default[0]["key"])
        self.assertNotEqual(plain[0]["key"], other[0]["key"])
        copy = self.folder / "elsewhere.htrace"
        copy.write_bytes((SAMPLES / "bfs.htrace").read_bytes())
        moved = self.points(self.plan('name: "d" trace: "elsewhere.htrace" divergence: "dwf"', "d"))
        self.assertEqual(plain[0]["key"], moved[0]["key"])

    def test_policies_that_do_not_go_together_are_left_out_and_told(self):
        folder = self.plan(
            f'name: "a" trace: "{SAMPLES}/bfs.htrace" divergence: "pdom" divergence: "dwf" scheduler: "dmaj"'
        )
        self.assertEqual([p["divergence"] for p in self.points(folder)], ["dwf"])
        left_out = json.loads((folder / "plan.json").read_text())["left_out"]
        self.assertEqual(left_out[0]["points"], 1)
        self.assertIn("pdom", left_out[0]["reason"])

    def test_policies_that_differ_where_a_swept_parameter_is_read_are_two(self):
        two = f'name: "a" trace: "{SAMPLES}/bfs.htrace" divergence: "dwf:pool_entries=8" divergence: "dwf:pool_entries=128" '
        self.refused(two, ["same"])
        folder = self.plan(two + 'parameter { name: "divergence.resources" value: "limited" }')
        self.assertEqual(len({p["key"] for p in self.points(folder)}), 2)

    def test_entries_and_ways_of_a_table_are_swept_together(self):
        # Each alone does not go with the other's default, lut_entries=64 and lut_ways=4.
        head = f'name: "a" trace: "{SAMPLES}/bfs.htrace" divergence: "dwf:resources=limited" '
        self.refused(
            head
            + """parameter { name: "divergence.lut_entries" value: "4" value: "6" }
                               parameter { name: "divergence.lut_ways" value: "2" value: "4" }""",
            [
                "divergence with divergence.lut_entries=6, divergence.lut_ways=4 is impossible",
                "lut_ways=4 does not divide lut_entries=6",
            ],
        )
        self.refused(
            head + 'parameter { name: "divergence.lut_ways" value: "0" }', ["parameter divergence.lut_ways: dwf"]
        )
        folder = self.plan(
            head
            + """parameter { name: "table"
            level { name: "small" set: "divergence.lut_entries=1" set: "divergence.lut_ways=1" }
            level { name: "odd" set: "divergence.lut_entries=9" set: "divergence.lut_ways=3" } }"""
        )
        self.assertEqual(
            [p["divergence"] for p in self.points(folder)],
            ["dwf:resources=limited,lut_entries=1,lut_ways=1", "dwf:resources=limited,lut_entries=9,lut_ways=3"],
        )
        folder = self.plan(
            head
            + """design: PAIRED parameter { name: "divergence.lut_entries" value: "1" value: "6" }
            parameter { name: "divergence.lut_ways" value: "1" value: "3" }""",
            "paired",
        )
        self.assertEqual(len(self.points(folder)), 2)

    def test_ranges_levels_and_pairs(self):
        folder = self.plan(
            f"""name: "a" trace: "{SAMPLES}/bfs.htrace" design: PAIRED
          parameter {{ name: "core.schedulers" range {{ from: 1 to: 4 factor: 2 }} }}
          parameter {{ name: "size" level {{ name: "s" set: "sms=1" }} level {{ name: "m" set: "sms=2" }}
                      level {{ name: "l" set: "sms=4" }} }}"""
        )
        self.assertEqual(
            [p["set"] for p in self.points(folder)],
            [["core.schedulers=1", "sms=1"], ["core.schedulers=2", "sms=2"], ["core.schedulers=4", "sms=4"]],
        )

    def test_a_field_that_the_machine_does_not_read_is_told(self):
        head = f'name: "a" trace: "{SAMPLES}/bfs.htrace" machine: "thesis_8800gtx" machine: "baws_gtx480" '
        spec = self.folder / "spec.textproto"
        spec.write_text(head + 'parameter { name: "core.skip_empty_groups" value: "true" value: "false" }')
        told = heddle("sweep", "plan", spec, "-o", self.folder / "sweep").stderr.splitlines()
        self.assertEqual(
            told[:2],
            [
                f"heddle: note: machine thesis_8800gtx: core.skip_empty_groups={value} has no effect: "
                "core.front_end is THESIS"
                for value in ("false", "true")
            ],
        )
        self.assertEqual(
            told[2:],
            [
                "heddle: note: 1 of 4 replays are the same as another one: thesis_8800gtx "
                "core.skip_empty_groups=false under pdom, lrr, thread_blocks, round_robin and thesis_8800gtx "
                "core.skip_empty_groups=true under pdom, lrr, thread_blocks, round_robin"
            ],
        )
        # Where another parameter decides whether the field is read, it is read somewhere.
        spec.write_text(
            head.replace('machine: "thesis_8800gtx" ', "")
            + """
          parameter { name: "memory.hierarchy.l1_texture.sets" value: "0" value: "4" }
          parameter { name: "memory.hierarchy.l1_texture.ways" value: "2" value: "4" }"""
        )
        (told,) = heddle("sweep", "plan", spec, "-o", self.folder / "sweep").stderr.splitlines()
        self.assertIn(
            "1 of 4 replays are the same as another one: baws_gtx480 memory.hierarchy.l1_texture.sets=0", told
        )

    def test_policies_that_decide_alike_on_a_machine_are_told(self):
        spec = self.folder / "spec.textproto"
        head = f'name: "a" trace: "{SAMPLES}/bfs.htrace" trace: "{SAMPLES}/nqueens.htrace" machine: "baws_gtx480" '
        spec.write_text(
            head
            + 'fetch: "round_robin" fetch: "fef" parameter { name: "core.ibuffer.fetch_when" value: "EMPTY" value: "FREE_SLOT" }'
        )
        told = heddle("sweep", "plan", spec, "-o", self.folder / "sweep").stderr.splitlines()
        self.assertEqual(
            told,
            [
                "heddle: note: on machine baws_gtx480 fetch policy fef decides as round_robin does: "
                "core.ibuffer.fetch_when=EMPTY",
                "heddle: note: 2 of 8 replays are the same as another one: baws_gtx480 "
                "core.ibuffer.fetch_when=EMPTY under pdom, lrr, thread_blocks, fef and baws_gtx480 "
                "core.ibuffer.fetch_when=EMPTY under pdom, lrr, thread_blocks, round_robin",
            ],
        )
        self.sweep("run", self.folder / "sweep")
        launches = [json.loads(line)["launch"] for line in self.results(self.folder / "sweep").values()]
        self.assertEqual(len({json.dumps(one) for one in launches}), 6, "as it was told")

    def test_contradictions_are_refused(self):
        head = f'name: "a" trace: "{SAMPLES}/bfs.htrace" '
        self.refused(head + 'shedulers: "lrr"', ["line 1", '"shedulers"'])
        self.refused('name: "a"', ["no trace"])
        self.refused(head + 'scheduler: "lrr" scheduler: "lrr"', ["scheduler", "twice"])
        self.refused(head + 'divergence: "dwf" divergence: "dwf:lane_aware=true"', ["same"])
        self.refused(head + 'divergence: "pdon"', ["pdon", "pdom"])
        self.refused(head + 'divergence: "gto"', ["divergence: gto is for scheduler"])
        self.refused(head + 'trace: "no.htrace"', ["no.htrace", "No such file"])
        self.refused(head + 'kernels: "nothing"', ["nothing", "matches no"])
        self.refused(head + "seed: 1 seed: 2", ["seed", "no noise"])
        self.refused(head + 'parameter { name: "core.schedulers" }', ["core.schedulers", "exactly one"])
        self.refused(head + 'parameter { name: "core.shedulers" value: "1" }', ["core.shedulers", '"schedulers"'])
        self.refused(head + 'parameter { name: "core.schedulers" range { from: 4 to: 1 step: 1 } }', ["empty"])
        self.refused(head + 'parameter { name: "sms" range { from: 1 to: 4 step: 1 factor: 2 } }', ["one of step"])
        self.refused(
            head + 'parameter { name: "sms" value: "1" } parameter { name: "sms" value: "2" }', ["sms", "twice"]
        )
        self.refused(
            head
            + """parameter { name: "sms" value: "1" }
                               parameter { name: "x" level { name: "l" set: "sms=2" } }""",
            ["both set sms"],
        )
        self.refused(head + 'parameter { name: "divergence.lane_aware" value: "true" }', ["lane_aware", "pdom"])
        self.refused(
            head
            + """design: PAIRED parameter { name: "sms" value: "1" value: "2" }
             parameter { name: "core.schedulers" value: "1" value: "2" value: "4" }""",
            ["PAIRED", "sms has 2"],
        )
        self.refused(head + 'design: PLACKETT_BURMAN parameter { name: "sms" value: "1" }', ["two"])
        self.refused(
            head + 'parameter { name: "core.schedulers" value: "1" value: "9" }', ["core.schedulers=9", "impossible"]
        )
        self.refused(head + 'parameter { name: "sms" range { from: 1 to: 100000000 step: 1 } }', ["more"])


if __name__ == "__main__":
    main()
