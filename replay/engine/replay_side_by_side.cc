#include "replay/engine/replay_side_by_side.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/engine/launch_simulation.h"
#include "replay/engine/machine_time.h"
#include "replay/engine/order/launch_order.h"
#include "replay/engine/order/work_distributor.h"
#include "replay/engine/policy_watch.h"
#include "replay/engine/replay_launch.h"
#include "replay/engine/wait_check.h"
#include "replay/machine/machine.h"
#include "replay/seams/policy_error.h"
#include "replay/seams/shared_state.h"
#include "traces/base/status_macros.h"

namespace heddle::replay {
namespace {

// What launches that share the SMs cannot have: it would see SMs come and go.
absl::Status CheckBeside(const LaunchSimulation& simulation, const CheckedConfiguration& configuration) {
  const auto refuse = [](const std::string& what) {
    return absl::FailedPreconditionError(
        absl::StrCat(what, "; replay the trace with --launches in_order, or only some kernels (--kernels)"));
  };
  const std::string dispatcher = absl::StrCat("dispatcher '", configuration.dispatch.name(), "'");
  if (StateOutlivesLaunch(configuration)) {
    return refuse("a policy keeps state from launch to launch, but other launches run at the same time");
  }
  if (configuration.dispatch.traits.warp_dispatch.has_value()) {
    return refuse(absl::StrCat(dispatcher, " gives single warps, but other launches run at the same time"));
  }
  if (simulation.watches_sms()) {
    return refuse(absl::StrCat(dispatcher, " watches SMs, which other launches have at other times"));
  }
  if (simulation.has_clusters()) return refuse("the launch has clusters, but other launches run at the same time");
  return absl::OkStatus();
}

// Launches that run at the same time: from their first cycle until none of them is left.
class Stretch final : public MachineTime::Keeper {
 public:
  // `begin`: of the stretch, in the time of the trace. Results go to `results`, by launch.
  Stretch(const SideBySideRun& run, LaunchOrder& order, Cycle begin, std::function<bool(uint64_t)> progress,
          std::vector<result::v1::LaunchResult>& results)
      : run_(run),
        order_(order),
        begin_(begin),
        results_(results),
        distributor_(MakeWorkDistributor(run.options.launch_rule)),
        time_(run.options, run.memory, run.cache, std::move(progress)),
        holders_(run.options.machine.sms()) {}

  // Runs the launches `first`, which may begin now, and those that may begin before the last of them has ended.
  absl::Status Run(const std::vector<size_t>& first);

  absl::Status EndCycle(Cycle now) override;
  bool done() const override { return running_.empty(); }

  // After Run: when the last launch ended, in cycles of the stretch; and what has run.
  Cycle end() const { return end_; }
  const std::vector<size_t>& launches() const { return launches_; }
  const Cycle& clock() const { return time_.clock(); }
  // The launch that an error came from.
  const trace::LaunchView& present() const {
    if (failed_ != nullptr || time_.present() == nullptr) return failed_ == nullptr ? *run_.launches[0] : *failed_;
    return time_.present()->run().launch;
  }

 private:
  // A launch that could begin and has not ended.
  struct Running {
    size_t launch = 0;
    Cycle ready = 0;    // the first cycle in which it could have begun
    bool asks = false;  // for SMs: its time to be set up is over
    uint64_t sm_cycles = 0;
    std::unique_ptr<SharedState> shared;
    std::unique_ptr<LaunchRun> run;
    std::unique_ptr<LaunchSimulation> simulation;
  };
  struct Holder {
    Running* launch = nullptr;
    Cycle since = 0;
  };

  absl::Status Add(size_t launch, Cycle ready);
  // Launches whose time to be set up is over before cycle `first` ask for SMs. Whether there are any.
  bool LetAsk(Cycle first);
  absl::Status End(size_t running, Cycle first);
  // Shares the SMs out for what happens from cycle `first` on.
  absl::Status Distribute(Cycle first);
  absl::Status GiveBack(uint32_t sm, Cycle first);

  const SideBySideRun& run_;
  LaunchOrder& order_;
  const Cycle begin_;
  std::vector<result::v1::LaunchResult>& results_;
  const std::unique_ptr<WorkDistributor> distributor_;
  MachineTime time_;
  std::vector<std::unique_ptr<Running>> running_;  // in the order in which they became ready
  std::vector<Holder> holders_;                    // by SM
  std::vector<size_t> launches_;
  const trace::LaunchView* failed_ = nullptr;
  Cycle end_ = 0;
};

absl::Status Stretch::Add(size_t launch, Cycle ready) {
  const trace::LaunchView& view = *run_.launches[launch];
  failed_ = &view;
  auto running = std::make_unique<Running>();
  running->launch = launch;
  running->ready = ready;
  running->shared = MakeSharedState(run_.configuration, run_.options.machine);
  running->shared->BeginLaunch();
  running->run = std::make_unique<LaunchRun>(LaunchRun{run_.reader,
                                                       view,
                                                       run_.configuration,
                                                       run_.configuration_index,
                                                       run_.options,
                                                       run_.cache,
                                                       run_.memory,
                                                       *running->shared,
                                                       {}});
  HEDDLE_ASSIGN_OR_RETURN(const Occupancy occupancy, CheckLaunch(*running->run));
  // It is certain of one SM only.
  HEDDLE_RETURN_IF_ERROR(CheckGridWaits(view, static_cast<uint64_t>(occupancy.blocks)));
  HEDDLE_ASSIGN_OR_RETURN(trace::RecordedClusters clusters, trace::RecordedClusters::Of(run_.reader, view));
  const LaunchPlace place{true, static_cast<uint32_t>(launches_.size()), ready};
  running->simulation = std::make_unique<LaunchSimulation>(*running->run, occupancy, std::move(clusters), time_, place);
  HEDDLE_RETURN_IF_ERROR(CheckBeside(*running->simulation, run_.configuration));
  HEDDLE_RETURN_IF_ERROR(running->simulation->Begin());
  failed_ = nullptr;
  time_.Add(*running->simulation);
  running_.push_back(std::move(running));
  launches_.push_back(launch);
  return absl::OkStatus();
}

absl::Status Stretch::Run(const std::vector<size_t>& first) {
  run_.memory.BeginLaunch(run_.options.machine.memory().hierarchy().l1_data().ways());
  for (const size_t launch : first) HEDDLE_RETURN_IF_ERROR(Add(launch, 0));
  if (LetAsk(0)) {
    HEDDLE_RETURN_IF_ERROR(Distribute(0));
    for (const auto& running : running_) HEDDLE_RETURN_IF_ERROR(running->simulation->RunRound(0));
  }
  return time_.Run(this);
}

bool Stretch::LetAsk(Cycle first) {
  bool any = false;
  const Cycle setup = run_.options.machine.dispatch().launch_cycles();
  for (const auto& running : running_) {
    if (running->asks || running->ready + setup > first) continue;
    running->asks = true;
    any = true;
  }
  return any;
}

absl::Status Stretch::EndCycle(Cycle now) {
  const Cycle first = now + 1;
  bool changed = false;
  for (bool again = true; again;) {
    again = false;
    for (size_t i = 0; i < running_.size();) {
      LaunchSimulation& simulation = *running_[i]->simulation;
      simulation.NoteTime(now);
      // The last one ends when nothing is under way at all.
      if (!simulation.Drained() || (running_.size() == 1 && !time_.memory_drained())) {
        ++i;
        continue;
      }
      HEDDLE_RETURN_IF_ERROR(End(i, first));
      changed = true;
    }
    if (running_.empty() || !changed) break;
    for (const size_t launch : order_.TakeReady()) {
      HEDDLE_RETURN_IF_ERROR(Add(launch, first));
      again = true;
    }
  }
  changed |= LetAsk(first);
  for (const auto& running : running_) changed |= running->simulation->TakeChanged();
  return changed ? Distribute(first) : absl::OkStatus();
}

absl::Status Stretch::GiveBack(uint32_t sm, Cycle first) {
  Holder& holder = holders_[sm];
  holder.launch->sm_cycles += first - holder.since;
  HEDDLE_RETURN_IF_ERROR(holder.launch->simulation->GiveBack(sm, first));
  time_.Give(sm, nullptr);
  holder.launch = nullptr;
  return absl::OkStatus();
}

absl::Status Stretch::End(size_t index, Cycle first) {
  Running& running = *running_[index];
  failed_ = run_.launches[running.launch];
  for (uint32_t sm = 0; sm < holders_.size(); ++sm) {
    if (holders_[sm].launch == &running) HEDDLE_RETURN_IF_ERROR(GiveBack(sm, first));
  }
  HEDDLE_ASSIGN_OR_RETURN(result::v1::LaunchResult result, running.simulation->Result(running.sm_cycles));
  result::v1::LaunchTimes& times = *result.mutable_times();
  times.set_stream(failed_->launch.stream());
  times.set_ready(begin_ + running.ready);
  times.set_began(begin_ + std::min(running.simulation->first_block(), running.simulation->end()));
  times.set_ended(begin_ + running.simulation->end());
  end_ = std::max(end_, running.simulation->end());
  results_[running.launch] = std::move(result);
  order_.End(running.launch);
  time_.Remove(*running.simulation);
  running_.erase(running_.begin() + static_cast<ptrdiff_t>(index));
  failed_ = nullptr;
  return absl::OkStatus();
}

absl::Status Stretch::Distribute(Cycle first) {
  std::vector<Running*> asking;
  for (const auto& running : running_) {
    if (running->asks) asking.push_back(running.get());
  }
  std::vector<LaunchDemand> demands;
  for (const Running* const running : asking) demands.push_back({running->simulation->unsent_blocks(), 0});
  std::vector<SmHolding> holdings(holders_.size());
  for (uint32_t sm = 0; sm < holders_.size(); ++sm) {
    const Running* const holder = holders_[sm].launch;
    if (holder == nullptr) continue;
    holdings[sm].launch = static_cast<uint32_t>(std::find(asking.begin(), asking.end(), holder) - asking.begin());
    holdings[sm].busy = holder->simulation->IsBusy(sm);
    demands[holdings[sm].launch].busy_sms += holdings[sm].busy ? 1 : 0;
  }
  std::vector<uint32_t> shares(asking.size());
  distributor_->Share(static_cast<uint32_t>(holders_.size()), demands, shares);
  std::vector<uint32_t> places;
  PlaceLaunches(shares, holdings, places);
  for (uint32_t sm = 0; sm < holders_.size(); ++sm) {
    Holder& holder = holders_[sm];
    Running* const next = places[sm] == SmHolding::kNone ? nullptr : asking[places[sm]];
    if (holder.launch != nullptr && holder.launch != next) {
      if (holdings[sm].busy) {
        holder.launch->simulation->SetOpen(sm, false);
        continue;
      }
      HEDDLE_RETURN_IF_ERROR(GiveBack(sm, first));
    }
    if (next == nullptr) continue;
    if (holder.launch == nullptr) {
      holder = {next, first};
      time_.Give(sm, next->simulation.get());
    }
    next->simulation->SetOpen(sm, true);
  }
  return absl::OkStatus();
}

// One stretch of several launches. Errors name the launch.
absl::Status RunStretch(const SideBySideRun& run, const std::vector<size_t>& first, Stretch& stretch) {
  RunMark mark(absl::StrCat("launches side by side under ", run.configuration.divergence.name(), " and ",
                            run.configuration.scheduler.name()));
  mark.SetClock(&stretch.clock());
  absl::Status status;
  // Policies are whoever's code. What they throw ends the run; nothing of it is used any more.
  try {
    status = stretch.Run(first);
  } catch (const PolicyError& error) {
    status = absl::InternalError(error.what());
  } catch (const std::exception& exception) {
    status = absl::InternalError(absl::StrCat("an exception", PresentCall(), ": ", exception.what()));
  } catch (...) {
    status = absl::InternalError(absl::StrCat("an exception", PresentCall(), ", of a type that has no text"));
  }
  return status.ok() ? status : AtRun(status, stretch.present(), run.configuration);
}

}  // namespace

absl::StatusOr<LaunchResults> ReplaySideBySide(const SideBySideRun& run) {
  LaunchResults results;
  results.launches.resize(run.launches.size());
  LaunchOrder order(run.reader, run.launches);
  const std::unique_ptr<SharedState> alone = MakeSharedState(run.configuration, run.options.machine);
  Cycle begin = 0;
  uint64_t instructions = 0;  // of stretches that are over
  size_t transfers = 0;       // that are over
  while (!order.done()) {
    const std::vector<size_t> ready = order.TakeReady();
    std::function<bool(uint64_t)> progress;
    if (run.progress) {
      progress = [&run, instructions](uint64_t done) { return run.progress(instructions + done); };
    }
    result::v1::Stretch& out = results.stretches.emplace_back();
    for (const size_t launch : ready) {
      transfers = std::max<size_t>(transfers, run.launches[launch]->transfers_before);
    }
    std::vector<size_t> launches = ready;
    Cycle cycles = 0;
    if (ready.size() == 1) {
      const trace::LaunchView& view = *run.launches[ready.front()];
      absl::StatusOr<result::v1::LaunchResult> result =
          ReplayLaunch({run.reader, view, run.configuration, run.configuration_index, run.options, run.cache,
                        run.memory, *alone, progress});
      if (!result.ok()) return AtRun(result.status(), view, run.configuration);
      result::v1::LaunchTimes& times = *result->mutable_times();
      times.set_stream(view.launch.stream());
      times.set_ready(begin);
      times.set_began(begin + run.options.machine.dispatch().launch_cycles());
      times.set_ended(begin + result->cycles());
      cycles = result->cycles();
      results.launches[ready.front()] = *std::move(result);
      order.End(ready.front());
    } else {
      run.memory.Transferred(run.reader.transfers().first(transfers));
      Stretch stretch(run, order, begin, progress, results.launches);
      HEDDLE_RETURN_IF_ERROR(RunStretch(run, ready, stretch));
      cycles = stretch.end();
      launches = stretch.launches();
      result::v1::LaunchResult whole;
      HEDDLE_RETURN_IF_ERROR(run.memory.EndLaunch(cycles, whole));
      if (whole.has_network_to_memory()) *out.mutable_network_to_memory() = whole.network_to_memory();
      if (whole.has_network_to_sms()) *out.mutable_network_to_sms() = whole.network_to_sms();
      if (whole.has_l2()) *out.mutable_l2() = whole.l2();
      if (whole.has_dram()) *out.mutable_dram() = whole.dram();
    }
    std::sort(launches.begin(), launches.end());
    for (const size_t launch : launches) {
      out.add_launch(run.launches[launch]->launch.id());
      instructions += run.launches[launch]->totals.thread_instructions();
    }
    out.set_began(begin);
    out.set_cycles(cycles);
    begin += cycles;
  }
  return results;
}

}  // namespace heddle::replay
