// The static side of a kernel, as flat arrays that writer, reader, checker and replay walk.
#ifndef HEDDLE_TRACES_FORMAT_PROGRAM_PROGRAM_H_
#define HEDDLE_TRACES_FORMAT_PROGRAM_PROGRAM_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/trace.pb.h"

namespace heddle::trace {

// Index of an instruction in its program; the PC that people see is 8 times this.
using Pc = uint32_t;
inline constexpr Pc kNoPc = ~Pc{0};
inline constexpr uint32_t kNoBlock = ~uint32_t{0};

// Limits of a program that a reader accepts.
inline constexpr uint32_t kMaxInstructions = 65'536;
inline constexpr uint32_t kMaxBlocks = 65'536;
inline constexpr uint32_t kMaxFunctions = 4'096;
inline constexpr uint32_t kMaxCallDepth = 4'096;

// One basic block. Successors and callees are ranges of Program::targets().
struct Block {
  Pc first = 0;
  uint32_t count = 0;  // instructions, at least 1
  v1::Terminator terminator = v1::TERMINATOR_UNSPECIFIED;
  uint32_t successor = kNoBlock;  // successor 0, kNoBlock if there is none
  uint32_t taken = kNoBlock;      // successor 1 of BRANCH_CONDITIONAL
  uint32_t first_target = 0;      // BRANCH_WIDE: successors; CALL, CALL_INDIRECT: entry blocks of the callees
  uint32_t target_count = 0;
  uint32_t post_dominator = kNoBlock;  // kNoBlock = end of the function
  uint32_t function = 0;
  uint32_t loop_depth = 0;
  uint32_t first_access = 0;  // range of Program::accesses()
  uint32_t access_count = 0;  // columns of this block's instructions
};

// An immutable program that satisfies every structural rule of the format: counts within limits, all references in
// range, blocks contiguous and in order, terminators with the successors they need, no cycle of blocks without a
// decision, no call cycle without a decision, memory instructions with a space and a size, guarded ones in a block that
// a decision leads to, a known level of code, and widths of all registers or of none.
class Program {
 public:
  // Refuses a program that breaks a rule; the message names the rule and the block or instruction.
  static absl::StatusOr<Program> Create(v1::KernelProgram proto);

  const v1::KernelProgram& proto() const { return proto_; }
  const std::string& name() const { return proto_.name(); }
  uint32_t id() const { return proto_.id(); }

  uint32_t instruction_count() const { return static_cast<uint32_t>(block_of_.size()); }
  const v1::Instruction& instruction(Pc pc) const { return proto_.instruction(static_cast<int>(pc)); }
  uint32_t block_of(Pc pc) const { return block_of_[pc]; }

  std::span<const Block> blocks() const { return blocks_; }
  const Block& block(uint32_t index) const { return blocks_[index]; }
  std::span<const uint32_t> targets() const { return targets_; }
  // The instruction of every column of recorded addresses and values, by block: once for each of its columns. Without
  // operands these are loads, stores, atomics and textures without FLAG_NO_ADDRESS; else see CountColumns.
  std::span<const Pc> accesses() const { return accesses_; }
  std::span<const Pc> accesses_of(const Block& block) const {
    return std::span(accesses_).subspan(block.first_access, block.access_count);
  }
  uint32_t entry_block() const { return 0; }

  // Whether an instruction has a predicate before it (FLAG_GUARDED).
  bool uses_guards() const { return uses_guards_; }
  // Blocks whose end decides on such a predicate instead of branching: see DecidesGuard.
  uint32_t guard_count() const;
  // Whether what decides at the end of `block` is the predicate of the instructions in its first successor, not a
  // branch.
  bool DecidesGuard(const Block& block) const {
    return uses_guards_ && block.terminator == v1::BRANCH_CONDITIONAL && IsGuarded(blocks_[block.successor].first) &&
           instruction(block.first + block.count - 1).op() != v1::OP_BRANCH;
  }
  bool IsGuarded(Pc pc) const { return (instruction(pc).flags() & v1::FLAG_GUARDED) != 0; }
  // The same instructions with other ways between them: `blocks` in place of blocks(). The caller answers for them.
  Program WithBlocks(std::vector<Block> blocks) const {
    Program other = *this;
    other.blocks_ = std::move(blocks);
    return other;
  }

  // True if threads record an address each time they run the instruction.
  static bool HasAddress(const v1::Instruction& instruction);

 private:
  v1::KernelProgram proto_;
  std::vector<uint32_t> block_of_;
  std::vector<Block> blocks_;
  std::vector<uint32_t> targets_;
  std::vector<Pc> accesses_;
  bool uses_guards_ = false;
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_PROGRAM_PROGRAM_H_
