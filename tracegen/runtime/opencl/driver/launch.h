// How index spaces become grids of thread blocks.
#ifndef HEDDLE_TRACEGEN_RUNTIME_OPENCL_DRIVER_LAUNCH_H_
#define HEDDLE_TRACEGEN_RUNTIME_OPENCL_DRIVER_LAUNCH_H_

#include "tracegen/runtime/opencl/driver/device.h"

namespace heddle::opencl {

// Work-items that a work-group of a kernel may have: 1024, what the kernel is declared for, and what the 65,536
// registers of a multiprocessor of compute capability 7.0 suffice for.
size_t MaxGroupItems(const device::KernelInfo& kernel);

// Turns the index space into `request`'s grid, block and offset. A work-group size that the application leaves open
// becomes what the kernel requires, or the largest one of at most 256 items that divides the index space, with as many
// items in the first dimension as possible.
cl_int SetIndexSpace(const device::KernelInfo& kernel, cl_uint dimensions, const size_t* offset, const size_t* global,
                     const size_t* local, device::LaunchRequest* request);

}  // namespace heddle::opencl

#endif  // HEDDLE_TRACEGEN_RUNTIME_OPENCL_DRIVER_LAUNCH_H_
