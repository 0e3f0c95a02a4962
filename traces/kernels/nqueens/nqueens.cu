// Counts the ways to place N queens on an N x N board, by backtracking without recursion.
//
// Stands for search kernels: each thread owns the placements that start with three given columns. Most prefixes are
// illegal and end at once, the others walk trees of very different size and shape, so the lanes of a warp drift apart
// in a loop whose every iteration branches on data. The stack is a local array.
//
// A board is three bit masks: columns taken, and the diagonals that reach the current row from either side.

constexpr int kPrefixRows = 3;
constexpr int kMaxQueens = 16;

struct Row {
  unsigned columns;
  unsigned left;   // diagonals that move to higher columns from row to row
  unsigned right;  // diagonals that move to lower columns
  unsigned open;   // columns of this row still to try
};

// solutions[i] = number of solutions whose first rows have the columns i % queens, i / queens % queens, ...
__global__ void nqueens(unsigned* solutions, int queens) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  const int prefixes = queens * queens * queens;
  if (thread >= prefixes) return;

  const unsigned board = (1u << queens) - 1;
  unsigned columns = 0;
  unsigned left = 0;
  unsigned right = 0;
  int prefix = thread;
  for (int row = 0; row < kPrefixRows; ++row) {
    const unsigned bit = 1u << (prefix % queens);
    if ((columns | left | right) & bit) {
      solutions[thread] = 0;
      return;
    }
    columns |= bit;
    left = ((left | bit) << 1) & board;
    right = (right | bit) >> 1;
    prefix /= queens;
  }

  Row stack[kMaxQueens];
  unsigned found = 0;
  int depth = 0;
  int remaining = queens - kPrefixRows;  // rows from the top of the stack to the end of the board
  stack[0] = {columns, left, right, board & ~(columns | left | right)};
  while (depth >= 0) {
    Row& row = stack[depth];
    if (row.open == 0) {  // all columns of this row were tried
      --depth;
      ++remaining;
      continue;
    }
    const unsigned bit = row.open & (0u - row.open);
    row.open ^= bit;
    if (remaining == 1) {
      ++found;
      continue;
    }
    columns = row.columns | bit;
    left = ((row.left | bit) << 1) & board;
    right = (row.right | bit) >> 1;
    const unsigned open = board & ~(columns | left | right);
    if (open != 0) {
      ++depth;
      --remaining;
      stack[depth] = {columns, left, right, open};
    }
  }
  solutions[thread] = found;
}
