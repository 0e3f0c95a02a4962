// The traces that come with the project: every policy with every scheduler keeps the rules on real kernels, and the
// engine agrees with the reference engine.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "replay/machine/machine.h"
#include "tests/conformance/checked_replay.h"
#include "tests/conformance/comparison.h"
#include "tests/conformance/configurations.h"
#include "tests/random/random.h"
#include "traces/format/read/reader.h"

namespace heddle::replay {
namespace {

std::vector<std::string> SampleFiles() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(HEDDLE_SAMPLES_DIR)) {
    if (entry.path().extension() == ".htrace") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// A machine of the project with two SMs, which the small samples fill.
machine::v1::Machine SmallMachine(const std::string& name, uint32_t blocks_per_sm) {
  machine::v1::Machine machine = *LoadMachine(name);
  machine.set_sms(2);
  machine.mutable_core()->set_max_blocks(blocks_per_sm);
  return machine;
}

// Each pair on some of the samples in turn, on one of two machines; a thorough run takes all samples.
TEST(SampleTraces, EveryPairKeepsTheRules) {
  const std::vector<std::string> files = SampleFiles();
  if (files.empty()) GTEST_SKIP() << "no samples in " << HEDDLE_SAMPLES_DIR;
  const std::vector<AcceptedConfiguration> all = DefaultConfigurations().accepted;
  const size_t samples_of_a_pair = std::min<size_t>(Programs(files.size()), files.size());
  for (size_t f = 0; f < files.size(); ++f) {
    SCOPED_TRACE(files[f]);
    const auto reader = trace::TraceReader::Open(files[f]);
    ASSERT_TRUE(reader.ok()) << reader.status();
    for (size_t pair = 0; pair < all.size(); ++pair) {
      if ((f + files.size() - (pair + Slice()) % files.size()) % files.size() >= samples_of_a_pair) continue;
      const bool single_pipeline = (pair + Slice() / files.size()) % 2 == 0;
      ExpectRulesKept(**reader, single_pipeline ? SmallMachine("thesis_fixed", 2) : SmallMachine("fermi_fixed", 4),
                      {all[pair]});
    }
    if (HasFailure()) return;
  }
}

TEST(SampleTraces, BothEnginesAgree) {
  const std::vector<std::string> files = SampleFiles();
  if (files.empty()) GTEST_SKIP() << "no samples in " << HEDDLE_SAMPLES_DIR;
  const std::vector<AcceptedConfiguration> all = DefaultConfigurations().accepted;
  if (all.empty()) GTEST_SKIP() << "no pair of divergence policy and scheduler is wanted";
  Random random(1 + Slice());
  for (const std::string& file : files) {
    SCOPED_TRACE(file);
    const auto reader = trace::TraceReader::Open(file);
    ASSERT_TRUE(reader.ok()) << reader.status();
    machine::v1::Machine machine = SmallMachine("thesis_fixed", 2);
    machine.mutable_core()->set_max_threads(256);  // the reference engine looks at every thread in every cycle
    ExpectEqual(**reader, machine, {all[random.Below(all.size())]});
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace heddle::replay
