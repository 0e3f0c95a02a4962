// What the host is told of a kernel.
#ifndef HEDDLE_TRACEGEN_APPLICATION_DESCRIBE_KERNEL_H_
#define HEDDLE_TRACEGEN_APPLICATION_DESCRIBE_KERNEL_H_

#include "absl/status/statusor.h"
#include "llvm/IR/Function.h"
#include "tracegen/runtime/protocol/device_types.h"

namespace heddle::tracegen {

// What its declaration says: names, parameters, bounds of the block. Errors: a parameter that cannot be passed.
absl::StatusOr<device::KernelInfo> DescribeKernel(const llvm::Function& kernel);

// What its canonical body says, with the functions that it calls by name: constant memory, and, if it reaches a barrier
// of the whole grid, how much of it can be live at once.
void DescribeBody(const llvm::Function& kernel, device::KernelInfo& info);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_APPLICATION_DESCRIBE_KERNEL_H_
