#!/usr/bin/env python3
"""What is not supported is refused with the construct and its line, when the program is compiled or when it launches."""
import os
import pathlib
import subprocess
import tempfile
import unittest

NVCC = pathlib.Path(os.environ["HEDDLE_BIN"]) / "heddle-nvcc"

# Launches the kernel whose text is in front; ends with 3 if that fails.
MAIN = """
int main() {
  int* out;
  cudaMallocManaged(&out, 4096);
  Kernel<<<1, 32>>>(out);
  return cudaDeviceSynchronize() != cudaSuccess || cudaGetLastError() != cudaSuccess ? 3 : 0;
}
"""


class Refusals(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.work = pathlib.Path(folder.name)

    def compile(self, text, *options, **files):
        (self.work / "x.cu").write_text(text)
        for name, contents in files.items():
            (self.work / (name + ".h")).write_text(contents)
        return subprocess.run(
            [str(NVCC), "-O1", *options, "x.cu", "-o", "x"],
            cwd=self.work,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )

    def refused_by_compiler(self, text, *messages, options=(), **files):
        done = self.compile(text, *options, **files)
        self.assertNotEqual(done.returncode, 0, text)
        for message in messages:
            self.assertIn(message, done.stderr)
        return done.stderr

    def refused_by_launch(self, kernel, *messages, options=()):
        done = self.compile(kernel + MAIN, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        run = subprocess.run(["./x"], cwd=self.work, capture_output=True, text=True, timeout=240, check=False)
        self.assertEqual(run.returncode, 3, run.stderr)
        for message in messages:
            self.assertIn(message, run.stderr)
        return run.stderr

    # --- when it is compiled

    def test_libraries_of_the_toolkit(self):
        self.refused_by_compiler(
            "#include <cusparse.h>\nint main() {}\n", "heddle-nvcc: x.cu:1: the library cusparse is not supported"
        )
        self.refused_by_compiler(
            "\n#include <cuda/atomic>\nint main() {}\n",
            "heddle-nvcc: x.cu:2: the library libcu++ is not installed",
            options=("-std=c++14",),  # for which no toolkit is looked for
        )
        self.refused_by_compiler(
            "#include <cublasXt.h>\nint main() {}\n",
            "heddle-nvcc: x.cu:1: the header cublasXt.h of the library cublas is not supported",
        )

    def test_functions_of_libraries_without_a_stand_in(self):
        said = self.refused_by_compiler(
            "#include <cublas_v2.h>\n#define cublasCheck(x) if (x) return 1\nint main() {\n  cublasHandle_t h;\n"
            "  cublasCheck(cublasCreate(&h));\n  cublasCheck(cublasCherk(h, 1));\n}\n",
            "heddle-nvcc: x.cu:6: cublasCherk: this function of cuBLAS has no stand-in",
        )
        self.assertNotIn("cublasCheck: ", said)
        # Declared by the program itself: the linker names it.
        self.refused_by_compiler(
            'extern "C" int cufftXtQuery(int);\nint main() { return cufftXtQuery(1); }\n',
            "cufftXtQuery",
            "heddle-nvcc: note: of cuBLAS, cuRAND and cuFFT, only those functions have stand-ins that their headers declare",
            options=("-lcufft",),
        )

    def test_a_library_that_a_header_of_the_program_includes(self):
        said = self.refused_by_compiler(
            '#include "common.h"\nint main() {}\n',
            "heddle-nvcc: common.h:3: the library cusparse is not supported",
            common='// cuSPARSE\n#include "other.h"\n#include <cusparse.h>\n#ifdef WITH_CUDNN\n#include <cudnn.h>\n#endif\n',
            other="#include <vector>\n",
        )
        self.assertNotIn("cudnn", said)  # the preprocessor leaves it out

    def test_libraries_that_only_host_code_includes(self):
        said = self.refused_by_compiler(
            "#ifndef __CUDA_ARCH__\n#include <cusolverDn.h>\n#endif\nint main() {}\n",
            "heddle-nvcc: x.cu:2: the library cusolver is not supported",
        )
        self.assertEqual(said.count("the library"), 1)
        (self.work / "y.cpp").write_text('#include <vector>\n#include "solver.h"\nint main() {}\n')
        self.refused_by_compiler(
            "int main() {}\n",
            "heddle-nvcc: solver.h:1: the library cusolver is not supported",
            options=("y.cpp",),
            solver="#include <cusolverDn.h>\n",
        )

    def test_headers_of_the_toolkit(self):
        self.refused_by_compiler("#include <cuda_fp6.h>\nint main() {}\n", "x.cu:1: 6-bit floating-point numbers")
        self.refused_by_compiler("#include <cuda_egl_interop.h>\nint main() {}\n", "x.cu:1: the EGL interface")

    def test_kernels_that_a_header_launches(self):
        self.refused_by_compiler(
            '#include "child.h"\nint main() { Child<<<1, 1>>>(0); }\n',
            "child.h:2: device code launches a kernel (dynamic parallelism)",
            options=("-rdc=true", "-lcudadevrt"),
            child="__global__ void Child(int d) {\n  if (d < 2) Child<<<1, 2>>>(d + 1);\n}\n",
        )

    def test_graphs_that_decide_by_themselves(self):
        said = self.refused_by_compiler(
            "#include <cuda.h>\nint main() {\n"
            "  cuGraphConditionalHandleCreate(0);\n  cuGraphConditionalHandleCreate(1);\n}\n",
            "x.cu:3: cuGraphConditionalHandleCreate: conditional nodes of graphs are not in the driver API",
        )
        self.assertEqual(said.count("conditional nodes"), 1)

    def test_too_much_constant_memory(self):
        self.refused_by_compiler(
            '__constant__ int little[4];\n#include "tables.h"\n'
            "__global__ void Kernel(int* out) { *out = large[0] + little[0]; }\n" + MAIN,
            "heddle-nvcc: tables.h:3: __constant__ variables take 80016 bytes, of which 'large' takes "
            "80000, but constant memory has 65536",
            tables="// Tables.\n__constant__ float\n    large[20000];\n",
        )
        fits = self.compile(
            "__constant__ char large[65536];\n__global__ void Kernel(int* out) { *out = large[*out]; }\n" + MAIN
        )
        self.assertEqual(fits.returncode, 0, fits.stderr)

    # --- when it is launched

    def test_bulk_copies(self):
        self.refused_by_launch(
            "__global__ void Kernel(int* out) {\n  __shared__ int s[128];\n"
            "  unsigned from = (unsigned)__cvta_generic_to_shared(s);\n"
            '  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1],\\n\\t 16;"\n'
            '               :: "l"(out + 4 * threadIdx.x), "r"(from));\n}\n',
            "x.cu:4: inline PTX 'cp.async.bulk.global.shared::cta.bulk_group",
            "is not supported: it is a bulk copy",
            options=("-arch=sm_90",),
        )

    def test_copies_of_other_sizes(self):
        self.refused_by_launch(
            "__global__ void Kernel(int* out) {\n  __shared__ int s[128];\n"
            "  unsigned to = (unsigned)__cvta_generic_to_shared(&s[4 * threadIdx.x]);\n"
            '  asm volatile("cp.async.cg.shared.global [%0], [%1], 8;" :: "r"(to), "l"(out));\n}\n',
            "x.cu:4: inline PTX 'cp.async.cg.shared.global [$0], [$1], 8;' is not supported",
            options=("-arch=sm_80",),
        )

    def test_split_barriers_of_old_devices(self):
        self.refused_by_launch(
            "#include <cuda_awbarrier_primitives.h>\n__global__ void Kernel(int* out) {\n"
            "  __shared__ __mbarrier_t barrier;\n  if (threadIdx.x == 0) __mbarrier_init(&barrier, 32);\n"
            "  __syncthreads();\n  *out = __mbarrier_test_wait(&barrier, __mbarrier_arrive(&barrier));\n}\n",
            "x.cu:4: a split barrier",
            "below compute capability 8.0",
            options=("-arch=sm_75",),
        )

    def test_tensor_cores(self):
        self.refused_by_launch(
            "\n__global__ void Kernel(int* out) {\n" '  asm volatile("wgmma.fence.sync.aligned;");\n  out[0] = 1;\n}\n',
            "x.cu:3: inline PTX 'wgmma.fence.sync.aligned;' is not supported: it is a product of matrices of a group",
            options=("-arch=sm_90a",),
        )
        self.refused_by_launch(
            "__global__ void Kernel(int* out) {\n  float a = 0, b = 0, c = 0, d = 0;\n"
            '  asm volatile("mma.sp.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, "\n'
            '               "{%4,%5}, {%6,%4}, {%0,%1,%2,%3}, %5, 0;"\n'
            '               : "+f"(a), "+f"(b), "+f"(c), "+f"(d)\n'
            '               : "r"(out[0]), "r"(out[1]), "r"(out[2]));\n  out[3] = a + b + c + d;\n}\n',
            "x.cu:3: inline PTX 'mma.sp.sync.aligned",
            "is not supported: it is a product of sparse matrices",
            options=("-arch=sm_80",),
        )

    def test_returns_in_inline_ptx(self):
        self.refused_by_launch(
            "__global__ void Kernel(int* out) {\n" '  asm volatile("add.s32 %0, %0, 1;\\n ret;" : "+r"(out[0]));\n}\n',
            "x.cu:2: inline PTX",
            "PTX line 2: a return within a statement",
        )

    def test_atomic_operations_on_16_bytes(self):
        self.refused_by_launch(
            "struct alignas(16) Pair { long long a, b; };\n__global__ void Kernel(int* out) {\n"
            "  const Pair old = atomicExch(reinterpret_cast<Pair*>(out), Pair{1, 2});\n"
            "  out[8] = static_cast<int>(old.a);\n}\n",
            "x.cu:3: an atomic operation on 16 bytes",
            options=("-arch=sm_90",),
        )

    def test_kernels_that_are_not_launched_do_no_harm(self):
        done = self.compile(
            "#include <cuda_pipeline.h>\n__global__ void Other() { __pipeline_commit(); }\n"
            "__global__ void Kernel(int* out) { *out = 1; }\n" + MAIN,
            "-arch=sm_80",
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(subprocess.run(["./x"], cwd=self.work, check=False).returncode, 0)


if __name__ == "__main__":
    unittest.main()
