// Whether reads of what another thread block has written keep behind their writes in a replay (`--check-order`).
#ifndef HEDDLE_TOOLS_SHOW_ORDER_CHECK_H_
#define HEDDLE_TOOLS_SHOW_ORDER_CHECK_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "replay/engine/replay.h"
#include "tools/console/json.h"
#include "traces/format/columns/last_writers.h"
#include "traces/format/read/reader.h"

namespace heddle::tools {

// FailedPrecondition unless the trace says whose writes its reads saw.
absl::Status CheckHasLastWriters(const trace::TraceReader& reader);

// What was found in a launch under one configuration.
struct ReadOrder {
  struct Example {
    replay::Cycle cycle = 0;  // in which the read issued
    uint64_t block = 0;       // that reads
    uint32_t thread = 0;
    trace::WriteOf write;
  };
  struct Instruction {
    uint64_t reads = 0;             // of what another block wrote, as the trace lists them
    uint64_t overtook = 0;          // of those, issued before their write or in the same cycle
    uint64_t writer_absent = 0;     // of `reads`, not of `overtook`: the block that writes is not in the trace
    std::vector<Example> examples;  // the first that overtook
  };
  std::vector<Instruction> instructions;  // by PC

  // Over all instructions.
  Instruction Total() const;
};

// Watches the replays of one trace. A recording holds the data of one order: where a replayed read issues before the
// write whose data it had, a device would have read something else, and may have taken another path. What counts is the
// issue of both warp-instructions, whenever memory performs them: a read that is found has overtaken for certain, one
// that is not may have done so in the memory system.
//
// Issues must come in the order of their cycles over all SMs (ReplayOptions::force_tick), and runs one after the other.
// Memory: a count per thread of the blocks that are under way and of those in the same chunks, and their list of reads.
class OrderCheck final : public replay::IssueObserver {
 public:
  explicit OrderCheck(const trace::TraceReader& reader) : reader_(reader) {}

  void Issued(const replay::IssueEvent& event) override;

  // Errors: the trace could not be read, or lacks the column for a block.
  absl::Status status() const { return status_; }
  // Null if the launch was not replayed under the configuration, or issued nothing.
  const ReadOrder* Find(uint32_t configuration, uint32_t launch) const;

  // A line on the launch for people; empty if nothing overtook.
  std::string Note(uint32_t configuration, uint32_t launch) const;
  // Adds `read_order` to each launch of a result in JSON (docs/reference/metrics.md).
  void AddTo(uint32_t configuration, nlohmann::ordered_json& result) const;

 private:
  static constexpr size_t kMostExamples = 3;  // per instruction

  struct Thread {
    uint64_t issued = 0;                   // accesses
    uint64_t before = 0;                   // of those, before `cycle`
    replay::Cycle cycle = replay::kNever;  // of the latest
    size_t next_read = 0;                  // in Block::reads
    size_t end_read = 0;
  };
  struct Read {
    uint32_t thread = 0;
    uint64_t access = 0;  // of the thread's accesses
    trace::WriteOf write;
  };
  struct Block {
    uint64_t left = 0;  // accesses that have not issued
    std::vector<Thread> threads;
    std::vector<Read> reads;  // by thread, then by access
  };
  using Run = std::pair<uint32_t, uint32_t>;  // configuration and launch

  void Begin(const Run& run);
  // The block, which has not ended; null if it cannot be read.
  Block* FindBlock(uint64_t number);
  // The blocks of a chunk, and of the further parts of a block that is cut in time.
  absl::Status Load(uint32_t chunk);
  bool IsRecorded(uint64_t block);
  // Whether the write issued before `now`.
  bool HasIssued(const trace::WriteOf& write, replay::Cycle now) const;
  void Check(const replay::IssueEvent::Lane& lane, const trace::WriteOf& write, replay::Cycle now);

  const trace::TraceReader& reader_;
  std::map<Run, ReadOrder> found_;
  absl::Status status_;

  // The run.
  Run run_ = {~uint32_t{0}, ~uint32_t{0}};
  ReadOrder* order_ = nullptr;
  const trace::LaunchView* launch_ = nullptr;
  std::vector<uint8_t> columns_;                                 // by PC: numbers that a thread records
  std::unordered_map<uint64_t, std::unique_ptr<Block>> blocks_;  // that have not issued all their accesses
  std::unordered_set<uint64_t> ended_;
  std::vector<uint64_t> ending_;  // in cycle ending_in_
  replay::Cycle ending_in_ = 0;
  std::unordered_map<uint64_t, bool> is_recorded_;  // of launches with only some blocks
};

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_SHOW_ORDER_CHECK_H_
