// What a card counts beside what a replay does that follows the code's own convergence barriers. The traces in h200/
// are of the very code that ran on an NVIDIA H200: `heddle capture --level machine --arch sm_90 traces/kernels/...`,
// with nvcc 13.0. The numbers are smsp__sass_branch_targets_threads_divergent.sum of traces/hardware/nvidia_h200.
#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "replay/engine/replay.h"
#include "replay/machine/machine.h"
#include "traces/format/read/reader.h"

namespace heddle::replay {
namespace {

struct Kernel {
  const char* name;
  uint64_t divergent;  // branches at which a warp of the card parted
};

class CardDivergence : public testing::TestWithParam<Kernel> {};

INSTANTIATE_TEST_SUITE_P(H200, CardDivergence,
                         testing::Values(Kernel{"even_odd", 12'800}, Kernel{"laplace3d", 5'100},
                                         Kernel{"heart_wall", 1'871},      // threads leave loops one by one
                                         Kernel{"paged_attention", 216}),  // BREAK under a guard, YIELD, WARPSYNC
                         [](const testing::TestParamInfo<Kernel>& info) { return std::string(info.param.name); });

TEST_P(CardDivergence, BranchesPartWarpsAsOftenAsOnTheCard) {
  const auto reader = trace::TraceReader::Open(absl::StrCat(HEDDLE_H200_DIR, "/", GetParam().name, ".htrace"));
  ASSERT_TRUE(reader.ok()) << reader.status();
  ReplayOptions options;
  options.machine = LoadMachine("fermi_fixed").value();
  for (const char* parameters :
       {"reconvergence=compiler", "reconvergence=compiler,taken_first=false,yield=block_end"}) {
    Configuration configuration;
    configuration.divergence = {"its", parameters};
    const auto results = Replay(**reader, {configuration}, options);
    ASSERT_TRUE(results.ok()) << results.status();
    uint64_t divergences = 0;
    for (const result::v1::LaunchResult& launch : results->at(0).launch()) {
      divergences += launch.divergence_counter().at("divergences");
    }
    EXPECT_EQ(divergences, GetParam().divergent) << parameters;
  }
}

}  // namespace
}  // namespace heddle::replay
