#include "replay/memory/hierarchy_system.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/memory/ideal_back_end.h"
#include "replay/memory/memory_result.h"
#include "replay/memory/partitioned_back_end.h"
#include "traces/base/status_macros.h"

namespace heddle::replay {

absl::StatusOr<std::unique_ptr<HierarchySystem>> HierarchySystem::Make(const machine::v1::Machine& machine,
                                                                       const AddressWindows& windows, uint64_t seed,
                                                                       bool force_tick) {
  const machine::v1::Hierarchy& hierarchy = machine.memory().hierarchy();
  std::unique_ptr<MemoryBackEnd> back_end;
  if (hierarchy.ideal_beyond_l1_cycles() != 0) {
    back_end = std::make_unique<IdealBackEnd>(machine.sms(), hierarchy.ideal_beyond_l1_cycles(),
                                              hierarchy.jitter_cycles(), seed);
  } else {
    HEDDLE_ASSIGN_OR_RETURN(auto partitioned, PartitionedBackEnd::Make(machine, seed, force_tick));
    back_end = std::move(partitioned);
  }
  return WithBackEnd(machine, windows, std::move(back_end));
}

std::unique_ptr<HierarchySystem> HierarchySystem::WithBackEnd(const machine::v1::Machine& machine,
                                                              const AddressWindows& windows,
                                                              std::unique_ptr<MemoryBackEnd> back_end) {
  return std::unique_ptr<HierarchySystem>(new HierarchySystem(machine, windows, std::move(back_end)));
}

void HierarchySystem::Transferred(std::span<const trace::v1::Transfer> transfers) {
  std::vector<AddressRange> written;
  for (; transfers_ < transfers.size(); ++transfers_) {
    const trace::v1::Transfer& transfer = transfers[transfers_];
    if (transfer.direction() == trace::v1::Transfer::DEVICE_TO_HOST || transfer.bytes() == 0) continue;
    // The end must not wrap around in an untrusted trace.
    const uint64_t more = std::min(transfer.bytes() - 1, ~uint64_t{0} - transfer.address());
    written.push_back({transfer.address(), transfer.address() + more});
  }
  if (!written.empty()) back_end_->Invalidate(std::move(written));
}

void HierarchySystem::BeginLaunch(uint32_t l1_ways) {
  machine_.mutable_memory()->mutable_hierarchy()->mutable_l1_data()->set_ways(l1_ways);
  // With nothing kept between launches, each is as if it were the first.
  const bool flush = machine_.memory().hierarchy().l2_between_launches() == machine::v1::Hierarchy::FLUSH;
  back_end_->BeginLaunch(flush ? 0 : launches_++);
  clusters_.BeginLaunch();
  sms_.clear();
  made_for_.clear();
  besides_.clear();
}

std::unique_ptr<SmMemory> HierarchySystem::MakeSm(uint32_t sm, MemoryClient& client) {
  auto memory = std::make_unique<HierarchySm>(machine_, windows_, sm, back_end_->port(sm), client);
  memory->ConnectRemote(clusters_);
  clusters_.Attach(sm, *memory);
  sms_.push_back(memory.get());
  made_for_.push_back(making_for_);
  return memory;
}

void HierarchySystem::MakeFor(uint32_t launch, uint32_t l1_ways) {
  making_for_ = launch;
  machine_.mutable_memory()->mutable_hierarchy()->mutable_l1_data()->set_ways(l1_ways);
}

void HierarchySystem::ReleaseSm(uint32_t sm, Cycle until) {
  const auto part = std::ranges::find_if(sms_, [sm](const HierarchySm* one) { return one->number() == sm; });
  if (part == sms_.end()) return;
  const auto launch = made_for_.begin() + (part - sms_.begin());
  Beside& beside = besides_[*launch];
  beside.sum.Add((*part)->Counters(until));
  beside.cycles += until;
  sms_.erase(part);
  made_for_.erase(launch);
}

void HierarchySystem::EndBeside(uint32_t launch, uint64_t sm_cycles, result::v1::LaunchResult& result) {
  const Beside& beside = besides_[launch];
  SmMemoryCounters sum = beside.sum;
  // An SM's part counts from the beginning of time on, also when another launch had the SM; SMs without a block have no
  // part.
  for (FirstLevelCounters& level : sum.level) {
    if (!level.mshr_occupancy.empty()) level.mshr_occupancy[0] += sm_cycles - beside.cycles;
  }
  WriteSmCounters(sum, machine_.memory().hierarchy(), result);
}

absl::Status HierarchySystem::CheckSms(const SmMemoryCounters& sum) const {
  const auto equal = [](const std::string& what, uint64_t left, uint64_t right) {
    if (left == right) return absl::OkStatus();
    return absl::InternalError(absl::StrCat(what, ": ", left, " and ", right));
  };
  constexpr const char* kNames[kFirstLevels] = {"data", "texture", "constant", "instruction"};
  std::array<uint64_t, kRequestKinds> requests{};
  uint64_t bytes = 0;
  for (int i = 0; i < kFirstLevels; ++i) {
    const FirstLevelCounters& level = sum.level[i];
    const absl::Status status =
        equal(absl::StrCat("first-level ", kNames[i], " caches: accesses and hits + pending hits + misses"),
              level.cache.accesses, level.cache.hits + level.cache.pending_hits + level.cache.misses);
    if (!status.ok()) return status;
    for (int kind = 0; kind < kRequestKinds; ++kind) requests[kind] += level.requests[kind];
    bytes += level.request_bytes;
  }
  const PortCounters& ports = back_end_->port_counters();
  const absl::Status checks[] = {
      equal("reads that the first-level caches queued and that were sent",
            requests[static_cast<int>(RequestKind::kRead)], ports.reads),
      equal("writes that the first-level caches queued and that were sent",
            requests[static_cast<int>(RequestKind::kWrite)], ports.writes),
      equal("atomics that the first-level caches queued and that were sent",
            requests[static_cast<int>(RequestKind::kAtomic)], ports.atomics),
      equal("bytes that the first-level caches asked for or wrote, and that were sent", bytes,
            ports.read_bytes + ports.write_bytes + ports.atomic_bytes),
      equal("replies that the SMs took and that their caches counted", ports.replies, sum.replies),
  };
  for (const absl::Status& status : checks) {
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status HierarchySystem::EndLaunch(Cycle end, result::v1::LaunchResult& result) {
  const absl::Status status = CheckAndWrite(end, result);
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat("the memory, when the launch ended in cycle ", end, ": ", status.message()));
}

absl::Status HierarchySystem::CheckAndWrite(Cycle end, result::v1::LaunchResult& result) {
  SmMemoryCounters sum;
  for (const HierarchySm* sm : sms_) {
    if (!sm->drained()) {
      return absl::InternalError(
          absl::StrCat("the memory of SM ", sm->number(), " is not drained at the end of the launch: ", sm->Explain()));
    }
    sum.Add(sm->Counters(end));
  }
  // SMs that have had nothing to do have caches, too.
  const uint64_t idle_sms = machine_.sms() - sms_.size();
  for (FirstLevelCounters& level : sum.level) {
    if (!level.mshr_occupancy.empty()) level.mshr_occupancy[0] += idle_sms * end;
  }
  for (const auto& [launch, beside] : besides_) sum.Add(beside.sum);
  sms_.clear();
  made_for_.clear();
  HEDDLE_RETURN_IF_ERROR(CheckSms(sum));
  HEDDLE_RETURN_IF_ERROR(back_end_->EndLaunch(end, result));
  HEDDLE_RETURN_IF_ERROR(clusters_.EndLaunch(result));
  if (besides_.empty()) WriteSmCounters(sum, machine_.memory().hierarchy(), result);
  return absl::OkStatus();
}

std::string HierarchySystem::Explain() const {
  std::string text = back_end_->Explain();
  const std::string clusters = clusters_.Explain();
  if (!text.empty() && !clusters.empty()) text += "; ";
  return text + clusters;
}

bool HierarchySystem::Sample(Cycle end, MemorySample& out) const {
  for (const HierarchySm* sm : sms_) sm->AddSample(end, out);
  back_end_->AddSample(out);
  return true;
}

}  // namespace heddle::replay
