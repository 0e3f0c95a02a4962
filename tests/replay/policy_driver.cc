#include "tests/replay/policy_driver.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"

namespace heddle::replay {
namespace {

[[noreturn]] void Stop(const absl::Status& status) {
  std::fprintf(stderr, "policy driver: %s\n", status.ToString().c_str());
  std::abort();
}

// Name and parameters of "name:key=value,...".
std::pair<std::string, std::string> SplitSpec(const std::string& text) {
  const size_t colon = text.find(':');
  if (colon == std::string::npos) return {text, ""};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

}  // namespace

PolicyDriver::PolicyDriver(Scenario scenario, Options options)
    : scenario_(std::move(scenario)), predicated_(trace::Predicate(scenario_.program())), options_(std::move(options)) {
  const auto [divergence_name, divergence_text] = SplitSpec(options_.divergence);
  const auto [scheduler_name, scheduler_text] = SplitSpec(options_.scheduler);
  const auto divergence = DivergenceRegistry::Get().Find(divergence_name);
  if (!divergence.ok()) Stop(divergence.status());
  const auto scheduler = SchedulerRegistry::Get().Find(scheduler_name);
  if (!scheduler.ok()) Stop(scheduler.status());
  divergence_info_ = (*divergence)->info;
  scheduler_info_ = (*scheduler)->info;
  const auto divergence_parameters = Parameters::Parse(divergence_info_, divergence_text);
  if (!divergence_parameters.ok()) Stop(divergence_parameters.status());
  const auto scheduler_parameters = Parameters::Parse(scheduler_info_, scheduler_text);
  if (!scheduler_parameters.ok()) Stop(scheduler_parameters.status());

  const int warp_size = options_.warp_size;
  const LaneRule lane_rule = TraitsOf(divergence_info_, *divergence_parameters).lanes;
  const bool swizzle = lane_rule.swizzled && warp_size > 1;
  const int hw_warps = (static_cast<int>(scenario_.threads_per_block()) + warp_size - 1) / warp_size;
  const int hardware_threads = hw_warps * warp_size * static_cast<int>(scenario_.thread_blocks());
  Formation::Setup setup;
  setup.warp_size = warp_size;
  setup.max_threads = hardware_threads;
  setup.any_lane = lane_rule.any;
  setup.policy_name = divergence_name;
  formation_ = std::make_unique<Formation>(setup);
  const int blocks = static_cast<int>(scenario_.thread_blocks());
  shared_.emplace(StateShape{.warp_size = warp_size, .max_threads = hardware_threads, .ports = 1, .sms = 1},
                  /*in_order=*/true);
  shared_->BeginLaunch();
  policy_ = (*divergence)
                ->make({program(), warp_size, hardware_threads, blocks, 1, false, SmShared(*shared_, 0)},
                       *divergence_parameters);
  policy_->SetIssueView(view_);
  scheduler_ = (*scheduler)
                   ->make({formation_->table(), program(), warp_size, hardware_threads, blocks, 0, 1,
                           /*clock=*/nullptr, SmShared(*shared_, 0)},
                          *scheduler_parameters);
  formation_->SetSchedulers({scheduler_.get()});

  threads_.resize(static_cast<size_t>(hardware_threads));
  blocks_.resize(scenario_.thread_blocks());
  for (size_t block = 0; block < scenario_.thread_blocks(); ++block) {
    for (uint32_t index = 0; index < scenario_.threads_per_block(); ++index) {
      const uint32_t hw_warp = index / static_cast<uint32_t>(warp_size);
      const uint32_t lane = (index % static_cast<uint32_t>(warp_size)) ^ (swizzle ? hw_warp & 1 : 0);
      const size_t hardware = (block * static_cast<size_t>(hw_warps) + hw_warp) * static_cast<size_t>(warp_size) + lane;
      threads_[hardware] = {StepsOf(block, index), 0, block, index};
    }
  }
}

std::vector<PolicyDriver::Step> PolicyDriver::StepsOf(size_t block, uint32_t thread) const {
  std::vector<Step> steps;
  // The guarded block that the thread comes by behind its last step, if it is not at `pc` next.
  const auto passed = [&](Pc pc) -> const trace::Block* {
    if (!predicated_.has_value() || steps.empty()) return nullptr;
    const uint32_t before = program().block_of(steps.back().at.pc());
    const trace::Block& own = program().block(before);
    const uint32_t guarded = predicated_->run[before];
    const bool ends = steps.back().at.pc() == own.first + own.count - 1;
    if (!ends || guarded == trace::kNoBlock || program().block(guarded).first == pc) return nullptr;
    return &program().block(guarded);
  };
  for (const Scenario::Step& step : scenario_.Steps(block, thread)) {
    while (const trace::Block* const guarded = passed(step.at.pc())) {
      const Step last = steps.back();
      for (uint32_t i = 0; i < guarded->count; ++i) {
        steps.push_back({Position(guarded->first + i, last.at.depth()), last.return_to, /*passes=*/true});
      }
    }
    steps.push_back({step.at, step.return_to});
  }
  return steps;
}

Lack PolicyDriver::View::LackOf(SlotId slot) const {
  switch (driver_.formation_->table().state[slot]) {
    case SlotState::kFree:
      return Lack::kWarp;
    case SlotState::kInFlight:
      return Lack::kResult;
    case SlotState::kBarrier:
      return Lack::kBarrier;
    case SlotState::kResolving:
      return Lack::kDecision;
    default:
      return Lack::kNothing;
  }
}

void PolicyDriver::Admit() {
  const size_t per_block = threads_.size() / blocks_.size();
  for (size_t block = 0; block < blocks_.size(); ++block) {
    std::vector<LaneMask> hw_warps(per_block / static_cast<size_t>(options_.warp_size), 0);
    for (size_t i = 0; i < per_block; ++i) {
      const Thread& thread = threads_[block * per_block + i];
      if (thread.steps.empty()) continue;
      formation_->AddThread(static_cast<ThreadId>(block * per_block + i), static_cast<BlockId>(block), thread.index,
                            thread.at());
      hw_warps[i / static_cast<size_t>(options_.warp_size)] |= LaneMask{1}
                                                               << (i % static_cast<size_t>(options_.warp_size));
      ++blocks_[block].live;
    }
    scheduler_->BlockAdmitted(static_cast<BlockId>(block), block);
    scheduler_->WarpsAdmitted(static_cast<BlockId>(block), static_cast<uint32_t>(block * hw_warps.size()),
                              static_cast<uint32_t>(hw_warps.size()));
    BlockAdmission admission;
    admission.block = static_cast<BlockId>(block);
    admission.entry = Position(0, 0);
    admission.first_thread = static_cast<ThreadId>(block * per_block);
    admission.warps = hw_warps;
    policy_->Admit(admission, formation_->editor());
  }
}

void PolicyDriver::Complete(SlotId slot, bool released) {
  const WarpTable& table = formation_->table();
  const Position from = table.position[slot];
  const auto barrier = at_barrier_.find(slot);
  bool resolve = false;
  if (barrier != at_barrier_.end()) {
    if (!barrier->second && !released) {
      formation_->WaitAtBarrier(slot);
      return;
    }
    at_barrier_.erase(barrier);
    if ((policy_->interests() & kBarriers) != 0) resolve = policy_->BarrierReleased(slot, 0, formation_->editor());
  }

  const Lanes lanes = table.lanes[slot];
  const trace::Block& block = program().block(program().block_of(from.pc()));
  const bool last = from.pc() == block.first + block.count - 1;
  Resolution resolution;
  resolution.slot = slot;
  resolution.from = from;
  resolution.lanes = &lanes;
  const bool two_way = last && block.terminator == trace::v1::BRANCH_CONDITIONAL;
  resolution.conditional = two_way || (last && block.terminator == trace::v1::BRANCH_WIDE);
  std::vector<PathGroup> groups;
  for (LaneMask left = lanes.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    Thread& thread = threads_[lanes.thread[lane]];
    if (!thread.steps[thread.done].passes) resolution.executed |= LaneMask{1} << lane;
    resolution.reconvergence = thread.steps[thread.done].return_to;
    ++thread.done;
    if (thread.finished()) {
      resolution.exited |= LaneMask{1} << lane;
      --blocks_[thread.block].live;
      continue;
    }
    auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.at == thread.at(); });
    if (group == groups.end()) {
      const bool taken = two_way && program().block(block.taken).first == thread.at().pc();
      group = groups.insert(groups.end(), PathGroup{thread.at(), 0, taken});
    }
    group->lanes |= LaneMask{1} << lane;
  }
  std::sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
  if (!resolution.conditional) {
    resolution.reconvergence = Position::Exit();
  } else if (block.post_dominator != trace::kNoBlock) {
    resolution.reconvergence = Position(program().block(block.post_dominator).first, from.depth());
  }
  resolution.groups = groups;

  const bool at_stop = groups.size() == 1 && groups[0].at == table.stop[slot];
  resolution.uniform = (program().instruction(from.pc()).flags() & trace::v1::FLAG_UNIFORM) != 0;
  const uint32_t interests = policy_->interests();
  const bool wants_it = (interests & kEveryInstruction) != 0 || (last && (interests & kEveryBlockEnd) != 0);
  if (!resolve && !at_stop && !wants_it && groups.size() == 1 && resolution.exited == 0) {
    formation_->Advance(slot, groups[0].at);
    return;
  }
  resolution.reason = resolve                                        ? ResolveReason::kBarrier
                      : at_stop                                      ? ResolveReason::kStop
                      : groups.size() != 1 || resolution.exited != 0 ? ResolveReason::kControl
                      : resolution.conditional                       ? ResolveReason::kControl
                      : last                                         ? ResolveReason::kBlockEnd
                                                                     : ResolveReason::kInstruction;
  formation_->BeginResolve(slot, groups, resolution.exited);
  if (policy_->Resolve(resolution, formation_->editor()) != Verdict::kAccepted) {
    formation_->Fail("Resolve", slot, "the driver does not expect a refusal");
    return;
  }
  formation_->EndResolve(slot, lanes);
}

void PolicyDriver::Issue(Cycle now) {
  const WarpTable& table = formation_->table();
  LoggedIssue logged;
  logged.cycle = now;
  std::vector<SlotId> chosen;
  for (int i = 0; i < policy_->issue_slots() && formation_->AnyOffered(0); ++i) {
    const SlotId slot = scheduler_->Pick(formation_->Eligible(0));
    if (slot == kNoSlot) break;
    if (table.state[slot] != SlotState::kOffered) {
      formation_->Fail("Pick", slot, "the scheduler picked a slot that is not eligible");
      return;
    }
    if ((policy_->interests() & kIssue) != 0 &&
        policy_->AcceptIssue(slot, formation_->editor()) != Verdict::kAccepted) {
      return;
    }
    formation_->Issue(slot);
    scheduler_->IssuedOnSm(slot);
    scheduler_->Issued(slot);
    chosen.push_back(slot);
    uint32_t latency = 1;
    const Pc pc = table.position[slot].pc();
    const Lanes& lanes = table.lanes[slot];
    for (LaneMask left = lanes.mask; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      const Thread& thread = threads_[lanes.thread[lane]];
      if (thread.at() != table.position[slot]) formation_->Fail("Issue", slot, "a thread is not where its slot is");
      logged.members.push_back({static_cast<uint32_t>(lane), pc, thread.block, thread.index});
      if (options_.latency) latency = std::max(latency, options_.latency(thread.index, pc));
    }
    in_flight_.push_back({now + latency, slot});
  }
  if (!chosen.empty() && policy_->issue_slots() > 1) policy_->IssuedTogether(chosen, table);
  if (!logged.members.empty()) issues_.push_back(std::move(logged));
  for (const SlotId slot : chosen) {
    if (program().instruction(table.position[slot].pc()).op() != trace::v1::OP_BARRIER) continue;
    BlockState& block = blocks_[table.block[slot]];
    block.arrived += static_cast<uint32_t>(table.thread_count(slot));
    block.waiting.push_back(slot);
    at_barrier_[slot] = false;
    if ((policy_->interests() & kBarriers) != 0) policy_->BarrierArrived(slot, 0, formation_->editor());
    scheduler_->BarrierArrived(slot);
  }
}

void PolicyDriver::OpenBarriers() {
  for (size_t b = 0; b < blocks_.size(); ++b) {
    BlockState& block = blocks_[b];
    if (block.arrived == 0 || block.arrived != block.live) continue;
    opened_.insert(opened_.end(), block.waiting.begin(), block.waiting.end());
    block.waiting.clear();
    block.arrived = 0;
    opened_blocks_.push_back(static_cast<BlockId>(b));
  }
}

void PolicyDriver::Release(std::vector<SlotId> slots, const std::vector<BlockId>& blocks) {
  for (const BlockId block : blocks) scheduler_->BarrierReleased(block);
  std::sort(slots.begin(), slots.end());
  for (const SlotId slot : slots) {
    if (formation_->table().state[slot] == SlotState::kBarrier) {
      Complete(slot, true);
    } else {
      at_barrier_[slot] = true;
    }
  }
}

std::string PolicyDriver::Log(const std::string& end) const {
  return scenario_.Format(issues_, static_cast<uint32_t>(options_.warp_size), !divergence_info_.traits.mixed_pcs) + end;
}

std::string PolicyDriver::Run() {
  Admit();
  for (Cycle now = 0; now < options_.max_cycles; ++now) {
    formation_->SetNow(now);
    std::vector<InFlight> due;
    std::vector<InFlight> later;
    for (const InFlight& entry : in_flight_) (entry.done <= now ? due : later).push_back(entry);
    in_flight_ = std::move(later);
    std::stable_sort(due.begin(), due.end(), [](const auto& a, const auto& b) { return a.done < b.done; });
    const std::vector<SlotId> released = std::exchange(opened_, {});
    const std::vector<BlockId> released_blocks = std::exchange(opened_blocks_, {});
    for (const InFlight& entry : due) Complete(entry.slot, false);
    Release(released, released_blocks);
    for (uint64_t tag = 0; formation_->PopTimer(tag);) policy_->Timer(tag, formation_->editor());
    OpenBarriers();
    if (formation_->failed()) break;
    if (std::all_of(threads_.begin(), threads_.end(), [](const Thread& t) { return t.finished(); })) return Log("");
    if (formation_->AnyOffered(0)) {
      Issue(now);
    } else if (in_flight_.empty() && opened_.empty() && formation_->next_timer() == kNever) {
      return Log(" stuck");
    }
    OpenBarriers();
    if (formation_->failed()) break;
    if (options_.look) options_.look(now, *policy_, formation_->table());
  }
  if (formation_->failed()) return Log(absl::StrCat(" failed: ", formation_->status().ToString()));
  return Log(" stuck");
}

uint64_t PolicyDriver::issued_threads() const {
  uint64_t sum = 0;
  for (const LoggedIssue& issue : issues_) sum += issue.members.size();
  return sum;
}

namespace {

uint64_t CounterNamed(const PolicyInfo& info, std::span<const uint64_t> values, const std::string& name) {
  for (size_t i = 0; i < info.counters.size() && i < values.size(); ++i) {
    if (info.counters[i].name == name) return values[i];
  }
  Stop(absl::NotFoundError(absl::StrCat(info.name, " has no counter ", name)));
}

}  // namespace

uint64_t PolicyDriver::divergence_counter(const std::string& name) const {
  return CounterNamed(divergence_info_, policy_->counters(), name);
}

uint64_t PolicyDriver::scheduler_counter(const std::string& name) const {
  return CounterNamed(scheduler_info_, scheduler_->counters(), name);
}

}  // namespace heddle::replay
