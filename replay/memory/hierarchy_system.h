// The memory of a machine with caches: the SMs' parts, and behind them network, L2 and DRAM, or an ideal memory.
#ifndef HEDDLE_REPLAY_MEMORY_HIERARCHY_SYSTEM_H_
#define HEDDLE_REPLAY_MEMORY_HIERARCHY_SYSTEM_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/machine.pb.h"
#include "replay/memory/network/cluster_network.h"
#include "replay/memory/ports/address_windows.h"
#include "replay/memory/ports/back_end.h"
#include "replay/memory/ports/memory_system.h"
#include "replay/memory/sm/hierarchy_sm.h"
#include "replay/memory/sm/sm_memory_counters.h"

namespace heddle::replay {

// Over all launches of a run. Checks at the end of every launch that nothing was lost or made up between its parts.
class HierarchySystem : public MemorySystem {
 public:
  // `windows` are those of the trace; `seed` is that of jitter. With `force_tick` every component behind the
  // first-level caches runs at every edge, which must not change anything. Errors: what is wrong with the machine, with
  // the field's path.
  static absl::StatusOr<std::unique_ptr<HierarchySystem>> Make(const machine::v1::Machine& machine,
                                                               const AddressWindows& windows, uint64_t seed,
                                                               bool force_tick);

  // Make with any back end, so that one with a fault can show that faults are found.
  static std::unique_ptr<HierarchySystem> WithBackEnd(const machine::v1::Machine& machine,
                                                      const AddressWindows& windows,
                                                      std::unique_ptr<MemoryBackEnd> back_end);

  void Transferred(std::span<const trace::v1::Transfer> transfers) override;
  void BeginLaunch(uint32_t l1_ways) override;
  void BeginSampling() override { back_end_->BeginSampling(); }
  std::unique_ptr<SmMemory> MakeSm(uint32_t sm, MemoryClient& client) override;
  Cycle NextEvent() const override { return std::min(back_end_->NextEvent(), clusters_.NextEvent()); }
  void Advance(Cycle now, SmWaker& waker) override {
    back_end_->Advance(now, waker);
    if (clusters_.NextEvent() <= now) clusters_.Advance(now, waker);
  }
  bool drained() const override { return back_end_->drained() && clusters_.NextEvent() == kNever; }
  // The SMs' parts must still be there. Errors name the cycle, too.
  absl::Status EndLaunch(Cycle end, result::v1::LaunchResult& result) override;
  void MakeFor(uint32_t launch, uint32_t l1_ways) override;
  void ReleaseSm(uint32_t sm, Cycle until) override;
  void EndBeside(uint32_t launch, uint64_t sm_cycles, result::v1::LaunchResult& result) override;
  bool Sample(Cycle end, MemorySample& out) const override;
  uint64_t served_requests() const override { return back_end_->served_requests(); }
  std::string Explain() const override;

 private:
  HierarchySystem(const machine::v1::Machine& machine, const AddressWindows& windows,
                  std::unique_ptr<MemoryBackEnd> back_end)
      : machine_(machine), windows_(windows), back_end_(std::move(back_end)), clusters_(machine) {}
  absl::Status CheckSms(const SmMemoryCounters& sum) const;
  absl::Status CheckAndWrite(Cycle end, result::v1::LaunchResult& result);

  machine::v1::Machine machine_;  // with the L1 data caches of this launch
  const AddressWindows windows_;
  std::unique_ptr<MemoryBackEnd> back_end_;
  ClusterNetwork clusters_;
  // The SMs' parts that are there, and for which of the launches that run side by side.
  std::vector<const HierarchySm*> sms_;
  std::vector<uint32_t> made_for_;
  // What one of these launches has had.
  struct Beside {
    SmMemoryCounters sum;  // of parts that were released
    uint64_t cycles = 0;   // that these counters go over, from the beginning of time on
  };
  std::map<uint32_t, Beside> besides_;  // by number; empty where a launch runs alone
  uint32_t making_for_ = 0;
  uint64_t launches_ = 0;
  size_t transfers_ = 0;  // that are done
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_HIERARCHY_SYSTEM_H_
