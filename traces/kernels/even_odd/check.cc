// The same sequence, one thread after the other.
#include "../check_support.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto states = check.Find<uint32_t>("states");
  const auto settings = check.Find<int32_t>("settings");
  for (uint64_t thread = 0; thread < states.count && !check.failed(); ++thread) {
    uint32_t state = states.before[thread];
    for (int32_t i = 0; i < settings.before[0]; ++i) {
      if (thread % 2 == static_cast<uint64_t>(i % 2)) {
        state = state * 5 + 1;
        continue;
      }
      for (int step = 0; step < 8; ++step) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
      }
      state = state == 0 ? 1 : state;
    }
    check.Equal("states", thread, states.after[thread], state);
  }
  return check.result();
}
