#include "tests/replay/engine_runner.h"

#include <memory>
#include <utility>

#include "replay/engine/replay.h"
#include "replay/machine/machine.h"
#include "replay/seams/divergence_policy.h"

namespace heddle::replay {
namespace {

class Recorder final : public IssueObserver {
 public:
  explicit Recorder(std::vector<LoggedIssue>& issues) : issues_(issues) {}
  void Issued(const IssueEvent& event) override {
    LoggedIssue issue;
    issue.cycle = event.cycle;
    for (const IssueEvent::Lane& lane : event.lanes) {
      issue.members.push_back({lane.lane, lane.pc, lane.block, lane.thread});
    }
    issues_.push_back(std::move(issue));
  }

 private:
  std::vector<LoggedIssue>& issues_;
};

}  // namespace

EngineRun RunOnEngine(const Scenario& scenario, const std::string& divergence, const std::string& scheduler,
                      int warp_size, const std::vector<machine::v1::ScriptedLatency>& latencies,
                      uint32_t resident_blocks) {
  EngineRun run;
  ReplayOptions options;
  auto machine = LoadMachine("toy");
  if (!machine.ok()) {
    run.log = machine.status().ToString();
    return run;
  }
  options.machine = *std::move(machine);
  options.machine.mutable_core()->set_warp_size(static_cast<uint32_t>(warp_size));
  options.machine.mutable_core()->set_simd_width(static_cast<uint32_t>(warp_size));
  for (const machine::v1::ScriptedLatency& latency : latencies) {
    *options.machine.mutable_core()->add_scripted_latency() = latency;
  }
  if (resident_blocks != 0) options.machine.mutable_core()->set_max_blocks(resident_blocks);
  Recorder recorder(run.issues);
  options.observer = &recorder;
  Configuration configuration;
  configuration.divergence = PolicySpec::FromText(divergence);
  configuration.scheduler = PolicySpec::FromText(scheduler);
  const std::unique_ptr<trace::TraceReader> trace = scenario.Trace();
  const auto results = Replay(*trace, {configuration}, options);
  if (!results.ok()) {
    run.log = results.status().ToString();
    return run;
  }
  run.result = results->at(0);
  const auto policy = DivergenceRegistry::Get().Find(configuration.divergence.name);
  const bool by_lane = policy.ok() && !(*policy)->info.traits.mixed_pcs;
  run.log = scenario.Format(run.issues, static_cast<uint32_t>(warp_size), by_lane);
  return run;
}

}  // namespace heddle::replay
