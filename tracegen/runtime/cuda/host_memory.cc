// Memory of the host that the device reaches: page-locked, and registered.
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

#include "tracegen/runtime/cuda/memory.h"
#include "tracegen/runtime/cuda/state.h"

namespace heddle::cuda {
namespace {

uint64_t PageBytes() { return static_cast<uint64_t>(sysconf(_SC_PAGESIZE)); }
uint64_t RoundUp(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }
void* Pointer(uint64_t address) { return reinterpret_cast<void*>(address); }

// The whole pages that hold [start, start + bytes).
struct Pages {
  Pages(uint64_t start, uint64_t bytes)
      : first(start / PageBytes() * PageBytes()), length(RoundUp(start + bytes, PageBytes()) - first) {}
  uint64_t first;
  uint64_t length;
};

// Whether a page is of the calling thread's stack.
bool OnOwnStack(const Pages& pages) {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return false;
  void* stack = nullptr;
  size_t bytes = 0;
  const bool known = pthread_attr_getstack(&attributes, &stack, &bytes) == 0;
  pthread_attr_destroy(&attributes);
  const auto first = reinterpret_cast<uint64_t>(stack);
  return known && pages.first < first + bytes && first < pages.first + pages.length;
}

// Memory that the program has of its own becomes visible to the device: its pages are exchanged for pages of the shared
// window, with the contents kept, and mapped at both places.
cudaError_t Register(const char* call, uint64_t host, uint64_t bytes, unsigned int flags) {
  const Pages pages(host, bytes);
  if (OnOwnStack(pages)) {
    // The pages are written while they are exchanged: return addresses would be lost.
    Explain(call, "memory on the stack cannot be registered; take it from malloc or cudaMallocHost");
    return Fail(cudaErrorNotSupported);
  }
  uint64_t base = 0;
  // One page more, so that what is used can begin with a page.
  cudaError_t error = Allocate(call, pages.length + PageBytes(), MemoryKind::kRegistered, &base, flags);
  if (error != cudaSuccess) return error;
  const uint64_t start = RoundUp(base, PageBytes());
  std::memcpy(Pointer(start), Pointer(pages.first), pages.length);
  // With an old size of 0, mremap maps the pages of a shared mapping a second time.
  if (mremap(Pointer(start), 0, pages.length, MREMAP_MAYMOVE | MREMAP_FIXED, Pointer(pages.first)) == MAP_FAILED) {
    Free(call, base, MemoryKind::kRegistered);
    return Fail(cudaErrorMemoryAllocation);
  }
  Allocation allocation = *FindAllocation(base);
  Forget(base);
  allocation.address = start + (host - pages.first);
  allocation.bytes = bytes;
  allocation.host = host;
  Track(allocation);
  return cudaSuccess;
}

cudaError_t Unregister(const char* call, const Allocation& allocation) {
  const Pages pages(allocation.host, allocation.bytes);
  void* own = mmap(nullptr, pages.length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (own == MAP_FAILED) return Fail(cudaErrorOperatingSystem);
  std::memcpy(own, Pointer(pages.first), pages.length);
  if (mremap(own, pages.length, pages.length, MREMAP_MAYMOVE | MREMAP_FIXED, Pointer(pages.first)) == MAP_FAILED) {
    munmap(own, pages.length);
    return Fail(cudaErrorOperatingSystem);
  }
  return Free(call, allocation.address, MemoryKind::kRegistered);
}

}  // namespace
}  // namespace heddle::cuda

using heddle::cuda::Allocation;
using heddle::cuda::Fail;
using heddle::cuda::Guard;
using heddle::cuda::MemoryKind;

extern "C" {

cudaError_t cudaMallocHost(void** pointer, size_t size) { return cudaHostAlloc(pointer, size, cudaHostAllocDefault); }

cudaError_t cudaHostAlloc(void** pointer, size_t size, unsigned int flags) {
  const Guard guard;
  if (pointer == nullptr || flags > 7) return Fail(cudaErrorInvalidValue);
  *pointer = nullptr;
  if (size == 0) return cudaSuccess;
  uint64_t address = 0;
  cudaError_t error = heddle::cuda::Allocate("cudaHostAlloc", size, MemoryKind::kHost, &address, flags);
  if (error == cudaSuccess) *pointer = reinterpret_cast<void*>(address);
  return error;
}

cudaError_t cudaFreeHost(void* pointer) {
  const Guard guard;
  if (pointer == nullptr) return cudaSuccess;
  return heddle::cuda::Free("cudaFreeHost", reinterpret_cast<uint64_t>(pointer), MemoryKind::kHost);
}

cudaError_t cudaHostRegister(void* pointer, size_t size, unsigned int flags) {
  const Guard guard;
  const auto host = reinterpret_cast<uint64_t>(pointer);
  if (pointer == nullptr || size == 0) return Fail(cudaErrorInvalidValue);
  if (heddle::device::DeviceClient::IsDeviceAddress(host) || heddle::cuda::FindRegistered(host) != nullptr ||
      heddle::cuda::FindRegistered(host + size - 1) != nullptr) {
    return Fail(cudaErrorHostMemoryAlreadyRegistered);
  }
  return heddle::cuda::Register("cudaHostRegister", host, size, flags);
}

cudaError_t cudaHostUnregister(void* pointer) {
  const Guard guard;
  const Allocation* allocation = heddle::cuda::FindRegistered(reinterpret_cast<uint64_t>(pointer));
  if (allocation == nullptr || allocation->host != reinterpret_cast<uint64_t>(pointer)) {
    return Fail(cudaErrorHostMemoryNotRegistered);
  }
  return heddle::cuda::Unregister("cudaHostUnregister", *allocation);
}

cudaError_t cudaHostGetDevicePointer(void** device_pointer, void* host_pointer, unsigned int flags) {
  const Guard guard;
  if (device_pointer == nullptr || flags != 0) return Fail(cudaErrorInvalidValue);
  const auto host = reinterpret_cast<uint64_t>(host_pointer);
  const Allocation* allocation = heddle::cuda::FindAllocation(host);
  if (allocation != nullptr && (allocation->kind == MemoryKind::kHost || allocation->kind == MemoryKind::kManaged)) {
    *device_pointer = host_pointer;
    return cudaSuccess;
  }
  allocation = heddle::cuda::FindRegistered(host);
  if (allocation == nullptr) return Fail(cudaErrorInvalidValue);
  *device_pointer = reinterpret_cast<void*>(allocation->address + (host - allocation->host));
  return cudaSuccess;
}

cudaError_t cudaHostGetFlags(unsigned int* flags, void* host_pointer) {
  const Guard guard;
  const auto host = reinterpret_cast<uint64_t>(host_pointer);
  const Allocation* allocation = heddle::cuda::FindAllocation(host);
  if (allocation == nullptr || allocation->kind != MemoryKind::kHost) allocation = heddle::cuda::FindRegistered(host);
  if (flags == nullptr || allocation == nullptr) return Fail(cudaErrorInvalidValue);
  *flags = allocation->flags | cudaHostAllocMapped;
  return cudaSuccess;
}

}  // extern "C"
