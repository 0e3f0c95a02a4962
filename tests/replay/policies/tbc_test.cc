// TBC and TBC+: the worked examples of CAPRI's Figures 2, 3 and 6(b), and vectors of our own for loops, exits, barriers,
// wide branches, several blocks, and the compaction unit's time.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/replay/policies/figures_capri.h"
#include "tests/replay/policies/run_on.h"
#include "tests/replay/policy_driver.h"

namespace heddle::replay {
namespace {

TEST(Tbc, First) {
  PolicyDriver::Options options;
  options.divergence = "tbc:wcu_cycles_per_warp=0";
  EXPECT_EQ(PolicyDriver(CapriFigure1(), options).Run(),
            "A0[0123] A0[4567] A1[0123] A1[4567] B0[0-67] B1[0-67] C0[4123] C0[-5--] C1[4123] C1[-5--] D0[0123] "
            "D0[4567] D1[0123] D1[4567]");
  options.latency = CapriFigure6Latency;
  EXPECT_EQ(PolicyDriver(CapriFigure6(), options).Run(), "");
  for (const char* p : {"capri:wcu_cycles_per_warp=0", "capri:wcu_cycles_per_warp=0,prediction=never_stall"}) {
    options.divergence = p;
    options.look = [](Cycle now, const DivergencePolicy& policy, const WarpTable& table) {
      std::cout << now << ": " << policy.Explain(table) << "\n";
    };
    EXPECT_EQ(PolicyDriver(CapriFigure6(), options).Run(), "");
  }
}

}  // namespace
}  // namespace heddle::replay
