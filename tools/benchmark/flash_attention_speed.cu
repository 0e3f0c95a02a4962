// A program around the kernel of traces/kernels/flash_attention_2: flash_attention_speed [SEQUENCES [LENGTH]]. Launches
// it without and with a causal mask, and prints a number made of the outputs, which must be the same however it runs.
// tools/benchmark/flash-attention-speed compares its time without and with capture.
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#include <vector>

#include "../../traces/kernels/flash_attention_2/flash_attention_2.cu"

static void Check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  fprintf(stderr, "flash_attention_speed: %s: %s\n", what, cudaGetErrorString(error));
  exit(1);
}

// `count` elements in half precision from a generator with that seed.
static __half* Elements(int count, unsigned state) {
  std::vector<signed char> values(count);
  for (signed char& value : values) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<signed char>(state >> 24);
  }
  signed char* on_device = nullptr;
  __half* elements = nullptr;
  Check(cudaMalloc(&on_device, count), "cudaMalloc");
  Check(cudaMalloc(&elements, count * sizeof(__half)), "cudaMalloc");
  Check(cudaMemcpy(on_device, values.data(), count, cudaMemcpyHostToDevice), "cudaMemcpy");
  to_half<<<(count + 127) / 128, 128>>>(on_device, elements, count);
  Check(cudaGetLastError(), "to_half");
  Check(cudaFree(on_device), "cudaFree");
  return elements;
}

int main(int argc, char** argv) {
  const int sequences = argc > 1 ? atoi(argv[1]) : 8;
  const int length = argc > 2 ? atoi(argv[2]) : 1024;
  if (sequences < 1 || sequences > 1024 || length < 1 || length > 16384) {
    fprintf(stderr, "usage: flash_attention_speed [SEQUENCES [LENGTH]], at most 1024 and 16384\n");
    return 2;
  }
  const int rows = sequences * length;
  __half* const queries = Elements(rows * kWidth, 1);
  __half* const keys = Elements(rows * kWidth, 2);
  __half* const values = Elements(rows * kWidth, 3);
  float* outputs = nullptr;
  float* logs = nullptr;
  Check(cudaMalloc(&outputs, sizeof(float) * rows * kWidth), "cudaMalloc");
  Check(cudaMalloc(&logs, sizeof(float) * rows), "cudaMalloc");

  const dim3 grid((length + kQueries - 1) / kQueries, sequences);
  const float scale = 1.4426950409f / sqrtf(kWidth);
  std::vector<float> result(static_cast<size_t>(rows) * kWidth);
  double total = 0;
  for (int causal = 0; causal < 2; ++causal) {
    flash_attention_2<<<grid, kThreads>>>(queries, keys, values, outputs, logs, length, scale, causal);
    Check(cudaGetLastError(), "flash_attention_2");
    Check(cudaMemcpy(result.data(), outputs, sizeof(float) * result.size(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    for (size_t i = 0; i < result.size(); ++i) total += result[i] * (i % 31 + 1);
  }
  printf("%d sequences of %d: %.17g\n", sequences, length, total);
  return 0;
}
