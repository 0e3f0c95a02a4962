// Network, L2 slices and DRAM controllers, each in its own clock domain.
#ifndef HEDDLE_REPLAY_MEMORY_PARTITIONED_BACK_END_H_
#define HEDDLE_REPLAY_MEMORY_PARTITIONED_BACK_END_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/machine.pb.h"
#include "replay/memory/address_map.h"
#include "replay/memory/dram_controllers.h"
#include "replay/memory/l2_slices.h"
#include "replay/memory/partition_time.h"
#include "replay/memory/partitioned_port.h"
#include "replay/memory/ports/back_end.h"
#include "replay/memory/ports/clock_domains.h"
#include "replay/memory/reply_network.h"
#include "replay/memory/request_network.h"

namespace heddle::replay {

// Requests go from a port over one crossbar to the slice of their address, from there to the slice's controller, and
// come back over another crossbar; docs/reference/timing.md has the time of each step. Components sleep until the event
// that can let them go on; `force_tick` runs all of them at every edge, which gives the same results.
class PartitionedBackEnd final : public MemoryBackEnd, private L2SliceLinks {
 public:
  // Errors: what is wrong with the machine, for fields that only their component can check.
  static absl::StatusOr<std::unique_ptr<PartitionedBackEnd>> Make(const machine::v1::Machine& machine, uint64_t seed,
                                                                  bool force_tick);

  void Invalidate(std::vector<AddressRange> ranges) override;
  void BeginLaunch(uint64_t number) override;
  NetworkPort& port(uint32_t sm) override { return ports_[sm]; }
  Cycle NextEvent() const override { return std::min(replies_.NextWake(), time_.NextCoreCycle()); }
  void Advance(Cycle now, SmWaker& waker) override;
  bool drained() const override { return requests_under_way() == 0 && drams_.under_way() == 0; }
  const PortCounters& port_counters() const override { return port_counters_; }
  absl::Status EndLaunch(Cycle end, result::v1::LaunchResult& result) override;
  void BeginSampling() override { drams_.BeginSampling(); }
  void AddSample(MemorySample& out) const override;
  uint64_t served_requests() const override { return drams_.served(); }
  std::string Explain() const override;

 private:
  PartitionedBackEnd(const machine::v1::Machine& machine, const std::array<Tick, kDomains>& periods,
                     const AddressMap& map, const DramParameters& dram, uint64_t seed, bool force_tick);

  uint64_t requests_under_way() const { return port_counters_.requests() - port_counters_.replies; }
  void RunSlice(uint32_t slice, Edge edge);
  void RunUp(Edge edge);
  void RequestArrived(uint32_t slice, Edge edge);
  void RunDown(Edge edge);
  // During Advance: a reply, or room for a request, is there for the SM; its port notes the wake-up.
  void WakeSm(uint32_t sm);
  void WakeAll();
  absl::Status CheckCounters() const;
  void WriteResult(result::v1::LaunchResult& result);

  // L2SliceLinks.
  const MemoryRequest* Arrived(uint32_t slice) const override { return requests_.Peek(slice); }
  void TakeArrived(uint32_t slice) override;
  bool SendReply(uint32_t slice, const MemoryRequest& reply) override { return replies_.Send(slice, reply); }
  void DramJobQueued(uint32_t slice, Edge ready) override { drams_.JobQueued(slice, ready); }
  uint64_t LineWithinSlice(uint64_t address) const override { return map_.WithinSlice(address); }
  Edge AfterRop() override { return time_.AfterRop(time_.clocks().now()); }
  Edge AfterDramPipe() override { return time_.AfterDramPipe(); }

  const machine::v1::Machine machine_;
  const AddressMap map_;
  const uint64_t seed_;
  const bool force_tick_;
  PartitionTime time_;
  RequestNetwork requests_;
  L2Slices slices_;
  DramControllers drams_;
  ReplyNetwork replies_;
  PortCounters port_counters_;
  std::vector<PartitionedPort> ports_;  // by SM
  SmWaker* waker_ = nullptr;            // during Advance
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_PARTITIONED_BACK_END_H_
