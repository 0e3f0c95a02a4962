// Managed variables of device code: the host may read and write them where they lie.
#ifndef HEDDLE_TRACEGEN_PROGRAM_MANAGED_H_
#define HEDDLE_TRACEGEN_PROGRAM_MANAGED_H_

namespace heddle::tracegen {

// The attribute that such a variable has in LLVM IR.
inline constexpr char kManagedAttribute[] = "heddle-managed";

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_MANAGED_H_
