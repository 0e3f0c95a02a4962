// For every node the pairs of neighbours that are neighbours of one another, by joining sorted lists.
//
// Stands for graph analytics: a loop over neighbours around a merge of two lists, all lengths from the data.

// triangles[u] = number of (v, w): v, w in list(u), w in list(v). Lists ascend.
__global__ void triangle_counting(const int* row_pointers, const int* neighbours, int* triangles, int nodes) {
  const int u = blockIdx.x * blockDim.x + threadIdx.x;
  if (u >= nodes) return;
  const int begin = row_pointers[u];
  const int end = row_pointers[u + 1];
  int found = 0;
  for (int edge = begin; edge < end; ++edge) {
    const int v = neighbours[edge];
    int i = begin;
    int j = row_pointers[v];
    const int end_j = row_pointers[v + 1];
    while (i < end && j < end_j) {
      const int a = neighbours[i];
      const int b = neighbours[j];
      if (a == b) {
        ++found;
        ++i;
        ++j;
      } else if (a < b) {
        ++i;
      } else {
        ++j;
      }
    }
  }
  triangles[u] = found;
}
