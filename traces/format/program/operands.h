// What instructions with several operands record, and which rules collective and asynchronous instructions keep.
#ifndef HEDDLE_TRACES_FORMAT_PROGRAM_OPERANDS_H_
#define HEDDLE_TRACES_FORMAT_PROGRAM_OPERANDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "proto/trace.pb.h"
#include "traces/format/program/program.h"

namespace heddle::trace {

// Operands of an instruction, and groups that a WAIT_GROUP may leave pending, at most.
inline constexpr uint32_t kMaxOperands = 8;
inline constexpr uint32_t kMostPending = 8;
// Barriers of a block, and bytes of an access.
inline constexpr uint32_t kMaxBarriers = 16;
inline constexpr uint32_t kMaxAccessBytes = 255;

// How many numbers a thread records each time it runs the instruction: an address, or every operand that is not
// constant. They follow one another in the order of Instruction.operand.
uint32_t CountColumns(const v1::Instruction& instruction);

// What one column holds.
struct Column {
  Pc instruction = 0;
  uint32_t operand = 0;  // AddressColumn.operand
  v1::Operand::Kind kind = v1::Operand::ADDRESS;
  v1::MemorySpace space = v1::SPACE_NONE;  // of an address
  uint32_t bytes = 0;                      // likewise
  // What the instruction does there: OP_LOAD, OP_STORE, OP_ATOMIC or OP_TEXTURE; OP_UNKNOWN if it is no address. A copy
  // loads from its source and stores to its destination; transaction barriers are atomic.
  v1::OpClass access = v1::OP_UNKNOWN;
  // What DecodedChunk::address takes instead of a PC.
  Pc slot = 0;
};

// By position in Program::accesses().
std::vector<Column> ColumnsOf(const Program& program);

// AddressColumn.operand of the column with this position in Program::accesses().
uint32_t OperandOf(const Program& program, uint32_t column);
// The column of an instruction's operand: its position in Program::accesses(), which is the number of columns if there
// is none.
uint32_t FindColumn(const Program& program, Pc instruction, uint32_t operand);
// Column::slot of the column with this position.
Pc SlotOf(const Program& program, uint32_t column);
// Slots that DecodedChunk::base has.
uint32_t SlotCount(const Program& program);

// The rule that the instruction's operands, roles, shape or members break; empty if they are all right.
std::string BrokenOperandRule(const v1::Instruction& instruction);

// Whether only version 1.8 can say what the instruction says.
bool IsCollective(const v1::Instruction& instruction);
// Whether a reader that takes every barrier for one that all threads of the block wait at would be wrong.
bool IsUnusualBarrier(const v1::Instruction& instruction);
// Shuffles, votes and syncwarp of today's form, which the threads of their mask reach together, WARP_SYNC of machine
// code as well; and waits for a transaction barrier, behind which a thread sees what was done before the arrivals.
bool SynchronizesWarp(const v1::Instruction& instruction);

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_PROGRAM_OPERANDS_H_
