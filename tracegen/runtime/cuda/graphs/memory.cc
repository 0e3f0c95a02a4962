#include "tracegen/runtime/cuda/graphs/memory.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>

#include "tracegen/runtime/cuda/state.h"

namespace heddle::cuda {
namespace {

struct Usage {
  uint64_t used = 0;
  uint64_t used_high = 0;
  uint64_t reserved_high = 0;
};
Usage& TheUsage() {
  static Usage usage;
  return usage;
}

// Bytes that graphs have allocated and nobody has freed. Memory may be freed without a graph, so it is counted anew.
std::set<const GraphAddresses*>& Places() {
  static auto& places = *new std::set<const GraphAddresses*>;
  return places;
}

void Count() {
  Usage& usage = TheUsage();
  usage.used = 0;
  for (const GraphAddresses* place : Places()) {
    if (IsAllocated(*place)) usage.used += place->bytes;
  }
  usage.used_high = std::max(usage.used_high, usage.used);
  usage.reserved_high = std::max(usage.reserved_high, usage.used);
}

}  // namespace

GraphAddresses::~GraphAddresses() {
  Places().erase(this);
  // Memory that is still allocated belongs to the program, and so do its addresses.
  if (address == 0 || IsAllocated(*this)) return;
  [[maybe_unused]] const device::Result result = device::DeviceClient::Get().Release(address);
}

cudaError_t ReserveGraphMemory(const char* call, uint64_t bytes, AllocateWork* work) {
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  if (bytes == 0 || bytes > ~uint64_t{0} - page) return Fail(cudaErrorInvalidValue);
  auto place = std::make_shared<GraphAddresses>();
  place->bytes = (bytes + page - 1) / page * page;
  const device::Result result = device::DeviceClient::Get().Reserve(place->bytes, page, 0, &place->address);
  if (!result.ok()) return Fail(call, result);
  Places().insert(place.get());
  work->place = std::move(place);
  work->parameters.bytesize = bytes;
  work->parameters.dptr = reinterpret_cast<void*>(work->place->address);
  return cudaSuccess;
}

bool IsAllocated(const GraphAddresses& place) {
  const Allocation* found = FindAllocation(place.address);
  return found != nullptr && found->address == place.address && found->kind == MemoryKind::kGraph;
}

cudaError_t Perform(const char* call, const AllocateWork& work) {
  const GraphAddresses& place = *work.place;
  if (IsAllocated(place)) {
    Explain(call,
            "memory that a node of the graph allocates has not been freed since the last launch; free it, or "
            "instantiate with cudaGraphInstantiateFlagAutoFreeOnLaunch");
    return Fail(cudaErrorInvalidValue);
  }
  const device::Result result = device::DeviceClient::Get().Map(place.address, place.bytes, "cudaGraph allocation");
  if (!result.ok()) return Fail(call, result);
  Allocation allocation;
  allocation.address = allocation.base = place.address;
  allocation.bytes = work.parameters.bytesize;
  allocation.kind = MemoryKind::kGraph;
  Track(allocation);
  Count();
  return cudaSuccess;
}

cudaError_t Perform(const char* call, const FreeWork& work) { return Free(call, work.address, MemoryKind::kDevice); }

}  // namespace heddle::cuda

using heddle::cuda::Fail;
using heddle::cuda::Guard;

extern "C" {

cudaError_t cudaDeviceGetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attribute, void* value) {
  const Guard guard;
  if (device != 0) return Fail(cudaErrorInvalidDevice);
  if (value == nullptr) return Fail(cudaErrorInvalidValue);
  heddle::cuda::Count();
  const heddle::cuda::Usage& usage = heddle::cuda::TheUsage();
  uint64_t bytes = 0;
  switch (attribute) {
    case cudaGraphMemAttrUsedMemCurrent:
    case cudaGraphMemAttrReservedMemCurrent:  // what is freed goes back at once
      bytes = usage.used;
      break;
    case cudaGraphMemAttrUsedMemHigh:
      bytes = usage.used_high;
      break;
    case cudaGraphMemAttrReservedMemHigh:
      bytes = usage.reserved_high;
      break;
    default:
      return Fail(cudaErrorInvalidValue);
  }
  *static_cast<uint64_t*>(value) = bytes;
  return cudaSuccess;
}

// The high marks can be set to 0.
cudaError_t cudaDeviceSetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attribute, void* value) {
  const Guard guard;
  if (device != 0) return Fail(cudaErrorInvalidDevice);
  const bool is_high = attribute == cudaGraphMemAttrUsedMemHigh || attribute == cudaGraphMemAttrReservedMemHigh;
  if (!is_high || value == nullptr || *static_cast<uint64_t*>(value) != 0) return Fail(cudaErrorInvalidValue);
  heddle::cuda::Usage& usage = heddle::cuda::TheUsage();
  (attribute == cudaGraphMemAttrUsedMemHigh ? usage.used_high : usage.reserved_high) = 0;
  heddle::cuda::Count();
  return cudaSuccess;
}

cudaError_t cudaDeviceGraphMemTrim(int device) { return device == 0 ? cudaSuccess : Fail(cudaErrorInvalidDevice); }

}  // extern "C"
