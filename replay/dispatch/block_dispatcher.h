// The third seam: which thread block enters which SM, and when.
//
// To add a dispatcher: write replay/dispatch/policies/NAME.cc with a class that derives from BlockDispatcher and one
// HEDDLE_BLOCK_DISPATCHER registration. Nothing else is edited.
#ifndef HEDDLE_REPLAY_DISPATCH_BLOCK_DISPATCHER_H_
#define HEDDLE_REPLAY_DISPATCH_BLOCK_DISPATCHER_H_

#include <cstdint>
#include <optional>
#include <span>

#include "replay/core/types.h"
#include "replay/engine/policy_registry.h"

namespace heddle::replay {

// What a dispatcher sees of an SM.
struct SmOccupancy {
  int resident = 0;  // blocks on the SM
  int capacity = 0;  // the most that fit, from the occupancy rule
};

// Which recorded block goes to which SM.
struct Assignment {
  uint32_t sm = 0;
  uint64_t block = 0;  // position among the recorded blocks of the launch, from 0
};

// One instance per launch. Asked once per cycle while blocks are left and some SM has room; may make one assignment per
// SM and cycle.
class BlockDispatcher {
 public:
  virtual ~BlockDispatcher() = default;
  // The next assignment of this cycle, or nullopt if there is none (any more). `accepted` marks the SMs that have taken
  // a block in this cycle already.
  virtual std::optional<Assignment> Next(std::span<const SmOccupancy> sms, std::span<const bool> accepted) = 0;
  virtual void Retired(uint32_t /*sm*/, uint64_t /*block*/) {}
  virtual bool done() const = 0;  // nothing is left to assign
  virtual std::span<const uint64_t> counters() const { return {}; }
};

struct DispatchContext {
  uint64_t blocks;  // recorded blocks of the launch
  uint32_t sms;
};

using DispatchRegistry = PolicyRegistry<BlockDispatcher, DispatchContext>;

#define HEDDLE_BLOCK_DISPATCHER(...) HEDDLE_REGISTER_POLICY(::heddle::replay::DispatchRegistry, __VA_ARGS__)

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_DISPATCH_BLOCK_DISPATCHER_H_
