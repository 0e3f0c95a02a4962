#include "replay/analysis/limit_study.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/analysis/alignment.h"
#include "replay/analysis/warp_paths.h"
#include "traces/base/status_macros.h"
#include "traces/format/chunk/walk.h"
#include "traces/format/program/predication.h"

namespace heddle::replay {
namespace {

// One launch, block after block.
class LaunchStudy {
 public:
  LaunchStudy(const trace::LaunchView& launch, const LimitOptions& options)
      : recorded_(*launch.program),
        predicated_(trace::Predicate(recorded_)),
        program_(predicated_.has_value() ? predicated_->program : recorded_),
        options_(options),
        pieces_(program_),
        aligner_(pieces_.weights(), options.max_cells) {
    limits_.launch = launch.launch.id();
    limits_.kernel = program_.name();
    blocks_.resize(program_.blocks().size());
  }

  // Follows the threads of all blocks of the chunk; blocks whose last part it is are studied.
  absl::Status Add(const trace::DecodedChunk& chunk) {
    const size_t threads = chunk.path_of_thread.size();
    if (chunk.part == 0) {
      states_.assign(threads, {});
      runs_.assign(threads, trace::kNoBlock);
      paths_.resize(std::max(paths_.size(), threads));
      for (size_t t = 0; t < threads; ++t) paths_[t].clear();
    }
    if (states_.size() != threads) return absl::InternalError("the parts of a chunk hold different blocks");
    for (size_t t = 0; t < threads; ++t) {
      const trace::PathView& path = chunk.paths[chunk.path_of_thread[t]];
      trace::WalkState& state = states_[t];
      if (chunk.part == 0) {
        state.block = path.start_block;
        state.stack.assign(path.call_stack.begin(), path.call_stack.end());
      }
      ThreadPath& steps = paths_[t];
      trace::PackedDecisions decisions(path);
      uint64_t instructions = 0;
      const trace::WalkStatus status =
          trace::Walk(recorded_, path.extent, decisions, state, std::numeric_limits<uint64_t>::max(), instructions,
                      [&](uint32_t index, const trace::Block&) { Append(index, state.stack, runs_[t], steps); });
      if (status != trace::WalkStatus::kOk) return absl::DataLossError(trace::WalkMessage(status));
    }
    if (!chunk.last_part) return absl::OkStatus();
    for (size_t b = 0; b < chunk.blocks.size(); ++b) {
      StudyBlock(chunk.blocks[b], std::span(paths_).subspan(b * chunk.threads_per_block, chunk.threads_per_block));
    }
    return absl::OkStatus();
  }

  LaunchLimits Finish() {
    if (!options_.scope_is_block) CloseScope();
    for (size_t b = 0; b < blocks_.size(); ++b) {
      if (blocks_[b].executions == 0) continue;
      blocks_[b].block = static_cast<uint32_t>(b);
      limits_.lane_activity_issues += blocks_[b].issues;
      limits_.thread_instructions += blocks_[b].executions;
      limits_.blocks.push_back(blocks_[b]);
    }
    return std::move(limits_);
  }

 private:
  // The thread comes to a block; `run`: what is guarded behind its last one.
  void Append(uint32_t block, const std::vector<uint32_t>& stack, uint32_t& run, ThreadPath& steps) {
    if (run != trace::kNoBlock && run != block) AppendBlock(run, stack, pieces_, steps);  // it comes by
    run = predicated_.has_value() ? predicated_->run[block] : trace::kNoBlock;
    if (!predicated_.has_value() || !predicated_->IsJoin(block)) AppendBlock(block, stack, pieces_, steps);
  }

  void StudyBlock(uint64_t block, std::span<const ThreadPath> threads) {
    const uint32_t width = options_.warp_size;
    executions_.resize(pieces_.size() * width);
    for (size_t t = 0; t < threads.size(); ++t) {
      const size_t static_warp = t / width;
      const size_t lane = options_.swizzle && width > 1 ? (t % width) ^ (static_warp & 1) : t % width;
      for (const PathStep& step : threads[t]) ++executions_[step.piece * width + lane];
    }
    if (options_.scope_is_block) CloseScope();
    if (!options_.reconvergence) return;
    for (size_t first = 0; first < threads.size(); first += width) {
      const size_t count = std::min<size_t>(width, threads.size() - first);
      if (options_.first_threads != 0 && block * threads.size() + first + count > options_.first_threads) return;
      StudyWarp(threads.subspan(first, count));
    }
  }

  void CloseScope() {
    const uint32_t width = options_.warp_size;
    for (uint32_t piece = 0; piece * width < executions_.size(); ++piece) {
      const auto lanes = std::span(executions_).subspan(size_t{piece} * width, width);
      uint64_t sum = 0;
      uint64_t most = 0;
      for (uint64_t& count : lanes) {
        sum += count;
        most = std::max(most, count);
        count = 0;
      }
      if (sum == 0) continue;
      BlockLimit& limit = blocks_[program_.block_of(pieces_[piece].at.pc())];
      const uint64_t weight = pieces_.weights()[piece];
      limit.executions += sum * weight;
      limit.issues += (options_.lane_fixed ? most : (sum + width - 1) / width) * weight;
    }
  }

  void StudyWarp(std::span<const ThreadPath> threads) {
    std::vector<const ThreadPath*> warp;
    for (const ThreadPath& path : threads) {
      warp.push_back(&path);
      for (const PathStep& step : path) limits_.studied_instructions += pieces_.weights()[step.piece];
    }
    ++limits_.warps;
    limits_.nrec_issues += NeverReconverging(warp, pieces_.weights());
    const uint64_t pdom = aligner_.Issues(ReconvergingAtPostDominators(warp, pieces_));
    limits_.pdom_issues += pdom;
    const std::optional<OptimalReconvergence> best = ReconvergingOptimally(warp, pieces_, aligner_);
    if (!best.has_value()) {
      ++limits_.long_warps;
      limits_.optimal_issues += pdom;
      return;
    }
    const uint64_t issues = aligner_.Issues(best->columns);
    limits_.heuristic_warps += best->heuristic;
    limits_.fallback_warps += issues > pdom;
    limits_.optimal_issues += std::min(issues, pdom);
  }

  const trace::Program& recorded_;
  const std::optional<trace::PredicatedProgram> predicated_;
  const trace::Program& program_;  // as warps walk it
  const LimitOptions& options_;
  PieceTable pieces_;
  Aligner aligner_;
  std::vector<trace::WalkState> states_;  // by thread of the chunk
  std::vector<uint32_t> runs_;            // by thread: see Append
  std::vector<ThreadPath> paths_;
  std::vector<uint64_t> executions_;  // of the scope, by piece and lane
  std::vector<BlockLimit> blocks_;    // by block of the program
  LaunchLimits limits_;
};

}  // namespace

absl::StatusOr<std::vector<LaunchLimits>> StudyLimits(const trace::TraceReader& reader, const LimitOptions& options) {
  if (options.warp_size < 1 || options.warp_size > kMaxLanes) {
    return absl::InvalidArgumentError(absl::StrCat("a warp has 1 to ", kMaxLanes, " threads, not ", options.warp_size));
  }
  std::vector<LaunchLimits> all;
  trace::DecodedChunk chunk;
  for (const trace::LaunchView& launch : reader.launches()) {
    if (launch.program == nullptr || launch.chunks.empty()) continue;
    LaunchStudy study(launch, options);
    for (const trace::v1::ChunkReference& reference : launch.chunks) {
      HEDDLE_RETURN_IF_ERROR(reader.ReadChunk(reference, chunk));
      HEDDLE_RETURN_IF_ERROR(study.Add(chunk));
    }
    all.push_back(study.Finish());
  }
  return all;
}

}  // namespace heddle::replay
