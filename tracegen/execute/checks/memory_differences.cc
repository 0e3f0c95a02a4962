#include "tracegen/execute/checks/memory_differences.h"

#include <algorithm>
#include <cstring>

namespace heddle::tracegen {

void MemoryDifferences::Keep(uint64_t address, uint64_t bytes) {
  kept_.emplace(address, std::string(reinterpret_cast<const char*>(address), bytes));
}

void MemoryDifferences::CompareRun() {
  std::vector<uint64_t>& run = runs_.emplace_back();
  for (const auto& [base, contents] : kept_) {
    const char* now = reinterpret_cast<const char*>(base);
    if (std::memcmp(now, contents.data(), contents.size()) == 0) continue;
    for (size_t i = 0; i < contents.size() && run.size() < kMostDifferent; ++i) {
      if (now[i] == contents[i]) continue;
      run.push_back(base + i);
      units_.insert(accesses_.UnitOf(base + i));
    }
  }
}

void MemoryDifferences::AddTo(const std::vector<trace::v1::Allocation>& allocations,
                              trace::v1::Certificate& certificate) const {
  for (const trace::v1::Allocation& allocation : allocations) {
    trace::v1::MemoryDifference most;
    for (const std::vector<uint64_t>& run : runs_) {
      const auto first = std::lower_bound(run.begin(), run.end(), allocation.base());
      const auto end = std::lower_bound(first, run.end(), allocation.base() + allocation.bytes());
      if (static_cast<uint64_t>(end - first) <= most.bytes()) continue;
      most.set_base(allocation.base());
      most.set_bytes(static_cast<uint64_t>(end - first));
      most.set_address(*first);
      const auto writer = writers_.find(accesses_.UnitOf(*first));
      if (writer != writers_.end()) most.set_writer(writer->second);
    }
    if (most.bytes() != 0) *certificate.add_memory() = most;
  }
}

}  // namespace heddle::tracegen
