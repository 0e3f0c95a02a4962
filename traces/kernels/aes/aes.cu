// AES-128 in counter mode: every thread makes one block of key stream and adds it to the text.
//
// Stands for encryption with tables: sixteen gathers from shared memory per round whose banks depend on data; no
// divergence. The substitution table is computed by `prepare`, which need not be recorded.

__device__ unsigned char MultiplyByTwo(unsigned char a) {
  return static_cast<unsigned char>(a << 1 ^ ((a & 0x80) != 0 ? 0x1b : 0));
}

// substitution[256], then round_keys[176] from the key. One thread.
__global__ void prepare(const unsigned char* key, unsigned char* substitution, unsigned char* round_keys) {
  unsigned char p = 1;
  unsigned char q = 1;
  do {  // p runs through the field by the generator 3, q is its inverse
    p = static_cast<unsigned char>(p ^ MultiplyByTwo(p));
    q = static_cast<unsigned char>(q ^ q << 1);
    q = static_cast<unsigned char>(q ^ q << 2);
    q = static_cast<unsigned char>(q ^ q << 4);
    if ((q & 0x80) != 0) q ^= 0x09;
    const unsigned wide = q * 0x101u;
    substitution[p] = static_cast<unsigned char>((wide ^ wide >> 4 ^ wide >> 5 ^ wide >> 6 ^ wide >> 7 ^ 0x63) & 0xff);
  } while (p != 1);
  substitution[0] = 0x63;
  unsigned char constant = 1;
  for (int i = 0; i < 16; ++i) round_keys[i] = key[i];
  for (int i = 16; i < 176; i += 4) {
    for (int b = 0; b < 4; ++b) {
      unsigned char byte = round_keys[i - 4 + b];
      if (i % 16 == 0) {
        byte = substitution[round_keys[i - 4 + (b + 1) % 4]];
        if (b == 0) byte ^= constant;
      }
      round_keys[i + b] = static_cast<unsigned char>(round_keys[i - 16 + b] ^ byte);
    }
    if (i % 16 == 0) constant = MultiplyByTwo(constant);
  }
}

__global__ void aes(const unsigned char* substitution, const unsigned char* round_keys, unsigned* text, int blocks) {
  __shared__ unsigned char table[256];
  __shared__ unsigned char keys[176];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) table[i] = substitution[i];
  for (int i = threadIdx.x; i < 176; i += blockDim.x) keys[i] = round_keys[i];
  __syncthreads();
  const int block = blockIdx.x * blockDim.x + threadIdx.x;
  if (block >= blocks) return;
  unsigned char state[16];
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    const unsigned char counter = i < 12 ? 0 : static_cast<unsigned char>(block >> (8 * (15 - i)));
    state[i] = static_cast<unsigned char>(counter ^ keys[i]);
  }
  for (int round = 1; round <= 10; ++round) {
    unsigned char shifted[16];
#pragma unroll
    for (int i = 0; i < 16; ++i) shifted[i] = table[state[(i + 4 * (i % 4)) % 16]];
#pragma unroll
    for (int c = 0; c < 16; c += 4) {
      const unsigned char all =
          static_cast<unsigned char>(shifted[c] ^ shifted[c + 1] ^ shifted[c + 2] ^ shifted[c + 3]);
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        unsigned char mixed = shifted[c + r];
        if (round < 10) {
          mixed = static_cast<unsigned char>(
              mixed ^ all ^ MultiplyByTwo(static_cast<unsigned char>(shifted[c + r] ^ shifted[c + (r + 1) % 4])));
        }
        state[c + r] = static_cast<unsigned char>(mixed ^ keys[16 * round + c + r]);
      }
    }
  }
#pragma unroll
  for (int word = 0; word < 4; ++word) {
    text[4 * block + word] ^= state[4 * word] | state[4 * word + 1] << 8 | state[4 * word + 2] << 16 |
                              static_cast<unsigned>(state[4 * word + 3]) << 24;
  }
}
