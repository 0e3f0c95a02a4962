// Address spaces of device code, as LLVM numbers them for PTX.
#ifndef HEDDLE_TRACEGEN_PROGRAM_ADDRESS_SPACE_H_
#define HEDDLE_TRACEGEN_PROGRAM_ADDRESS_SPACE_H_

namespace heddle::tracegen {

inline constexpr unsigned kSharedSpace = 3;

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_ADDRESS_SPACE_H_
