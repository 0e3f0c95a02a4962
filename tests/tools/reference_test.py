"""The reference that tools/make-reference writes has what the program declares, and is the same each time."""
import json
import os
import re
import subprocess
import sys
import unittest

from heddle_command import CAPTURE, HEDDLE, SOURCE, CommandTest, heddle, main

sys.path.insert(0, str(SOURCE / "tools" / "site"))
import help_text  # pylint: disable=wrong-import-position

HELP = """What it does,
in two lines
Usage: heddle some [OPTIONS] TRACE...
       heddle some --other

Positionals:
  TRACE TEXT ... REQUIRED     Trace files

Options:
  -h,--help                   Print this help message and exit
  --level INT:from 1 to 22=3 Excludes: --small --fast
                              Zstandard level
  -j,--jobs UINT:from 1 to 64 Excludes: --threads
                              processes; or
                              threads
  --sm TEXT Needs: --draw     SMs of it
  --author TEXT=Some One Needs: --kernels
                              Who
  --show TEXT:{a,b}=a         Which
[Option Group: engine]
   
  [Exactly 1 of the following options is required]
  Options:
    --slurm                     An array


Words about all of it.
"""


class Help(unittest.TestCase):
    def test_what_is_printed_is_read(self):
        command = help_text.parse(["heddle", "some"], HELP)
        self.assertEqual(command.summary, "What it does, in two lines")
        self.assertEqual(command.usage, "heddle some [OPTIONS] TRACE...\nheddle some --other")
        self.assertEqual(command.footer, "Words about all of it.")
        self.assertEqual(
            [title for title, _ in command.groups],
            ["Positionals", "Options", "Exactly 1 of the following options is required"],
        )
        options = {option.names: option for _, group in command.groups for option in group}
        self.assertEqual(options["TRACE"], help_text.Option("TRACE", "text, repeat", "", True, [], "Trace files"))
        self.assertEqual(options["--level"].relations, [("Excludes", ["--small", "--fast"])])
        self.assertEqual((options["--level"].value, options["--level"].default), ("whole number, 1 to 22", "3"))
        self.assertEqual(options["-j,--jobs"].relations, [("Excludes", ["--threads"])])
        self.assertEqual(options["-j,--jobs"].description, "processes; or threads")
        self.assertEqual(
            (options["--sm"].relations, options["--sm"].description), ([("Needs", ["--draw"])], "SMs of it")
        )
        self.assertEqual((options["--author"].default, options["--author"].description), ("Some One", "Who"))
        self.assertEqual((options["--show"].value, options["--show"].default), ("one of a, b", "a"))
        self.assertEqual(options["--slurm"].description, "An array")

    def test_an_option_of_another_form_is_refused(self):
        with self.assertRaisesRegex(ValueError, "not the help of an option"):
            help_text.parse(["heddle"], "x\nUsage: heddle\n\nOptions:\n  --x of another form\n")


class Reference(CommandTest):
    def write(self, name):
        done = subprocess.run(
            [sys.executable, str(SOURCE / "tools/make-reference"), "--heddle", str(HEDDLE), str(self.folder / name)],
            capture_output=True,
            text=True,
            check=False,
        )
        if "No module named" in done.stderr:
            self.skipTest("python3-protobuf is not installed")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return {file.name: file.read_text() for file in (self.folder / name).iterdir()}

    @unittest.skipUnless(CAPTURE, "a build without capture")
    def test_everything_that_the_program_declares_is_there_and_is_the_same_again(self):
        pages = self.write("first")
        self.assertEqual(pages, self.write("second"))
        for option in set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", heddle("replay", "--help").stdout)) - {"--help"}:
            self.assertIn(option, pages["commands.md"])
        policies = json.loads(heddle("policies", "--json").stdout)
        for seam, name in (
            ("divergence", "divergence-policies"),
            ("scheduler", "schedulers"),
            ("fetch", "fetch-policies"),
            ("dispatch", "dispatchers"),
            ("memory", "memory-policies"),
        ):
            for policy in policies[seam]:
                for word in [policy["name"], *(entry["name"] for entry in policy["parameters"] + policy["counters"])]:
                    self.assertIn(f"`{word}`", pages[f"{name}.md"])
        for line in heddle("machines", "--json").stdout.splitlines():
            self.assertIn(f"`{json.loads(line)['name']}`", pages["machines.md"])
        for page in ("counters.md", "machine-fields.md"):
            self.assertIn("| cycles |", pages[page])


if __name__ == "__main__":
    main()
