// Adds two vectors and scales the sum; lanes whose number is odd take another way. Prints the sum of all elements.
#include <cstdio>
#include <cstdlib>
#include <vector>

#ifndef BLOCK
#define BLOCK 128
#endif

__global__ void AddAndScale(const int* left, const int* right, int* sum, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  int value = left[i] + right[i];
  if (value % 2 != 0) {
    value = value * 3 + 1;
  }
  sum[i] = value;
}

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s NUMBERS\n", argv[0]);
    return 2;
  }
  std::FILE* file = std::fopen(argv[1], "r");
  if (file == nullptr) {
    std::fprintf(stderr, "error: cannot read %s\n", argv[1]);
    return 1;
  }
  std::vector<int> left;
  std::vector<int> right;
  int a = 0;
  int b = 0;
  while (std::fscanf(file, "%d %d", &a, &b) == 2) {
    left.push_back(a);
    right.push_back(b);
  }
  std::fclose(file);
  const int count = static_cast<int>(left.size());
  const size_t bytes = left.size() * sizeof(int);
  int* device[3];
  for (int*& buffer : device) cudaMalloc(&buffer, bytes);
  cudaMemcpy(device[0], left.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(device[1], right.data(), bytes, cudaMemcpyHostToDevice);
  AddAndScale<<<(count + BLOCK - 1) / BLOCK, BLOCK>>>(device[0], device[1], device[2], count);
  std::vector<int> sum(left.size());
  cudaMemcpy(sum.data(), device[2], bytes, cudaMemcpyDeviceToHost);
  long long total = 0;
  for (const int value : sum) total += value;
  std::printf("elements %d\ntotal %lld\n", count, total);
  return 0;
}
