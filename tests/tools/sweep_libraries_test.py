"""`heddle sweep` and `heddle reproduce` with policies of libraries: what runs them, and what results of theirs are."""
import csv
import hashlib
import io
import json
import os
import subprocess

from heddle_command import BUILD, SAMPLES, SOURCE, heddle, main
from sweep_command import SweepTest


class PolicyLibraries(SweepTest):
    """Sweeps with policies that are not of the tree."""

    SCHEDULER = """
#include "replay/seams/warp_scheduler.h"
namespace heddle::replay {
struct Chosen final : WarpScheduler {
  SlotId Pick(const SlotSet& eligible) const override { return %s; }
};
HEDDLE_WARP_SCHEDULER({.name = "chosen", .summary = "x", .source = "x"},
                      [](const SchedulerContext&, const Parameters&) { return std::make_unique<Chosen>(); });
}
"""
    PICKS = (
        "eligible.First()",
        "[&] { SlotId last = kNoSlot; eligible.ForEach([&](SlotId s) { last = s; }); return last; }()",
    )

    def setUp(self):
        super().setUp()
        self.chosen = self.folder / "lib" / "chosen.so"
        self.chosen.parent.mkdir()

    def compile(self, pick, more=""):
        """The scheduler, anew under the same name: the file, not what a program has loaded."""
        source = self.folder / "chosen.cc"
        source.write_text(self.SCHEDULER % pick + more)
        fresh = self.folder / "fresh.so"
        subprocess.run(
            [
                os.environ["CXX"],
                "-std=c++20",
                "-O0",
                "-fPIC",
                "-shared",
                f"-I{SOURCE}",
                f"-I{BUILD}",
                source,
                "-o",
                fresh,
            ],
            check=True,
        )
        fresh.replace(self.chosen)

    def planned(self, name="sweep"):
        spec = self.folder / "spec.textproto"
        spec.write_text(
            f'name: "mine" trace: "{SAMPLES}/bfs.htrace" machine: "baws_gtx480" scheduler: "gto" scheduler: "chosen"'
        )
        done = heddle("sweep", "plan", spec, "-o", self.folder / name, "--policy-library", self.chosen)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.folder / name

    def test_a_library_that_changed_gives_no_stale_results(self):
        keys, cycles = [], []
        for pick in self.PICKS:
            self.compile(pick)
            folder = self.planned()
            keys.append([point["key"] for point in self.points(folder)])
            self.assertIn(
                f"{1 + (pick == self.PICKS[0])} done", self.sweep("run", folder, "--policy-library", self.chosen)
            )
            rows = {row["scheduler"]: row for row in csv.DictReader(io.StringIO(self.sweep("collect", folder)))}
            run = json.loads(
                heddle(
                    "replay",
                    SAMPLES / "bfs.htrace",
                    "--machine",
                    "baws_gtx480",
                    "--scheduler",
                    "chosen",
                    "--policy-library",
                    self.chosen,
                    "--json",
                ).stdout
            )
            self.assertEqual(int(rows["chosen"]["cycles"]), run["total"]["cycles"])
            cycles.append(run["total"]["cycles"])
            digest = hashlib.sha256(self.chosen.read_bytes()).hexdigest()
            self.assertEqual(
                run["provenance"]["policy_library"], [{"name": "chosen.so", "digest": digest, "policy": ["chosen"]}]
            )
            result = json.loads(next(text for key, text in self.results(folder).items() if key == keys[-1][1]))
            self.assertEqual(result["provenance"]["policy_library"], run["provenance"]["policy_library"])
            self.assertEqual(
                result["provenance"]["model_version"], json.loads((folder / "plan.json").read_text())["model_version"]
            )
        self.assertEqual(keys[0][0], keys[1][0], "gto is the same")
        self.assertNotEqual(keys[0][1], keys[1][1])
        self.assertNotEqual(cycles[0], cycles[1])

    def test_the_plan_knows_its_libraries_and_tells_of_others(self):
        self.compile(self.PICKS[0])
        folder = self.planned()
        libraries = json.loads((folder / "plan.json").read_text())["policy_libraries"]
        self.assertEqual([one["path"] for one in libraries], ["../lib/chosen.so"])
        moved = self.folder / "moved.so"
        moved.write_bytes(self.chosen.read_bytes())
        self.compile(self.PICKS[1])
        self.assert_refused(
            2, "sweep", "run", folder, says=["plan.json", "chosen.so", "is another file by now", "plan again"]
        )
        self.assertIn("is another file by now", heddle("sweep", "status", folder).stderr)
        self.assert_refused(
            2, "sweep", "run", folder, "--policy-library", self.chosen, says=["was not planned with", "chosen.so"]
        )
        self.assertIn("2 done", self.sweep("run", folder, "--policy-library", moved), "the same library elsewhere")
        self.chosen.unlink()
        self.assert_refused(2, "sweep", "emit", folder, "--joblist", says=["is not there"])
        for command in (["status", folder], ["collect", folder]):
            self.assertEqual(heddle("sweep", *command, "--policy-library", moved).stderr, "")

    def test_code_that_a_plan_names_is_run_only_if_it_is_asked_for(self):
        mark = self.folder / "ran"
        self.compile(
            self.PICKS[0],
            "#include <cstdio>\n__attribute__((constructor)) static void Run() "
            f'{{ std::fclose(std::fopen("{mark}", "w")); }}\n',
        )
        folder = self.planned()
        self.assertTrue(mark.exists(), "plan was given the library")
        mark.unlink()
        for command in (
            ["status", folder],
            ["status", folder, "--json"],
            ["collect", folder],
            ["emit", folder, "--joblist", "-o", "-"],
            ["emit", folder, "--slurm"],
        ):
            done = heddle("sweep", *command)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertFalse(mark.exists(), command)
            self.assertEqual("the jobs run code that the plan names" in done.stderr, command[0] == "emit", command)
        self.assert_refused(
            2,
            "sweep",
            "run",
            folder,
            says=[f"the plan names code {self.chosen}; ", f"give --policy-library {self.chosen} if you trust it"],
        )
        self.assertFalse(mark.exists(), "refused, not run")
        self.assertIn("2 done", self.sweep("run", folder, "--policy-library", self.chosen))
        self.assertTrue(mark.exists())

    def test_a_library_that_is_no_file_is_not_waited_for(self):
        self.compile(self.PICKS[0])
        folder = self.planned()
        self.chosen.unlink()
        os.mkfifo(self.chosen)
        self.assertIn("is not there", heddle("sweep", "status", folder).stderr)
        self.assert_refused(2, "sweep", "emit", folder, "--joblist", says=["is not there"])

    def test_jobs_have_the_library(self):
        self.compile(self.PICKS[0])
        folder = self.planned()
        for engine in ("--slurm", "--snakemake", "--joblist"):
            text = self.sweep("emit", folder, engine, "-o", "-")
            self.assertIn(f"--policy-library {self.chosen}", text, engine)
        moved = self.folder / "moved.so"
        moved.write_bytes(self.chosen.read_bytes())
        done = heddle("sweep", "emit", folder, "--joblist", "-o", "-", "--policy-library", moved)
        self.assertEqual(done.stderr, "")
        self.assertIn(f"--policy-library {moved}", done.stdout)
        self.assertNotIn("chosen.so", done.stdout)
        (job,) = self.sweep("emit", folder, "--joblist", "-o", "-").splitlines()
        done = subprocess.run(job, shell=True, cwd="/", capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("2 done", done.stdout)

    def test_a_paper_may_name_policies_of_a_library(self):
        self.compile(self.PICKS[0])
        paper = self.folder / "ours.textproto"
        paper.write_text(
            """name: "ours" title: "Ours" comparison: "One sample."
kernel { name: "search" trace: "bfs" }
run { name: "gto" machine: "fermi_fixed" scheduler: "gto" }
run { name: "mine" like: "gto" scheduler: "chosen" }
claim { id: "same" where: "Section 1" statement: "Both run the same" kind: STRUCTURAL
  value: "of(search, thread_instructions@mine / thread_instructions@gto)" paper: 1 }
"""
        )
        arguments = ["reproduce", paper, "-o", self.folder / "out", "--traces", SAMPLES, "--recipes", self.folder]
        self.assertEqual(heddle(*arguments).returncode, 2)
        done = heddle(*arguments, "--policy-library", self.chosen)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("1 of 1 structural claims", done.stdout)
        plan = json.loads((self.folder / "out" / "ours" / "plan.json").read_text())
        self.assertEqual(len(plan["policy_libraries"]), 1)


if __name__ == "__main__":
    main()
