#include "traces/format/columns/path_encoder.h"

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "traces/format/chunk/walk.h"
#include "traces/format/columns/decision_planes.h"

namespace heddle::trace {
namespace {

constexpr uint32_t kNoNumber = ~uint32_t{0};

// Appends decisions of 0 or 1, one per byte, as bits, least significant first.
void AppendBits(const uint8_t* decisions, size_t count, std::string& out) {
  size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    uint64_t word;
    memcpy(&word, decisions + i, 8);
    // Gathers bit 0 of each byte into the top byte, the first byte's bit lowest.
    out.push_back(static_cast<char>((word * 0x0102040810204080) >> 56));
  }
  if (i < count) {
    uint8_t last = 0;
    for (int bit = 0; i < count; ++i, ++bit) last |= static_cast<uint8_t>(decisions[i] << bit);
    out.push_back(static_cast<char>(last));
  }
}

bool HasWideDecisions(const Program& program) {
  for (const Block& block : program.blocks()) {
    if (block.terminator == v1::BRANCH_WIDE || block.terminator == v1::CALL_INDIRECT) return true;
  }
  return false;
}

// Tells two-way and wide decisions of a path apart, in order.
class DecisionSplitter {
 public:
  DecisionSplitter(const uint8_t* next, std::vector<uint8_t>& two_way, std::vector<uint32_t>& wide)
      : next_(next), two_way_(two_way), wide_(wide) {}
  DecisionSplitter(const PendingChunk& chunk, const PendingPath& path, std::vector<uint8_t>& two_way,
                   std::vector<uint32_t>& wide)
      : DecisionSplitter(chunk.decisions().data() + path.first_decision, two_way, wide) {
    end_ = next_ + path.decision_count;
  }
  bool empty() const { return next_ == end_; }
  bool two_way(uint32_t& out) {
    two_way_.push_back(*next_);
    out = *next_++;
    return true;
  }
  bool wide(uint32_t& out) {
    wide_.push_back(*next_);
    out = *next_++;
    return true;
  }

 private:
  const uint8_t* next_;
  const uint8_t* end_ = nullptr;
  std::vector<uint8_t>& two_way_;
  std::vector<uint32_t>& wide_;
};

}  // namespace

void EncodePaths(const PendingChunk& chunk, bool cut, v1::BlockChunk& out) {
  const Program& program = chunk.program();
  const bool has_wide = HasWideDecisions(program);
  v1::PathTable& table = *out.mutable_paths();
  std::string& bits = *table.mutable_decision_bits();
  std::vector<uint8_t> two_way;
  std::vector<uint32_t> wide;
  bool any_wide = false;
  std::vector<uint32_t> number_of_path(chunk.paths().size(), kNoNumber);
  uint32_t numbers = 0;
  out.mutable_path_number()->Reserve(static_cast<int>(chunk.path_of_thread().size()));
  for (uint32_t path_index : chunk.path_of_thread()) {
    uint32_t& number = number_of_path[path_index];
    if (number != kNoNumber) {
      out.mutable_path_number()->AddAlreadyReserved(number + 1);
      continue;
    }
    out.mutable_path_number()->AddAlreadyReserved(0);
    number = numbers++;
    const PendingPath& path = chunk.paths()[path_index];
    if (has_wide) {
      two_way.clear();
      wide.clear();
      DecisionSplitter splitter(chunk, path, two_way, wide);
      WalkState state = chunk.start(path.start);
      uint64_t instructions = 0;
      Walk(program, path.extent, splitter, state, ~uint64_t{0}, instructions, [](uint32_t, const Block&) {});
      table.add_decision_count(static_cast<uint32_t>(two_way.size()));
      AppendBits(two_way.data(), two_way.size(), bits);
      table.add_wide_count(static_cast<uint32_t>(wide.size()));
      for (uint32_t decision : wide) table.add_wide_decision(decision);
      any_wide |= !wide.empty();
    } else {
      table.add_decision_count(path.decision_count);
      AppendBits(chunk.decisions().data() + path.first_decision, path.decision_count, bits);
    }
    if (cut) {
      const WalkState& start = chunk.start(path.start);
      table.add_extent(path.extent == Extent::kRunsToExit ? v1::PathTable::RUNS_TO_EXIT
                       : path.extent == Extent::kCut      ? v1::PathTable::CUT
                                                          : v1::PathTable::ENDED);
      table.add_start_block(start.block);
      table.add_call_depth(static_cast<uint32_t>(start.stack.size()));
      for (uint32_t block : start.stack) table.add_call_stack(block);
    }
  }
  if (!any_wide) table.clear_wide_count();
}

void TurnDecisions(bool trial, bool& planes, v1::PathTable& table) {
  const std::span<const uint32_t> counts(table.decision_count().data(),
                                         static_cast<size_t>(table.decision_count_size()));
  if (trial) planes = PlanesPay(counts, table.decision_bits());
  if (!planes || table.decision_bits().empty()) return;
  table.set_decision_planes(PlanesOf(counts, table.decision_bits()));
  table.clear_decision_bits();
}

}  // namespace heddle::trace
