// What a kernel's host has to know: its parameters, and the launches it was compiled for.
#ifndef HEDDLE_TRACEGEN_INSTRUMENT_KERNEL_INTERFACE_H_
#define HEDDLE_TRACEGEN_INSTRUMENT_KERNEL_INTERFACE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "llvm/IR/Function.h"

namespace heddle::tracegen {

enum class ParameterKind { kScalar, kGlobalPointer, kConstantPointer, kSharedPointer, kByValue };

// One parameter of a kernel, as the host has to pass it.
struct KernelParameter {
  std::string name;
  ParameterKind kind = ParameterKind::kScalar;
  uint32_t offset = 0;  // in parameter memory, bytes
  uint32_t bytes = 0;
  uint32_t alignment = 1;
  bool floating_point = false;
  bool any_argument = false;  // PTX tells the size only: whatever has this size is passed
};

// What a kernel was compiled for.
struct KernelBounds {
  uint32_t max_threads = 0;         // per block; 0 = no bound
  uint32_t required_block[3] = {};  // exactly this block; all 0 = any
  uint32_t cluster[3] = {};         // in clusters of so many blocks; all 0 = as the launch asks
  uint32_t max_cluster_blocks = 0;  // in clusters of at most so many; 0 = no bound
};

// The parameters of a kernel for nvptx64. Errors: a type that cannot be passed.
absl::StatusOr<std::vector<KernelParameter>> DescribeParameters(const llvm::Function& kernel);

// __launch_bounds__, __cluster_dims__, reqd_work_group_size and their like (NVVM IR specification, "Supported
// Properties").
KernelBounds DescribeBounds(const llvm::Function& kernel);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_INSTRUMENT_KERNEL_INTERFACE_H_
