#include "replay/memory/partition_time.h"

namespace heddle::replay {

PartitionTime::PartitionTime(const std::array<Tick, kDomains>& periods, const machine::v1::L2& l2, uint32_t slices,
                             uint32_t controllers)
    : clocks_(periods),
      dram_(controllers, clocks_, Domain::kDram),
      l2_(slices, clocks_, Domain::kL2),
      network_(2, clocks_, Domain::kNetwork),
      rop_ticks_(l2.rop_cycles() * periods[static_cast<int>(Domain::kCore)]),
      dram_pipe_ticks_(l2.dram_pipe_cycles() * periods[static_cast<int>(Domain::kCore)]) {}

void PartitionTime::BeginLaunch() {
  clocks_.Restart();
  for (EdgeCalendar* calendar : {&dram_, &l2_, &network_}) calendar->Restart();
  core_cycle_ = 0;
}

}  // namespace heddle::replay
