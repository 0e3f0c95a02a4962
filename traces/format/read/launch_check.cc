#include "traces/format/read/launch_check.h"

#include <algorithm>
#include <functional>

#include "absl/strings/str_cat.h"
#include "traces/base/status_macros.h"
#include "traces/format/chunk/walk.h"
#include "traces/format/columns/last_writers.h"
#include "traces/format/program/clusters.h"
#include "traces/format/program/instruction_place.h"
#include "traces/format/read/recorded_clusters.h"

namespace heddle::trace {
namespace {

constexpr auto kError = Finding::Severity::kError;

}  // namespace

LaunchChecker::LaunchChecker(const TraceReader& reader, const LaunchView& launch, Findings& findings,
                             CheckReport& report)
    : reader_(reader),
      launch_(launch),
      program_(*launch.program),
      findings_(findings),
      report_(report),
      addresses_(reader, launch, findings),
      barriers_(program_, findings),
      parts_(program_, findings),
      reconvergence_(program_) {}

absl::Status LaunchChecker::Run() {
  for (const v1::ChunkReference& reference : launch_.chunks) {
    const absl::Status status = reader_.ReadChunk(reference, chunk_);
    if (absl::IsDataLoss(status)) {
      findings_.Add(
          kError, "chunk", [&] { return absl::StrCat("launch ", launch_.launch.id(), ", frame ", reference.frame()); },
          [&] { return std::string(status.message()); });
      complete_ = false;
      parts_.Skip();
      continue;
    }
    if (!status.ok()) return status;
    ++report_.chunks;
    thread_instructions_ += chunk_.thread_instructions;
    accesses_ += chunk_.accesses;
    if (chunk_.part == 0) report_.threads += chunk_.path_of_thread.size();
    parts_.Check(place_);
    HEDDLE_RETURN_IF_ERROR(CheckLastWriters(reference));
    CheckChunk();
  }
  CheckTotals();
  HEDDLE_RETURN_IF_ERROR(CheckClusters());
  report_.thread_instructions += thread_instructions_;
  report_.accesses += accesses_;
  return absl::OkStatus();
}

void LaunchChecker::CheckChunk() {
  // Path after path, so that each is walked once.
  std::vector<uint32_t> order(chunk_.path_of_thread.size());
  for (uint32_t t = 0; t < order.size(); ++t) order[t] = t;
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return chunk_.path_of_thread[a] < chunk_.path_of_thread[b]; });
  barriers_.StartChunk(chunk_);
  uint32_t path = ~uint32_t{0};
  for (uint32_t thread : order) {
    if (chunk_.path_of_thread[thread] != path) {
      path = chunk_.path_of_thread[thread];
      CheckPath(path);
    }
    addresses_.Check(path_accesses_, place_, thread);
  }
  barriers_.EndChunk(place_);
}

absl::Status LaunchChecker::CheckLastWriters(const v1::ChunkReference& reference) {
  v1::BlockChunk encoded;
  HEDDLE_RETURN_IF_ERROR(reader_.ReadChunk(reference, encoded));
  if (!HasLastWriters(encoded)) return absl::OkStatus();
  std::vector<WrittenRead> reads;
  const absl::Status status =
      DecodeLastWriters(encoded, program_, launch_.grid_blocks, launch_.threads_per_block, reads);
  const auto tell = [&](const std::function<std::string()>& what) {
    findings_.Add(
        kError, "last-writers",
        [&] { return absl::StrCat("launch ", launch_.launch.id(), ", frame ", reference.frame()); }, what);
  };
  if (!status.ok()) tell([&] { return std::string(status.message()); });
  for (const WrittenRead& read : reads) {
    const v1::OpClass reader = program_.instruction(read.instruction).op();
    const v1::OpClass writer = program_.instruction(read.write.instruction).op();
    if (reader == v1::OP_STORE || (writer != v1::OP_STORE && writer != v1::OP_ATOMIC)) {
      tell([&] {
        const auto name = [&](Pc pc) { return InstructionPlace(reader_.header(), program_, pc); };
        return absl::StrCat(name(read.write.instruction), " is said to write what ", name(read.instruction),
                            " reads, but they do not");
      });
      break;
    }
  }
  return absl::OkStatus();
}

// Collects the accesses of a path, and shows it to the checks that are about paths.
void LaunchChecker::CheckPath(size_t index) {
  const PathView& path = chunk_.paths[index];
  path_accesses_.clear();
  reconvergence_.Start(path);
  WalkState state{path.start_block, {path.call_stack.begin(), path.call_stack.end()}, path.extent == Extent::kEnded};
  PackedDecisions decisions(path);
  uint64_t instructions = 0;
  const WalkStatus status =
      Walk(program_, path.extent, decisions, state, ~uint64_t{0}, instructions, [&](uint32_t b, const Block& block) {
        for (uint32_t i = 0; i < block.access_count; ++i) path_accesses_.push_back(block.first_access + i);
        barriers_.Visit(index, b);
        if (reconvergence_.Visit(b, block)) return;
        findings_.Add(
            kError, "reconvergence",
            [&] {
              return absl::StrCat("launch ", launch_.launch.id(), ", first block ", chunk_.blocks[0], ", path ", index,
                                  ", block ", b);
            },
            [&] { return "a thread returns without having reached the reconvergence point of a branch"; });
      });
  (void)status;  // DecodeChunk walked the same path and found nothing wrong
}

absl::Status LaunchChecker::CheckClusters() {
  if (!complete_ || !Clusters(launch_.launch).have_several_blocks()) return absl::OkStatus();
  const absl::StatusOr<RecordedClusters> recorded = RecordedClusters::Of(reader_, launch_);
  if (recorded.ok() || !absl::IsFailedPrecondition(recorded.status())) return recorded.status();
  findings_.Add(
      kError, "cluster", [&] { return absl::StrCat("launch ", launch_.launch.id()); },
      [&] { return std::string(recorded.status().message()); });
  return absl::OkStatus();
}

void LaunchChecker::CheckTotals() {
  if (!complete_) return;
  if (thread_instructions_ != launch_.totals.thread_instructions() || accesses_ != launch_.totals.accesses()) {
    findings_.Add(
        kError, "totals", [&] { return absl::StrCat("launch ", launch_.launch.id()); },
        [&] { return "the chunks do not add up to the totals of the launch"; });
  }
}

}  // namespace heddle::trace
