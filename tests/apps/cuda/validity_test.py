#!/usr/bin/env python3
"""Programs whose recordings cannot stand for every order of threads: certificates, lockstep, and what a replay does."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

BIN = pathlib.Path(os.environ["HEDDLE_BIN"])
SOURCES = pathlib.Path(__file__).resolve().parent / "validity"


class Validity(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.work = pathlib.Path(folder.name)

    def run_program(self, *command, status=0):
        done = subprocess.run([str(word) for word in command], cwd=self.work, capture_output=True, text=True, timeout=240,
                              check=False)
        self.assertEqual(done.returncode, status, f"{command}\n{done.stdout}{done.stderr}")
        return done

    def build(self, name):
        self.run_program(BIN / "heddle-nvcc", "-O1", SOURCES / f"{name}.cu", "-o", name)

    def capture(self, name, *options):
        trace = self.work / f"{name}{len(list(self.work.glob('*.htrace')))}.htrace"
        done = self.run_program(BIN / "heddle", "capture", "--quiet", *options, "-o", trace, "--", f"./{name}")
        self.run_program(BIN / "heddle", "trace", "check", trace)
        return trace, done

    def info(self, trace):
        return json.loads(self.run_program(BIN / "heddle", "trace", "info", "--json", trace).stdout)["launch"]

    def line(self, name, text):
        """Number of the one source line that holds the text."""
        lines = [i for i, line in enumerate((SOURCES / f"{name}.cu").read_text().splitlines(), 1) if text in line]
        self.assertEqual(len(lines), 1, text)
        return lines[0]

    def test_warp_synchronous_code_is_right_in_lockstep_and_told_without(self):
        self.build("warp_reduction")
        plain, done = self.capture("warp_reduction")
        self.assertEqual(done.stdout, "wrong\n")
        self.assertIn("--lockstep", done.stderr)
        self.assertIn(f"warp_reduction.cu:{self.line('warp_reduction', 's[t + 32]')}", done.stderr)
        together, done = self.capture("warp_reduction", "--lockstep")
        self.assertEqual(done.stdout, "right\n")
        self.assertNotIn("lockstep", done.stderr)
        again, _ = self.capture("warp_reduction", "--lockstep")
        self.assertEqual(together.read_bytes(), again.read_bytes())
        for trace in (plain, together):
            self.assertGreater(len(self.info(trace)[0]["certificate"]["hand_off"]), 0)
            refused = self.run_program(BIN / "heddle", "replay", trace, "--divergence", "dwf", status=1)
            self.assertIn("relies on the threads of a warp running in lockstep", refused.stderr)
            done = self.run_program(BIN / "heddle", "replay", trace, "--divergence", "pdom,dwf")
            self.assertIn("skipped dwf", done.stderr)
            self.assertNotIn("dwf", done.stdout)
            done = self.run_program(BIN / "heddle", "replay", trace, "--divergence", "pdom,dwf", "--force-regrouping")
            self.assertIn("dwf", done.stdout)
        self.assertIn("not recorded in lockstep",
                      self.run_program(BIN / "heddle", "replay", plain).stdout)

    def test_a_search_whose_frontiers_depend_on_the_order_is_flagged_where_it_does(self):
        self.build("racy_search")
        self.assertEqual(self.run_program("./racy_search").stdout, "all right\n")
        plain, _ = self.capture("racy_search")
        trace, done = self.capture("racy_search", "--certify", "3")
        self.assertEqual(done.stdout, "all right\n", "the program goes on with the recorded run's results")
        again, _ = self.capture("racy_search", "--certify", "3")
        self.assertEqual(trace.read_bytes(), again.read_bytes())
        self.run_program(BIN / "heddle", "trace", "diff", plain, trace)

        launches = self.info(trace)
        self.assertTrue(all(launch["certificate"]["runs"] == 3 for launch in launches))
        *search, scale = launches
        self.assertEqual(scale["certificate"].get("instruction", []), [], "the last kernel is unchanged")
        changed = [launch for launch in search if launch["certificate"].get("instruction")]
        self.assertGreater(len(changed), 2)
        text = self.run_program(BIN / "heddle", "trace", "info", trace).stdout
        self.assertIn(f"racy_search.cu:{self.line('racy_search', 'next[atomicAdd(next_size')}", text)
        self.assertNotIn(f"racy_search.cu:{self.line('racy_search', 'const int vertex =')}", text.split("changed")[-1])

        result = json.loads(self.run_program(BIN / "heddle", "replay", trace, "--json").stdout)
        notes = "\n".join(result["note"])
        self.assertIn("paths change under 3 other orders", notes)
        self.assertIn("certified unchanged under 3 other orders", notes)
        table = self.run_program(BIN / "heddle", "replay", trace).stdout
        self.assertIn("paths change under 3 other orders", table)
        self.assertIn("not certified", self.run_program(BIN / "heddle", "replay", plain).stdout)


if __name__ == "__main__":
    unittest.main()
