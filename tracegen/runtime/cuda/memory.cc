#include "tracegen/runtime/cuda/memory.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tracegen/runtime/cuda/code_image.h"
#include "tracegen/runtime/cuda/state.h"
#include "tracegen/runtime/cuda/work.h"

namespace heddle::cuda {
namespace {

using device::DeviceClient;
using device::TransferDirection;

std::map<uint64_t, Allocation>& Allocations() {
  static auto& allocations = *new std::map<uint64_t, Allocation>;
  return allocations;
}

// Whether memory of the host is told from that of the device: page-locked memory is in the window as well.
bool IsOnDevice(const void* pointer) {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  if (!DeviceClient::IsDeviceAddress(address)) return false;
  const Allocation* allocation = FindAllocation(address);
  return allocation == nullptr || allocation->kind != MemoryKind::kHost;
}

// Bytes from the first to behind the last that a copy touches.
uint64_t Span(const Layout& layout, const Block& block) {
  if (block.bytes == 0 || block.rows == 0 || block.slices == 0) return 0;
  return (block.slices - 1) * layout.slice_bytes + (block.rows - 1) * layout.pitch + block.bytes;
}

bool IsUsable(const Layout& layout, const Block& block, bool must_be_on_device) {
  const auto address = reinterpret_cast<uint64_t>(layout.start);
  if (DeviceClient::IsDeviceAddress(address)) return IsValidRange(address, Span(layout, block));
  return !must_be_on_device && layout.start != nullptr;
}

}  // namespace

cudaError_t Allocate(const char* call, uint64_t bytes, MemoryKind kind, uint64_t* address, unsigned int flags) {
  const device::Result result = DeviceClient::Get().Allocate(bytes, call, address);
  if (!result.ok()) return Fail(call, result);
  Allocation allocation;
  allocation.address = allocation.base = *address;
  allocation.bytes = bytes;
  allocation.kind = kind;
  allocation.flags = flags;
  Track(allocation);
  return cudaSuccess;
}

void Track(const Allocation& allocation) { Allocations()[allocation.address] = allocation; }

void Forget(uint64_t address) { Allocations().erase(address); }

cudaError_t Free(const char* call, uint64_t address, MemoryKind kind) {
  auto found = Allocations().find(address);
  const auto fits = [&](MemoryKind of) {
    return of == kind || (kind == MemoryKind::kDevice && (of == MemoryKind::kManaged || of == MemoryKind::kGraph));
  };
  if (found == Allocations().end() || !fits(found->second.kind)) {
    return Fail(kind == MemoryKind::kHost ? cudaErrorInvalidValue : cudaErrorInvalidDevicePointer);
  }
  const uint64_t base = found->second.base;
  const bool is_mapped = found->second.kind == MemoryKind::kGraph;
  Allocations().erase(found);
  return Fail(call, is_mapped ? DeviceClient::Get().Unmap(base) : DeviceClient::Get().Free(base));
}

void FreeAll() {
  // What the runtime itself has made (arrays, textures) stays: their handles do.
  std::vector<Allocation> all;
  for (const auto& [address, allocation] : Allocations()) {
    if (allocation.kind == MemoryKind::kDevice || allocation.kind == MemoryKind::kManaged ||
        allocation.kind == MemoryKind::kGraph) {
      all.push_back(allocation);
    }
  }
  for (const Allocation& allocation : all) Free("cudaDeviceReset", allocation.address, allocation.kind);
}

const Allocation* FindAllocation(uint64_t address) {
  auto next = Allocations().upper_bound(address);
  if (next == Allocations().begin()) return nullptr;
  const Allocation& allocation = std::prev(next)->second;
  return address - allocation.address < std::max<uint64_t>(allocation.bytes, 1) ? &allocation : nullptr;
}

const Allocation* FindRegistered(uint64_t host) {
  for (const auto& [address, allocation] : Allocations()) {
    if (allocation.kind == MemoryKind::kRegistered && host >= allocation.host &&
        host - allocation.host < allocation.bytes) {
      return &allocation;
    }
  }
  return nullptr;
}

bool IsValidRange(uint64_t address, uint64_t bytes) {
  if (bytes == 0) return true;
  if (const Allocation* allocation = FindAllocation(address)) {
    for (;;) {
      const uint64_t here = allocation->bytes - (address - allocation->address);
      if (bytes <= here) return true;
      const MemoryKind kind = allocation->kind;
      address += here;
      bytes -= here;
      allocation = FindAllocation(address);
      if (kind != MemoryKind::kVirtual || allocation == nullptr || allocation->kind != kind) return false;
    }
  }
  return CodeRegistry::Get().IsInVariable(address, bytes);
}

cudaError_t Perform(const char* call, const CopyWork& work, uint64_t stream, uint64_t* duration_ns) {
  const auto& [to, from, block, kind] = work;
  if (IsEmpty(block)) return cudaSuccess;
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if (!IsUsable(to, block, to_device) || !IsUsable(from, block, from_device)) {
    return Fail(cudaErrorInvalidValue);
  }
  for (uint64_t slice = 0; slice < block.slices; ++slice) {
    for (uint64_t row = 0; row < block.rows; ++row) {
      std::memmove(static_cast<char*>(to.start) + slice * to.slice_bytes + row * to.pitch,
                   static_cast<const char*>(from.start) + slice * from.slice_bytes + row * from.pitch, block.bytes);
    }
  }
  const bool into = IsOnDevice(to.start);
  const bool out_of = IsOnDevice(from.start);
  const uint64_t bytes = block.bytes * block.rows * block.slices;
  if (into || out_of) {
    const TransferDirection direction = into && out_of ? TransferDirection::kDeviceToDevice
                                        : into         ? TransferDirection::kHostToDevice
                                                       : TransferDirection::kDeviceToHost;
    // The trace has one range per copy: for rows apart the one from the first to the last byte.
    const Layout& noted = into ? to : from;
    const device::Result result = DeviceClient::Get().NoteTransfer(direction, reinterpret_cast<uint64_t>(noted.start),
                                                                   Span(noted, block), stream);
    if (!result.ok()) return Fail(call, result);
  }
  *duration_ns = Timeline::CopyNanoseconds(bytes, into && out_of);
  return cudaSuccess;
}

cudaError_t Perform(const char* call, const FillWork& work, uint64_t stream, uint64_t* duration_ns) {
  const auto& [to, value, value_bytes, block] = work;
  if (IsEmpty(block)) return cudaSuccess;
  if (!IsUsable(to, block, true)) return Fail(cudaErrorInvalidValue);
  for (uint64_t slice = 0; slice < block.slices; ++slice) {
    for (uint64_t row = 0; row < block.rows; ++row) {
      char* start = static_cast<char*>(to.start) + slice * to.slice_bytes + row * to.pitch;
      if (value_bytes == 1) {
        std::memset(start, static_cast<int>(value), block.bytes);
        continue;
      }
      for (uint64_t at = 0; at + value_bytes <= block.bytes; at += value_bytes) {
        std::memcpy(start + at, &value, value_bytes);
      }
    }
  }
  const device::Result result = DeviceClient::Get().NoteTransfer(
      TransferDirection::kFill, reinterpret_cast<uint64_t>(to.start), Span(to, block), stream);
  if (!result.ok()) return Fail(call, result);
  *duration_ns = Timeline::CopyNanoseconds(block.bytes * block.rows * block.slices, true);
  return cudaSuccess;
}

namespace {

template <typename Transfer>
cudaError_t Submit(const char* call, Transfer work, cudaStream_t handle, bool synchronous) {
  if (synchronous) {
    if (cudaError_t error = CheckUnsafe(call); error != cudaSuccess) return error;
  }
  cudaError_t error = cudaSuccess;
  CUstream_st* stream = Timeline::Get().Enter(handle, &error);
  if (stream == nullptr) return Fail(error);
  if (IsEmpty(work.block)) return cudaSuccess;
  if (stream->recorder != nullptr) return Fail(stream->recorder->Add(stream, std::move(work)));
  uint64_t duration_ns = 0;
  if (error = Perform(call, work, stream->id, &duration_ns); error != cudaSuccess) return error;
  Timeline::Get().Add(stream, duration_ns);
  if (synchronous) Timeline::Get().Synchronize(stream);
  return cudaSuccess;
}

}  // namespace

cudaError_t Copy(const char* call, Layout to, Layout from, Block block, cudaMemcpyKind kind, cudaStream_t stream,
                 bool synchronous) {
  if (cudaError_t error = ContextError(call); error != cudaSuccess) return Fail(error);
  if (Timeline::Get().Find(stream) == nullptr) return Fail(cudaErrorInvalidResourceHandle);
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return Fail(cudaErrorInvalidMemcpyDirection);
  return Submit(call, CopyWork{to, from, block, kind}, stream, synchronous);
}

cudaError_t Fill(const char* call, Layout to, int value, int value_bytes, Block block, cudaStream_t stream) {
  if (cudaError_t error = ContextError(call); error != cudaSuccess) return Fail(error);
  return Submit(call, FillWork{to, static_cast<unsigned int>(value), value_bytes, block}, stream, false);
}

}  // namespace heddle::cuda
