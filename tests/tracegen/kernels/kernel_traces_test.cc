// The small traces of all our kernels: policies keep the rules on real control flow of every kind.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "replay/machine/machine.h"
#include "tests/conformance/checked_replay.h"
#include "tests/conformance/configurations.h"
#include "traces/format/read/reader.h"

namespace heddle::replay {
namespace {

// So many kernels share the pairs among them.
constexpr size_t kTurns = 30;

TEST(KernelTraces, EveryPairKeepsTheRulesOnSomeKernels) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(HEDDLE_KERNEL_TRACES_DIR)) {
    if (entry.path().string().ends_with(".tiny.htrace")) files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  ASSERT_GE(files.size(), 40u) << "the captures of the kernels come first";
  machine::v1::Machine machine = *LoadMachine("fermi_fixed");
  machine.set_sms(2);
  const std::vector<AcceptedConfiguration> all = DefaultConfigurations().accepted;
  for (size_t i = 0; i < files.size(); ++i) {
    SCOPED_TRACE(files[i]);
    const auto reader = trace::TraceReader::Open(files[i]);
    ASSERT_TRUE(reader.ok()) << reader.status();
    for (size_t pair = i % kTurns; pair < all.size(); pair += kTurns) ExpectRulesKept(**reader, machine, {all[pair]});
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace heddle::replay
