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

    def test_a_stretch_of_a_long_run(self):
        root = self.draw(SAMPLE, "--draw-cycles", "1000-1100", "--draw-sm", "0")
        texts = " ".join(t.text for t in root.iter(f"{SVG}text"))
        self.assertIn("in cycles 1000 to 1100 of", texts)

    def test_how_far_the_threads_are(self):
        """Under majority scheduling the minority of CAPRI's Figure 1 is left behind; the oldest first leaves nobody."""
        def slowest(scheduler):
            root = self.draw(SOURCE / "traces" / "worked" / "capri_1.htrace", "--machine", "toy", "--divergence",
                             "dwf:swizzle=none", "--scheduler", scheduler, "--draw-show", "progress")
            band = next(p for p in root.iter(f"{SVG}polygon") if p.get("class") == "all")
            points = [tuple(map(int, point.split(","))) for point in band.get("points").split()]
            return points[len(points) // 2 + 1:]  # behind the upper edge: the lower one, from the end to the beginning
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
        self.assert_folder_has()
        self.assert_refused(1, "replay", SAMPLE, "--quiet", "--draw", out, "--draw-cycles", "9000000-9000001",
                            says=["issued nothing", "last issue"])
        self.assert_folder_has()


if __name__ == "__main__":
    main()
