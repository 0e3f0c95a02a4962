#include "tests/conformance/comparison.h"

#include <google/protobuf/util/field_comparator.h>
#include <google/protobuf/util/message_differencer.h>

#include <algorithm>
#include <string>

#include "gtest/gtest.h"
#include "replay/engine/replay.h"
#include "replay/engine/replay_launch.h"
#include "replay/trace/chunk_cache.h"
#include "tests/reference/reference_engine.h"
#include "tests/reference/scripted_memory.h"

namespace heddle::replay {

std::string Difference(const google::protobuf::Message& engine, const google::protobuf::Message& reference) {
  std::string text;
  google::protobuf::util::MessageDifferencer differencer;
  // The engine sums shares in parts per billion, the reference in floating point: up to 1e-7 per cent apart.
  google::protobuf::util::DefaultFieldComparator fields;
  fields.set_float_comparison(google::protobuf::util::DefaultFieldComparator::APPROXIMATE);
  fields.SetDefaultFractionAndMargin(1e-12, 2e-7);
  differencer.set_field_comparator(&fields);
  differencer.ReportDifferencesToString(&text);
  return differencer.Compare(engine, reference) ? std::string() : text;
}

std::string Difference(const std::vector<IssueEntry>& engine, const std::vector<IssueEntry>& reference) {
  for (size_t i = 0; i < std::max(engine.size(), reference.size()); ++i) {
    if (i < engine.size() && i < reference.size() && engine[i] == reference[i]) continue;
    return "issue number " + std::to_string(i) + "\n  engine:    " + (i < engine.size() ? engine[i].Text() : "none") +
           "\n  reference: " + (i < reference.size() ? reference[i].Text() : "none");
  }
  return {};
}

void ExpectEqual(const trace::TraceReader& reader, const machine::v1::Machine& machine,
                 const std::vector<AcceptedConfiguration>& all, const ComparisonOptions& options) {
  std::vector<AcceptedConfiguration> configurations = all;
  std::erase_if(configurations, [](const AcceptedConfiguration& one) { return one.by_warp; });
  std::vector<Configuration> plain;
  for (const AcceptedConfiguration& checked : configurations) plain.push_back(checked.configuration);
  SortedIssueLog engine_log(plain.size());
  ReplayOptions replay_options;
  replay_options.machine = machine;
  replay_options.cache_bytes = options.cache_bytes;
  replay_options.force_tick = options.force_tick;
  replay_options.observer = &engine_log;
  const auto engine = Replay(reader, plain, replay_options);
  ASSERT_TRUE(engine.ok()) << engine.status();
  for (size_t c = 0; c < plain.size(); ++c) {
    SCOPED_TRACE(configurations[c].Text());
    NoteChecked(plain[c]);
    SortedIssueLog reference_log;
    const auto reference = ReplayByReference(reader, plain[c], machine, &reference_log);
    ASSERT_TRUE(reference.ok()) << reference.status();
    EXPECT_EQ(Difference(engine_log.Sorted(c), reference_log.Sorted()), "");
    ASSERT_EQ((*engine)[c].launch_size(), static_cast<int>(reference->launches.size()));
    for (int launch = 0; launch < (*engine)[c].launch_size(); ++launch) {
      const result::v1::LaunchResult& result = (*engine)[c].launch(launch);
      EXPECT_EQ(Difference(result, reference->launches[launch]), "") << "launch " << launch;
    }
    EXPECT_EQ(Difference((*engine)[c].total(), reference->total), "") << "total";
  }
}

void ExpectEqualBeforeScriptedMemory(const trace::TraceReader& reader, const machine::v1::Machine& machine,
                                     const AcceptedConfiguration& configuration, uint64_t seed, bool force_tick) {
  if (configuration.by_warp) return;
  NoteChecked(configuration.configuration);
  SCOPED_TRACE(configuration.Text());
  const uint32_t stage_cycles =
      (machine.core().warp_size() + machine.core().simd_width() - 1) / machine.core().simd_width();
  const uint32_t places =
      machine.core().front_end() == machine::v1::Core::IBUFFER ? 1 + static_cast<uint32_t>(seed % 4) : 1;
  SortedIssueLog engine_log;
  ReplayOptions options;
  options.machine = machine;
  options.observer = &engine_log;
  options.force_tick = force_tick;
  const auto checked = CheckConfiguration(configuration.configuration);
  ASSERT_TRUE(checked.ok()) << checked.status();
  ScriptedMemory memory(seed, stage_cycles, places);
  ChunkCache cache(reader, CacheBounds::Of(ReplayOptions::kDefaultCacheBytes, /*once=*/true));
  const std::unique_ptr<SharedState> shared = MakeSharedState(*checked, machine);
  std::vector<result::v1::LaunchResult> launches;
  for (const trace::LaunchView& launch : reader.launches()) {
    if (!launch.launch.recorded()) continue;
    const LaunchRun run{reader, launch, *checked, 0, options, cache, memory, *shared, {}};
    const auto result = ReplayLaunch(run);
    ASSERT_TRUE(result.ok()) << result.status();
    launches.push_back(*result);
  }
  SortedIssueLog reference_log;
  ScriptedMemory reference_memory(seed, stage_cycles, places);
  const auto reference =
      ReplayByReference(reader, configuration.configuration, machine, &reference_log, {.memory = &reference_memory});
  ASSERT_TRUE(reference.ok()) << reference.status();
  EXPECT_EQ(Difference(engine_log.Sorted(), reference_log.Sorted()), "");
  ASSERT_EQ(launches.size(), reference->launches.size());
  for (size_t i = 0; i < launches.size(); ++i) {
    EXPECT_EQ(Difference(launches[i], reference->launches[i]), "") << "launch " << i;
  }
}

}  // namespace heddle::replay
