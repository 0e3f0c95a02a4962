#include "tracegen/execute/checks/global_accesses.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "traces/format/program/operands.h"

namespace heddle::tracegen {
namespace {

using trace::v1::Instruction;

bool MayBeGlobal(const trace::Column& column) {
  return IsAddress(column) && (column.space == trace::v1::SPACE_GLOBAL || column.space == trace::v1::SPACE_GENERIC);
}

}  // namespace

GlobalAccesses::GlobalAccesses(const trace::Program& program, uint32_t threads, BlockStore& store)
    : program_(program), threads_(threads), store_(store) {
  const std::vector<trace::Column> columns = trace::ColumnsOf(program);
  for (const trace::Block& block : program.blocks()) {
    first_item_.push_back(static_cast<uint32_t>(items_.size()));
    auto column = columns.begin() + block.first_access;
    for (trace::Pc pc = block.first; pc < block.first + block.count; ++pc) {
      const Instruction& instruction = program.instruction(pc);
      if (WaitsForBlock(instruction)) items_.push_back({pc, 0, AccessKind::kBarrier, false, false, false});
      if (SynchronizesWarp(instruction)) items_.push_back({pc, 0, AccessKind::kWarpOperation, false, false, false});
      for (uint32_t left = trace::CountColumns(instruction); left > 0; --left, ++column) {
        const AccessKind::Value kind = AccessKind::Of(*column);
        const bool is_sync = kind == AccessKind::kAtomic || (instruction.flags() & trace::v1::FLAG_VOLATILE) != 0;
        const bool is_global = MayBeGlobal(*column);
        items_.push_back({pc, static_cast<uint16_t>(column->bytes), kind, is_sync, true, is_global});
        if (is_global) unit_bits_ = std::min(unit_bits_, static_cast<unsigned>(std::countr_zero(column->bytes)));
      }
    }
  }
  first_item_.push_back(static_cast<uint32_t>(items_.size()));
}

}  // namespace heddle::tracegen
