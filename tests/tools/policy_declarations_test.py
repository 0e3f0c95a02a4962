"""What a policy declares is understood by every command: parameters of all types, counters and gauges of its own, and that
its runs have no scoreboard."""
import csv
import io
import json
import os
import subprocess

from heddle_command import BUILD, SAMPLES, SOURCE, heddle, main, results
from sweep_command import SweepTest

POLICY = """
#include <array>
#include "replay/seams/warp_scheduler.h"
namespace heddle::replay {
// The lowest or highest slot, by a word; a gauge of the resident blocks, and a count of issues.
class Declared final : public WarpScheduler {
 public:
  explicit Declared(const Parameters& parameters)
      : last_(parameters.Word("end") == "last"), every_(parameters.Integers("every").size()),
        share_(parameters.Fraction("share")) {}
  SlotId Pick(const SlotSet& eligible) const override {
    SlotId slot = eligible.First();
    if (last_) eligible.ForEach([&](SlotId one) { slot = one; });
    return slot;
  }
  void Issued(SlotId) override { ++counters_[0]; }
  void BlockAdmitted(BlockId, uint64_t) override {
    ++counters_[1];
    if (counters_[1] > counters_[2]) counters_[2] = counters_[1];
  }
  void BlockRetired(BlockId) override { --counters_[1]; }
  std::span<const uint64_t> counters() const override { return counters_; }

 private:
  const bool last_;
  const size_t every_;
  const double share_;
  std::array<uint64_t, 3> counters_{};
};
HEDDLE_WARP_SCHEDULER(
    (PolicyInfo{.name = "declared",
                .summary = "For a test",
                .source = "a test",
                .parameters = {{.name = "share",
                                .type = ParameterType::kFraction,
                                .default_value = "0.25",
                                .unit = "of the warps",
                                .lowest = "0",
                                .highest = "1",
                                .description = "x",
                                .source = "x"},
                               {.name = "end",
                                .type = ParameterType::kWord,
                                .default_value = "first",
                                .description = "x",
                                .source = "x"},
                               {.name = "every",
                                .type = ParameterType::kList,
                                .default_value = "1+2",
                                .minimum = 1,
                                .maximum = 9,
                                .list_of = ParameterType::kInteger,
                                .least_items = 1,
                                .most_items = 4,
                                .description = "x",
                                .source = "x"}},
                .counters = {{"picked", "issues", "issues"},
                             {"blocks_now", "blocks", "that are resident", CounterSpec::Combine::kSum,
                              CounterSpec::Kind::kGauge},
                             {"most_blocks", "blocks", "the most at once", CounterSpec::Combine::kMaximum}}}),
    [](const SchedulerContext&, const Parameters& parameters) { return std::make_unique<Declared>(parameters); });
}
"""
BFS = str(SAMPLES / "bfs.htrace")  # of several launches


class Declarations(SweepTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.compiled = None

    def declared_library(self):
        """The policy, compiled once for all tests."""
        if Declarations.compiled is None:
            source = self.folder / "declared.cc"
            source.write_text(POLICY)
            path = self.folder / "declared.so"
            command = [os.environ["CXX"], "-std=c++20", "-O0", "-fPIC", "-shared", f"-I{SOURCE}", f"-I{BUILD}"]
            subprocess.run([*command, source, "-o", path], check=True)
            Declarations.compiled = path.read_bytes()
        path = self.folder / "declared.so"
        path.write_bytes(Declarations.compiled)
        return path

    def replay(self, scheduler, *more):
        return results(BFS, "--policy-library", self.declared_library(), "--scheduler", scheduler, *more)

    def test_parameters_of_all_types_come_back_in_their_one_spelling(self):
        plain, given = self.replay("declared,declared:share=0.500,end=last,every=03+4+4")
        self.assertEqual(plain["scheduler"]["parameter"], {"share": "0.25", "end": "first", "every": "1+2"})
        self.assertEqual(given["scheduler"]["parameter"], {"share": "0.5", "end": "last", "every": "3+4+4"})
        self.assertNotEqual(plain["total"]["cycles"], given["total"]["cycles"])
        again = ",".join(f"{name}={value}" for name, value in given["scheduler"]["parameter"].items())
        self.assertEqual(self.replay(f"declared:{again}")[0]["scheduler"], given["scheduler"])
        for wrong, says in (
            ("share=1.5", "a decimal number from 0 to 1 with up to 9 decimal places (of the warps)"),
            ("share=1e-1", 'not "1e-1"'),
            ("end=a/b", "a word of up to 64 letters"),
            ("every=1+10", "each an integer from 1 to 9"),
            ("every=", "a list of 1 to 4 items"),
        ):
            self.assert_refused(
                2,
                "replay",
                BFS,
                "--policy-library",
                self.declared_library(),
                "--scheduler",
                f"declared:{wrong}",
                says=[says],
            )

    def test_policies_describes_them(self):
        text = heddle("policies", "declared", "--policy-library", self.declared_library()).stdout
        self.assertIn("share: 0 to 1 with decimal places of the warps; default 0.25", text)
        self.assertIn("every: a list of 1 to 4 items joined by '+', each an integer from 1 to 9; default 1+2", text)
        self.assertIn("sum, gauge", text)
        policy = json.loads(
            heddle("policies", "declared", "--policy-library", self.declared_library(), "--json").stdout
        )
        (policy,) = policy["scheduler"]
        share, end, every = policy["parameters"]
        self.assertEqual((share["type"], share["default"], share["maximum"]), ("fraction", "0.25", "1"))
        self.assertEqual((end["type"], end["default"]), ("word", "first"))
        self.assertEqual((every["type"], every["list_of"], every["most_items"]), ("list", "integer", 4))
        self.assertEqual([counter["kind"] for counter in policy["counters"]], ["count", "gauge", "count"])

    def test_sweeps_keep_them(self):
        spec = self.folder / "spec.textproto"
        spec.write_text(
            f'name: "typed" trace: "{BFS}" machine: "fermi_fixed" divergence: "pdom"\n'
            'scheduler: "declared:every=5+6" scheduler: "declared:share=0.125,end=last"\n'
        )
        folder = self.folder / "sweep"
        done = heddle("sweep", "plan", spec, "-o", folder, "--policy-library", self.declared_library())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.sweep("run", folder, "--policy-library", self.declared_library())
        rows = list(csv.DictReader(io.StringIO(self.sweep("collect", folder))))
        self.assertEqual(len(rows), 2)
        labels = {row["scheduler"] for row in rows}
        self.assertEqual(
            labels,
            {"declared:every=5+6", "declared:share=0.125,end=last"},
        )
        (run,) = self.replay("declared:every=5+6")
        (row,) = [row for row in rows if "5+6" in row["scheduler"]]
        launches = [launch["scheduler_counter"] for launch in run["launch"]]
        self.assertGreater(len(launches), 1)
        self.assertEqual(int(row["scheduler_counter.picked"]), sum(one["picked"] for one in launches))
        self.assertEqual(int(row["scheduler_counter.most_blocks"]), max(one["most_blocks"] for one in launches))

    def test_counters_and_gauges_are_shown(self):
        arguments = (
            BFS,
            "--policy-library",
            self.declared_library(),
            "--scheduler",
            "lrr,declared",
            "--divergence",
            "dws",
        )
        text = heddle("replay", *arguments, "--counters", "all").stdout
        self.assertIn("What policies count themselves", text)
        self.assertIn("most_blocks", text)
        runs = results(*arguments, "--bins", 200)
        picked = sum(launch["scheduler_counter"]["picked"] for launch in runs[1]["launch"])
        self.assertEqual(picked, runs[1]["total"]["warp_instructions"])
        text = heddle("replay", *arguments, "--counters", "picked").stdout
        self.assertRegex(text, rf"declared +{picked:,}\n")
        self.assertRegex(text, r"lrr +-\n")
        self.assert_refused(2, "replay", *arguments, "--counters", "piked", says=["piked", "picked"])
        self.assertEqual(runs[1]["scheduler"]["largest"], ["blocks_now", "most_blocks"])
        launch = runs[1]["launch"][0]
        series = {(one["seam"], one["name"]): one for one in launch["time_series"]["policy"]}
        self.assertEqual(sum(series["scheduler", "picked"]["value"]), launch["scheduler_counter"]["picked"])
        self.assertTrue(series["scheduler", "picked"]["adds_up"])
        gauge = series["scheduler", "blocks_now"]
        self.assertFalse(gauge["adds_up"])
        self.assertGreater(max(gauge["value"]), 0)
        self.assertEqual(gauge["value"][-1], 0, "all warps have ended")
        self.assertEqual(series["scheduler", "most_blocks"]["value"][-1], launch["scheduler_counter"]["most_blocks"])
        splits = series["divergence", "branch_subdivisions"]
        self.assertEqual(sum(splits["value"]), launch["divergence_counter"]["branch_subdivisions"])
        text = heddle("replay", *arguments, "--bins", 200, "--counters", "all").stdout
        self.assertRegex(text, r"blocks_now +\d+ +\|")
        self.assertRegex(text, r"picked per 1,000 cycles +[\d,.]+ +\|")

    def test_the_report_has_them_over_time(self):
        output = self.folder / "r.jsonl"
        done = heddle(
            "replay",
            BFS,
            "--policy-library",
            self.declared_library(),
            "--scheduler",
            "declared",
            "--bins",
            200,
            "--quiet",
            "-o",
            output,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        run = json.loads(output.read_text())
        (cell,) = json.loads(heddle("report", "--json", output).stdout)["cells"]
        launches = [launch["scheduler_counter"] for launch in run["launch"]]
        self.assertEqual(cell["counters"]["scheduler"]["picked"], sum(one["picked"] for one in launches))
        self.assertEqual(cell["counters"]["scheduler"]["most_blocks"], max(one["most_blocks"] for one in launches))
        courses = {name: (adds, values) for _, name, _, adds, values in cell["series"]["policy"]}
        self.assertEqual(sum(courses["picked"][1]), cell["counters"]["scheduler"]["picked"])
        self.assertFalse(courses["blocks_now"][0])
        self.assertEqual(max(courses["most_blocks"][1]), cell["counters"]["scheduler"]["most_blocks"])

    def test_runs_without_a_scoreboard_say_so_everywhere(self):
        arguments = (BFS, "--machine", "baws_gtx480", "--divergence", "pdom,dwf", "--set", "sms=2")
        pdom, dwf = results(*arguments)
        self.assertFalse(any("without_scoreboard" in launch for launch in pdom["launch"]))
        self.assertTrue(all(launch["without_scoreboard"] for launch in dwf["launch"]))
        notes = [note for note in dwf["note"] if "no scoreboard" in note]
        self.assertEqual(len(notes), 1)
        self.assertEqual([note for note in pdom["note"] if "no scoreboard" in note], [])
        table = heddle("replay", *arguments).stdout
        self.assertEqual(table.count(notes[0]), 1)
        output = self.folder / "r.jsonl"
        output.write_text(json.dumps(dwf) + "\n")
        self.assertIn(notes[0], json.loads(heddle("report", "--json", output).stdout)["notes"])
        (thesis,) = results(BFS, "--divergence", "dwf")
        self.assertFalse(any("without_scoreboard" in launch for launch in thesis["launch"]), "it has none for anybody")
        spec = self.folder / "spec.textproto"
        spec.write_text(
            f'name: "both" trace: "{BFS}" machine: "baws_gtx480" divergence: "pdom" divergence: "dwf" scheduler: "lrr"'
        )
        folder = self.folder / "sweep"
        self.assertEqual(heddle("sweep", "plan", spec, "-o", folder).returncode, 0)
        self.sweep("run", folder)
        rows = {row["divergence"][:4]: row for row in csv.DictReader(io.StringIO(self.sweep("collect", folder)))}
        self.assertEqual(rows["pdom"]["without_scoreboard"], "")
        self.assertEqual(rows["dwf"]["without_scoreboard"], rows["dwf"]["launches"])


if __name__ == "__main__":
    main()
