#include "tracegen/execute/memory/device_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tracegen/execute/memory/host_pointer.h"
#include "tracegen/instrument/thread_context.h"
#include "traces/base/status_macros.h"

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

}  // namespace

absl::StatusOr<std::unique_ptr<DeviceMemory>> DeviceMemory::Create(Sharing sharing) {
  const bool shared = sharing != Sharing::kPrivate;
  std::unique_ptr<DeviceMemory> memory(new DeviceMemory);
  for (size_t i = 0; i < std::size(kRegions); ++i) {
    const Region& region = kRegions[i];
    int file = -1;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS;
    if (shared && (region.base == kGlobalBase || region.base == kConstantBase)) {
      const bool global = region.base == kGlobalBase;
      file = memfd_create(global ? "heddle-global" : "heddle-constant", MFD_CLOEXEC);
      if (file < 0 || ftruncate(file, static_cast<off_t>(region.bytes)) != 0) {
        return absl::ResourceExhaustedError(absl::StrCat("no file for the device's memory: ", strerror(errno)));
      }
      memory->files_[global ? 0 : 1] = file;
      flags = MAP_SHARED;
    }
    void* got = mmap(HostPointer(region.base), region.bytes, region.usable ? PROT_READ | PROT_WRITE : PROT_NONE,
                     flags | MAP_NORESERVE | MAP_FIXED_NOREPLACE, file, 0);
    if (got != HostPointer(region.base)) {
      int error = errno;
      for (size_t done = 0; done < i; ++done) munmap(HostPointer(kRegions[done].base), kRegions[done].bytes);
      static_cast<void>(memory.release());  // nothing left that its destructor could unmap
      return absl::ResourceExhaustedError(absl::StrCat("the device's memory cannot be placed at address 0x",
                                                       absl::Hex(region.base), ": ", strerror(error)));
    }
  }
  memory->next_ = kGlobalBase + kAlignment;  // null and small offsets from it stay invalid
  memory->capacity_ = sharing == Sharing::kApplication ? kApplicationBytes : kGlobalBytes - kTailSlack - kAlignment;
  return memory;
}

DeviceMemory::~DeviceMemory() {
  for (const Region& region : kRegions) munmap(HostPointer(region.base), region.bytes);
  for (int file : files_) {
    if (file >= 0) close(file);
  }
}

uint64_t DeviceMemory::TakePlace(uint64_t bytes) {
  for (auto place = free_.begin(); place != free_.end(); ++place) {
    const auto [start, end] = *place;
    if (end - start < bytes) continue;
    free_.erase(place);
    if (end - start > bytes) free_.emplace(start + bytes, end);
    return start;
  }
  if (bytes > kGlobalBase + kGlobalBytes - kTailSlack - next_) return 0;
  return std::exchange(next_, next_ + bytes);
}

absl::StatusOr<uint64_t> DeviceMemory::Allocate(uint64_t bytes, const std::string& name) {
  const uint64_t address = bytes > free_bytes() ? 0 : TakePlace(RoundUp(bytes + kSlack, kAlignment));
  if (address == 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("'", name, "' needs ", bytes, " bytes, but device memory has only ", free_bytes(), " left"));
  }
  const uint64_t end = RoundUp(address + bytes + kSlack, kAlignment);
  const uint64_t first_page = address / kPage * kPage;
  const uint64_t last_page = RoundUp(end == next_ ? end + kTailSlack : end, kPage);
  if (mprotect(HostPointer(first_page), last_page - first_page, PROT_READ | PROT_WRITE) != 0) {
    free_.emplace(address, end);
    return absl::ResourceExhaustedError(absl::StrCat("no memory for '", name, "' (", bytes, " bytes)"));
  }
  used_ += bytes;
  freed_.erase(freed_.lower_bound(address), freed_.lower_bound(end));
  allocations_[address] = {bytes, end, name};
  return address;
}

absl::Status DeviceMemory::Free(uint64_t address) {
  const auto found = allocations_.find(address);
  if (found == allocations_.end() || found->second.mapped) {
    return absl::InvalidArgumentError(
        absl::StrCat("0x", absl::Hex(address), " is not the start of an allocation: ", Describe(address)));
  }
  Range range = std::move(found->second);
  allocations_.erase(found);
  used_ -= range.bytes;
  // What is free is zero, and its whole pages take no memory.
  const uint64_t first_page = std::min(RoundUp(address, kPage), range.end);
  const uint64_t last_page = std::max(range.end / kPage * kPage, first_page);
  std::memset(HostPointer(address), 0, first_page - address);
  std::memset(HostPointer(last_page), 0, range.end - last_page);
  if (first_page < last_page) ClosePages(first_page, last_page - first_page);
  const uint64_t end = range.end;
  freed_[address] = std::move(range);
  GivePlace(address, end);
  return absl::OkStatus();
}

void DeviceMemory::ClosePages(uint64_t first_page, uint64_t bytes) {
  // A kernel that still uses them should fail. That they stay accessible is no harm, so errors do not matter (a process
  // has a bounded number of separate ranges).
  mprotect(HostPointer(first_page), bytes, PROT_NONE);
  if (files_[0] >= 0) {
    fallocate(files_[0], FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(first_page - kGlobalBase),
              static_cast<off_t>(bytes));
  } else {
    madvise(HostPointer(first_page), bytes, MADV_DONTNEED);
  }
}

void DeviceMemory::GivePlace(uint64_t start, uint64_t end) {
  // Joined with its free neighbours.
  auto after = free_.lower_bound(start);
  if (after != free_.end() && after->first == end) {
    end = after->second;
    after = free_.erase(after);
  }
  if (after != free_.begin() && std::prev(after)->second == start) {
    start = std::prev(after)->first;
    free_.erase(std::prev(after));
  }
  if (end == next_) {
    next_ = start;
  } else {
    free_.emplace(start, end);
  }
}

bool DeviceMemory::TakePlaceAt(uint64_t address, uint64_t bytes) {
  if (address >= next_ && address - kGlobalBase < kGlobalBytes - kTailSlack &&
      bytes <= kGlobalBase + kGlobalBytes - kTailSlack - address) {
    const uint64_t start = std::exchange(next_, address + bytes);
    if (start != address) free_.emplace(start, address);
    return true;
  }
  auto place = free_.upper_bound(address);
  if (place == free_.begin()) return false;
  const auto [start, end] = *--place;
  if (address >= end || bytes > end - address) return false;
  free_.erase(place);
  if (start != address) free_.emplace(start, address);
  if (address + bytes != end) free_.emplace(address + bytes, end);
  return true;
}

absl::StatusOr<uint64_t> DeviceMemory::Reserve(uint64_t bytes, uint64_t alignment, uint64_t wanted) {
  if (bytes == 0 || bytes % kPage != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) {
    return absl::InvalidArgumentError(absl::StrCat("a reservation of ", bytes, " bytes aligned to ", alignment,
                                                   ": whole pages are needed, and a power of two"));
  }
  alignment = std::max(alignment, kPage);
  uint64_t address = wanted;
  if (wanted == 0 || wanted % alignment != 0 || !TakePlaceAt(wanted, bytes)) {
    // A place that holds an aligned one, of which the rest is given back.
    const uint64_t place = bytes > kGlobalBytes - alignment ? 0 : TakePlace(bytes + alignment);
    if (place == 0) {
      return absl::ResourceExhaustedError(absl::StrCat("no ", bytes, " bytes of addresses are free"));
    }
    address = RoundUp(place, alignment);
    if (address != place) GivePlace(place, address);
    GivePlace(address + bytes, place + bytes + alignment);
  }
  // The slack behind an allocation may have been open.
  mprotect(HostPointer(address), bytes, PROT_NONE);
  freed_.erase(freed_.lower_bound(address), freed_.lower_bound(address + bytes));
  reserved_[address] = address + bytes;
  return address;
}

absl::Status DeviceMemory::Release(uint64_t address) {
  const auto found = reserved_.find(address);
  if (found == reserved_.end()) {
    return absl::InvalidArgumentError(absl::StrCat("0x", absl::Hex(address), " is not the start of a reservation"));
  }
  if (const auto first = allocations_.lower_bound(address);
      first != allocations_.end() && first->first < found->second) {
    return absl::FailedPreconditionError(
        absl::StrCat("memory is still mapped at 0x", absl::Hex(first->first), " of this reservation"));
  }
  const uint64_t end = found->second;
  reserved_.erase(found);
  GivePlace(address, end);
  return absl::OkStatus();
}

absl::Status DeviceMemory::Map(uint64_t address, uint64_t bytes, const std::string& name) {
  const auto behind = reserved_.upper_bound(address);
  const uint64_t end = behind == reserved_.begin() ? 0 : std::prev(behind)->second;
  const bool reserved = address < end && bytes <= end - address;
  if (!reserved || bytes == 0 || address % kPage != 0 || bytes % kPage != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(bytes, " bytes at 0x", absl::Hex(address), " are not whole pages of one reservation"));
  }
  auto next = allocations_.lower_bound(address + bytes);
  if (next != allocations_.begin() && std::prev(next)->second.end > address) {
    return absl::InvalidArgumentError(
        absl::StrCat("memory is mapped already at 0x", absl::Hex(std::prev(next)->first)));
  }
  if (bytes > free_bytes() || mprotect(HostPointer(address), bytes, PROT_READ | PROT_WRITE) != 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("'", name, "' needs ", bytes, " bytes, but device memory has only ", free_bytes(), " left"));
  }
  used_ += bytes;
  freed_.erase(freed_.lower_bound(address), freed_.lower_bound(address + bytes));
  allocations_[address] = {bytes, address + bytes, name, /*mapped=*/true};
  return absl::OkStatus();
}

absl::Status DeviceMemory::Unmap(uint64_t address) {
  const auto found = allocations_.find(address);
  if (found == allocations_.end() || !found->second.mapped) {
    return absl::InvalidArgumentError(absl::StrCat("no memory is mapped at 0x", absl::Hex(address)));
  }
  Range range = std::move(found->second);
  allocations_.erase(found);
  used_ -= range.bytes;
  ClosePages(address, range.bytes);
  freed_[address] = std::move(range);
  return absl::OkStatus();
}

uint64_t DeviceMemory::OpenEnd(const Range& range) const {
  if (range.mapped) return range.end;
  return RoundUp(range.end == next_ ? range.end + kTailSlack : range.end, kPage);
}

std::string DeviceMemory::Describe(uint64_t address) const {
  const auto around = [address](const std::map<uint64_t, Range>& ranges) {
    auto next = ranges.upper_bound(address);
    if (next == ranges.begin()) return ranges.end();
    return std::prev(next);
  };
  const auto place = [address](uint64_t start, const Range& range) {
    if (address - start < range.bytes) {
      return absl::StrCat("byte ", address - start, " of '", range.name, "' (", range.bytes, " bytes)");
    }
    return absl::StrCat(address - start - range.bytes, " bytes behind the end of '", range.name, "' (", range.bytes,
                        " bytes)");
  };
  if (const auto freed = around(freed_); freed != freed_.end() && address < freed->second.end) {
    return absl::StrCat(place(freed->first, freed->second),
                        freed->second.mapped ? ", which has been unmapped" : ", which has been freed");
  }
  if (const auto next = reserved_.upper_bound(address);
      next != reserved_.begin() && address < std::prev(next)->second) {
    const auto mapped = around(allocations_);
    if (mapped == allocations_.end() || address >= mapped->second.end) {
      return "in reserved addresses where no memory is mapped";
    }
  }
  if (const auto live = around(allocations_);
      live != allocations_.end() && address < live->second.end + (uint64_t{1} << 20)) {
    return place(live->first, live->second);
  }
  return "where nothing is allocated";
}

absl::Status DeviceMemory::MapGlobal(int flags) const {
  const auto failed = [] {
    return absl::ResourceExhaustedError(absl::StrCat("device memory cannot be mapped: ", strerror(errno)));
  };
  if (mmap(HostPointer(kGlobalBase), kGlobalBytes, PROT_NONE, flags | MAP_NORESERVE | MAP_FIXED, files_[0], 0) ==
      MAP_FAILED) {
    return failed();
  }
  for (const auto& [address, range] : allocations_) {
    const uint64_t first_page = address / kPage * kPage;
    const uint64_t last_page = OpenEnd(range);
    if (mprotect(HostPointer(first_page), last_page - first_page, PROT_READ | PROT_WRITE) != 0) return failed();
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<DeviceMemory::Scratch>> DeviceMemory::MakeScratch() {
  if (files_[0] < 0) return absl::FailedPreconditionError("device memory without a file cannot be copied");
  std::unique_ptr<Scratch> scratch(new Scratch(*this));  // maps the memory itself again, also after an error
  HEDDLE_RETURN_IF_ERROR(MapGlobal(MAP_PRIVATE));
  return scratch;
}

void DeviceMemory::Scratch::Reset() {
  madvise(HostPointer(kGlobalBase), memory_.accessible_end() - kGlobalBase, MADV_DONTNEED);
}

DeviceMemory::Scratch::~Scratch() {
  // Without its memory the process has nothing left to do.
  if (!memory_.MapGlobal(MAP_SHARED).ok()) std::abort();
}

uint64_t DeviceMemory::accessible_end() const { return RoundUp(next_ + kTailSlack, kPage); }

absl::StatusOr<char*> DeviceMemory::MapAgain() const {
  if (files_[0] < 0) return absl::FailedPreconditionError("device memory without a file has one view");
  void* view =
      mmap(nullptr, accessible_end() - kGlobalBase, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, files_[0], 0);
  if (view == MAP_FAILED) {
    return absl::ResourceExhaustedError(absl::StrCat("device memory cannot be mapped again: ", strerror(errno)));
  }
  return static_cast<char*>(view);
}

std::vector<trace::v1::Allocation> DeviceMemory::allocations() const {
  std::vector<trace::v1::Allocation> list;
  for (const auto& [address, range] : allocations_) {
    trace::v1::Allocation& allocation = list.emplace_back();
    allocation.set_base(address);
    allocation.set_bytes(range.bytes);
    allocation.set_name(range.name);
  }
  return list;
}

absl::Status DeviceMemory::MapLocal(uint32_t threads) {
  for (; local_threads_ < threads; ++local_threads_) {
    if (mprotect(HostPointer(kLocalBase + local_threads_ * kLocalStride), kLocalBytes, PROT_READ | PROT_WRITE) != 0) {
      return absl::ResourceExhaustedError("no memory for local arrays");
    }
  }
  return absl::OkStatus();
}

trace::v1::AddressWindow DeviceMemory::ClusterWindow() {
  trace::v1::AddressWindow window;
  window.set_space(trace::v1::SPACE_CLUSTER_SHARED);
  window.set_base(kClusterBase);
  window.set_bytes(kClusterBytes);
  return window;
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
