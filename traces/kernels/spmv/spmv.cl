// Product of a sparse matrix (compressed sparse rows) and a vector, one work-item per row.
//
// Stands for irregular loops over skewed data: row lengths follow a power law, so one lane of a warp may work for
// hundreds of iterations while the others are done, and every lane gathers from its own places in memory.

__kernel void spmv(__global const int* row_pointers, __global const int* columns, __global const float* values,
                   __global const float* x, __global float* y, int rows) {
  const int row = get_global_id(0);
  if (row >= rows) return;
  const int end = row_pointers[row + 1];
  float sum = 0.0f;
  for (int i = row_pointers[row]; i < end; ++i) sum += values[i] * x[columns[i]];
  y[row] = sum;
}
