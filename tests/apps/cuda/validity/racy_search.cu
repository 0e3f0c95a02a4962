// Breadth-first search whose threads take their places in the next frontier from an atomic counter: distances are those of
// any order, but which thread works on which vertex of a frontier depends on the order before.
#include "../check.h"

const int kVertices = 1000;

__global__ void Expand(const int* first, const int* edges, const int* frontier, int size, int* distance, int level,
                       int* next, int* next_size) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= size) return;
  const int vertex = frontier[i];
  for (int e = first[vertex]; e < first[vertex + 1]; ++e) {
    if (atomicCAS(&distance[edges[e]], -1, level) != -1) continue;
    next[atomicAdd(next_size, 1)] = edges[e];
  }
}

__global__ void Scale(int* distance) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kVertices) distance[i] *= 3;
}

int main() {
  static int first[kVertices + 1], edges[8 * kVertices], host[kVertices], expected[kVertices];
  int count = 0;
  for (int v = 0; v < kVertices; ++v) {
    first[v] = count;
    for (int e = 0; e < 1 + v * 7 % 6; ++e) edges[count++] = (v * 31 + e * 17 + 1) % kVertices;
    expected[v] = -1;
  }
  first[kVertices] = count;
  int *d_first, *d_edges, *frontier[2], *size, *distance;
  CALL(cudaMalloc(&d_first, sizeof(first)));
  CALL(cudaMalloc(&d_edges, sizeof(edges)));
  CALL(cudaMalloc(&frontier[0], sizeof(host)));
  CALL(cudaMalloc(&frontier[1], sizeof(host)));
  CALL(cudaMalloc(&distance, sizeof(host)));
  CALL(cudaMalloc(&size, sizeof(int)));
  CALL(cudaMemcpy(d_first, first, sizeof(first), cudaMemcpyHostToDevice));
  CALL(cudaMemcpy(d_edges, edges, sizeof(edges), cudaMemcpyHostToDevice));
  CALL(cudaMemset(distance, 0xff, sizeof(host)));
  CALL(cudaMemset(distance, 0, sizeof(int)));
  CALL(cudaMemset(frontier[0], 0, sizeof(int)));
  int in_frontier = 1;
  for (int level = 1; in_frontier > 0; ++level) {
    CALL(cudaMemset(size, 0, sizeof(int)));
    Expand<<<(in_frontier + 63) / 64, 64>>>(d_first, d_edges, frontier[1 - level % 2], in_frontier, distance, level,
                                            frontier[level % 2], size);
    CALL(cudaMemcpy(&in_frontier, size, sizeof(int), cudaMemcpyDeviceToHost));
  }
  Scale<<<(kVertices + 127) / 128, 128>>>(distance);
  CALL(cudaMemcpy(host, distance, sizeof(host), cudaMemcpyDeviceToHost));
  expected[0] = 0;
  for (int level = 0, found = 1; found != 0; ++level) {
    found = 0;
    for (int v = 0; v < kVertices; ++v) {
      if (expected[v] != level) continue;
      for (int e = first[v]; e < first[v + 1]; ++e) {
        if (expected[edges[e]] != -1) continue;
        expected[edges[e]] = level + 1;
        found = 1;
      }
    }
  }
  for (int v = 0; v < kVertices; ++v) EXPECT(host[v] == expected[v] * 3);
  return Finish();
}
