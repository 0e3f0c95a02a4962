// SHA-1 of many messages of one block each.
//
// Stands for hashing: a long straight chain of dependent integer operations, hardly any memory.

__device__ unsigned Rotate(unsigned value, int bits) { return value << bits | value >> (32 - bits); }

// messages[16 * i ...] are the words of message i, padding included; hashes[5 * i ...].
__global__ void sha1(const unsigned* messages, unsigned* hashes, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  unsigned words[16];
#pragma unroll
  for (int w = 0; w < 16; ++w) words[w] = messages[16 * i + w];
  unsigned a = 0x67452301u;
  unsigned b = 0xefcdab89u;
  unsigned c = 0x98badcfeu;
  unsigned d = 0x10325476u;
  unsigned e = 0xc3d2e1f0u;
#pragma unroll
  for (int round = 0; round < 80; ++round) {
    if (round >= 16) {
      words[round % 16] =
          Rotate(words[(round + 13) % 16] ^ words[(round + 8) % 16] ^ words[(round + 2) % 16] ^ words[round % 16], 1);
    }
    unsigned mix;
    if (round < 20) {
      mix = ((b & c) | (~b & d)) + 0x5a827999u;
    } else if (round < 40) {
      mix = (b ^ c ^ d) + 0x6ed9eba1u;
    } else if (round < 60) {
      mix = ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdcu;
    } else {
      mix = (b ^ c ^ d) + 0xca62c1d6u;
    }
    const unsigned next = Rotate(a, 5) + mix + e + words[round % 16];
    e = d;
    d = c;
    c = Rotate(b, 30);
    b = a;
    a = next;
  }
  hashes[5 * i] = a + 0x67452301u;
  hashes[5 * i + 1] = b + 0xefcdab89u;
  hashes[5 * i + 2] = c + 0x98badcfeu;
  hashes[5 * i + 3] = d + 0x10325476u;
  hashes[5 * i + 4] = e + 0xc3d2e1f0u;
}
