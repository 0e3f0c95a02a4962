// Virtual memory management of the driver API: addresses, memory, and the one mapped at the other.
//
// Memory has no place of its own: its bytes lie where it is mapped, and in a copy on the host while it is mapped
// nowhere. So it has one place at a time. Kernels reach it once access to it is allowed, and the device's bounds are
// those of what is allowed.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tracegen/runtime/cuda/memory.h"
#include "tracegen/runtime/cuda/state.h"

namespace heddle::cuda {
namespace {

constexpr uint64_t kGranularity = 2 << 20;

struct Memory {
  uint64_t bytes = 0;
  CUmemAllocationProp properties = {};
  int references = 1;
  std::string contents;  // while it has no place; zeros behind what is here
  bool placed = false;
};

struct Placed {
  CUmemGenericAllocationHandle handle = 0;
  std::shared_ptr<Memory> memory;
  uint64_t bytes = 0;
  CUmemAccess_flags access = CU_MEM_ACCESS_FLAGS_PROT_NONE;
};

struct VirtualMemory {
  std::map<uint64_t, uint64_t> reservations;  // start to bytes
  std::map<CUmemGenericAllocationHandle, std::shared_ptr<Memory>> handles;
  std::map<uint64_t, Placed> placed;  // by address
  CUmemGenericAllocationHandle next_handle = 1;
};

VirtualMemory& State() {
  static auto& state = *new VirtualMemory;
  return state;
}

CUresult Result(cudaError_t error) { return static_cast<CUresult>(error); }

bool IsMultiple(uint64_t value) { return value % kGranularity == 0; }

// What is placed in [start, start + bytes), which it must fill exactly: null if it does not.
using PlacedRange = std::vector<std::pair<uint64_t, Placed*>>;
PlacedRange FindPlaced(uint64_t start, uint64_t bytes) {
  PlacedRange found;
  uint64_t next = start;
  for (auto at = State().placed.find(start); at != State().placed.end() && at->first == next && next < start + bytes;
       ++at) {
    found.emplace_back(at->first, &at->second);
    next += at->second.bytes;
  }
  if (next != start + bytes) found.clear();
  return found;
}

// Lets kernels and copies reach what is placed at `address`.
CUresult Open(uint64_t address, Placed& placed) {
  const device::Result result = device::DeviceClient::Get().Map(address, placed.bytes, "cuMemMap");
  if (!result.ok()) return Result(Fail("cuMemSetAccess", result));
  Memory& memory = *placed.memory;
  std::memcpy(reinterpret_cast<void*>(address), memory.contents.data(),
              std::min<uint64_t>(memory.contents.size(), placed.bytes));
  if (memory.contents.size() <= placed.bytes) memory.contents = {};  // else a part of it is not placed
  Allocation allocation;
  allocation.address = allocation.base = address;
  allocation.bytes = placed.bytes;
  allocation.kind = MemoryKind::kVirtual;
  Track(allocation);
  return CUDA_SUCCESS;
}

// The contrary: the bytes go to the host.
CUresult Close(const char* call, uint64_t address, Placed& placed) {
  Memory& memory = *placed.memory;
  // Nobody can map it again after the last reference.
  if (memory.references > 0) {
    memory.contents.resize(std::max<size_t>(memory.contents.size(), placed.bytes));
    std::memcpy(memory.contents.data(), reinterpret_cast<const char*>(address), placed.bytes);
  }
  Forget(address);
  return Result(Fail(call, device::DeviceClient::Get().Unmap(address)));
}

}  // namespace
}  // namespace heddle::cuda

using heddle::cuda::Close;
using heddle::cuda::ContextError;
using heddle::cuda::Explain;
using heddle::cuda::Fail;
using heddle::cuda::FindPlaced;
using heddle::cuda::Guard;
using heddle::cuda::IsMultiple;
using heddle::cuda::kGranularity;
using heddle::cuda::Memory;
using heddle::cuda::Open;
using heddle::cuda::Placed;
using heddle::cuda::Result;
using heddle::cuda::State;

namespace {

bool IsOurs(const CUmemAllocationProp* properties) {
  return properties != nullptr && properties->type == CU_MEM_ALLOCATION_TYPE_PINNED &&
         properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE && properties->location.id == 0;
}

}  // namespace

extern "C" {

CUresult cuMemGetAllocationGranularity(size_t* granularity, const CUmemAllocationProp* properties,
                                       CUmemAllocationGranularity_flags) {
  if (granularity == nullptr || !IsOurs(properties)) return CUDA_ERROR_INVALID_VALUE;
  *granularity = kGranularity;
  return CUDA_SUCCESS;
}

CUresult cuMemAddressReserve(CUdeviceptr* pointer, size_t bytes, size_t alignment, CUdeviceptr wanted,
                             unsigned long long flags) {
  const Guard guard;
  if (pointer == nullptr || bytes == 0 || !IsMultiple(bytes) || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  uint64_t address = 0;
  const auto result =
      heddle::device::DeviceClient::Get().Reserve(bytes, std::max<size_t>(alignment, kGranularity), wanted, &address);
  if (!result.ok()) return Result(Fail("cuMemAddressReserve", result));
  State().reservations[address] = bytes;
  *pointer = address;
  return CUDA_SUCCESS;
}

CUresult cuMemAddressFree(CUdeviceptr pointer, size_t bytes) {
  const Guard guard;
  const auto found = State().reservations.find(pointer);
  if (found == State().reservations.end() || found->second != bytes) return CUDA_ERROR_INVALID_VALUE;
  const auto inside = State().placed.lower_bound(pointer);
  if (inside != State().placed.end() && inside->first - pointer < bytes) return CUDA_ERROR_INVALID_VALUE;
  State().reservations.erase(found);
  return Result(Fail("cuMemAddressFree", heddle::device::DeviceClient::Get().Release(pointer)));
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t bytes, const CUmemAllocationProp* properties,
                     unsigned long long flags) {
  const Guard guard;
  if (handle == nullptr || bytes == 0 || !IsMultiple(bytes) || !IsOurs(properties) || flags != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (properties->requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE) {
    Explain("cuMemCreate", "memory cannot be shared with other processes; ask for CU_MEM_HANDLE_TYPE_NONE");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  heddle::device::DeviceLimits limits;
  if (auto result = heddle::device::DeviceClient::Get().Limits(&limits); !result.ok()) {
    return Result(Fail("cuMemCreate", result));
  }
  uint64_t waiting = 0;  // memory that no kernel can reach at present counts as well
  for (const auto& [number, memory] : State().handles) waiting += memory->placed ? 0 : memory->bytes;
  if (bytes > limits.free_bytes || waiting > limits.free_bytes - bytes) return CUDA_ERROR_OUT_OF_MEMORY;
  auto memory = std::make_shared<Memory>();
  memory->bytes = bytes;
  memory->properties = *properties;
  memory->properties.allocFlags.compressionType = CU_MEM_ALLOCATION_COMP_NONE;
  *handle = State().next_handle++;
  State().handles[*handle] = std::move(memory);
  return CUDA_SUCCESS;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  const Guard guard;
  const auto found = State().handles.find(handle);
  if (found == State().handles.end()) return CUDA_ERROR_INVALID_VALUE;
  // What is mapped lives until it is unmapped.
  if (--found->second->references == 0) State().handles.erase(found);
  return CUDA_SUCCESS;
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* pointer) {
  const Guard guard;
  const auto address = reinterpret_cast<uint64_t>(pointer);
  const auto next = State().placed.upper_bound(address);
  if (handle == nullptr || next == State().placed.begin()) return CUDA_ERROR_INVALID_VALUE;
  const auto& [start, placed] = *std::prev(next);
  if (address - start >= placed.bytes) return CUDA_ERROR_INVALID_VALUE;
  ++placed.memory->references;
  State().handles[placed.handle] = placed.memory;
  *handle = placed.handle;
  return CUDA_SUCCESS;
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* properties, CUmemGenericAllocationHandle handle) {
  const Guard guard;
  const auto found = State().handles.find(handle);
  if (properties == nullptr || found == State().handles.end()) return CUDA_ERROR_INVALID_VALUE;
  *properties = found->second->properties;
  return CUDA_SUCCESS;
}

CUresult cuMemMap(CUdeviceptr pointer, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags) {
  const Guard guard;
  if (cudaError_t error = ContextError("cuMemMap"); error != cudaSuccess) return Result(error);
  const auto found = State().handles.find(handle);
  if (found == State().handles.end() || flags != 0 || offset != 0 || bytes == 0 || !IsMultiple(bytes) ||
      !IsMultiple(pointer) || bytes > found->second->bytes) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  auto place = State().reservations.upper_bound(pointer);
  if (place == State().reservations.begin()) return CUDA_ERROR_INVALID_VALUE;
  --place;
  if (pointer - place->first > place->second || bytes > place->second - (pointer - place->first)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const auto next = State().placed.lower_bound(pointer + bytes);
  if (next != State().placed.begin() && std::prev(next)->first + std::prev(next)->second.bytes > pointer) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (found->second->placed) {
    Explain("cuMemMap", "memory can be mapped at one place at a time here; unmap it first, or copy it");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  found->second->placed = true;
  State().placed[pointer] = {handle, found->second, bytes, CU_MEM_ACCESS_FLAGS_PROT_NONE};
  return CUDA_SUCCESS;
}

CUresult cuMemUnmap(CUdeviceptr pointer, size_t bytes) {
  const Guard guard;
  if (cudaError_t error = ContextError("cuMemUnmap"); error != cudaSuccess) return Result(error);
  const heddle::cuda::PlacedRange range = FindPlaced(pointer, bytes);
  if (range.empty()) return CUDA_ERROR_INVALID_VALUE;
  for (const auto& [address, placed] : range) {
    CUresult result = CUDA_SUCCESS;
    if (placed->access != CU_MEM_ACCESS_FLAGS_PROT_NONE) result = Close("cuMemUnmap", address, *placed);
    placed->memory->placed = false;
    State().placed.erase(address);
    if (result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}

CUresult cuMemSetAccess(CUdeviceptr pointer, size_t bytes, const CUmemAccessDesc* descriptions, size_t count) {
  const Guard guard;
  if (cudaError_t error = ContextError("cuMemSetAccess"); error != cudaSuccess) return Result(error);
  if (descriptions == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
  const heddle::cuda::PlacedRange range = FindPlaced(pointer, bytes);
  if (range.empty()) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; ++i) {
    const CUmemAccessDesc& wanted = descriptions[i];
    if (wanted.location.type != CU_MEM_LOCATION_TYPE_DEVICE) continue;  // the host reaches all memory
    if (wanted.location.id != 0) return CUDA_ERROR_INVALID_DEVICE;
    for (const auto& [address, placed] : range) {
      const bool was_open = placed->access != CU_MEM_ACCESS_FLAGS_PROT_NONE;
      const bool opens = wanted.flags != CU_MEM_ACCESS_FLAGS_PROT_NONE;
      CUresult result = CUDA_SUCCESS;
      if (opens && !was_open) result = Open(address, *placed);
      if (!opens && was_open) result = Close("cuMemSetAccess", address, *placed);
      if (result != CUDA_SUCCESS) return result;
      placed->access = wanted.flags;
    }
  }
  return CUDA_SUCCESS;
}

CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location, CUdeviceptr pointer) {
  const Guard guard;
  const auto next = State().placed.upper_bound(pointer);
  if (flags == nullptr || location == nullptr || next == State().placed.begin()) return CUDA_ERROR_INVALID_VALUE;
  const auto& [start, placed] = *std::prev(next);
  if (pointer - start >= placed.bytes) return CUDA_ERROR_INVALID_VALUE;
  *flags = placed.access;
  return CUDA_SUCCESS;
}

}  // extern "C"
