#include "tracegen/execute/checks/global_accesses.h"

#include <algorithm>
#include <bit>

namespace heddle::tracegen {
namespace {

using trace::v1::Instruction;

bool MayBeGlobal(const Instruction& instruction) {
  return instruction.space() == trace::v1::SPACE_GLOBAL || instruction.space() == trace::v1::SPACE_GENERIC;
}

}  // namespace

GlobalAccesses::GlobalAccesses(const trace::Program& program, uint32_t threads, BlockStore& store)
    : program_(program), threads_(threads), store_(store) {
  for (const trace::Block& block : program.blocks()) {
    first_item_.push_back(static_cast<uint32_t>(items_.size()));
    for (trace::Pc pc = block.first; pc < block.first + block.count; ++pc) {
      const Instruction& instruction = program.instruction(pc);
      if (instruction.op() == trace::v1::OP_BARRIER) {
        items_.push_back({pc, 0, AccessKind::kBarrier, false, false, false});
      }
      if (SynchronizesWarp(instruction)) items_.push_back({pc, 0, AccessKind::kWarpOperation, false, false, false});
      if (!trace::Program::HasAddress(instruction)) continue;
      const AccessKind::Value kind = AccessKind::Of(instruction);
      const uint32_t bytes = instruction.access_bytes();
      const bool is_sync = kind == AccessKind::kAtomic || (instruction.flags() & trace::v1::FLAG_VOLATILE) != 0;
      items_.push_back({pc, static_cast<uint16_t>(bytes), kind, is_sync, true, MayBeGlobal(instruction)});
      if (MayBeGlobal(instruction)) unit_bits_ = std::min(unit_bits_, static_cast<unsigned>(std::countr_zero(bytes)));
    }
  }
  first_item_.push_back(static_cast<uint32_t>(items_.size()));
}

}  // namespace heddle::tracegen
