#include "tools/study/sweep/run.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "replay/engine/model_version.h"
#include "replay/engine/replay_batch.h"
#include "replay/machine/machine.h"
#include "replay/trace/chunk_cache.h"
#include "tools/console/json.h"
#include "tools/inputs/register_counts.h"
#include "tools/inputs/trace_file.h"
#include "tools/study/sweep/point_locks.h"
#include "traces/base/status_macros.h"

namespace heddle::tools::sweep {
namespace {

using Json = nlohmann::ordered_json;

// Points of one trace that a thread takes at once: launches that together do not fit into the cache are then decoded
// once for so many points. More would hold back results, and memory systems, for longer.
constexpr size_t kBatch = 8;
// A trace of up to so many thread-instructions per byte of cache is taken for one that fits (decoded paths and
// addresses take about a byte each), and its points come one by one.
constexpr uint64_t kDecodedBytesPerInstruction = 2;

class Runner {
 public:
  Runner(const SweepFolder& folder, const RunOptions& options, PointLocks locks)
      : folder_(folder), options_(options), locks_(std::move(locks)) {}

  absl::StatusOr<RunSummary> Run() {
    HEDDLE_RETURN_IF_ERROR(FindMissing());
    const size_t most = std::max<size_t>(missing_.size(), 1);
    const size_t threads = std::clamp<size_t>(options_.jobs, 1, most);
    cache_bytes_ = options_.cache_bytes / threads;
    // Once over what is missing, then once more over what others had, in case they have ended.
    for (int pass = 0; pass < 2 && !missing_.empty() && !stopped_; ++pass) {
      next_ = 0;
      std::vector<std::jthread> others;
      for (size_t thread = 1; thread < threads; ++thread) others.emplace_back([this] { Work(); });
      Work();
      others.clear();
      missing_ = std::exchange(busy_, {});
      std::ranges::sort(missing_, {}, &NumberedPoint::number);
    }
    summary_.elsewhere = missing_.size();
    if (!status_.ok()) return status_;
    return std::move(summary_);
  }

 private:
  // A trace, opened when its first point is taken. Readers may be shared by threads.
  struct OpenedTrace {
    std::once_flag once;
    std::unique_ptr<trace::TraceReader> reader;
    size_t points = 0;  // that are missing
    bool usable = false;
  };

  absl::Status FindMissing() {
    const Plan& plan = folder_.plan();
    if (plan.model_version != replay::ModelVersion()) {
      return absl::FailedPreconditionError(
          absl::StrCat(folder_.PlanFile(), ": was planned for model ", plan.model_version, ", this program is ",
                       replay::ModelVersion(), "; its results would not be those of the plan: plan the sweep again"));
    }
    absl::StatusOr<std::vector<NumberedPoint>> points = folder_.Points(options_.points);
    if (!points.ok()) return points.status();
    HEDDLE_ASSIGN_OR_RETURN(const auto results, folder_.Results());
    HEDDLE_ASSIGN_OR_RETURN(const auto failures, folder_.Failures());
    summary_.points = points->size();
    for (NumberedPoint& numbered : *points) {
      const std::string& key = numbered.point.key;
      if (results.contains(key)) {
        ++summary_.already_done;
      } else if (failures.contains(key) && !options_.retry_failed) {
        ++summary_.failed_before;
      } else {
        if (plan.FindTrace(numbered.point.trace) == nullptr) {
          return absl::DataLossError(absl::StrCat(folder_.PointsFile(), ": point ", numbered.number, " names trace ",
                                                  numbered.point.trace, ", which ", folder_.PlanFile(), " lacks"));
        }
        auto& trace = traces_[numbered.point.trace];
        if (trace == nullptr) trace = std::make_unique<OpenedTrace>();
        ++trace->points;
        missing_.push_back(std::move(numbered));
      }
    }
    total_ = missing_.size();
    return absl::OkStatus();
  }

  void Work() {
    std::unique_ptr<replay::BatchReplayer> replayer;
    std::string of;  // the trace that it replays
    while (true) {
      const std::vector<NumberedPoint> batch = Take();
      if (batch.empty()) return Count(replayer.get());
      const std::string& name = batch.front().point.trace;
      OpenedTrace& trace = Open(name);
      if (!trace.usable) {
        for (const NumberedPoint& numbered : batch) locks_.Release(numbered.point.key);
        const std::lock_guard lock(mutex_);
        summary_.unreadable += batch.size();
        continue;
      }
      if (replayer == nullptr || of != name) {
        Count(replayer.get());
        const auto bounds = replay::CacheBounds::Of(cache_bytes_, /*once=*/trace.points == 1);
        replayer = std::make_unique<replay::BatchReplayer>(*trace.reader, bounds);
        of = name;
      }
      RunBatch(batch, *replayer);
    }
  }

  // The replayer's work is over.
  void Count(const replay::BatchReplayer* replayer) {
    if (replayer == nullptr) return;
    const std::lock_guard lock(mutex_);
    summary_.decoding.Add(replayer->decoding());
  }

  // The next points of one trace that nobody else runs, locked; empty at the end.
  std::vector<NumberedPoint> Take() {
    const std::lock_guard lock(mutex_);
    std::vector<NumberedPoint> batch;
    size_t most = 1;
    while (next_ < missing_.size() && !stopped_ && batch.size() < most) {
      NumberedPoint& numbered = missing_[next_];
      if (!batch.empty() && numbered.point.trace != batch.front().point.trace) break;
      ++next_;
      const PointLocks::Answer answer = locks_.Take(numbered.point.key);
      if (answer == PointLocks::Answer::kBusy) {
        busy_.push_back(std::move(numbered));
        continue;
      }
      if (answer == PointLocks::Answer::kUnsupported) summary_.without_locks = true;
      // Somebody may have finished it since the folder was looked at.
      const bool done = access(folder_.ResultFile(numbered.point.key).c_str(), F_OK) == 0;
      if (done || (!options_.retry_failed && access(folder_.FailureFile(numbered.point.key).c_str(), F_OK) == 0)) {
        locks_.Release(numbered.point.key);
        ++(done ? summary_.already_done : summary_.failed_before);
        ++finished_;
        continue;
      }
      if (batch.empty()) {
        const PlannedTrace& trace = *folder_.plan().FindTrace(numbered.point.trace);
        const uint64_t kept = replay::CacheBounds::Of(cache_bytes_, /*once=*/false).unread;
        const bool fits = trace.thread_instructions <= kept / kDecodedBytesPerInstruction;
        most = fits ? 1 : kBatch;
      }
      batch.push_back(std::move(numbered));
    }
    return batch;
  }

  OpenedTrace& Open(const std::string& name) {
    OpenedTrace& trace = *traces_.at(name);
    std::call_once(trace.once, [&] {
      const PlannedTrace& planned = *folder_.plan().FindTrace(name);
      const std::string path = folder_.TracePath(planned);
      auto reader = OpenTrace(path);
      std::string problem;
      if (!reader.ok()) {
        problem = std::string(reader.status().message());
      } else if ((*reader)->digest() != planned.digest) {
        problem = absl::StrCat(path, ": is another trace than when the sweep was planned (digest ",
                               (*reader)->digest().substr(0, 12), ", not ", planned.digest.substr(0, 12), ")");
      } else {
        trace.reader = *std::move(reader);
        trace.usable = true;
        return;
      }
      const std::lock_guard lock(mutex_);
      summary_.problems.push_back(std::move(problem));
    });
    return trace;
  }

  absl::StatusOr<machine::v1::Machine> MachineOf(const Point& point) {
    machine::v1::Machine machine;
    {
      const std::lock_guard lock(mutex_);
      auto it = machines_.find(point.machine);
      if (it == machines_.end()) {
        HEDDLE_ASSIGN_OR_RETURN(machine::v1::Machine loaded, replay::LoadMachine(folder_.MachineName(point)));
        it = machines_.emplace(point.machine, std::move(loaded)).first;
      }
      machine = it->second;
    }
    for (const std::string& assignment : point.set) {
      HEDDLE_RETURN_IF_ERROR(replay::Override(machine, assignment));
    }
    return machine;
  }

  // What the replay takes for a point; an error if that is no longer what the plan meant.
  absl::StatusOr<replay::BatchRun> Prepare(const NumberedPoint& numbered) {
    const Point& point = numbered.point;
    absl::StatusOr<machine::v1::Machine> machine = MachineOf(point);
    if (!machine.ok()) return machine.status();
    HEDDLE_ASSIGN_OR_RETURN(replay::CheckedConfiguration configuration,
                            replay::CheckConfiguration(ConfigurationOf(point)));
    replay::BatchRun run{.configuration = std::move(configuration), .options = {}};
    const std::string canonical = CanonicalPolicies(run.configuration, *machine);
    const RunSettings& settings = folder_.plan().settings;
    const std::string key = KeyOf(folder_.plan().FindTrace(point.trace)->digest, point.kernels, MachineDigest(*machine),
                                  canonical, point.seed, settings);
    if (key != point.key) {
      return absl::FailedPreconditionError(absl::StrCat("point ", numbered.number, ": machine ", point.machine,
                                                        " or a policy, its code or its defaults, is no longer ",
                                                        "what it was when the sweep was planned; plan it again"));
    }
    run.options.machine = *std::move(machine);
    run.options.overrides = point.set;
    run.options.kernels = point.kernels;
    run.options.max_cycles = settings.max_cycles;
    run.options.launch_rule = settings.launch_rule;
    run.options.metrics = settings.metrics;
    const trace::TraceReader* const traces[] = {Open(point.trace).reader.get()};
    HEDDLE_RETURN_IF_ERROR(ApplyRegisters(settings.registers, traces, run.options));
    return run;
  }

  void RunBatch(const std::vector<NumberedPoint>& batch, replay::BatchReplayer& replayer) {
    std::vector<replay::BatchRun> runs;
    absl::Status around;
    for (const NumberedPoint& numbered : batch) {
      absl::StatusOr<replay::BatchRun> run = Prepare(numbered);
      if (!run.ok()) {
        around = run.status();
        break;
      }
      runs.push_back(*std::move(run));
    }
    if (around.ok()) {
      const auto outcomes = replayer.Replay(runs, [this] { return !stopped_; });
      for (size_t i = 0; i < batch.size() && around.ok(); ++i) {
        if (absl::IsCancelled(outcomes[i].status())) continue;
        around = outcomes[i].ok() ? PublishResult(batch[i].point, *outcomes[i])
                                  : PublishFailure(batch[i].point, outcomes[i].status());
        if (around.ok()) Finished(outcomes[i].ok());
      }
    }
    for (const NumberedPoint& numbered : batch) locks_.Release(numbered.point.key);
    if (!around.ok()) Stop(around);
  }

  // While the lock is held nobody else has this name: what a killed process left is overwritten. Without locks names
  // must differ.
  std::string TemporaryFor(const std::string& file) {
    const size_t slash = file.rfind('/');
    bool unlocked = false;
    {
      const std::lock_guard lock(mutex_);
      unlocked = summary_.without_locks;
    }
    std::string name = absl::StrCat(file.substr(0, slash + 1), ".", file.substr(slash + 1), ".tmp");
    if (!unlocked) return name;
    char host[256] = "";
    gethostname(host, sizeof(host) - 1);
    return absl::StrCat(name, ".", host, ".", getpid());
  }

  absl::Status PublishResult(const Point& point, const result::v1::Result& result) {
    Json json = {{"key", point.key}, {"point", PointJson(point)}};
    json.update(ToJson(result));
    const std::string file = folder_.ResultFile(point.key);
    HEDDLE_RETURN_IF_ERROR(WriteDurably(file, TemporaryFor(file), JsonLine(json) + "\n"));
    if (options_.retry_failed) unlink(folder_.FailureFile(point.key).c_str());
    return absl::OkStatus();
  }

  absl::Status PublishFailure(const Point& point, const absl::Status& reason) {
    const Json json = {{"schema", 1},
                       {"key", point.key},
                       {"point", PointJson(point)},
                       {"model_version", replay::ModelVersion()},
                       {"code", absl::StatusCodeToString(reason.code())},
                       {"reason", std::string(reason.message())}};
    const std::string file = folder_.FailureFile(point.key);
    return WriteDurably(file, TemporaryFor(file), JsonLine(json) + "\n");
  }

  void Finished(bool good) {
    const std::lock_guard lock(mutex_);
    ++(good ? summary_.done : summary_.failed);
    ++finished_;
    if (options_.progress) options_.progress(finished_, total_);
  }

  void Stop(const absl::Status& status) {
    const std::lock_guard lock(mutex_);
    if (status_.ok()) status_ = status;
    stopped_ = true;
  }

  const SweepFolder& folder_;
  const RunOptions& options_;
  PointLocks locks_;
  uint64_t cache_bytes_ = 0;  // of a thread
  absl::flat_hash_map<std::string, std::unique_ptr<OpenedTrace>> traces_;
  std::atomic<bool> stopped_ = false;

  std::mutex mutex_;  // of all below
  std::vector<NumberedPoint> missing_;
  std::vector<NumberedPoint> busy_;
  size_t next_ = 0;
  uint64_t finished_ = 0;
  uint64_t total_ = 0;
  std::map<std::string, machine::v1::Machine> machines_;  // by name, without the points' assignments
  RunSummary summary_;
  absl::Status status_;
};

}  // namespace

absl::StatusOr<RunSummary> RunPoints(const SweepFolder& folder, const RunOptions& options) {
  HEDDLE_RETURN_IF_ERROR(folder.CheckNoLinksOut());
  HEDDLE_ASSIGN_OR_RETURN(PointLocks locks, PointLocks::Open(folder.LockFile()));
  return Runner(folder, options, std::move(locks)).Run();
}

}  // namespace heddle::tools::sweep
