// What a recorded launch relies on, for its certificate in the trace and for the user.
#ifndef HEDDLE_TRACEGEN_EXECUTE_LAUNCH_VALIDITY_H_
#define HEDDLE_TRACEGEN_EXECUTE_LAUNCH_VALIDITY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proto/trace.pb.h"
#include "tracegen/execute/block_runner.h"
#include "tracegen/execute/shared_check.h"

namespace heddle::tracegen {

// By instruction a number that stands for the constant that it stores, 0 = none is known. The kernel records.
std::vector<uint32_t> StoredConstants(const InstrumentedKernel& kernel, const trace::Program& program);

// Watches one launch. The kernel is the form that records.
class LaunchValidity {
 public:
  LaunchValidity(const InstrumentedKernel& kernel, const trace::Program& program, const Geometry& geometry,
                 bool lockstep);
  // For BlockRunner::SetObserver while the launch is recorded; null if there is nothing to look for.
  BlockObserver* observer() { return shared_.has_value() ? &*shared_ : nullptr; }

  // Adds what was found to what is known already (runs under other orders). False if there is nothing to tell.
  bool Complete(trace::v1::Certificate& certificate) const;

  // What the user should know, with source lines; the same kernel gives the same lines.
  std::vector<std::string> Warnings() const;

 private:
  std::string PlaceOf(trace::Pc pc) const;

  const InstrumentedKernel& kernel_;
  const trace::Program& program_;
  bool lockstep_;
  std::optional<SharedMemoryCheck> shared_;  // if the launch has shared memory
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_LAUNCH_VALIDITY_H_
