#!/usr/bin/env python3
"""What heddle-nvcc -dryrun says: the commands in nvcc's form, which build scripts ask for the libraries to link with."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

NVCC = pathlib.Path(os.environ["HEDDLE_BUILD"]) / "bin" / "heddle-nvcc"


class DryRun(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.work = pathlib.Path(folder.name)

    def dry_run(self, *words):
        done = subprocess.run(
            [str(NVCC), "-dryrun", *words], cwd=self.work, capture_output=True, text=True, timeout=240, check=False
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(list(self.work.glob("*.out")) + list(self.work.glob("*.o")), [])
        lines = done.stderr.splitlines()
        self.assertTrue(all(line.startswith("#$ ") for line in lines), done.stderr)
        return lines

    def test_a_source_that_does_not_exist(self):
        for name in ("no_such_file.cu", "no_such_file.cpp"):
            self.assertIn(f'"{name}"', self.dry_run(name)[-3] + self.dry_run(name)[-2] + self.dry_run(name)[-4])
        self.dry_run("-cudart", "shared", "no_such_file.cu")
        self.dry_run("-c", "no_such_file.cu")

    def test_without_a_dry_run_it_must_exist(self):
        done = subprocess.run(
            [str(NVCC), "no_such_file.cu"], cwd=self.work, capture_output=True, text=True, timeout=240, check=False
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("no_such_file.cu: no such file", done.stderr)

    def test_the_libraries_of_the_link_command(self):
        link = self.dry_run("no_such_file.cu")[-1]
        self.assertRegex(link, r'^#\$ \S+ .*-o "a\.out" ')
        libraries = re.sub(r'"[a-zA-Z0-9./_-]*\.o"', "", re.sub(r'^.*-o "a\.out"', "", link)).replace('"', "").split()
        self.assertIn("-lcudart_static", libraries)
        self.assertFalse([word for word in libraries if not word.startswith("-")], link)
        toolkit = subprocess.run([str(NVCC), "--toolkit"], capture_output=True, text=True, check=True).stdout.strip()
        (self.work / "host.cpp").write_text(
            "#include <cuda_runtime_api.h>\n"
            "int main() { int n = 0; return cudaGetDeviceCount(&n) != 0 || n != 1; }\n"
        )
        subprocess.run(["g++", f"-I{toolkit}/include", "host.cpp", "-o", "host", *libraries], cwd=self.work, check=True)
        subprocess.run(["./host"], cwd=self.work, check=True)

    def test_names_with_blanks(self):
        self.assertIn('-o "my program"', self.dry_run("x.cu", "-o", "my program")[-1])


if __name__ == "__main__":
    if not NVCC.exists():
        sys.exit(77)
    unittest.main()
