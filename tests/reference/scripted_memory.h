// A memory that does whatever the interface allows, at random: for tests of the cores without the caches.
#ifndef HEDDLE_TESTS_REFERENCE_SCRIPTED_MEMORY_H_
#define HEDDLE_TESTS_REFERENCE_SCRIPTED_MEMORY_H_

#include <cstdint>
#include <memory>
#include <string>

#include "replay/memory/ports/memory_system.h"

namespace heddle::replay {

// What an SM's n-th access and n-th fetch do follows from seed, SM, n, and what the core says of them: accesses hold
// the stage for `stage_cycles` or longer, hit, miss as a whole, or miss in parts that return one by one; stores are
// acknowledged late; fetches hit, miss, or are refused. Up to `places` accesses are in the stage or on the way to it.
class ScriptedMemory final : public MemorySystem {
 public:
  ScriptedMemory(uint64_t seed, uint32_t stage_cycles, uint32_t places)
      : seed_(seed), stage_cycles_(stage_cycles), places_(places) {}

  void BeginLaunch(uint32_t /*l1_ways*/) override { ++launches_; }
  std::unique_ptr<SmMemory> MakeSm(uint32_t sm, MemoryClient& client) override;
  Cycle NextEvent() const override { return kNever; }
  void Advance(Cycle /*now*/, SmWaker& /*waker*/) override {}
  bool drained() const override { return true; }
  absl::Status EndLaunch(Cycle /*end*/, result::v1::LaunchResult& /*result*/) override { return absl::OkStatus(); }
  std::string Explain() const override { return {}; }

 private:
  uint64_t seed_;
  uint32_t stage_cycles_;
  uint32_t places_;
  uint64_t launches_ = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_REFERENCE_SCRIPTED_MEMORY_H_
