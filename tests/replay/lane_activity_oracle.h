// The best that any regrouping of threads into warps could reach: a lower bound on the issues of every policy of the
// same scope, lane rule and swizzle (HARP, section 3.2 and Figure 4). It knows no order, no readiness, no capacity.
#ifndef HEDDLE_TESTS_REPLAY_LANE_ACTIVITY_ORACLE_H_
#define HEDDLE_TESTS_REPLAY_LANE_ACTIVITY_ORACLE_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "traces/format/program/program.h"

namespace heddle::replay {

// Counts executions by (scope, PC, lane). Call Add once for every instruction that a thread executes, then read
// warps().
//
// n(b, p, l) = executions of instruction p by the threads of scope b whose home lane is l. One lane serves one
// execution per warp, and lanes combine freely, so warps(b, p) = max over l of n(b, p, l); if threads may sit in any
// lane it is the sum over l divided by the warp size, rounded up.
class LaneActivityOracle {
 public:
  struct Options {
    uint32_t warp_size = 32;
    bool lane_fixed = true;
    bool swizzle_even_odd = false;  // home lane (t mod W) xor (t / W mod 2)
    // Scope: warps hold threads of one block; if false, all blocks passed in form one scope.
    bool scope_is_block = true;
    // Threads of the same scope and PC at different call depths cannot share a warp.
    bool by_depth = true;
  };

  explicit LaneActivityOracle(const Options& options) : options_(options) {}

  uint32_t HomeLane(uint32_t thread_in_block) const {
    const uint32_t static_warp = thread_in_block / options_.warp_size;
    const uint32_t lane = thread_in_block % options_.warp_size;
    // A warp of one lane has no neighbour to swap with.
    return options_.swizzle_even_odd && options_.warp_size > 1 ? lane ^ (static_warp & 1) : lane;
  }

  // Thread `thread_in_block` of `block` executes the instruction `times` times at `depth` calls below the kernel.
  void Add(uint64_t block, uint32_t thread_in_block, trace::Pc pc, uint32_t depth = 0, uint64_t times = 1) {
    std::vector<uint64_t>& lanes = executions_[{options_.scope_is_block ? block : 0, {pc, Depth(depth)}}];
    lanes.resize(options_.warp_size);
    lanes[HomeLane(thread_in_block)] += times;
    thread_instructions_ += times;
  }

  // Fewest issues of one instruction of one scope, by the rule above.
  uint64_t warps(uint64_t block, trace::Pc pc, uint32_t depth = 0) const {
    const auto it = executions_.find({options_.scope_is_block ? block : 0, {pc, Depth(depth)}});
    return it == executions_.end() ? 0 : Warps(it->second);
  }
  // Fewest issues of the whole program.
  uint64_t warps() const {
    uint64_t sum = 0;
    for (const auto& [key, lanes] : executions_) sum += Warps(lanes);
    return sum;
  }

  uint64_t thread_instructions() const { return thread_instructions_; }
  // Upper bound on lane activity in per cent; 0 if nothing was executed.
  double activity() const {
    const uint64_t slots = warps() * options_.warp_size;
    return slots == 0 ? 0 : 100.0 * static_cast<double>(thread_instructions_) / static_cast<double>(slots);
  }

 private:
  uint32_t Depth(uint32_t depth) const { return options_.by_depth ? depth : 0; }

  uint64_t Warps(const std::vector<uint64_t>& lanes) const {
    if (options_.lane_fixed) return *std::max_element(lanes.begin(), lanes.end());
    uint64_t sum = 0;
    for (const uint64_t count : lanes) sum += count;
    return (sum + options_.warp_size - 1) / options_.warp_size;
  }

  Options options_;
  std::map<std::pair<uint64_t, std::pair<trace::Pc, uint32_t>>, std::vector<uint64_t>> executions_;
  uint64_t thread_instructions_ = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_REPLAY_LANE_ACTIVITY_ORACLE_H_
