// Memory that graphs allocate: their addresses are known when the node is made, and have memory while the graph runs.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_GRAPHS_MEMORY_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_GRAPHS_MEMORY_H_

#include <cstdint>

#include "tracegen/runtime/cuda/work.h"

namespace heddle::cuda {

// Addresses for `bytes`.
cudaError_t ReserveGraphMemory(const char* call, uint64_t bytes, AllocateWork* work);
// Whether they have memory: the node has run, and nobody has freed it.
bool IsAllocated(const GraphAddresses& place);
// Zeroed memory. Errors: there is memory already, or no more.
cudaError_t Perform(const char* call, const AllocateWork& work);
cudaError_t Perform(const char* call, const FreeWork& work);

}  // namespace heddle::cuda

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_GRAPHS_MEMORY_H_
