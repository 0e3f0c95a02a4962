// The run without recording that --native adds: it obeys the same limits and signals as the recorded one.

#include "tests/tracegen/execute/capture_fixture.h"

namespace heddle::tracegen {
namespace {

TEST_F(CaptureTest, AThreadThatWaitsForALaterThreadGetsOnWithoutRecordingToo) {
  Succeeds(R"(
__global__ void k(volatile int* out) {
  int t = threadIdx.x;
  if (t == 3) {
    out[0] = 1;
  } else {
    while (out[0] == 0) {
    }
    out[t + 1] = t + 1;
  }
})",
           IntRecipe(1, 4, {1, 1, 2, 3, 0}));
}

TEST_F(CaptureTest, TheLimitOnInstructionsHoldsWithoutRecording) {
  options_.max_instructions = 300'000;
  Fails(R"(
__global__ void k(volatile int* out) {
  if (threadIdx.x < 32) {
    __syncthreads();
    out[0] = 1;
  } else {
    while (out[0] >= 0) out[0] = (out[0] + 1) & 0xffff;
  }
})",
        IntRecipe(1, 64, {0}), {"limit of 300000 thread-instructions", "thread (", "kernel.cu:"});
}

}  // namespace
}  // namespace heddle::tracegen
