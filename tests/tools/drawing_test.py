"""`heddle replay --draw`: what is drawn is what issued, and what cannot be drawn is refused."""
import re
import xml.etree.ElementTree as ElementTree

from heddle_command import SAMPLE, SOURCE, CommandTest, heddle, main, results

SVG = "{http://www.w3.org/2000/svg}"
FIGURE = SOURCE / "traces" / "worked" / "fung_4_1.htrace"
LOOP = SOURCE / "traces" / "worked" / "warps_in_a_loop.htrace"


class Drawing(CommandTest):
    def draw(self, *arguments):
        """The drawing as an element tree."""
        path = self.folder / "out.svg"
        done = heddle("replay", *arguments, "--quiet", "--draw", path)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return ElementTree.parse(path).getroot()

    @staticmethod
    def boxes(root, kind):
        return [r for r in root.iter(f"{SVG}rect") if r.get("class").startswith(kind) and r.get("height") != "10"]

    @staticmethod
    def texts(root):
        return " ".join(t.text for t in root.iter(f"{SVG}text"))

    def test_one_box_per_thread_that_issued(self):
        run = ["--machine", "toy", "--divergence", "pdom", "--scheduler", "fifo"]
        root = self.draw(FIGURE, *run, "--draw-show", "lanes")
        (result,) = results(FIGURE, *run)
        self.assertEqual(len(self.boxes(root, "k")), result["total"]["thread_instructions"])
        texts = [t.text for t in root.iter(f"{SVG}text")]
        self.assertIn("14 issues in cycles 0 to 13, lane activity 60.7 %", texts)

    def test_every_shape_has_a_colour_without_variables_and_media_queries(self):
        """Only browsers know those; librsvg and Inkscape draw in black what they cannot read."""
        for show in ("both", "progress"):
            root = self.draw(LOOP, "--machine", "toy", "--scheduler", "lrr", "--draw-show", show)
            plain, dark = (style.text.strip() for style in root.iter(f"{SVG}style"))
            self.assertNotRegex(plain, r"@|var\(")
            self.assertTrue(dark.startswith("@media (prefers-color-scheme:dark){") and dark.endswith("}"), dark)
            coloured = set(re.findall(r"\.(\w+)\{[^}]*(?:fill|stroke):#", plain))
            for shape in ("rect", "path", "polygon", "polyline"):
                for one in root.iter(f"{SVG}{shape}"):
                    self.assertIn(one.get("class"), coloured, show)

    def test_no_two_blocks_of_a_drawing_share_a_colour(self):
        seen = 0
        for sample in ("bfs", "nqueens", "mandelbrot", "hash_join"):
            path = SOURCE / "traces" / "samples" / f"{sample}.htrace"
            if not path.exists():
                continue
            for cycles in ("0-999", "1000-3999"):
                out = self.folder / "out.svg"
                if heddle("replay", path, "--quiet", "--draw", out, "--draw-cycles", cycles).returncode != 0:
                    continue
                root = ElementTree.parse(out).getroot()
                texts = [t.text for t in root.iter(f"{SVG}text")]
                blocks = [t for t in texts if re.fullmatch(r"block (\w+)", t)]
                legend = [
                    r.get("class")
                    for r in root.iter(f"{SVG}rect")
                    if r.get("width") == "16" and r.get("height") == "10" and re.fullmatch(r"k\d+", r.get("class"))
                ]
                if not legend:
                    self.assertTrue(any("of which some share a colour" in t for t in texts), sample)
                    continue
                self.assertEqual(len(set(legend)), len(legend), (sample, blocks))
                seen = max(seen, len(legend))
                fills = dict(re.findall(r"\.(k\d+)\{fill:(#\w+)\}", "".join(s.text for s in root.iter(f"{SVG}style"))))
                self.assertEqual(len({fills[kind] for kind in legend}), len(legend), "the colours themselves")
        self.assertGreater(seen, 8, "no drawing has had more blocks than there are usual colours")

    def test_the_legend_explains_lower_boxes(self):
        explained = "height of a box: share of the warp's threads that issue"
        self.assertIn(explained, self.texts(self.draw(FIGURE, "--machine", "toy", "--scheduler", "fifo")))
        self.assertNotIn(explained, self.texts(self.draw(FIGURE, "--machine", "toy", "--draw-show", "lanes")))

    def test_warps_that_wait_for_their_turn(self):
        # Six warps are ready in cycle 0; one issues. A greedy warp passes the others over until it waits for memory.
        root = self.draw(LOOP, "--machine", "toy", "--scheduler", "gto", "--draw-show", "warps", "--draw-cycles", "0-0")
        self.assertEqual(len(self.boxes(root, "k")), 1)
        self.assertEqual(len(self.boxes(root, "w")), 2, "the other warps of block 0; block 1 comes in cycle 1")

    def test_barriers_are_drawn_until_they_open(self):
        root = self.draw(LOOP, "--machine", "toy", "--scheduler", "lrr", "--draw-show", "warps")
        self.assertGreater(len(self.boxes(root, "b")), 0)
        none = self.draw(FIGURE, "--machine", "toy", "--scheduler", "lrr", "--draw-show", "warps")
        self.assertEqual(self.boxes(none, "b"), [])

    def test_a_drawing_does_not_change_the_run(self):
        run = [SAMPLE, "--divergence", "dwf", "--scheduler", "dmaj"]
        plain = results(*run)
        drawn = results(*run, "--draw", self.folder / "out.svg", "--draw-sm", "3")
        self.assertEqual(plain, drawn)

    def test_a_range_of_a_long_run(self):
        root = self.draw(SAMPLE, "--draw-cycles", "1000-1100", "--draw-sm", "0")
        self.assertIn("in cycles 1000 to 1100 of", self.texts(root))

    def test_a_drawing_begins_with_the_first_issue_of_the_sm(self):
        """The first fetches miss the instruction cache, so that nothing issues for long."""
        root = self.draw(SAMPLE, "--machine", "baws_gtx480")
        first, last = map(int, re.search(r"issues in cycles (\d+) to (\d+) of", self.texts(root)).groups())
        self.assertGreater(first, 240)
        self.assertEqual(last, first + 239)
        # There is an issue in the first column.
        edge = min(int(frame.get("x")) for frame in self.boxes(root, "n"))
        self.assertEqual(min(int(box.get("x")) for box in self.boxes(root, "k")), edge)
        self.assert_refused(
            1,
            "replay",
            SAMPLE,
            "--quiet",
            "--machine",
            "baws_gtx480",
            "--draw",
            self.folder / "none.svg",
            "--draw-cycles",
            f"0-{first - 1}",
            says=[
                "issued nothing in cycles 0 to",
                "launch 1 of bfs_level",
                f"first issue was in cycle {first},",
                "last issue in cycle",
                "--draw-cycles",
            ],
        )

    def test_the_launch_is_named_and_can_be_chosen(self):
        (run,) = results(SAMPLE)
        cycles = {launch["launch"]: launch["cycles"] for launch in run["launch"]}
        for options, launch in ((), 1), (("--draw-launch", 3), 3):
            root = self.draw(SAMPLE, *options, "--draw-cycles", "0-99")
            self.assertIn(f": launch {launch} of bfs_level", root.find(f"{SVG}title").text)
            last = int(re.search(r"in cycles 0 to 99 of (\d+)", self.texts(root)).group(1))
            self.assertLessEqual(last, cycles[launch])
        progress = self.draw(SAMPLE, "--draw-launch", 3, "--draw-show", "progress")
        self.assertIn(": launch 3 of bfs_level", progress.find(f"{SVG}title").text)
        one = self.draw(FIGURE, "--machine", "toy", "--scheduler", "fifo", "--draw-launch", 0)
        self.assertNotIn("launch", one.find(f"{SVG}title").text, "it is the trace's only one")

    def test_a_warp_that_waits_for_memory_is_still_there(self):
        # After its load every warp waits for 50 cycles; the window ends before the first one goes on.
        slow = [
            LOOP,
            "--machine",
            "toy",
            "--scheduler",
            "lrr",
            "--set",
            "memory.fixed.global_cycles=50",
            "--draw-show",
            "warps",
        ]

        def lines(cycles):
            root = self.draw(*slow, "--draw-cycles", cycles)
            ends = [int(p.get("d").split("H")[1]) for p in root.iter(f"{SVG}path") if p.get("class") == "a"]
            return ends[:-1], len(self.boxes(root, "k")), self.texts(root)  # the last one is in the legend

        ends, issues, texts = lines("0-29")
        self.assertEqual((len(ends), len(set(ends))), (6, 1), "all six warps to the end of the window")
        self.assertIn("waits, cannot issue", texts)
        # Where only some of them issue, the others have their rows.
        ends, issues, _ = lines("20-58")
        self.assertEqual(len(ends), 6)
        self.assertLess(issues, 20)

    def test_how_far_the_threads_are(self):
        """Under majority scheduling the minority of CAPRI's Figure 1 is left behind; the oldest first leaves nobody."""

        def slowest(scheduler):
            root = self.draw(
                SOURCE / "traces" / "worked" / "capri_1.htrace",
                "--machine",
                "toy",
                "--divergence",
                "dwf:swizzle=none",
                "--scheduler",
                scheduler,
                "--draw-show",
                "progress",
            )
            band = next(p for p in root.iter(f"{SVG}polygon") if p.get("class") == "all")
            points = [tuple(map(int, point.split(","))) for point in band.get("points").split()]
            return points[len(points) // 2 + 1 :]  # behind the upper edge: the lower one, from the end to the beginning

        # The slowest threads are at 2 of 6 instructions, a third of the height, until the minority runs at the end.
        stuck = [y for _, y in slowest("dmaj") if y == 56 + 260 - 260 // 3]
        self.assertGreater(len(stuck), 6)
        self.assertLess(len([y for _, y in slowest("dtime") if y == 56 + 260 - 260 // 3]), len(stuck))

    def test_refusals(self):
        out = self.folder / "out.svg"
        self.assert_refused(2, "replay", SAMPLE, "--divergence", "pdom,dwf", "--draw", out, says=["--draw", "one run"])
        self.assert_refused(2, "replay", SAMPLE, "--draw", out, "--draw-cycles", "9", says=["FIRST-LAST"])
        self.assert_refused(2, "replay", SAMPLE, "--draw", out, "--draw-cycles", "0-99999", says=["room"])
        self.assert_refused(2, "replay", SAMPLE, "--draw", out, "--draw-sm", "15", says=["0 to 14"])
        self.assert_refused(
            2, "replay", SAMPLE, "--draw", out, "--draw-launch", "9", says=["--draw-launch 9", "9 launches, 0 to 8"]
        )
        self.assert_refused(
            2, "replay", SAMPLE, "--draw", out, "--draw-launch", "0", says=["--draw-launch 0", "not recorded"]
        )
        self.assert_refused(2, "replay", SAMPLE, "--draw-launch", "1", says=["--draw"])
        self.assert_folder_has()
        self.assert_refused(
            1,
            "replay",
            SAMPLE,
            "--quiet",
            "--draw",
            out,
            "--draw-sm",
            "14",
            says=["SM 14 issued nothing in any launch"],
        )
        self.assert_refused(
            1,
            "replay",
            SAMPLE,
            "--quiet",
            "--draw",
            out,
            "--draw-cycles",
            "9000000-9000001",
            says=["issued nothing", "last issue"],
        )
        self.assert_folder_has()


if __name__ == "__main__":
    main()
