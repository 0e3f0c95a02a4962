#include "replay/memory/sm/shared_memory_banks.h"

#include <bit>

#include "replay/seams/lane_mask.h"

namespace heddle::replay {

SharedMemoryBanks::SharedMemoryBanks(const machine::v1::SharedMemory& config, uint32_t warp_size)
    : banks_(config.banks()),
      bank_mask_(std::has_single_bit(config.banks()) ? config.banks() - 1 : 0),
      parts_(config.parts()),
      broadcast_(config.broadcast()),
      merge_atomics_(config.merge_atomics()),
      warp_size_(warp_size),
      bank_(config.banks()),
      word_(4 * kMaxLanes) {}

uint32_t SharedMemoryBanks::PassesOfPart(uint32_t bytes, bool by_word, LaneMask lanes, const LaneAddresses& addresses) {
  if (bytes <= 4 && bank_mask_ != 0 && banks_ <= 64) {
    // Usually no two lanes meet in a bank.
    uint64_t taken = 0;
    uint64_t twice = 0;
    ForEachLane(lanes, [&](int lane) {
      const uint64_t bank = uint64_t{1} << (addresses[lane] / 4 & bank_mask_);
      twice |= taken & bank;
      taken |= bank;
    });
    if (twice == 0) return 1;
  }
  ++part_;
  uint32_t words = 0;
  uint32_t most = 0;
  const uint32_t words_per_lane = bytes <= 4 ? 1 : bytes / 4;
  ForEachLane(lanes, [&](int lane) {
    for (uint32_t k = 0; k < words_per_lane; ++k) {
      const uint64_t number = addresses[lane] / 4 + k;
      Bank& bank = bank_[BankOf(number)];
      if (bank.part != part_) bank = {.part = part_};
      if (by_word) {
        uint32_t place = bank.first;
        uint32_t left = bank.count;
        while (left != 0 && word_[place].number != number) {
          place = word_[place].next;
          --left;
        }
        if (left != 0) continue;
        word_[words] = {number, bank.first};
        bank.first = words++;
      }
      most = std::max(most, ++bank.count);
    }
  });
  return most;
}

SharedMemoryBanks::Passes SharedMemoryBanks::Count(uint32_t bytes, bool atomic, LaneMask lanes,
                                                   const LaneAddresses& addresses) {
  Passes result;
  const uint32_t parts = WarpParts(parts_, bytes);
  for (uint32_t part = 0; part < parts; ++part) {
    const LaneMask mask = lanes & PartLanes(part, parts, warp_size_);
    if (mask == 0) continue;
    ++result.parts;
    result.passes += PassesOfPart(bytes, atomic ? merge_atomics_ : broadcast_, mask, addresses);
  }
  return result;
}

}  // namespace heddle::replay
