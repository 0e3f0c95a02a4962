#!/usr/bin/env python3
"""Programs whose kernels run as machine code (`heddle capture --level machine`) print what they print natively, and
their traces pass every check. What machine code cannot do yet is refused with its reason: the list is below. Without
ptxas or nvdisasm it is skipped (exit status 77). HEDDLE_ALL_PROGRAMS=1 takes all programs of this folder instead of a
few; HEDDLE_MACHINE_PROGRAMS="vector_add symbols" takes these; HEDDLE_MACHINE_ARCHITECTURE is sm_80, if not set.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from run_application import build_source, run, wishes  # noqa: E402

BIN = pathlib.Path(os.environ["HEDDLE_BIN"]).resolve()
ARCHITECTURE = os.environ.get("HEDDLE_MACHINE_ARCHITECTURE", "sm_80")
SKIPPED = 77
FEW = "vector_add symbols histogram warp_operations math_functions device_printf texture_objects".split()

# What is refused, and a part of the message that says why.
REFUSED = {
    "device_printf": "without a meaning yet: LEPC",  # the address of the code behind a call of the toolkit's printf
    "texture_objects": "which registers T",  # TEX and TLD
}
# What the assembler is not asked for.
LEFT_OUT = {"driver_ptx"}  # a text of 100 MB of blanks, on which ptxas takes minutes


def programs():
    chosen = os.environ.get("HEDDLE_MACHINE_PROGRAMS", "").split()
    if chosen or "HEDDLE_ALL_PROGRAMS" not in os.environ:
        return chosen or FEW
    every = {path.stem for path in HERE.glob("*.cu") if not path.stem.endswith("_module")}
    return sorted(every - LEFT_OUT)


class MachineLevelTest(unittest.TestCase):
    def setUp(self):
        self.work = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.work)

    def check(self, name):
        source = HERE / f"{name}.cu"
        work = self.work / name
        work.mkdir()
        program = build_source(source, BIN / "heddle-nvcc", work)
        environment = dict(os.environ, **dict(wish.split("=", 1) for wish in wishes(source, "native")))
        native = run([program], work, environment)
        trace = work / "machine.htrace"
        options = " ".join(wishes(source, "capture")).split()
        command = [BIN / "heddle", "capture", "--quiet", "--level", "machine", "--arch", ARCHITECTURE, *options]
        captured = subprocess.run(
            [str(word) for word in [*command, "-o", trace, "--", program]],
            cwd=work,
            capture_output=True,
            text=True,
            timeout=240,
        )
        said = captured.stdout + captured.stderr
        if name in REFUSED:
            self.assertNotEqual(captured.stdout, native.stdout, "it is not refused any more")
            self.assertIn(REFUSED[name], said)
            return
        self.assertEqual(captured.stdout, native.stdout, captured.stderr)
        self.assertEqual(captured.returncode, 1 if wishes(source, "faults") else 0, said)
        run([BIN / "heddle", "trace", "check", trace], work)
        self.assertIn("level machine", run([BIN / "heddle", "trace", "info", trace], work).stdout)

    def test_programs(self):
        for name in programs():
            with self.subTest(name):
                self.check(name)


if __name__ == "__main__":
    if shutil.which("ptxas") is None or shutil.which("nvdisasm") is None:
        print("ptxas or nvdisasm was not found: machine code of programs is not tested")
        sys.exit(SKIPPED)
    unittest.main()
