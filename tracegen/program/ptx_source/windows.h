// Where memory of narrow addresses begins (instrument/thread_context.h says what lies there).
#ifndef HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_WINDOWS_H_
#define HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_WINDOWS_H_

#include <cstdint>

namespace heddle::tracegen {

inline constexpr uint64_t kPtxSharedWindow = 0x2100'0000'0000;
inline constexpr uint64_t kPtxConstantWindow = 0x2200'0000'0000;

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_WINDOWS_H_
