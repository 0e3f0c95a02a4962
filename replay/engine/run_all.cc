#include "replay/engine/run_all.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/engine/order/run_progress.h"
#include "replay/engine/order/run_queue.h"
#include "replay/engine/replay_side_by_side.h"
#include "replay/memory/make_memory_system.h"
#include "replay/trace/chunk_cache.h"
#include "traces/base/status_macros.h"
#include "traces/format/program/kernel_name.h"

namespace heddle::replay {
namespace {

// All runs, with what they share.
class Runner {
 public:
  Runner(const std::vector<TraceRuns>& traces, const std::vector<CheckedConfiguration>& configurations,
         const ReplayOptions& options)
      : traces_(traces),
        configurations_(configurations),
        options_(options),
        // A memory of fixed latency has no state: launches are independent of one another. An L2 keeps its lines.
        sequential_(!options.machine.memory().has_fixed()),
        in_order_(InOrder()),
        threads_(Threads()),
        progress_(options.progress, ThreadInstructions(), threads_),
        queue_(Launches(), in_order_),
        kept_(traces.size() * configurations.size()) {
    for (const TraceRuns& trace : traces) {
      windows_.emplace_back(trace.reader->header());
      LaunchResults results;
      results.launches.resize(trace.launches.size());
      results_.emplace_back(configurations.size(), results);
      errors_.emplace_back(configurations.size());
    }
  }

  std::vector<TraceResults> Run() {
    {
      std::vector<std::jthread> others;
      for (size_t thread = 1; thread < threads_; ++thread) others.emplace_back([this, thread] { Work(thread); });
      Work(0);
    }
    if (options_.decoding != nullptr) options_.decoding->Add(decoding_);
    std::vector<TraceResults> outcomes(traces_.size());
    for (size_t trace = 0; trace < traces_.size(); ++trace) {
      for (size_t i = 0; i < configurations_.size(); ++i) {
        absl::Status error = errors_[trace][i].status;
        if (error.ok() && !queue_.Ended(trace, i)) error = absl::CancelledError("stopped on request");
        if (error.ok()) {
          outcomes[trace].emplace_back(std::move(results_[trace][i]));
        } else {
          outcomes[trace].emplace_back(std::move(error));
        }
      }
    }
    return outcomes;
  }

 private:
  // Whether the launches of a trace are run as one.
  bool IsWhole() const { return options_.launch_rule != LaunchRule::kInOrder; }
  std::vector<size_t> Launches() const {
    std::vector<size_t> launches;
    launches.reserve(traces_.size());
    for (const TraceRuns& trace : traces_) launches.push_back(IsWhole() ? 1 : trace.launches.size());
    return launches;
  }

  uint64_t InstructionsOf(const RunQueue::Run& run) const {
    const TraceRuns& trace = traces_[run.trace];
    if (!IsWhole()) return trace.launches[run.launch]->totals.thread_instructions();
    uint64_t sum = 0;
    for (const trace::LaunchView* launch : trace.launches) sum += launch->totals.thread_instructions();
    return sum;
  }

  // By configuration: whether something of a launch stays for the next one.
  std::vector<bool> InOrder() const {
    std::vector<bool> in_order;
    for (const CheckedConfiguration& one : configurations_) {
      in_order.push_back(IsWhole() || sequential_ || StateOutlivesLaunch(one));
    }
    return in_order;
  }

  size_t Threads() const {
    if (options_.observer != nullptr) return 1;
    size_t most = 0;  // that can have something to do at the same time
    for (const TraceRuns& trace : traces_) {
      for (const bool in_order : in_order_) most += in_order ? 1 : trace.launches.size();
    }
    return std::clamp<size_t>(options_.jobs, 1, std::max<size_t>(most, 1));
  }

  uint64_t ThreadInstructions() const {
    uint64_t sum = 0;
    for (const TraceRuns& trace : traces_) {
      for (const trace::LaunchView* launch : trace.launches) sum += launch->totals.thread_instructions();
    }
    return sum * configurations_.size();
  }

  // The cache's work is over.
  void Count(const ChunkCache* cache) {
    if (cache == nullptr) return;
    const std::lock_guard lock(decoding_mutex_);
    decoding_.Add(cache->counters());
  }

  void Work(size_t thread) {
    const CacheBounds bounds = CacheBounds::Of(options_.cache_bytes / threads_, configurations_.size() == 1);
    std::unique_ptr<ChunkCache> cache;  // of the trace that the thread is at
    size_t cached = 0;
    while (const std::optional<RunQueue::Run> run = queue_.Take()) {
      if (cache == nullptr || cached != run->trace) {
        Count(cache.get());
        cache = std::make_unique<ChunkCache>(*traces_[run->trace].reader, bounds);
        cached = run->trace;
      }
      const absl::Status status = IsWhole() ? RunWhole(*run, thread, *cache) : RunOne(*run, thread, *cache);
      const bool is_complete = status.ok();
      if (absl::IsCancelled(status)) {
        queue_.Stop();
      } else if (!is_complete) {
        Count(cache.get());
        cache.reset();  // who was reading when the run ended no longer does
        Failed(*run, status);
      }
      if (!progress_.Finish(thread, InstructionsOf(*run))) queue_.Stop();
      queue_.Done(*run, is_complete);
    }
    Count(cache.get());
  }

  // Of several launches that fail the first one counts, as with one thread.
  void Failed(const RunQueue::Run& run, const absl::Status& status) {
    const std::lock_guard lock(errors_mutex_);
    RunError& error = errors_[run.trace][run.configuration];
    if (!error.status.ok() && error.launch < run.launch) return;
    error.launch = run.launch;
    error.status = status;
    if (traces_.size() == 1) return;
    error.status = absl::Status(status.code(), absl::StrCat(traces_[run.trace].reader->name(), ": ", status.message()));
  }

  std::function<bool(uint64_t)> ReportOf(size_t thread) {
    if (!options_.progress) return {};
    return [this, thread](uint64_t done) { return progress_.Update(thread, done); };
  }

  // All launches of a trace, side by side. Errors name the launch.
  absl::Status RunWhole(const RunQueue::Run& run, size_t thread, ChunkCache& cache) {
    const TraceRuns& trace = traces_[run.trace];
    const CheckedConfiguration& configuration = configurations_[run.configuration];
    HEDDLE_ASSIGN_OR_RETURN(const auto memory, MakeMemorySystem(options_.machine, windows_[run.trace],
                                                                configuration.seed, options_.force_tick));
    HEDDLE_ASSIGN_OR_RETURN(
        results_[run.trace][run.configuration],
        ReplaySideBySide({*trace.reader, trace.launches, configuration, static_cast<uint32_t>(run.configuration),
                          options_, cache, *memory, ReportOf(thread)}));
    return absl::OkStatus();
  }

  // Errors name the launch.
  absl::Status RunOne(const RunQueue::Run& run, size_t thread, ChunkCache& cache) {
    const TraceRuns& trace = traces_[run.trace];
    // Only the thread that has the configuration's launch touches what is kept; without state each launch has its own.
    Kept own;
    Kept& kept = kept_[run.trace * configurations_.size() + run.configuration];
    std::unique_ptr<MemorySystem>& memory = sequential_ ? kept.memory : own.memory;
    std::unique_ptr<SharedState>& shared = in_order_[run.configuration] ? kept.shared : own.shared;
    if (memory == nullptr) {
      HEDDLE_ASSIGN_OR_RETURN(
          auto made, MakeMemorySystem(options_.machine, windows_[run.trace], configurations_[run.configuration].seed,
                                      options_.force_tick));
      memory = std::move(made);
    }
    if (shared == nullptr) shared = MakeSharedState(configurations_[run.configuration], options_.machine);
    absl::StatusOr<result::v1::LaunchResult> result =
        ReplayLaunch({*trace.reader, *trace.launches[run.launch], configurations_[run.configuration],
                      static_cast<uint32_t>(run.configuration), options_, cache, *memory, *shared, ReportOf(thread)});
    if (run.launch + 1 == trace.launches.size() || !result.ok()) {
      memory.reset();
      shared.reset();
    }
    if (!result.ok()) {
      return AtRun(result.status(), *trace.launches[run.launch], configurations_[run.configuration]);
    }
    results_[run.trace][run.configuration].launches[run.launch] = *std::move(result);
    return absl::OkStatus();
  }

  const std::vector<TraceRuns>& traces_;
  const std::vector<CheckedConfiguration>& configurations_;
  const ReplayOptions& options_;
  const bool sequential_;             // of the memory
  const std::vector<bool> in_order_;  // by configuration
  const size_t threads_;
  RunProgress progress_;
  RunQueue queue_;
  std::vector<AddressWindows> windows_;  // by trace
  // What a launch leaves to the next one: the memory's contents, if sequential_, and what policies share, if in_order_.
  struct Kept {
    std::unique_ptr<MemorySystem> memory;
    std::unique_ptr<SharedState> shared;
  };
  std::vector<Kept> kept_;  // by trace and configuration
  std::mutex decoding_mutex_;
  DecodingCounters decoding_;
  // By trace and configuration.
  std::vector<std::vector<LaunchResults>> results_;
  struct RunError {
    size_t launch = 0;
    absl::Status status;
  };
  std::mutex errors_mutex_;
  std::vector<std::vector<RunError>> errors_;  // by trace and configuration
};

}  // namespace

std::vector<TraceResults> RunAll(const std::vector<TraceRuns>& traces,
                                 const std::vector<CheckedConfiguration>& configurations,
                                 const ReplayOptions& options) {
  return Runner(traces, configurations, options).Run();
}

}  // namespace heddle::replay
