#include "tracegen/execute/parallel/footprint.h"

#include <sys/mman.h>

#include <bit>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace heddle::tracegen {
namespace {

constexpr uint64_t kPage = 4096;
// Pages of the sets that Clear fills with zeros; more are given back to the system.
constexpr uint64_t kMostZeroed = 4096;

uint64_t RoundUp(uint64_t value, uint64_t step) { return (value + step - 1) / step * step; }

}  // namespace

absl::StatusOr<std::unique_ptr<Footprint>> Footprint::Create(uint64_t base, uint64_t bytes) {
  const uint64_t groups = RoundUp(bytes / 8 + 1, kGroups);
  const uint64_t total = 2 * groups + RoundUp(groups / kGroups, kPage);
  void* memory = mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no address space to note what blocks read and write: ", strerror(errno)));
  }
  return std::unique_ptr<Footprint>(new Footprint(base, bytes, static_cast<uint8_t*>(memory), groups));
}

Footprint::Footprint(uint64_t base, uint64_t bytes, uint8_t* memory, uint64_t groups)
    : base_(base),
      bytes_(bytes),
      groups_(groups),
      granules_(groups / kGroups),
      memory_(memory),
      read_(memory),
      written_(memory + groups),
      touched_(memory + 2 * groups) {}

Footprint::~Footprint() { munmap(memory_, 2 * groups_ + RoundUp(granules_, kPage)); }

void Footprint::Clear() {
  static_assert(kGroups == kPage);
  uint64_t pages = 0;
  for (uint64_t granule = 0; granule < granules_; ++granule) pages += touched_[granule] != 0 ? 2 : 0;
  if (pages > kMostZeroed && madvise(memory_, 2 * groups_ + RoundUp(granules_, kPage), MADV_REMOVE) == 0) return;
  for (uint64_t granule = 0; granule < granules_; ++granule) {
    if ((touched_[granule] & kReads) != 0) std::memset(read_ + granule * kGroups, 0, kGroups);
    if ((touched_[granule] & kWrites) != 0) std::memset(written_ + granule * kGroups, 0, kGroups);
    touched_[granule] = 0;
  }
}

bool Footprint::ReadsWhat(const Footprint& earlier) const {
  for (uint64_t granule = 0; granule < granules_; ++granule) {
    if ((touched_[granule] & kReads) == 0 || (earlier.touched_[granule] & kWrites) == 0) continue;
    for (uint64_t at = granule * kGroups; at < (granule + 1) * kGroups; at += 8) {
      uint64_t read;
      uint64_t written;
      std::memcpy(&read, read_ + at, 8);
      std::memcpy(&written, earlier.written_ + at, 8);
      if ((read & written) != 0) return true;
    }
  }
  return false;
}

void Footprint::CopyWritten(const char* from, char* to) const {
  for (uint64_t granule = 0; granule < granules_; ++granule) {
    if ((touched_[granule] & kWrites) == 0) continue;
    for (uint64_t group = granule * kGroups; group < (granule + 1) * kGroups; group += 8) {
      uint64_t written;
      std::memcpy(&written, written_ + group, 8);
      if (written == ~uint64_t{0}) {
        std::memcpy(to + group * 8, from + group * 8, 64);
        continue;
      }
      for (; written != 0; written &= written - 1) {
        const uint64_t byte = group * 8 + static_cast<uint64_t>(std::countr_zero(written));
        to[byte] = from[byte];
      }
    }
  }
}

}  // namespace heddle::tracegen
