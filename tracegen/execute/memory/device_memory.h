// The device's memory: windows at fixed addresses, so that traces are reproducible.
#ifndef HEDDLE_TRACEGEN_EXECUTE_MEMORY_DEVICE_MEMORY_H_
#define HEDDLE_TRACEGEN_EXECUTE_MEMORY_DEVICE_MEMORY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/trace.pb.h"

namespace heddle::tracegen {

// One per process at a time: the addresses are fixed.
class DeviceMemory {
 public:
  // Who sees the global and the constant window: this process alone, or others too, through memory files: processes
  // that it forks, or the traced application.
  enum class Sharing { kPrivate, kWorkers, kApplication };
  // What an application may have allocated at once, as on a device with 16 GiB.
  static constexpr uint64_t kApplicationBytes = uint64_t{16} << 30;

  // Errors: the address range is taken, which happens when another instance lives; no memory files.
  static absl::StatusOr<std::unique_ptr<DeviceMemory>> Create(Sharing sharing = Sharing::kPrivate);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  // Zeroed global memory, aligned to 512 bytes, with some slack behind it: real programs read a little past the end.
  // The lowest free addresses are taken.
  absl::StatusOr<uint64_t> Allocate(uint64_t bytes, const std::string& name);
  // Gives an allocation back. Its pages become inaccessible to kernels. Errors: no allocation starts there.
  absl::Status Free(uint64_t address);
  // Takes addresses without memory behind them: a whole number of pages, aligned to `alignment` (a power of two), at
  // `wanted` if that is free. Accesses there fail. Errors: no such place.
  absl::StatusOr<uint64_t> Reserve(uint64_t bytes, uint64_t alignment, uint64_t wanted);
  // Gives reserved addresses back. Errors: no reservation starts there, or memory is still mapped into it.
  absl::Status Release(uint64_t address);
  // Puts zeroed memory at a range of pages within a reservation; it is an allocation like others, without slack.
  // Errors: a range that is not whole pages of one reservation, or where memory is mapped already; no memory left.
  absl::Status Map(uint64_t address, uint64_t bytes, const std::string& name);
  // Takes it away again, contents included. Errors: no mapping starts there.
  absl::Status Unmap(uint64_t address);

  // What lies, or lay, at an address that a kernel may not access: "in 'a', which has been freed".
  std::string Describe(uint64_t address) const;
  // Makes local memory usable for the first `threads` threads of a block.
  absl::Status MapLocal(uint32_t threads);

  // While it lives, global memory is a private copy, in which kernels may write without the application or later
  // launches seeing it. Only with memory files, one at a time, and without allocations meanwhile. Pages are copied when
  // they are written.
  class Scratch {
   public:
    ~Scratch();
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    // Everything is again as it was when the copy began.
    void Reset();

   private:
    friend class DeviceMemory;
    explicit Scratch(const DeviceMemory& memory) : memory_(memory) {}
    const DeviceMemory& memory_;
  };
  // Errors: memory without files; the copy cannot be mapped.
  absl::StatusOr<std::unique_ptr<Scratch>> MakeScratch();

  // A second view of global memory up to accessible_end(), which sees and changes what the files hold, whatever copy is
  // in the window. It stays as long as the process. Errors: memory without files; it cannot be mapped.
  absl::StatusOr<char*> MapAgain() const;
  // Behind every address that kernels may access.
  uint64_t accessible_end() const;

  // Those that are not freed, ascending by address.
  std::vector<trace::v1::Allocation> allocations() const;
  // Bytes that can still be allocated.
  uint64_t free_bytes() const { return capacity_ - used_; }
  uint64_t capacity() const { return capacity_; }
  // The memory files; -1 without sharing.
  int global_file() const { return files_[0]; }
  int constant_file() const { return files_[1]; }
  // The windows as a trace's header lists them.
  static std::vector<trace::v1::AddressWindow> Windows();
  // That of clusters, which only traces with clusters of several blocks list.
  static trace::v1::AddressWindow ClusterWindow();

 private:
  struct Range {
    uint64_t bytes = 0;  // asked for
    uint64_t end = 0;    // of its place, with slack
    std::string name;
    bool mapped = false;  // into a reservation
  };

  DeviceMemory() = default;
  // Maps the memory file over the global window, with MAP_SHARED or MAP_PRIVATE, and opens what is allocated.
  absl::Status MapGlobal(int flags) const;
  // Takes a place of `bytes`, the lowest that is free. 0 if there is none.
  uint64_t TakePlace(uint64_t bytes);
  // TakePlace for a place that starts at `address`. False if it is not free.
  bool TakePlaceAt(uint64_t address, uint64_t bytes);
  // Gives a place back.
  void GivePlace(uint64_t start, uint64_t end);
  // Zeroes pages, closes them, and gives their memory back.
  void ClosePages(uint64_t first_page, uint64_t bytes);
  // Up to where pages of an allocation are open.
  uint64_t OpenEnd(const Range& range) const;

  uint64_t next_ = 0;  // behind it everything is free
  uint64_t capacity_ = 0;
  uint64_t used_ = 0;
  uint32_t local_threads_ = 0;
  int files_[2] = {-1, -1};
  std::map<uint64_t, Range> allocations_;
  std::map<uint64_t, Range> freed_;        // what was last at places that are free now, for messages
  std::map<uint64_t, uint64_t> free_;      // start to end, below next_
  std::map<uint64_t, uint64_t> reserved_;  // start to end
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_MEMORY_DEVICE_MEMORY_H_
