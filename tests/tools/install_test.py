"""`cmake --install`: what is installed works from there, and from wherever it is moved to."""
import os
import pathlib
import shutil
import subprocess

from heddle_command import BUILD, CAPTURE, SOURCE, CommandTest, main

CMAKE = os.environ["CMAKE"]


# Of closed libraries.
LIBRARIES = ("lib64/libcublasLt.so", "lib64/libheddle_fft.a", "lib64/libheddle_random.a", "include/curand/philox.h")


class Install(CommandTest):
    def run_installed(self, program, *arguments):
        """Runs an installed program where nothing of the source or build tree can help it."""
        return subprocess.run(
            [str(self.prefix / "bin" / program), *map(str, arguments)],
            cwd=self.folder,
            env={"PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )

    def setUp(self):
        super().setUp()
        first = self.folder / "first"
        subprocess.run([CMAKE, "--install", BUILD, "--prefix", first], capture_output=True, text=True, check=True)
        self.prefix = self.folder / "moved"
        first.rename(self.prefix)

    def test_the_installed_programs_work(self):
        shared = self.prefix / "share" / "heddle"
        self.assertEqual(
            sorted(p.name for p in (shared / "machines").glob("*.textproto")),
            sorted(p.name for p in (SOURCE / "replay" / "machine" / "descriptions").glob("*.textproto")),
        )
        # A machine that only the installed folder has shows which folder is used.
        (shared / "machines" / "installed_only.textproto").write_text(
            (shared / "machines" / "toy.textproto").read_text().replace('"toy"', '"installed_only"', 1)
        )
        self.assertIn("installed_only", self.run_installed("heddle", "machines").stdout)
        done = self.run_installed("heddle", "replay", shared / "samples" / "bfs.htrace", "--machine", "installed_only")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("installed_only", done.stdout)
        done = self.run_installed("heddle", "replay", shared / "samples" / "bfs.htrace", "--quiet", "-o", "r.jsonl")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.run_installed("heddle", "report", "r.jsonl", "--json").returncode, 0)
        figure = self.run_installed("heddle", "report", "r.jsonl", "--figure", "speedup", "-o", "speedup.svg")
        self.assertTrue(figure.returncode == 0 or "install python3-matplotlib" in figure.stderr, figure.stderr)
        if CAPTURE:
            shutil.copytree(SOURCE / "traces" / "kernels", self.folder / "kernels")
            done = self.run_installed(
                "heddle", "capture", "-o", "reduction.htrace", "kernels/reduction/reduction.tiny.textproto"
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            done = self.run_installed("heddle", "replay", "reduction.htrace", "--divergence", "pdom,dwf")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(
                pathlib.Path(self.folder / "reduction.htrace").read_bytes(),
                (SOURCE / "traces" / "samples" / "reduction.htrace").read_bytes(),
            )

    def test_cuda_programs_compile_and_run(self):
        if not (self.prefix / "bin" / "heddle-nvcc").exists():
            self.skipTest("built without capture")
        program = self.folder / "moved" / "program"
        done = self.run_installed("heddle-nvcc", SOURCE / "tests" / "apps" / "cuda" / "vector_add.cu", "-o", program)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.run_installed("heddle", "capture", "--quiet", "-o", "vector_add.htrace", "--", program)
        self.assertEqual((done.returncode, done.stdout), (0, "all right\n"), done.stderr)
        # Stand-ins for closed libraries.
        source = SOURCE / "tests" / "apps" / "cuda" / "blas_old_interface.cu"
        done = self.run_installed("heddle-nvcc", source, "-lcublas", "-o", program)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.run_installed(program)
        self.assertEqual((done.returncode, done.stdout), (0, "all right\n"), done.stderr)
        toolkit = pathlib.Path(self.run_installed("heddle-nvcc", "--toolkit").stdout.strip())
        for name in ("bin/nvcc", "include/cuda_runtime.h", "lib64/libcudart.a", "nvvm/libdevice", *LIBRARIES):
            self.assertTrue((toolkit / name).exists(), name)


if __name__ == "__main__":
    main()
