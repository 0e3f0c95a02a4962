// The cipher by its definition: inverses by search, the matrix product in the field. Known answer first.
#include <vector>

#include "../check_support.h"

namespace {

uint8_t Multiply(uint8_t a, uint8_t b) {
  uint8_t product = 0;
  for (; b != 0; b >>= 1) {
    if ((b & 1) != 0) product ^= a;
    a = static_cast<uint8_t>(a << 1 ^ (a >> 7) * 0x1b);
  }
  return product;
}

uint8_t Substitute(uint8_t a) {
  static const std::vector<uint8_t> table = [] {
    std::vector<uint8_t> made(256, 0x63);
    for (int i = 1; i < 256; ++i) {
      int inverse = 1;
      while (Multiply(static_cast<uint8_t>(i), static_cast<uint8_t>(inverse)) != 1) ++inverse;
      for (int rotation = 0; rotation < 5; ++rotation) {
        made[i] ^= static_cast<uint8_t>(inverse << rotation | inverse >> (8 - rotation));
      }
    }
    return made;
  }();
  return table[a];
}

void Encrypt(const uint8_t* key, uint8_t* state) {
  std::vector<uint8_t> keys(key, key + 16);
  uint8_t constant = 1;
  while (keys.size() < 176) {
    uint8_t word[4] = {keys[keys.size() - 4], keys[keys.size() - 3], keys[keys.size() - 2], keys[keys.size() - 1]};
    if (keys.size() % 16 == 0) {
      const uint8_t first = word[0];
      for (int b = 0; b < 4; ++b) word[b] = Substitute(b < 3 ? word[b + 1] : first);
      word[0] ^= constant;
      constant = Multiply(constant, 2);
    }
    for (const uint8_t byte : word) keys.push_back(static_cast<uint8_t>(byte ^ keys[keys.size() - 16]));
  }
  for (int i = 0; i < 16; ++i) state[i] ^= keys[i];
  for (int round = 1; round <= 10; ++round) {
    uint8_t next[16];
    for (int column = 0; column < 4; ++column) {
      for (int row = 0; row < 4; ++row) next[4 * column + row] = Substitute(state[4 * ((column + row) % 4) + row]);
    }
    const uint8_t matrix[4] = {2, 3, 1, 1};
    for (int i = 0; i < 16; ++i) {
      uint8_t sum = 0;
      for (int k = 0; k < 4; ++k) sum ^= Multiply(next[i / 4 * 4 + k], matrix[(k - i % 4 + 4) % 4]);
      state[i] = static_cast<uint8_t>((round < 10 ? sum : next[i]) ^ keys[16 * round + i]);
    }
  }
}

}  // namespace

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto key = check.Find<uint8_t>("key");
  const auto text = check.Find<uint32_t>("text");
  uint8_t known_key[16];
  uint8_t known[16];
  for (int i = 0; i < 16; ++i) {
    known_key[i] = static_cast<uint8_t>(i);
    known[i] = static_cast<uint8_t>(i * 0x11);
  }
  Encrypt(known_key, known);  // FIPS 197, appendix C.1
  if (known[0] != 0x69 || known[15] != 0x5a) return check.Fail("the check itself encrypts wrongly");
  const auto* before = reinterpret_cast<const uint8_t*>(text.before.begin());
  const auto* after = reinterpret_cast<const uint8_t*>(text.after.begin());
  for (uint64_t block = 0; block < text.count / 4; ++block) {
    uint8_t state[16] = {};
    for (int i = 12; i < 16; ++i) state[i] = static_cast<uint8_t>(block >> (8 * (15 - i)));
    Encrypt(key.before.Range(0, 16), state);
    for (uint64_t i = 0; i < 16; ++i) {
      const uint64_t at = 16 * block + i;
      if (!check.Equal("bytes of text", at, after[at], before[at] ^ state[i])) return check.result();
    }
  }
  return check.result();
}
