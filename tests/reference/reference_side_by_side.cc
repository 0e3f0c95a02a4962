// Launches side by side: docs/reference/timing.md, the section on them, looked at in every cycle.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "replay/memory/make_memory_system.h"
#include "replay/memory/ports/address_windows.h"
#include "tests/reference/reference_engine.h"
#include "tests/reference/reference_launch.h"

namespace heddle::replay {
namespace {

// A launch that could begin and has not ended.
struct Running {
  uint32_t id = 0;
  Cycle ready = 0;
  Cycle end = 0;
  uint64_t sm_cycles = 0;
  uint32_t number = 0;  // among the launches of the stretch
  std::unique_ptr<SharedState> shared;
  std::unique_ptr<ReferenceLaunchRun> run;
};

class SideBySide {
 public:
  SideBySide(const ReferenceSetup& setup, LaunchRule rule)
      : setup_(setup), rule_(rule), owner_(setup.machine.sms()), since_(setup.machine.sms()) {}

  absl::StatusOr<ReferenceResult> Replay();

 private:
  // Whether all launches that it depends on have ended; those that are not recorded take no time.
  bool MayBegin(const trace::LaunchView& view) const {
    return std::ranges::all_of(view.launch.depends_on(), [this](uint32_t earlier) {
      const trace::LaunchView& before = setup_.reader.launches()[earlier];
      return before.launch.recorded() ? ended_.contains(earlier) : MayBegin(before);
    });
  }
  std::vector<const trace::LaunchView*> Ready() const {
    std::vector<const trace::LaunchView*> ready;
    for (const trace::LaunchView& view : setup_.reader.launches()) {
      if (view.launch.recorded() && !begun_.contains(view.launch.id()) && MayBegin(view)) ready.push_back(&view);
    }
    return ready;
  }

  absl::Status RunStretch(const std::vector<const trace::LaunchView*>& first, result::v1::Stretch& stretch);
  absl::Status Add(const trace::LaunchView& view, Cycle ready, Cycle now);
  absl::Status EndLaunches(Cycle now);
  void Finish(Running& launch, Cycle first);
  void Release(size_t sm, Cycle first);
  std::vector<uint64_t> Shares(const std::vector<Running*>& asking) const;
  void Distribute(Cycle first);
  bool IsBusy(size_t sm) const {
    const ReferenceSm* const core = owner_[sm] == nullptr ? nullptr : owner_[sm]->run->cores().Find(sm);
    return core != nullptr && (core->resident() > 0 || !core->Drained());
  }
  uint64_t BusySms(const Running* launch) const {
    uint64_t busy = 0;
    for (size_t sm = 0; sm < owner_.size(); ++sm) busy += owner_[sm] == launch && IsBusy(sm) ? 1 : 0;
    return busy;
  }

  const ReferenceSetup setup_;
  const LaunchRule rule_;
  std::set<uint32_t> begun_;
  std::set<uint32_t> ended_;
  Cycle begin_ = 0;  // of the stretch
  uint32_t numbers_ = 0;
  std::vector<std::unique_ptr<Running>> running_;  // in the order in which they became ready
  std::vector<Running*> owner_;                    // by SM
  std::vector<Cycle> since_;                       // by SM
  std::map<uint32_t, result::v1::LaunchResult> results_;
  Cycle last_end_ = 0;
};

absl::Status SideBySide::Add(const trace::LaunchView& view, Cycle ready, Cycle now) {
  auto launch = std::make_unique<Running>();
  launch->id = view.launch.id();
  launch->ready = ready;
  launch->number = numbers_++;
  const machine::v1::Core& core = setup_.machine.core();
  launch->shared = std::make_unique<SharedState>(StateShape{.warp_size = static_cast<int>(core.warp_size()),
                                                            .max_threads = static_cast<int>(core.max_threads()),
                                                            .ports = static_cast<int>(core.schedulers()),
                                                            .sms = setup_.machine.sms()},
                                                 /*in_order=*/false);
  auto run = ReferenceLaunchRun::Make(setup_, view, *launch->shared,
                                      {.beside = true, .number = launch->number, .start = ready});
  if (!run.ok()) return run.status();
  launch->run = *std::move(run);
  launch->run->dispatch().BeginCycle(now);
  begun_.insert(launch->id);
  running_.push_back(std::move(launch));
  return absl::OkStatus();
}

void SideBySide::Release(size_t sm, Cycle first) {
  Running& launch = *owner_[sm];
  launch.sm_cycles += first - since_[sm];
  launch.run->dispatch().SetOpen(sm, false);
  setup_.memory.ReleaseSm(static_cast<uint32_t>(sm), first);
  launch.run->Drop(sm);
  launch.shared->ForgetSm(static_cast<uint32_t>(sm));
  owner_[sm] = nullptr;
}

void SideBySide::Finish(Running& launch, Cycle first) {
  for (size_t sm = 0; sm < owner_.size(); ++sm) {
    if (owner_[sm] == &launch) Release(sm, first);
  }
  result::v1::LaunchResult& out = results_[launch.id] = launch.run->Result(launch.end - launch.ready);
  setup_.memory.EndBeside(launch.number, launch.sm_cycles, out);
  out.mutable_times()->set_stream(launch.run->view().launch.stream());
  out.mutable_times()->set_ready(begin_ + launch.ready);
  out.mutable_times()->set_began(begin_ + std::min(launch.run->dispatch().first_block(), launch.end));
  out.mutable_times()->set_ended(begin_ + launch.end);
  last_end_ = std::max(last_end_, launch.end);
  ended_.insert(launch.id);
}

// A launch ends when its blocks have retired and nothing is under way in the memory of its SMs; the last one also waits
// for what all share. Then those may begin that have waited for it.
absl::Status SideBySide::EndLaunches(Cycle now) {
  for (bool again = true; again;) {
    again = false;
    for (size_t i = 0; i < running_.size();) {
      Running& launch = *running_[i];
      bool over = launch.run->AllRetired();
      if (over) launch.end = std::max(launch.end, now);
      launch.run->cores().ForEach([&](const ReferenceSm& core) { over &= core.Drained(); });
      if (running_.size() == 1) over &= setup_.memory.drained();
      if (!over) {
        ++i;
        continue;
      }
      Finish(launch, now + 1);
      running_.erase(running_.begin() + static_cast<ptrdiff_t>(i));
      again = true;
    }
    if (running_.empty()) break;
    for (const trace::LaunchView* view : Ready()) {
      if (const absl::Status status = Add(*view, now + 1, now); !status.ok()) return status;
      again = true;
    }
  }
  return absl::OkStatus();
}

// Fill first: as many SMs as a launch has blocks for, the oldest first. Spatial split: one SM after the other to the
// launch that has the fewest of those that can use another, the oldest of equal ones.
std::vector<uint64_t> SideBySide::Shares(const std::vector<Running*>& asking) const {
  std::vector<uint64_t> useful;
  for (const Running* const launch : asking) useful.push_back(launch->run->dispatch().unsent() + BusySms(launch));
  std::vector<uint64_t> shares(asking.size());
  for (size_t left = owner_.size(); left > 0; --left) {
    std::optional<size_t> next;
    for (size_t i = 0; i < asking.size(); ++i) {
      if (shares[i] == useful[i]) continue;
      if (!next.has_value() || (rule_ == LaunchRule::kSpatialSplit && shares[i] < shares[*next])) next = i;
    }
    if (!next.has_value()) break;
    ++shares[*next];
  }
  return shares;
}

void SideBySide::Distribute(Cycle first) {
  std::vector<Running*> asking;
  for (const auto& launch : running_) {
    if (launch->ready + setup_.machine.dispatch().launch_cycles() <= first) asking.push_back(launch.get());
  }
  const std::vector<uint64_t> shares = Shares(asking);
  std::vector<Running*> next(owner_.size());
  // Everybody keeps what the share allows, busy SMs before others.
  for (size_t i = 0; i < asking.size(); ++i) {
    std::vector<size_t> own;
    for (size_t sm = 0; sm < owner_.size(); ++sm) {
      if (owner_[sm] == asking[i]) own.push_back(sm);
    }
    std::ranges::stable_partition(own, [this](size_t sm) { return IsBusy(sm); });
    for (size_t k = 0; k < std::min<size_t>(own.size(), shares[i]); ++k) next[own[k]] = asking[i];
  }
  // What is not kept goes to those that are short of SMs, in their order, busy ones last.
  std::vector<size_t> left;
  for (size_t sm = 0; sm < owner_.size(); ++sm) {
    if (next[sm] == nullptr) left.push_back(sm);
  }
  std::ranges::stable_partition(left, [this](size_t sm) { return !IsBusy(sm); });
  auto from = left.begin();
  for (size_t i = 0; i < asking.size(); ++i) {
    auto has = static_cast<uint64_t>(std::ranges::count(next, asking[i]));
    for (; has < shares[i] && from != left.end(); ++has) next[*from++] = asking[i];
  }
  for (size_t sm = 0; sm < owner_.size(); ++sm) {
    const bool stays = owner_[sm] != nullptr && (owner_[sm] == next[sm] || IsBusy(sm));
    if (owner_[sm] != nullptr && !stays) Release(sm, first);
    if (owner_[sm] == nullptr && next[sm] != nullptr) {
      owner_[sm] = next[sm];
      since_[sm] = first;
    }
    if (owner_[sm] != nullptr) owner_[sm]->run->dispatch().SetOpen(sm, owner_[sm] == next[sm]);
  }
}

absl::Status SideBySide::RunStretch(const std::vector<const trace::LaunchView*>& first, result::v1::Stretch& stretch) {
  NoWaker waker;
  numbers_ = 0;
  last_end_ = 0;
  setup_.memory.BeginLaunch(setup_.machine.memory().hierarchy().l1_data().ways());
  std::set<uint32_t> before = ended_;
  for (const trace::LaunchView* view : first) {
    if (const absl::Status status = Add(*view, 0, 0); !status.ok()) return status;
  }
  Distribute(0);
  for (const auto& launch : running_) launch->run->dispatch().EndCycle(0);
  for (Cycle now = 0; !running_.empty(); ++now) {
    for (const auto& launch : running_) launch->run->dispatch().BeginCycle(now);
    setup_.memory.Advance(now, waker);
    for (size_t sm = 0; sm < owner_.size(); ++sm) {
      ReferenceSm* const core = owner_[sm] == nullptr ? nullptr : owner_[sm]->run->cores().Find(sm);
      if (core == nullptr) continue;
      core->RunCycle(now, [&](uint64_t block) {
        owner_[sm]->end = core->EndOf(now);
        owner_[sm]->run->dispatch().Retired(static_cast<uint32_t>(sm), block);
      });
      if (!core->status().ok()) return core->status();
    }
    if (const absl::Status status = EndLaunches(now); !status.ok()) return status;
    Distribute(now + 1);
    for (const auto& launch : running_) launch->run->dispatch().EndCycle(now + 1);
    if (now > kMostCycles) return absl::InternalError("deadlock of launches side by side");
  }
  for (const uint32_t id : ended_) {
    if (!before.contains(id)) stretch.add_launch(id);
  }
  stretch.set_cycles(last_end_);
  if (!setup_.machine.memory().has_hierarchy()) return absl::OkStatus();
  result::v1::LaunchResult whole;
  if (const absl::Status status = setup_.memory.EndLaunch(last_end_, whole); !status.ok()) return status;
  if (whole.has_network_to_memory()) *stretch.mutable_network_to_memory() = whole.network_to_memory();
  if (whole.has_network_to_sms()) *stretch.mutable_network_to_sms() = whole.network_to_sms();
  if (whole.has_l2()) *stretch.mutable_l2() = whole.l2();
  if (whole.has_dram()) *stretch.mutable_dram() = whole.dram();
  return absl::OkStatus();
}

absl::StatusOr<ReferenceResult> SideBySide::Replay() {
  ReferenceResult result;
  SharedState shared = SharedOf(setup_);
  for (std::vector<const trace::LaunchView*> ready = Ready(); !ready.empty(); ready = Ready()) {
    result::v1::Stretch& stretch = result.stretches.emplace_back();
    stretch.set_began(begin_);
    if (ready.size() > 1) {
      if (const absl::Status status = RunStretch(ready, stretch); !status.ok()) return status;
    } else {
      // Nobody can come before it has ended: a launch as if it were the only one.
      const uint32_t id = ready.front()->launch.id();
      auto launch = ReferenceLaunchRun::Make(setup_, *ready.front(), shared, {});
      if (!launch.ok()) return launch.status();
      const absl::StatusOr<Cycle> cycles = RunAlone(setup_, **launch);
      if (!cycles.ok()) return cycles.status();
      result::v1::LaunchResult& out = results_[id] = (*launch)->Result(*cycles);
      if (setup_.machine.memory().has_hierarchy()) {
        if (const absl::Status ended = setup_.memory.EndLaunch(*cycles, out); !ended.ok()) return ended;
      }
      out.mutable_times()->set_stream(ready.front()->launch.stream());
      out.mutable_times()->set_ready(begin_);
      out.mutable_times()->set_began(begin_ + setup_.machine.dispatch().launch_cycles());
      out.mutable_times()->set_ended(begin_ + *cycles);
      begun_.insert(id);
      ended_.insert(id);
      stretch.add_launch(id);
      stretch.set_cycles(*cycles);
    }
    begin_ += stretch.cycles();
  }
  for (auto& [id, one] : results_) result.launches.push_back(std::move(one));
  result.total = TotalOf(result.launches, static_cast<int>(setup_.machine.core().warp_size()));
  result.total.set_cycles(begin_);
  if (begin_ != 0) {
    result.total.set_ipc(static_cast<double>(result.total.thread_instructions()) / static_cast<double>(begin_));
  }
  return result;
}

}  // namespace

absl::StatusOr<ReferenceResult> ReplaySideBySideByReference(const trace::TraceReader& reader,
                                                            const Configuration& configuration,
                                                            const machine::v1::Machine& machine, LaunchRule rule,
                                                            IssueObserver* observer) {
  const absl::StatusOr<CheckedConfiguration> policies = CheckConfiguration(configuration);
  if (!policies.ok()) return policies.status();
  auto memory = MakeMemorySystem(machine, AddressWindows(reader.header()), /*seed=*/0, /*force_tick=*/false);
  if (!memory.ok()) return memory.status();
  return SideBySide({reader, *policies, machine, **memory, observer}, rule).Replay();
}

}  // namespace heddle::replay
