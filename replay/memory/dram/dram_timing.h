// The numbers of a DRAM controller: geometry, and how long one command holds up another.
#ifndef HEDDLE_REPLAY_MEMORY_DRAM_DRAM_TIMING_H_
#define HEDDLE_REPLAY_MEMORY_DRAM_DRAM_TIMING_H_

#include <array>
#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "proto/machine.pb.h"

namespace heddle::replay {

enum class DramCommand : uint8_t { kRead, kWrite, kPrecharge, kActivate };
inline constexpr int kDramCommands = 4;

// Why a command has to wait. In the order of Table 5.1 of Fung's thesis, then those of GPGPU-Sim 3.2.2 and the data
// bus.
enum class DramConstraint : uint8_t {
  kRrd,       // activate to activate, all banks
  kCcd,       // column access to column access, all banks
  kWtr,       // write to read, all banks
  kRtw,       // read to write, all banks
  kRcd,       // activate to column access, one bank
  kRas,       // activate to precharge, one bank
  kRp,        // precharge to activate, one bank
  kRc,        // activate to activate, one bank
  kCcdGroup,  // column access to column access, one bank group
  kWtp,       // write to precharge, one bank
  kRtp,       // read to precharge, one bank
  kRtpGroup,  // read to precharge, one bank group
  kBus,       // the data bus carries one burst at a time
};
inline constexpr int kDramConstraints = 13;
// "rrd", "ccd", ...
std::string_view NameOf(DramConstraint constraint);

// A span or point of time and the constraint that it comes from, in one number, so that the longest of several is their
// maximum. Of equally long ones the first in the list of constraints is the largest.
class Bound {
 public:
  constexpr Bound() = default;
  constexpr Bound(uint64_t cycles, DramConstraint because)
      : value_(cycles << 4 | (15 - static_cast<uint64_t>(because))) {}

  uint64_t cycle() const { return value_ >> 4; }
  DramConstraint because() const { return static_cast<DramConstraint>(15 - (value_ & 15)); }
  auto operator<=>(const Bound&) const = default;

 private:
  uint64_t value_ = 15;  // no time, the first constraint
};

// What one command does to the time of another. A span of t after a command at cycle c allows the other from c + t on.
struct DramTiming {
  // [first][second], of kRead and kWrite: column access to column access, anywhere and in the same bank group.
  std::array<std::array<Bound, 2>, 2> column_to_column;
  std::array<std::array<Bound, 2>, 2> column_to_column_in_group;
  Bound activate_to_activate_any_bank;
  std::array<Bound, kDramCommands> activate_to;  // of the same bank: read, write, precharge, activate
  Bound precharge_to_activate;                   // of the same bank
  Bound read_to_precharge;                       // of the same bank
  Bound read_to_precharge_in_group;
  Bound write_to_precharge;  // of the same bank
  // From a column access to the first cycle of its data on the bus: read, write.
  std::array<uint32_t, 2> to_data{};
  uint32_t burst_cycles = 0;  // of one column access on the data bus
};

// One controller with the chips behind it.
struct DramParameters {
  // Errors: InvalidArgument, naming the field below memory.hierarchy.dram and what it should be.
  static absl::StatusOr<DramParameters> Make(const machine::v1::Dram& dram);

  // Column accesses for `bytes` bytes, at least 1.
  uint32_t AccessesFor(uint32_t bytes) const { return bytes <= atom_bytes ? 1 : (bytes + atom_bytes - 1) / atom_bytes; }

  static constexpr uint32_t kMaxBanks = 64;
  // Cycles of one parameter. Longer than any real constraint by far, and a queue of requests that each take a few of
  // them is served before an SM that waits for it counts as hung (SmCore::kNoProgressLimit).
  static constexpr uint32_t kLongest = 10'000;
  // Cycles of one span of DramTiming: a sum of three, and the turn of the bus.
  static constexpr uint32_t kLongestBound = 3 * kLongest + 2;
  uint32_t banks = 0;
  uint32_t bank_groups = 1;
  bool interleaved_groups = false;  // a group has every bank_groups-th bank, not neighbours
  uint32_t queue = 0;               // requests that wait for a bank; 0 = no limit
  uint32_t starvation_cap = 0;
  bool fifo = false;
  uint32_t atom_bytes = 0;  // of one column access, all chips together
  DramTiming timing;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_DRAM_DRAM_TIMING_H_
