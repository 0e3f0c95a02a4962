// The JSON that programs read: every rule of its form on real messages.
#include "tools/console/json.h"

#include <gtest/gtest.h>

#include "proto/machine.pb.h"
#include "proto/result.pb.h"
#include "proto/trace.pb.h"

namespace heddle::tools {
namespace {

TEST(Json, FieldsKeepTheirOrderAndTheirNames) {
  result::v1::SchedulerCycles cycles;
  cycles.set_total(10);
  cycles.set_memory(3);
  EXPECT_EQ(JsonLine(ToJson(cycles)), R"({"total":10,"issued":0,"stall":0,"memory":3,"idle":0})");
}

TEST(Json, LargeIntegersAreNumbers) {
  result::v1::SchedulerCycles cycles;
  cycles.set_total(18446744073709551615u);
  EXPECT_EQ(ToJson(cycles)["total"].dump(), "18446744073709551615");
}

TEST(Json, AnOptionalRatioIsAbsentUntilItIsDefined) {
  result::v1::Totals totals;
  EXPECT_EQ(JsonLine(ToJson(totals)), R"({"cycles":0,"warp_instructions":0,"thread_instructions":0})");
  totals.set_ipc(0);
  totals.set_lane_activity(45.5);
  EXPECT_EQ(JsonLine(ToJson(totals)),
            R"({"cycles":0,"warp_instructions":0,"thread_instructions":0,"ipc":0.0,"lane_activity":45.5})");
}

TEST(Json, MapsAreObjectsWithAscendingKeys) {
  result::v1::LaunchResult launch;
  (*launch.mutable_divergence_counter())["splits"] = 2;
  (*launch.mutable_divergence_counter())["merges"] = 1;
  (*launch.mutable_divergence_counter())["warps"] = 0;
  EXPECT_EQ(ToJson(launch)["divergence_counter"].dump(), R"({"merges":1,"splits":2,"warps":0})");
  EXPECT_EQ(ToJson(launch)["scheduler_counter"].dump(), "{}");
}

TEST(Json, ListsArePresentWhenEmpty) {
  result::v1::LaunchResult launch;
  EXPECT_EQ(ToJson(launch)["issues_by_size"].dump(), "[]");
  launch.add_issues_by_size(0);
  launch.add_issues_by_size(7);
  EXPECT_EQ(ToJson(launch)["issues_by_size"].dump(), "[0,7]");
}

TEST(Json, ASubMessageIsPresentIfItWasSetEvenToZeros) {
  result::v1::LaunchResult launch;
  EXPECT_FALSE(ToJson(launch).contains("scheduler_cycles"));
  launch.mutable_scheduler_cycles();
  EXPECT_EQ(ToJson(launch)["scheduler_cycles"].dump(), R"({"total":0,"issued":0,"stall":0,"memory":0,"idle":0})");
}

TEST(Json, OnlyTheChosenMemberOfAOneofIsPresent) {
  machine::v1::Memory memory;
  EXPECT_EQ(ToJson(memory).dump(), "{}");
  memory.mutable_fixed()->set_global_cycles(9);
  EXPECT_EQ(ToJson(memory)["fixed"]["global_cycles"], 9);
}

TEST(Json, EnumerationsAreNamesAndBytesAreHexadecimal) {
  machine::v1::Core core;
  core.set_front_end(machine::v1::Core::THESIS);
  EXPECT_EQ(ToJson(core)["front_end"], "THESIS");
  trace::v1::Index index;
  index.set_content_sha256(std::string("\x00\xff\x1a", 3));
  EXPECT_EQ(ToJson(index)["content_sha256"], "00ff1a");
}

TEST(Json, IsOneLineWhateverTheText) {
  machine::v1::Machine machine;
  machine.set_name("two\nlines \"quoted\"");
  const std::string line = JsonLine(ToJson(machine));
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(line)["name"], machine.name());
}

TEST(Json, ReplacesWhatIsNoUnicode) {
  EXPECT_EQ(JsonLine(nlohmann::ordered_json(std::string("a\xff"))), "\"a\xef\xbf\xbd\"");
}

// Programs of others read these files: a name may be added, but none may change or go without a new `schema` number.
TEST(Json, TheSchemaOfAResultIsStable) {
  result::v1::Result result;
  result.set_schema(1);
  result.mutable_total()->set_ipc(1);
  result.mutable_total()->set_lane_activity(1);
  result.mutable_provenance()->mutable_machine()->mutable_memory()->mutable_fixed();
  result.mutable_divergence();
  result.mutable_scheduler();
  result.mutable_dispatch();
  auto* launch = result.add_launch();
  launch->mutable_scheduler_cycles();
  launch->mutable_idle_threads();
  launch->set_ipc(1);
  launch->set_lane_activity(1);
  launch->set_simd_utilisation(1);
  launch->set_depth_utilisation(1);
  const nlohmann::ordered_json json = ToJson(result);

  const auto expect_fields = [](const nlohmann::ordered_json& object, std::initializer_list<const char*> names) {
    for (const char* name : names) EXPECT_TRUE(object.contains(name)) << name << " is missing in " << object.dump();
  };
  expect_fields(json, {"schema", "provenance", "divergence", "scheduler", "dispatch", "launch", "total", "note"});
  expect_fields(json["total"], {"cycles", "warp_instructions", "thread_instructions", "ipc", "lane_activity"});
  expect_fields(json["provenance"], {"heddle_version", "trace_digest", "abstraction_level", "trace_producer",
                                     "trace_target", "trace_optimization", "machine", "override"});
  expect_fields(json["divergence"], {"name", "parameter"});
  expect_fields(json["launch"][0], {"launch", "kernel", "cycles", "warp_instructions", "thread_instructions", "ipc",
                                    "lane_activity", "simd_utilisation", "depth_utilisation", "blocks", "threads",
                                    "blocks_per_sm", "residency_limit", "barriers", "scheduler_cycles", "idle_threads",
                                    "issues_by_size", "divergence_counter", "scheduler_counter"});
  expect_fields(json["launch"][0]["scheduler_cycles"], {"total", "issued", "stall", "memory", "idle"});
  expect_fields(json["launch"][0]["idle_threads"],
                {"cycles", "dependency", "barrier", "inactive", "reconverging", "finished", "ready"});
  expect_fields(json["provenance"]["machine"]["memory"]["fixed"], {"global_cycles", "shared_cycles"});
}

}  // namespace
}  // namespace heddle::tools
