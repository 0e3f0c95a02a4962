// A memory policy of the tests only, which uses every freedom of its seam, at random.
#ifndef HEDDLE_TESTS_REPLAY_MEMORY_SM_RANDOM_MEMORY_POLICY_H_
#define HEDDLE_TESTS_REPLAY_MEMORY_SM_RANDOM_MEMORY_POLICY_H_

#include <array>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "replay/seams/memory_policy.h"

namespace heddle::replay {

// Deterministic in its calls: a memory that calls it once too often, too early or in another order gets other answers.
class RandomMemoryPolicy : public MemoryPolicy {
 public:
  enum Counter { kPlaced, kNotKept, kVictims, kAccesses, kFills, kUnusedLines, kEvictions, kWarpsSeen, kCounters };

  // What it wants follows from the seed, but for `all`: then it wants everything.
  RandomMemoryPolicy(uint64_t seed, uint32_t line_bytes, bool all = false) : random_(seed), line_bytes_(line_bytes) {
    interests_ = static_cast<uint32_t>(random_()) & kEverything;
    if (interests_ == 0 || all) interests_ = kEverything;
    not_kept_ = OneOf({0, 10, 50, 100});
    least_ = OneOf({0, 20, 60});
    prefetches_ = OneOf({0, 20, 80});
    limits_.places = OneOf({0, 1, 4, 16, 1000});
    limits_.mshrs = OneOf({0, 1, 4, 100});
  }

  uint32_t interests() const override { return interests_; }
  LinePlacement Place(const LineAccess& access, const CacheState& state) override {
    ++counters_[kPlaced];
    Log("place", access);
    Log(absl::StrCat(" state ", state.used_mshrs, "/", state.mshrs, " ", state.used_queue, "/", state.queue));
    const LinePlacement placement = Draw();
    if (placement == LinePlacement::kNoLine) ++counters_[kNotKept];
    return placement;
  }
  size_t Victim(const LineAccess& access, std::span<const CacheLine> lines) override {
    ++counters_[kVictims];
    Log("victim", access);
    for (const CacheLine& line : lines) Log("  of", line);
    return random_() % lines.size();
  }
  void Accessed(const LineAccess& access, LineResult result, PrefetchList& prefetches) override {
    ++counters_[kAccesses];
    Log("accessed", access);
    Log(absl::StrCat("  ", static_cast<int>(result)));
    while (Below(100) < prefetches_) {
      const uint64_t ahead = access.line_address + uint64_t{line_bytes_} * Below(6) + Below(line_bytes_);
      if (!prefetches.Add(ahead, Below(2) != 0 ? LinePlacement::kMostRecent : LinePlacement::kLeastRecent)) break;
    }
  }
  PrefetchLimits prefetch_limits() const override { return limits_; }
  void Filled(const CacheLine& line) override {
    ++counters_[kFills];
    Log("filled", line);
  }
  void Evicted(const CacheLine& line) override {
    ++counters_[kEvictions];
    if (line.hits == 0) ++counters_[kUnusedLines];
    Log("evicted", line);
  }
  void WarpsAdmitted(BlockId block, uint32_t first_hw_warp, uint32_t hw_warps) override {
    counters_[kWarpsSeen] += hw_warps;
    Log(absl::StrCat("warps ", first_hw_warp, " + ", hw_warps, " of ", block));
    random_.discard(first_hw_warp % 3);
  }
  void WarpEnded(uint32_t hw_warp) override {
    Log(absl::StrCat("end of ", hw_warp));
    random_.discard(hw_warp % 3);
  }
  void BlockRetired(BlockId block) override { Log(absl::StrCat("end of block ", block)); }
  std::span<const uint64_t> counters() const override { return counters_; }

  std::vector<std::string>* log = nullptr;  // of all calls, if it is set

 private:
  static constexpr uint32_t kEverything = kPlaces | kChoosesVictims | kLineAccesses | kLines | kWarps;

  uint32_t Below(uint32_t count) { return static_cast<uint32_t>(random_() % count); }
  uint32_t OneOf(std::initializer_list<uint32_t> choices) {
    return *(choices.begin() + Below(static_cast<uint32_t>(choices.size())));
  }
  LinePlacement Draw() {
    if (Below(100) < not_kept_) return LinePlacement::kNoLine;
    return Below(100) < least_ ? LinePlacement::kLeastRecent : LinePlacement::kMostRecent;
  }
  void Log(const std::string& text) {
    if (log != nullptr) log->push_back(text);
  }
  void Log(const char* what, const LineAccess& access) {
    if (log == nullptr) return;
    log->push_back(absl::StrCat(what, " at ", access.now, ": line ", access.line_address, " of set ", access.set,
                                ", pc ", access.pc, ", slot ", access.slot, ", hw_warp ", access.hw_warp, ", block ",
                                access.block, ", threads ", access.threads, ", kind ", static_cast<int>(access.kind)));
  }
  void Log(const char* what, const CacheLine& line) {
    if (log == nullptr) return;
    log->push_back(absl::StrCat(what, " line ", line.line_address, " by pc ", line.pc, ", slot ", line.slot,
                                ", hw_warp ", line.hw_warp, ", block ", line.block, ", hits ", line.hits,
                                line.dirty ? " dirty" : "", line.prefetched ? " prefetched" : ""));
  }

  std::mt19937_64 random_;
  const uint32_t line_bytes_;
  uint32_t interests_ = 0;
  uint32_t not_kept_ = 0;  // of a hundred misses
  uint32_t least_ = 0;     // of a hundred of the others
  uint32_t prefetches_ = 0;
  PrefetchLimits limits_;
  std::array<uint64_t, kCounters> counters_{};
};

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_REPLAY_MEMORY_SM_RANDOM_MEMORY_POLICY_H_
