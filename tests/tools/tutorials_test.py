"""The tutorials work as they are written: files are written, commands run, and what is shown is what comes out.

In docs/tutorial/*.md,
* a code block with a title (```cpp title="stay.cc") is a file, which is written as it is shown;
* a block ```console holds commands, each behind "$ ", and what each of them prints on standard output and standard error. A
  command that ends in a backslash goes on in the next line. "..." stands for any text within a line, and, alone on a line,
  for any number of lines. A command with nothing below it may print what it likes;
* a block ```bash or ```text is for reading: nothing is done with it.

Each page runs in an empty folder of its own, each command in a shell of its own, with what the page's first section
sets.
"""
import os
import pathlib
import re
import subprocess
import unittest

from heddle_command import BUILD, CAPTURE, HEDDLE, SOURCE, CommandTest, main

PAGES = sorted((SOURCE / "docs" / "tutorial").glob("*.md"))
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
NEEDS_CAPTURE = re.compile(r"^\$ (heddle-nvcc|heddle capture) ", re.MULTILINE)


def commands_of(block):
    """The commands of a console block, with the lines that each is expected to print."""
    commands = []
    lines = iter(block.splitlines())
    for line in lines:
        if line.startswith("$ "):
            command = line[2:]
            while command.endswith("\\"):
                command = command[:-1] + next(lines).lstrip()
            commands.append((command, []))
        elif commands:
            commands[-1][1].append(line.rstrip())
        else:
            raise ValueError(f"output without a command: {line!r}")
    return commands


def pattern_of(expected):
    """A regular expression for the output that these lines show."""

    def of_line(line):
        return r"(?:.*\n)*?" if line == "..." else ".*".join(map(re.escape, line.split("..."))) + "\n"

    return re.compile("".join(map(of_line, expected)))


class Tutorials(CommandTest):
    def setUp(self):
        super().setUp()
        programs = self.folder / "programs"
        programs.mkdir()
        (programs / "c++").symlink_to(os.environ["CXX"])
        self.work = self.folder / "work"
        self.work.mkdir()
        path = [str(pathlib.Path(HEDDLE).parent), str(programs), os.environ["PATH"]]
        self.environment = {
            **os.environ,
            "PATH": ":".join(path),
            "HEDDLE_SOURCE": str(SOURCE),
            "HEDDLE_BUILD": str(BUILD),
        }
        self.environment.pop("HEDDLE_CAPTURE")  # programs that run take it for settings of the device that records them

    def run_as_written(self, command, expected):
        self.assertNotRegex(command, r"^(cd|export) ", "each command runs in a shell of its own")
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.work,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=240,
            check=False,
        )
        if "install python3-matplotlib" in done.stdout:
            self.skipTest(f"from here on: {done.stdout.strip()}")
        self.assertEqual(done.returncode, 0, f"$ {command}\n{done.stdout}")
        output = "".join(line.rstrip() + "\n" for line in done.stdout.splitlines())
        if expected and not pattern_of(expected).fullmatch(output):
            self.fail(f"$ {command}\nThe page shows:\n" + "\n".join(expected) + f"\nIt prints:\n{output}")

    def run_page(self, page):
        text = page.read_text()
        if not CAPTURE and NEEDS_CAPTURE.search(text):
            self.skipTest(f"{page.name}: built without capture")
        blocks = BLOCK.findall(text)
        self.assertEqual(text.count("```"), 2 * len(blocks), "a code block without a language, or one that is indented")
        ran = 0
        for language, title, block in blocks:
            if title:
                (self.work / title).write_text(block)
            elif language == "console":
                for command, expected in commands_of(block):
                    self.run_as_written(command, expected)
                    ran += 1
            else:
                self.assertIn(language, ("bash", "text"), "a code block that is none of the three kinds")
        self.assertGreater(ran, 0, f"{page.name} has no command")


def add_page(page):
    """Gives the page a test with its name."""
    setattr(Tutorials, "test_" + page.stem.replace("-", "_"), lambda self: self.run_page(page))


class Convention(unittest.TestCase):
    """What the pages may say, and what it means."""

    def test_commands_and_their_output(self):
        self.assertEqual(commands_of("$ a \\\n    b\none\ntwo \n$ c\n"), [("a b", ["one", "two"]), ("c", [])])

    def test_dots(self):
        self.assertTrue(pattern_of(["a ... c", "...", "z"]).fullmatch("a b c\nz\n"))
        self.assertTrue(pattern_of(["a", "...", "z"]).fullmatch("a\nb.\nc\nz\n"))
        self.assertFalse(pattern_of(["a", "...", "z"]).fullmatch("a\nb\n"))
        self.assertFalse(pattern_of(["a ... c"]).fullmatch("a b\nc\n"))
        self.assertFalse(pattern_of(["a.c"]).fullmatch("abc\n"))


for tutorial in PAGES:
    add_page(tutorial)

if __name__ == "__main__":
    main()
