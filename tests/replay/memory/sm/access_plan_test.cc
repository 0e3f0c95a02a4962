// The steps of a warp's access to memory, in the order in which the stage makes them.
#include "replay/memory/sm/access_plan.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "absl/strings/str_cat.h"
#include "replay/memory/ports/address_windows.h"
#include "tests/replay/memory/sm_memory_timing.h"

namespace heddle::replay {
namespace {

class AccessPlans : public SmMemoryTiming {
 protected:
  // "shared 1, remote 2 4": the steps of an access, units and lanes. The first four lanes are in the own shared memory,
  // that of SM 5, that of SM 3, and in global memory.
  std::string StepsOf(trace::v1::MemorySpace space, LaneMask lanes) {
    std::array<uint64_t, kMaxLanes> addresses{};
    addresses[0] = kSharedWindow;
    addresses[1] = kSharedWindow + 4;
    addresses[2] = kSharedWindow + 8;
    addresses[3] = kGlobalMemory;
    std::array<uint16_t, kMaxLanes> sms{};
    sms[1] = 5;
    sms[2] = 3;
    WarpAccess access;
    access.op = trace::v1::OP_LOAD;
    access.space = space;
    access.bytes = 4;
    access.lanes = lanes;
    access.addresses = &addresses;
    access.remote = 0b0110 & lanes;
    access.remote_sm = &sms;
    AccessPlanner planner(machine_, windows_, 0);
    AccessPlan plan;
    SmMemoryCounters counters;
    planner.Plan(access, plan, counters);
    std::string text;
    for (uint32_t i = 0; i < plan.size(); ++i) {
      const char* const unit = plan[i].unit == MemoryUnit::kShared   ? "shared"
                               : plan[i].unit == MemoryUnit::kRemote ? "remote"
                                                                     : "data";
      absl::StrAppend(&text, i == 0 ? "" : ", ", unit, " ", plan[i].lanes);
    }
    return text;
  }
};

// docs/reference/timing.md, section 12: requests to other SMs, ascending, come behind the own shared memory.
TEST_F(AccessPlans, OwnSharedMemoryComesBeforeThatOfOthers) {
  EXPECT_EQ(StepsOf(trace::v1::SPACE_CLUSTER_SHARED, 0b0111), "shared 1, remote 4, remote 2");
  EXPECT_EQ(StepsOf(trace::v1::SPACE_GENERIC, 0b1111), "shared 1, remote 4, remote 2, data 8");
}

TEST_F(AccessPlans, WithoutOwnLanesThereAreOnlyRequests) {
  EXPECT_EQ(StepsOf(trace::v1::SPACE_CLUSTER_SHARED, 0b0010), "remote 2");
  EXPECT_EQ(StepsOf(trace::v1::SPACE_GENERIC, 0b0100), "remote 4");
}

}  // namespace
}  // namespace heddle::replay
