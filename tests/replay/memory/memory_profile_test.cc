// What the memory counts per instruction: extra lines against static warps, by hand.
#include "replay/memory/sm/memory_profile.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/replay/memory/random_memory_case.h"

namespace heddle::replay {
namespace {

using machine::v1::Hierarchy;
using trace::v1::OP_LOAD;
using trace::v1::SPACE_GLOBAL;
using trace::v1::SPACE_SHARED;

// Warps of four threads, lines of 128 bytes.
class Profile : public testing::Test {
 protected:
  Profile() : header_(WindowsForTests()), windows_(header_) {
    machine_.set_sms(1);
    machine_.mutable_core()->set_warp_size(4);
    machine_.mutable_core()->set_max_threads(64);
    Hierarchy& memory = *machine_.mutable_memory()->mutable_hierarchy();
    memory.set_coalescing(Hierarchy::COMPUTE_20);
    memory.mutable_l1_data()->set_sets(4);
    memory.mutable_l1_data()->set_line_bytes(128);
    memory.mutable_shared()->set_banks(4);
    memory.mutable_shared()->set_parts(1);
  }

  // A load of 4 bytes by a warp: thread threads[i], in lane i, reads addresses[i].
  void Load(std::vector<ThreadId> threads, std::vector<uint64_t> addresses,
            trace::v1::MemorySpace space = SPACE_GLOBAL) {
    LaneAddresses of_lane{};
    std::array<ThreadId, kMaxLanes> thread{};
    WarpAccess access;
    access.op = OP_LOAD;
    access.space = space;
    access.bytes = 4;
    access.pc = 1;
    access.addresses = &of_lane;
    access.threads = &thread;
    for (size_t lane = 0; lane < threads.size(); ++lane) {
      access.lanes |= LaneMask{1} << lane;
      thread[lane] = threads[lane];
      of_lane[lane] = addresses[lane];
    }
    AccessPlanner planner(machine_, windows_, 0);
    AccessPlan plan;
    SmMemoryCounters ignored;
    planner.Plan(access, plan, ignored);
    profile_.Entered(access, plan, planner);
  }
  const InstructionMemoryCounters& counters() const { return profile_[1]; }
  double Extra() const {
    result::v1::InstructionMemory out;
    counters().Fill(out);
    EXPECT_TRUE(out.has_extra_transactions());
    return out.extra_transactions();
  }

  machine::v1::Machine machine_;
  trace::v1::FileHeader header_;
  AddressWindows windows_;
  MemoryProfile profile_{2, 4};
};

constexpr uint64_t kA = kGlobalMemory;
constexpr uint64_t kB = kGlobalMemory + 4096;

// CAPRI, figure 5: two static warps, each on a line of its own, are shuffled by a compaction that gains nothing. Each
// of the new warps touches both lines.
TEST_F(Profile, AFruitlessCompactionCostsALinePerAccess) {
  Load({0, 5, 2, 7}, {kA, kB, kA, kB});
  Load({4, 1, 6, 3}, {kB, kA, kB, kA});
  EXPECT_EQ(counters().data_accesses, 2);
  EXPECT_EQ(counters().transactions, 4);
  EXPECT_EQ(counters().static_accesses, 4);
  EXPECT_EQ(counters().static_transactions, 4);
  EXPECT_DOUBLE_EQ(Extra(), 1);
}

TEST_F(Profile, StaticWarpsCostNothingExtraHoweverTheyDiverge) {
  Load({0, 1, 2, 3}, {kA, kB, kA, kB + 512});
  Load({4, 5}, {kA, kB});
  EXPECT_EQ(counters().transactions, 5);
  EXPECT_EQ(counters().static_accesses, 2);
  EXPECT_EQ(counters().static_transactions, 5);
  EXPECT_DOUBLE_EQ(Extra(), 0);
}

// Threads of two static warps on the same line: the common access touches one line, as each would alone.
TEST_F(Profile, ThreadsThatShareALineCostNothingExtra) {
  Load({0, 5, 2, 7}, {kA, kA + 4, kA + 8, kA + 12});
  EXPECT_EQ(counters().transactions, 1);
  EXPECT_EQ(counters().static_transactions, 2);
  EXPECT_DOUBLE_EQ(Extra(), 0);
}

// Outside their home lanes threads of one static warp are taken back to them, and are one access.
TEST_F(Profile, AStaticWarpInOtherLanesIsStillOne) {
  Load({1, 0, 3, 2}, {kA, kB, kA, kB});
  EXPECT_EQ(counters().static_accesses, 1);
  EXPECT_EQ(counters().static_transactions, 2);
  EXPECT_DOUBLE_EQ(Extra(), 0);
}

TEST_F(Profile, SharedMemoryHasPassesAndNoTransactions) {
  Load({0, 5, 2, 7}, {kSharedWindow, kSharedWindow + 16, kSharedWindow + 32, kSharedWindow + 4}, SPACE_SHARED);
  EXPECT_EQ(counters().accesses, 1);
  EXPECT_EQ(counters().data_accesses, 0);
  EXPECT_EQ(counters().shared_parts, 1);
  EXPECT_EQ(counters().shared_passes, 3);  // three words in the first of four banks
  result::v1::InstructionMemory out;
  counters().Fill(out);
  EXPECT_FALSE(out.has_extra_transactions());
}

}  // namespace
}  // namespace heddle::replay
