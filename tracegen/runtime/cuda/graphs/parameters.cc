#include "tracegen/runtime/cuda/graphs/parameters.h"

#include <cstdint>
#include <string>
#include <utility>

#include "tracegen/runtime/cuda/arrays.h"
#include "tracegen/runtime/cuda/graphs/memory.h"
#include "tracegen/runtime/cuda/state.h"

namespace heddle::cuda {
namespace {

bool IsKind(cudaMemcpyKind kind) { return kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault; }

cudaError_t Refuse(const char* call, const std::string& what) {
  Explain(call, what);
  return Fail(cudaErrorNotSupported);
}

}  // namespace

void TakeAttributes(const KernelWork& from, KernelWork* to) {
  to->cooperative = from.cooperative;
  to->priority = from.priority;
  to->shape.cluster = from.shape.cluster;
}

cudaError_t MakeWork(const char* call, const cudaKernelNodeParams& parameters, Work* work) {
  KernelWork kernel;
  kernel.function = parameters.func;
  kernel.shape = {parameters.gridDim, parameters.blockDim, parameters.sharedMemBytes, nullptr};
  const auto* before = std::get_if<KernelWork>(work);
  if (before != nullptr) TakeAttributes(*before, &kernel);
  if (parameters.func == nullptr) return Fail(cudaErrorInvalidDeviceFunction);
  const device::KernelInfo* info = nullptr;
  if (cudaError_t error = PrepareLaunch(call, &kernel, &info); error != cudaSuccess) return error;
  std::string given;
  if (parameters.kernelParams != nullptr) {
    given = PackArguments(*info, parameters.kernelParams);
  } else if (parameters.extra != nullptr) {
    given = UnpackExtra(parameters.extra);
  }
  if (cudaError_t error = SetParameters(call, *info, std::move(given), &kernel); error != cudaSuccess) return error;
  // Handles are looked up at every launch: the code may be unloaded.
  CodeRegistry::Get().AddHandle(kernel.kernel);
  if (before != nullptr && before->kernel == kernel.kernel) kernel.stand_in_for = before->stand_in_for;
  *work = std::move(kernel);
  return cudaSuccess;
}

cudaError_t MakeWork(const char*, const cudaMemcpy3DParms& parameters, Work* work) {
  CopyWork copy;
  if (!IsKind(parameters.kind)) return Fail(cudaErrorInvalidMemcpyDirection);
  if (cudaError_t error = DescribeCopy(parameters, &copy); error != cudaSuccess) return Fail(error);
  *work = copy;
  return cudaSuccess;
}

cudaError_t MakeWork(const char*, const PlainCopy& copy, Work* work) {
  if (!IsKind(copy.kind)) return Fail(cudaErrorInvalidMemcpyDirection);
  if (copy.to == nullptr || copy.from == nullptr) return Fail(cudaErrorInvalidValue);
  *work = CopyWork{{copy.to, 0, 0}, {const_cast<void*>(copy.from), 0, 0}, {copy.bytes, 1, 1}, copy.kind};
  return cudaSuccess;
}

cudaError_t MakeWork(const char* call, const SymbolCopy& copy, Work* work) {
  const Variable* variable = nullptr;
  const device::VariableInfo* place = nullptr;
  cudaError_t error = CodeRegistry::Get().Locate(call, copy.symbol, &variable, &place);
  if (error != cudaSuccess) return error;
  if (copy.offset > place->bytes || copy.bytes > place->bytes - copy.offset) return Fail(cudaErrorInvalidValue);
  void* inside = reinterpret_cast<void*>(place->address + copy.offset);
  if (copy.into) return MakeWork(call, PlainCopy{inside, copy.memory, copy.bytes, copy.kind}, work);
  return MakeWork(call, PlainCopy{const_cast<void*>(copy.memory), inside, copy.bytes, copy.kind}, work);
}

cudaError_t MakeWork(const char*, const cudaMemsetParams& p, Work* work) {
  const bool is_element = p.elementSize == 1 || p.elementSize == 2 || p.elementSize == 4;
  if (!is_element || p.dst == nullptr || p.width > SIZE_MAX / p.elementSize) return Fail(cudaErrorInvalidValue);
  const uint64_t bytes = p.width * p.elementSize;
  if (p.height > 1 && p.pitch < bytes) return Fail(cudaErrorInvalidValue);
  *work = FillWork{{p.dst, p.pitch, 0}, p.value, static_cast<int>(p.elementSize), {bytes, p.height, 1}};
  return cudaSuccess;
}

cudaError_t MakeWork(const char*, const cudaHostNodeParams& parameters, Work* work) {
  if (parameters.fn == nullptr) return Fail(cudaErrorInvalidValue);
  *work = HostWork{parameters.fn, parameters.userData};
  return cudaSuccess;
}

cudaError_t MakeWork(const char* call, cudaGraph_t child, Work* work) {
  if (!IsGraph(child)) return Fail(cudaErrorInvalidValue);
  if (child->HasMemoryNodes())
    return Refuse(
        call,
        "graphs that allocate or free memory cannot be child graphs; allocate before, or launch the graph by itself");
  if (child->HasConditionalNodes())
    return Refuse(call, "graphs with conditional nodes cannot be child graphs; add the nodes to the graph itself");
  ChildWork made{child->Clone()};
  made.graph->MakeChild();
  *work = std::move(made);
  return cudaSuccess;
}

cudaError_t MakeWork(const char*, const EmptyWork& empty, Work* work) {
  *work = empty;
  return cudaSuccess;
}

cudaError_t MakeWork(const char*, const RecordWork& record, Work* work) {
  if (!Timeline::Get().IsEvent(record.event)) return Fail(cudaErrorInvalidValue);
  *work = record;
  return cudaSuccess;
}

cudaError_t MakeWork(const char*, const WaitWork& wait, Work* work) {
  if (!Timeline::Get().IsEvent(wait.event)) return Fail(cudaErrorInvalidValue);
  *work = wait;
  return cudaSuccess;
}

cudaError_t MakeWork(const char* call, cudaMemAllocNodeParams& parameters, Work* work) {
  const cudaMemPoolProps& pool = parameters.poolProps;
  if (pool.allocType != cudaMemAllocationTypePinned || pool.location.type != cudaMemLocationTypeDevice ||
      pool.location.id != 0 || (parameters.accessDescs == nullptr && parameters.accessDescCount != 0)) {
    return Fail(cudaErrorInvalidValue);
  }
  if (pool.handleTypes != cudaMemHandleTypeNone) {
    return Refuse(call, "memory of graphs is not shared with other processes; leave poolProps.handleTypes at none");
  }
  AllocateWork allocation;
  if (cudaError_t error = ReserveGraphMemory(call, parameters.bytesize, &allocation); error != cudaSuccess)
    return error;
  allocation.access.assign(parameters.accessDescs, parameters.accessDescs + parameters.accessDescCount);
  parameters.dptr = allocation.parameters.dptr;
  allocation.parameters = parameters;
  *work = std::move(allocation);
  return cudaSuccess;
}

cudaError_t MakeWork(const char*, const FreeWork& freed, Work* work) {
  if (freed.address == 0) return Fail(cudaErrorInvalidValue);
  *work = freed;
  return cudaSuccess;
}

cudaError_t MakeWork(const char* call, cudaGraphNodeParams& p, Work* work) {
  switch (p.type) {
    case cudaGraphNodeTypeKernel:
      return MakeWork(call, p.kernel, work);
    case cudaGraphNodeTypeMemcpy:
      return MakeWork(call, p.memcpy.copyParams, work);
    case cudaGraphNodeTypeMemset:
      return MakeWork(call, p.memset, work);
    case cudaGraphNodeTypeHost:
      return MakeWork(call, p.host, work);
    case cudaGraphNodeTypeGraph:
      return MakeWork(call, p.graph.graph, work);
    case cudaGraphNodeTypeEmpty:
      return MakeWork(call, EmptyWork{}, work);
    case cudaGraphNodeTypeWaitEvent:
      return MakeWork(call, WaitWork{p.eventWait.event}, work);
    case cudaGraphNodeTypeEventRecord:
      return MakeWork(call, RecordWork{p.eventRecord.event}, work);
    case cudaGraphNodeTypeMemAlloc:
      return MakeWork(call, p.alloc, work);
    case cudaGraphNodeTypeMemFree:
      return MakeWork(call, FreeWork{reinterpret_cast<uint64_t>(p.free.dptr)}, work);
    case cudaGraphNodeTypeConditional:
      return MakeWork(call, p.conditional, work);
    case cudaGraphNodeTypeExtSemaphoreSignal:
    case cudaGraphNodeTypeExtSemaphoreWait:
      return Refuse(call, "semaphores of other APIs are not supported; wait for events of CUDA");
    default:
      return Fail(cudaErrorInvalidValue);
  }
}

cudaMemcpy3DParms DescribeCopyNode(const Node& node) {
  if (node.copy.has_value()) return *node.copy;
  const auto& copy = std::get<CopyWork>(node.work);
  const auto end = [&](const Layout& layout) {
    const uint64_t pitch = layout.pitch != 0 ? layout.pitch : copy.block.bytes;
    const uint64_t rows = layout.slice_bytes != 0 ? layout.slice_bytes / pitch : copy.block.rows;
    return cudaPitchedPtr{layout.start, pitch, copy.block.bytes, rows};
  };
  cudaMemcpy3DParms parameters = {};
  parameters.srcPtr = end(copy.from);
  parameters.dstPtr = end(copy.to);
  parameters.extent = {copy.block.bytes, copy.block.rows, copy.block.slices};
  parameters.kind = copy.kind;
  return parameters;
}

}  // namespace heddle::cuda
