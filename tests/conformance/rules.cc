#include "tests/conformance/rules.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "tests/replay/lane_activity_oracle.h"

namespace heddle::replay {
namespace {

namespace v1 = trace::v1;

// Cycles of a port between two issues.
uint64_t IssueCycles(const machine::v1::Machine& machine) {
  if (machine.core().front_end() == machine::v1::Core::IBUFFER) return 1;
  return (machine.core().warp_size() + machine.core().simd_width() - 1) / machine.core().simd_width();
}

std::string ThreadText(const LoggedLane& lane) {
  return "block " + std::to_string(lane.block) + " thread " + std::to_string(lane.thread);
}

// Steps of the threads by block and thread.
class Scripts {
 public:
  explicit Scripts(const LoggedLaunch& run) {
    for (const ExpandedBlock& block : *run.blocks) blocks_[block.block] = &block;
  }
  const std::vector<ScriptStep>* Find(const LoggedLane& lane) const {
    const auto it = blocks_.find(lane.block);
    if (it == blocks_.end() || lane.thread >= it->second->threads.size()) return nullptr;
    return &it->second->threads[lane.thread];
  }
  size_t Threads(uint64_t block) const { return blocks_.at(block)->threads.size(); }

 private:
  std::map<uint64_t, const ExpandedBlock*> blocks_;
};

uint64_t TraceLength(const LoggedLaunch& run) {
  uint64_t length = 0;
  for (const ExpandedBlock& block : *run.blocks) {
    for (const std::vector<ScriptStep>& thread : block.threads) length += thread.size();
  }
  return length;
}

}  // namespace

std::string CheckExecution(const LoggedLaunch& run) {
  const Scripts scripts(run);
  std::map<std::pair<uint64_t, uint32_t>, size_t> next;
  std::map<std::pair<uint64_t, uint32_t>, Cycle> free_at;
  std::map<uint64_t, uint32_t> sm_of_block;
  for (const IssueEntry& issue : run.issues) {
    for (const LoggedLane& lane : issue.lanes) {
      const std::vector<ScriptStep>* steps = scripts.Find(lane);
      if (steps == nullptr) return issue.Text() + ": " + ThreadText(lane) + " is not in the trace";
      const std::pair key(lane.block, lane.thread);
      const size_t step = next[key]++;
      if (step >= steps->size()) return issue.Text() + ": " + ThreadText(lane) + " has ended";
      if ((*steps)[step].pc != lane.pc) {
        return issue.Text() + ": " + ThreadText(lane) + " should execute pc " + std::to_string((*steps)[step].pc * 8);
      }
      if (issue.cycle < free_at[key]) return issue.Text() + ": " + ThreadText(lane) + " has an instruction in flight";
      free_at[key] = issue.cycle + IssueCycles(*run.machine);
      if (sm_of_block.emplace(lane.block, issue.sm).first->second != issue.sm) {
        return issue.Text() + ": block " + std::to_string(lane.block) + " is on another SM";
      }
    }
  }
  for (const ExpandedBlock& block : *run.blocks) {
    for (uint32_t thread = 0; thread < block.threads.size(); ++thread) {
      if (next[{block.block, thread}] == block.threads[thread].size()) continue;
      return "block " + std::to_string(block.block) + " thread " + std::to_string(thread) + " executed " +
             std::to_string(next[{block.block, thread}]) + " of " + std::to_string(block.threads[thread].size()) +
             " instructions";
    }
  }
  return {};
}

std::string CheckWarps(const LoggedLaunch& run) {
  const AcceptedConfiguration& configuration = *run.configuration;
  const uint32_t warp = run.machine->core().warp_size();
  for (const IssueEntry& issue : run.issues) {
    if (issue.lanes.empty()) return issue.Text() + ": it is empty";
    if (issue.lanes.size() > warp) return issue.Text() + ": it holds more than a warp";
    std::set<uint32_t> lanes;
    std::set<std::pair<uint64_t, uint32_t>> threads;
    for (const LoggedLane& lane : issue.lanes) {
      if (!lanes.insert(lane.lane).second) return issue.Text() + ": a lane holds two threads";
      if (!threads.insert({lane.block, lane.thread}).second) return issue.Text() + ": a thread is in two lanes";
      if (lane.lane >= warp) return issue.Text() + ": a lane is beyond the warp";
      if (!configuration.mixed_pcs && lane.pc != issue.lanes[0].pc) return issue.Text() + ": it holds several PCs";
      if (!configuration.mixes_blocks && !configuration.mixed_pcs && lane.block != issue.lanes[0].block) {
        return issue.Text() + ": it holds several blocks";
      }
      const uint32_t static_warp = lane.thread / warp;
      uint32_t home = lane.thread % warp;
      if (configuration.swizzled && warp > 1 && static_warp % 2 == 1 && (home ^ 1) < warp) home ^= 1;
      if (!configuration.any_lane && lane.lane != home) {
        return issue.Text() + ": " + ThreadText(lane) + " is not in its home lane " + std::to_string(home);
      }
    }
  }
  return {};
}

// The log does not show when a thread's last instruction completes; it ends at its issue here, so that the check never
// blames a barrier that opened rightly.
std::string CheckBarriers(const LoggedLaunch& run) {
  const Scripts scripts(run);
  struct BlockState {
    std::map<uint32_t, std::set<uint32_t>> waiting;  // by barrier: threads
    std::map<uint32_t, Cycle> free_from;             // by thread: first cycle behind its last barrier
    std::map<uint32_t, size_t> steps;                // by thread: issued
    size_t ended = 0;
  };
  std::map<uint64_t, BlockState> blocks;
  for (size_t i = 0; i < run.issues.size();) {
    const Cycle cycle = run.issues[i].cycle;
    std::map<uint64_t, std::map<uint32_t, uint32_t>> counted;  // by block and barrier: bar.sync id, n
    std::set<uint64_t> touched;
    for (; i < run.issues.size() && run.issues[i].cycle == cycle; ++i) {
      for (const LoggedLane& lane : run.issues[i].lanes) {
        BlockState& block = blocks[lane.block];
        touched.insert(lane.block);
        for (const auto& [barrier, threads] : block.waiting) {
          if (!threads.contains(lane.thread)) continue;
          return run.issues[i].Text() + ": " + ThreadText(lane) + " waits at barrier " + std::to_string(barrier);
        }
        if (cycle < block.free_from[lane.thread]) {
          return run.issues[i].Text() + ": " + ThreadText(lane) + " goes on in the cycle in which its barrier opens";
        }
        const v1::Instruction& instruction = run.program->instruction(lane.pc);
        if (instruction.op() == v1::OP_BARRIER) {
          block.waiting[instruction.barrier_id()].insert(lane.thread);
          counted[lane.block][instruction.barrier_id()] = instruction.barrier_threads();
        }
        const std::vector<ScriptStep>* steps = scripts.Find(lane);
        if (steps != nullptr && ++block.steps[lane.thread] == steps->size()) ++block.ended;
      }
    }
    for (uint64_t index : touched) {
      BlockState& block = blocks[index];
      for (auto& [barrier, threads] : block.waiting) {
        const uint32_t count = counted[index].contains(barrier) ? counted[index][barrier] : 0;
        const bool opens =
            count != 0 ? threads.size() >= count : threads.size() + block.ended >= scripts.Threads(index);
        if (!opens) continue;
        for (uint32_t thread : threads) block.free_from[thread] = cycle + 1;
        threads.clear();
      }
    }
  }
  return {};
}

std::string CheckPorts(const LoggedLaunch& run) {
  const uint64_t issue_cycles = IssueCycles(*run.machine);
  std::map<std::pair<uint32_t, uint32_t>, Cycle> free_at;
  std::map<uint32_t, uint64_t> issues_of_sm;
  for (const IssueEntry& issue : run.issues) {
    if (issue.sm >= run.machine->sms()) return issue.Text() + ": there is no such SM";
    if (issue.port >= run.machine->core().schedulers()) return issue.Text() + ": there is no such port";
    if (issue.cycle % issue_cycles != 0) return issue.Text() + ": not a scheduler cycle";
    Cycle& free = free_at[{issue.sm, issue.port}];
    if (issue.cycle < free) return issue.Text() + ": its port is busy";
    free = issue.cycle + issue_cycles;
    ++issues_of_sm[issue.sm];
  }
  for (const auto& [sm, issues] : issues_of_sm) {
    const uint64_t ports = run.machine->core().schedulers();
    const uint64_t least = (issues * issue_cycles + ports - 1) / ports;
    if (run.result->cycles() < least) {
      return "SM " + std::to_string(sm) + " made " + std::to_string(issues) + " issues in " +
             std::to_string(run.result->cycles()) + " cycles, they take " + std::to_string(least);
    }
  }
  return {};
}

std::string CheckOracle(const LoggedLaunch& run) {
  if (run.configuration->mixed_pcs) return {};
  LaneActivityOracle::Options options;
  options.warp_size = run.machine->core().warp_size();
  options.lane_fixed = !run.configuration->any_lane;
  options.swizzle_even_odd = run.configuration->swizzled;
  options.scope_is_block = !run.configuration->mixes_blocks;
  LaneActivityOracle oracle(options);
  for (const ExpandedBlock& block : *run.blocks) {
    for (uint32_t thread = 0; thread < block.threads.size(); ++thread) {
      for (const ScriptStep& step : block.threads[thread]) oracle.Add(block.block, thread, step.pc, step.depth);
    }
  }
  if (run.issues.size() >= oracle.warps()) return {};
  return std::to_string(run.issues.size()) + " issues, but no regrouping of this scope does with less than " +
         std::to_string(oracle.warps());
}

std::string CheckResult(const LoggedLaunch& run) {
  const result::v1::LaunchResult& result = *run.result;
  const auto equal = [](const char* what, uint64_t is, uint64_t should) {
    return is == should ? std::string()
                        : std::string(what) + " is " + std::to_string(is) + ", not " + std::to_string(should);
  };
  uint64_t issues = 0;
  uint64_t threads = 0;
  for (int i = 0; i < result.issues_by_size_size(); ++i) {
    issues += result.issues_by_size(i);
    threads += result.issues_by_size(i) * static_cast<uint64_t>(i + 1);
  }
  const result::v1::SchedulerCycles& classes = result.scheduler_cycles();
  const result::v1::IdleThreads& idle = result.idle_threads();
  const uint64_t block_threads = run.blocks->empty() ? 0 : run.blocks->front().threads.size();
  const uint64_t states =
      idle.dependency() + idle.barrier() + idle.inactive() + idle.reconverging() + idle.finished() + idle.ready();
  uint64_t barriers = 0;
  for (const ExpandedBlock& block : *run.blocks) {
    for (const std::vector<ScriptStep>& thread : block.threads) {
      barriers += std::count_if(thread.begin(), thread.end(), [&](const ScriptStep& step) {
        return run.program->instruction(step.pc).op() == v1::OP_BARRIER;
      });
    }
  }
  const uint64_t sm_port_cycles = result.cycles() * run.machine->sms() * run.machine->core().schedulers();
  for (const std::string& wrong :
       {equal("thread_instructions", result.thread_instructions(), TraceLength(run)),
        equal("warp_instructions", result.warp_instructions(), run.issues.size()),
        equal("issues_by_size: the sum", issues, run.issues.size()),
        equal("issues_by_size: threads", threads, result.thread_instructions()),
        equal("scheduler_cycles.issued", classes.issued(), run.issues.size() + result.inserted_instructions()),
        equal("scheduler_cycles: the sum", classes.issued() + classes.stall() + classes.memory() + classes.idle(),
              classes.total()),
        equal("barriers", result.barriers(), barriers), equal("blocks", result.blocks(), run.blocks->size()),
        equal("threads", result.threads(), run.blocks->size() * block_threads),
        // Where warps come one by one, blocks are there in part.
        equal("idle_threads: the rest of whole blocks",
              block_threads == 0 || run.configuration->by_warp ? 0 : states % block_threads, 0)}) {
    if (!wrong.empty()) return wrong;
  }
  const bool whole = !run.configuration->by_warp;
  if (whole && states < idle.cycles() * block_threads) return "idle_threads: less than one block in an idle cycle";
  if (whole && states > idle.cycles() * block_threads * result.blocks_per_sm()) {
    return "idle_threads: more than all blocks";
  }
  if (classes.total() * IssueCycles(*run.machine) >
      sm_port_cycles + sm_port_cycles / std::max<uint64_t>(result.cycles(), 1) * IssueCycles(*run.machine)) {
    return "scheduler_cycles.total is beyond the cycles of the launch";
  }
  for (const auto& [name, ratio, defined] :
       {std::tuple("lane_activity", result.lane_activity(), result.has_lane_activity()),
        std::tuple("simd_utilisation", result.simd_utilisation(), result.has_simd_utilisation()),
        std::tuple("depth_utilisation", result.depth_utilisation(), result.has_depth_utilisation())}) {
    if (!run.issues.empty() && (!defined || !(ratio > 0) || ratio > 100.0000001)) {
      return std::string(name) + " is " + std::to_string(ratio);
    }
  }
  return {};
}

std::string CheckAll(const LoggedLaunch& run) {
  for (const auto check : {CheckExecution, CheckWarps, CheckBarriers, CheckPorts, CheckOracle, CheckResult}) {
    if (std::string wrong = check(run); !wrong.empty()) return wrong;
  }
  if (run.machine->core().front_end() != machine::v1::Core::IBUFFER) return {};
  for (const auto check : {CheckDependences, CheckUnits}) {
    if (std::string wrong = check(run); !wrong.empty()) return wrong;
  }
  return {};
}

}  // namespace heddle::replay
