// Clusters of thread blocks, as launches ask for them.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_CLUSTERS_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_CLUSTERS_H_

#include "tracegen/runtime/cuda/code_image.h"
#include "tracegen/runtime/cuda/launch.h"
#include "tracegen/runtime/protocol/device_types.h"

namespace heddle::cuda {

// The clusters that a launch asks for by its attribute: 0 in all dimensions if it does not.
dim3 AskedCluster(const cudaLaunchAttributeValue& value);

// Gives a launch the clusters that the program asks for, by an attribute of the launch or of the kernel, and checks
// them and those that the kernel was compiled for. Errors: cudaErrorInvalidClusterSize, cudaErrorNotSupported below
// compute capability 9.0; what is wrong is explained.
cudaError_t ChooseCluster(const char* call, const Kernel& kernel, const device::KernelInfo& info, LaunchShape* shape);

// Sets what the program asks for all launches of a kernel by cudaFuncSetAttribute: whether clusters may have more than
// 8 blocks, and how large they are. False: it is another attribute, or not a value that it can have.
bool SetClusterAttribute(int attribute, int value, Kernel* kernel);

// Clusters of such a launch that the device holds at once.
int ResidentClusters(const Kernel& kernel, const device::KernelInfo& info, const LaunchShape& shape);

}  // namespace heddle::cuda

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_CLUSTERS_H_
