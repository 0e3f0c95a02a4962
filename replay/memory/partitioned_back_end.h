// Network, L2 slices and DRAM controllers, each in its own clock domain.
#ifndef HEDDLE_REPLAY_MEMORY_PARTITIONED_BACK_END_H_
#define HEDDLE_REPLAY_MEMORY_PARTITIONED_BACK_END_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/machine.pb.h"
#include "replay/memory/address_map.h"
#include "replay/memory/dram/dram_controller.h"
#include "replay/memory/jitter.h"
#include "replay/memory/l2/l2_slice.h"
#include "replay/memory/network/crossbar.h"
#include "replay/memory/network/delayed_replies.h"
#include "replay/memory/network/port_turns.h"
#include "replay/memory/ports/back_end.h"
#include "replay/memory/ports/clock_domains.h"

namespace heddle::replay {

// Requests go from a port over one crossbar to the slice of their address, from there to the slice's controller, and
// come back over another crossbar; docs/reference/timing.md has the time of each step. Components sleep until the event
// that can let them go on; `force_tick` runs all of them at every edge, which gives the same results.
class PartitionedBackEnd final : public MemoryBackEnd, private L2SliceLinks {
 public:
  // Errors: what is wrong with the machine, for fields that only their component can check.
  static absl::StatusOr<std::unique_ptr<PartitionedBackEnd>> Make(const machine::v1::Machine& machine, uint64_t seed,
                                                                  bool force_tick);
  ~PartitionedBackEnd() override;

  void Invalidate(std::vector<AddressRange> ranges) override;
  void BeginLaunch(uint64_t number) override;
  NetworkPort& port(uint32_t sm) override;
  Cycle NextEvent() const override;
  void Advance(Cycle now, SmWaker& waker) override;
  bool drained() const override { return requests_under_way_ == 0 && dram_under_way_ == 0; }
  const PortCounters& port_counters() const override { return port_counters_; }
  absl::Status EndLaunch(Cycle end, result::v1::LaunchResult& result) override;
  void BeginSampling() override { sampled_ = true; }
  void AddSample(MemorySample& out) const override;
  uint64_t served_requests() const override { return dram_served_; }
  std::string Explain() const override;

 private:
  class Port;
  static constexpr uint32_t kUp = 0;  // components of the network's domain
  static constexpr uint32_t kDown = 1;
  // State that starts anew with the run, and with every launch if nothing is kept between launches.
  struct Parts {
    Parts(const machine::v1::Machine& machine, const DramParameters& dram, uint32_t ports, uint32_t slices,
          Tick l2_period, Tick core_period);
    Crossbar up;
    Crossbar down;
    std::vector<L2Slice> slices;
    std::vector<DramController> controllers;
  };
  // Time, which starts at 0 with every launch.
  struct Time {
    Time(const std::array<Tick, kDomains>& periods, uint32_t slices, uint32_t controllers);
    ClockDomains clocks;
    EdgeCalendar dram;
    EdgeCalendar l2;
    EdgeCalendar network;
  };

  PartitionedBackEnd(const machine::v1::Machine& machine, const std::array<Tick, kDomains>& periods,
                     const AddressMap& map, const DramParameters& dram, uint64_t seed, bool force_tick);

  void RunDram(uint32_t controller, Edge edge);
  void RunDramAhead(uint32_t controller, Edge edge);
  // Up to which edge the controller can run ahead from `edge`, at least one further.
  Edge DramAheadUntil(uint32_t controller, Edge edge);
  // The next edge at which the controller takes a job or issues a command, as far as is known now.
  Edge NextDramEvent(uint32_t controller) const;
  void TakeDramJob(uint32_t controller, Edge edge);
  void RunSlice(uint32_t slice, Edge edge);
  // During Advance: a reply, or room for a request, is there for the SM; its port has news.
  void WakeSm(uint32_t sm);
  void RunUp(Edge edge);
  void RequestArrived(uint32_t slice, Edge edge);
  void RunDown(Edge edge);
  void ReplyArrived(uint32_t port);
  void PopReply(uint32_t port);
  void WakeAll();
  uint32_t BytesUp(const MemoryRequest& request) const;
  uint32_t BytesDown(const MemoryRequest& reply) const;
  uint32_t PortOf(uint32_t sm) const { return sm / sms_per_port_; }
  absl::Status CheckCounters() const;
  void WriteResult(result::v1::LaunchResult& result);

  // L2SliceLinks.
  const MemoryRequest* Arrived(uint32_t slice) const override;
  void TakeArrived(uint32_t slice) override;
  bool SendReply(uint32_t slice, const MemoryRequest& reply) override;
  void DramJobQueued(uint32_t slice, Edge ready) override;
  uint64_t LineWithinSlice(uint64_t address) const override { return map_.WithinSlice(address); }
  Edge AfterRop() override;
  Edge AfterDramPipe() override;

  const machine::v1::Machine machine_;
  const std::array<Tick, kDomains> periods_;
  const AddressMap map_;
  const DramParameters dram_parameters_;
  const uint64_t seed_;
  const bool force_tick_;
  const bool slices_keep_up_;  // between two edges of the network is one of the L2
  const uint32_t sms_per_port_;
  const uint32_t buffers_per_port_;
  const uint32_t slices_per_controller_;
  const uint32_t header_bytes_;
  const uint32_t control_bytes_;
  const Tick rop_ticks_;
  const Tick dram_pipe_ticks_;

  std::optional<Parts> parts_;
  std::optional<Time> time_;
  std::vector<Port> ports_;                 // by SM
  std::vector<uint8_t> waits_for_room_;     // by SM
  uint32_t waiting_for_room_ = 0;           // SMs
  std::optional<PortTurns> turns_;          // where SMs share a port
  std::vector<Cycle> reply_taken_;          // by network port: the last core cycle in which a reply was taken, plus 1
  std::vector<uint64_t> ports_with_reply_;  // bit mask over network ports
  uint32_t ports_with_reply_count_ = 0;
  // Slices whose reply found no room and have not been told of any since, how many there are, and by slice where the
  // reply goes and what room it takes.
  PortSet reply_blocked_;
  uint32_t blocked_replies_ = 0;
  struct BlockedReply {
    uint32_t port = 0;
    uint32_t flits = 0;
  };
  std::vector<BlockedReply> blocked_reply_;
  std::vector<uint32_t> next_slice_;  // by controller: whose DRAM queue comes first
  std::vector<Edge> job_ready_;       // by controller: when the first of its slices' oldest jobs is ready, or kNoEdge
  std::vector<Edge> dram_ahead_;      // by controller: all edges before this one have run, but for replies
  std::vector<Edge> dram_wake_;       // by controller: the edge for which it was woken last, or kNoEdge
  bool sampled_ = false;              // counters have to keep time in this launch
  Jitter jitter_;
  std::optional<DelayedReplies> delayed_;  // with jitter
  Cycle now_ = 0;                          // core cycle
  SmWaker* waker_ = nullptr;               // during Advance
  uint64_t requests_under_way_ = 0;
  uint64_t dram_under_way_ = 0;
  uint64_t dram_served_ = 0;  // requests that a controller has answered, in all launches
  PortCounters port_counters_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_PARTITIONED_BACK_END_H_
