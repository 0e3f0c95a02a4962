// Electrostatic potential with a cutoff: a grid point looks at the atoms of its own cell and of those around it.
//
// Stands for neighbour lists: cells hold different numbers of atoms, and a branch on the distance inside the loop.

// cells[cell_starts[c] ... cell_starts[c + 1]) are the atoms of cell c; cells of width 1, `side` per axis, in a plane;
// x and y are relative to the cell.
__global__ void cutoff_potential(const int* cell_starts, const float* x, const float* y, const float* charge,
                                 float* potential, int side, int per_cell) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int width = side * per_cell;
  if (column >= width || row >= width) return;
  const float px = (static_cast<float>(column) + 0.5f) / static_cast<float>(per_cell);
  const float py = (static_cast<float>(row) + 0.5f) / static_cast<float>(per_cell);
  const int cx = column / per_cell;
  const int cy = row / per_cell;
  float sum = 0.0f;
  for (int y_cell = max(cy - 1, 0); y_cell <= min(cy + 1, side - 1); ++y_cell) {
    for (int x_cell = max(cx - 1, 0); x_cell <= min(cx + 1, side - 1); ++x_cell) {
      const int cell = y_cell * side + x_cell;
      const int end = cell_starts[cell + 1];
      for (int i = cell_starts[cell]; i < end; ++i) {
        const float dx = px - (static_cast<float>(x_cell) + x[i]);
        const float dy = py - (static_cast<float>(y_cell) + y[i]);
        const float square = dx * dx + dy * dy;
        if (square < 1.0f) {
          const float smooth = 1.0f - square;
          sum += charge[i] * smooth * smooth * rsqrtf(square + 0.01f);
        }
      }
    }
  }
  potential[row * width + column] = sum;
}
