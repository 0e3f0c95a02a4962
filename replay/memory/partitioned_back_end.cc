#include "replay/memory/partitioned_back_end.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/memory/memory_result.h"
#include "traces/base/status_macros.h"

namespace heddle::replay {
namespace {

// Edges of the L2 in a time of the core.
uint32_t L2Edges(uint64_t core_cycles, const std::array<Tick, kDomains>& periods) {
  const Tick l2 = periods[static_cast<int>(Domain::kL2)];
  return static_cast<uint32_t>((core_cycles * periods[static_cast<int>(Domain::kCore)] + l2 - 1) / l2);
}

}  // namespace

absl::StatusOr<std::unique_ptr<PartitionedBackEnd>> PartitionedBackEnd::Make(const machine::v1::Machine& machine,
                                                                             uint64_t seed, bool force_tick) {
  const machine::v1::Hierarchy& hierarchy = machine.memory().hierarchy();
  absl::StatusOr<std::array<Tick, kDomains>> periods = ClockPeriods(machine.clocks());
  if (!periods.ok()) return periods.status();
  HEDDLE_ASSIGN_OR_RETURN(AddressMap map, AddressMap::Make(hierarchy.address_map(), hierarchy.dram(),
                                                           hierarchy.l2().slices_per_controller()));
  HEDDLE_ASSIGN_OR_RETURN(DramParameters dram, DramParameters::Make(hierarchy.dram()));
  return std::unique_ptr<PartitionedBackEnd>(new PartitionedBackEnd(machine, *periods, map, dram, seed, force_tick));
}

PartitionedBackEnd::PartitionedBackEnd(const machine::v1::Machine& machine, const std::array<Tick, kDomains>& periods,
                                       const AddressMap& map, const DramParameters& dram, uint64_t seed,
                                       bool force_tick)
    : machine_(machine),
      map_(map),
      seed_(seed),
      force_tick_(force_tick),
      time_(periods, machine.memory().hierarchy().l2(), map.slices(), map.controllers()),
      requests_(machine, map.slices(), time_),
      slices_(machine.memory().hierarchy().l2(), map.slices(),
              L2Edges(machine.memory().hierarchy().l2().rop_cycles(), periods),
              L2Edges(machine.memory().hierarchy().l2().dram_pipe_cycles(), periods)),
      drams_(dram, map_, slices_, time_, force_tick),
      replies_(machine, map.slices(), time_) {
  const bool shared = machine.memory().hierarchy().network().sms_per_port() > 1;
  for (uint32_t sm = 0; sm < machine.sms(); ++sm) {
    // Who runs every cycle wants to run all of it.
    ports_.emplace_back(map_, requests_, replies_, port_counters_, sm, /*announces=*/!force_tick, shared);
  }
}

void PartitionedBackEnd::Invalidate(std::vector<AddressRange> ranges) {
  std::ranges::sort(ranges, {}, &AddressRange::first);
  // Each range begins behind the end of the one before.
  std::vector<AddressRange> apart;
  for (const AddressRange& range : ranges) {
    if (apart.empty() || range.first > apart.back().last) {
      apart.push_back(range);
    } else {
      apart.back().last = std::max(apart.back().last, range.last);
    }
  }
  slices_.Invalidate(apart);
}

void PartitionedBackEnd::BeginLaunch(uint64_t number) {
  const machine::v1::Hierarchy& hierarchy = machine_.memory().hierarchy();
  if (hierarchy.l2_between_launches() == machine::v1::Hierarchy::FLUSH) {
    requests_.Flush();
    slices_.Flush();
    drams_.Flush();
    replies_.Flush();
  }
  time_.BeginLaunch();
  requests_.BeginLaunch();
  slices_.BeginLaunch();
  drams_.BeginLaunch();
  replies_.BeginLaunch(Jitter(hierarchy.jitter_cycles(), seed_, number));
  port_counters_ = {};
  if (force_tick_) WakeAll();
}

void PartitionedBackEnd::WakeAll() {
  drams_.WakeAll();
  for (uint32_t slice = 0; slice < slices_.size(); ++slice) time_.l2().Wake(slice, 0);
  time_.network().Wake(PartitionTime::kUp, 0);
  time_.network().Wake(PartitionTime::kDown, 0);
}

void PartitionedBackEnd::Advance(Cycle now, SmWaker& waker) {
  waker_ = &waker;
  time_.RunUntil(
      now, [this](uint32_t controller, Edge edge) { drams_.Run(controller, edge); },
      [this](uint32_t slice, Edge edge) { RunSlice(slice, edge); },
      [this](uint32_t direction, Edge edge) { direction == PartitionTime::kUp ? RunUp(edge) : RunDown(edge); });
  replies_.WakeSms([this](uint32_t sm) { WakeSm(sm); });
  waker_ = nullptr;
}

void PartitionedBackEnd::RunSlice(uint32_t slice, Edge edge) {
  const Edge next = slices_[slice].Run(edge, *this);
  time_.l2().Wake(slice, force_tick_ ? edge + 1 : next);
}

void PartitionedBackEnd::WakeSm(uint32_t sm) {
  ports_[sm].NoteWakeup();
  waker_->WakeSm(sm);
}

void PartitionedBackEnd::RunUp(Edge edge) {
  requests_.Run(edge, [&](uint32_t slice) { RequestArrived(slice, edge); });
  requests_.TakeRoomMade([this](uint32_t sm) {
    if (!ports_[sm].RoomWasMade()) return false;
    WakeSm(sm);
    return true;
  });
  if (requests_.has_work() || force_tick_) time_.network().Wake(PartitionTime::kUp, edge + 1);
}

// A request has become whole at edge `edge`. If the slice's next edge comes before the network's, and nothing is in the
// way, then it is taken in there, and its room in the network is free at the network's next edge: both are known now.
void PartitionedBackEnd::RequestArrived(uint32_t slice, Edge edge) {
  const Edge next = time_.clocks().Soonest(Domain::kL2);
  if (time_.l2_keeps_up() && requests_.Whole(slice) == 1) {
    const Edge ready = std::max(next + 1, time_.AfterRop(next * time_.clocks().period(Domain::kL2)));
    bool wakes = false;
    if (slices_[slice].TakeInAtOnce(*requests_.Peek(slice), ready, wakes)) {
      requests_.Take(slice, edge + 1);
      if (wakes) time_.l2().Wake(slice, ready);
      return;
    }
  }
  time_.l2().Wake(slice, next);
}

void PartitionedBackEnd::RunDown(Edge edge) {
  replies_.Run(edge, [this](uint32_t slice) {
    slices_[slice].NetworkHasRoom();
    time_.l2().Wake(slice, time_.clocks().Soonest(Domain::kL2));
  });
  if (replies_.has_work() || force_tick_) time_.network().Wake(PartitionTime::kDown, edge + 1);
}

void PartitionedBackEnd::TakeArrived(uint32_t slice) {
  const Edge edge = time_.clocks().Soonest(Domain::kNetwork);
  requests_.Take(slice, edge);
  if (requests_.has_work()) time_.network().Wake(PartitionTime::kUp, edge);
}

absl::Status PartitionedBackEnd::CheckCounters() const {
  const auto equal = [](const char* what, uint64_t left, uint64_t right) {
    if (left == right) return absl::OkStatus();
    return absl::InternalError(absl::StrCat(what, ": ", left, " and ", right));
  };
  HEDDLE_ASSIGN_OR_RETURN(const L2SliceCounters slices, slices_.CheckedCounters());
  HEDDLE_ASSIGN_OR_RETURN(const DramCounters dram, drams_.CheckedCounters());
  const PortCounters& ports = port_counters_;
  const CrossbarCounters& up = requests_.crossbar().counters();
  const CrossbarCounters& down = replies_.crossbar().counters();
  const absl::Status checks[] = {
      requests_.crossbar().CheckDrained("network to the memory"),
      replies_.crossbar().CheckDrained("network to the SMs"),
      equal("requests of the SMs and messages into the network to the memory", ports.requests(), up.pushed),
      equal("network to the memory: messages in and out", up.pushed, up.messages),
      equal("reads of the SMs and of the L2 slices", ports.reads, slices.reads),
      equal("writes of the SMs and of the L2 slices", ports.writes, slices.writes),
      equal("atomics of the SMs and of the L2 slices", ports.atomics, slices.atomics),
      equal("replies of the L2 slices and messages into the network to the SMs", slices.replies, down.pushed),
      equal("network to the SMs: messages in and out", down.pushed, down.messages),
      equal("requests of the SMs and replies that they took", ports.requests(), ports.replies),
      equal("reads of the L2 slices and of the DRAM", slices.fetches, dram.read_requests),
      equal("writes of the L2 slices and of the DRAM", slices.write_backs, dram.write_requests),
      equal("requests under way at the end", requests_under_way() + drams_.under_way(), 0),
  };
  for (const absl::Status& status : checks) {
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status PartitionedBackEnd::EndLaunch(Cycle end, result::v1::LaunchResult& result) {
  // Every edge up to that of the core's last cycle counts.
  ClockDomains& clocks = time_.clocks();
  clocks.Enter(Domain::kCore, end);
  requests_.Settle(clocks.Soonest(Domain::kNetwork));
  replies_.Settle(clocks.Soonest(Domain::kNetwork));
  drams_.Settle(clocks.Soonest(Domain::kDram));
  HEDDLE_RETURN_IF_ERROR(CheckCounters());
  WriteResult(result);
  return absl::OkStatus();
}

void PartitionedBackEnd::WriteResult(result::v1::LaunchResult& result) {
  ClockDomains& clocks = time_.clocks();
  const Edge network = clocks.Soonest(Domain::kNetwork);
  const uint32_t ports = requests_.ports();
  const MessageSizes& sizes = requests_.sizes();
  WriteNetwork(requests_.crossbar().counters(), network, ports, slices_.size(), sizes.Up(port_counters_),
               *result.mutable_network_to_memory());
  WriteNetwork(replies_.crossbar().counters(), network, slices_.size(), ports, sizes.Down(port_counters_),
               *result.mutable_network_to_sms());
  slices_.Write(clocks.Soonest(Domain::kL2), *result.mutable_l2());
  drams_.Write(clocks.Soonest(Domain::kDram), *result.mutable_dram());
}

void PartitionedBackEnd::AddSample(MemorySample& out) const {
  slices_.AddSample(out);
  drams_.AddSample(out);
}

std::string PartitionedBackEnd::Explain() const {
  std::string text;
  const auto add = [&](const std::string& line) {
    if (!line.empty()) absl::StrAppend(&text, text.empty() ? "" : "\n", line);
  };
  add(requests_.crossbar().Explain("network to the memory"));
  add(replies_.crossbar().Explain("network to the SMs"));
  for (uint32_t slice = 0; slice < slices_.size(); ++slice) add(slices_[slice].Explain());
  for (const std::string& controller : drams_.Explain()) add(controller);
  return text;
}

}  // namespace heddle::replay
