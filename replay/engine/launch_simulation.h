// One launch as it is replayed: its SMs, its memory, its dispatcher, and their time.
#ifndef HEDDLE_REPLAY_ENGINE_LAUNCH_SIMULATION_H_
#define HEDDLE_REPLAY_ENGINE_LAUNCH_SIMULATION_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "replay/core/ibuffer/ibuffer_core.h"
#include "replay/core/launch_context.h"
#include "replay/core/sm_core.h"
#include "replay/engine/calendar.h"
#include "replay/engine/replay_launch.h"
#include "replay/machine/machine.h"
#include "replay/memory/ports/memory_system.h"
#include "replay/memory/sm/memory_profile.h"
#include "replay/seams/block_dispatcher.h"
#include "replay/stats/instruction_profile.h"
#include "replay/stats/time_series.h"
#include "replay/stats/warp_timeline.h"

namespace heddle::replay {

// Blocks of a launch by their position among the recorded ones.
class RecordedBlocks {
 public:
  explicit RecordedBlocks(const trace::LaunchView& launch) {
    for (uint32_t chunk = 0; chunk < launch.chunks.size(); ++chunk) {
      if (launch.chunks[chunk].part() != 0) continue;
      chunk_.push_back(chunk);
      first_.push_back(count_);
      count_ += launch.chunks[chunk].block_count();
    }
  }
  uint64_t count() const { return count_; }
  RecordedBlock At(uint64_t position) const {
    const size_t i = static_cast<size_t>(std::upper_bound(first_.begin(), first_.end(), position) - first_.begin()) - 1;
    return {chunk_[i], static_cast<uint32_t>(position - first_[i])};
  }

 private:
  std::vector<uint32_t> chunk_;
  std::vector<uint64_t> first_;  // position of the chunk's first block
  uint64_t count_ = 0;
};

// The SMs, the memory and the dispatcher of a run, and the time they share.
class LaunchSimulation : public SmWaker {
 public:
  // `occupancy` must hold a block. Everything referred to must outlive the object.
  LaunchSimulation(const LaunchRun& run, const Occupancy& occupancy);

  // Runs the launch to its end. Call it once.
  absl::Status Run();
  // The present cycle of the machine; an SM may be ahead of it.
  const Cycle& clock() const { return now_; }
  // What was counted, after Run, checked for sums that must agree.
  absl::StatusOr<result::v1::LaunchResult> Result();

  void WakeSm(uint32_t sm) override { calendar_.Wake(sm, now_); }

 private:
  // --- launch_simulation.cc: the parts and time
  // The statistics that only some runs collect.
  void PrepareMetrics();
  // The SM, which is made when it gets its first block: launches are often smaller than the machine, and then most of
  // their time would go into SMs that they never use.
  SmCore& SmAt(uint32_t sm) {
    if (sm_at_[sm] == nullptr) MakeSm(sm);
    return *sm_at_[sm];
  }
  void MakeSm(uint32_t sm);
  // Blocks per SM where the resources of an SM allow `blocks`: GPGPU-Sim spreads a grid that is smaller than what the
  // machine holds over all SMs.
  uint64_t Residency(int blocks) const {
    const uint64_t fit = static_cast<uint64_t>(blocks);
    if (!run_.options.machine.dispatch().spread_small_grids()) return fit;
    return std::min(fit, std::max<uint64_t>((blocks_.count() + sm_count_ - 1) / sm_count_, 1));
  }
  // Runs an SM that has run cycle `now` on alone, as long as nothing outside it can matter to it: that keeps what it
  // works on in the host's caches. Returns the next cycle in which the SM is to be looked at.
  inline Cycle RunAhead(uint32_t sm, Cycle now);
  // The same for an SM whose memory is isolated, and which has been asked when it wakes.
  Cycle RunAlone(uint32_t sm, Cycle now);
  // Notes when DRAM has answered requests since the last call.
  void NoteServed();
  // Whether an SM that has been silent for long may wait for a memory that goes on answering.
  bool IsServed(const SmCore& sm);
  // What every waiting thread, resource and queue waits for. `found`: how the hang was noticed.
  absl::Status Deadlock(const std::string& found) const;
  // All blocks have retired, and nothing is under way in the memory.
  bool Done() const;
  uint64_t ThreadInstructions() const {
    uint64_t sum = 0;
    for (const auto& sm : sms_) sum += sm->counters().thread_instructions;
    return sum;
  }

  // --- launch_result.cc
  // What all SMs and the memory have counted in the cycles before `until`: all of them have been run, and nothing in
  // it.
  LaunchCounters CountUntil(Cycle until);
  // Ends the bins that end at or before `now`, in which nothing has run yet.
  void EndBins(Cycle now);
  // Writes the statistics that were asked for.
  absl::Status AddMetrics(result::v1::LaunchResult& result);
  // What only the front end with instruction buffers counts.
  absl::Status AddBufferResult(result::v1::LaunchResult& result) const;

  // --- launch_dispatch.cc
  absl::StatusOr<BlockArrival> ArrivalOf(uint64_t position);
  // A round of dispatch after the cycle before `first`: of whole blocks, or of warps.
  absl::Status Dispatch(Cycle first);
  absl::Status DispatchBlocks(Cycle first);
  absl::Status DispatchWarps(Cycle first);

  const LaunchRun& run_;
  LaunchContext context_;
  const RecordedBlocks blocks_;
  MemorySystem& memory_;
  Cycle service_cycles_ = 0;  // in which a DRAM that has requests answers one; 0 without DRAM
  uint64_t served_ = 0;       // MemorySystem::served_requests, as of served_at_
  Cycle served_at_ = 0;
  const uint32_t sm_count_;
  Calendar calendar_;  // component sm_count_ is the dispatcher
  uint64_t residency_ = 0;
  std::string limit_;
  std::optional<BufferSetup> buffer_setup_;  // of machines with instruction buffers
  std::optional<WarpProgressTotals> warp_progress_;
  std::optional<InstructionProfile> profile_;
  std::optional<MemoryProfile> memory_profile_;
  std::optional<WarpTimelines> timelines_;
  std::optional<TimeSeries> series_;
  Cycle next_bin_ = kNever;                   // the present bin ends before this cycle
  std::vector<std::unique_ptr<SmCore>> sms_;  // in the order of their first blocks
  std::vector<IBufferCore*> buffer_cores_;    // the same, if they have buffers
  std::vector<SmCore*> sm_at_;                // by number; null as long as the SM has not had a block
  std::unique_ptr<BlockDispatcher> dispatcher_;
  std::vector<SmOccupancy> occupancy_;
  std::vector<SmCore::Stretch> ahead_;  // by SM: what it has run beyond the time of the others
  std::unique_ptr<bool[]> accepted_;
  std::vector<bool> sent_;  // by block; where whole blocks are sent
  bool grid_assigned_ = false;
  bool watches_grid_ = false;     // a scheduler does: no SM may be ahead of the others when the grid is assigned
  bool dispatcher_asks_ = false;  // of the instructions of rows: no SM may be ahead of the others
  uint64_t room_ = 0;             // blocks that would still fit
  uint64_t resident_ = 0;
  uint64_t retired_ = 0;
  Cycle now_ = 0;
  Cycle end_ = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_ENGINE_LAUNCH_SIMULATION_H_
