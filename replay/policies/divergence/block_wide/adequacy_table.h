// CAPRI's compaction-adequacy prediction table.
#ifndef HEDDLE_REPLAY_POLICIES_DIVERGENCE_BLOCK_WIDE_ADEQUACY_TABLE_H_
#define HEDDLE_REPLAY_POLICIES_DIVERGENCE_BLOCK_WIDE_ADEQUACY_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "replay/seams/types.h"

namespace heddle::replay {

// How a branch's history becomes a prediction (Rhu and Erez, sections 3.1 and 3.3).
enum class AdequacyHistory : uint8_t {
  kLatest,  // one bit: the latest result
  kSticky,  // one bit: set when a warp diverges at the branch, never cleared
  kTwoBit,  // a saturating counter; 2 and 3 predict that compaction is adequate
};

// Fully associative, tagged with the branch's PC, least recently used out first. A look-up by a diverged warp is a use,
// training is not.
class AdequacyTable {
 public:
  struct Entry {
    Pc branch = 0;
    uint8_t history = 0;
    uint64_t used = 0;
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  enum class Found : uint8_t { kHit, kMiss, kMissEvicted };

  // `capacity` 0: unlimited.
  AdequacyTable(size_t capacity, AdequacyHistory history) : capacity_(capacity), history_(history) {
    entries_.reserve(capacity);
  }

  // A warp has diverged at the branch. A branch that is not in the table enters it as adequate.
  Found Touch(Pc branch, bool& adequate) {
    Found found = Found::kHit;
    Entry* entry = Find(branch);
    if (entry == nullptr) {
      entry = &Insert(branch, found);
    }
    if (history_ == AdequacyHistory::kSticky) entry->history = 1;
    entry->used = ++uses_;
    adequate = Adequate(*entry);
    return found;
  }

  // A compaction of the branch was evaluated. Branches that are not in the table are ignored: false.
  bool Train(Pc branch, bool adequate) {
    Entry* const entry = Find(branch);
    if (entry == nullptr) return false;
    switch (history_) {
      case AdequacyHistory::kLatest:
        entry->history = adequate ? 1 : 0;
        break;
      case AdequacyHistory::kSticky:
        break;
      case AdequacyHistory::kTwoBit:
        if (adequate && entry->history < 3) ++entry->history;
        if (!adequate && entry->history > 0) --entry->history;
        break;
    }
    return true;
  }

  bool Adequate(const Entry& entry) const {
    return history_ == AdequacyHistory::kTwoBit ? entry.history >= 2 : entry.history != 0;
  }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  Entry* Find(Pc branch) {
    for (Entry& entry : entries_) {
      if (entry.branch == branch) return &entry;
    }
    return nullptr;
  }
  Entry& Insert(Pc branch, Found& found) {
    const uint8_t history = history_ == AdequacyHistory::kTwoBit ? 2 : 1;
    if (capacity_ == 0 || entries_.size() < capacity_) {
      found = Found::kMiss;
      return entries_.emplace_back(Entry{branch, history, 0});
    }
    found = Found::kMissEvicted;
    Entry* oldest = &entries_.front();
    for (Entry& entry : entries_) {
      if (entry.used < oldest->used) oldest = &entry;
    }
    *oldest = {branch, history, 0};
    return *oldest;
  }

  const size_t capacity_;
  const AdequacyHistory history_;
  std::vector<Entry> entries_;
  uint64_t uses_ = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_DIVERGENCE_BLOCK_WIDE_ADEQUACY_TABLE_H_
