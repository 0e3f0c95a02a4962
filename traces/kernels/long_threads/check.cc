// The same walk on the host; the buffer `settings` tells the number of steps.
#include "../check_support.h"

namespace {

uint32_t Walk(uint32_t state, uint32_t steps) {
  while (steps-- > 0) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    if (state % 64 != 0) continue;
    const uint32_t rounds = state / (uint32_t{1} << 30);
    for (uint32_t i = 0; i < rounds; ++i) state = 1013904223 + 1664525 * state;
    state |= 1;
  }
  return state;
}

}  // namespace

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto states = check.Find<uint32_t>("states");
  const auto settings = check.Find<uint32_t>("settings");
  if (settings.count != 1) return check.Fail("settings must hold the number of steps");
  for (uint64_t i = 0; i < states.count && !check.failed(); ++i) {
    check.Equal("states", i, states.after[i], Walk(static_cast<uint32_t>(i) + 1, settings.before[0]));
  }
  return check.result();
}
