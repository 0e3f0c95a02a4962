#include "traces/format/program/program.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "traces/base/status_macros.h"
#include "traces/format/program/machine_code.h"
#include "traces/format/program/operands.h"

namespace heddle::trace {
namespace {

constexpr uint32_t kMaxTargets = 1u << 20;
constexpr uint32_t kMaxRegister = 1u << 20;
constexpr uint32_t kMaxColumns = 65'536;  // numbers of columns have 16 bits

bool IsMemory(v1::OpClass op) {
  return op == v1::OP_LOAD || op == v1::OP_STORE || op == v1::OP_ATOMIC || op == v1::OP_TEXTURE;
}

// Builds the refusals of one program, so that each names the program, the place and the rule.
class Refusal {
 public:
  explicit Refusal(const v1::KernelProgram& proto)
      : prefix_(absl::StrCat("program \"", absl::string_view(proto.name()).substr(0, kMostNamed), "\"")) {}

  absl::Status Program(absl::string_view rule) const {
    return absl::InvalidArgumentError(absl::StrCat(prefix_, ": ", rule));
  }
  absl::Status At(absl::string_view kind, uint64_t index, absl::string_view rule) const {
    return absl::InvalidArgumentError(absl::StrCat(prefix_, ", ", kind, " ", index, ": ", rule));
  }

 private:
  static constexpr size_t kMostNamed = 200;  // bytes of a name that may be as long as a record
  std::string prefix_;
};

// What a thread whose predicate is false must not do, so that its way must lead past it.
bool NeedsDecision(const v1::Instruction& instruction) {
  return (instruction.flags() & v1::FLAG_GUARDED) != 0 &&
         (CountColumns(instruction) != 0 || instruction.op() == v1::OP_BARRIER);
}

absl::Status CheckInstruction(const v1::Instruction& instruction, uint32_t index, const Refusal& refuse) {
  constexpr absl::string_view kKind = "instruction";
  if (!v1::OpClass_IsValid(instruction.op()) || instruction.op() == v1::OP_UNKNOWN) {
    return refuse.At(kKind, index, absl::StrCat("unknown operation class ", static_cast<int>(instruction.op())));
  }
  if (!v1::MemorySpace_IsValid(instruction.space())) {
    return refuse.At(kKind, index, absl::StrCat("unknown memory space ", static_cast<int>(instruction.space())));
  }
  if (Program::HasAddress(instruction)) {
    if (instruction.space() == v1::SPACE_NONE) return refuse.At(kKind, index, "a memory instruction needs a space");
    if (instruction.access_bytes() == 0) return refuse.At(kKind, index, "a memory instruction needs access_bytes");
  }
  if (instruction.access_bytes() > kMaxAccessBytes) {
    return refuse.At(kKind, index, absl::StrCat("access_bytes is above ", kMaxAccessBytes));
  }
  if (std::string rule = BrokenOperandRule(instruction); !rule.empty()) return refuse.At(kKind, index, rule);
  if (!IsMemory(instruction.op()) && (instruction.space() != v1::SPACE_NONE || instruction.access_bytes() != 0)) {
    return refuse.At(kKind, index, "only memory instructions have a space and access_bytes");
  }
  if (instruction.op() == v1::OP_BARRIER) {
    if (instruction.barrier_id() >= kMaxBarriers) {
      return refuse.At(kKind, index, absl::StrCat("barrier_id is not below ", kMaxBarriers));
    }
  } else if (instruction.barrier_id() != 0 || instruction.barrier_threads() != 0) {
    return refuse.At(kKind, index, "only barriers have barrier_id and barrier_threads");
  }
  for (const auto& registers : {instruction.dst(), instruction.src()}) {
    for (uint32_t number : registers) {
      if (number == 0 || number > kMaxRegister) {
        return refuse.At(kKind, index, absl::StrCat("register numbers are 1 to ", kMaxRegister));
      }
    }
  }
  return absl::OkStatus();
}

// How many successors and callees a terminator has; `most` is 0 for "no bound".
struct TargetCounts {
  int least_successors, most_successors, least_callees, most_callees;
};

absl::StatusOr<TargetCounts> CountsOf(v1::Terminator terminator, uint32_t block, const Refusal& refuse) {
  switch (terminator) {
    case v1::FALL_THROUGH:
      return TargetCounts{1, 1, 0, 0};
    case v1::BRANCH_CONDITIONAL:
      return TargetCounts{2, 2, 0, 0};
    case v1::BRANCH_WIDE:
      return TargetCounts{2, static_cast<int>(kMaxTargets), 0, 0};
    case v1::CALL:
      return TargetCounts{1, 1, 1, 1};
    case v1::CALL_INDIRECT:
      return TargetCounts{1, 1, 1, static_cast<int>(kMaxTargets)};
    case v1::RETURN:
    case v1::EXIT:
      return TargetCounts{0, 0, 0, 0};
    default:
      return refuse.At("block", block, "unknown terminator");
  }
}

// Next block of a thread that runs `block`, as long as no decision is needed; kNoBlock if one is, or if the frame ends.
// A call counts as one step to its continuation if the callee comes back without a decision.
uint32_t FreeSuccessor(const Block& block, const std::vector<Block>& blocks, const std::vector<uint32_t>& targets,
                       const std::vector<bool>& returns_free) {
  if (block.terminator == v1::FALL_THROUGH) return block.successor;
  if (block.terminator == v1::CALL && returns_free[blocks[targets[block.first_target]].function]) {
    return block.successor;
  }
  return kNoBlock;
}

// Decides for every function whether a call comes back without taking a decision, and refuses recursion that never
// takes one. Iterative: the call graph may be thousands of functions deep.
absl::Status FindFreeReturns(const std::vector<Block>& blocks, const std::vector<uint32_t>& targets,
                             const std::vector<uint32_t>& entries, const Refusal& refuse,
                             std::vector<bool>& returns_free) {
  enum : uint8_t { kNew, kOpen, kDone };
  returns_free.assign(entries.size(), false);
  std::vector<uint8_t> state(entries.size(), kNew);
  struct Frame {
    uint32_t function;
    uint32_t block;
    uint32_t steps;
  };
  std::vector<Frame> stack;
  for (uint32_t root = 0; root < entries.size(); ++root) {
    if (state[root] != kNew) continue;
    state[root] = kOpen;
    stack.push_back({root, entries[root], 0});
    while (!stack.empty()) {
      Frame& frame = stack.back();
      const Block& block = blocks[frame.block];
      bool done = true;
      if (frame.steps > blocks.size()) {
        return refuse.At("block", frame.block, "is on a cycle without a decision, so a thread would never leave it");
      }
      if (block.terminator == v1::RETURN) {
        returns_free[frame.function] = true;
      } else if (block.terminator == v1::FALL_THROUGH) {
        frame.block = block.successor;
        ++frame.steps;
        done = false;
      } else if (block.terminator == v1::CALL) {
        uint32_t callee = blocks[targets[block.first_target]].function;
        if (state[callee] == kOpen) {
          return refuse.At("block", frame.block, "is part of a recursion without a decision, which would never end");
        }
        if (state[callee] == kNew) {
          state[callee] = kOpen;
          stack.push_back({callee, entries[callee], 0});
          continue;
        }
        if (returns_free[callee]) {
          frame.block = block.successor;
          ++frame.steps;
          done = false;
        }
      }
      if (done) {
        state[frame.function] = kDone;
        stack.pop_back();
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CheckNoFreeCycle(const std::vector<Block>& blocks, const std::vector<uint32_t>& targets,
                              const std::vector<uint32_t>& entries, const Refusal& refuse) {
  std::vector<bool> returns_free;
  HEDDLE_RETURN_IF_ERROR(FindFreeReturns(blocks, targets, entries, refuse, returns_free));
  // Without decisions every block has at most one successor, so a visit by numbered walks finds every cycle.
  std::vector<uint32_t> walk_of(blocks.size(), 0);
  for (uint32_t start = 0; start < blocks.size(); ++start) {
    uint32_t walk = start + 1;
    for (uint32_t b = start; b != kNoBlock; b = FreeSuccessor(blocks[b], blocks, targets, returns_free)) {
      if (walk_of[b] == walk) {
        return refuse.At("block", b, "is on a cycle without a decision, so a thread would never leave it");
      }
      if (walk_of[b] != 0) break;
      walk_of[b] = walk;
    }
  }
  return absl::OkStatus();
}

absl::Status CheckCounts(const v1::KernelProgram& proto, const Refusal& refuse) {
  struct Limit {
    absl::string_view what;
    int count;
    uint32_t most;
  };
  for (const Limit& limit :
       {Limit{"instructions", proto.instruction_size(), kMaxInstructions},
        Limit{"blocks", proto.block_size(), kMaxBlocks}, Limit{"functions", proto.function_size(), kMaxFunctions}}) {
    if (limit.count == 0) return refuse.Program(absl::StrCat("has no ", limit.what));
    if (static_cast<uint32_t>(limit.count) > limit.most) {
      return refuse.Program(absl::StrCat("has ", limit.count, " ", limit.what, ", the limit is ", limit.most));
    }
  }
  return absl::OkStatus();
}

// Functions cover the blocks and blocks cover the instructions, in order and without gaps.
absl::Status CheckCover(const v1::KernelProgram& proto, const Refusal& refuse) {
  uint64_t next = 0;
  for (int f = 0; f < proto.function_size(); ++f) {
    const v1::Function& function = proto.function(f);
    if (function.first_block() != next) {
      return refuse.At("function", f, absl::StrCat("must start at block ", next, ", right behind its predecessor"));
    }
    if (function.block_count() == 0) return refuse.At("function", f, "has no blocks");
    next += function.block_count();
  }
  if (next != static_cast<uint64_t>(proto.block_size())) {
    return refuse.Program(absl::StrCat("functions hold ", next, " blocks, the program has ", proto.block_size()));
  }
  next = 0;
  for (int b = 0; b < proto.block_size(); ++b) {
    const v1::BasicBlock& block = proto.block(b);
    if (block.first_instruction() != next) {
      return refuse.At("block", b, absl::StrCat("must start at instruction ", next, ", right behind its predecessor"));
    }
    if (block.instruction_count() == 0) return refuse.At("block", b, "has no instructions");
    next += block.instruction_count();
  }
  if (next != static_cast<uint64_t>(proto.instruction_size())) {
    return refuse.Program(
        absl::StrCat("blocks hold ", next, " instructions, the program has ", proto.instruction_size()));
  }
  return absl::OkStatus();
}

// Blocks with what NeedsDecision are entered by decisions alone.
absl::Status CheckGuards(const v1::KernelProgram& proto, const Refusal& refuse) {
  std::vector<bool> entered_freely(static_cast<size_t>(proto.block_size()), false);
  for (const v1::Function& function : proto.function()) entered_freely[function.first_block()] = true;
  for (const v1::BasicBlock& block : proto.block()) {
    if (block.terminator() == v1::BRANCH_CONDITIONAL || block.terminator() == v1::BRANCH_WIDE) continue;
    for (uint32_t next : block.successor()) entered_freely[next] = true;
  }
  for (int b = 0; b < proto.block_size(); ++b) {
    if (!entered_freely[static_cast<size_t>(b)]) continue;
    const uint32_t first = proto.block(b).first_instruction();
    for (uint32_t pc = first; pc < first + proto.block(b).instruction_count(); ++pc) {
      if (!NeedsDecision(proto.instruction(static_cast<int>(pc)))) continue;
      return refuse.At("instruction", pc,
                       "accesses memory or waits under a guard, but its block can be entered without a decision");
    }
  }
  return absl::OkStatus();
}

// Level of the code, and widths of registers.
absl::Status CheckCode(const v1::KernelProgram& proto, const Refusal& refuse) {
  if (!v1::CodeLevel_IsValid(proto.level())) {
    return refuse.Program(absl::StrCat("unknown level of code ", static_cast<int>(proto.level())));
  }
  for (int f = 0; f < proto.function_size(); ++f) {
    const std::string& widths = proto.function(f).register_bits();
    if (widths.empty()) continue;
    for (const char width : widths) {
      const auto bits = static_cast<unsigned char>(width);
      if (bits != 1 && (bits < 8 || bits > 128 || (bits & (bits - 1)) != 0)) {
        return refuse.At("function", f, absl::StrCat("a register has ", bits, " bits, not 1, 8, 16, 32, 64 or 128"));
      }
    }
    const uint32_t most = RegistersNamed(proto, proto.function(f));
    if (widths.size() != most) {
      return refuse.At("function", f,
                       absl::StrCat("register_bits has ", widths.size(), " registers, the instructions have ", most));
    }
  }
  return absl::OkStatus();
}

}  // namespace

bool Program::HasAddress(const v1::Instruction& instruction) {
  return IsMemory(instruction.op()) && (instruction.flags() & v1::FLAG_NO_ADDRESS) == 0;
}

uint32_t Program::guard_count() const {
  return static_cast<uint32_t>(std::ranges::count_if(blocks_, [this](const Block& one) { return DecidesGuard(one); }));
}

absl::StatusOr<Program> Program::Create(v1::KernelProgram proto) {
  const Refusal refuse(proto);
  HEDDLE_RETURN_IF_ERROR(CheckCounts(proto, refuse));
  HEDDLE_RETURN_IF_ERROR(CheckCover(proto, refuse));

  Program program;
  const uint32_t block_count = static_cast<uint32_t>(proto.block_size());
  program.blocks_.resize(block_count);
  program.block_of_.resize(static_cast<size_t>(proto.instruction_size()));
  std::vector<uint32_t> entries;
  for (int f = 0; f < proto.function_size(); ++f) {
    const v1::Function& function = proto.function(f);
    entries.push_back(function.first_block());
    for (uint32_t i = 0; i < function.block_count(); ++i) {
      program.blocks_[function.first_block() + i].function = static_cast<uint32_t>(f);
    }
  }
  for (uint32_t b = 0; b < block_count; ++b) {
    const v1::BasicBlock& from = proto.block(static_cast<int>(b));
    Block& block = program.blocks_[b];
    const v1::Function& function = proto.function(static_cast<int>(block.function));
    const auto in_function = [&](uint32_t target) {
      return target >= function.first_block() && target - function.first_block() < function.block_count();
    };
    block.first = from.first_instruction();
    block.count = from.instruction_count();
    block.terminator = from.terminator();
    block.loop_depth = from.loop_depth();

    HEDDLE_ASSIGN_OR_RETURN(TargetCounts counts, CountsOf(block.terminator, b, refuse));
    if (from.successor_size() < counts.least_successors || from.successor_size() > counts.most_successors) {
      return refuse.At("block", b,
                       absl::StrCat("terminator ", v1::Terminator_Name(block.terminator), " does not go with ",
                                    from.successor_size(), " successors"));
    }
    if (from.callee_size() < counts.least_callees || from.callee_size() > counts.most_callees) {
      return refuse.At("block", b,
                       absl::StrCat("terminator ", v1::Terminator_Name(block.terminator), " does not go with ",
                                    from.callee_size(), " callees"));
    }
    if (block.terminator == v1::RETURN && block.function == 0) {
      return refuse.At("block", b, "the kernel has no caller to return to: its threads end with EXIT");
    }
    for (uint32_t target : from.successor()) {
      if (!in_function(target)) {
        return refuse.At("block", b, absl::StrCat("successor ", target, " is not a block of the same function"));
      }
    }
    for (uint32_t callee : from.callee()) {
      if (callee == 0 || callee >= static_cast<uint32_t>(proto.function_size())) {
        return refuse.At("block", b, absl::StrCat("callee ", callee, " is not a function that can be called"));
      }
    }
    if (from.successor_size() > 0) block.successor = from.successor(0);
    if (block.terminator == v1::BRANCH_CONDITIONAL) block.taken = from.successor(1);
    block.first_target = static_cast<uint32_t>(program.targets_.size());
    if (block.terminator == v1::BRANCH_WIDE) {
      program.targets_.insert(program.targets_.end(), from.successor().begin(), from.successor().end());
    }
    for (uint32_t callee : from.callee()) {
      program.targets_.push_back(proto.function(static_cast<int>(callee)).first_block());
    }
    block.target_count = static_cast<uint32_t>(program.targets_.size()) - block.first_target;
    if (program.targets_.size() > kMaxTargets) {
      return refuse.At("block", b, absl::StrCat("wide branches and calls have more than ", kMaxTargets, " targets"));
    }
    if (from.immediate_post_dominator() != 0) {
      block.post_dominator = from.immediate_post_dominator() - 1;
      if (!in_function(block.post_dominator) || block.post_dominator == b) {
        return refuse.At("block", b, "immediate_post_dominator is not another block of the same function");
      }
    }
    block.first_access = static_cast<uint32_t>(program.accesses_.size());
    for (Pc pc = block.first; pc < block.first + block.count; ++pc) {
      const v1::Instruction& instruction = proto.instruction(static_cast<int>(pc));
      HEDDLE_RETURN_IF_ERROR(CheckInstruction(instruction, pc, refuse));
      program.block_of_[pc] = b;
      program.accesses_.insert(program.accesses_.end(), CountColumns(instruction), pc);
      if (program.accesses_.size() > kMaxColumns) {
        return refuse.At("block", b, absl::StrCat("the instructions have more than ", kMaxColumns, " columns"));
      }
    }
    block.access_count = static_cast<uint32_t>(program.accesses_.size()) - block.first_access;
  }
  HEDDLE_RETURN_IF_ERROR(CheckCode(proto, refuse));
  if (const std::optional<BrokenRule> broken = FindBrokenMachineRule(proto); broken.has_value()) {
    return refuse.At(broken->kind, broken->index, broken->rule);
  }
  HEDDLE_RETURN_IF_ERROR(CheckNoFreeCycle(program.blocks_, program.targets_, entries, refuse));
  program.uses_guards_ = std::ranges::any_of(
      proto.instruction(), [](const v1::Instruction& one) { return (one.flags() & v1::FLAG_GUARDED) != 0; });
  if (program.uses_guards_) HEDDLE_RETURN_IF_ERROR(CheckGuards(proto, refuse));
  program.proto_ = std::move(proto);
  return program;
}

}  // namespace heddle::trace
