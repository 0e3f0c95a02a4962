// The CUDA driver, found when a program starts: a toolkit need not have a library to link with. Compiled with
// HEDDLE_STAND_IN, by heddle-nvcc, the calls are linked instead, and what runs is no card.
#ifndef HEDDLE_TOOLS_HARDWARE_PROGRAMS_DRIVER_H_
#define HEDDLE_TOOLS_HARDWARE_PROGRAMS_DRIVER_H_

#include <cuda.h>
#include <cudaProfiler.h>

#include <string>

namespace heddle::hardware {

// Every call of the driver that the programs make.
#define HEDDLE_DRIVER_CALLS(call)                                                                            \
  call(cuInit) call(cuDriverGetVersion) call(cuDeviceGet) call(cuDeviceGetCount) call(cuDeviceGetName)       \
      call(cuDeviceGetAttribute) call(cuDeviceTotalMem) call(cuDevicePrimaryCtxRetain) call(cuCtxSetCurrent) \
          call(cuCtxSynchronize) call(cuGetErrorName) call(cuModuleLoadData) call(cuModuleGetFunction)       \
              call(cuModuleGetGlobal) call(cuModuleUnload) call(cuFuncGetAttribute) call(cuFuncSetAttribute) \
                  call(cuMemAlloc) call(cuMemFree) call(cuMemcpyHtoD) call(cuMemcpyDtoH) call(cuMemcpyDtoD)  \
                      call(cuLaunchKernel) call(cuEventCreate) call(cuEventRecord) call(cuEventSynchronize)  \
                          call(cuEventElapsedTime) call(cuEventDestroy) call(cuProfilerStart) call(cuProfilerStop)

// Some names are macros for a name with a version; the member has that name, too.
struct Driver {
#define HEDDLE_DRIVER_MEMBER(name) decltype(&::name) name = nullptr;
  HEDDLE_DRIVER_CALLS(HEDDLE_DRIVER_MEMBER)
#undef HEDDLE_DRIVER_MEMBER
};

// The driver of this machine. Ends the program with a message if there is none, or if it lacks a call.
const Driver& GetDriver();

// Ends the program with status 3 and a JSON line {"error": ...} unless the call has succeeded: after most errors of a
// kernel, no further call of this process does.
void Expect(CUresult result, const std::string& what);

// Makes the first device's context current.
CUdevice UseFirstDevice();

}  // namespace heddle::hardware

#endif  // HEDDLE_TOOLS_HARDWARE_PROGRAMS_DRIVER_H_
