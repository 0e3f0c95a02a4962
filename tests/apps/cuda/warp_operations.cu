// Shuffles, votes, matches, among all threads of a warp and among some.
#include "check.h"

__global__ void Work(int* out) {
  const int lane = threadIdx.x % 32;
  int sum = lane;
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  sum = __shfl_sync(0xffffffffu, sum, 0);
  int prefix = lane;
  for (int offset = 1; offset < 32; offset *= 2) {
    const int other = __shfl_up_sync(0xffffffffu, prefix, offset);
    if (lane >= offset) prefix += other;
  }
  const double swapped = __shfl_xor_sync(0xffffffffu, lane * 0.5, 1);
  const unsigned int odd = __ballot_sync(0xffffffffu, lane & 1);
  const unsigned int same = __match_any_sync(0xffffffffu, lane / 4);
  int some = 0;
  if (lane < 8) {
    some = __shfl_xor_sync(0xffu, lane * 10, 4);
    // Lanes 8 to 31 do not take part, and add nothing.
    int few = lane;
    for (int offset = 16; offset > 0; offset /= 2) few += __shfl_down_sync(0xffu, few, offset);
    some += __shfl_sync(0xffu, few, 0) * 10000;
    some += __any_sync(0xffu, lane == 7) * 1000 + __all_sync(0xffu, lane < 8) * 2000;
  }
  __syncwarp();
  int* mine = out + threadIdx.x * 6;
  mine[0] = sum;
  mine[1] = prefix;
  mine[2] = static_cast<int>(swapped * 2);
  mine[3] = static_cast<int>(odd);
  mine[4] = static_cast<int>(same);
  mine[5] = some;
}

int main() {
  const int threads = 64;
  int host[threads][6], *out;
  CALL(cudaMalloc(&out, sizeof(host)));
  Work<<<1, threads>>>(out);
  CALL(cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost));
  for (int i = 0; i < threads; ++i) {
    const int lane = i % 32;
    EXPECT(host[i][0] == 496 && host[i][1] == lane * (lane + 1) / 2 && host[i][2] == (lane ^ 1));
    EXPECT(static_cast<unsigned int>(host[i][3]) == 0xaaaaaaaau);
    EXPECT(static_cast<unsigned int>(host[i][4]) == 0xfu << (lane / 4 * 4));
    EXPECT(host[i][5] == (lane < 8 ? (lane ^ 4) * 10 + 283000 : 0));
  }
  return Finish();
}
