// One layer of a neural network, forward and the adjustment of its weights.
//
// Stands for kernels with a branch for one lane (`tx == 0` loads the inputs of a tile) and a tree in which ever fewer
// rows of a block work, barriers between.
//
// weights[i * hidden + j] leads from input i to hidden unit j; a block has 16 inputs (y) and 16 hidden units (x).

constexpr int kTile = 16;

// partial[tile * hidden + j] = sum over the tile's inputs of input * weight.
__global__ void forward(const float* inputs, const float* weights, float* partial, int hidden) {
  __shared__ float input[kTile];
  __shared__ float product[kTile][kTile];
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int row = blockIdx.y * kTile + ty;
  const int column = blockIdx.x * kTile + tx;
  if (tx == 0) input[ty] = inputs[row];
  __syncthreads();
  product[ty][tx] = weights[row * hidden + column] * input[ty];
  __syncthreads();
  for (int width = 1; width < kTile; width *= 2) {
    if (ty % (2 * width) == 0) product[ty][tx] += product[ty + width][tx];
    __syncthreads();
  }
  if (ty == 0) partial[blockIdx.y * hidden + column] = product[0][tx];
}

// weight += rate * delta * input + momentum * previous change.
__global__ void adjust(const float* inputs, const float* delta, float* weights, float* change, int hidden) {
  const int row = blockIdx.y * kTile + threadIdx.y;
  const int column = blockIdx.x * kTile + threadIdx.x;
  const int index = row * hidden + column;
  const float step = 0.3f * delta[column] * inputs[row] + 0.3f * change[index];
  weights[index] += step;
  change[index] = step;
}
