// PCAL: priority-based cache allocation.
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "replay/seams/memory_policy.h"

namespace heddle::replay {
namespace {

// Li et al., HPCA 2015: of the warps of an SM, some hold a priority token. Their misses take lines of the L1 data
// cache; the misses of the others go past it. All may hit. The oldest warps hold the tokens, each until it ends, and
// then the oldest that has none gets it. docs/policies/pcal.md has the rules, and says which are ours.
class PriorityCacheAllocation final : public MemoryPolicy {
 public:
  PriorityCacheAllocation(const MemoryContext& context, const Parameters& parameters)
      : dynamic_(parameters.Choice("tokens_by") == "search"),
        window_(dynamic_ ? static_cast<Cycle>(parameters.Integer("window")) : 0),
        hold_windows_(dynamic_ ? static_cast<uint64_t>(parameters.Integer("hold_windows")) : 0),
        hw_warps_(static_cast<size_t>(context.max_threads / context.warp_size)),
        holds_(hw_warps_, false) {
    by_age_.reserve(hw_warps_);
    if (!dynamic_) {
      SetTokens(static_cast<size_t>(parameters.Integer("tokens")));
      return;
    }
    for (size_t tokens = 1; tokens < hw_warps_; tokens *= 2) tried_.push_back(tokens);
    tried_.push_back(hw_warps_);
    Begin(tried_.size() - 1);
    window_end_ = window_;
  }

  uint32_t interests() const override { return kPlaces | kWarps | (dynamic_ ? kLineAccesses : 0u); }

  LinePlacement Place(const LineAccess& access, const CacheState&) override {
    const bool holds = access.hw_warp >= hw_warps_ || holds_[access.hw_warp];
    ++counters_[holds ? kWithToken : kWithoutToken];
    return holds ? LinePlacement::kMostRecent : LinePlacement::kNoLine;
  }

  // The search: every number of tokens for a window, from all warps down; then the best for some windows.
  void Accessed(const LineAccess& access, LineResult, PrefetchList&) override {
    if (access.now >= window_end_) EndWindow(access.now);
    ++accesses_;
  }

  void WarpsAdmitted(BlockId, uint32_t first_hw_warp, uint32_t hw_warps) override {
    for (uint32_t hw_warp = first_hw_warp; hw_warp < first_hw_warp + hw_warps; ++hw_warp) {
      std::erase(by_age_, static_cast<uint16_t>(hw_warp));
      by_age_.push_back(static_cast<uint16_t>(hw_warp));
    }
    GiveTokens();
  }
  void WarpEnded(uint32_t hw_warp) override {
    std::erase(by_age_, static_cast<uint16_t>(hw_warp));
    GiveTokens();
  }

  std::span<const uint64_t> counters() const override { return counters_; }

 private:
  enum Counter { kWithToken, kWithoutToken, kWindows, kTokensHeld, kCounters };

  // The oldest warps hold them.
  void GiveTokens() {
    std::fill(holds_.begin(), holds_.end(), false);
    for (size_t i = 0; i < std::min(tokens_, by_age_.size()); ++i) holds_[by_age_[i]] = true;
  }
  void SetTokens(size_t tokens) {
    tokens_ = tokens;
    GiveTokens();
  }

  // A window with the number of tokens `place`.
  void Begin(size_t place) {
    place_ = place;
    accesses_ = 0;
    SetTokens(tried_[place]);
  }
  void EndWindow(Cycle now) {
    ++counters_[kWindows];
    counters_[kTokensHeld] += tokens_;
    // Windows without an access say nothing of their tokens.
    window_end_ = now / window_ * window_ + window_;
    if (held_ != 0) {
      if (--held_ == 0) {
        most_ = 0;
        Begin(tried_.size() - 1);
      }
      return;
    }
    if (accesses_ > most_) {
      most_ = accesses_;
      best_ = place_;
    }
    if (place_ != 0) return Begin(place_ - 1);
    Begin(best_);
    held_ = hold_windows_;
  }

  const bool dynamic_;
  const Cycle window_;
  const uint64_t hold_windows_;
  const size_t hw_warps_;
  std::vector<bool> holds_;       // by hardware warp
  std::vector<uint16_t> by_age_;  // hardware warps with a live warp, the oldest first
  size_t tokens_ = 0;
  // The search.
  std::vector<size_t> tried_;  // numbers of tokens, ascending
  size_t place_ = 0;           // in tried_: of this window
  size_t best_ = 0;
  uint64_t accesses_ = 0;  // line accesses that were made in this window
  uint64_t most_ = 0;      // of the windows of this search
  uint64_t held_ = 0;      // windows that are left of the best number; 0: it is searched for
  Cycle window_end_ = kNever;
  std::array<uint64_t, kCounters> counters_{};
};

HEDDLE_MEMORY_POLICY(
    PolicyInfo{
        .name = "pcal",
        .summary = "Only the misses of warps that hold a token take lines; those of others go past the L1",
        .source = "Li et al. (PCAL), HPCA 2015",
        .parameters = {{.name = "tokens_by",
                        .type = ParameterType::kChoice,
                        .default_value = "number",
                        .choices = {"number", "search"},
                        .description = "a fixed number of tokens, or the best of several, tried in turn",
                        .source = "static and dynamic PCAL; the search is ours"},
                       {.name = "tokens",
                        .type = ParameterType::kInteger,
                        .default_value = "8",
                        .unit = "warps",
                        .minimum = 0,
                        .maximum = 4096,
                        .only_if = "tokens_by=number",
                        .description = "warps of an SM that hold a token; more than there are: all",
                        .source = "our choice: the paper tunes it for every program"},
                       {.name = "window",
                        .type = ParameterType::kInteger,
                        .default_value = "2000",
                        .unit = "cycles",
                        .minimum = 1,
                        .maximum = 1000000000,
                        .only_if = "tokens_by=search",
                        .description = "for which a number of tokens is tried",
                        .source = "our choice"},
                       {.name = "hold_windows",
                        .type = ParameterType::kInteger,
                        .default_value = "50",
                        .unit = "windows",
                        .minimum = 1,
                        .maximum = 1000000,
                        .only_if = "tokens_by=search",
                        .description = "for which the best number is kept before it is searched for again",
                        .source = "our choice"}},
        .counters = {{"with_token", "accesses", "loads and stores of warps that held a token, or of no warp"},
                     {"without_token", "accesses", "loads and stores of warps that held none"},
                     {"windows", "windows", "that ended with an access behind them"},
                     {"tokens_held", "warps", "sum over these windows of the number of tokens"}},
    },
    [](const MemoryContext& context, const Parameters& parameters) {
      return std::make_unique<PriorityCacheAllocation>(context, parameters);
    });

}  // namespace
}  // namespace heddle::replay
