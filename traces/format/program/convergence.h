// Convergence barriers of machine code: registers that name the threads of a warp which are to meet again.
#ifndef HEDDLE_TRACES_FORMAT_PROGRAM_CONVERGENCE_H_
#define HEDDLE_TRACES_FORMAT_PROGRAM_CONVERGENCE_H_

#include <cstdint>
#include <optional>

#include "proto/trace.pb.h"

namespace heddle::trace {

inline constexpr uint32_t kConvergenceBarriers = 16;  // of a warp: B0 to B15

// Whether register `number` of a function is this convergence barrier; false where the function does not tell.
bool IsBarrier(const v1::Function& function, uint32_t number, uint32_t barrier);

// The first SYNC whose barrier has got no value on any path that comes to it from anywhere in the program, through
// calls and returns as well. A barrier gets one from a SET, or from any other instruction that writes its register,
// such as one that restores what a caller had. Successors and callees must be in range.
std::optional<uint32_t> FindSyncWithoutSet(const v1::KernelProgram& program);

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_PROGRAM_CONVERGENCE_H_
