// A second reading of HARP (Lashgar, Khonsari, Baniasadi, section 4), written from the paper by itself: sets of
// threads, one thread block, one scheduler, one step per cycle. It shares no code with the policy, and no data
// structure: the barrier table is searched way by way, as Figures 8 and 9 draw it. Slow; for comparison only.
#ifndef HEDDLE_TESTS_CONFORMANCE_HARP_MODEL_H_
#define HEDDLE_TESTS_CONFORMANCE_HARP_MODEL_H_

#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "tests/random/random_kernel.h"
#include "traces/format/program/program.h"

namespace heddle::replay {

class HarpModel {
 public:
  struct Options {
    uint32_t warp_size = 4;
    uint64_t pipeline = 1;   // cycles from issue to commit
    uint64_t memory = 10;    // the same of memory instructions
    size_t first_level = 8;  // 0: one table
    size_t ready_lookup = 8;
    size_t waiting_lookup = 8;
    size_t low_water = 2;
    bool low_water_counts_both = false;
    bool one_port = true;
    uint64_t lookup_delay = 1;
    uint64_t barrier_delay = 0;
    bool restamp = true;
    size_t sets = 8;
    size_t ways = 16;
  };
  struct Issue {
    uint64_t cycle = 0;
    uint32_t pc = 0;
    std::set<uint32_t> threads;
    friend auto operator<=>(const Issue&, const Issue&) = default;
  };

  // `threads`: what each thread of the block executes. No thread-block barriers.
  HarpModel(const trace::Program& program, const std::vector<std::vector<ScriptStep>>& threads, const Options& options);
  std::vector<Issue> Run();
  uint64_t barrier_misses() const { return misses_; }
  uint64_t waiting_merges() const { return waiting_merges_; }
  uint64_t ready_merges() const { return ready_merges_; }

 private:
  using Threads = std::set<uint32_t>;
  struct Place {
    uint32_t depth = 0;
    uint32_t pc = 0;
    friend auto operator<=>(const Place&, const Place&) = default;
  };
  struct Warp {
    Place at;
    Threads threads;
  };
  struct Waiting {
    uint64_t name = 0;
    Place at;
    Threads members, gathered;
    int pending = 0;
  };
  struct InFlight {
    uint64_t done = 0;
    Warp warp;
    std::map<uint64_t, Threads> shares;  // by name of the waiting entry
  };
  struct Slot {
    uint32_t thread = 0;
    bool reached = false;
  };
  struct Barrier {
    Place rpc;
    std::map<uint32_t, Slot> lanes;
  };
  using Way = std::pair<size_t, size_t>;  // set, way

  uint32_t Lane(uint32_t thread) const { return thread % options_.warp_size; }
  size_t SetOf(uint32_t thread) const { return thread / options_.warp_size % options_.sets; }
  Place At(uint32_t thread) const;
  bool LaneFree(const Threads& threads, uint32_t thread) const;
  bool UsesWaitingLookup(uint32_t pc) const;

  void Commit(const InFlight& in_flight);
  void GoOn(const Threads& threads, bool has_rpc, Place rpc);
  void Reserve(const Threads& threads, Place rpc);
  // Threads that no barrier waits for.
  Threads Arrive(Place at, const Threads& threads);
  void Leave(const Threads& exited);
  void Revive(const std::map<uint32_t, Way>& touched);
  void Merge(Warp warp);
  void Ready(const Warp& warp);
  void Fill();
  void Transitions(uint64_t now);
  void IssueOne(uint64_t now, std::vector<Issue>& issues);

  const trace::Program& program_;
  const std::vector<std::vector<ScriptStep>>& steps_;
  const Options options_;
  std::vector<size_t> next_;
  std::vector<std::vector<uint32_t>> calls_;  // by thread: blocks whose continuation is pending
  std::deque<Warp> first_, second_, ready_lookup_, revived_;
  std::deque<std::pair<uint64_t, Warp>> arriving_;
  std::deque<Waiting> waiting_;
  std::vector<InFlight> in_flight_;  // in order of issue
  std::map<Way, Barrier> barriers_;
  uint64_t now_ = 0;
  uint64_t names_ = 0;
  uint64_t misses_ = 0;
  uint64_t waiting_merges_ = 0;
  uint64_t ready_merges_ = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_CONFORMANCE_HARP_MODEL_H_
