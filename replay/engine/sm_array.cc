#include "replay/engine/sm_array.h"

#include <algorithm>
#include <utility>

#include "replay/core/fast_path/arithmetic_fast_path.h"
#include "replay/core/single_pipeline/single_pipeline_core.h"
#include "replay/engine/observed_scheduler.h"
#include "replay/engine/policy_watch.h"

namespace heddle::replay {

SmArray::SmArray(const LaunchRun& run, const LaunchContext& context, std::optional<uint32_t> beside)
    : run_(run), context_(context), beside_(beside), by_number_(run.options.machine.sms(), nullptr) {
  if (run.options.machine.core().front_end() == machine::v1::Core::IBUFFER) {
    buffer_setup_.emplace(context.program, context.steps, run.options.machine);
  }
}

void SmArray::Drop(uint32_t sm) {
  SmCore* const core = std::exchange(by_number_[sm], nullptr);
  const auto made = std::ranges::find_if(made_, [core](const auto& one) { return one.get() == core; });
  if (!buffer_cores_.empty()) buffer_cores_.erase(buffer_cores_.begin() + (made - made_.begin()));
  made_.erase(made);
}

void SmArray::Make(uint32_t sm) {
  if (beside_.has_value()) run_.memory.MakeFor(*beside_, context_.l1_ways);
  const CheckedConfiguration& configuration = run_.configuration;
  const SmShared shared(run_.shared, sm);
  const DivergenceContext policy_context{context_.program,
                                         context_.warp_size,
                                         context_.max_threads,
                                         context_.capacity,
                                         context_.ports,
                                         context_.one_port_per_block,
                                         shared};
  WatchedPolicy* watched = nullptr;
  std::unique_ptr<DivergencePolicy> policy = MakeWatched(configuration.divergence, policy_context, sm, watched);
  std::vector<WatchedPolicy*> all_watched = {watched};
  std::unique_ptr<SmCore> core;
  if (buffer_setup_.has_value()) {
    auto buffer =
        std::make_unique<IBufferCore>(context_, *buffer_setup_, sm, std::move(policy), run_.cache, run_.memory);
    buffer_cores_.push_back(buffer.get());
    core = std::move(buffer);
  } else {
    core = std::make_unique<SinglePipelineCore>(context_, sm, std::move(policy), run_.cache, run_.memory);
  }
  std::vector<std::unique_ptr<WarpScheduler>> schedulers;
  for (int port = 0; port < context_.ports; ++port) {
    const SchedulerContext scheduler_context{core->table(),        context_.program,  context_.warp_size,
                                             context_.max_threads, context_.capacity, port,
                                             context_.ports,       &core->clock(),    shared,
                                             &core->view()};
    schedulers.push_back(MakeWatched(configuration.scheduler, scheduler_context, sm, watched));
    all_watched.push_back(watched);
    watches_grid_ |= schedulers.back()->watches_grid();
    if (context_.observer == nullptr || !context_.observer->wants_waits()) continue;
    schedulers.back() =
        std::make_unique<ObservedScheduler>(std::move(schedulers.back()), *core, scheduler_context, context_, sm);
  }
  core->SetSchedulers(std::move(schedulers));
  if (buffer_setup_.has_value()) {
    const FetchContext fetch_context{core->table(),
                                     core->schedulers(),
                                     buffer_setup_->entries,
                                     buffer_setup_->fetch_when_free_slot,
                                     context_.warp_size,
                                     context_.ports,
                                     shared};
    buffer_cores_.back()->SetFetchPolicy(MakeWatched(configuration.fetch, fetch_context, sm, watched));
    all_watched.push_back(watched);
    buffer_cores_.back()->SetFastPath(ArithmeticFastPath::Make(buffer_cores_.back()->parts()));
  }
  if (HasDataCache(run_.options.machine)) {
    const machine::v1::Cache& cache = run_.options.machine.memory().hierarchy().l1_data();
    const MemoryContext memory_context{.table = core->table(),
                                       .warp_size = context_.warp_size,
                                       .max_threads = context_.max_threads,
                                       .max_blocks = context_.capacity,
                                       .sets = cache.sets(),
                                       .ways = context_.l1_ways,
                                       .line_bytes = cache.line_bytes(),
                                       .mshrs = cache.mshrs(),
                                       .sm = sm,
                                       .shared = shared};
    core->SetMemoryPolicy(MakeWatched(configuration.memory, memory_context, sm, watched));
    all_watched.push_back(watched);
  }
  // An SM may be ahead of the machine. Not before the core is sure to stay.
  for (WatchedPolicy* const one : all_watched) {
    if (one != nullptr) one->clock = &core->clock();
  }
  by_number_[sm] = core.get();
  made_.push_back(std::move(core));
}

}  // namespace heddle::replay
