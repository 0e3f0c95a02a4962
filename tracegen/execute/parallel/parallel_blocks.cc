#include "tracegen/execute/parallel/parallel_blocks.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "tracegen/execute/parallel/footprint_marker.h"
#include "traces/base/status_macros.h"
#include "traces/format/program/kernel_name.h"

namespace heddle::tracegen {
namespace {

using Clock = std::chrono::steady_clock;

// How long steps are that a kernel runs in this process before it is looked whether more processes pay.
constexpr double kStepSeconds = 0.01;
// First ranges are short, in case they are thrown away.
constexpr double kFirstRangeSeconds = 0.01;
// Rounds that take less are made longer, as far as there is room for the records.
constexpr double kRoundSeconds = 0.1;
// One range in so many may be thrown away in the long run.
constexpr uint64_t kCommittedPerDiscarded = 16;

double SecondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

}  // namespace

double SecondsBeforeSpreading() {
  const char* text = std::getenv(kSpreadAfterVariable);
  double seconds = 0;
  return text != nullptr && absl::SimpleAtod(text, &seconds) && seconds >= 0 ? seconds : kSecondsBeforeSpreading;
}

class ParallelBlocks::Launch {
 public:
  Launch(const RunnerOptions& options, Kernel& kernel, Counts& counts, BlockRunner& runner, const LaunchForm& form,
         const Geometry& geometry, trace::TraceWriter& writer)
      : options_(options),
        kernel_(kernel),
        counts_(counts),
        runner_(runner),
        form_(form),
        geometry_(geometry),
        sink_(writer),
        at_(geometry.first_block),
        end_(geometry.end_block == 0 ? geometry.blocks() : geometry.end_block) {}

  absl::Status Run(const trace::v1::KernelProgram& program) {
    runner_.BeginLaunch(form_.Call(), geometry_, &sink_);
    absl::Status status = RunUntilItPays();
    if (status.ok() && at_ < end_) status = Spread(program);
    if (status.ok()) runner_.EndLaunch();
    return status;
  }

 private:
  // Runs the blocks up to `end` in this process.
  absl::Status RunHere(uint64_t end) {
    const Clock::time_point start = Clock::now();
    absl::Status status = runner_.RunBlocks(at_, end);
    kernel_.seconds += SecondsSince(start);
    kernel_.blocks += end - at_;
    at_ = end;
    return status;
  }

  bool Pays() const {
    if (end_ - at_ < 2 || kernel_.seconds < options_.seconds_before_spreading) return false;
    const double left = kernel_.blocks == 0
                            ? 0
                            : kernel_.seconds * static_cast<double>(end_ - at_) / static_cast<double>(kernel_.blocks);
    return left >= options_.seconds_before_spreading / 2;
  }

  absl::Status RunUntilItPays() {
    for (uint64_t step = 1; at_ < end_;) {
      if (kernel_.one_by_one) return RunHere(end_);
      if (Pays()) return absl::OkStatus();
      const double before = kernel_.seconds;
      HEDDLE_RETURN_IF_ERROR(RunHere(std::min(end_, at_ + step)));
      if (kernel_.seconds - before < kStepSeconds) step *= 2;
    }
    return absl::OkStatus();
  }

  absl::Status OneByOne(const std::string& reason) {
    workers_.clear();
    if (!std::exchange(kernel_.one_by_one, true) && options_.note) {
      options_.note(absl::StrCat("kernel '", trace::BriefKernelName(form_.kernel->name), "': ", reason,
                                 ": its blocks run one after the other"));
    }
    return at_ < end_ ? RunHere(end_) : absl::OkStatus();
  }

  // Why the kernel's blocks cannot be spread, whatever they do; empty if they can.
  std::string WhyNot(const trace::Program& program) const {
    if (form_.kernel->uses_heap) return "it allocates memory";
    if (runner_.observer() != nullptr && !runner_.observer()->CanBeCopied()) return "its blocks are compared";
    return FootprintMarker::WhyNot(program);
  }

  absl::Status Spread(const trace::v1::KernelProgram& proto) {
    HEDDLE_ASSIGN_OR_RETURN(const trace::Program program, trace::Program::Create(proto));
    if (const std::string reason = WhyNot(program); !reason.empty()) return OneByOne(reason);
    if (kernel_.seconds > 0) {
      const double rate = static_cast<double>(kernel_.blocks) / kernel_.seconds;
      range_ = std::max<uint64_t>(1, static_cast<uint64_t>(rate * kFirstRangeSeconds));
    }
    while (at_ < end_) {
      std::string trouble;
      if (absl::Status status = EnsureWorkers(program); !status.ok()) {
        trouble = std::string(status.message());
      } else if (status = Round(trouble); !status.ok()) {
        return status;
      }
      if (trouble.empty() && kernel_.discarded > 1 + kernel_.committed / kCommittedPerDiscarded) {
        trouble = "its blocks depend on one another, or do what has to be done in order";
      }
      if (trouble.empty()) continue;
      HEDDLE_RETURN_IF_ERROR(Deliver());
      return OneByOne(trouble);
    }
    return Deliver();
  }

  absl::Status EnsureWorkers(const trace::Program& program) {
    while (workers_.size() < options_.jobs) {
      HEDDLE_ASSIGN_OR_RETURN(std::unique_ptr<BlockWorker> worker,
                              BlockWorker::Start(runner_, program, form_.kernel->uses_local, geometry_.threads(),
                                                 *options_.memory, kArenaBytes));
      workers_.push_back(std::move(worker));
    }
    return absl::OkStatus();
  }

  // Not all ranges of a round have been committed. What the other workers have seen, such as the first of a kernel's
  // warnings, is not what this process has: new ones take over.
  absl::Status EndWorkers() {
    absl::Status status = Deliver();
    workers_.clear();
    return status;
  }

  // Whether the range fits behind those that have been committed.
  bool Fits(const BlockWorker::Outcome& outcome, size_t worker) const {
    if (!outcome.valid) return false;
    // Near the limit on instructions blocks are cut elsewhere.
    const uint64_t done = runner_.instructions() + outcome.thread_instructions;
    if (options_.max_instructions - std::min(options_.max_instructions, done) < options_.part_instructions) {
      return false;
    }
    return std::none_of(workers_.begin(), workers_.begin() + static_cast<ptrdiff_t>(worker), [&](const auto& earlier) {
      return workers_[worker]->footprint().ReadsWhat(earlier->footprint());
    });
  }

  // One range per worker. `trouble`: why there can be no further rounds.
  absl::Status Round(std::string& trouble) {
    arena_ = (arena_ + 1) % BlockWorker::kArenas;
    const Clock::time_point start = Clock::now();
    const uint64_t share = (end_ - at_ + workers_.size() - 1) / workers_.size();
    const uint64_t range = std::min(range_, share);
    const auto end_of = [range, begin = at_, this](size_t w) { return std::min(end_, begin + (w + 1) * range); };
    size_t busy = 0;
    for (uint64_t first = at_; busy < workers_.size() && first < end_; first = end_of(busy++)) {
      absl::Status status = workers_[busy]->Run(first, end_of(busy), runner_.instructions(), arena_);
      if (status.ok()) continue;
      trouble = std::string(status.message());
      return absl::OkStatus();
    }
    HEDDLE_RETURN_IF_ERROR(Deliver());
    uint64_t most_bytes = 0;
    for (size_t w = 0; w < busy; ++w) {
      absl::StatusOr<BlockWorker::Outcome> outcome = workers_[w]->Wait();
      if (absl::IsCancelled(outcome.status())) return outcome.status();
      if (!outcome.ok()) {
        trouble = std::string(outcome.status().message());
        return absl::OkStatus();
      }
      if (!Fits(*outcome, w)) {
        ++kernel_.discarded;
        ++counts_.discarded;
        absl::Status status = EndWorkers();
        return status.ok() ? RunHere(end_of(w)) : status;
      }
      if (absl::Status status = workers_[w]->Commit(); !status.ok()) {
        if (!absl::IsUnavailable(status)) return status;
        trouble = std::string(status.message());
        return absl::OkStatus();
      }
      ++kernel_.committed;
      ++counts_.committed;
      runner_.Skip(outcome->thread_instructions, outcome->division_by_zero);
      to_deliver_.push_back(&workers_[w]->arena(arena_));
      most_bytes = std::max(most_bytes, to_deliver_.back()->bytes_used());
      const uint64_t run = outcome->end - at_;
      at_ = outcome->end;
      if (at_ < end_of(w)) {
        // No room for more: the next ranges are shorter.
        range_ = std::max<uint64_t>(1, run - run / 4);
        return EndWorkers();
      }
    }
    if (SecondsSince(start) < kRoundSeconds && most_bytes < kArenaBytes / 2) range_ = range * 2;
    return absl::OkStatus();
  }

  // Hands on what has been committed, while workers run the next round.
  absl::Status Deliver() {
    for (const RecordArena* arena : std::exchange(to_deliver_, {})) {
      absl::Status status = arena->Deliver(sink_, [this](std::string_view findings) {
        if (runner_.observer() != nullptr) runner_.observer()->AddFindings(findings);
      });
      if (!status.ok()) return status;
      if (options_.progress) options_.progress(at_, runner_.instructions());
      if (InterruptRequested()) return absl::CancelledError("interrupted");
    }
    return absl::OkStatus();
  }

  const RunnerOptions& options_;
  Kernel& kernel_;
  Counts& counts_;
  BlockRunner& runner_;
  const LaunchForm& form_;
  const Geometry& geometry_;
  WriterSink sink_;
  uint64_t at_;  // everything in front of it has been run, here or by ranges that are committed
  const uint64_t end_;
  std::vector<std::unique_ptr<BlockWorker>> workers_;
  uint64_t range_ = 1;  // blocks
  int arena_ = 0;
  std::vector<const RecordArena*> to_deliver_;  // committed, to be handed on; in order
};

absl::Status ParallelBlocks::Run(BlockRunner& runner, const LaunchForm& form, const Geometry& geometry,
                                 const trace::v1::KernelProgram& program, trace::TraceWriter& writer) {
  return Launch(options_, kernels_[form.kernel->name], counts_, runner, form, geometry, writer).Run(program);
}

}  // namespace heddle::tracegen
