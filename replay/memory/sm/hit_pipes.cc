#include "replay/memory/sm/hit_pipes.h"

#include "replay/memory/sm/data_banks.h"

namespace heddle::replay {

HitPipes::HitPipes(const machine::v1::Hierarchy& memory, AccessTable& accesses)
    : limited_(memory.returns_per_cycle() != 0 && !memory.all_misses_or_none()), accesses_(accesses) {
  const auto make = [&](RegisterSource source, uint32_t length) {
    pipes_[static_cast<int>(source)] = Ring<Piped>(std::max(1u, length));
  };
  // A pipeline holds what enters it in its length without anybody in its way.
  const uint32_t banks = DataBanks::CountOf(memory.l1_data());
  make(RegisterSource::kShared, memory.shared().latency() + memory.shared().atomic_cycles());
  make(RegisterSource::kTexture, memory.l1_texture().hit_cycles());
  make(RegisterSource::kConstant, memory.l1_constant().hit_cycles());
  make(RegisterSource::kDataHits, std::max(1u, memory.l1_data().hit_cycles()) * (banks == 0 ? kMaxLanes : banks));
}

uint32_t HitPipes::size() const {
  uint32_t size = 0;
  for (const Ring<Piped>& pipe : pipes_) size += pipe.size();
  return size;
}

}  // namespace heddle::replay
