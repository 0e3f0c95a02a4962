"""The policies that README and docs/explanation/seams.md show as examples compile, register themselves and work."""
import json
import os
import subprocess

from heddle_command import SAMPLES, CommandTest, main

# `heddle` with the examples linked in, made by CMakeLists.txt.
EXTENDED = os.environ["HEDDLE_WITH_DOCUMENTED_POLICIES"]


class DocumentedPolicies(CommandTest):
    def run_extended(self, *arguments):
        done = subprocess.run([EXTENDED, *map(str, arguments)], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def replay(self, sample, *arguments):
        return [
            json.loads(line)
            for line in self.run_extended("replay", sample, *arguments, "--json", "--quiet").splitlines()
        ]

    def test_they_are_listed(self):
        policies = json.loads(self.run_extended("policies", "--json"))
        for name in ("widest", "youngest", "in_step"):
            self.assertIn(name, [p["name"] for p in policies["scheduler"]])
        self.assertIn("meet", [p["name"] for p in policies["divergence"]])
        self.assertIn("in_step", [p["name"] for p in policies["fetch"]])
        self.assertIn("most_threads", self.run_extended("policies", "meet"))

    def test_they_replay_every_sample_completely(self):
        for sample in sorted(SAMPLES.glob("*.htrace")):
            runs = self.replay(
                sample, "--divergence", "pdom,meet,meet:most_threads=1", "--scheduler", "lrr,widest,youngest"
            )
            self.assertEqual(len(runs), 9)
            self.assertEqual(len({run["total"]["thread_instructions"] for run in runs}), 1)

    def test_meeting_joins_threads_that_nrec_leaves_apart(self):
        # One SM, so that warps wait for each other at the port and can meet there.
        nrec, meet, alone = self.replay(
            SAMPLES / "nqueens.htrace", "--divergence", "nrec,meet,meet:most_threads=1", "--set", "sms=1"
        )
        self.assertGreater(meet["total"]["lane_activity"], nrec["total"]["lane_activity"])
        self.assertEqual(alone["total"]["warp_instructions"], nrec["total"]["warp_instructions"])
        self.assertGreater(sum(launch["divergence_counter"]["joins"] for launch in meet["launch"]), 0)

    def test_a_scheduler_hears_of_its_fetch_policy(self):
        runs = self.replay(
            SAMPLES / "bfs.htrace",
            "--machine",
            "baws_gtx480",
            "--set",
            "sms=1",
            "--scheduler",
            "in_step",
            "--fetch",
            "round_robin,in_step",
        )
        alone, together = runs
        self.assertEqual(alone["total"]["thread_instructions"], together["total"]["thread_instructions"])
        self.assertNotEqual(alone["total"]["cycles"], together["total"]["cycles"])


if __name__ == "__main__":
    main()
