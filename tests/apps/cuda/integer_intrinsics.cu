// Intrinsics on integers and bits, and PTX's rules for shifts and conversions.
#include "check.h"

__global__ void Work(const unsigned int* in, long long* out) {
  const unsigned int x = in[threadIdx.x];
  long long* mine = out + threadIdx.x * 16;
  mine[0] = __popc(x);
  mine[1] = __clz(static_cast<int>(x));
  mine[2] = __ffs(static_cast<int>(x));
  mine[3] = __brev(x);
  mine[4] = __umulhi(x, 0x12345678u);
  mine[5] = __mul24(static_cast<int>(x), 3);
  mine[6] = __byte_perm(x, 0x44332211u, 0x5140);
  mine[7] = __popcll((static_cast<unsigned long long>(x) << 32) | 7);
  mine[8] = __funnelshift_l(x, ~x, 8);
  mine[9] = __usad(x, 100u, 5u);
  mine[10] = __float_as_int(static_cast<float>(x));
  mine[11] = __double2int_rz(1e300 * (x + 1.0)) == 2147483647;
  mine[12] = x << in[4];  // by 40: the hardware gives 0
  mine[13] = __hadd(static_cast<int>(x), 2);
  mine[14] = static_cast<long long>(__umul64hi(static_cast<unsigned long long>(x) << 32, 1ull << 33));
  mine[15] = __sad(-5, 3, 1u);
}

int main() {
  const unsigned int host[5] = {0u, 1u, 0x80000000u, 0x00f0ff0fu, 40u};
  unsigned int* in;
  long long *out, got[4][16];
  CALL(cudaMalloc(&in, sizeof(host)));
  CALL(cudaMalloc(&out, sizeof(got)));
  CALL(cudaMemcpy(in, host, sizeof(host), cudaMemcpyHostToDevice));
  Work<<<1, 4>>>(in, out);
  CALL(cudaMemcpy(got, out, sizeof(got), cudaMemcpyDeviceToHost));
  for (int i = 0; i < 4; ++i) {
    const unsigned int x = host[i];
    unsigned int reversed = 0;
    for (int b = 0; b < 32; ++b) reversed |= ((x >> b) & 1u) << (31 - b);
    EXPECT(got[i][0] == __builtin_popcount(x));
    EXPECT(got[i][1] == (x == 0 ? 32 : __builtin_clz(x)));
    EXPECT(got[i][2] == __builtin_ffs(static_cast<int>(x)));
    EXPECT(got[i][3] == static_cast<long long>(reversed));
    EXPECT(got[i][4] == static_cast<long long>((static_cast<unsigned long long>(x) * 0x12345678u) >> 32));
    EXPECT(got[i][5] == ((static_cast<int>(x << 8) >> 8) * 3));
    // Selector 0x5140: byte 0 of x, byte 0 of the second, byte 1 of x, byte 1 of the second.
    EXPECT(got[i][6] == static_cast<long long>((x & 0xffu) | 0x1100u | ((x >> 8 & 0xffu) << 16) | 0x22000000u));
    EXPECT(got[i][7] == __builtin_popcount(x) + 3);
    EXPECT(got[i][8] == static_cast<long long>(static_cast<unsigned int>(~x << 8 | x >> 24)));
    EXPECT(got[i][9] == static_cast<long long>((x > 100 ? x - 100 : 100 - x) + 5u));
    float as_float = static_cast<float>(x);
    int bits;
    __builtin_memcpy(&bits, &as_float, 4);
    EXPECT(got[i][10] == bits && got[i][11] == 1 && got[i][12] == 0);
    EXPECT(got[i][13] == (static_cast<long long>(static_cast<int>(x)) + 2) >> 1);
    EXPECT(got[i][14] == static_cast<long long>(2ull * x));
    EXPECT(got[i][15] == 9);
  }
  return Finish();
}
