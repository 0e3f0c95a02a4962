// What a line is after an access: whether the next load of it hits the L1. Each turn has a line of its own that lies in
// the L2 and not in the L1.
#include "tools/hardware/benchmarks/sampling.h"

namespace heddle::hardware {
namespace {

#ifndef HEDDLE_STAND_IN  // which has no caches

constexpr int kTurns = 9;  // the first one warms up
constexpr int kApart = 1024;

__device__ unsigned LoadWord(const char* p) {
  unsigned x;
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(x) : "l"(p) : "memory");
  return x;
}
__device__ void StoreWord(char* p, unsigned x) { asm volatile("st.global.u32 [%0], %1;" ::"l"(p), "r"(x) : "memory"); }

// What happens before the load that is timed: a load of `touch` bytes into the line, then a store at `store`, both
// where not negative; then a wait; then the load at `load`. With `half`, the store is one of 16 lanes, 64 bytes.
struct Before {
  int touch;
  int store;
  bool half;
  int load;
};

// The three pointers are the same. The assembler must not know, or it would take what was stored.
__global__ void LoadAfter(const char* touched, char* stored, const char* loaded, Before before, int wait, float a,
                          float b, long long* cycles, unsigned* sink) {
  volatile __shared__ unsigned arrived;
  volatile __shared__ unsigned long long kept[32];
  unsigned sum = 0;
  float y = static_cast<float>(wait);
#pragma unroll 1
  for (int turn = 0; turn < kTurns; ++turn) {
    const char* load = Pinned(loaded + turn * kApart + before.load, kept);
    const char* touch = Pinned(touched + turn * kApart + before.touch, kept);
    if (before.touch >= 0) sum += LoadWord(touch);
    arrived = sum;
    if (before.store >= 0 && (before.half ? threadIdx.x < 16 : threadIdx.x == 0)) {
      StoreWord(stored + turn * kApart + before.store + threadIdx.x * 4, turn);
    }
    __syncwarp();
#pragma unroll 1
    for (int i = 0; i < wait; ++i) asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(y) : "f"(a), "f"(b));
    arrived = __float_as_int(y);
    const long long begin = clock64();
    sum += LoadWord(load);
    arrived = sum;  // waits for it
    const long long end = clock64();
    if (threadIdx.x == 0) cycles[turn] = end - begin;
  }
  sink[threadIdx.x] = sum;
}

void MeasureState(const char* name, const Before& before, bool waits) {
  DeviceArray<char> lines(kTurns * kApart);
  DeviceArray<long long> cycles(kTurns);
  DeviceArray<unsigned> sink(32);
  HEDDLE_CALL(cudaMemset(lines.data(), 1, lines.count()));
  for (const int wait : {0, 1000}) {
    if (wait != 0 && !waits) continue;
    std::vector<double> values;
    for (int i = 0; i < 2; ++i) {  // the first time for code, and for the L2
      LoadAfter<<<1, 32>>>(lines.data(), lines.data(), lines.data(), before, wait, 0.5f, 0.25f, cycles.data(),
                           sink.data());
      Finish();
      values.clear();
      const std::vector<long long> found = cycles.Read();
      for (int turn = 1; turn < kTurns; ++turn) values.push_back(static_cast<double>(found[turn]));
    }
    Print("latency_line_state", {{"state", name}, {"wait", std::to_string(wait)}}, "cycles", values);
  }
}

void MeasureAll() {
  MeasureState("untouched", {-1, -1, false, 0}, false);
  MeasureState("loaded", {0, -1, false, 0}, false);
  MeasureState("other_sector_loaded", {0, -1, false, 32}, false);
  MeasureState("far_sector_loaded", {0, -1, false, 96}, false);
  MeasureState("loaded_then_stored", {0, 0, false, 0}, true);
  MeasureState("loaded_then_stored_beside_in_sector", {0, 4, false, 0}, true);
  MeasureState("loaded_then_stored_in_other_sector", {0, 32, false, 0}, true);
  MeasureState("stored", {-1, 0, false, 0}, true);
  MeasureState("stored_beside_in_sector", {-1, 4, false, 0}, true);
  MeasureState("stored_in_other_sector", {-1, 32, false, 0}, true);
  MeasureState("half_stored", {-1, 0, true, 0}, true);
  MeasureState("other_half_stored", {-1, 0, true, 64}, true);
}
#endif

}  // namespace
}  // namespace heddle::hardware

int main(int argc, char** argv) {
  using namespace heddle::hardware;
  [[maybe_unused]] const bool small = IsSmall(argc, argv);
#ifndef HEDDLE_STAND_IN
  MeasureAll();
#endif
  return 0;
}
