// DWF with tables that are large enough is DWF without limits; with tables of any size it runs every thread to its end.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/conformance/comparison.h"
#include "tests/conformance/configurations.h"
#include "tests/conformance/logged_runs.h"
#include "tests/conformance/random_case.h"
#include "tests/random/random.h"

namespace heddle::replay {
namespace {

constexpr char kLarge[] = "dwf:resources=limited,lut_entries=4096,lut_ways=4096,pool_entries=4096";
constexpr char kLargeHeap[] = "dmaj:heap=hardware,heap_entries=4096,lut_entries=4096,lut_ways=4096,heap_ports=0";

TEST(DwfHardware, LargeTablesAreTheIdealMachine) {
  const std::string large_heap_oldest = absl::StrCat(kLargeHeap, ",tie=oldest");
  size_t issues = 0;
  for (const uint64_t seed : Seeds(810'001, 80)) {
    const RandomCase random_case = MakeRandomCase(seed);
    SCOPED_TRACE(random_case.Text());
    const auto logs = LogsOf(*random_case.reader, random_case.machine,
                             {{"dwf", "dpc"},
                              {kLarge, "dpc"},
                              {"dwf", "dmaj"},
                              {"dwf", kLargeHeap},
                              {"dwf", "dmaj:tie=oldest"},
                              {kLarge, large_heap_oldest}});
    EXPECT_TRUE(logs[1] == logs[0]) << "tables";
    EXPECT_TRUE(logs[3] == logs[2]) << "heap";
    EXPECT_TRUE(logs[5] == logs[4]) << "tables and heap, ties to the oldest";
    issues += logs[0].size();
    if (HasFailure()) return;
  }
  EXPECT_GT(issues, 100 * Programs(80));
}

// Any sizes: the rules that hold for all policies are checked by the engines themselves and by their agreement.
TEST(DwfHardware, TablesOfAnySizeInBothEngines) {
  for (const uint64_t seed : Seeds(820'001, 60)) {
    const RandomCase random_case = MakeRandomCase(seed);
    SCOPED_TRACE(random_case.Text());
    Random random(MixAll({seed, 5}));
    const auto number = [&](uint64_t most) { return 1 + random.Below(most); };
    const auto table = [&](uint64_t most_sets) {
      const uint64_t ways = number(4);
      return absl::StrCat("lut_entries=", number(most_sets) * ways, ",lut_ways=", ways);
    };
    std::vector<AcceptedConfiguration> configurations;
    for (int i = 0; i < 2; ++i) {
      AcceptedConfiguration& checked = configurations.emplace_back();
      checked.regroups = true;
      checked.swizzled = true;
      checked.configuration.divergence = {"dwf",
                                          absl::StrCat("resources=limited,", table(3), ",pool_entries=", number(6))};
      checked.configuration.scheduler = {
          "dmaj", absl::StrCat("heap=hardware,heap_entries=", number(4), ",", table(2), ",heap_ports=", number(3))};
      if (random.Chance(30)) checked.configuration.scheduler = {random.OneOf({"gto", "dpc", "two_level", "swl"}), ""};
    }
    ExpectEqual(*random_case.reader, random_case.machine, configurations);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace heddle::replay
