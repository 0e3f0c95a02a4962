// What a stream is asked to do, as a value: done at once, or kept as a node of a graph while the stream is captured.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_WORK_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_WORK_H_

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "tracegen/runtime/cuda/api.h"
#include "tracegen/runtime/cuda/launch.h"
#include "tracegen/runtime/cuda/memory.h"

namespace heddle::cuda {

struct EmptyWork {};
struct HostWork {
  cudaHostFn_t function = nullptr;
  void* data = nullptr;
};
struct RecordWork {
  cudaEvent_t event = nullptr;
};
struct WaitWork {
  cudaEvent_t event = nullptr;
};

// Addresses of a graph, which have memory from one node's execution to that of another. Not copied.
struct GraphAddresses {
  ~GraphAddresses();
  uint64_t address = 0;
  uint64_t bytes = 0;  // whole pages
};
struct AllocateWork {
  std::shared_ptr<GraphAddresses> place;
  cudaMemAllocNodeParams parameters = {};
  std::vector<cudaMemAccessDesc> access;
};
struct FreeWork {
  uint64_t address = 0;
};
struct ChildWork {
  std::shared_ptr<CUgraph_st> graph;
};

// Graphs of which a number in device memory chooses (graphs/conditional.h).
class Condition;
struct ConditionalWork {
  std::shared_ptr<Condition> condition;
  cudaGraphConditionalNodeType type = cudaGraphCondTypeIf;
  std::vector<std::shared_ptr<CUgraph_st>> bodies;
  std::vector<cudaGraph_t> handles;  // of them, for the program
};

using Work = std::variant<KernelWork, CopyWork, FillWork, HostWork, EmptyWork, RecordWork, WaitWork, AllocateWork,
                          FreeWork, ChildWork, ConditionalWork>;

// What takes the work of streams that are captured. Functions are called with the Guard held.
class StreamRecorder {
 public:
  virtual ~StreamRecorder() = default;
  // Work is put into a stream. Errors: cudaErrorStreamCaptureInvalidated after an earlier error.
  virtual cudaError_t Add(CUstream_st* stream, Work work) = 0;
  // An event is recorded in a captured stream.
  virtual cudaError_t Record(CUstream_st* stream, CUevent_st* event) = 0;
  // A stream, captured or not, waits for an event that was recorded in a captured one: it takes part from now on.
  virtual cudaError_t Join(CUstream_st* stream, CUevent_st* event) = 0;
  // Memory whose addresses are known now, and which is there when the graph runs.
  virtual cudaError_t Allocate(CUstream_st* stream, uint64_t bytes, uint64_t* address) = 0;
  // The capture cannot be ended well any more.
  virtual void Invalidate() = 0;
  // A captured stream is about to be destroyed.
  virtual void Forget(CUstream_st* stream) = 0;
};

// Refuses a call that is not allowed while a stream is captured (cudaStreamBeginCapture says in which modes), and
// invalidates that capture: cudaErrorStreamCaptureUnsupported.
cudaError_t CheckUnsafe(const char* call);

}  // namespace heddle::cuda

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_WORK_H_
