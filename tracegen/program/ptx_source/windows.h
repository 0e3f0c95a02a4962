// What lowered PTX leaves to those who execute it.
#ifndef HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_WINDOWS_H_
#define HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_WINDOWS_H_

#include <cstdint>

namespace heddle::tracegen {

// Where memory of narrow addresses begins (instrument/thread_context.h says what lies there).
inline constexpr uint64_t kPtxSharedWindow = 0x2100'0000'0000;
inline constexpr uint64_t kPtxConstantWindow = 0x2200'0000'0000;

// A function with this name and that of a special register behind it gives its value, of 32 bits. LLVM has intrinsics
// of the others.
inline constexpr char kSpecialRegisterFunction[] = "heddle.special.";

// A function with this name and the opcode of a matrix instruction behind it executes the instruction when the threads
// of the warp have met. Arguments: of loads and stores, where the thread's share of the matrix begins, the
// address that the thread hands in, and for fragments the stride, of 32 bits; then the registers that the instruction
// reads, as integers. It returns those that it writes, in a structure if there are several.
inline constexpr char kMatrixFunction[] = "heddle.matrix.";

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_WINDOWS_H_
