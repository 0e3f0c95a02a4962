// Launching kernels.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_LAUNCH_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_LAUNCH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tracegen/runtime/cuda/code_image.h"
#include "tracegen/runtime/cuda/timeline.h"
#include "tracegen/runtime/protocol/device_types.h"

namespace heddle::cuda {

// Below compute capability 7.0 the device process refuses earlier.
using device::kMaxParameterBytes;

struct LaunchShape {
  dim3 grid;
  dim3 block;
  size_t shared_bytes = 0;
  cudaStream_t stream = nullptr;
  dim3 cluster = dim3(0, 0, 0);  // blocks that the launch asks for by its attribute; 0: as the kernel has them
};

// Whether the launch has no threads, and how that is said.
bool IsEmpty(const LaunchShape& shape);
std::string EmptyShape(const LaunchShape& shape);

// A launch that has been found right (PrepareLaunch).
struct KernelWork {
  Kernel* kernel = nullptr;
  const void* function = nullptr;  // how the program names the kernel
  LaunchShape shape;
  dim3 cluster = dim3(0, 0, 0);  // that the launch has (ChooseCluster); 0: none
  std::string parameters;        // KernelInfo::parameter_bytes long
  bool cooperative = false;
  int priority = 0;
  const char* stand_in_for = "";  // the function of a closed library that launches it; empty: the program does
};

// Where a launch stands among others: the number of its stream, the launches that it waits for, and of which launch of
// a graph it is a part (0: none).
struct LaunchPlace {
  uint64_t stream = 0;
  std::vector<uint64_t> dependencies;
  uint32_t graph = 0;
};

// Parameter memory out of pointers to the arguments, in order; none if there are no arguments.
std::string PackArguments(const device::KernelInfo& kernel, void** arguments);

// The bytes that CU_LAUNCH_PARAM_BUFFER_POINTER and its like name.
std::string UnpackExtra(void** extra);

// Finds the kernel of a launch, loads its code, and checks the shape. `work` has function, shape and cooperative, and
// gets the kernel and its clusters; its parameters are left to the caller, who knows their sizes from `info`. With the
// Guard held, as all of the following.
cudaError_t PrepareLaunch(const char* call, KernelWork* work, const device::KernelInfo** info);
// Gives the launch its parameters. More bytes than the kernel takes are the padding at the end of a structure; fewer
// are refused.
cudaError_t SetParameters(const char* call, const device::KernelInfo& info, std::string parameters, KernelWork* work);

// The clusters that a launch asks for by its attribute: 0 in all dimensions if it does not.
dim3 AskedCluster(const cudaLaunchAttributeValue& value);

// The clusters that the program asks for, by an attribute of the launch or of the kernel, or that the kernel was
// compiled for, if they can be. Errors: cudaErrorInvalidClusterSize, cudaErrorNotSupported below compute capability
// 9.0; what is wrong is explained.
cudaError_t ChooseCluster(const char* call, const Kernel& kernel, const device::KernelInfo& info,
                          const LaunchShape& shape, dim3* cluster);

// Sets what the program asks for all launches of a kernel by cudaFuncSetAttribute: whether clusters may have more than
// 8 blocks, and how large they are. False: it is another attribute, or not a value that it can have.
bool SetClusterAttribute(int attribute, int value, Kernel* kernel);

// Clusters of such a launch that the device holds at once.
int ResidentClusters(const Kernel& kernel, const device::KernelInfo& info, const LaunchShape& shape);

// Runs a kernel of a loaded image to its end; what it prints goes to stdout. Or keeps it, in a stream that is captured.
cudaError_t RunKernel(const char* call, KernelWork work);
// A launch with attributes; arguments are pointers, or, if there are none, what `extra` names.
cudaError_t LaunchWithAttributes(const char* call, const cudaLaunchConfig_t& config, const void* function,
                                 void** arguments, void** extra);
// Runs it now, outside of streams.
cudaError_t Perform(const char* call, const KernelWork& work, LaunchPlace place, device::LaunchReply* reply);

// Threads of the largest block that the kernel can be launched with.
int MostThreads(const device::KernelInfo& kernel);
// Compute capability of the architecture that an image's code was written for, and of the one that it runs on: 75.
int PtxVersion(const CodeImage& image);
int BinaryVersion(const CodeImage& image);

// Blocks of `threads` threads that one multiprocessor of the device holds at a time.
int ResidentBlocks(const device::KernelInfo& kernel, int threads, size_t dynamic_shared_bytes);

// What a program is told of that. Of a kernel with barriers of the whole grid no more than can be live at once here, so
// that a grid of so many blocks per multiprocessor can run; but at least one.
int ShownResidentBlocks(const device::KernelInfo& kernel, int threads, size_t dynamic_shared_bytes);

// Blocks of `threads` threads of a launch that can be live at once here, if its kernel has barriers of the whole grid;
// else any number.
uint64_t MostLiveBlocks(const device::KernelInfo& kernel, uint64_t threads);

// Registers, shared memory and so on of a kernel; compiles it if that has not been done.
cudaError_t Describe(const char* call, CodeImage& image, const std::string& kernel, device::KernelInfo* info);

}  // namespace heddle::cuda

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_LAUNCH_H_
