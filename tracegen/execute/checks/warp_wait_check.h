// Finds, in what the threads of a block have recorded, where threads of one warp would have waited for one another if
// they had run together.
#ifndef HEDDLE_TRACEGEN_EXECUTE_CHECKS_WARP_WAIT_CHECK_H_
#define HEDDLE_TRACEGEN_EXECUTE_CHECKS_WARP_WAIT_CHECK_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "proto/trace.pb.h"
#include "tracegen/execute/block/block_observer.h"
#include "tracegen/instrument/thread_context.h"
#include "traces/format/chunk/walk.h"
#include "traces/format/program/program.h"

namespace heddle::tracegen {

// Threads run one after the other while they are recorded, so that a lock is often free and a flag set when the next
// one comes to it, and nobody waits. Here the threads of a warp go along their paths together, lowest basic block
// first, as on a device that lets them meet again as early as possible (barriers hold all back). Looked for are
// * locks: threads that try together to take the same one; all but one would wait;
// * signals: a thread that polls memory which another one of its warp changes later.
// Kernels without loops that wait need none of this.
class WarpWaitCheck final : public BlockObserver {
 public:
  // Of one launch of `program`, which must outlive the check. `awaited`: InstrumentedKernel::awaited.
  WarpWaitCheck(const trace::Program& program, uint32_t threads, std::span<const uint32_t> awaited);

  absl::Status AddBlock(uint64_t block, BlockRecords& records, std::span<const uint64_t> consumed, bool last) override;
  bool CanBeCopied() const override { return true; }
  std::string TakeFindings() override;
  void AddFindings(std::string_view findings) override;

  // By instruction that waits. Of the examples, the one with threads closest together, the first of these.
  const std::map<trace::Pc, trace::v1::WarpWait>& waits() const { return waits_; }

 private:
  enum Role : uint8_t { kNone, kLock, kPoll, kWrite };
  struct Access {
    uint64_t address = 0;
    trace::Pc pc = 0;
    uint32_t lane = 0;
    Role role = kNone;
  };
  // A basic block on a thread's path, and its first access.
  struct Visit {
    uint32_t block = 0;
    uint32_t position = 0;
    uint32_t barriers = 0;  // passed before
  };
  struct Lane {
    std::vector<Visit> path;
    size_t next = 0;
  };

  // Threads of a warp that have polled an address: the first one, and the first other one.
  struct Pollers {
    Access first;
    Access other;
  };

  void FollowThread(uint32_t thread, BlockRecords& records, bool to_exit, Lane& lane);
  bool MayWait(uint32_t lanes, uint32_t first, BlockRecords& records, std::span<const uint64_t> consumed);
  void RunTogether(uint64_t block, uint32_t lanes, uint32_t first, BlockRecords& records,
                   std::span<const uint64_t> consumed);
  void RunStep(uint64_t block, uint32_t first, std::span<const Access> accesses);
  void Add(const Access& waits, uint32_t other, uint64_t block, uint32_t first);

  const trace::Program& program_;
  const uint32_t threads_;
  std::vector<Role> roles_;        // by instruction
  std::vector<uint8_t> looks_;     // by basic block: whether one of its accesses has a role
  std::vector<uint8_t> barriers_;  // by basic block: how many it has
  std::vector<uint64_t> order_;    // by basic block: the lowest goes first
  std::vector<trace::WalkState> states_;
  std::vector<uint32_t> passed_;  // barriers, by thread
  bool in_block_ = false;
  std::vector<Lane> lanes_;
  std::unordered_map<uint64_t, Pollers> polled_;  // since the last barrier, by address
  uint32_t polled_behind_ = 0;                    // barriers
  std::map<trace::Pc, trace::v1::WarpWait> waits_;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_CHECKS_WARP_WAIT_CHECK_H_
