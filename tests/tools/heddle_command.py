"""Runs the built `heddle` for the tests of this folder. CMakeLists.txt says where it is."""
import fcntl
import json
import os
import pathlib
import pty
import signal
import struct
import subprocess
import tempfile
import termios
import unittest

HEDDLE = os.environ["HEDDLE"]
SOURCE = pathlib.Path(os.environ["HEDDLE_SOURCE"])
BUILD = pathlib.Path(os.environ["HEDDLE_BUILD"])
CAPTURE = os.environ["HEDDLE_CAPTURE"]  # empty in a build without LLVM
# What runs the tests may ignore the signal (a shell does so with what it starts in the background), and so would heddle.
signal.signal(signal.SIGINT, signal.default_int_handler)
SAMPLES = SOURCE / "traces" / "samples"
SAMPLE = str(SAMPLES / "bfs.htrace")


def heddle(*arguments, **options):
    """Runs `heddle` and returns the completed process, output as text."""
    options.setdefault("stdout", subprocess.PIPE)
    return subprocess.run(
        [HEDDLE, *map(str, arguments)],
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=240,
        check=False,
        **options,
    )


def results(*arguments):
    """The results of a replay that succeeds, as Python objects."""
    done = heddle("replay", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def heddle_on_a_terminal(*arguments, columns=80, stderr=subprocess.DEVNULL):
    """Runs `heddle` with a terminal as its output; exit status, and the bytes that the terminal got, lines as in files."""
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    running = subprocess.Popen(
        [HEDDLE, *map(str, arguments)],
        stdout=terminal,
        stdin=subprocess.DEVNULL,
        stderr=terminal if stderr is subprocess.STDOUT else stderr,
    )
    os.close(terminal)
    shown = b""
    try:
        while piece := os.read(controller, 1 << 16):
            shown += piece
    except OSError:  # the other end is closed
        pass
    os.close(controller)
    return running.wait(timeout=240), shown.replace(b"\r\n", b"\n")


class CommandTest(unittest.TestCase):
    """A test with an empty folder of its own."""

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.folder = pathlib.Path(self._folder.name)

    def assert_refused(self, status, *arguments, says=(), **options):
        """The command ends with `status` and one line on standard error that has all of `says`; returns the line."""
        done = heddle(*arguments, **options)
        self.assertEqual(done.returncode, status, done.stderr)
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 1, f"not one line: {done.stderr!r}")
        self.assertTrue(lines[0].startswith("heddle: "), lines[0])
        for words in says:
            self.assertIn(words, lines[0])
        if done.stdout is not None:
            self.assertEqual(done.stdout, "", "results in spite of the error")
        return lines[0]

    def assert_folder_has(self, *names):
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), sorted(names))


def main():
    unittest.main(verbosity=2)
