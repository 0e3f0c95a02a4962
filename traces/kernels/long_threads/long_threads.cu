// Random walk of a 32-bit state, for as many steps as asked.
//
// Stands for nothing but length: few threads that run for hundreds of millions of instructions, or very many blocks.
// Memory that capture and replay need must depend on neither. Every thread takes a branch of its own about once in 64
// steps, so that paths differ and cannot be stored once for all.

__global__ void long_threads(unsigned* states, unsigned steps) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned state = thread + 1;
  for (unsigned step = 0; step < steps; ++step) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    if ((state & 63) == 0) {
      for (unsigned round = state >> 30; round > 0; --round) state = state * 1664525u + 1013904223u;
      state |= 1;
    }
  }
  states[thread] = state;
}
