"""The page of `heddle correlate`, used in a headless Chromium: no network, no complaint, every rung is drawn. Skipped
without a page (a build without npm) or without Chromium. The card is made up (made_up_card.py)."""
import json
import sys

import browser
import made_up_card
from heddle_command import SAMPLES, CommandTest, heddle, main

OPEN = "window.heddleCorrelation && window.heddleCorrelation.openedAfter"
FACTORS = {"bfs": 0.8, "mandelbrot": 1, "nqueens": 1.25, "reduction": 2, "spmv": 0.5}
CYCLES = "sm__cycles_elapsed.max"


class Page(CommandTest):
    @classmethod
    def setUpClass(cls):
        cls.window = browser.Browser()
        cls.addClassCleanup(cls.window.__exit__)
        cls.kernels = [made_up_card.kernel(SAMPLES / f"{n}.htrace", {CYCLES: f}) for n, f in FACTORS.items()]

    def open(self, content):
        folder = made_up_card.write(self.folder, content)
        page = self.folder / "page.html"
        traces = [SAMPLES / f"{name}.htrace" for name in FACTORS]
        done = heddle("correlate", "--hardware", folder, *traces, "-o", page)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.window.requests.clear()
        self.window.errors.clear()
        self.window.size(1440, 3000)
        self.window.open(page)
        self.window.wait(OPEN)

    def texts(self, selector):
        return self.window.value(f"[...document.querySelectorAll({json.dumps(selector)})].map(e => e.innerText)")

    def test_every_rung_is_drawn_and_has_a_table(self):
        content = made_up_card.visit(json.loads(json.dumps(self.kernels)))
        for launch in content["kernel"][1]["launch"]:
            launch["microseconds"] = [9]
        self.open(content)
        self.assertIn(made_up_card.MADE_UP, self.texts(".made-up")[0])
        data = self.window.value("window.heddleCorrelation.data")
        self.assertEqual(self.texts("main > section h2")[1:-2], [rung["title"] for rung in data["rungs"]])
        for rung in ("divergence", "coalescing", "caches", "time"):
            self.window.wait(f"document.querySelector('#rung-{rung} canvas') !== null")
        # The same numbers as a table, of the comparison that is chosen.
        self.window.value("document.querySelector('#rung-time .tools button').click()")
        rows = self.texts("#rung-time tbody tr")
        self.assertEqual(len(rows), 5)
        self.assertRegex(rows[0], r"^bfs\s.*\+25\.0\s+no$")
        self.assertRegex(rows[1], r"^mandelbrot\s.*±0\.00\s+–$", "short: no bar for it")
        self.window.value(
            "(() => { const s = document.querySelector('#rung-time select'); s.value = 'issue_slots';"
            " s.dispatchEvent(new Event('change')) })()"
        )
        self.window.wait("document.querySelector('#rung-time tbody tr').innerText.includes('±0.00')")
        # Kernels are marked with the lowest rung that is beyond its bar.
        kernels = self.texts("#kernels tbody tr")
        self.assertRegex(kernels[0], r"^spmv\s.*time$", "the worst first")
        self.assertRegex(kernels[4], r"^mandelbrot\s.*\(short\)")
        self.assertEqual((self.window.requests, self.window.errors), ([], []))

    def test_names_are_text_whatever_is_in_them(self):
        content = made_up_card.visit(json.loads(json.dumps(self.kernels)))
        content["card"]["name"] = "<img src=x onerror=alert(1)>"
        content["made_up"] = "</script><b>bold</b>"
        content["kernel"][0]["launch"][0]["kernel"] = "<svg onload=alert(2)>"
        self.open(content)
        self.assertIn("<img src=x onerror=alert(1)>", self.texts("h1")[0])
        self.assertIn("</script><b>bold</b>", self.texts(".made-up")[0])
        self.assertIn("<svg onload=alert(2)>", " ".join(self.texts("#kernels tbody tr")))
        self.assertEqual(self.window.value("document.querySelectorAll('main img, main svg, main b').length"), 0)
        self.assertEqual((self.window.requests, self.window.errors), ([], []))


if __name__ == "__main__":
    reason = browser.missing()
    if reason is not None:
        print(reason)
        sys.exit(77)
    main()
