// The banks of the data cache.
#ifndef HEDDLE_REPLAY_MEMORY_SM_DATA_BANKS_H_
#define HEDDLE_REPLAY_MEMORY_SM_DATA_BANKS_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "proto/machine.pb.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// Lines are spread over the banks in turn. A bank serves one line per cycle.
class DataBanks {
 public:
  explicit DataBanks(const machine::v1::Cache& data)
      : banks_(CountOf(data)), used_(std::max(1u, banks_)), load_(std::max(1u, banks_)) {}

  // Of a configuration; 0: ideal ports, which serve any number of lines.
  static uint32_t CountOf(const machine::v1::Cache& data) {
    return data.ideal_ports() ? 0 : std::max(1u, data.banks());
  }

  // Whether a cycle may serve several lines.
  bool several() const { return banks_ != 1; }
  // Whether the bank of the line serves another one in cycle `now` already.
  bool Taken(uint64_t line, Cycle now) const { return banks_ != 0 && used_[line % banks_] == now + 1; }
  // It serves the line.
  void Use(uint64_t line, Cycle now) {
    if (banks_ != 0) used_[line % banks_] = now + 1;
  }

  // The most lines that fall on one bank, of those that line(index) gives for `begin` to `end` - 1; 0 with ideal ports.
  template <typename Line>
  uint32_t Worst(uint32_t begin, uint32_t end, const Line& line) {
    if (banks_ == 0) return 0;
    load_.assign(load_.size(), 0);
    uint32_t worst = 0;
    for (uint32_t index = begin; index < end; ++index) worst = std::max(worst, ++load_[line(index) % banks_]);
    return worst;
  }

 private:
  const uint32_t banks_;        // 0: ideal ports
  std::vector<Cycle> used_;     // by bank: last cycle in which it served a line, + 1
  std::vector<uint32_t> load_;  // by bank, for use in Worst
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_SM_DATA_BANKS_H_
