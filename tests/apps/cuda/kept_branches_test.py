#!/usr/bin/env python3
"""heddle-nvcc --keep-branches: selections of a program's device code are branches in its trace, and the output is right."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

BIN = pathlib.Path(os.environ["HEDDLE_BIN"])

# One selection: the larger of two numbers that are there anyway.
PROGRAM = r"""
#include <cstdio>
__global__ void Larger(int* data) {
  const int x = data[threadIdx.x], y = data[threadIdx.x + 32];
  data[threadIdx.x] = x > y ? x : y;
}
int main() {
  int host[64], *data;
  for (int i = 0; i < 64; ++i) host[i] = i * 37 % 64;
  cudaMalloc(&data, sizeof(host));
  cudaMemcpy(data, host, sizeof(host), cudaMemcpyHostToDevice);
  Larger<<<1, 32>>>(data);
  int back[32];
  cudaMemcpy(back, data, sizeof(back), cudaMemcpyDeviceToHost);
  for (int i = 0; i < 32; ++i) {
    if (back[i] != (host[i] > host[i + 32] ? host[i] : host[i + 32])) return 1;
  }
  return 0;
}
"""


def run(folder, *words):
    done = subprocess.run([str(word) for word in words], cwd=folder, capture_output=True, text=True, timeout=240)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: {done.stdout}{done.stderr}")
    return done.stdout


def branches_of(folder, *options):
    """How many conditional branches the kernel of the program's trace has, and how the trace says it was optimised."""
    run(folder, BIN / "heddle-nvcc", *options, "x.cu", "-o", "x")
    run(folder, BIN / "heddle", "capture", "--quiet", "-o", "x.htrace", "--", "./x")
    program = run(folder, BIN / "heddle", "trace", "dump", "--program", "x.htrace")
    info = run(folder, BIN / "heddle", "trace", "info", "x.htrace")
    return len(re.findall(r"if the branch is taken", program)), "keep-branches" in info


def main():
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work)
        (folder / "x.cu").write_text(PROGRAM)
        for options, expected in (((), (0, False)), (("--keep-branches",), (1, True))):
            found = branches_of(folder, *options)
            if found != expected:
                sys.exit(f"heddle-nvcc {' '.join(options)}: {found} instead of {expected}")
            print(f"heddle-nvcc {' '.join(options)}: {found[0]} branches")


if __name__ == "__main__":
    main()
