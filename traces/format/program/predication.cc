#include "traces/format/program/predication.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "traces/format/program/post_dominators.h"

namespace heddle::trace {
namespace {

// Of PTX and machine code, and of imported traces.
constexpr std::string_view kJoins[] = {"nop.join", "NOP.JOIN"};

// Whether it is no instruction of the code. Whatever threads record something for is one.
bool IsJoin(const v1::Instruction& instruction) {
  return instruction.op() == v1::OP_MOVE && instruction.operand_size() == 0 &&
         std::ranges::count(kJoins, instruction.mnemonic()) != 0;
}

// How often a block is entered: by edges, as a function's first block, or behind a call.
std::vector<uint32_t> CountEntries(const Program& program) {
  std::vector<uint32_t> entries(program.blocks().size());
  for (const v1::Function& function : program.proto().function()) ++entries[function.first_block()];
  for (const v1::BasicBlock& block : program.proto().block()) {
    for (const uint32_t next : block.successor()) ++entries[next];
  }
  return entries;
}

// Whether a register of the instruction is a convergence barrier: what a policy makes of it depends on the threads that
// execute it.
bool NamesBarrier(const v1::Function& function, const v1::Instruction& instruction) {
  const std::string& files = function.register_file();
  const auto is_barrier = [&files](uint32_t number) {
    return number >= 1 && number <= files.size() && files[number - 1] == static_cast<char>(v1::FILE_CONVERGENCE);
  };
  return std::ranges::any_of(instruction.dst(), is_barrier) || std::ranges::any_of(instruction.src(), is_barrier);
}

// Whether threads that do not execute the instruction can come by with those that do. An exit ends the block. Of a
// BREAK policies are told who has executed it, and nobody waits there.
bool MayBePassed(const v1::Function& function, const v1::Instruction& instruction) {
  const bool breaks = instruction.convergence().role() == v1::Convergence::BREAK;
  if (instruction.has_matrix() || (NamesBarrier(function, instruction) && !breaks)) return false;
  for (const v1::Operand& operand : instruction.operand()) {
    if (operand.kind() != v1::Operand::UNIFORM && operand.kind() != v1::Operand::ADDRESS) return false;
  }
  switch (instruction.op()) {
    case v1::OP_BARRIER:
    case v1::OP_FENCE:
    case v1::OP_ASYNC:
    case v1::OP_BRANCH:
    case v1::OP_CALL:
    case v1::OP_RETURN:
      return false;
    case v1::OP_CONVERGENCE:
      return breaks;
    default:
      return true;
  }
}

// Whether the guard at the end of `block` decides about its first successor alone, behind which all threads go on.
bool IsPredication(const Program& program, const Block& block, const std::vector<uint32_t>& entries) {
  if (!program.DecidesGuard(block)) return false;
  const Block& run = program.block(block.successor);
  const bool goes_on = run.terminator == v1::FALL_THROUGH && run.successor == block.taken;
  if ((!goes_on && run.terminator != v1::EXIT) || entries[block.successor] != 1) return false;
  const v1::Function& function = program.proto().function(static_cast<int>(run.function));
  for (Pc pc = run.first; pc < run.first + run.count; ++pc) {
    if (!program.IsGuarded(pc) || !MayBePassed(function, program.instruction(pc))) return false;
  }
  return true;
}

}  // namespace

std::optional<PredicatedProgram> Predicate(const Program& program) {
  if (!program.uses_guards()) return std::nullopt;
  const std::vector<uint32_t> entries = CountEntries(program);
  std::vector<Block> blocks(program.blocks().begin(), program.blocks().end());
  std::vector<Guarded> guarded(blocks.size(), Guarded::kNo);
  std::vector<uint32_t> run(blocks.size(), kNoBlock);
  bool any = false;
  for (uint32_t b = 0; b < blocks.size(); ++b) {
    const Block& block = program.block(b);
    if (!IsPredication(program, block, entries)) continue;
    const bool join = block.count == 1 && IsJoin(program.instruction(block.first));
    guarded[block.successor] = join ? Guarded::kBehindJoin : Guarded::kYes;
    run[b] = block.successor;
    if (blocks[block.successor].terminator == v1::EXIT) blocks[block.successor].taken = block.taken;
    blocks[b].terminator = v1::FALL_THROUGH;
    blocks[b].taken = kNoBlock;
    any = true;
  }
  if (!any) return std::nullopt;
  PredicatedProgram predicated{program.WithBlocks(blocks), std::move(guarded), std::move(run)};
  const std::vector<uint32_t> post_dominators = ComputePostDominators(predicated.program);
  for (uint32_t b = 0; b < blocks.size(); ++b) blocks[b].post_dominator = post_dominators[b];
  for (uint32_t b = 0; b < blocks.size(); ++b) {
    if (predicated.IsJoin(b)) blocks[b] = blocks[predicated.run[b]];
  }
  predicated.program = program.WithBlocks(std::move(blocks));
  return predicated;
}

uint32_t CountPartingGuards(const Program& program) {
  if (!program.uses_guards()) return 0;
  const std::vector<uint32_t> entries = CountEntries(program);
  return static_cast<uint32_t>(std::ranges::count_if(program.blocks(), [&](const Block& block) {
    return program.DecidesGuard(block) && !IsPredication(program, block, entries);
  }));
}

}  // namespace heddle::trace
