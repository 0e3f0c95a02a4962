// What a card counts beside what a replay does that follows the code's own convergence barriers. The traces in h200/
// are of the very code that ran on an NVIDIA H200: `heddle capture --level machine --arch sm_90 traces/kernels/...`,
// with nvcc 13.0. The numbers are smsp__sass_branch_targets_threads_divergent.sum of traces/hardware/nvidia_h200.
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "replay/engine/replay.h"
#include "replay/machine/machine.h"
#include "traces/base/status_macros.h"
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

// The only launch of a replay with its and these parameters, or with pdom.
absl::StatusOr<result::v1::LaunchResult> Replayed(const std::string& trace, const PolicySpec& divergence) {
  HEDDLE_ASSIGN_OR_RETURN(const auto reader, trace::TraceReader::Open(absl::StrCat(HEDDLE_TRACES_DIR, "/", trace)));
  ReplayOptions options;
  HEDDLE_ASSIGN_OR_RETURN(options.machine, LoadMachine("fermi_fixed"));
  Configuration configuration;
  configuration.divergence = divergence;
  HEDDLE_ASSIGN_OR_RETURN(const auto results, Replay(*reader, {configuration}, options));
  if (results[0].launch_size() != 1) return absl::InternalError("another number of launches");
  return results[0].launch(0);
}

uint64_t Divergences(const result::v1::LaunchResult& launch) { return launch.divergence_counter().at("divergences"); }

TEST_P(CardDivergence, BranchesPartWarpsAsOftenAsOnTheCard) {
  const std::string trace = absl::StrCat("h200/", GetParam().name, ".htrace");
  for (const char* parameters :
       {"reconvergence=compiler", "reconvergence=compiler,taken_first=false,yield=block_end"}) {
    const auto launch = Replayed(trace, {"its", parameters});
    ASSERT_TRUE(launch.ok()) << launch.status();
    EXPECT_EQ(Divergences(*launch), GetParam().divergent) << parameters;
  }
}

// Functions save their callers' barriers (BMOV), and every branch that parts a warp has a barrier: its two sides meet
// where pdom lets them meet, and each has issued the BSYNC. So it is whichever split runs first.
TEST(SavedBarriers, LetEveryBranchRejoin) {
  const auto stack = Replayed("calls/calls.htrace", {"pdom", ""});
  ASSERT_TRUE(stack.ok()) << stack.status();
  for (const char* more : {"", ",yield=block_end", ",yield=backward_branch", ",yield=long_latency,taken_first=false"}) {
    const auto launch = Replayed("calls/calls.htrace", {"its", absl::StrCat("reconvergence=compiler", more)});
    ASSERT_TRUE(launch.ok()) << launch.status();
    EXPECT_EQ(Divergences(*launch), 1'314u) << more;
    EXPECT_EQ(launch->warp_instructions(), stack->warp_instructions() + 1'314u) << more;
  }
}

}  // namespace
}  // namespace heddle::replay
