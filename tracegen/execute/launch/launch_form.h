// A launch as runners of blocks take it.
#ifndef HEDDLE_TRACEGEN_EXECUTE_LAUNCH_LAUNCH_FORM_H_
#define HEDDLE_TRACEGEN_EXECUTE_LAUNCH_LAUNCH_FORM_H_

#include <cstdint>
#include <vector>

#include "tracegen/execute/launch/geometry.h"
#include "tracegen/instrument/instrument.h"

namespace heddle::tracegen {

// A kernel's host code, and where its arguments are. Refers to what its owner keeps while the launch runs.
struct KernelCall {
  const InstrumentedKernel* kernel = nullptr;
  KernelEntry entry = nullptr;
  const void* const* arguments = nullptr;  // one pointer per parameter
};

// A kernel's host code with the arguments of a launch.
struct LaunchForm {
  const InstrumentedKernel* kernel = nullptr;
  KernelEntry entry = nullptr;
  std::vector<const void*> arguments;

  KernelCall Call() const { return {kernel, entry, arguments.data()}; }
};

// Blocks [first, end) of a launch, recorded or not.
struct GridRange {
  uint64_t first = 0;
  uint64_t end = 0;
  bool record = false;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_LAUNCH_LAUNCH_FORM_H_
