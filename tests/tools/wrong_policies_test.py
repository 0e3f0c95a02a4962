"""Policies of whoever wrote them: what a run says of one that is wrong, and what becomes of the other runs."""
import json
import os
import pathlib
import signal
import subprocess
import tempfile

from heddle_command import BUILD, SAMPLE, SAMPLES, SOURCE, CommandTest, heddle, main

WRONG = SOURCE / "tests" / "tools" / "wrong_policies"
CRASHES = (signal.SIGSEGV, signal.SIGFPE)


def compile_library(path, *arguments, before=()):
    """A shared library, compiled as docs/how-to/new-policy.md says, with folders of headers before those of the tree."""
    includes = [f"-I{folder}" for folder in (*before, SOURCE, BUILD)]
    subprocess.run(
        [os.environ["CXX"], "-std=c++20", "-O0", "-fPIC", "-shared", *includes, *map(str, arguments), "-o", str(path)],
        check=True,
    )
    return path


class WrongPolicies(CommandTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.policies = compile_library(
            pathlib.Path(folder.name) / "wrong.so", WRONG / "schedulers.cc", WRONG / "divergence.cc"
        )

    def replay(self, *arguments):
        return heddle("replay", SAMPLE, "--policy-library", self.policies, "--set", "sms=1", *arguments)

    def assert_says(self, says, *arguments, status=1):
        """The run ends with `status` and one message that has all of `says`."""
        done = self.replay(*arguments, "-o", self.folder / "out.jsonl")
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(sum(line.startswith("heddle: ") for line in done.stderr.splitlines()), 1, done.stderr)
        for words in [says] if isinstance(says, str) else says:
            self.assertIn(words, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assert_folder_has()
        return done.stderr

    def test_schedulers(self):
        for name, says in {
            "not_eligible": ["the scheduler of port 0 picked slot", "which is not eligible, in cycle 1"],
            "counters": "scheduler 'wrong_counters' declares 2 counters, but has 1",
            "never": [
                "deadlock under scheduler 'wrong_never' on SM 0",
                "are ready, but are not issued",
                "the scheduler lets none of the warps that are ready issue",
            ],
            "throws": [
                "an exception in Pick of scheduler 'wrong_throws' on SM 0 in cycle 1",
                "of a type that has no text",
            ],
            "throws_text": [
                "an exception in Pick of scheduler 'wrong_throws_text' on SM 0 in cycle 1",
                ": no such thing",
            ],
            "parameter": 'policy wrong_parameter asks for parameter "depht", which it did not declare',
            "type": 'parameter "depth" is not declared as a bool',
            "nothing": "the factory of policy wrong_nothing returned null",
        }.items():
            with self.subTest(name):
                said = self.assert_says(says, "--scheduler", f"wrong_{name}")
                self.assertRegex(said, rf"^heddle: launch 1 \(bfs_level.*\) under pdom and wrong_{name}: ")
                self.assertNotIn("divergence policy 'pdom'", said, "which has nothing to do with it")

    def test_schedulers_on_machines_with_instruction_buffers(self):
        for name, says in {
            "never": "deadlock under scheduler 'wrong_never'",
            "throws": "an exception in Pick of scheduler",
            "not_eligible": "which is not eligible",
        }.items():
            with self.subTest(name):
                self.assert_says(says, "--machine", "baws_gtx480", "--scheduler", f"wrong_{name}")
        self.assert_says(
            "an exception in Pick of fetch policy 'wrong_fetch' on SM 0 in cycle 0: which warp?",
            "--machine",
            "baws_gtx480",
            "--fetch",
            "wrong_fetch",
        )

    def test_crashes_name_run_call_and_cycle_and_leave_nothing(self):
        for arguments, sent, call in (
            (["--scheduler", "wrong_address"], signal.SIGSEGV, "Pick of scheduler 'wrong_address' on SM 0"),
            (["--scheduler", "wrong_division"], signal.SIGFPE, "Pick of scheduler 'wrong_division' on SM 0"),
            (
                ["--divergence", "reads_anywhere"],
                signal.SIGSEGV,
                "Resolve of divergence policy 'reads_anywhere' on SM 0",
            ),
            (["--dispatch", "wrong_dispatch"], signal.SIGFPE, "Next of dispatcher 'wrong_dispatch'"),
        ):
            with self.subTest(call):
                said = self.assert_says(f"crashed in {call}", *arguments, status=-sent)
                self.assertRegex(
                    said,
                    r"^heddle: launch 1 \(bfs_level.*\) under \S+ and \S+(, dispatch \S+)?: crashed in "
                    r".* in cycle \d+ \(.*\); nothing was written\n$",
                )

    def test_divergence_policies(self):
        for name, says in {
            "loses_all": ["policy deadlock under divergence policy 'loses_all' on SM 0", "are held back by the policy"],
            "loses_others": ["deadlock under divergence policy 'loses_others'", "are held back by the policy"],
            "continues_diverged": ["internal error: divergence policy 'continues_diverged': Continue of slot"],
            "refuses_for_ever": [
                "deadlock under divergence policy 'refuses_for_ever'",
                "the policy refuses the write-back of slot",
            ],
            "does_nothing": [
                "divergence policy 'does_nothing': Resolve of slot",
                "was neither continued, placed, parked nor dissolved",
            ],
            "wrong_lane": ["divergence policy 'wrong_lane': Place of slot", "not in its home lane"],
            "past_timer": ["divergence policy 'past_timer': StartTimer in cycle", "is over"],
            "meets_limit": [
                "divergence policy 'meets_limit' met a limit in cycle",
                "the table of paths has 4 entries, 5 are needed",
            ],
            "parks": ["divergence policy 'parks'"],
            "dissolves_in_flight": ["divergence policy 'dissolves_in_flight': Dissolve of slot"],
            "splits_all": ["divergence policy 'splits_all': Split of slot"],
            "refuses_issues": ["deadlock under divergence policy 'refuses_issues'", "are ready, but are not issued"],
            "no_such_port": ["divergence policy 'no_such_port': SetPort"],
        }.items():
            with self.subTest(name):
                self.assert_says(says, "--divergence", name)

    def test_the_runs_of_other_policies_are_kept(self):
        done = self.replay("--scheduler", "lrr,wrong_throws,gto", "-o", self.folder / "out.jsonl", "--jobs", 2)
        self.assertEqual(done.returncode, 1, done.stderr)
        lines = done.stderr.splitlines()
        self.assertIn("an exception in Pick of scheduler 'wrong_throws'", lines[0])
        self.assertEqual(lines[-1], f"heddle: 2 of 3 runs are in {self.folder / 'out.jsonl'}")
        kept = [json.loads(line) for line in (self.folder / "out.jsonl").read_text().splitlines()]
        alone = heddle("replay", SAMPLE, "--set", "sms=1", "--scheduler", "lrr,gto", "--json")
        self.assertEqual(kept, [json.loads(line) for line in alone.stdout.splitlines()])
        self.assertIn("gto", done.stdout, "the table has them, too")

    def test_results_name_the_library(self):
        out = self.folder / "out.jsonl"
        done = self.replay("--scheduler", "lrr,wrong_counters,wrong_never", "-o", out)
        (run,) = (json.loads(line) for line in out.read_text().splitlines())
        self.assertEqual(done.returncode, 1)
        self.assertEqual(run["provenance"]["policy_library"], [], "no policy of it takes part")


class Declarations(CommandTest):
    def test_what_cannot_be_used_is_refused_at_load(self):
        library = self.folder / "one.so"
        file = WRONG / "declaration.cc"
        # One function more in front of all others, in the headers of a tree whose build folder knows nothing of it.
        newer = self.folder / "newer"
        header = newer / "replay" / "seams" / "warp_scheduler.h"
        header.parent.mkdir(parents=True)
        text = (SOURCE / "replay" / "seams" / "warp_scheduler.h").read_text()
        more = text.replace(
            "  virtual ~WarpScheduler() = default;\n",
            "  virtual ~WarpScheduler() = default;\n  virtual int More() const { return 0; }\n",
        )
        self.assertNotEqual(text, more)
        header.write_text(more)
        # The build folder of another version.
        other = self.folder / "other"
        digest = other / "replay" / "seams" / "seam_digest.h"
        digest.parent.mkdir(parents=True)
        digest.write_text('#define HEDDLE_SEAM_DIGEST "0123456789abcdef"\n')
        for name, default, before, says in (
            ("one", "1", [newer], "scheduler policies were compiled with other headers than this program"),
            ("one", "1", [other], "scheduler policies were compiled with other headers than this program"),
            ("one", "77", [], 'one: parameter n is an integer from 1 to 9, not "77", its default'),
            ("gto", "1", [], 'two files register the policy name "gto"'),
            ("O:ne", "1", [], "is no name for a policy"),
        ):
            compile_library(library, f'-DPOLICY_NAME="{name}"', f'-DPOLICY_DEFAULT="{default}"', file, before=before)
            for command in (["replay", SAMPLE, "--scheduler", "one"], ["policies"]):
                self.assert_refused(
                    2, *command, "--policy-library", library, says=[f"--policy-library {library}: ", says]
                )


class Interrupted(CommandTest):
    def test_what_is_complete_is_written(self):
        quick, slow = SAMPLES / "nqueens.htrace", SAMPLES / "bfs.htrace"
        arguments = ["--set", "sms=1", "--set", "memory.fixed.global_cycles=100000"]
        out = self.folder / "out.jsonl"
        traces = [quick] + [slow] * 400
        for wait in (0.5, 1, 2, 4, 8, 16):
            with subprocess.Popen(
                [os.environ["HEDDLE"], "replay", *map(str, traces), *arguments, "-o", str(out)],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            ) as run:
                try:
                    run.wait(wait)
                except subprocess.TimeoutExpired:
                    run.send_signal(signal.SIGINT)
                output, errors = run.communicate()
            if run.returncode == 0:
                self.fail("the runs were too quick to be interrupted: give the test more traces")
            self.assertEqual(run.returncode, 130, errors)
            if out.exists():
                break
            self.assertIn("interrupted; nothing was written", errors)
            self.assert_folder_has()
        kept = [json.loads(line) for line in out.read_text().splitlines()]
        self.assertEqual(errors.splitlines()[-1], f"heddle: interrupted; {len(kept)} of 401 runs are in {out}")
        self.assertLess(len(kept), 401)
        first = json.loads(heddle("replay", quick, *arguments, "--json").stdout)
        self.assertEqual(kept[0], first)
        self.assertIn("Kernel", output, "the table of what is complete")
        self.assert_folder_has("out.jsonl")


class Damaged(CommandTest):
    def test_a_damaged_trace_leaves_the_results_of_the_others(self):
        good = SAMPLES / "nqueens.htrace"
        whole = bytearray(pathlib.Path(SAMPLE).read_bytes())
        expected = heddle("replay", good, SAMPLES / "spmv.htrace", "--json").stdout
        # Damage that is found when the file is opened, and when a part of it is read.
        for name, at in (("index", len(whole) - 40), ("paths", len(whole) // 3)):
            bad = self.folder / f"{name}.htrace"
            changed = bytearray(whole)
            changed[at] ^= 0x55
            bad.write_bytes(changed)
            self.assertEqual(heddle("replay", bad).returncode, 1, "this byte matters")
            done = heddle("replay", good, bad, SAMPLES / "spmv.htrace", "--json")
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stdout, expected)
            self.assertIn(f"heddle: {bad}", done.stderr)
            self.assertRegex(done.stderr.splitlines()[-1], r"^heddle: 2 of [23] runs are on standard output$")
        self.assert_refused(2, "replay", good, self.folder / "none.htrace", says=["none.htrace", "No such file"])


if __name__ == "__main__":
    main()
