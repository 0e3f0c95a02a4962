// Dispatchers of single warps against a plain model: warps of one thread on machines with one port per SM, that tick
// every cycle. The model is written from docs/policies/virtual_blocks.md and docs/reference/timing.md, and shares
// nothing with the engine, its barriers, or the dispatchers.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/replay/core/engine_harness.h"

namespace heddle::replay {
namespace {

using trace::testing::ProgramBuilder;
using trace::testing::ThreadTrace;

// PCs of the kernel: a loop, an early exit, a barrier, a store to shared memory, another loop, the end.
enum KernelPc : Pc { kFirstAlu, kFirstTurn, kMayExit, kBarrier, kStore, kSecondAlu, kSecondTurn, kEnd };

trace::v1::KernelProgram Kernel() {
  return ProgramBuilder("model")
      .Block("first")
      .Alu(1)
      .Branch("may_exit", "first")
      .Block("may_exit")
      .Branch("middle", "end")
      .Block("middle")
      .Barrier()
      .Store(trace::v1::SPACE_SHARED)
      .Jump("second")
      .Block("second")
      .Alu(1)
      .Branch("end", "second")
      .Block("end")
      .Exit()
      .Build();
}

struct ModelThread {
  int first = 1;  // turns of the loops
  int second = 1;
  bool exits = false;

  std::vector<Pc> Path() const {
    std::vector<Pc> path;
    for (int i = 0; i < first; ++i) path.insert(path.end(), {kFirstAlu, kFirstTurn});
    path.push_back(kMayExit);
    if (!exits) {
      path.insert(path.end(), {kBarrier, kStore});
      for (int i = 0; i < second; ++i) path.insert(path.end(), {kSecondAlu, kSecondTurn});
    }
    path.push_back(kEnd);
    return path;
  }
  ThreadTrace Trace() const {
    std::vector<uint8_t> decisions(static_cast<size_t>(first - 1), 1);
    decisions.push_back(0);
    decisions.push_back(exits ? 1 : 0);
    if (exits) return Thread(decisions);
    decisions.insert(decisions.end(), static_cast<size_t>(second - 1), 1);
    decisions.push_back(0);
    return Thread(decisions, {0});
  }
};

struct ModelCase {
  uint32_t sms = 1;
  uint32_t warps = 1;  // of a block
  uint32_t blocks = 1;
  uint32_t resident = 1;             // blocks that an SM holds
  uint32_t hw_warps = 1;             // of an SM, for single warps
  uint32_t slow_cycles = 1;          // of the first loop's instruction in even warps
  std::vector<ModelThread> threads;  // block after block
};

struct ModelIssue {
  Cycle cycle = 0;
  uint64_t block = 0;
  uint32_t warp = 0;
  Pc pc = 0;
  auto operator<=>(const ModelIssue&) const = default;
};

struct Wrapper {
  int once = 0;
  int iteration = 0;
  int hoisted = 0;
  Cycle latency = 0;
};

class Model {
 public:
  Model(const ModelCase& what, bool virtual_blocks, const Wrapper& wrapper)
      : case_(what), virtual_(virtual_blocks), wrapper_(wrapper), sms_(what.sms), left_(what.blocks, what.warps) {}

  std::vector<ModelIssue> Run() {
    Dispatch(0);
    for (Cycle now = 0; ended_ < uint64_t{case_.blocks} * case_.warps; ++now) {
      if (now > 100'000) {
        ADD_FAILURE() << "the model hangs";
        break;
      }
      for (uint32_t sm = 0; sm < case_.sms; ++sm) Complete(sms_[sm], sm, now);
      for (Sm& sm : sms_) Issue(sm, now);
      for (Sm& sm : sms_) OpenBarriers(sm, now);
      Dispatch(now + 1);
    }
    return issues_;
  }

 private:
  struct Warp {
    bool there = false;
    uint64_t age = 0;
    uint64_t block = 0;
    uint32_t warp = 0;
    uint64_t iteration = 0;
    int inserted = 0;  // instructions still to be issued before the path
    std::vector<Pc> path;
    size_t next = 0;
    Cycle ready = 0;
    Cycle issued = 0;  // its last instruction
    bool at_barrier = false;
    bool ending = false;  // the last instruction is under way
  };
  struct Place {  // of a virtual block
    uint64_t newest = 0;
    uint64_t block = 0;
  };
  struct Sm {
    std::vector<Warp> hw_warps;
    std::vector<Place> places;
    std::vector<uint32_t> resting;  // whose iteration has ended and which may not go on, in this order
    uint32_t blocks = 0;            // whole or in part
    std::optional<std::pair<uint64_t, uint32_t>> partial;  // block, and its next warp
  };

  // A hardware warp gets a warp that may issue from cycle `first` on.
  void Enter(Sm& sm, uint32_t hw_warp, uint64_t block, uint32_t warp, Cycle first, int inserted) {
    if (sm.hw_warps.size() <= hw_warp) sm.hw_warps.resize(hw_warp + 1);
    Warp& what = sm.hw_warps[hw_warp];
    what.there = true;
    if (!virtual_ || what.iteration == 0) what.age = ages_++;
    what.block = block;
    what.warp = warp;
    what.inserted = inserted;
    what.path = case_.threads[block * case_.warps + warp].Path();
    what.next = 0;
    what.ready = first;
    what.at_barrier = what.ending = false;
  }

  void Complete(Sm& sm, uint32_t index, Cycle now) {
    std::vector<std::pair<Cycle, uint32_t>> done;  // in the order of their issue
    for (uint32_t hw_warp = 0; hw_warp < sm.hw_warps.size(); ++hw_warp) {
      const Warp& warp = sm.hw_warps[hw_warp];
      if (warp.there && warp.ending && warp.ready == now) done.push_back({warp.issued, hw_warp});
    }
    std::sort(done.begin(), done.end());
    for (const auto& [issued, hw_warp] : done) {
      Warp& warp = sm.hw_warps[hw_warp];
      warp.there = false;
      ++ended_;
      if (--left_[warp.block] == 0) --sm.blocks;
      finished_.push_back({index, hw_warp});
    }
  }

  // Whether the warps of the iteration before, of the same place, have all ended.
  bool SiblingsAreThrough(const Sm& sm, const Warp& warp, uint32_t hw_warp) const {
    if (!virtual_ || warp.iteration == 0) return true;
    const uint32_t place = hw_warp / case_.warps;
    for (uint32_t other = place * case_.warps; other < (place + 1) * case_.warps; ++other) {
      if (sm.hw_warps[other].there && sm.hw_warps[other].iteration < warp.iteration) return false;
      // One that has ended its iteration and not begun this one is through as well.
    }
    return true;
  }

  void Issue(Sm& sm, Cycle now) {
    Warp* oldest = nullptr;
    for (uint32_t hw_warp = 0; hw_warp < sm.hw_warps.size(); ++hw_warp) {
      Warp& warp = sm.hw_warps[hw_warp];
      if (!warp.there || warp.ending || warp.at_barrier || warp.ready > now) continue;
      const bool traced = warp.inserted == 0;
      if (traced && warp.path[warp.next] == kStore && !SiblingsAreThrough(sm, warp, hw_warp)) continue;
      if (oldest == nullptr || warp.age < oldest->age) oldest = &warp;
    }
    if (oldest == nullptr) return;
    oldest->issued = now;
    oldest->ready = now + 1;
    if (oldest->inserted > 0) {
      --oldest->inserted;
      return;
    }
    const Pc pc = oldest->path[oldest->next++];
    issues_.push_back({now, oldest->block, oldest->warp, pc});
    if (pc == kFirstAlu && oldest->warp % 2 == 0) oldest->ready = now + case_.slow_cycles;
    oldest->at_barrier = pc == kBarrier;
    oldest->ending = oldest->next == oldest->path.size();
  }

  // A barrier opens when all of its block's warps that have not ended are there, those included that are still to come.
  void OpenBarriers(Sm& sm, Cycle now) {
    std::map<uint64_t, uint32_t> waiting;  // by block
    for (const Warp& warp : sm.hw_warps) {
      if (warp.there && warp.at_barrier) ++waiting[warp.block];
    }
    for (Warp& warp : sm.hw_warps) {
      if (!warp.there || !warp.at_barrier || waiting[warp.block] != left_[warp.block]) continue;
      warp.at_barrier = false;
      warp.ready = now + 1;
    }
  }

  void Dispatch(Cycle first) {
    if (virtual_) {
      for (const auto& [index, hw_warp] : finished_) {
        sms_[index].resting.push_back(hw_warp);
        GoOn(sms_[index], first);
      }
      Launch(first);
    } else {
      TakeWarps(first);
    }
    finished_.clear();
  }

  // Hardware warps that rest go on, the one that has rested longest first, until no more may.
  void GoOn(Sm& sm, Cycle first) {
    for (size_t i = 0; i < sm.resting.size();) {
      const uint32_t hw_warp = sm.resting[i];
      Warp& warp = sm.hw_warps[hw_warp];
      Place& place = sm.places[hw_warp / case_.warps];
      bool must_wait = false;
      for (uint32_t other = hw_warp / case_.warps * case_.warps; other < (hw_warp / case_.warps + 1) * case_.warps;
           ++other) {
        must_wait |= !gone_[{&sm, other}] && sm.hw_warps[other].iteration < warp.iteration;
      }
      if (must_wait) {
        ++i;
        continue;
      }
      sm.resting.erase(sm.resting.begin() + static_cast<ptrdiff_t>(i));
      i = 0;
      if (warp.iteration == place.newest) {
        if (next_ == case_.blocks) {
          gone_[{&sm, hw_warp}] = true;
          continue;
        }
        ++place.newest;
        place.block = next_++;
        ++sm.blocks;
      }
      ++warp.iteration;
      Enter(sm, hw_warp, place.block, hw_warp % case_.warps, first + wrapper_.latency,
            std::max(wrapper_.iteration - wrapper_.hoisted, 0));
    }
  }

  // One virtual block per SM and cycle, SMs in turn.
  void Launch(Cycle first) {
    const uint32_t start = turn_;
    for (uint32_t i = 0; i < case_.sms && next_ < case_.blocks; ++i) {
      const uint32_t index = (start + i) % case_.sms;
      Sm& sm = sms_[index];
      if (sm.places.size() == case_.resident) continue;
      turn_ = (index + 1) % case_.sms;
      sm.places.push_back({0, next_++});
      ++sm.blocks;
      const uint32_t hw_warp = static_cast<uint32_t>(sm.places.size() - 1) * case_.warps;
      for (uint32_t warp = 0; warp < case_.warps; ++warp) {
        Enter(sm, hw_warp + warp, sm.places.back().block, warp, first, wrapper_.once + wrapper_.iteration);
      }
    }
  }

  // Warps of one block per SM and cycle, SMs in turn; a block that is there in part first.
  void TakeWarps(Cycle first) {
    const uint32_t start = turn_;
    for (uint32_t i = 0; i < case_.sms; ++i) {
      const uint32_t index = (start + i) % case_.sms;
      Sm& sm = sms_[index];
      sm.hw_warps.resize(case_.hw_warps);
      const auto is_free = [](const Warp& warp) { return !warp.there; };
      if (std::none_of(sm.hw_warps.begin(), sm.hw_warps.end(), is_free)) continue;
      if (!sm.partial.has_value()) {
        if (next_ == case_.blocks || sm.blocks == case_.resident) continue;
        sm.partial = {next_++, 0};
        ++sm.blocks;
      }
      turn_ = (index + 1) % case_.sms;
      for (uint32_t hw_warp = 0; hw_warp < case_.hw_warps && sm.partial->second < case_.warps; ++hw_warp) {
        if (!sm.hw_warps[hw_warp].there) Enter(sm, hw_warp, sm.partial->first, sm.partial->second++, first, 0);
      }
      if (sm.partial->second == case_.warps) sm.partial.reset();
    }
  }

  const ModelCase& case_;
  const bool virtual_;
  const Wrapper wrapper_;
  std::vector<Sm> sms_;
  std::vector<uint32_t> left_;                           // by block: warps that have not ended
  std::vector<std::pair<uint32_t, uint32_t>> finished_;  // SM and hardware warp, in this cycle
  std::map<std::pair<const Sm*, uint32_t>, bool> gone_;  // virtual warps without a block
  uint64_t next_ = 0;                                    // block of the grid
  uint64_t ages_ = 0;
  uint32_t turn_ = 0;
  uint64_t ended_ = 0;
  std::vector<ModelIssue> issues_;
};

ModelCase RandomModelCase(uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto in = [&](uint32_t low, uint32_t high) { return low + static_cast<uint32_t>(random() % (high - low + 1)); };
  ModelCase made;
  made.sms = in(1, 3);
  made.warps = in(1, 5);
  made.blocks = in(1, 14);
  made.resident = in(1, 3);
  made.hw_warps = std::max(made.warps, in(1, 9));
  made.slow_cycles = in(1, 4);
  for (uint32_t i = 0; i < made.blocks * made.warps; ++i) {
    made.threads.push_back({static_cast<int>(in(1, 12)), static_cast<int>(in(1, 6)), in(0, 4) == 0});
  }
  return made;
}

std::vector<ModelIssue> RunOnTheEngine(const ModelCase& what, const std::string& dispatch, bool virtual_blocks) {
  std::vector<ThreadTrace> threads;
  for (const ModelThread& thread : what.threads) threads.push_back(thread.Trace());
  const auto trace = MakeTrace(Kernel(), what.blocks, threads);
  RunOptions options;
  options.machine.set_sms(what.sms);
  options.machine.mutable_core()->set_warp_size(1);
  options.machine.mutable_core()->set_simd_width(1);
  options.machine.mutable_core()->set_max_blocks(what.resident);
  options.machine.mutable_core()->set_max_threads(virtual_blocks ? what.resident * what.warps : what.hw_warps);
  for (uint32_t warp = 0; warp < what.warps; warp += 2) {
    machine::v1::ScriptedLatency& latency = *options.machine.mutable_core()->add_scripted_latency();
    latency.set_instruction(kFirstAlu);
    latency.set_first_thread(warp);
    latency.set_last_thread(warp);
    latency.set_cycles(what.slow_cycles);
  }
  options.scheduler = "oldest";
  options.dispatch = dispatch;
  const Outcome outcome = RunTrace(*trace, options);
  EXPECT_TRUE(outcome.status.ok()) << outcome.status;
  std::vector<ModelIssue> issues;
  for (const LoggedIssue& issue : outcome.log.issues()) {
    issues.push_back({issue.cycle, issue.members[0].block, issue.members[0].thread, issue.members[0].pc});
  }
  return issues;
}

void ExpectEqual(std::vector<ModelIssue> expected, std::vector<ModelIssue> issues) {
  std::sort(expected.begin(), expected.end());
  std::sort(issues.begin(), issues.end());
  ASSERT_EQ(issues.size(), expected.size());
  for (size_t i = 0; i < issues.size(); ++i) {
    ASSERT_TRUE(issues[i] == expected[i])
        << "issue " << i << ": cycle " << issues[i].cycle << " block " << issues[i].block << " warp " << issues[i].warp
        << " pc " << issues[i].pc << "; the model has cycle " << expected[i].cycle << " block " << expected[i].block
        << " warp " << expected[i].warp << " pc " << expected[i].pc;
  }
}

TEST(DispatchModel, SingleWarps) {
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(seed);
    const ModelCase what = RandomModelCase(seed);
    ExpectEqual(Model(what, false, {}).Run(), RunOnTheEngine(what, "warps", false));
    if (HasFailure()) return;
  }
}

TEST(DispatchModel, VirtualBlocks) {
  for (uint64_t seed = 1001; seed <= 1400; ++seed) {
    SCOPED_TRACE(seed);
    const ModelCase what = RandomModelCase(seed);
    Wrapper wrapper;
    if (seed % 2 == 0) wrapper = {3, 2, static_cast<int>(seed % 4), seed % 9};
    const std::string dispatch = absl::StrCat(
        "virtual_blocks:once_instructions=", wrapper.once, ",iteration_instructions=", wrapper.iteration,
        ",dimension_instructions=0,hoisted_instructions=", wrapper.hoisted, ",next_block_latency=", wrapper.latency);
    ExpectEqual(Model(what, true, wrapper).Run(), RunOnTheEngine(what, dispatch, true));
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace heddle::replay
