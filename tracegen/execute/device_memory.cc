#include "tracegen/execute/device_memory.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "tracegen/instrument/thread_context.h"

namespace heddle::tracegen {
namespace {

constexpr uint64_t kAlignment = 512;
constexpr uint64_t kSlack = 512;
constexpr uint64_t kTailSlack = 64 << 10;  // behind the last allocation
constexpr uint64_t kPage = 4096;

struct Region {
  uint64_t base;
  uint64_t bytes;
  bool usable;
};
constexpr Region kRegions[] = {{kGlobalBase, kGlobalBytes, false},
                               {kSharedBase, kSharedBytes, true},
                               {kConstantBase, kConstantBytes, true},
                               {kParamBase, kParamBytes, true},
                               {kLocalBase, kLocalThreads* kLocalStride, false}};

uint64_t RoundUp(uint64_t value, uint64_t step) { return (value + step - 1) / step * step; }

void* At(uint64_t address) { return reinterpret_cast<void*>(address); }

}  // namespace

absl::StatusOr<std::unique_ptr<DeviceMemory>> DeviceMemory::Create() {
  std::unique_ptr<DeviceMemory> memory(new DeviceMemory);
  for (size_t i = 0; i < std::size(kRegions); ++i) {
    const Region& region = kRegions[i];
    void* got = mmap(At(region.base), region.bytes, region.usable ? PROT_READ | PROT_WRITE : PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (got != At(region.base)) {
      int error = errno;
      for (size_t done = 0; done < i; ++done) munmap(At(kRegions[done].base), kRegions[done].bytes);
      memory->mapped_ = 0;
      memory.release();  // nothing left that its destructor could unmap
      return absl::ResourceExhaustedError(absl::StrCat("the device's memory cannot be placed at address 0x",
                                                       absl::Hex(region.base), ": ", strerror(error)));
    }
  }
  memory->next_ = kGlobalBase + kAlignment;  // null and small offsets from it stay invalid
  memory->mapped_ = kGlobalBase;
  return memory;
}

DeviceMemory::~DeviceMemory() {
  for (const Region& region : kRegions) munmap(At(region.base), region.bytes);
}

absl::StatusOr<uint64_t> DeviceMemory::Allocate(uint64_t bytes, const std::string& name) {
  if (bytes > kGlobalBytes || next_ + bytes + kTailSlack > kGlobalBase + kGlobalBytes) {
    return absl::ResourceExhaustedError(absl::StrCat("'", name, "' needs ", bytes,
                                                     " bytes, but device memory has only ",
                                                     kGlobalBase + kGlobalBytes - next_, " left"));
  }
  uint64_t address = next_;
  next_ = RoundUp(address + bytes + kSlack, kAlignment);
  uint64_t end = RoundUp(next_ + kTailSlack, kPage);
  if (end > mapped_) {
    if (mprotect(At(mapped_), end - mapped_, PROT_READ | PROT_WRITE) != 0) {
      return absl::ResourceExhaustedError(absl::StrCat("no memory for '", name, "' (", bytes, " bytes)"));
    }
    mapped_ = end;
  }
  trace::v1::Allocation allocation;
  allocation.set_base(address);
  allocation.set_bytes(bytes);
  allocation.set_name(name);
  allocations_.push_back(std::move(allocation));
  return address;
}

absl::Status DeviceMemory::MapLocal(uint32_t threads) {
  for (; local_threads_ < threads; ++local_threads_) {
    if (mprotect(At(kLocalBase + local_threads_ * kLocalStride), kLocalBytes, PROT_READ | PROT_WRITE) != 0) {
      return absl::ResourceExhaustedError("no memory for local arrays");
    }
  }
  return absl::OkStatus();
}

std::vector<trace::v1::AddressWindow> DeviceMemory::Windows() {
  std::vector<trace::v1::AddressWindow> windows;
  auto add = [&windows](trace::v1::MemorySpace space, uint64_t base, uint64_t bytes) {
    trace::v1::AddressWindow window;
    window.set_space(space);
    window.set_base(base);
    window.set_bytes(bytes);
    windows.push_back(window);
  };
  add(trace::v1::SPACE_SHARED, kSharedBase, kSharedBytes);
  add(trace::v1::SPACE_CONSTANT, kConstantBase, kConstantBytes);
  add(trace::v1::SPACE_PARAM, kParamBase, kParamBytes);
  add(trace::v1::SPACE_LOCAL, kLocalBase, kLocalBytes);
  return windows;
}

}  // namespace heddle::tracegen
