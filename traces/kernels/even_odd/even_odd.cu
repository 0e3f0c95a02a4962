// Alternates between a long and a short step, odd threads one iteration out of phase with even ones.
//
// Stands for the contrived loop of Fung's thesis (section 3.3): in every iteration half of a warp takes the long side,
// so that waiting for each other at the end of the body costs half of the throughput, although the threads would do the
// same work if one half were allowed to run one iteration ahead.

__global__ void even_odd(unsigned* states, int iterations) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned state = states[thread];
  for (int i = 0; i < iterations; ++i) {
    if (((thread ^ i) & 1) != 0) {
      // A chain of dependent operations: nothing for the compiler to turn into selections.
#pragma unroll
      for (int step = 0; step < 8; ++step) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
      }
      if (state == 0) state = 1;
    } else {
      state = state * 5u + 1u;
    }
  }
  states[thread] = state;
}
