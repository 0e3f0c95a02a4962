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
#include "tests/reference/random.h"
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

TEST(SampleTraces, EveryPairKeepsTheRules) {
  const std::vector<std::string> files = SampleFiles();
  if (files.empty()) GTEST_SKIP() << "no samples in " << HEDDLE_SAMPLES_DIR;
  for (const std::string& file : files) {
    SCOPED_TRACE(file);
    const auto reader = trace::TraceReader::Open(file);
    ASSERT_TRUE(reader.ok()) << reader.status();
    // Each pair on one of two machines, in turn.
    bool single_pipeline = true;
    for (const AcceptedConfiguration& checked : DefaultConfigurations().accepted) {
      ExpectRulesKept(**reader, single_pipeline ? SmallMachine("thesis_fixed", 2) : SmallMachine("fermi_fixed", 4),
                      {checked});
      single_pipeline = !single_pipeline;
    }
    if (HasFailure()) return;
  }
}

TEST(SampleTraces, BothEnginesAgree) {
  const std::vector<std::string> files = SampleFiles();
  if (files.empty()) GTEST_SKIP() << "no samples in " << HEDDLE_SAMPLES_DIR;
  const std::vector<AcceptedConfiguration> all = DefaultConfigurations().accepted;
  if (all.empty()) GTEST_SKIP() << "no pair of divergence policy and scheduler is wanted";
  Random random(1);
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
