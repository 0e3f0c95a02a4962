"""`heddle capture --virtual-blocks`: what it prints is what `heddle replay --dispatch` takes."""
import json
import re
import sys

from heddle_command import CAPTURE, SAMPLES, SOURCE, CommandTest, heddle, main, results

KERNEL = SOURCE / "traces" / "kernels" / "mandelbrot" / "mandelbrot.cl"
RECIPE = SOURCE / "traces" / "kernels" / "mandelbrot" / "mandelbrot.tiny.textproto"


class VirtualBlocks(CommandTest):
    def measured(self, file):
        done = heddle("capture", "--virtual-blocks", "--json", file)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def test_a_replay_takes_what_is_measured(self):
        cost = self.measured(KERNEL)
        self.assertEqual(cost["kernel"], "mandelbrot")
        words = cost["dispatch"]
        text = heddle("capture", "--virtual-blocks", KERNEL).stdout
        self.assertEqual(re.search(r"--dispatch (\S+)", text).group(1), words)
        run = results(SAMPLES / "mandelbrot.htrace", "--machine", "fermi_fixed", "--set", "sms=1", "--dispatch", words)[
            0
        ]
        launch = run["launch"][0]
        self.assertEqual(run["dispatch"]["parameter"]["once_instructions"], str(cost["once_instructions"]))
        # The wrapper's instructions of all warps: in their first iteration, and what hoisting leaves of it in later ones.
        counters = launch["dispatch_counter"]
        first = cost["once_instructions"] + cost["iteration_instructions"]
        later = max(cost["iteration_instructions"] - cost["hoisted_instructions"], 0)
        warps = (launch["inserted_instructions"] - counters["iterations"] * later) / first
        self.assertEqual(warps, int(warps))
        self.assertEqual(warps % counters["virtual_blocks"], 0)

    def test_recipes_compile_as_they_say(self):
        self.assertEqual(self.measured(RECIPE)["kernel"], "mandelbrot")

    def test_sources_of_programs(self):
        """Host code, headers of the program, macros; a kernel that cannot be measured does no harm to the others."""
        headers = self.folder / "headers"
        headers.mkdir()
        (headers / "weights.h").write_text(
            "#include <vector>\ntemplate <typename T> __device__ T Twice(T x) { return 2 * x; }\n"
        )
        source = self.folder / "program.cu"
        source.write_text(
            '#include <cstdio>\n#include <cuda_runtime.h>\n#include "weights.h"\n'
            "__global__ void Forever(volatile int* p) { for (;;) *p += 1; }\n"
            "__global__ void Scale(int* p, int n) {\n"
            "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) p[i] = Twice(p[i]) + OFFSET;\n}\n"
            "int main() {\n  std::vector<int> host(OFFSET);\n  int* p;\n  cudaMalloc(&p, 4);\n"
            '  Scale<<<1, 32>>>(p, 1);\n  Forever<<<1, 1>>>(p);\n  std::printf("%zu\\n", host.size());\n}\n'
        )
        options = ["-I", headers, "-D", "OFFSET=3", "--arch", "sm_60", "--nvcc-options", "-use_fast_math -std=c++14"]
        done = heddle("capture", "--virtual-blocks", "--json", *options, source)
        self.assertEqual(done.returncode, 0, done.stderr)
        cost = json.loads(done.stdout)
        self.assertEqual(cost["kernel"], "Scale")
        self.assertGreater(cost["instructions"], 5)
        self.assertRegex(
            done.stderr, r"\Aheddle-capture: \S+program.cu: kernel Forever is left out: .*never returns.*\n\Z"
        )
        done = heddle("capture", "--virtual-blocks", "-I", headers, source)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"\Aheddle-capture: \S+program.cu:7: .*OFFSET.*\n\Z")

    def test_it_refuses(self):
        for status, words, says in ((2, [], "file"), (1, [self.folder / "none.cu"], "none.cu")):
            done = heddle("capture", "--virtual-blocks", *words)
            self.assertEqual((done.returncode, done.stdout), (status, ""))
            self.assertRegex(done.stderr, rf"\Aheddle-capture: .*{says}.*\n\Z")


if __name__ == "__main__":
    if not CAPTURE:
        print("a build without capture")
        sys.exit(0)
    main()
