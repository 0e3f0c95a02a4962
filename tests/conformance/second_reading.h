// A second reading of thread block compaction and CAPRI, written from the paper (Rhu and Erez, ISCA 2012, sections 2.2
// and 3) and nothing else of this repository: sets of threads instead of masks, no formation, no editor, no seams.
#ifndef HEDDLE_TESTS_CONFORMANCE_SECOND_READING_H_
#define HEDDLE_TESTS_CONFORMANCE_SECOND_READING_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/random/random_kernel.h"

namespace heddle::replay {

// One block of threads on a machine that issues one warp per cycle, first ready first. No barriers.
class SecondReading {
 public:
  enum class Mechanism { kTbc, kTbcPlus, kCapri };
  enum class History { kLatest, kSticky, kTwoBit };
  struct Options {
    Mechanism mechanism = Mechanism::kTbc;
    int warp_size = 4;
    size_t table_entries = 32;
    History history = History::kLatest;
    bool never_stall = false;
    // Cycles of an instruction of a thread; a warp takes those of its slowest thread.
    std::function<uint32_t(uint32_t thread, uint32_t pc)> latency = {};
  };

  SecondReading(const RandomKernel& kernel, const Options& options);
  // One line per issue: "cycle pc thread thread ...", threads in the order of their lanes.
  std::vector<std::string> Run();

 private:
  using Place = std::pair<uint32_t, uint32_t>;  // call depth, PC
  static constexpr Place kNowhere{~0u, ~0u};
  using Threads = std::set<uint32_t>;

  struct Level;
  struct Warp {
    Threads threads;
    Level* level = nullptr;
    bool ahead = false;  // has bypassed and runs before its level does
  };
  // What a warp found at the end of a basic block.
  struct BlockEnd {
    Warp* warp = nullptr;
    uint32_t pc = 0;
    std::map<Place, Threads> ways;
    Place join = kNowhere;
  };
  // A line of the stack, or one that is being prepared for it.
  struct Level {
    Place next = kNowhere;
    Place rpc = kNowhere;
    Threads active;
    uint32_t wcnt = 0;
    bool running = false;
    bool taken = false;
    std::vector<Warp*> early;     // run, or have run, ahead of it
    std::vector<BlockEnd> late;   // what those found at the end of their block
    std::vector<Threads> whole;   // sides of bypassed warps that wait for it
    std::vector<uint32_t> lanes;  // predictor: threads per lane
    uint32_t before = 0;          // warps before compaction
    // --- of the branch that its warps are executing
    std::list<Level> coming;
    uint32_t branch = 0;
    bool conditional = false;
    Place join = kNowhere;
  };

  bool EndsBlock(uint32_t pc, bool& conditional, bool& jump, bool& uniform) const;
  Place JoinOf(uint32_t pc, uint32_t thread) const;
  void Complete(Warp* warp);
  void Do(const BlockEnd& end);
  void AtBranch(const BlockEnd& end, bool conditional);
  bool Stalls(uint32_t branch, bool diverged);
  void Leave(Level* level);
  void Resolve(Level* level);
  void Activate();
  void Drop(Level* level);
  std::vector<Threads> Compact(const Threads& threads) const;
  void Ready(Warp* warp) { ready_.push_back(warp); }
  Warp* NewWarp(const Threads& threads, Level* level, bool ahead);
  Place At(uint32_t thread) const;

  const RandomKernel& kernel_;
  const Options options_;
  std::vector<size_t> done_;                    // steps of each thread
  std::vector<std::vector<uint32_t>> callers_;  // continuation of each pending call, by thread
  std::list<Warp> warps_;
  std::list<Level> stack_;  // the top is the last
  std::deque<Warp*> ready_;
  std::list<std::pair<uint32_t, int>> table_;  // branch, history; the most recently used first
  std::map<uint32_t, uint32_t> block_of_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_CONFORMANCE_SECOND_READING_H_
