// Follows one path over a program: the one place where the meaning of decisions, calls and cuts is written down.
// Writer, reader and checker use it with their own kinds of decisions and visitors.
#ifndef HEDDLE_TRACES_FORMAT_CHUNK_WALK_H_
#define HEDDLE_TRACES_FORMAT_CHUNK_WALK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "traces/format/chunk/decoded_chunk.h"
#include "traces/format/program/program.h"

namespace heddle::trace {

// Why a walk stopped; everything but kOk is a broken rule.
enum class WalkStatus : uint8_t {
  kOk,
  kOutOfDecisions,  // a block asks for a decision and there is none left
  kLeftDecisions,   // the thread exited and decisions are left over
  kBadDecision,     // number of a successor or callee that does not exist
  kTooDeep,         // more than kMaxCallDepth pending calls
  kTooLong,         // more thread-instructions than the budget
  kBadReturn,       // a return without a caller
};

// What to tell a user about `status`, such as "a block asks for a decision after the last one".
std::string WalkMessage(WalkStatus status);

// Where a walk stands: in front of `block`, with the calls in `stack` pending (blocks with terminator CALL*, outermost
// first).
struct WalkState {
  uint32_t block = 0;
  std::vector<uint32_t> stack;
  bool ended = false;
};

// Decisions stored as one byte each, as writers get them.
class ByteDecisions {
 public:
  ByteDecisions(const uint8_t* data, size_t count) : next_(data), end_(data + count) {}
  bool empty() const { return next_ == end_; }
  bool two_way(uint32_t& out) {
    if (next_ == end_) return false;
    out = *next_++;
    return true;
  }
  bool wide(uint32_t& out) { return two_way(out); }

 private:
  const uint8_t* next_;
  const uint8_t* end_;
};

// Decisions of a PathTable: packed bits, and numbers apart. A readable byte follows the path's last one.
class PackedDecisions {
 public:
  explicit PackedDecisions(const PathView& path)
      : bits_(path.decisions),
        bit_count_(path.decision_count),
        wide_(path.wide),
        wide_end_(path.wide + path.wide_count) {}
  bool empty() const { return bit_ == bit_count_ && wide_ == wide_end_; }
  bool two_way(uint32_t& out) {
    if (bit_ == bit_count_) return false;
    out = (bits_[bit_ >> 3] >> (bit_ & 7)) & 1;
    ++bit_;
    return true;
  }
  // As two_way if `asks`, else takes nothing and gives 0; without a branch on `asks`.
  bool two_way_if(bool asks, uint32_t& out) {
    out = (bits_[bit_ >> 3] >> (bit_ & 7)) & static_cast<uint32_t>(asks);
    bit_ += asks;
    return bit_ <= bit_count_;
  }
  bool wide(uint32_t& out) {
    if (wide_ == wide_end_) return false;
    out = *wide_++;
    return true;
  }

 private:
  const uint8_t* bits_;
  uint32_t bit_count_;
  uint32_t bit_ = 0;
  const uint32_t* wide_;
  const uint32_t* wide_end_;
};

// Walks from `state`: to the exit (kRunsToExit, where every decision must have been used), or right behind the last
// decision (kCut). Calls `visit(index, block)` for every block entered. `instructions` grows by the thread-instructions
// of the walk, which stops with kTooLong when it passes `budget`. Work is bounded by the budget.
template <typename Decisions, typename Visitor>
WalkStatus Walk(const Program& program, Extent extent, Decisions& decisions, WalkState& state, uint64_t budget,
                uint64_t& instructions, Visitor&& visit) {
  if (extent == Extent::kEnded || state.ended) return decisions.empty() ? WalkStatus::kOk : WalkStatus::kLeftDecisions;
  const Block* blocks = program.blocks().data();
  const uint32_t* targets = program.targets().data();
  uint32_t current = state.block;
  uint64_t count = instructions;
  const bool cut = extent == Extent::kCut;
  WalkStatus status = WalkStatus::kOk;
  while (!(cut && decisions.empty())) {
    const Block& block = blocks[current];
    count += block.count;
    if (count > budget) {
      status = WalkStatus::kTooLong;
      break;
    }
    visit(current, block);
    uint32_t decision;
    if constexpr (requires { decisions.two_way_if(true, decision); }) {
      // Which of the two it is follows no pattern that a processor could learn, so it decides without a branch.
      if (block.terminator == v1::BRANCH_CONDITIONAL || block.terminator == v1::FALL_THROUGH) {
        if (!decisions.two_way_if(block.terminator == v1::BRANCH_CONDITIONAL, decision)) [[unlikely]] {
          status = WalkStatus::kOutOfDecisions;
          break;
        }
        current = decision != 0 ? block.taken : block.successor;
        continue;
      }
    }
    switch (block.terminator) {
      case v1::FALL_THROUGH:
        current = block.successor;
        continue;
      case v1::BRANCH_CONDITIONAL:
        if (!decisions.two_way(decision)) {
          status = WalkStatus::kOutOfDecisions;
        } else if (decision > 1) {
          status = WalkStatus::kBadDecision;
        } else {
          current = decision ? block.taken : block.successor;
          continue;
        }
        break;
      case v1::BRANCH_WIDE:
      case v1::CALL_INDIRECT:
        if (!decisions.wide(decision)) {
          status = WalkStatus::kOutOfDecisions;
        } else if (decision >= block.target_count) {
          status = WalkStatus::kBadDecision;
        } else if (block.terminator == v1::BRANCH_WIDE) {
          current = targets[block.first_target + decision];
          continue;
        } else if (state.stack.size() >= kMaxCallDepth) {
          status = WalkStatus::kTooDeep;
        } else {
          state.stack.push_back(current);
          current = targets[block.first_target + decision];
          continue;
        }
        break;
      case v1::CALL:
        if (state.stack.size() >= kMaxCallDepth) {
          status = WalkStatus::kTooDeep;
          break;
        }
        state.stack.push_back(current);
        current = targets[block.first_target];
        continue;
      case v1::RETURN:
        if (state.stack.empty()) {
          status = WalkStatus::kBadReturn;
          break;
        }
        current = blocks[state.stack.back()].successor;
        state.stack.pop_back();
        continue;
      default:  // EXIT: Program::Create admits nothing else
        state.ended = true;
        if (cut || !decisions.empty()) status = WalkStatus::kLeftDecisions;
        break;
    }
    break;
  }
  state.block = current;
  instructions = count;
  return status;
}

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_CHUNK_WALK_H_
