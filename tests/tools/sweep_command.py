"""What the tests of `heddle sweep` have in common."""
import json

from heddle_command import SAMPLES, CommandTest, heddle

SMALL = f"""
name: "small"
trace: "{SAMPLES}/bfs.htrace"
trace: "{SAMPLES}/nqueens.htrace"
divergence: "pdom" divergence: "dwf" divergence: "nrec"
scheduler: "lrr" scheduler: "gto"
parameter {{ name: "core.schedulers" value: "1" value: "2" }}
"""


class SweepTest(CommandTest):
    def plan(self, text, name="sweep", **options):
        spec = self.folder / "spec.textproto"
        spec.write_text(text)
        done = heddle("sweep", "plan", spec, "-o", self.folder / name, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.folder / name

    def sweep(self, *arguments, status=0, **options):
        done = heddle("sweep", *arguments, **options)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout

    def points(self, folder):
        return [json.loads(line) for line in (folder / "points.jsonl").read_text().splitlines()]

    def results(self, folder):
        return {p.stem: p.read_bytes() for p in folder.glob("results/*/*.json") if not p.name.startswith(".")}

    def refused(self, text, says):
        spec = self.folder / "spec.textproto"
        spec.write_text(text)
        self.assert_refused(2, "sweep", "plan", spec, "-o", self.folder / "sweep", says=says)
        self.assertFalse((self.folder / "sweep" / "plan.json").exists())
