#include "tests/reference/thread_expansion.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "traces/format/chunk/decoded_chunk.h"
#include "traces/format/program/operands.h"
#include "traces/format/program/program.h"

namespace heddle::replay {
namespace {

namespace v1 = trace::v1;

// How many numbers a thread records when it runs the instruction, and whether the first is an address.
struct Recorded {
  uint32_t count = 0;
  bool address = false;
  std::vector<uint32_t> uniform = {};  // operands that are values of uniform registers
};

Recorded RecordedBy(const v1::Instruction& instruction) {
  Recorded recorded;
  for (int i = 0; i < instruction.operand_size(); ++i) {
    const v1::Operand& operand = instruction.operand(i);
    if (operand.constant()) continue;
    if (operand.kind() == v1::Operand::UNIFORM) recorded.uniform.push_back(static_cast<uint32_t>(i));
    if (recorded.count++ == 0) recorded.address = operand.kind() == v1::Operand::ADDRESS;
  }
  const bool memory = instruction.op() == v1::OP_LOAD || instruction.op() == v1::OP_STORE ||
                      instruction.op() == v1::OP_ATOMIC || instruction.op() == v1::OP_TEXTURE;
  if (memory && instruction.operand_size() == 0 && (instruction.flags() & v1::FLAG_NO_ADDRESS) == 0) return {1, true};
  return recorded;
}

// Whether a register of the instruction, which is in the function of `block`, is a convergence barrier.
bool NamesBarrier(const v1::KernelProgram& program, const v1::BasicBlock& block, const v1::Instruction& instruction) {
  const v1::Function* function = nullptr;
  for (const v1::Function& one : program.function()) {
    const uint32_t first = program.block(static_cast<int>(one.first_block())).first_instruction();
    if (first <= block.first_instruction()) function = &one;
  }
  const std::string& files = function->register_file();
  const auto is_barrier = [&files](uint32_t number) {
    return number >= 1 && number <= files.size() && files[number - 1] == static_cast<char>(v1::FILE_CONVERGENCE);
  };
  return std::ranges::any_of(instruction.dst(), is_barrier) || std::ranges::any_of(instruction.src(), is_barrier);
}

// The guarded block that only threads of `block` come to, on their way to where the others go at once; null if `block`
// does not end so, or threads cannot come by what is guarded.
const v1::BasicBlock* Guarded(const v1::KernelProgram& program, const v1::BasicBlock& block) {
  const auto at = [&](uint32_t pc) -> const v1::Instruction& { return program.instruction(static_cast<int>(pc)); };
  if (block.terminator() != v1::BRANCH_CONDITIONAL) return nullptr;
  if (at(block.first_instruction() + block.instruction_count() - 1).op() == v1::OP_BRANCH) return nullptr;
  const v1::BasicBlock& guarded = program.block(static_cast<int>(block.successor(0)));
  const bool goes_on = guarded.terminator() == v1::FALL_THROUGH && guarded.successor(0) == block.successor(1);
  if (!goes_on && guarded.terminator() != v1::EXIT) return nullptr;
  int ways = 0;
  for (const v1::BasicBlock& other : program.block()) {
    for (const uint32_t next : other.successor()) ways += next == block.successor(0);
  }
  if (ways != 1) return nullptr;
  const std::set<v1::OpClass> kept = {v1::OP_BARRIER, v1::OP_FENCE,  v1::OP_ASYNC,      v1::OP_BRANCH,
                                      v1::OP_CALL,    v1::OP_RETURN, v1::OP_CONVERGENCE};
  const auto breaks = [](const v1::Instruction& instruction) {
    return instruction.op() == v1::OP_CONVERGENCE && instruction.convergence().role() == v1::Convergence::BREAK;
  };
  for (uint32_t pc = guarded.first_instruction(); pc < guarded.first_instruction() + guarded.instruction_count();
       ++pc) {
    const bool of_a_thread = std::ranges::all_of(at(pc).operand(), [](const v1::Operand& operand) {
      return operand.kind() == v1::Operand::UNIFORM || operand.kind() == v1::Operand::ADDRESS;
    });
    const bool together = at(pc).has_matrix() || !of_a_thread ||
                          (!breaks(at(pc)) && (kept.contains(at(pc).op()) || NamesBarrier(program, block, at(pc))));
    if (together || (at(pc).flags() & v1::FLAG_GUARDED) == 0) return nullptr;
  }
  return &guarded;
}

// Appends the steps that one thread takes along `path`; its first address is number `address` of the chunk. Returns
// what is wrong with the path, or nothing.
std::string AppendPath(const trace::Program& columns, const trace::DecodedChunk& chunk, const trace::PathView& path,
                       uint64_t address, uint64_t last_address, bool walk, std::vector<ScriptStep>& steps) {
  if (path.extent == trace::Extent::kEnded) return {};
  const v1::KernelProgram& program = columns.proto();
  std::vector<uint32_t> calls(path.call_stack.begin(), path.call_stack.end());
  uint32_t bit = 0;
  uint32_t wide = 0;
  uint32_t block_index = path.start_block;
  while (true) {
    const bool decisions_left = bit < path.decision_count || wide < path.wide_count;
    if (path.extent == trace::Extent::kCut && !decisions_left) break;
    const v1::BasicBlock& block = program.block(static_cast<int>(block_index));
    const v1::BasicBlock* const guarded = walk ? Guarded(program, block) : nullptr;
    const v1::Instruction& first = program.instruction(static_cast<int>(block.first_instruction()));
    const bool join = guarded != nullptr && block.instruction_count() == 1 && first.op() == v1::OP_MOVE &&
                      first.operand_size() == 0 && first.mnemonic() == "nop.join";
    for (uint32_t i = 0; i < block.instruction_count(); ++i) {
      ScriptStep step{block.first_instruction() + i, static_cast<uint32_t>(calls.size()), false, 0, false};
      const Recorded recorded = RecordedBy(program.instruction(static_cast<int>(step.pc)));
      if (last_address - address < recorded.count) return "fewer addresses than accesses";
      step.has_address = recorded.address;
      if (recorded.address) step.address = chunk.address(address, step.pc);
      address += recorded.count;
      for (size_t k = 0; k < recorded.uniform.size(); ++k) {  // the last of the numbers
        const trace::Pc slot = trace::SlotOf(columns, trace::FindColumn(columns, step.pc, recorded.uniform[k]));
        step.uniform.push_back(chunk.address(address - recorded.uniform.size() + k, slot));
      }
      if (!join) steps.push_back(step);
    }
    switch (block.terminator()) {
      case v1::FALL_THROUGH:
        block_index = block.successor(0);
        break;
      case v1::BRANCH_CONDITIONAL: {
        if (bit == path.decision_count) return "fewer decisions than branches";
        const int decision = path.decisions[bit / 8] >> (bit % 8) & 1;
        ++bit;
        block_index = block.successor(decision);
        if (guarded == nullptr || decision == 0) break;
        for (uint32_t i = 0; i < guarded->instruction_count(); ++i) {
          steps.push_back({guarded->first_instruction() + i, static_cast<uint32_t>(calls.size()), false, 0, true});
        }
        break;
      }
      case v1::BRANCH_WIDE:
        if (wide == path.wide_count) return "fewer decisions than wide branches";
        block_index = block.successor(static_cast<int>(path.wide[wide++]));
        break;
      case v1::CALL:
        calls.push_back(block_index);
        block_index = program.function(static_cast<int>(block.callee(0))).first_block();
        break;
      case v1::CALL_INDIRECT: {
        if (wide == path.wide_count) return "fewer decisions than indirect calls";
        const uint32_t callee = block.callee(static_cast<int>(path.wide[wide++]));
        calls.push_back(block_index);
        block_index = program.function(static_cast<int>(callee)).first_block();
        break;
      }
      case v1::RETURN:
        if (calls.empty()) return "a return without a call";
        block_index = program.block(static_cast<int>(calls.back())).successor(0);
        calls.pop_back();
        break;
      default:  // EXIT
        if (path.extent == trace::Extent::kCut) return "an exit on a path that was cut";
        if (bit != path.decision_count || wide != path.wide_count) return "decisions are left at the exit";
        if (address != last_address) return "addresses are left at the exit";
        return {};
    }
  }
  return address == last_address ? std::string() : "addresses are left at the cut";
}

absl::StatusOr<std::vector<ExpandedBlock>> Expand(const trace::TraceReader& reader, const trace::LaunchView& launch,
                                                  bool walk) {
  std::vector<ExpandedBlock> blocks;
  for (const v1::ChunkReference& reference : launch.chunks) {
    trace::DecodedChunk chunk;
    if (absl::Status status = reader.ReadChunk(reference, chunk); !status.ok()) return status;
    for (size_t b = 0; b < chunk.blocks.size(); ++b) {
      if (chunk.part == 0) {
        blocks.push_back({chunk.blocks[b], std::vector<std::vector<ScriptStep>>(chunk.threads_per_block)});
      }
      for (uint32_t t = 0; t < chunk.threads_per_block; ++t) {
        const uint64_t thread = b * chunk.threads_per_block + t;
        const std::string wrong =
            AppendPath(*launch.program, chunk, chunk.paths[chunk.path_of_thread[thread]], chunk.first_address[thread],
                       chunk.first_address[thread + 1], walk, blocks.back().threads[t]);
        if (wrong.empty()) continue;
        return absl::InternalError("block " + std::to_string(chunk.blocks[b]) + ", thread " + std::to_string(t) +
                                   ", part " + std::to_string(chunk.part) + ": " + wrong);
      }
    }
  }
  return blocks;
}

}  // namespace

absl::StatusOr<std::vector<ExpandedBlock>> ExpandLaunch(const trace::TraceReader& reader,
                                                        const trace::LaunchView& launch) {
  return Expand(reader, launch, /*walk=*/false);
}

absl::StatusOr<std::vector<ExpandedBlock>> ExpandWalk(const trace::TraceReader& reader,
                                                      const trace::LaunchView& launch) {
  return Expand(reader, launch, /*walk=*/true);
}

}  // namespace heddle::replay
