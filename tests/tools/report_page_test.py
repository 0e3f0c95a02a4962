"""The page of `heddle report`, used in a headless Chromium: no network, no error, and what is chosen in one view shows
in the others. Skipped without a page (a build without npm) or without Chromium."""
import hashlib
import json
import sys

import browser
from heddle_command import SAMPLES, CommandTest, heddle, main

OPEN = "window.heddleReport && window.heddleReport.openedAfter"


class Page(CommandTest):
    @classmethod
    def setUpClass(cls):
        cls.window = browser.Browser()
        cls.addClassCleanup(cls.window.__exit__)

    def setUp(self):
        super().setUp()
        self.window.requests.clear()
        self.window.errors.clear()

    def tearDown(self):
        self.assertEqual((self.window.requests, self.window.errors), ([], []))
        super().tearDown()

    def open(self, results):
        """Makes a page of the results and opens it; returns the milliseconds until it was there."""
        page = self.folder / "r.html"
        done = heddle("report", results, "-o", page)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(page.stat().st_size, 5_000_000)
        self.window.size(1440, 900)
        self.window.open(page)
        milliseconds = self.window.wait(OPEN)
        # Cards are drawn when the browser tells that they are in sight, which takes a while on a busy machine.
        self.window.wait("document.querySelector('.heatmap tbody td') !== null")
        return milliseconds

    def samples(self, *arguments):
        path = self.folder / "r.jsonl"
        done = heddle(
            "replay",
            *(SAMPLES / f"{name}.htrace" for name in ("bfs", "nqueens", "spmv")),
            "--machine",
            "baws_gtx480",
            "--divergence",
            "nrec,pdom,dwf",
            "--scheduler",
            "lrr,gto",
            "--quiet",
            "-o",
            path,
            *arguments,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return path

    def text(self, selector):
        return self.window.value(f"document.querySelector({json.dumps(selector)}).innerText")

    def click(self, selector):
        self.window.value(f"document.querySelector({json.dumps(selector)}).click()")

    def show(self, card):
        """Scrolls to a card and waits for its chart."""
        self.window.value(f"document.querySelector('#{card}').scrollIntoView()")
        self.window.wait(f"document.querySelector('#{card} canvas') !== null")
        return self.window.value(
            "(() => { const c = document.querySelector('#%s canvas'); return new Set(c.getContext('2d')"
            ".getImageData(0, 0, c.width, c.height).data).size })()" % card
        )

    def test_what_is_chosen_in_one_view_shows_in_the_others(self):
        self.open(self.samples("--per-instruction", "--bins", 500, "--warp-phases", 4))
        runs = {
            (r["provenance"]["trace_name"], r["divergence"]["name"], r["scheduler"]["name"]): r["total"]["cycles"]
            for r in map(json.loads, (self.folder / "r.jsonl").read_text().splitlines())
        }
        speed_up = runs["spmv.htrace", "pdom", "lrr"] / runs["spmv.htrace", "dwf", "lrr"]
        self.assertEqual(self.window.value("document.querySelectorAll('.heatmap tbody td').length"), 18)
        self.assertEqual(self.text('td[data-kernel="2"][data-run="4"]'), f"{speed_up:.2f}")

        # A cell chooses the kernel and B, and the sentence has the numbers.
        self.click('td[data-kernel="2"][data-run="4"]')
        self.window.value("document.querySelector('#compare').scrollIntoView()")
        self.window.wait("document.querySelector('.sentences').innerText.includes('spmv')")
        said = self.text(".sentences")
        for words in (
            "On spmv, dwf lrr takes",
            f"{runs['spmv.htrace', 'dwf', 'lrr']:,} cycles",
            f"{runs['spmv.htrace', 'pdom', 'lrr']:,} of pdom lrr",
            f"speed-up of {speed_up:.2f}",
        ):
            self.assertIn(words, said)
        # The classes add up to the difference, in the table, too.
        self.click("#compare .tools button")
        rows = self.window.value("[...document.querySelectorAll('#compare tbody tr')].map(r => r.lastChild.innerText)")
        change = sum(
            int(text.translate({ord("−"): "-", ord("+"): None, ord("±"): None, ord(","): None})) for text in rows
        )
        self.assertLessEqual(
            abs(change - (runs["spmv.htrace", "dwf", "lrr"] - runs["spmv.htrace", "pdom", "lrr"])), len(rows)
        )

        # Every chart has something in it.
        for card in (
            "speedups",
            "stalls",
            "threads",
            "sizes-a",
            "sizes-b",
            "memory-0",
            "memory-4",
            "counters",
            "counters-time",
            "timeline",
            "roofline",
        ):
            self.assertGreater(self.show(card), 20, card)
        self.assertIn("dwf lrr", self.text("#sizes-b-title"))
        self.assertEqual(self.window.value("document.querySelector('#run-b').selectedOptions[0].text"), "dwf lrr")
        self.assertIn("setp", self.text("#hotspots tbody"))

        # Search, sort, keyboard.
        self.window.value(
            "(() => { const i = document.querySelector('#find-kernel'); i.value = 'q'; "
            "i.dispatchEvent(new Event('input')) })()"
        )
        self.window.value("document.querySelector('#overview').scrollIntoView()")
        self.window.wait("document.querySelectorAll('.heatmap tbody tr').length === 1")
        self.assertEqual(self.text(".heatmap tbody th"), "nqueens")
        self.window.value(
            "(() => { const i = document.querySelector('#find-kernel'); i.value = ''; "
            "i.dispatchEvent(new Event('input')) })()"
        )
        self.click(".heatmap .corner button")
        self.click(".heatmap .corner button")
        names = self.window.value("[...document.querySelectorAll('.heatmap tbody th')].map(t => t.innerText)")
        self.assertEqual(names, ["spmv", "nqueens", "bfs"])
        self.window.value('document.querySelector(\'td[data-kernel="1"][data-run="0"]\').focus()')
        self.window.key("ArrowRight")
        self.window.key("ArrowDown")
        self.window.key("Enter")
        self.assertEqual(self.window.value("[heddleReport.state.kernel, heddleReport.state.b]"), [0, 1])
        self.assertEqual(self.window.value("document.activeElement.dataset.run"), "1")

    def test_schedulers_under_one_divergence_policy_are_all_in_the_first_chart(self):
        path = self.folder / "schedulers.jsonl"
        heddle("replay", SAMPLES / "nqueens.htrace", "--scheduler", "lrr,gto,oldest", "--quiet", "-o", path)
        self.open(path)
        chosen = "[...document.querySelectorAll('#speedups .chip.on')].map(c => c.innerText)"
        self.show("speedups")
        self.assertEqual(self.window.value(chosen), ["pdom lrr", "pdom gto", "pdom oldest"])

    def test_of_more_runs_than_colours_one_per_policy_is_in_the_first_chart(self):
        path = self.folder / "many.jsonl"
        heddle(
            "replay",
            SAMPLES / "nqueens.htrace",
            "--divergence",
            "pdom,dwf,nrec",
            "--scheduler",
            "lrr,gto,oldest",
            "--quiet",
            "-o",
            path,
        )
        self.open(path)
        self.assertEqual(
            self.window.value("heddleReport.state.bars.map(r => heddleReport.study.runs[r].name)"),
            ["pdom lrr", "dwf lrr", "nrec lrr"],
        )

    def test_headings_of_what_was_run_stand_above_their_cells(self):
        self.open(self.samples())
        self.window.value("document.querySelector('#provenance').scrollIntoView()")
        self.window.wait("document.querySelectorAll('#provenance table').length === 2")
        for line in ("thead tr", "tbody tr"):
            kernels, runs = self.window.value(
                f"[...document.querySelectorAll('#provenance table')].map(t => "
                f"[...t.querySelector('{line}').children].map(c => getComputedStyle(c).textAlign))"
            )
            self.assertEqual(kernels, ["left"] * 4 + ["right"] * 3, line)
            self.assertEqual(runs, ["left"] * 8, line)

    def test_themes_and_narrow_windows(self):
        self.open(self.samples())
        light = self.window.value("getComputedStyle(document.body).backgroundColor")
        self.click("#theme")
        self.assertNotEqual(self.window.value("getComputedStyle(document.body).backgroundColor"), light)
        self.window.size(420, 900)
        self.assertLessEqual(self.window.value("document.documentElement.scrollWidth"), 420)
        self.window.pdf(self.folder / "r.pdf")
        self.assertGreater((self.folder / "r.pdf").stat().st_size, 20_000)

    def test_results_without_profile_series_and_memory_say_what_is_missing(self):
        path = self.folder / "plain.jsonl"
        heddle("replay", SAMPLES / "nqueens.htrace", "--divergence", "pdom,mimd", "--quiet", "-o", path)
        self.open(path)
        for card, words in (
            ("sizes-a", "--bins"),
            ("hotspots", "--per-instruction"),
            ("timeline", "--warp-phases"),
            ("counters-time", "--bins"),
            ("roofline", "no DRAM"),
        ):
            self.window.value(f"document.querySelector('#{card}').scrollIntoView()")
            self.window.wait(f"document.querySelector('#{card} .empty').checkVisibility()")
            self.assertIn(words, self.text(f"#{card} .empty"))

    def test_fifty_kernels_under_twenty_runs_with_fifty_thousand_phases_open_at_once(self):
        done = heddle(
            "replay",
            SAMPLES / "spmv.htrace",
            SAMPLES / "reduction.htrace",
            "--machine",
            "baws_gtx480",
            "--divergence",
            "nrec,pdom",
            "--json",
            "--per-instruction",
            "--bins",
            100,
            "--warp-phases",
            32,
        )
        runs = [json.loads(line) for line in done.stdout.splitlines()]
        with open(self.folder / "many.jsonl", "w") as file:
            for kernel in range(50):
                for policy in range(20):
                    run = runs[2 * (kernel % 2) + policy % 2]
                    run["provenance"].update(
                        trace_name=f"kernel{kernel:02}.htrace",
                        trace_digest=hashlib.sha256(str(kernel).encode()).hexdigest(),
                    )
                    run["scheduler"]["name"] = f"scheduler{policy}"
                    file.write(json.dumps(run) + "\n")
        milliseconds = self.open(self.folder / "many.jsonl")
        # It takes a second or two. The bound is for a page that hangs.
        self.assertLess(milliseconds, 30_000)
        self.assertEqual(self.window.value("document.querySelectorAll('.heatmap tbody td').length"), 1000)
        phases = self.window.value(
            "heddleReport.study.cells.reduce((n, c) => n + c.warps.list.reduce((m, w) => m + (w.length - 5) / 2, 0), 0)"
        )
        self.assertGreater(phases, 30_000)
        self.assertLessEqual(phases, 50_000)


if __name__ == "__main__":
    if browser.missing():
        print(browser.missing())
        sys.exit(77)
    main()
