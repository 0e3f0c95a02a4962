// The work of nodes, from the structures of the API. Functions are called with the Guard held; `call` is the function
// of the API. Errors have been kept as the thread's last error, and leave `*work` as it was.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_GRAPHS_PARAMETERS_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_GRAPHS_PARAMETERS_H_

#include <cstddef>

#include "tracegen/runtime/cuda/graphs/graph.h"

namespace heddle::cuda {

// A copy of plain memory, as a structure.
struct PlainCopy {
  void* to = nullptr;
  const void* from = nullptr;
  size_t bytes = 0;
  cudaMemcpyKind kind = cudaMemcpyDefault;
};
// A copy between memory and a variable of the program.
struct SymbolCopy {
  const void* symbol = nullptr;
  const void* memory = nullptr;
  size_t bytes = 0;
  size_t offset = 0;
  cudaMemcpyKind kind = cudaMemcpyDefault;
  bool into = true;  // the variable
};

// The arguments of a kernel are copied. If `*work` is a kernel's already, as of a node that gets new parameters, its
// attributes stay, and, if the kernel does, the closed function that it stands for.
cudaError_t MakeWork(const char* call, const cudaKernelNodeParams& parameters, Work* work);
cudaError_t MakeWork(const char* call, const cudaMemcpy3DParms& parameters, Work* work);
cudaError_t MakeWork(const char* call, const PlainCopy& copy, Work* work);
cudaError_t MakeWork(const char* call, const SymbolCopy& copy, Work* work);
cudaError_t MakeWork(const char* call, const cudaMemsetParams& parameters, Work* work);
cudaError_t MakeWork(const char* call, const cudaHostNodeParams& parameters, Work* work);
// The graph is cloned.
cudaError_t MakeWork(const char* call, cudaGraph_t child, Work* work);
cudaError_t MakeWork(const char* call, const EmptyWork& empty, Work* work);
cudaError_t MakeWork(const char* call, const RecordWork& record, Work* work);
cudaError_t MakeWork(const char* call, const WaitWork& wait, Work* work);
// `parameters` gets the address.
cudaError_t MakeWork(const char* call, cudaMemAllocNodeParams& parameters, Work* work);
cudaError_t MakeWork(const char* call, const FreeWork& freed, Work* work);
// Graphs for it, which are empty; the program gets their handles with the node.
cudaError_t MakeWork(const char* call, cudaConditionalNodeParams& parameters, Work* work);
// Any of them; semaphores are refused by name.
cudaError_t MakeWork(const char* call, cudaGraphNodeParams& parameters, Work* work);

// Gives a launch the attributes of another one.
void TakeAttributes(const KernelWork& from, KernelWork* to);

// How a copy node was described, or may be.
cudaMemcpy3DParms DescribeCopyNode(const Node& node);

}  // namespace heddle::cuda

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_GRAPHS_PARAMETERS_H_
