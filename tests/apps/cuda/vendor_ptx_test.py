#!/usr/bin/env python3
"""Programs whose device code is the PTX of the user's own nvcc (heddle-nvcc --ptx-from nvcc) print what those of
clang do, natively and captured. Without an nvcc it is skipped (exit status 77), but for what says that there is none.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BIN = pathlib.Path(os.environ["HEDDLE_BIN"])
HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77
PROGRAMS = (
    "vector_add histogram cooperative_groups device_printf device_heap managed_variables symbols half_precision "
    "math_functions texture_objects dynamic_shared work_queue matrix_fragments matrix_ptx float8 clusters"
).split()

# Two files with the same static names, and one kernel that calls a function of the other file.
FIRST = """
#include <cstdio>
__device__ int Twice(int x);
static __device__ int state = 1;
namespace { __constant__ int step = 10; __global__ void Hidden(int* out) { *out = Twice(state) + step; } }
static __global__ void Kernel(int* out) { *out = ++state; }
template <typename T> static __global__ void Fill(T* out, T value) { *out = value; }
int First(int* out) {
  int start = 5, result, sum = 0;
  cudaMemcpyToSymbol(state, &start, sizeof(int));
  Kernel<<<1, 1>>>(out);
  cudaMemcpy(&result, out, sizeof(int), cudaMemcpyDefault);
  sum += result;
  Hidden<<<1, 1>>>(out);
  cudaMemcpy(&result, out, sizeof(int), cudaMemcpyDefault);
  sum += 100 * result;
  Fill<<<1, 1>>>(out, 7);
  cudaMemcpy(&result, out, sizeof(int), cudaMemcpyDefault);
  return sum + 10000 * result;
}
"""
SECOND = """
#include <cstdio>
static __device__ int state = 3;
namespace { __constant__ int step = 20; __global__ void Hidden(int* out) { *out = step; } }
static __global__ void Kernel(int* out) { *out = state + step; }
__device__ int Twice(int x) { return 2 * x; }
int First(int* out);
int main() {
  int *out, result, step_of_host = 4;
  cudaMalloc(&out, sizeof(int));
  printf("%d\\n", First(out));
  Kernel<<<1, 1>>>(out);
  cudaMemcpy(&result, out, sizeof(int), cudaMemcpyDefault);
  printf("%d\\n", result);
  cudaMemcpyToSymbol(step, &step_of_host, sizeof(int));
  Hidden<<<1, 1>>>(out);
  cudaMemcpy(&result, out, sizeof(int), cudaMemcpyDefault);
  printf("%d\\n", result);
}
"""
# A file of its own, without another to link with.
ALONE = (
    FIRST.replace("__device__ int Twice(int x);", "__device__ int Twice(int x) { return 2 * x; }")
    + """
int main() {
  int* out;
  cudaMalloc(&out, sizeof(int));
  printf("%d\\n", First(out));
}
"""
)


def nvcc(*words, folder, env=None):
    return subprocess.run(
        [str(BIN / "heddle-nvcc"), *map(str, words)], cwd=folder, env=env, capture_output=True, text=True, timeout=240
    )


def has_vendors():
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "x.cu").write_text("__global__ void k() {}\n")
        return nvcc("--ptx-from", "nvcc", "-ptx", "x.cu", folder=folder).returncode == 0


# Blocks meet three times; then more blocks are launched than can be live at once.
GRID_BARRIERS = """
#include <cooperative_groups.h>
#include <cstdio>
__global__ void Meets(int* a) {
  cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  for (int round = 0; round < 3; ++round) {
    a[grid.thread_rank()] += round + 1;
    grid.sync();
    if (grid.thread_rank() == 0) for (int i = 1; i < grid.size(); ++i) a[0] += a[i];
    grid.sync();
  }
}
int main() {
  int *a, sum;
  cudaMalloc(&a, 4 * 64 * sizeof(int));
  cudaMemset(a, 0, 4 * 64 * sizeof(int));
  void* arguments[] = {&a};
  cudaLaunchCooperativeKernel((void*)Meets, 4, 64, arguments, 0, 0);
  cudaMemcpy(&sum, a, sizeof(int), cudaMemcpyDefault);
  printf("%d %s\\n", sum, cudaGetErrorName(cudaGetLastError()));
  printf("%s\\n", cudaGetErrorName(cudaLaunchCooperativeKernel((void*)Meets, 400, 1024, arguments, 0, 0)));
}
"""


class VendorPtx(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.work = pathlib.Path(folder.name)

    def run_program(self, *command, settings=None):
        done = subprocess.run(
            [str(word) for word in command],
            cwd=self.work,
            env={**os.environ, **(settings or {})},
            capture_output=True,
            text=True,
            timeout=240,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def build(self, name, *words):
        done = nvcc(*words, "-o", name, folder=self.work)
        self.assertEqual(done.returncode, 0, done.stderr)

    def prints_the_same(self, *words, live_blocks=1):
        """Built by clang alone, and with nvcc's PTX; with so many blocks live at once."""
        self.build("clang", *words)
        self.build("vendor", "--ptx-from", "nvcc", *words)
        settings = {"HEDDLE_RESIDENT_BLOCKS": str(live_blocks)}
        expected = self.run_program("./clang", settings=settings)
        self.assertEqual(self.run_program("./vendor", settings=settings), expected)
        command = [BIN / "heddle", "capture", "--resident-blocks", live_blocks, "--quiet", "-o", "vendor.htrace"]
        self.assertEqual(self.run_program(*command, "--", "./vendor"), expected)
        self.run_program(BIN / "heddle", "trace", "check", "vendor.htrace")
        told = self.run_program(BIN / "heddle", "trace", "info", "vendor.htrace")
        self.assertIn("level ptx", told)
        self.assertRegex(told, r"Compiled +sm_\d+a?, PTX \d")

    def test_static_names_of_one_file(self):
        (self.work / "alone.cu").write_text(ALONE)
        self.prints_the_same("alone.cu")

    def test_static_names_of_several_files(self):
        (self.work / "first.cu").write_text(FIRST)
        (self.work / "second.cu").write_text(SECOND)
        self.prints_the_same("-rdc=true", "first.cu", "second.cu")

    def test_barriers_of_the_grid(self):
        (self.work / "meets.cu").write_text(GRID_BARRIERS)
        self.prints_the_same("meets.cu", live_blocks=4)
        # 1 + 255 of the first round; twice more, 1 to 3 for each element.
        self.assertEqual(
            self.run_program("./vendor", settings={"HEDDLE_RESIDENT_BLOCKS": "4"}),
            f"{256 + (2 + 255 * 3) + (3 + 255 * 6)} cudaSuccess\ncudaErrorCooperativeLaunchTooLarge\n",
        )

    def test_modules(self):
        (self.work / "k.cu").write_text('extern "C" __global__ void k(int* p) { *p = 3; }\n')
        self.build("k.ptx", "--ptx-from", "nvcc", "-ptx", "k.cu")
        self.assertIn(".visible .entry k(", (self.work / "k.ptx").read_text())
        self.build("k.cubin", "--ptx-from", "nvcc", "-cubin", "k.cu")
        (self.work / "load.cu").write_text(
            "#include <cuda.h>\n#include <stdio.h>\nint main(int n, char** files) {\n  cuInit(0);\n"
            "  CUcontext context;\n"
            "  cuCtxCreate(&context, 0, 0);\n  for (int i = 1; i < n; ++i) {\n    CUmodule m;\n    CUfunction k;\n"
            "    int* p;\n    cudaMallocManaged(&p, 4);\n    void* a[] = {&p};\n"
            '    if (cuModuleLoad(&m, files[i]) || cuModuleGetFunction(&k, m, "k") ||\n'
            "        cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, 0, a, 0) || cuCtxSynchronize())\n      return 1;\n"
            '    printf("%d\\n", *p);\n  }\n}\n'
        )
        self.build("load", "load.cu")
        self.assertEqual(self.run_program("./load", "k.ptx", "k.cubin"), "3\n3\n")

    def test_constant_memory_has_64_kib(self):
        (self.work / "big.cu").write_text(
            "__constant__ int small[16];\n__constant__ int big[17000];\n"
            "__global__ void k(int* p) { *p = big[*p] + small[*p]; }\n"
        )
        done = nvcc("--ptx-from", "nvcc", "-c", "big.cu", folder=self.work)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("big.cu:2: __constant__ variables take 68064 bytes, of which 'big' takes 68000", done.stderr)

    def test_errors_are_those_of_nvcc(self):
        (self.work / "wrong.cu").write_text("__global__ void k(int* p) { *p = nothing; }\n")
        done = nvcc("--ptx-from", "nvcc", "-c", "wrong.cu", folder=self.work)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('wrong.cu(1): error: identifier "nothing" is undefined', done.stderr)


for program in PROGRAMS:
    source = HERE / (program + ".cu")
    options = [w for line in source.read_text().splitlines() if line.startswith("// nvcc: ") for w in line.split()[2:]]
    # More shared memory than a card of the lowest capability of today's nvcc has.
    options += ["-arch=sm_80"] if program == "dynamic_shared" else []

    def check(self, source=source, options=tuple(options)):
        self.prints_the_same("-O1", *options, source)

    setattr(VendorPtx, "test_" + program, check)


class NoVendor(unittest.TestCase):
    def test_is_refused_by_name(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "x.cu").write_text("")
            for where in ("/no/such/toolkit", str(BIN / "heddle-nvcc"), folder):
                done = nvcc("--ptx-from", where, "-c", "x.cu", folder=folder)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(f"--ptx-from {where}: this is no nvcc of a CUDA toolkit", done.stderr)
            if shutil.which("nvcc") or os.path.exists("/usr/local/cuda/bin/nvcc"):
                return
            done = nvcc("--ptx-from", "nvcc", "-c", "x.cu", folder=folder)
            self.assertIn("--ptx-from nvcc: no nvcc of a CUDA toolkit was found", done.stderr)


if __name__ == "__main__":
    there = has_vendors()
    if not there:
        print("no nvcc of a CUDA toolkit: programs with its PTX are left out")
        del VendorPtx
    result = unittest.main(exit=False, verbosity=2).result
    sys.exit(1 if not result.wasSuccessful() else 0 if there else SKIPPED)
