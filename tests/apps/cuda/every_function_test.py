#!/usr/bin/env python3
"""Every device function of the list every_function.txt compiles, runs, is recorded, and does on the device what it does on
the host.

The list has lines "(TYPES): NAMES": functions that take these types. "host" in front: host code has them, too;
"unlaunched": they are compiled only. A program is made of it with one call of each, in kernels of some dozen calls, and for
functions of both sides a call on the host with the same arguments, whose result has to agree within some units of the last
place.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CALLS_PER_KERNEL = 24

# Values by the position of the argument, inside the domain of (nearly) every function.
VALUES = {
    "float": ["0.75f", "0.5f", "1.25f", "2.0f"],
    "double": ["0.75", "0.5", "1.25", "2.0"],
    "half": ["__float2half(0.75f)", "__float2half(0.5f)", "__float2half(1.25f)"],
    "bfloat16": ["__float2bfloat16(0.75f)", "__float2bfloat16(0.5f)", "__float2bfloat16(1.25f)"],
    "half2": ["__floats2half2_rn(0.75f, 2.0f)", "__floats2half2_rn(0.5f, 2.0f)", "__floats2half2_rn(1.25f, 0.25f)"],
    "bfloat162": [
        "__floats2bfloat162_rn(0.75f, 2.0f)",
        "__floats2bfloat162_rn(0.5f, 2.0f)",
        "__floats2bfloat162_rn(1.25f, 0.25f)",
    ],
    "texture": ["static_cast<cudaTextureObject_t>(0)"],
    "surface": ["static_cast<cudaSurfaceObject_t>(0)"],
    "boundary": ["cudaBoundaryModeTrap"],
    "mask": ["0xffffffffu"],
    "width": ["32"],
}
WHOLE = ["5", "3", "2", "1", "4", "6"]
WORDS = ["0x81c2a30fu", "0x0f1e90c4u", "0x00017fffu", "1u"]
# Results that are no numbers, or others on the host.
NOT_COMPARED = {"clock", "nan", "nanf", "memcpy", "memset"}


def read_list(path):
    """(where it is tried, types, name) of every function."""
    functions = []
    for line in path.read_text().splitlines():
        match = re.fullmatch(r"(host |unlaunched )?\((.*?)\): (.*)", line)
        if match is None:
            if line and not line.startswith("#"):
                sys.exit(f"{path}: not a line of the list: {line}")
            continue
        types = [kind for kind in match.group(2).split(", ") if kind]
        functions += [((match.group(1) or "").strip(), types, name) for name in match.group(3).split()]
    return functions


def argument(kind, position, words):
    if kind.endswith("*"):
        return f"Place<{kind[:-1]}>(scratch, {position})"
    if kind in VALUES:
        return VALUES[kind][position % len(VALUES[kind])]
    if kind == "unsigned" and words:
        return WORDS[position]
    if re.fullmatch(r"[a-z]+[234]", kind):  # a vector of CUDA's
        return f"make_{kind}({', '.join(WHOLE[:int(kind[-1])])})"
    return f"static_cast<{kind}>({WHOLE[position]})"


def call_of(function):
    _, types, name = function
    words = not name.endswith("_sync") and "funnelshift" not in name and "mask" not in types
    return f"{name}({', '.join(argument(kind, i, words) for i, kind in enumerate(types))})"


PROLOGUE = r"""
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdio>
#include <cstring>

typedef __nv_bfloat16 bfloat16;
typedef __nv_bfloat162 bfloat162;

// The result of a call: its bytes, or its numbers as doubles.
struct Result {
  double number[4];
};
#define NUMBERS(type, ...)                                     \
  inline __host__ __device__ void Keep(type value, Result* to) { \
    const double all[] = {__VA_ARGS__};                        \
    memcpy(to, all, sizeof(all));                              \
  }
NUMBERS(float, value)
NUMBERS(double, value)
NUMBERS(half, __half2float(value))
NUMBERS(bfloat16, __bfloat162float(value))
NUMBERS(half2, __low2float(value), __high2float(value))
NUMBERS(bfloat162, __low2float(value), __high2float(value))
NUMBERS(float2, value.x, value.y)
template <typename T>
__host__ __device__ void Keep(T value, Result* to) {
  static_assert(sizeof(T) <= sizeof(Result), "");
  memcpy(to, &value, sizeof(T));
}
template <typename T>
__host__ __device__ T* Place(char* scratch, int position) {
  return reinterpret_cast<T*>(scratch + 64 * position);
}
// Also of calls without a result.
struct Nothing {};
template <typename T>
__host__ __device__ T operator,(T value, Nothing) { return value; }
#define KEEP(to, ...) Keep(((__VA_ARGS__), Nothing()), to)
inline __host__ __device__ void Keep(Nothing, Result*) {}

static int failures = 0;
void Compare(const char* call, const Result& device, const Result& host, bool numbers, double tolerance) {
  bool same = memcmp(&device, &host, sizeof(Result)) == 0;
  for (int i = 0; i < 4 && numbers && !same; ++i) {
    const double x = device.number[i], y = host.number[i];
    same = x == y || (x != x && y != y) || std::fabs(x - y) <= tolerance * std::fabs(y);
    if (!same) break;
  }
  if (same) return;
  ++failures;
  std::printf("%s: %.17g %.17g on the device, %.17g %.17g on the host\n", call, device.number[0], device.number[1],
              host.number[0], host.number[1]);
}
template <typename T>
struct Kind {
  static constexpr bool numbers = false;
  static constexpr double tolerance = 0;
};
#define PRECISION(type, value)                 \
  template <>                                  \
  struct Kind<type> {                     \
    static constexpr bool numbers = true;      \
    static constexpr double tolerance = value; \
  };
PRECISION(float, 1e-6)
PRECISION(double, 1e-13)
PRECISION(half, 0)
PRECISION(bfloat16, 0)
PRECISION(half2, 0)
PRECISION(bfloat162, 0)
PRECISION(float2, 1e-6)
"""


def program(functions):
    text = [PROLOGUE]
    unlaunched = [function for function in functions if function[0] == "unlaunched"]
    functions = [function for function in functions if function[0] != "unlaunched"]
    text.append("__global__ void Unlaunched(Result* results, char* scratch) {")
    text += [f"  KEEP(results, {call_of(function)});" for function in unlaunched]
    text.append("}")
    groups = [functions[i : i + CALLS_PER_KERNEL] for i in range(0, len(functions), CALLS_PER_KERNEL)]
    for number, group in enumerate(groups):
        text.append(f"__global__ void Kernel{number}(Result* results, char* scratch) {{")
        text += [f"  KEEP(results + {i}, {call_of(function)});" for i, function in enumerate(group)]
        text.append("}")
    text.append(
        "int main() {\n  static char scratch[4096];\n  Result *results, host;\n  char* memory;\n"
        f"  cudaMallocManaged(&results, {CALLS_PER_KERNEL} * sizeof(Result));\n"
        "  cudaMallocManaged(&memory, sizeof(scratch));"
    )
    for number, group in enumerate(groups):
        text.append(
            f"  memset(results, 0, {CALLS_PER_KERNEL} * sizeof(Result));\n"
            f"  memset(memory, 0, sizeof(scratch));\n  Kernel{number}<<<1, 32>>>(results, memory);\n"
            "  if (cudaError_t error = cudaGetLastError()) {\n"
            f'    std::printf("kernel {number} (from {group[0][2]} on): %s\\n", cudaGetErrorString(error));\n'
            "    ++failures;\n  }"
        )
        for i, function in enumerate(group):
            if function[0] != "host" or function[2] in NOT_COMPARED:
                continue
            call = call_of(function)
            text.append(
                f"  memset(&host, 0, sizeof(host));\n  memset(scratch, 0, sizeof(scratch));\n"
                f'  KEEP(&host, {call});\n  Compare("{call}", results[{i}], host, Kind<decltype({call})>::numbers,'
                f" Kind<decltype({call})>::tolerance);"
            )
    text.append('  if (failures == 0) std::puts("PASS");\n  return failures != 0;\n}')
    return "\n".join(text) + "\n"


def main():
    functions = read_list(HERE / "every_function.txt")
    nvcc = pathlib.Path(os.environ["HEDDLE_BIN"]) / "heddle-nvcc"
    heddle = nvcc.with_name("heddle")
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "every_function.cu"
        source.write_text(program(functions))
        for command in (
            [nvcc, "-O0", "-w", "-arch=sm_90", "-std=c++17", source, "-o", f"{folder}/program"],
            [f"{folder}/program"],
            [heddle, "capture", "--quiet", "-o", f"{folder}/trace.htrace", "--", f"{folder}/program"],
            [heddle, "trace", "check", f"{folder}/trace.htrace"],
        ):
            done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
            print(done.stdout + done.stderr[-4000:], end="")
            if done.returncode != 0:
                sys.exit(f"{command[0]}: ended with {done.returncode}")


if __name__ == "__main__":
    main()
