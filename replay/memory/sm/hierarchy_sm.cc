#include "replay/memory/sm/hierarchy_sm.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "replay/memory/sm/memory_profile.h"

namespace heddle::replay {
namespace {

using machine::v1::Machine;

constexpr std::array<absl::string_view, kFirstLevels> kLevelNames = {"data", "texture", "constant", "instruction"};

const machine::v1::Cache& ConfigOf(const machine::v1::Hierarchy& memory, FirstLevel level) {
  switch (level) {
    case FirstLevel::kTexture:
      return memory.l1_texture();
    case FirstLevel::kConstant:
      return memory.l1_constant();
    case FirstLevel::kInstruction:
      return memory.l1_instruction();
    case FirstLevel::kData:
      break;
  }
  return memory.l1_data();
}

Cache::WritePolicy LocalPolicy(const machine::v1::Cache& data) {
  return data.local_write() == machine::v1::Cache::READ_ONLY ? data.global_write() : data.local_write();
}

}  // namespace

HierarchySm::HierarchySm(const Machine& machine, const AddressWindows& windows, uint32_t sm, NetworkPort& port,
                         MemoryClient& client)
    : port_(port), client_(client), sm_(static_cast<uint16_t>(sm)), planner_(machine, windows, sm) {
  const machine::v1::Core& core = machine.core();
  const machine::v1::Hierarchy& memory = machine.memory().hierarchy();
  const machine::v1::Cache& data = memory.l1_data();
  stage_cycles_ = (core.warp_size() + core.simd_width() - 1) / core.simd_width();
  issue_cycles_ = 1;
  hold_cycles_ = stage_cycles_;
  if (core.front_end() == machine::v1::Core::IBUFFER) {
    issue_cycles_ = std::max(1u, core.units().memory_issue_latency());
    hold_cycles_ *= std::max(1u, core.units().memory_initiation_interval());
  }
  approach_places_ = (issue_cycles_ - 1 + hold_cycles_ - 1) / hold_cycles_;
  approaching_ = Ring<Approaching>(std::max(1u, approach_places_));
  free_plans_.reserve(approach_places_ + 1);
  shared_latency_ = std::max(1u, memory.shared().latency());
  returns_per_cycle_ = memory.returns_per_cycle();
  all_or_none_ = memory.all_misses_or_none();
  uses_pipes_ = returns_per_cycle_ != 0 && !all_or_none_;
  per_lane_ = memory.coalescing() == machine::v1::Hierarchy::COALESCING_OFF;
  counts_lanes_ = per_lane_;
  data_banks_ = data.ideal_ports() ? 0 : std::max(1u, data.banks());
  global_write_ = data.global_write();
  local_write_ = LocalPolicy(data);
  usual_latency_ = shared_latency_ + kMaxLanes;
  for (int index = 0; index < kFirstLevels; ++index) {
    const machine::v1::Cache& config = ConfigOf(memory, static_cast<FirstLevel>(index));
    Level& level = level_[index];
    level.hit_cycles = std::max(1u, config.hit_cycles());
    level.queue = Ring<MemoryRequest>(std::max(1u, config.miss_queue()));
    usual_latency_ = std::max(usual_latency_, level.hit_cycles);
    if (config.sets() == 0) continue;
    level.cache = std::make_unique<Cache>(config);
    level.waiters.resize(level.cache->mshrs().waiters());
  }
  if (data.sets() != 0) {
    held_ = Ring<HeldWriteBack>(data.mshrs());
    holds_.resize(data.mshrs(), Hold::kNone);
  }
  bank_used_.resize(std::max(1u, data_banks_));
  bank_load_.resize(bank_used_.size());
  // A pipeline holds what enters it in its length without anybody in its way.
  const uint32_t data_per_cycle = data_banks_ == 0 ? kMaxLanes : data_banks_;
  pipe_[kFromShared] = Ring<PipedHit>(shared_latency_);
  pipe_[kFromTexture] = Ring<PipedHit>(LevelOf(FirstLevel::kTexture).hit_cycles);
  pipe_[kFromConstant] = Ring<PipedHit>(LevelOf(FirstLevel::kConstant).hit_cycles);
  pipe_[kFromDataHits] = Ring<PipedHit>(LevelOf(FirstLevel::kData).hit_cycles * data_per_cycle);
}

inline Cycle HierarchySm::WakeAfter(Cycle now) {
  if (draining_ != 0) return now + 1;
  if (holds_any_ && !LevelOf(FirstLevel::kData).queue.full()) return now + 1;
  // Asks every queue, so that the port wakes for any of them.
  bool can_send = false;
  for (uint32_t mask = queued_; mask != 0; mask &= mask - 1) {
    can_send |= port_.HasRoom(level_[std::countr_zero(mask)].queue.front());
  }
  if (can_send) return now + 1;
  Cycle wake = kNever;
  for (uint32_t filled = filled_pipes_; filled != 0; filled &= filled - 1) {
    wake = std::min(wake, pipe_[std::countr_zero(filled)].front().ready);
  }
  // A blocked stage is unblocked by what has been looked at here, or from outside.
  if (stage_.busy && !stage_.blocked) wake = std::min(wake, stage_.ready);
  assert((wake != kNever || outstanding_ != 0 || !stage_.busy) && "a step waits, and nothing is under way");
  return std::max(wake, now + 1);
}

void HierarchySm::RunCycle(Cycle now) {
  if (now == last_run_) return;
  // The core runs in many cycles in which the memory sleeps. What a blocked stage counts is made up for later.
  if (const bool news = port_.TakeNews(); now < wake_ && !news) return;
  if ((outstanding_ | queued_ | draining_ | filled_pipes_) == 0 && !holds_any_ && !stage_.busy) {  // nothing to do
    last_run_ = now;
    wake_ = kNever;
    return;
  }
  if (stage_.blocked) CreditBlocked(now - last_run_ - 1);
  last_run_ = now;
  if (outstanding_ != 0) {
    if (const MemoryRequest* reply = port_.Reply(); reply != nullptr) TakeReply(*reply, now);
  }
  if ((draining_ | filled_pipes_) != 0) ReturnData(now);
  if (holds_any_) MoveHeldWriteBack(now);
  if (queued_ != 0) Send();
  if (stage_.busy && now >= stage_.ready) RunStage(now);
  wake_ = WakeAfter(now);
}

void HierarchySm::Submit(const WarpAccess& access, Cycle now) {
  AccessPlan& plan = *NewPlan();
  planner_.Plan(access, plan, counters_);
  const Approaching next = {.op = access.op,
                            .slot = access.slot,
                            .record = NewRecord(),
                            .lanes = access.lanes,
                            .ready = now + issue_cycles_,
                            .plan = &plan};
  // With all misses or none, what comes back comes back as one.
  const bool joined = plan.joined || (all_or_none_ && !plan.uniform());
  Record& record = records_[next.record];
  record = {.id = access.id, .pc = access.pc, .submitted = now, .lanes = access.lanes, .joined = joined};
  if (access.op != trace::v1::OP_STORE) record.left = plan.size();
  if (profile_ != nullptr) profile_->Entered(access, plan, planner_);
  if (stage_.busy) {
    approaching_.push_back(next);
    return;
  }
  Enter(next, next.ready);
  wake_ = std::min(wake_, stage_.ready);
}

FetchResult HierarchySm::Fetch(uint64_t address, uint32_t fetcher, Cycle now) {
  Level& level = LevelOf(FirstLevel::kInstruction);
  if (level.cache == nullptr) return FetchResult::kHit;
  Cache& cache = *level.cache;
  const uint64_t line = cache.LineOf(address);
  if (fetcher >= line_for_.size()) line_for_.resize(fetcher + 1, kNoLine);
  const uint64_t its_own = std::exchange(line_for_[fetcher], kNoLine);
  if (cache.ReadHit(line, cache.SetOf(line))) return FetchResult::kHit;
  if (its_own == line) {
    cache.CountHit();
    return FetchResult::kHit;
  }
  const CacheOutcome outcome = cache.Access(line, cache.SetOf(line), CacheOperation::kRead,
                                            machine::v1::Cache::READ_ONLY, kNoSlot, level.queue.room(), now);
  if (outcome.result == CacheResult::kReservationFail) return FetchResult::kRefused;
  level.waiters[outcome.waiter] = {.record = fetcher};
  if (outcome.fetch) {
    QueueFetchOf(FirstLevel::kInstruction, outcome, line);
    wake_ = std::min(wake_, now + 1);
  }
  return FetchResult::kPending;
}

void HierarchySm::Queue(FirstLevel level, RequestKind kind, uint64_t address, uint32_t bytes, uint32_t tag,
                        uint32_t passes) {
  const int index = Index(level);
  level_[index].queue.push_back({.address = address,
                                 .tag = tag,
                                 .bytes = static_cast<uint16_t>(bytes),
                                 .sm = sm_,
                                 .kind = kind,
                                 .cache = level,
                                 .passes = static_cast<uint8_t>(passes)});
  queued_ |= static_cast<uint8_t>(1u << index);
  ++outstanding_;
  ++counters_.level[index].requests[static_cast<int>(kind)];
  counters_.level[index].request_bytes += bytes;
}

void HierarchySm::QueueFetchOf(FirstLevel level, const CacheOutcome& outcome, uint64_t line) {
  const uint32_t line_bits = LevelOf(level).cache->line_bits();
  const uint64_t base = level == FirstLevel::kInstruction ? kProgramBase : 0;
  Queue(level, RequestKind::kRead, base + (line << line_bits), 1u << line_bits, outcome.entry);
  if (outcome.eviction.dirty) {
    Queue(level, RequestKind::kWrite, outcome.eviction.line << line_bits, 1u << line_bits, kNoRecord);
  }
}

void HierarchySm::Send() {
  for (uint32_t turn = 1; turn <= kFirstLevels; ++turn) {
    const uint32_t index = (last_sent_ + turn) % kFirstLevels;
    if ((queued_ >> index & 1) == 0) continue;
    Ring<MemoryRequest>& queue = level_[index].queue;
    if (!port_.HasRoom(queue.front())) continue;
    port_.Send(queue.front());
    queue.pop_front();
    freed_ = true;
    if (queue.empty()) queued_ &= static_cast<uint8_t>(~(1u << index));
    last_sent_ = static_cast<uint8_t>(index);
    return;
  }
}

AccessPlan* HierarchySm::NewPlan() {
  if (free_plans_.empty()) {
    plans_.push_back(std::make_unique<AccessPlan>());
    return plans_.back().get();
  }
  AccessPlan* const plan = free_plans_.back();
  free_plans_.pop_back();
  return plan;
}

HierarchySm::RecordId HierarchySm::NewRecord() {
  if (free_records_.empty()) {
    records_.emplace_back();
    return static_cast<RecordId>(records_.size() - 1);
  }
  const RecordId record = free_records_.back();
  free_records_.pop_back();
  return record;
}

uint32_t HierarchySm::NewDirect(const Waiter& waiter) {
  if (free_directs_.empty()) {
    directs_.push_back(waiter);
    return static_cast<uint32_t>(directs_.size() - 1);
  }
  const uint32_t direct = free_directs_.back();
  free_directs_.pop_back();
  directs_[direct] = waiter;
  return direct;
}

bool HierarchySm::drained() const {
  return !stage_.busy && outstanding_ == 0 && draining_ == 0 && !holds_any_ && filled_pipes_ == 0 &&
         free_records_.size() == records_.size();
}

SmMemoryCounters HierarchySm::Counters(Cycle end) const {
  SmMemoryCounters counters = counters_;
  for (int index = 0; index < kFirstLevels; ++index) {
    const Cache* cache = level_[index].cache.get();
    if (cache == nullptr) continue;
    counters.level[index].cache.Add(cache->counters());
    counters.level[index].mshr_occupancy = cache->mshrs().Occupancy(end);
  }
  return counters;
}

void HierarchySm::AddSample(Cycle end, MemorySample& out) const {
  const Cache* cache = level_[Index(FirstLevel::kData)].cache.get();
  if (cache == nullptr) return;
  out.l1_accesses += cache->counters().accesses;
  out.l1_misses += cache->counters().misses;
  const std::vector<uint64_t> occupancy = cache->mshrs().Occupancy(end);
  for (size_t used = 0; used < occupancy.size(); ++used) out.outstanding_misses += used * occupancy[used];
}

std::string HierarchySm::Explain() const {
  constexpr std::array<absl::string_view, kReservationFails> kCauses = {"a way", "an MSHR", "a place in its MSHR",
                                                                        "a place in the miss queue"};
  std::string text;
  if (stage_.busy) {
    absl::StrAppend(&text, "memory stage: ", trace::v1::OpClass_Name(stage_.op), " of warp ", stage_.slot, ", ",
                    stage_.plan->size() - stage_.next, " accesses left");
    if (!approaching_.empty()) absl::StrAppend(&text, ", ", approaching_.size(), " instructions behind it");
    if (stage_.returns_full) {
      absl::StrAppend(&text, ", waits for the registers");
    } else if (stage_.blocked) {
      absl::StrAppend(&text, ", waits for ", kCauses[static_cast<int>(stage_.cause)], " of the ",
                      kLevelNames[Index(stage_.level)], " cache");
    }
    absl::StrAppend(&text, "; ");
  }
  for (int index = 0; index < kFirstLevels; ++index) {
    const Level& level = level_[index];
    const uint32_t used = level.cache == nullptr ? 0 : level.cache->mshrs().used();
    if (used == 0 && level.queue.empty()) continue;
    absl::StrAppend(&text, kLevelNames[index], " cache: ", used, " MSHRs in use, ", level.queue.size(), " of ",
                    level.queue.capacity(), " places of the miss queue; ");
  }
  if (outstanding_ != 0) absl::StrAppend(&text, outstanding_, " requests without a reply; ");
  uint32_t piped = 0;
  for (const Ring<PipedHit>& pipe : pipe_) piped += pipe.size();
  if (piped != 0) absl::StrAppend(&text, piped, " hits on their way to the registers; ");
  if (!text.empty()) text.resize(text.size() - 2);
  return text;
}

bool HierarchySm::Consistent() const {
  uint64_t used = 0;
  for (const Level& level : level_) {
    if (level.cache == nullptr) continue;
    used += level.cache->mshrs().used();
    if (!level.cache->Consistent()) return false;
    const CacheCounters& counters = level.cache->counters();
    if (counters.accesses != counters.hits + counters.pending_hits + counters.misses) return false;
  }
  return !drained() || (used == 0 && queued_ == 0 && free_directs_.size() == directs_.size());
}

}  // namespace heddle::replay
