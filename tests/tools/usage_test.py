"""Help, version, lists, and what a wrong command line is answered with."""
import json
import os
import pathlib
import re
import subprocess
import unittest

from heddle_command import CAPTURE, HEDDLE, SAMPLE, SOURCE, CommandTest, heddle, main


class Help(CommandTest):
    def test_help_names_every_command_and_the_exit_statuses(self):
        done = heddle("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for word in ("capture", "trace", "replay", "report", "policies", "machines", "Exit status"):
            self.assertIn(word, done.stdout)

    def test_help_of_a_command_describes_its_options(self):
        done = heddle("replay", "--help")
        self.assertEqual(done.returncode, 0)
        for option in (
            "--machine",
            "--divergence",
            "--scheduler",
            "--dispatch",
            "--kernels",
            "--set",
            "--output",
            "--json",
            "--per-launch",
            "--quiet",
            "--max-cycles",
            "--jobs",
            "--jitter",
        ):
            self.assertIn(option, done.stdout)

    def test_help_of_nested_commands_names_them_in_full(self):
        for command in (["trace", "info"], ["machines", "import"], ["sweep", "plan"], ["replay"]):
            done = heddle(*command, "--help")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn(f"Usage: heddle {' '.join(command)} ", done.stdout)

    @unittest.skipUnless(CAPTURE, "built without capture")
    def test_help_of_capture_has_the_options_of_programs_and_of_recipes(self):
        for arguments in (["--help"], ["--help", "--"], ["--help", "--", "program"]):
            done = heddle("capture", *arguments)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("Usage: heddle capture -o TRACE [OPTIONS] -- PROGRAM", done.stdout)
            for option in (
                "--kernels",
                "--launches",
                "--max-blocks",
                "--record-command-line",
                "--native",
                "--certify",
                "--output",
            ):
                self.assertEqual(len(re.findall(rf"(?m)^  (?:-o,)?{option}\b", done.stdout)), 1, option)

    @unittest.skipUnless(CAPTURE, "built without capture")
    def test_unknown_options_of_capture(self):
        for arguments, option in (
            (["-o", "x", "--certfy", "2", "recipe.textproto"], "--certify"),
            (["-o", "x", "--kernel", "k", "--", "/bin/true"], "--kernels"),
        ):
            done = heddle("capture", *arguments)
            self.assertEqual(done.returncode, 2)
            self.assertEqual(len(done.stderr.splitlines()), 1)
            self.assertIn(f"did you mean {option}?", done.stderr)

    def test_version(self):
        done = heddle("--version")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"^heddle \d+\.\d+\.\d+\n$")

    def test_no_command_and_unknown_commands(self):
        self.assert_refused(2, says=["subcommand is required", "heddle --help"])
        self.assert_refused(2, "reply", says=['unknown command "reply"', 'did you mean "replay"?', "policies"])
        self.assert_refused(2, "trace", says=["heddle trace --help"])

    def test_unknown_and_missing_arguments(self):
        self.assert_refused(2, "replay", says=["TRACE", "heddle replay --help"])
        for option in ("--divergense", "--divergance=pdom", "-divergence"):
            self.assert_refused(
                2,
                "replay",
                SAMPLE,
                option,
                says=[f"unknown option {option.split('=')[0]}", "did you mean --divergence?", "heddle replay --help"],
            )
        self.assert_refused(2, "trace", "info", SAMPLE, "--jsn", says=["--jsn", "did you mean --json?"])
        self.assert_refused(2, "sweep", "run", "--job", "3", says=["--job", "did you mean --jobs?"])
        for word in ("--=x", "-=x"):
            self.assert_refused(2, "replay", SAMPLE, word, says=["unknown option"])
        self.assert_refused(2, "--versoin", says=["did you mean --version?"])
        line = self.assert_refused(2, "replay", SAMPLE, "--completely-unlike-any", says=["--completely-unlike-any"])
        self.assertNotIn("did you mean", line)
        self.assert_refused(2, "trace", "inof", SAMPLE, says=['unknown trace command "inof"', 'did you mean "info"?'])
        self.assert_refused(2, "replay", SAMPLE, "--max-cycles", "many", says=["many"])
        self.assert_refused(2, "trace", "info", says=["TRACE", "heddle trace info --help"])


class Policies(CommandTest):
    def test_the_list_has_every_policy_of_this_version(self):
        done = heddle("policies")
        self.assertEqual(done.returncode, 0)
        names = [line.split()[0] for line in done.stdout.splitlines() if line.startswith("  ")]
        for name in (
            "nrec",
            "pdom",
            "mimd",
            "dwf",
            "lrr",
            "gto",
            "fifo",
            "dtime",
            "dpc",
            "dmaj",
            "dmin",
            "dpdpri",
            "thread_blocks",
        ):
            self.assertIn(name, names)

    def test_json_declares_parameters_with_types_and_sources(self):
        policies = json.loads(heddle("policies", "--json").stdout)
        self.assertEqual(policies["schema"], 1)
        dwf = next(p for p in policies["divergence"] if p["name"] == "dwf")
        lane_aware = next(p for p in dwf["parameters"] if p["name"] == "lane_aware")
        self.assertEqual((lane_aware["type"], lane_aware["default"]), ("bool", True))
        for seam in ("divergence", "scheduler", "dispatch"):
            for policy in policies[seam]:
                self.assertTrue(policy["summary"] and policy["source"], policy["name"])
                for parameter in policy["parameters"]:
                    self.assertTrue(parameter["description"] and parameter["source"], (policy["name"], parameter))
                    if parameter["type"] == "integer":
                        self.assertLessEqual(parameter["minimum"], parameter["default"])
                        self.assertLessEqual(parameter["default"], parameter["maximum"])
                    if parameter["type"] == "choice":
                        self.assertIn(parameter["default"], parameter["choices"])

    def test_refused_pairs_are_exactly_those_that_replay_refuses(self):
        policies = json.loads(heddle("policies", "--json").stdout)
        refused = {
            (p["divergence"], p["scheduler"]): p["reason"] for p in policies["refused_pairs"] if "dispatch" not in p
        }
        self.assertIn(("pdom", "dmaj"), refused)
        self.assertNotIn(("dwf", "dmaj"), refused)
        self.assertNotIn(("dwf", "lrr"), refused)
        for divergence in policies["divergence"]:
            for scheduler in policies["scheduler"]:
                pair = (divergence["name"], scheduler["name"])
                done = heddle("replay", SAMPLE, "--divergence", pair[0], "--scheduler", pair[1], "--quiet")
                self.assertEqual(done.returncode, 2 if pair in refused else 0, (pair, done.stderr))
                if pair in refused:
                    self.assertIn(refused[pair], done.stderr)

    def test_refused_dispatchers_are_exactly_those_that_replay_refuses(self):
        policies = json.loads(heddle("policies", "--json").stdout)
        pairs = [p for p in policies["refused_pairs"] if "dispatch" in p]
        self.assertIn(("virtual_blocks", "tbc"), {(p["dispatch"], p.get("divergence")) for p in pairs})
        self.assertIn(("virtual_blocks", "two_level"), {(p["dispatch"], p.get("scheduler")) for p in pairs})
        for dispatch in (p["name"] for p in policies["dispatch"]):
            for divergence in (p["name"] for p in policies["divergence"]):
                reasons = [p["reason"] for p in pairs if (p["dispatch"], p.get("divergence")) == (dispatch, divergence)]
                done = heddle("replay", SAMPLE, "--divergence", divergence, "--dispatch", dispatch, "--quiet")
                self.assertEqual(done.returncode, 2 if reasons else 0, (dispatch, divergence, done.stderr))
                for reason in reasons:
                    self.assertIn(reason, done.stderr)

    def test_one_policy_shows_parameters_counters_and_refused_pairs(self):
        done = heddle("policies", "dwf")
        for words in ("--divergence dwf:KEY=VALUE", "lane_aware", "swizzle", "Counters", "Source:"):
            self.assertIn(words, done.stdout)
        done = heddle("policies", "dmaj")
        for words in ("Refused pairs", "pdom"):
            self.assertIn(words, done.stdout)

    def test_an_unknown_policy_lists_the_known_ones(self):
        self.assert_refused(2, "policies", "pdon", says=['"pdon"', 'did you mean "pdom"?', "dwf", "lrr"])


class Machines(CommandTest):
    def test_the_list_has_every_file(self):
        done = heddle("machines")
        for file in (SOURCE / "replay" / "machine" / "descriptions").glob("*.textproto"):
            self.assertIn(file.stem, done.stdout)

    def test_a_machine_is_printed_as_it_is(self):
        done = heddle("machines", "fermi_fixed")
        file = SOURCE / "replay" / "machine" / "descriptions" / "fermi_fixed.textproto"
        self.assertEqual(done.stdout, file.read_text())

    def test_json(self):
        machines = [json.loads(line) for line in heddle("machines", "--json").stdout.splitlines()]
        fermi = next(m for m in machines if m["name"] == "fermi_fixed")
        self.assertEqual(fermi["core"]["front_end"], "THESIS")
        self.assertEqual(fermi["sms"], 15)

    def test_every_value_of_every_machine_has_its_source(self):
        # A comment on its own line, on the line that opens its group, or right above it and its neighbours; or the file
        # says that it is fitted to a card, and which machine of ours the rest is from.
        for file in (SOURCE / "replay" / "machine" / "descriptions").glob("*.textproto"):
            base = re.search(r"Values without a source are those of (\w+)\.$", file.read_text(), re.M)
            if base:
                self.assertTrue((file.parent / f"{base.group(1)}.textproto").exists(), file.name)
                continue
            above = False  # a comment stands right above this line and its neighbours
            groups = []  # whether the line that opened each group that is open has a comment
            for number, line in enumerate(file.read_text().splitlines(), 1):
                value, mark, _ = line.partition("#")
                value = value.strip()
                if not value:
                    above = bool(mark)
                elif value == "}":
                    groups.pop()
                    above = False
                elif value.endswith("{"):
                    groups.append(bool(mark))
                    above = False
                elif not value.startswith(("name:", "description:")):
                    self.assertTrue(mark or above or any(groups), f"{file.name}, line {number}: no source: {line}")

    def test_an_unknown_machine_lists_the_known_ones(self):
        self.assert_refused(2, "machines", "fermi", says=["fermi_fixed", "thesis_fixed", "toy"])


class Capture(CommandTest):
    def test_capture_starts_the_capture_program_or_says_how_to_get_it(self):
        if CAPTURE:
            done = heddle("capture", "--help")
            direct = subprocess.run([CAPTURE, "--help"], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout), (direct.returncode, direct.stdout))
        else:
            self.assert_refused(
                1,
                "capture",
                "-o",
                self.folder / "x.htrace",
                "x.textproto",
                says=["no capture", "tools/install-packages capture", "cmake --preset release"],
            )

    @unittest.skipUnless(CAPTURE, "a build without capture")
    def test_values_without_a_meaning(self):
        for option in ("--max-instructions", "--max-blocks", "--certify", "--resident-blocks", "--level", "--jobs"):
            for value in ("-5", "0", "010", "nan", "18446744073709551616"):
                for program in (["--", "true"],) if option == "--max-blocks" else (["--", "true"], ["x.textproto"]):
                    done = subprocess.run(
                        [CAPTURE, "-o", self.folder / "x.htrace", f"{option}={value}", *program],
                        capture_output=True,
                        text=True,
                        check=False,
                    )
                    self.assertEqual(done.returncode, 2, done.stderr)
                    self.assertIn(option, done.stderr)
                    self.assertIn("whole number", done.stderr)
        self.assert_folder_has()

    @unittest.skipUnless(CAPTURE, "a build without capture")
    def test_levels_of_code_and_of_zstandard(self):
        recipe = SOURCE / "traces/kernels/vector_add/vector_add.tiny.textproto"
        for words, says in (
            (["--level", "assembler", recipe], "ptx or machine"),
            (["--level", "machine", "--arch", "sm_1", recipe], "--arch"),
            (["--arch", "sm_80", recipe], "--arch is for machine code: give --level machine"),
            (["--ptx-from", "clang", recipe], "--ptx-from is for machine code"),
            (["--level", "3", "--fast", recipe], "--level excludes --fast"),
            (["--level", "3", "--zstd-level", "4", recipe], "--level excludes --zstd-level"),
            (["--arch", "sm_80", "--", "true"], "--arch is for machine code: give --level machine"),
        ):
            done = heddle("capture", "-o", self.folder / "x.htrace", *words)
            self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), done.stderr)
            self.assertIn(says, done.stderr)
        self.assert_folder_has()

    @unittest.skipUnless(CAPTURE, "a build without capture")
    def test_a_number_as_the_level_is_that_of_zstandard(self):
        recipe = SOURCE / "traces/kernels/vector_add/vector_add.tiny.textproto"
        traces = []
        for number, words in enumerate((["--level", "19"], ["--zstd-level", "19"], ["--small"], ["--level", "ptx"])):
            trace = self.folder / f"{number}.htrace"
            done = heddle("capture", "--quiet", "-o", trace, *words, recipe)
            self.assertEqual(done.returncode, 0, done.stderr)
            traces.append(trace.read_bytes())
        self.assertEqual(traces[0], traces[1])
        self.assertEqual(traces[0], traces[2])
        self.assertNotEqual(traces[0], traces[3])

    @unittest.skipUnless(CAPTURE, "a build without capture")
    def test_machine_code_says_what_of_a_toolkit_is_missing(self):
        opencl = self.folder / "local.textproto"
        opencl.write_text(
            'source: "k.cl"\nlaunch { kernel: "k" grid { x: 1 } block { x: 1 } argument { local_bytes: 4 } }\n'
        )
        (self.folder / "k.cl").write_text("__kernel void k(__local int* tile) {}\n")
        cuda = SOURCE / "traces/kernels/vector_add/vector_add.tiny.textproto"
        if any(pathlib.Path("/usr/local/cuda", name).exists() for name in ("bin", "nvvm")):
            self.skipTest("there is a toolkit where it is always found")
        folder = pathlib.Path(self.folder / "bin")
        folder.mkdir()

        def program(name, script):
            (folder / name).write_text(f"#!/bin/sh\n{script}\n")
            (folder / name).chmod(0o755)

        def says(recipe, text, *words):
            command = [CAPTURE, "-o", self.folder / "x.htrace", "--level", "machine", *words, recipe]
            environment = {**os.environ, "PATH": f"{folder}:/usr/bin:/bin"}
            for name in ("CUDA_HOME", "CUDA_PATH"):
                environment.pop(name, None)
            done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertIn(text, done.stderr)

        says(cuda, "ptxas was not found")
        program("ptxas", "echo 'ptxas fatal : no memory' >&2; exit 3")
        says(cuda, "nvdisasm was not found")
        program("nvdisasm", "exit 1")
        says(opencl, "local_bytes cannot be an argument of machine code yet")
        late = self.folder / "late.textproto"
        late.write_text('source: "k.cu"\ntarget: "sm_90"\nlaunch { kernel: "k" grid { x: 1 } block { x: 1 } }\n')
        (self.folder / "k.cu").write_text("__global__ void k() {}\n")
        says(late, "the recipe's code is for sm_90 and later; sm_80 is too early: give --arch")
        says(cuda, "no nvcc of a CUDA toolkit was found")
        says(cuda, "ptxas (exit status 3): no memory", "--ptx-from", "clang")
        says(
            SOURCE / "traces/kernels/black_scholes/black_scholes.tiny.textproto",
            "libdevice.10.bc",
            "--ptx-from",
            "clang",
        )

    def test_everything_but_capture_needs_no_llvm(self):
        libraries = subprocess.run(["ldd", HEDDLE], capture_output=True, text=True, check=True).stdout
        self.assertNotIn("LLVM", libraries)
        self.assertNotIn("clang", libraries)


class Import(CommandTest):
    CONFIG = """-gpgpu_n_clusters 2 -gpgpu_n_cores_per_cluster 1
-gpgpu_n_mem 2  # controllers
-gpgpu_cache:il1 4:128:4,L:R:f:N,A:2:32,4
-gpgpu_scheduler gto
-gpgpu_mem_addr_mapping dramid@8;00000000.00000000.00000000.00000000.0000RRRR.RRRRRRRR.BBCCCCCB.CCCSSSSS
-gpgpu_dram_timing_opt nbk=8:CCD=2:RRD=6:RCD=12:RAS=28:RP=12:RC=40:CL=12:WL=4:CDLR=5
-gpgpu_invented 1
"""

    def setUp(self):
        super().setUp()
        self.config = self.folder / "gpgpusim.config"
        self.config.write_text(self.CONFIG)

    def test_the_machine_goes_to_standard_output_and_can_be_used(self):
        done = heddle("machines", "import", self.config)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("controllers: 2            # line 2: -gpgpu_n_mem\n", done.stdout)
        self.assertIn("#   line 7: -gpgpu_invented 1: unknown\n", done.stdout)
        self.assertIn("#   line 4: -gpgpu_scheduler gto: --scheduler gto\n", done.stdout)
        machine = self.folder / "mine.textproto"
        machine.write_text(done.stdout)
        again = heddle("machines", machine)
        self.assertEqual((again.returncode, again.stdout), (0, done.stdout))

    def test_an_output_file_and_what_is_told_beside_it(self):
        machine = self.folder / "mine.textproto"
        done = heddle("machines", "import", self.config, "-o", machine, "--name", "mine")
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertIn('name: "mine"', machine.read_text())
        self.assertIn("line 7: -gpgpu_invented 1: unknown", done.stderr)
        self.assertIn("line 4: -gpgpu_scheduler gto: --scheduler gto", done.stderr)

    def test_errors_name_file_and_line(self):
        self.assert_refused(2, "machines", "import", self.folder / "none.config", says=["none.config", "No such file"])
        self.assert_refused(2, "machines", "import", self.folder, says=["is a folder"])
        self.assert_refused(2, "machines", "import", says=["FILE", "heddle machines import --help"])
        self.config.write_text(self.CONFIG + "-gpgpu_shader_cta eight\n")
        self.assert_refused(
            1, "machines", "import", self.config, says=["gpgpusim.config", "line 8: -gpgpu_shader_cta", '"eight"']
        )
        self.config.write_text("")
        self.assert_refused(1, "machines", "import", self.config, says=["gpgpusim.config", "no option"])


class StandardOutput(CommandTest):
    def test_a_reader_that_goes_away_is_no_error(self):
        done = subprocess.run(
            f"'{HEDDLE}' policies --json | head -c 1; echo ${{PIPESTATUS[0]}}",
            shell=True,
            executable="/bin/bash",
            capture_output=True,
            text=True,
            check=True,
        )
        self.assertEqual(done.stdout, "{0\n")
        self.assertEqual(done.stderr, "")

    def test_a_full_device_is_an_error(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            for arguments in (["policies"], ["machines"], ["--help"], ["replay", SAMPLE], ["trace", "info", SAMPLE]):
                self.assert_refused(1, *arguments, says=["standard output: No space left on device"], stdout=full)

    def test_a_closed_standard_output_is_an_error(self):
        done = subprocess.run(f"'{HEDDLE}' machines >&-", shell=True, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("standard output", done.stderr)

    def test_no_progress_when_standard_error_is_no_terminal(self):
        done = heddle("replay", SAMPLE)
        self.assertEqual(done.stderr, "")


if __name__ == "__main__":
    os.chdir("/")  # nothing may depend on the folder
    main()
