"""The shell scripts: wrong usage, package names that agree with the documentation, and what README promises."""
import json
import os
import re
import shutil
import subprocess
import unittest

from heddle_command import BUILD, SOURCE, CommandTest, main


def run(script, *arguments):
    return subprocess.run([str(SOURCE / script), *arguments], capture_output=True, text=True, check=False, cwd="/")


class Scripts(CommandTest):
    def test_help_and_wrong_usage(self):
        for script in (
            "tools/install-packages",
            "tools/quickstart",
            "tools/check",
            "tools/tidy",
            "tools/package",
            "tools/format-python",
        ):
            done = run(script, "--help")
            self.assertEqual((done.returncode, done.stderr), (0, ""), script)
            self.assertIn(script, done.stdout)
            done = run(script, "--no-such-option")
            self.assertEqual(done.returncode, 2, script)
            self.assertIn("--no-such-option", done.stderr)

    def test_every_package_is_explained_and_every_explained_package_is_listed(self):
        groups = ("build", "capture", "report", "checks", "site", "lint", "cluster", "package")
        listed = set(run("tools/install-packages", "--print", *groups).stdout.split())
        text = (SOURCE / "docs" / "reference" / "dependencies.md").read_text()
        explained = set(re.findall(r"^\| `([a-z0-9.+-]+)`", text, flags=re.MULTILINE))
        self.assertEqual(listed, explained)

    def test_documents_name_tests_that_there_are(self):
        """With a name that nothing has, ctest says so and ends well."""
        listed = subprocess.run(["git", "ls-files", "*.md"], cwd=SOURCE, capture_output=True, text=True, check=True)
        asked = set()
        for page in listed.stdout.split():
            text = (SOURCE / page).read_text()
            asked.update(re.findall(r"ctest --preset release (-[RL]) '?([\w|]+)'?", text))
        self.assertGreater(len(asked), 3)
        for option, pattern in asked:
            if pattern.startswith("outside_"):
                continue  # of a folder outside the tree
            done = subprocess.run(
                ["ctest", "--test-dir", BUILD, "-N", option, pattern], capture_output=True, text=True, check=False
            )
            self.assertNotIn("Total Tests: 0", done.stdout, f"{option} {pattern}")

    def test_the_citation_is_of_this_version(self):
        version = re.search(r"project\(heddle VERSION (\S+)", (SOURCE / "CMakeLists.txt").read_text())[1]
        self.assertIn(f"\nversion: {version}\n", (SOURCE / "CITATION.cff").read_text())

    def test_an_npm_from_elsewhere_is_not_installed_again(self):
        log = self.folder / "log"
        for name, text in (("npm", ""), ("dpkg-query", ""), ("id", "echo 0"), ("apt-get", f'echo "$@" >> {log}')):
            (self.folder / name).write_text(f"#!/bin/sh\n{text}\n")
            (self.folder / name).chmod(0o755)
        done = subprocess.run(
            [str(SOURCE / "tools/install-packages"), "report"],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}"},
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        installed = log.read_text().split()
        self.assertIn("python3-pandas", installed)
        self.assertNotIn("npm", installed)
        self.assertIn("npm", run("tools/install-packages", "--print", "report").stdout.split())

    def run_tidy(self, sources, program):
        """What tools/tidy prints about sources {name: text}, with another program in the place of clang-tidy."""
        (self.folder / "tools").mkdir()
        shutil.copy(SOURCE / "tools" / "tidy", self.folder / "tools")
        (self.folder / "build").mkdir()
        (self.folder / "tests").mkdir()
        commands = []
        for name, text in sources.items():
            source = self.folder / "tests" / f"{name}.cc"
            source.write_text(text)
            command = f"c++ -o {name}.o -c {source}"
            commands.append({"directory": str(self.folder), "command": command, "file": str(source)})
        (self.folder / "build" / "compile_commands.json").write_text(json.dumps(commands))
        command = [self.folder / "tools" / "tidy", "--build", self.folder / "build", "--program", program]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        return done.stdout

    def test_names_that_another_source_uses(self):
        """Both are read as one text, of which clang-tidy, here a program that finds nothing, cannot tell."""
        start = "// A test.\nusing ::other::Used;\nnamespace v1 = trace::v1;\nusing namespace std;\n"
        sources = {"one": start, "two": start + "int f() { return Used(v1::kOne); }\n"}
        self.assertEqual(
            self.run_tidy(sources, "true"),
            "tests/one.cc:2:1: error: using decl 'Used' is unused\n"
            "tests/one.cc:3:1: error: namespace alias decl 'v1' is unused\n",
        )

    def test_aliases_that_sources_have_in_common_are_looked_for_by_the_script(self):
        program = self.folder / "echo_checks"
        program.write_text("#!/bin/sh\nfor a; do case $a in --checks=*) echo /a.h:1:1: error: $a;; esac; done\n")
        program.chmod(0o755)
        text = "namespace v1 = trace::v1;\nint v = v1::kOne;\n"
        said = self.run_tidy({"one": text, "two": text}, program)
        self.assertEqual(said, "/a.h:1:1: error: --checks=-misc-unused-alias-decls\n")

    def test_sources_that_do_not_compile_behind_others_are_read_apart(self):
        """A program in the place of clang-tidy that finds a second `int f`, and says which sources it has read."""
        program = self.folder / "second_f"
        program.write_text(
            "#!/usr/bin/env python3\n"
            "import sys\n"
            "lines = open(sys.argv[-1]).read().splitlines()\n"
            "again = [n for n, line in enumerate(lines, 1) if line == 'int f;'][1:]\n"
            "for n in again:\n"
            "    print(f'{sys.argv[-1]}:{n}:1: error: redefinition [clang-diagnostic-error]')\n"
            "if not again:\n"
            "    print(f'{sys.argv[-1]}:1:1: error: with ' + ' '.join(l[3:] for l in lines if l[:3] == '// '))\n"
        )
        program.chmod(0o755)
        sources = {name: f"// {name}\n" + ("int f;\n" if name in "bde" else "") for name in "abcdef"}
        said = self.run_tidy(sources, program).splitlines()
        read_together = [line.partition("error: with ")[2] for line in said]
        self.assertEqual(read_together, ["a b c f", "d", "e"])

    def test_the_environment_names_another_clang_tidy(self):
        (self.folder / "compile_commands.json").write_text("[]")
        environment = {**os.environ, "HEDDLE_CLANG_TIDY": "no-such-clang-tidy"}
        command = [SOURCE / "tools" / "tidy", "--build", self.folder]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("no-such-clang-tidy is not there", done.stderr)

    @unittest.skipIf(shutil.which("ctags") is None, "no ctags")
    def test_names_that_two_files_define(self):
        texts = {
            "tools/layers.txt": "traces | - | all\n",
            "traces/one.h": "namespace heddle {\nstruct Same {};\ntemplate <typename T>\nstruct Shape {};\n}\n",
            "traces/two.h": "namespace heddle {\nclass Same {};\nclass Other { struct Part {}; };\n}\n",
            # Names of others: of another namespace, of a nameless one, of a function, of a template for one type.
            "traces/three.h": "namespace heddle::other {\nstruct Same {};\nstruct Part {};\n}\n",
            "traces/four.cc": "namespace heddle {\nnamespace {\nstruct Same {};\nint hidden;\n}\n"
            "int F() {\n  struct Local {};\n}\ntemplate <>\nstruct Shape<int> {};\n}\n",
            "traces/five.cc": "namespace heddle {\nnamespace {\nint hidden;\n}\nint F(int) {\n  struct Local {};\n}\n"
            "}\n",
        }
        for name, text in texts.items():
            (self.folder / name).parent.mkdir(exist_ok=True)
            (self.folder / name).write_text(text)
        shutil.copy(SOURCE / "tools" / "check-layers", self.folder / "tools")
        subprocess.run(["git", "init", "-q"], cwd=self.folder, check=True)
        done = subprocess.run([self.folder / "tools" / "check-layers"], capture_output=True, text=True, check=False)
        said = "heddle::Same is defined in traces/one.h and in traces/two.h: one of them needs another name"
        self.assertEqual(done.stdout.splitlines(), [said, "5 sources in 1 folders: 1 faults"], done.stderr)
        self.assertEqual(done.returncode, 1)

    def test_no_text_mentions_a_machine(self):
        for script in (
            "tools/install-packages",
            "tools/quickstart",
            "tools/check",
            "tools/tidy",
            "tools/bundle",
            ".ci/run",
        ):
            text = (SOURCE / script).read_text()
            self.assertNotRegex(text, r"(?<![\w$}/.])/(home|root|work|opt|usr/local)\b", script)


if __name__ == "__main__":
    main()
