"""Campaigns: an interrupted one goes on where it was, results are recorded, and those of other sources are not mixed in."""
import io
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

from heddle_command import SOURCE, CommandTest, main

sys.path.insert(0, str(SOURCE / "tools"))
from campaign_runner import Campaign, Part, Runner  # noqa: E402  pylint: disable=wrong-import-position
from campaigns import campaigns  # noqa: E402  pylint: disable=wrong-import-position


class Campaigns(CommandTest):
    def setUp(self):
        super().setUp()
        self.source = self.folder / "source"
        self.source.mkdir()
        for words in (("init", "-q"), ("config", "user.name", "n"), ("config", "user.email", "e")):
            self.git(*words)
        (self.source / "code.cc").write_text("int one;\n")
        (self.source / ".gitignore").write_text("/build/\n")
        self.git("add", ".")
        self.git("commit", "-qm", "one")
        self.calls = self.folder / "calls"
        self.runner = Runner(
            self.source, self.source / "build" / "campaigns", self.source / "tests" / "campaigns.json", "1.2.3"
        )

    def git(self, *words):
        subprocess.run(["git", *words], cwd=self.source, check=True)

    def campaign(self, *scripts):
        """Parts 0, 1, ... that note in a file that they ran; each ends with its script."""
        parts = [
            Part(
                f"part {n}",
                ["sh", "-c", f"echo {n} >> {self.calls}; {script}"],
                {},
                {"programs": 10},
                {"inputs": r"inputs: (\d+)"},
            )
            for n, script in enumerate(scripts)
        ]
        return Campaign("some", "a campaign", [["true"]], lambda: parts)

    def run_it(self, campaign, **options):
        out = io.StringIO()
        return self.runner.run(campaign, out=out, **options), out.getvalue()

    def record(self):
        return json.loads((self.source / "tests" / "campaigns.json").read_text())["some"]

    def ran(self):
        return self.calls.read_text().split() if self.calls.exists() else []

    def test_a_whole_campaign_is_recorded_with_what_it_ran(self):
        status, text = self.run_it(self.campaign("echo inputs: 5", "echo inputs: 7"))
        self.assertEqual(status, 0)
        self.assertIn("passed: 2 of 2 parts, 12 inputs, 20 programs", text)
        last = self.record()["last"]
        self.assertEqual((last["result"], last["complete"], last["version"]), ("passed", True, "1.2.3"))
        self.assertEqual(last["amount"], {"inputs": 12, "programs": 20})
        self.assertRegex(last["commit"], r"^[0-9a-f]{10}$")
        self.run_it(self.campaign("true", "true"))  # nothing is left to go on with
        self.assertEqual(self.ran(), ["0", "1", "0", "1"])

    def test_one_that_ran_out_of_time_goes_on_where_it_was(self):
        campaign = self.campaign("sleep 0.2", "true", "true")
        status, _ = self.run_it(campaign, minutes=0.001)
        self.assertEqual((status, self.ran()), (3, ["0"]))
        self.assertEqual(
            (self.record()["last"]["result"], self.record()["last"]["parts"]), ("nothing failed so far", 1)
        )
        status, text = self.run_it(campaign)
        self.assertEqual((status, self.ran()), (0, ["0", "1", "2"]))
        self.assertIn("Goes on after 1 of 3 parts", text)
        self.assertEqual(self.record()["last"]["amount"]["programs"], 30)

    def test_the_last_whole_result_is_kept_beside_a_part_of_a_later_one(self):
        self.run_it(self.campaign("true"))
        (self.source / "code.cc").write_text("int two;\n")
        self.run_it(self.campaign("sleep 0.2", "true"), minutes=0.001)
        self.assertFalse(self.record()["last"]["complete"])
        self.assertIn("1 files changed", self.record()["last"]["commit"])
        self.assertTrue(self.record()["last_complete"]["complete"])

    def test_other_sources_begin_anew_and_documents_do_not(self):
        campaign = self.campaign("sleep 0.2", "true")
        self.run_it(campaign, minutes=0.001)
        (self.source / "page.md").write_text("Words.\n")
        self.git("add", ".")
        self.git("commit", "-qm", "a page")
        self.run_it(campaign, minutes=0.001)
        self.assertEqual(self.ran(), ["0", "1"])
        self.run_it(campaign, minutes=0.001)
        (self.source / "code.cc").write_text("int two;\n")
        status, text = self.run_it(campaign)
        self.assertEqual((status, self.ran()), (0, ["0", "1", "0", "0", "1"]))
        self.assertIn("begins anew", text)

    def test_a_part_that_fails_is_named_and_the_others_run(self):
        status, text = self.run_it(self.campaign("false", "true"))
        self.assertEqual((status, self.ran()), (1, ["0", "1"]))
        self.assertIn("FAILED  part 0", text)
        self.assertEqual((self.record()["last"]["result"], self.record()["last"]["failed"]), ("failed", ["part 0"]))

    def test_a_build_that_fails_says_nothing_of_the_campaign(self):
        status, _ = self.run_it(Campaign("some", "", [["false"]], lambda: []))
        self.assertEqual(status, 1)
        self.assertFalse((self.source / "tests" / "campaigns.json").exists())

    def test_a_signal_ends_the_part_with_all_that_it_started(self):
        campaign = self.campaign("true", f"sleep 60 & echo $! > {self.folder}/pid; wait", "true")
        child = os.fork()
        if child == 0:
            os._exit(self.run_it(campaign)[0])
        while not (self.folder / "pid").exists() or not (self.folder / "pid").read_text().strip():
            time.sleep(0.02)
        os.kill(child, signal.SIGTERM)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 3)
        sleeper = pathlib.Path("/proc") / (self.folder / "pid").read_text().strip() / "stat"
        for _ in range(250):  # it may still be a zombie
            if not sleeper.exists() or sleeper.read_text().split(") ")[1][0] == "Z":
                break
            time.sleep(0.02)
        else:
            self.fail("what the part started is still there")
        self.assertEqual(self.record()["last"]["parts"], 1)
        self.assertEqual(self.ran(), ["0", "1"])
        second = self.campaign("true", "true", "true")
        self.assertEqual(self.run_it(second)[0], 0)
        self.assertEqual(self.ran(), ["0", "1", "1", "2"])

    def test_the_project_s_campaigns_and_their_record(self):
        if not (SOURCE / ".git").exists():
            self.skipTest("not in a clone")
        known = campaigns(SOURCE, pathlib.Path("build/release"))
        for name in ("rules", "liveness", "engines", "models", "tidy", "mutants", "fuzz", "package"):
            parts = known[name].parts()
            self.assertGreaterEqual(len(parts), 1, name)
            self.assertEqual(len({part.name for part in parts}), len(parts), name)
        record = SOURCE / "tests" / "campaigns.json"
        for name, one in json.loads(record.read_text()).items():
            self.assertIn(name, known)
            self.assertIn(one["last"]["result"], ("passed", "failed", "nothing failed so far"))
        listed = subprocess.run([SOURCE / "tools" / "campaign", "list"], capture_output=True, text=True, check=False)
        self.assertEqual((listed.returncode, listed.stderr), (0, ""))
        for name in known:
            self.assertIn(f"\n{name}: ", "\n" + listed.stdout)
        wrong = subprocess.run(
            [SOURCE / "tools" / "campaign", "run", "no"], capture_output=True, text=True, check=False
        )
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("there is no no", wrong.stderr)


if __name__ == "__main__":
    main()
