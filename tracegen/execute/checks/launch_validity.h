// What a recorded launch relies on, for its certificate in the trace and for the user.
#ifndef HEDDLE_TRACEGEN_EXECUTE_CHECKS_LAUNCH_VALIDITY_H_
#define HEDDLE_TRACEGEN_EXECUTE_CHECKS_LAUNCH_VALIDITY_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "proto/trace.pb.h"
#include "tracegen/execute/block/block_observer.h"
#include "tracegen/execute/checks/outside_reads.h"
#include "tracegen/execute/checks/shared_check.h"
#include "tracegen/execute/checks/warp_wait_check.h"
#include "tracegen/execute/launch/geometry.h"
#include "tracegen/instrument/instrument.h"

namespace heddle::tracegen {

// By instruction a number that stands for the constant that it stores, 0 = none is known. The kernel records.
std::vector<uint32_t> StoredConstants(const InstrumentedKernel& kernel, const trace::Program& program);

// Shows blocks to several observers.
class Observers final : public BlockObserver {
 public:
  // Which must outlive it.
  void Add(BlockObserver* observer) { observers_.push_back(observer); }
  bool empty() const { return observers_.empty(); }

  absl::Status AddBlock(uint64_t block, BlockRecords& records, std::span<const uint64_t> consumed, bool last) override;
  bool CanBeCopied() const override;
  std::string TakeFindings() override;
  void AddFindings(std::string_view findings) override;

 private:
  std::vector<BlockObserver*> observers_;
};

// Watches one launch. The kernel is the form that records.
class LaunchValidity {
 public:
  LaunchValidity(const InstrumentedKernel& kernel, const trace::Program& program, const Geometry& geometry,
                 bool lockstep);
  LaunchValidity(const LaunchValidity&) = delete;
  LaunchValidity& operator=(const LaunchValidity&) = delete;

  // From here on counts reads outside these.
  void CountOutsideReads(const std::vector<trace::v1::Allocation>& allocations);

  // For LaunchRunner::SetObservers while the launch is recorded; empty if there is nothing to look for.
  std::vector<BlockObserver*> observers();
  // The launch has run.
  void End();

  // After End. Adds what was found to what is known already (runs under other orders). False if there is nothing to
  // tell.
  bool Complete(trace::v1::Certificate& certificate) const;

  // What the user should know of this and of the certificate, with source lines; the same kernel gives the same lines.
  std::vector<std::string> Warnings(const trace::v1::Certificate& certificate) const;
  // The one of them that tells of threads of a warp which share data without synchronization, also of a launch that has
  // failed: that is a likely cause. Empty if none were seen, or the launch ran in lockstep.
  std::string HandOffWarning() const;

 private:
  std::string PlaceOf(trace::Pc pc) const;

  const InstrumentedKernel& kernel_;
  const trace::Program& program_;
  bool lockstep_;
  uint32_t threads_;
  std::optional<SharedMemoryCheck> shared_;  // if the launch has shared memory
  // By rank of the block in its cluster; the first has all when the launch has ended.
  std::vector<WarpWaitCheck> waits_;  // if the kernel has loops that wait
  std::vector<OutsideReads> outside_;
  std::vector<Observers> observers_;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_CHECKS_LAUNCH_VALIDITY_H_
