#include "tracegen/execute/checks/shared_check.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace heddle::tracegen {

SharedMemoryCheck::SharedMemoryCheck(const trace::Program& program, uint32_t threads, uint32_t shared_bytes,
                                     std::vector<uint32_t> constants, const trace::Clusters& clusters)
    : shared_bytes_(shared_bytes),
      clusters_(clusters),
      paths_(clusters.blocks(), SharedPaths(program, threads)),
      hand_offs_(clusters.blocks() * SharedAccesses::UnitCount(shared_bytes, paths_[0].unit_bits()),
                 paths_[0].has_atomics(), std::move(constants)),
      uninitialized_(threads, SharedAccesses::UnitCount(shared_bytes, paths_[0].unit_bits())) {
  const uint32_t units = clusters.blocks() * SharedAccesses::UnitCount(shared_bytes, paths_[0].unit_bits());
  if (clusters.have_several_blocks()) of_clusters_.emplace(clusters.blocks(), units);
}

absl::Status SharedMemoryCheck::AddBlock(uint64_t block, BlockRecords& records, std::span<const uint64_t> consumed,
                                         bool last) {
  const uint32_t rank = clusters_.have_several_blocks() ? clusters_.RankOf(block) : 0;
  SharedPaths& paths = paths_[rank];
  paths.Walk(records, last);
  const SharedAccesses accesses{paths, records, consumed, shared_bytes_, clusters_.blocks(), rank};
  const bool looks_at_stores = block % kStoresSampled == 0;
  for (uint32_t warp = 0; warp * kWarpWidth < paths.threads(); ++warp) {
    hand_offs_.Find(accesses, warp, looks_at_stores);
  }
  if (of_clusters_.has_value()) {
    of_clusters_->LookAt(accesses, block, last);
  } else {
    uninitialized_.LookAt(accesses, block);
  }
  return absl::OkStatus();
}

std::optional<trace::Pc> SharedMemoryCheck::unwaited() const {
  std::optional<trace::Pc> first;
  for (const SharedPaths& paths : paths_) {
    if (paths.unwaited().has_value()) first = std::min(*paths.unwaited(), first.value_or(*paths.unwaited()));
  }
  return first;
}

// Words: how many pairs; 1 + the copy that was not waited for, 0 = none; pairs of instructions and their counts, three
// each; then, if there is one, the first load of what is not initialized.
std::string SharedMemoryCheck::TakeFindings() {
  std::vector<uint64_t> words = {hand_offs().size(), unwaited().has_value() ? uint64_t{1} + *unwaited() : 0};
  for (const auto& [pair, count] : hand_offs()) words.insert(words.end(), {pair.first, pair.second, count});
  if (uninitialized().has_value()) {
    words.insert(words.end(), {uninitialized()->pc, uninitialized()->block, uninitialized()->thread});
  }
  hand_offs_.Clear();
  uninitialized_.Clear();
  for (SharedPaths& paths : paths_) paths.StartOver();
  return std::string(reinterpret_cast<const char*>(words.data()), words.size() * sizeof(uint64_t));
}

void SharedMemoryCheck::AddFindings(std::string_view findings) {
  std::vector<uint64_t> words(findings.size() / sizeof(uint64_t));
  std::memcpy(words.data(), findings.data(), words.size() * sizeof(uint64_t));
  if (words[1] != 0) paths_[0].NoteUnwaited(static_cast<trace::Pc>(words[1] - 1));
  const uint64_t* next = words.data() + 2;
  for (uint64_t i = 0; i < words[0]; ++i, next += 3) {
    hand_offs_.Add({static_cast<trace::Pc>(next[0]), static_cast<trace::Pc>(next[1])}, next[2]);
  }
  if (uninitialized().has_value() || next == words.data() + words.size()) return;
  uninitialized_.Set({static_cast<trace::Pc>(next[0]), next[1], static_cast<uint32_t>(next[2])});
}

}  // namespace heddle::tracegen
