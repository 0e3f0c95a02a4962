// Dispatchers of single warps by themselves: virtual thread blocks (Anantpur and Govindarajan, VTW) and warp-level
// dispatch, on SMs that only know how long each warp takes.
#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "replay/seams/block_dispatcher.h"

namespace heddle::replay {
namespace {

using Durations = std::vector<std::vector<Cycle>>;  // by block and warp

// All warps that have room run side by side, each for its time.
class ToyMachine {
 public:
  struct Run {
    WarpAssignment what;
    Cycle start = 0;
    Cycle end = 0;
  };

  ToyMachine(const std::string& dispatcher, Durations durations, uint32_t sms, uint32_t blocks_per_sm,
             uint32_t hw_warps_per_sm)
      : durations_(std::move(durations)) {
    const size_t colon = dispatcher.find(':');
    const auto entry = DispatchRegistry::Get().Find(dispatcher.substr(0, colon));
    EXPECT_TRUE(entry.ok()) << entry.status();
    info_ = (*entry)->info;
    const auto parameters = Parameters::Parse(info_, colon == std::string::npos ? "" : dispatcher.substr(colon + 1));
    EXPECT_TRUE(parameters.ok()) << parameters.status();
    DispatchContext context;
    context.blocks = durations_.size();
    context.sms = sms;
    context.warps_per_block = static_cast<uint32_t>(durations_[0].size());
    context.blocks_per_sm = blocks_per_sm;
    context.partial_blocks_per_sm = blocks_per_sm;
    context.hw_warps_per_sm = hw_warps_per_sm;
    // A warp that has done a third of what it has to do has issued 1000 of 3000 instructions.
    context.instructions = [this](uint32_t sm, uint32_t hw_warp) {
      const Run& run = runs_[latest_.at({sm, hw_warp})];
      return (std::min(now_, run.end) - run.start) * 3000 / (run.end - run.start);
    };
    dispatcher_ = (*entry)->make(context, *parameters);
  }

  // Runs the grid; returns the cycle in which the last warp ends.
  Cycle RunAll() {
    std::map<uint64_t, uint32_t> left;  // warps, by block
    for (uint64_t block = 0; block < durations_.size(); ++block) {
      left[block] = static_cast<uint32_t>(durations_[block].size());
    }
    while (true) {
      while (const auto assignment = dispatcher_->NextWarp(now_)) {
        const Cycle takes = durations_[assignment->block][assignment->warp];
        latest_[{assignment->sm, assignment->hw_warp}] = runs_.size();
        running_.insert({now_ + takes, runs_.size()});
        runs_.push_back({*assignment, now_, now_ + takes});
      }
      Cycle next = dispatcher_->NextFirst();
      if (!running_.empty()) next = std::min(next, running_.begin()->first);
      if (next == kNever) return now_;
      now_ = next;
      while (!running_.empty() && running_.begin()->first == now_) {
        const Run& run = runs_[running_.begin()->second];
        running_.erase(running_.begin());
        if (--left[run.what.block] == 0) dispatcher_->Retired(run.what.sm, run.what.block);
        dispatcher_->WarpEnded(run.what.sm, run.what.hw_warp, now_);
      }
    }
  }

  const std::vector<Run>& runs() const { return runs_; }
  const BlockDispatcher& dispatcher() const { return *dispatcher_; }
  uint64_t counter(const std::string& name) const {
    for (size_t i = 0; i < info_.counters.size(); ++i) {
      if (info_.counters[i].name == name) return dispatcher_->counters()[i];
    }
    ADD_FAILURE() << "no counter " << name;
    return 0;
  }
  // "0-40 40-90 90-115": when the hardware warp of SM 0 was busy.
  std::string Times(uint32_t hw_warp) const {
    std::vector<std::string> times;
    for (const Run& run : runs_) {
      if (run.what.sm == 0 && run.what.hw_warp == hw_warp) times.push_back(absl::StrCat(run.start, "-", run.end));
    }
    return absl::StrJoin(times, " ");
  }

 private:
  const Durations durations_;
  PolicyInfo info_;
  Cycle now_ = 0;
  std::vector<Run> runs_;
  std::map<std::pair<uint32_t, uint32_t>, size_t> latest_;  // by SM and hardware warp
  std::set<std::pair<Cycle, size_t>> running_;              // by end
  std::unique_ptr<BlockDispatcher> dispatcher_;
};

constexpr char kFree[] = "once_instructions=0,iteration_instructions=0,dimension_instructions=0,next_block_latency=0";

// Figure 1 of the paper: three blocks of three warps, one block at a time on the SM. The text gives the warps of the
// first two blocks and says which end the third; its first warp is free below 30.
const Durations kFigure1 = {{40, 50, 30}, {50, 30, 40}, {25, 40, 45}};

TEST(VirtualBlocks, Figure1) {
  ToyMachine machine(absl::StrCat("virtual_blocks:", kFree), kFigure1, 1, 1, 3);
  EXPECT_EQ(machine.RunAll(), 120u) << "145 with whole blocks: 50 + 50 + 45";
  EXPECT_EQ(machine.Times(0), "0-40 40-90 90-115");
  EXPECT_EQ(machine.Times(1), "0-50 50-80 80-120");
  EXPECT_EQ(machine.Times(2), "0-30 30-70 70-115");
  EXPECT_EQ(machine.counter("virtual_blocks"), 1u);
  EXPECT_EQ(machine.counter("iterations"), 6u);
  EXPECT_EQ(machine.counter("iteration_limit_waits"), 0u);
}

TEST(VirtualBlocks, Figure1WithTheOtherWaysToChooseAWarp) {
  ToyMachine slowest(absl::StrCat("virtual_blocks:index=slowest_lane,", kFree), kFigure1, 1, 1, 3);
  EXPECT_EQ(slowest.RunAll(), 130u);
  ToyMachine ascending(absl::StrCat("virtual_blocks:index=lowest_to_highest_lane,", kFree), kFigure1, 1, 1, 3);
  EXPECT_EQ(ascending.RunAll(), 135u);
}

// Section 4.2.1: at most one iteration apart. The first warp is done with its second block at 20, but the other one
// leaves its first at 100.
TEST(VirtualBlocks, AWarpWaitsForOneThatIsTwoIterationsBehind) {
  ToyMachine machine(absl::StrCat("virtual_blocks:", kFree), {{10, 100}, {10, 10}, {10, 10}, {10, 10}}, 1, 1, 2);
  EXPECT_EQ(machine.RunAll(), 130u);
  EXPECT_EQ(machine.Times(0), "0-10 10-20 100-110 110-120");
  EXPECT_EQ(machine.Times(1), "0-100 100-110 110-120 120-130");
  EXPECT_EQ(machine.counter("iteration_limit_waits"), 1u);
  EXPECT_EQ(machine.counter("iteration_limit_cycles"), 80u);
}

TEST(VirtualBlocks, TheWrapperTakesInstructionsAndTime) {
  ToyMachine machine("virtual_blocks:once_instructions=6,iteration_instructions=4,next_block_latency=20",
                     {{10}, {10}, {10}}, 1, 1, 1);
  EXPECT_EQ(machine.RunAll(), 70u);
  EXPECT_EQ(machine.Times(0), "0-10 30-40 60-70");
  EXPECT_EQ(machine.runs()[0].what.instructions, 10u);
  EXPECT_EQ(machine.runs()[1].what.instructions, 4u);
}

TEST(VirtualBlocks, AreLaunchedOnePerSmAndCycleLikeWholeBlocks) {
  ToyMachine machine(absl::StrCat("virtual_blocks:", kFree), Durations(7, {10, 10}), 2, 2, 4);
  machine.RunAll();
  std::string launches;
  for (const ToyMachine::Run& run : machine.runs()) {
    if (run.what.virtual_block->iteration == 0 && run.what.warp == 0) {
      absl::StrAppend(&launches, run.start, ":", run.what.block, "@", run.what.sm, " ");
    }
  }
  EXPECT_EQ(launches, "0:0@0 0:1@1 1:2@0 1:3@1 ");
}

struct Shape {
  uint32_t blocks, warps, sms, blocks_per_sm, hw_warps_per_sm;
  Durations durations;
};
Shape RandomShape(uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto in = [&](uint64_t low, uint64_t high) { return static_cast<uint32_t>(low + random() % (high - low + 1)); };
  Shape shape{in(1, 40), in(1, 6), in(1, 3), in(1, 4), 0, {}};
  shape.hw_warps_per_sm = shape.blocks_per_sm * shape.warps + in(0, 5);
  for (uint32_t block = 0; block < shape.blocks; ++block) {
    shape.durations.emplace_back();
    for (uint32_t warp = 0; warp < shape.warps; ++warp) {
      shape.durations.back().push_back(in(0, 9) == 0 ? in(50, 400) : in(1, 20));
    }
  }
  return shape;
}

// What must hold of every run: each warp of the grid once, no hardware warp with two at a time.
void ExpectEachWarpOnce(const Shape& shape, const ToyMachine& machine) {
  std::set<std::pair<uint64_t, uint32_t>> seen;
  std::map<std::pair<uint32_t, uint32_t>, Cycle> busy_until;
  for (const ToyMachine::Run& run : machine.runs()) {
    EXPECT_TRUE(seen.insert({run.what.block, run.what.warp}).second) << "block " << run.what.block << " twice";
    EXPECT_LT(run.what.hw_warp, shape.hw_warps_per_sm);
    Cycle& busy = busy_until[{run.what.sm, run.what.hw_warp}];
    EXPECT_LE(busy, run.start);
    busy = run.end;
  }
  EXPECT_EQ(seen.size(), size_t{shape.blocks} * shape.warps);
  EXPECT_TRUE(machine.dispatcher().done());
}

// (block, warp) -> (virtual block, hardware warp, iteration) is one to one, and no two warps of a virtual block are
// more than one iteration apart.
TEST(VirtualBlocks, RandomGrids) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    for (const char* index : {"same_lane", "slowest_lane", "lowest_to_highest_lane"}) {
      SCOPED_TRACE(absl::StrCat("seed ", seed, " ", index));
      const Shape shape = RandomShape(seed);
      ToyMachine machine(absl::StrCat("virtual_blocks:index=", index, ",next_block_latency=", seed % 3),
                         shape.durations, shape.sms, shape.blocks_per_sm, shape.hw_warps_per_sm);
      machine.RunAll();
      ExpectEachWarpOnce(shape, machine);
      using Place = std::pair<uint32_t, uint32_t>;
      std::map<std::pair<Place, uint64_t>, uint64_t> block_of;  // by place and iteration
      std::map<Place, std::map<uint32_t, std::vector<const ToyMachine::Run*>>> hw_warps;
      for (const ToyMachine::Run& run : machine.runs()) {
        const Place place{run.what.sm, run.what.virtual_block->place};
        const uint64_t iteration = run.what.virtual_block->iteration;
        EXPECT_EQ(run.what.hw_warp / shape.warps, run.what.virtual_block->place);
        const auto [it, first] = block_of.emplace(std::pair(place, iteration), run.what.block);
        EXPECT_EQ(it->second, run.what.block);
        auto& of_hw_warp = hw_warps[place][run.what.hw_warp];
        EXPECT_EQ(of_hw_warp.size(), iteration) << "a hardware warp runs each iteration once, in order";
        of_hw_warp.push_back(&run);
        if (std::string(index) == "same_lane") {
          EXPECT_EQ(run.what.hw_warp % shape.warps, run.what.warp);
        }
      }
      EXPECT_LE(hw_warps.size(), size_t{shape.sms} * shape.blocks_per_sm);
      for (const auto& [place, of_place] : hw_warps) {
        EXPECT_EQ(of_place.size(), shape.warps);
        for (const auto& [hw_warp, runs] : of_place) {
          for (const auto& [other, others] : of_place) {
            EXPECT_EQ(runs.size(), others.size()) << "every hardware warp runs every iteration";
            for (size_t i = 2; i < runs.size(); ++i) {
              EXPECT_GE(runs[i]->start, others[i - 2]->end) << "two iterations under way beside a third";
            }
          }
        }
      }
      if (HasFailure()) return;
    }
  }
}

TEST(WarpLevelDispatch, RandomGrids) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Shape shape = RandomShape(seed);
    shape.hw_warps_per_sm = std::max(shape.warps, shape.hw_warps_per_sm - static_cast<uint32_t>(seed % 6));
    ToyMachine machine("warps", shape.durations, shape.sms, shape.blocks_per_sm, shape.hw_warps_per_sm);
    machine.RunAll();
    ExpectEachWarpOnce(shape, machine);
    // Blocks are completed in order: on an SM no warp comes of a block before all warps of those before it have.
    std::map<uint32_t, std::pair<uint64_t, uint32_t>> latest;
    for (const ToyMachine::Run& run : machine.runs()) {
      const auto it = latest.find(run.what.sm);
      const bool first_warp = run.what.warp == 0;
      if (it != latest.end() && !first_warp) {
        EXPECT_EQ(it->second, std::pair(run.what.block, run.what.warp - 1));
      } else {
        EXPECT_TRUE(first_warp);
        if (it != latest.end()) {
          EXPECT_EQ(it->second.second, shape.warps - 1);
        }
      }
      latest[run.what.sm] = {run.what.block, run.what.warp};
    }
    if (HasFailure()) return;
  }
}

// Room for three warps, blocks of two: the third hardware warp takes half of the second block, whose other half follows
// when the first block's first warp ends.
TEST(WarpLevelDispatch, ABlockMayComeInPart) {
  ToyMachine machine("warps", {{10, 40}, {30, 30}, {5, 5}}, 1, 2, 3);
  EXPECT_EQ(machine.RunAll(), 45u);
  EXPECT_EQ(machine.Times(0), "0-10 10-40 40-45");
  EXPECT_EQ(machine.Times(1), "0-40 40-45");
  EXPECT_EQ(machine.Times(2), "1-31");
  EXPECT_EQ(machine.counter("partial_blocks"), 1u);
}

}  // namespace
}  // namespace heddle::replay
