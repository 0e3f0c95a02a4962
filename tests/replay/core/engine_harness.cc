#include "tests/replay/core/engine_harness.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/machine/machine.h"
#include "traces/format/write/writer.h"

namespace heddle::replay {
namespace {

void Require(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "harness: %s\n", status.ToString().c_str());
  std::abort();
}

}  // namespace

machine::v1::Machine Toy() {
  machine::v1::Machine machine;
  machine.set_name("toy");
  machine.set_sms(1);
  machine::v1::Core& core = *machine.mutable_core();
  core.set_front_end(machine::v1::Core::THESIS);
  core.set_warp_size(4);
  core.set_simd_width(4);
  core.set_schedulers(1);
  core.set_pipeline_depth(1);
  core.set_max_threads(64);
  core.set_max_blocks(8);
  machine::v1::FixedLatency& fixed = *machine.mutable_memory()->mutable_fixed();
  fixed.set_global_cycles(1);
  fixed.set_shared_cycles(1);
  fixed.set_local_cycles(1);
  fixed.set_constant_cycles(1);
  fixed.set_param_cycles(1);
  fixed.set_texture_cycles(1);
  fixed.set_atomic_cycles(1);
  return machine;
}

void IssueLog::Issued(const IssueEvent& event) {
  LoggedIssue issue;
  issue.cycle = event.cycle;
  for (const IssueEvent::Lane& lane : event.lanes) {
    issue.members.push_back({lane.lane, lane.pc, lane.block, lane.thread});
  }
  issues_.push_back(std::move(issue));
}

std::string IssueLog::text() const {
  std::vector<std::string> words;
  for (const LoggedIssue& issue : issues_) {
    std::vector<std::string> lanes;
    for (const LoggedIssue::Member& member : issue.members) {
      while (lanes.size() < member.lane) lanes.push_back("-");
      lanes.push_back(absl::StrCat(member.thread));
    }
    words.push_back(absl::StrCat(issue.cycle, ":", issue.members[0].pc, "[", absl::StrJoin(lanes, " "), "]"));
  }
  return absl::StrJoin(words, " ");
}

std::vector<std::string> IssueLog::Sorted() const {
  std::vector<std::string> issues;
  for (const LoggedIssue& issue : issues_) {
    std::string text = absl::StrCat(absl::Dec(issue.cycle, absl::kZeroPad12));
    for (const LoggedIssue::Member& member : issue.members) {
      absl::StrAppend(&text, " ", member.block, ".", member.thread, "@", member.lane, ":", member.pc);
    }
    issues.push_back(std::move(text));
  }
  std::sort(issues.begin(), issues.end());
  return issues;
}

Outcome RunTrace(const trace::TraceReader& trace, const RunOptions& options) {
  Outcome outcome;
  ReplayOptions replay;
  replay.machine = options.machine;
  replay.force_tick = options.force_tick;
  replay.force_regrouping = options.force_regrouping;
  replay.cache_bytes = options.cache_bytes;
  replay.max_cycles = options.max_cycles;
  replay.metrics = options.metrics;
  replay.observer = &outcome.log;
  Configuration configuration;
  configuration.divergence = PolicySpec::FromText(options.divergence);
  configuration.scheduler = PolicySpec::FromText(options.scheduler);
  configuration.fetch = PolicySpec::FromText(options.fetch);
  configuration.dispatch = PolicySpec::FromText(options.dispatch);
  auto results = Replay(trace, {configuration}, replay);
  outcome.status = results.status();
  if (results.ok()) outcome.result = results->at(0);
  return outcome;
}

std::unique_ptr<trace::TraceReader> MakeTrace(const trace::v1::KernelProgram& program, uint32_t blocks,
                                              const std::vector<trace::testing::ThreadTrace>& threads,
                                              const trace::v1::FileHeader& header) {
  static std::atomic<int> number = 0;
  const trace::testing::TemporaryFile file(absl::StrCat("engine_", getpid(), "_", number++, ".htrace"));
  auto writer = trace::TraceWriter::Create(file.path(), header);
  Require(writer.status());
  auto added = (*writer)->AddProgram(program);
  Require(added.status());
  const uint32_t per_block = static_cast<uint32_t>(threads.size() / blocks);
  Require((*writer)->BeginLaunch(trace::testing::MakeLaunch(program.id(), blocks, per_block)));
  for (uint32_t block = 0; block < blocks; ++block) {
    std::vector<trace::ThreadRecord> records;
    for (uint32_t i = 0; i < per_block; ++i) records.push_back(threads[block * per_block + i].record());
    Require((*writer)->AddBlock(block, records, trace::TraceWriter::kNoExpectation));
  }
  Require((*writer)->EndLaunch());
  Require((*writer)->Finish());
  auto reader = trace::TraceReader::Open(trace::FromMemory(trace::testing::ReadFile(file.path())), "test");
  Require(reader.status());
  return *std::move(reader);
}

trace::testing::ThreadTrace Thread(std::vector<uint8_t> decisions, std::vector<uint64_t> addresses) {
  trace::testing::ThreadTrace thread;
  thread.decisions = std::move(decisions);
  thread.addresses = std::move(addresses);
  return thread;
}

void RegisterPolicy(const std::string& name,
                    std::function<std::unique_ptr<DivergencePolicy>(const DivergenceContext&)> make) {
  PolicyInfo info;
  info.name = name;
  info.summary = "made by a test";
  DivergenceRegistry::Get().Register(
      std::move(info),
      [make = std::move(make)](const DivergenceContext& context, const Parameters&) { return make(context); });
}

Verdict SplittingPolicy::Resolve(const Resolution& resolution, WarpEditor& editor) {
  bool placed = false;
  for (const PathGroup& group : resolution.groups) {
    Lanes lanes = *resolution.lanes;
    lanes.mask = group.lanes;
    if (!placed && resolution.reason != ResolveReason::kLanes) {
      editor.Place(resolution.slot, group.at, lanes);
    } else {
      editor.Spawn(group.at, lanes);
    }
    placed = true;
  }
  if (!placed && resolution.reason != ResolveReason::kLanes) editor.Dissolve(resolution.slot);
  return Verdict::kAccepted;
}

}  // namespace heddle::replay
