// The compression function with its whole schedule; known answer first.
#include <array>
#include <bit>

#include "../check_support.h"

namespace {

std::array<uint32_t, 5> Compress(const uint32_t* message) {
  uint32_t w[80];
  for (int i = 0; i < 80; ++i) w[i] = i < 16 ? message[i] : std::rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
  const std::array<uint32_t, 5> start = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  std::array<uint32_t, 5> h = start;
  for (int i = 0; i < 80; ++i) {
    const uint32_t choose = h[3] ^ (h[1] & (h[2] ^ h[3]));
    const uint32_t parity = h[1] ^ h[2] ^ h[3];
    const uint32_t majority = (h[1] & h[2]) | (h[3] & (h[1] | h[2]));
    const uint32_t f = i < 20   ? choose + 0x5a827999
                       : i < 40 ? parity + 0x6ed9eba1
                       : i < 60 ? majority + 0x8f1bbcdc
                                : parity + 0xca62c1d6;
    h = {std::rotl(h[0], 5) + f + h[4] + w[i], h[0], std::rotl(h[1], 30), h[2], h[3]};
  }
  for (int i = 0; i < 5; ++i) h[i] += start[i];
  return h;
}

}  // namespace

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto messages = check.Find<uint32_t>("messages");
  const auto hashes = check.Find<uint32_t>("hashes");
  uint32_t abc[16] = {0x61626380};  // FIPS 180: "abc"
  abc[15] = 24;
  if (Compress(abc)[0] != 0xa9993e36) return check.Fail("the check itself hashes wrongly");
  for (uint64_t i = 0; i < messages.count / 16; ++i) {
    const std::array<uint32_t, 5> expected = Compress(messages.before.Range(16 * i, 16));
    for (uint64_t w = 0; w < 5; ++w) {
      if (!check.Equal("hashes", 5 * i + w, hashes.after[5 * i + w], expected[w])) return check.result();
    }
  }
  return check.result();
}
