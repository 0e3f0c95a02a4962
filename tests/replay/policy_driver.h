// Drives one divergence policy and one scheduler over a scenario, cycle by cycle: one SM, one issue per cycle, scripted
// latencies (the toy machine of the worked examples). It has no pipeline and no statistics, so that a test can look at
// a policy by itself, and say which of policy and engine is wrong.
#ifndef HEDDLE_TESTS_REPLAY_POLICY_DRIVER_H_
#define HEDDLE_TESTS_REPLAY_POLICY_DRIVER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "replay/seams/divergence_policy.h"
#include "replay/seams/warp_scheduler.h"
#include "replay/warps/formation.h"
#include "tests/replay/scenario.h"
#include "traces/format/program/predication.h"

namespace heddle::replay {

class PolicyDriver {
 public:
  struct Options {
    std::string divergence = "pdom";  // as on the command line: name:key=value,...
    std::string scheduler = "fifo";
    int warp_size = 4;
    // Cycles from issue to completion of a thread's instruction; a warp takes its slowest thread's. Absent: 1.
    std::function<uint32_t(uint32_t thread, Pc pc)> latency = {};
    Cycle max_cycles = 2000;
    // Called at the end of every cycle.
    std::function<void(Cycle, const DivergencePolicy&, const WarpTable&)> look = {};
  };

  // All thread blocks of the scenario are resident from cycle 0.
  PolicyDriver(Scenario scenario, Options options);

  // Runs to the end and returns the log as Scenario::Format gives it. " stuck" follows the log if live threads are left
  // and nothing can happen any more or max_cycles have passed, " failed: why" if the policy broke a rule.
  std::string Run();

  const std::vector<LoggedIssue>& issues() const { return issues_; }
  uint64_t issued_threads() const;
  // Value of a counter that the policy or the scheduler declares.
  uint64_t divergence_counter(const std::string& name) const;
  uint64_t scheduler_counter(const std::string& name) const;

 private:
  // A slot lacks nothing but what its state says: there are no buffers, registers or units.
  class View final : public IssueView {
   public:
    explicit View(const PolicyDriver& driver) : driver_(driver) {}
    Lack LackOf(SlotId slot) const override;
    std::optional<uint32_t> AwaitedRegister(SlotId /*slot*/) const override { return std::nullopt; }

   private:
    const PolicyDriver& driver_;
  };

  struct Step {
    Position at;
    Position return_to;
    bool passes = false;  // comes by under a guard that is false
  };
  struct Thread {
    std::vector<Step> steps;
    size_t done = 0;
    uint64_t block = 0;
    uint32_t index = 0;
    bool finished() const { return done == steps.size(); }
    Position at() const { return finished() ? Position::Exit() : steps[done].at; }
  };
  struct InFlight {
    Cycle done = 0;
    SlotId slot = kNoSlot;
  };
  struct BlockState {
    uint32_t live = 0;
    uint32_t arrived = 0;
    std::vector<SlotId> waiting;  // in order of arrival
  };

  // The program as warps walk it: guards that only decide whether a thread computes are no branches.
  const trace::Program& program() const { return predicated_.has_value() ? predicated_->program : scenario_.program(); }
  // What a thread of the scenario walks there.
  std::vector<Step> StepsOf(size_t block, uint32_t thread) const;
  void Admit();
  // The slot's instruction is done, and so is its barrier if it is one.
  void Complete(SlotId slot, bool released);
  void Issue(Cycle now);
  // Barriers that all live threads have come to: their warps go on in the next cycle, in order of their slots.
  void OpenBarriers();
  void Release(std::vector<SlotId> slots, const std::vector<BlockId>& blocks);
  std::string Log(const std::string& end) const;

  const Scenario scenario_;
  const std::optional<trace::PredicatedProgram> predicated_;
  Options options_;
  PolicyInfo divergence_info_;
  PolicyInfo scheduler_info_;
  std::optional<SharedState> shared_;  // always there after the constructor
  std::unique_ptr<DivergencePolicy> policy_;
  std::unique_ptr<WarpScheduler> scheduler_;
  std::unique_ptr<Formation> formation_;
  std::vector<Thread> threads_;  // by hardware thread
  std::vector<BlockState> blocks_;
  std::vector<InFlight> in_flight_;    // in order of issue
  std::map<SlotId, bool> at_barrier_;  // slots whose latest instruction is a barrier; true: it has been released
  std::vector<SlotId> opened_;
  std::vector<BlockId> opened_blocks_;
  std::vector<LoggedIssue> issues_;
  const View view_{*this};
};

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_REPLAY_POLICY_DRIVER_H_
