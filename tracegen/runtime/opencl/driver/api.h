// The functions of OpenCL that the driver implements: function F is clF of the specification, with its type. Each file
// defines those of its object.
#ifndef HEDDLE_TRACEGEN_RUNTIME_OPENCL_DRIVER_API_H_
#define HEDDLE_TRACEGEN_RUNTIME_OPENCL_DRIVER_API_H_

#include "tracegen/runtime/opencl/driver/object.h"

#define HEDDLE_OPENCL_FUNCTIONS(F)    \
  F(GetPlatformIDs)                   \
  F(GetPlatformInfo)                  \
  F(GetDeviceIDs)                     \
  F(GetDeviceInfo)                    \
  F(CreateSubDevices)                 \
  F(RetainDevice)                     \
  F(ReleaseDevice)                    \
  F(CreateContext)                    \
  F(CreateContextFromType)            \
  F(RetainContext)                    \
  F(ReleaseContext)                   \
  F(GetContextInfo)                   \
  F(CreateCommandQueue)               \
  F(CreateCommandQueueWithProperties) \
  F(RetainCommandQueue)               \
  F(ReleaseCommandQueue)              \
  F(GetCommandQueueInfo)              \
  F(SetCommandQueueProperty)          \
  F(Flush)                            \
  F(Finish)                           \
  F(CreateBuffer)                     \
  F(CreateSubBuffer)                  \
  F(RetainMemObject)                  \
  F(ReleaseMemObject)                 \
  F(GetMemObjectInfo)                 \
  F(SetMemObjectDestructorCallback)   \
  F(CreateImage)                      \
  F(CreateImage2D)                    \
  F(CreateImage3D)                    \
  F(GetSupportedImageFormats)         \
  F(GetImageInfo)                     \
  F(CreateSampler)                    \
  F(CreateSamplerWithProperties)      \
  F(RetainSampler)                    \
  F(ReleaseSampler)                   \
  F(GetSamplerInfo)                   \
  F(CreateProgramWithSource)          \
  F(CreateProgramWithBinary)          \
  F(CreateProgramWithBuiltInKernels)  \
  F(RetainProgram)                    \
  F(ReleaseProgram)                   \
  F(BuildProgram)                     \
  F(CompileProgram)                   \
  F(LinkProgram)                      \
  F(UnloadCompiler)                   \
  F(UnloadPlatformCompiler)           \
  F(GetProgramInfo)                   \
  F(GetProgramBuildInfo)              \
  F(CreateKernel)                     \
  F(CreateKernelsInProgram)           \
  F(RetainKernel)                     \
  F(ReleaseKernel)                    \
  F(SetKernelArg)                     \
  F(GetKernelInfo)                    \
  F(GetKernelArgInfo)                 \
  F(GetKernelWorkGroupInfo)           \
  F(WaitForEvents)                    \
  F(GetEventInfo)                     \
  F(RetainEvent)                      \
  F(ReleaseEvent)                     \
  F(CreateUserEvent)                  \
  F(SetUserEventStatus)               \
  F(SetEventCallback)                 \
  F(GetEventProfilingInfo)            \
  F(EnqueueReadBuffer)                \
  F(EnqueueWriteBuffer)               \
  F(EnqueueCopyBuffer)                \
  F(EnqueueReadBufferRect)            \
  F(EnqueueWriteBufferRect)           \
  F(EnqueueCopyBufferRect)            \
  F(EnqueueFillBuffer)                \
  F(EnqueueReadImage)                 \
  F(EnqueueWriteImage)                \
  F(EnqueueCopyImage)                 \
  F(EnqueueCopyImageToBuffer)         \
  F(EnqueueCopyBufferToImage)         \
  F(EnqueueFillImage)                 \
  F(EnqueueMapBuffer)                 \
  F(EnqueueMapImage)                  \
  F(EnqueueUnmapMemObject)            \
  F(EnqueueMigrateMemObjects)         \
  F(EnqueueNDRangeKernel)             \
  F(EnqueueTask)                      \
  F(EnqueueNativeKernel)              \
  F(EnqueueMarker)                    \
  F(EnqueueBarrier)                   \
  F(EnqueueWaitForEvents)             \
  F(EnqueueMarkerWithWaitList)        \
  F(EnqueueBarrierWithWaitList)       \
  F(GetExtensionFunctionAddress)      \
  F(GetExtensionFunctionAddressForPlatform)

namespace heddle::opencl {

#define HEDDLE_DECLARE(name) decltype(::cl##name) name;  // NOLINT(bugprone-macro-parentheses): it declares
HEDDLE_OPENCL_FUNCTIONS(HEDDLE_DECLARE)
#undef HEDDLE_DECLARE

}  // namespace heddle::opencl

#endif  // HEDDLE_TRACEGEN_RUNTIME_OPENCL_DRIVER_API_H_
