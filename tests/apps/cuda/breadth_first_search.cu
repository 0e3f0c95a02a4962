// Breadth-first search, level by level, whose threads race to mark nodes (with the same value): a flag says when to stop.
#include "check.h"

__global__ void Expand(const int* starts, const int* edges, int* levels, int level, int nodes, int* changed) {
  const int node = blockIdx.x * blockDim.x + threadIdx.x;
  if (node >= nodes || levels[node] != level) return;
  for (int i = starts[node]; i < starts[node + 1]; ++i) {
    const int next = edges[i];
    if (levels[next] < 0) {
      levels[next] = level + 1;
      *changed = 1;
    }
  }
}

int main() {
  const int nodes = 500, degree = 3;
  static int starts[nodes + 1], edges[nodes * degree], levels[nodes], expected[nodes];
  unsigned int random = 12345;
  for (int i = 0; i < nodes; ++i) {
    starts[i] = i * degree;
    for (int k = 0; k < degree; ++k) {
      random = random * 1664525u + 1013904223u;
      edges[i * degree + k] = (random >> 8) % nodes;
    }
    levels[i] = expected[i] = i == 0 ? 0 : -1;
  }
  starts[nodes] = nodes * degree;
  int queue[nodes], tail = 1;
  queue[0] = 0;
  for (int head = 0; head < tail; ++head) {
    for (int i = starts[queue[head]]; i < starts[queue[head] + 1]; ++i) {
      if (expected[edges[i]] >= 0) continue;
      expected[edges[i]] = expected[queue[head]] + 1;
      queue[tail++] = edges[i];
    }
  }
  int *device_starts, *device_edges, *device_levels, *changed;
  CALL(cudaMalloc(&device_starts, sizeof(starts)));
  CALL(cudaMalloc(&device_edges, sizeof(edges)));
  CALL(cudaMalloc(&device_levels, sizeof(levels)));
  CALL(cudaMalloc(&changed, sizeof(int)));
  CALL(cudaMemcpy(device_starts, starts, sizeof(starts), cudaMemcpyHostToDevice));
  CALL(cudaMemcpy(device_edges, edges, sizeof(edges), cudaMemcpyHostToDevice));
  CALL(cudaMemcpy(device_levels, levels, sizeof(levels), cudaMemcpyHostToDevice));
  int again = 1, rounds = 0;
  for (int level = 0; again != 0; ++level, ++rounds) {
    CALL(cudaMemset(changed, 0, sizeof(int)));
    Expand<<<(nodes + 127) / 128, 128>>>(device_starts, device_edges, device_levels, level, nodes, changed);
    CALL(cudaMemcpy(&again, changed, sizeof(int), cudaMemcpyDeviceToHost));
  }
  CALL(cudaMemcpy(levels, device_levels, sizeof(levels), cudaMemcpyDeviceToHost));
  for (int i = 0; i < nodes; ++i) EXPECT(levels[i] == expected[i]);
  printf("%d rounds\n", rounds);
  return Finish();
}
