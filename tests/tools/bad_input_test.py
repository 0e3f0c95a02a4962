"""Wrong names, broken traces, full disks and interrupted runs: one clear line, the right status, nothing half-written."""
import os
import pathlib
import random
import re
import resource
import signal
import subprocess
import time

from heddle_command import HEDDLE, SAMPLE, CommandTest, heddle, main


class WrongNames(CommandTest):
    def test_unknown_policies(self):
        self.assert_refused(
            2,
            "replay",
            SAMPLE,
            "--divergence",
            "pdon",
            says=["--divergence", '"pdon"', 'did you mean "pdom"?', "nrec", "mimd"],
        )
        self.assert_refused(2, "replay", SAMPLE, "--scheduler", "lrr,gt", says=["--scheduler", '"gt"', '"gto"', "fifo"])
        self.assert_refused(2, "replay", SAMPLE, "--dispatch", "blocks", says=["--dispatch", "thread_blocks"])
        self.assert_refused(2, "replay", SAMPLE, "--divergence", "gto", says=["gto is for --scheduler"])

    def test_unknown_and_wrong_parameters(self):
        self.assert_refused(2, "replay", SAMPLE, "--divergence", "dwf:lane_awre=true", says=["lane_awre", "lane_aware"])
        self.assert_refused(2, "replay", SAMPLE, "--divergence", "dwf:lane_aware=2", says=["lane_aware", '"2"'])
        self.assert_refused(2, "replay", SAMPLE, "--divergence", "dwf:lane_aware", says=["lane_aware", "key=value"])
        self.assert_refused(2, "replay", SAMPLE, "--divergence", "pdom,history=1", says=["pdom:history=1"])
        self.assert_refused(2, "replay", SAMPLE, "--divergence", "pdom,pdom", says=["given twice"])

    def test_a_pair_that_does_not_go_together(self):
        self.assert_refused(2, "replay", SAMPLE, "--divergence", "pdom", "--scheduler", "dmaj", says=["dmaj", "pdom"])

    def test_unknown_machines_and_fields(self):
        self.assert_refused(
            2, "replay", SAMPLE, "--machine", "fermi_fixd", says=['"fermi_fixd"', 'did you mean "fermi_fixed"?', "toy"]
        )
        self.assert_refused(
            2, "replay", SAMPLE, "--machine", "no/such.textproto", says=["no/such.textproto", "No such file"]
        )
        self.assert_refused(
            2, "replay", SAMPLE, "--set", "core.schedulres=2", says=["core.schedulres", '"schedulers"', "warp_size"]
        )
        self.assert_refused(2, "replay", SAMPLE, "--set", "core.schedulers=9", says=["core.schedulers = 9", "1 to 4"])
        self.assert_refused(2, "replay", SAMPLE, "--set", "core.schedulers", says=["path=value"])

    def test_a_machine_file_with_an_error_gives_the_line(self):
        machine = self.folder / "mine.textproto"
        machine.write_text('name: "mine"\nsms: 1\ncore { warps: 3 }\n')
        self.assert_refused(2, "replay", SAMPLE, "--machine", machine, says=[f"{machine}: line 3", '"warps"'])

    def test_kernels(self):
        self.assert_refused(2, "replay", SAMPLE, "--kernels", "nothing_like_it", says=["nothing_like_it", "bfs_level"])
        self.assert_refused(2, "replay", SAMPLE, "--kernels", "bfs[", says=["bfs[", "regular expression"])
        # Whatever the expression, the answer comes at once.
        self.assert_refused(2, "replay", SAMPLE, "--kernels", "(.*)*(.*)*(.*)*x$", says=["matches none"])
        self.assert_refused(2, "replay", SAMPLE, "--kernels", "(" * 100_000, says=["regular expression"])


class BadTraces(CommandTest):
    COMMANDS = (["trace", "info"], ["trace", "check"], ["replay"])

    def setUp(self):
        super().setUp()
        self.bytes = pathlib.Path(SAMPLE).read_bytes()
        self.file = self.folder / "bad.htrace"

    def assert_all_refuse(self, status, says):
        for command in self.COMMANDS:
            self.assert_refused(status, *command, self.file, says=says)

    def test_a_missing_file_names_the_nearest_one(self):
        (self.folder / "bfs.htrace").write_bytes(self.bytes)
        missing = self.folder / "bsf.htrace"
        for command in self.COMMANDS:
            self.assert_refused(2, *command, missing, says=[str(missing), "No such file", "bfs.htrace"])
        dangling = self.folder / "dangling.htrace"
        dangling.symlink_to("nowhere.htrace")
        self.assertNotIn("did you mean", self.assert_refused(2, "replay", dangling))

    def test_a_folder_and_an_unreadable_file(self):
        self.assert_refused(2, "replay", self.folder, says=["is a folder"])
        self.file.write_bytes(self.bytes)
        self.file.chmod(0)
        if not os.access(self.file, os.R_OK):  # root may read everything
            self.assert_all_refuse(2, ["Permission denied"])

    def test_an_empty_file_and_other_files(self):
        for contents in (b"", b"x", b"not a trace\n" * 1000, b"\x28\xb5\x2f\xfd"):
            self.file.write_bytes(contents)
            self.assert_all_refuse(1, [str(self.file)])

    def test_files_of_other_kinds_are_recognised(self):
        heddle("replay", SAMPLE, "--quiet", "-o", self.file)
        self.assert_all_refuse(1, [f"{self.file}: is a result of `heddle replay`, not a trace", "heddle report"])
        self.file.write_bytes(pathlib.Path(HEDDLE).read_bytes()[:10_000])
        self.assert_all_refuse(1, [f"{self.file}: is a program, not a trace", "heddle capture"])
        self.file.write_text("-kernel name = k\n")
        self.assert_all_refuse(1, [f"{self.file}: is a trace of Accel-Sim", "heddle trace import"])
        self.assert_refused(
            1,
            "report",
            SAMPLE,
            "-o",
            self.folder / "page.html",
            says=[f"{SAMPLE}: is a trace, not a result", f"heddle replay {SAMPLE} -o "],
        )

    def test_a_truncated_file(self):
        for kept in (1, 100, len(self.bytes) // 2, len(self.bytes) - 1):
            self.file.write_bytes(self.bytes[:kept])
            self.assert_all_refuse(1, [str(self.file)])

    def test_no_flipped_bit_changes_what_is_read(self):
        # Zstandard ignores a bit here and there; then the contents are the same, which `check` proves by their digest.
        choose = random.Random(1)
        accepted = 0
        for _ in range(100):
            position = choose.randrange(len(self.bytes))
            changed = bytearray(self.bytes)
            changed[position] ^= 1 << choose.randrange(8)
            self.file.write_bytes(changed)
            done = heddle("trace", "check", self.file)
            if done.returncode == 0:
                accepted += 1
                continue
            self.assertEqual(done.returncode, 1, f"byte {position}: {done.stdout}")
            self.assertIn(str(self.file), done.stderr + done.stdout)
        self.assertLess(accepted, 5)

    def test_a_damaged_frame_is_told_once(self):
        changed = bytearray(self.bytes)
        changed[len(changed) // 2] ^= 1
        self.file.write_bytes(changed)
        done = heddle("trace", "check", self.file)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertEqual(done.stdout.count("the bytes are damaged"), 1, done.stdout)
        self.assertIn("error: chunk: launch ", done.stdout)

    def test_bytes_behind_the_end(self):
        self.file.write_bytes(self.bytes + b"more")
        self.assert_all_refuse(1, [str(self.file)])


class FailedRuns(CommandTest):
    def test_max_cycles_ends_a_run_with_an_error(self):
        line = self.assert_refused(1, "replay", SAMPLE, "--max-cycles", "3", "-o", self.folder / "r.json")
        self.assertIn("3", line)
        self.assert_folder_has()

    def test_a_hang_is_reported_line_by_line(self):
        # Buffers of the network that take half of two messages, and a cache that sends everything through them.
        done = heddle(
            "replay",
            SAMPLE,
            "--machine",
            "baws_gtx480",
            "--set",
            "memory.hierarchy.l1_data.sets=1",
            "--set",
            "memory.hierarchy.network.no_message_reservation=true",
        )
        self.assertEqual(done.returncode, 1, done.stderr)
        first, *lines = done.stderr.splitlines()
        self.assertRegex(first, r"^heddle: launch \d+ \(bfs_level.*thread blocks are left$")
        sm = re.match(r"  deadlock under divergence policy 'pdom' on SM (\d+) in cycle ", lines[0])
        self.assertTrue(sm, lines)
        for beginning in (f"  memory of SM {sm[1]}: ", "  network to the SMs: "):
            self.assertTrue(any(line.startswith(beginning) for line in lines), (beginning, lines))

    def test_a_block_that_does_not_fit(self):
        self.assert_refused(
            1,
            "replay",
            SAMPLE,
            "--set",
            "core.max_threads=32",
            "-o",
            self.folder / "r.json",
            says=["bfs_level", "does not fit", "threads", "`--set core.max_threads=128`"],
        )
        self.assert_folder_has()

    def test_a_table_of_a_policy_that_is_too_small(self):
        for divergence, says in (
            ("pdom:stack_depth=1", ["stack", "stack_depth is 1", "64 are always enough"]),
            ("harp:second_level=1", ["Second-Level", "second_level is 1", "make it larger"]),
        ):
            line = self.assert_refused(
                1,
                "replay",
                SAMPLE,
                "--machine",
                "harp_fermi",
                "--divergence",
                divergence,
                "-o",
                self.folder / "r.json",
                says=["bfs_level", "met a limit in cycle", *says],
            )
            self.assertNotIn("internal error", line)
            self.assert_folder_has()

    def test_a_full_disk_leaves_nothing(self):
        self.assert_refused(1, "replay", SAMPLE, "-o", "/dev/full", says=["/dev/full", "No space left on device"])

        # A limit on the file size stands for the disk: the write ends in the middle of the file.
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

        target = self.folder / "r.json"
        target.write_text("old")
        self.assert_refused(
            1, "replay", SAMPLE, "-o", target, says=[str(target), "nothing was written"], preexec_fn=limit
        )
        self.assertEqual(target.read_text(), "old")
        self.assert_folder_has("r.json")

    def test_output_that_cannot_be(self):
        self.assert_refused(2, "replay", SAMPLE, "-o", self.folder, says=["is a folder"])
        self.assert_refused(
            1, "replay", SAMPLE, "-o", self.folder / "no" / "r.json", says=["No such file or directory"]
        )
        self.assert_folder_has()

    def test_results_never_replace_the_trace(self):
        copy = self.folder / "copy.htrace"
        copy.write_bytes(pathlib.Path(SAMPLE).read_bytes())
        (self.folder / "link").symlink_to(copy)
        for option in ("-o", "--draw", "--timeline"):
            self.assert_refused(2, "replay", copy, option, self.folder / "link", says=[option, "is the trace itself"])
        self.assertEqual(copy.read_bytes(), pathlib.Path(SAMPLE).read_bytes())

    def test_results_never_replace_another_input(self):
        machine = self.folder / "mine.textproto"
        machine.write_text(heddle("machines", "fermi_fixed").stdout)
        for option in ("-o", "--draw", "--timeline"):
            self.assert_refused(
                2, "replay", SAMPLE, "--machine", machine, option, machine, says=[option, "is the machine's file"]
            )
        config = self.folder / "gpgpusim.config"
        config.write_text("-gpgpu_n_clusters 4\n")
        self.assert_refused(2, "machines", "import", config, "-o", config, says=["is the configuration itself"])
        self.assertEqual(config.read_text(), "-gpgpu_n_clusters 4\n")
        self.assert_refused(
            2, "characterise", SAMPLE, "--machine", machine, "-o", machine, says=["is the machine's file"]
        )
        preset = self.folder / "mine.preset"
        preset.write_text("scheduler: gto\n")
        self.assert_refused(
            2, "replay", SAMPLE, "--quiet", "--preset", preset, "-o", preset, says=["is the preset's file"]
        )
        folder = self.folder / "results"
        folder.mkdir()
        self.assertEqual(heddle("replay", SAMPLE, "-o", folder / "a.jsonl").returncode, 0)
        (folder / "again.html").symlink_to("a.jsonl")
        before = (folder / "a.jsonl").read_bytes()
        for output in ("a.jsonl", "again.html"):
            self.assert_refused(2, "report", folder, "-o", folder / output, says=["-o", "is one of the results"])
        self.assertEqual((folder / "a.jsonl").read_bytes(), before)

    def test_outputs_never_replace_each_other(self):
        one = self.folder / "one"
        self.assert_refused(2, "replay", SAMPLE, "-o", one, "--draw", f"{self.folder}/./one", says=["-o and --draw"])
        self.assert_refused(2, "replay", SAMPLE, "-o", "-", "--timeline", "-", says=["standard output"])
        self.assert_refused(2, "replay", SAMPLE, "--json", "--draw", "-", says=["--json and --draw"])
        self.assert_folder_has()
        drawn = heddle("replay", SAMPLE, "--draw", "-")
        self.assertTrue(drawn.stdout.startswith("<svg") and drawn.stdout.rstrip().endswith("</svg>"), drawn.stdout[:80])

    def test_values_without_a_meaning(self):
        for value in ("-5", "0", "010", "18446744073709551616", "1e3", "nan"):
            self.assert_refused(2, "replay", SAMPLE, "--max-cycles", value, says=["--max-cycles", "whole number"])
            self.assert_refused(2, "replay", SAMPLE, "--warp-phases", value, says=["--warp-phases", "whole number"])
            self.assert_refused(2, "trace", "limits", SAMPLE, "--first-threads", value, says=["--first-threads"])
            self.assert_refused(
                2, "sweep", "emit", self.folder, "--slurm", "--points-per-job", value, says=["--points-per-job"]
            )
        for value in ("nan", "-1", "inf", "1e9"):
            self.assert_refused(2, "sweep", "emit", self.folder, "--slurm", "--minutes", value, says=["--minutes"])
        for day in ("2024-13-45", "2024-02-30", "24-1-1", "today", ""):
            self.assert_refused(
                2,
                "corpus",
                "init",
                self.folder / "c",
                "--name",
                "c",
                "--description",
                "d",
                "--license",
                "MIT",
                "--author",
                "a",
                "--date",
                day,
                says=["--date"],
            )
        for option in ("-o", "--draw", "--timeline", "--kernels", "--preset"):
            self.assert_refused(2, "replay", SAMPLE, option, "", says=[option, "empty"])
        self.assert_refused(2, "replay", SAMPLE, "--draw", "-", "--draw-cycles", "", says=["--draw-cycles", "empty"])
        for option in ("--sm", "--timeline-cycles"):
            self.assert_refused(2, "replay", SAMPLE, "--timeline", "-", option, "", says=[option, "empty"])
        self.assert_refused(2, "corpus", "build", self.folder / "c", "--kernels", "k", "--only", "", says=["--only"])
        self.assert_refused(2, "corpus", "get", "c.tar", "-o", self.folder / "c", "--sha256", "", says=["--sha256"])
        self.assert_refused(2, "reproduce", "all", "-o", self.folder / "r", "--page", "", says=["--page", "empty"])
        self.assert_refused(2, "sweep", "run", self.folder / "s", "--points", "", says=["--points", "empty"])
        # A leading 0 would be read as octal, and a sign as a huge number.
        for value in ("010", "-1", "1e3", "0x10", "2000000"):
            for command in (
                ["replay", SAMPLE, "--jobs"],
                ["replay", SAMPLE, "--draw", "-", "--draw-sm"],
                ["replay", SAMPLE, "--jitter"],
                ["replay", SAMPLE, "--trace-memory"],
                ["sweep", "run", self.folder, "--trace-memory"],
                ["characterise", SAMPLE, "--jobs"],
                ["trace", "limits", SAMPLE, "--warp-size"],
                ["sweep", "run", self.folder, "--jobs"],
                ["trace", "repack", SAMPLE, "-o", self.folder / "t", "--level"],
            ):
                self.assert_refused(2, *command, value, says=[command[-1], "whole number"])
        for epoch in ("", "today", "-1", "99999999999999"):
            self.assert_refused(
                2,
                "corpus",
                "init",
                self.folder / "c",
                "--name",
                "c",
                "--description",
                "d",
                "--license",
                "MIT",
                "--author",
                "a",
                env={**os.environ, "SOURCE_DATE_EPOCH": epoch},
                says=[f"SOURCE_DATE_EPOCH={epoch}:", "--date"],
            )
        self.assert_refused(2, "replay", SAMPLE, "--draw", self.folder / "x.png", says=["SVG"])
        self.assert_folder_has()

    def test_options_that_need_another(self):
        self.assert_refused(2, "replay", SAMPLE, "--draw-cycles", "0-9", says=["--draw-cycles", "--draw"])
        self.assert_refused(2, "replay", SAMPLE, "--draw-sm", "1", says=["--draw-sm", "--draw"])
        self.assert_refused(2, "policies", "dwf", "--machine", "harp_fermi", says=["--machine", "--cost"])

    def test_what_has_no_effect_is_told(self):
        told = heddle(
            "replay", SAMPLE, "--set", "sms=1", "--set", "sms=2", "--divergence", "dwf:pool_entries=1,lane_aware=true"
        ).stderr
        self.assertEqual(
            told.splitlines(),
            [
                "heddle: note: --set sms=1 has no effect: --set sms=2 is behind it",
                "heddle: note: --divergence dwf: pool_entries=1 has no effect: " "resources=unlimited",
            ],
        )

    def test_an_interrupted_run_leaves_nothing(self):
        for sent, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            # One slow SM, so that the run takes long enough to be interrupted.
            with subprocess.Popen(
                [
                    HEDDLE,
                    "replay",
                    SAMPLE,
                    "--divergence",
                    "all",
                    "--scheduler",
                    "all",
                    "-o",
                    str(self.folder / "r.jsonl"),
                    "--set",
                    "sms=1",
                    "--set",
                    "memory.fixed.global_cycles=100000",
                ],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            ) as run:
                deadline = time.monotonic() + 60
                while not list(self.folder.iterdir()) and run.poll() is None and time.monotonic() < deadline:
                    time.sleep(0.001)
                run.send_signal(sent)
                output, errors = run.communicate()
            self.assertEqual(run.returncode, status, errors)
            self.assertIn("interrupted; nothing was written", errors)
            self.assertEqual(output, "")
            self.assert_folder_has()


if __name__ == "__main__":
    main()
