// The time of a machine: when its SMs, its memory and its dispatchers run.
#ifndef HEDDLE_REPLAY_ENGINE_MACHINE_TIME_H_
#define HEDDLE_REPLAY_ENGINE_MACHINE_TIME_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/machine.pb.h"
#include "replay/engine/order/calendar.h"
#include "replay/engine/replay_launch.h"
#include "replay/memory/ports/memory_system.h"
#include "replay/seams/types.h"
#include "replay/trace/chunk_cache.h"

namespace heddle::replay {

class LaunchSimulation;

// Whether a memory that is slow goes on answering: then it is no hang that an SM is silent for long.
class MemoryService {
 public:
  MemoryService(const machine::v1::Machine& machine, const MemorySystem& memory);

  // Notes when DRAM has answered requests since the last call.
  void Note(Cycle now) {
    if (memory_.served_requests() == served_) return;
    served_ = memory_.served_requests();
    served_at_ = now;
  }
  // When an answer was noted last.
  Cycle last() const { return served_at_; }
  // In which a DRAM that has requests answers one; 0 without DRAM.
  Cycle longest() const { return longest_; }

 private:
  const MemorySystem& memory_;
  Cycle longest_ = 0;
  uint64_t served_ = 0;  // MemorySystem::served_requests, as of served_at_
  Cycle served_at_ = 0;
};

// Runs the launches that have SMs, cycle by cycle, together with the memory that they share. A cycle is run only if
// something can happen in it.
class MachineTime final : public SmWaker {
 public:
  // What is done about the launches between cycles, where there may be several.
  class Keeper {
   public:
    virtual ~Keeper() = default;
    // Every SM has run cycle `now`; the rounds of dispatch behind it come next. Launches begin and end here, and SMs
    // change hands: what is done holds from the next cycle on.
    virtual absl::Status EndCycle(Cycle now) = 0;
    // Whether no launch is left.
    virtual bool done() const = 0;
  };

  // Time begins at cycle 0, with a memory that is drained. Everything referred to must outlive the object, as must the
  // launches that are added. `progress`: LaunchRun::progress.
  MachineTime(const ReplayOptions& options, MemorySystem& memory, ChunkCache& cache,
              std::function<bool(uint64_t)> progress);

  // --- launches
  // The launch runs from now on; it has no SM yet. In the order of these calls launches are looked at.
  void Add(LaunchSimulation& launch) { launches_.push_back(&launch); }
  // The launch has ended, and has no SM any more; or, with GiveAll, all of them.
  void Remove(const LaunchSimulation& launch);
  // The SM belongs to the launch, or, if null, to none.
  void Give(uint32_t sm, LaunchSimulation* launch) { owners_[sm] = launch; }
  void GiveAll(LaunchSimulation& launch) { owners_.assign(owners_.size(), &launch); }
  const std::vector<LaunchSimulation*>& launches() const { return launches_; }

  // Runs the launches to their end: without a keeper the one launch that was added, which has all SMs, until nothing
  // is under way in the memory either. Errors: of policies and recordings, deadlock with a report, DeadlineExceeded,
  // Cancelled.
  absl::Status Run(Keeper* keeper);

  // What every waiting thread, resource and queue waits for. `found`: how the hang was noticed.
  absl::Status Deadlock(const std::string& found);

  // The present cycle of the machine; an SM may be ahead of it.
  const Cycle& clock() const { return now_; }
  // Of the SMs and, behind them, the dispatchers.
  Calendar& calendar() { return calendar_; }
  MemoryService& service() { return service_; }
  // Nothing is under way outside the SMs.
  bool memory_drained() const { return memory_.drained(); }
  // The launch that was being run when the run ended with an error.
  const LaunchSimulation* present() const { return present_; }

  void WakeSm(uint32_t sm) override { calendar_.Wake(sm, now_); }

 private:
  // One cycle in which something may happen. `keeper` may be null.
  absl::Status RunCycle(Cycle now, Keeper* keeper);
  // Now and then: looks for a hang, and asks whether to go on.
  absl::Status Report();
  absl::Status CheckBound(Cycle now);

  const ReplayOptions& options_;
  MemorySystem& memory_;
  ChunkCache& cache_;
  const std::function<bool(uint64_t)> progress_;
  MemoryService service_;
  Calendar calendar_;
  std::vector<LaunchSimulation*> launches_;
  std::vector<LaunchSimulation*> owners_;  // by SM
  std::vector<uint32_t> awake_;            // in the present cycle
  const LaunchSimulation* present_ = nullptr;
  Cycle now_ = 0;
  // Of the reports.
  struct {
    Cycle next = 0;
    Cycle progress = 0;     // since when the number of issued instructions has been the same
    uint64_t issued = 0;    // instructions
    uint64_t of_ended = 0;  // instructions of launches that were removed
  } report_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_ENGINE_MACHINE_TIME_H_
