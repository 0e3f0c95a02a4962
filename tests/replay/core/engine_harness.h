// Runs hand-made traces through the engine, with policies that tests define.
#ifndef HEDDLE_TESTS_REPLAY_CORE_ENGINE_HARNESS_H_
#define HEDDLE_TESTS_REPLAY_CORE_ENGINE_HARNESS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/machine.pb.h"
#include "proto/result.pb.h"
#include "replay/engine/replay.h"
#include "replay/seams/divergence_policy.h"
#include "tests/replay/scenario.h"
#include "tests/traces/program_builder.h"
#include "traces/format/read/reader.h"

namespace heddle::replay {

// The toy machine: one SM, warps of 4, one issue per cycle, everything takes one cycle.
machine::v1::Machine Toy();

// One issue: "cycle:pc[threads by lane]", as in "3:2[0 1 - 3]"; pc counts instructions, `-` is a lane without thread.
class IssueLog : public IssueObserver {
 public:
  void Issued(const IssueEvent& event) override;
  std::string text() const;
  // The issues in order of time, with thread blocks: those of different SMs are told in any order, since one SM may be
  // ahead of another.
  std::vector<std::string> Sorted() const;
  const std::vector<LoggedIssue>& issues() const { return issues_; }

 private:
  std::vector<LoggedIssue> issues_;
};

struct Outcome {
  absl::Status status;
  result::v1::Result result;
  IssueLog log;
  const result::v1::LaunchResult& launch() const { return result.launch(0); }
};
struct RunOptions {
  machine::v1::Machine machine = Toy();
  std::string divergence = "pdom";
  std::string scheduler = "lrr";
  std::string fetch = "round_robin";
  std::string dispatch = "thread_blocks";
  bool force_tick = false;
  bool force_regrouping = false;
  uint64_t cache_bytes = 256u << 20;
  uint64_t max_cycles = 0;
  MetricOptions metrics{};
};
Outcome RunTrace(const trace::TraceReader& trace, const RunOptions& options = {});

// A trace of one launch of a program; `threads` holds all threads, block after block.
std::unique_ptr<trace::TraceReader> MakeTrace(const trace::v1::KernelProgram& program, uint32_t blocks,
                                              const std::vector<trace::testing::ThreadTrace>& threads,
                                              const trace::v1::FileHeader& header = trace::testing::MakeHeader());

// A thread that decides and accesses as given.
trace::testing::ThreadTrace Thread(std::vector<uint8_t> decisions, std::vector<uint64_t> addresses = {});

// Registers a divergence policy for this test program; the name must be new. `make` is called once per SM and launch.
void RegisterPolicy(const std::string& name,
                    std::function<std::unique_ptr<DivergencePolicy>(const DivergenceContext&)> make);

// Keeps every warp as it is; a warp that diverges is split for good. The base of the test policies.
class SplittingPolicy : public DivergencePolicy {
 public:
  Verdict Resolve(const Resolution& resolution, WarpEditor& editor) override;
};

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_REPLAY_CORE_ENGINE_HARNESS_H_
