// The in-order pipeline of the front end with a single pipeline, from issue to write-back, before a memory with caches.
#ifndef HEDDLE_REPLAY_CORE_SINGLE_PIPELINE_SINGLE_PIPELINE_H_
#define HEDDLE_REPLAY_CORE_SINGLE_PIPELINE_SINGLE_PIPELINE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "replay/core/launch_context.h"
#include "replay/memory/ports/memory_system.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// One pipeline per issue port (Fung's thesis, section 5.1, has one port): a queue to the memory stage, the memory
// stage, the register behind it, and write-back with the queue of returned misses. The ports share the memory's stage
// and take turns at it. `docs/reference/timing.md`, section 4, has the rules.
//
// In a cycle the core calls Arrive for what came, WriteBack, Advance, and then HasRoom and Issue.
class SinglePipeline {
 public:
  // Lanes of a memory access: of one slot in their own lanes or, where an issue holds several slots, of all its slots
  // that do the same, numbered by their place in the issue.
  struct Access {
    LaneMask mask = 0;
    LaneMask in_time = 0;     // their data were there when the access left the stage
    LaneMask arrived = 0;     // their data came in another way
    LaneMask to_deliver = 0;  // they have not been handed to write-back
    int port = 0;
    bool in_stage = false;
    bool unacknowledged = false;  // a store that has not reached its last memory partition
    std::array<SlotId, kMaxLanes> slot;
    std::array<uint8_t, kMaxLanes> lane;  // in its slot
  };

  // What the pipeline asks of its core.
  class Core {
   public:
    virtual ~Core() = default;
    // The memory instruction that the slot has issued; null if it is not one.
    virtual const Step* AccessOf(SlotId slot) const = 0;
    virtual LaneMask LanesOf(SlotId slot) const = 0;
    // Gives the access to the memory's stage, which is free.
    virtual void SubmitAccess(AccessId id, const Access& access, Cycle now) = 0;
    // Results of the slot's instruction reach the registers.
    virtual void WriteBack(SlotId slot, LaneMask lanes) = 0;
    // Whether the policy has no room for what is written back: write-back waits.
    virtual bool write_back_blocked() const = 0;
  };

  // `several`: an issue may hold several slots. `lane_wise`: lanes whose data are there do not wait for the others.
  SinglePipeline(const LaunchContext& context, bool several, bool lane_wise, SmMemory& memory, Core& core);

  // Whether the stages of the port's pipeline have room for another issue.
  bool HasRoom(int port) const { return ports_[port].on_way.size() < capacity_; }
  // The slots of an issue enter; the threads' registers are read `extra` cycles late.
  void Issue(int port, std::span<const SlotId> slots, Cycle now, Cycle extra);

  // Data of lanes that are there at `at`. True if they go on with their access through the pipeline; otherwise the core
  // calls Arrive in cycle `at`.
  bool ArriveInStage(AccessId id, LaneMask lanes, Cycle at, bool returned, Cycle now);
  void Arrive(AccessId id, LaneMask lanes);
  // A store has been acknowledged.
  void Acknowledge(AccessId id);
  const Access& access(AccessId id) const { return accesses_[id]; }

  // Hands results to the core, returned misses first.
  void WriteBack(Cycle now);
  // Decides what is in the memory stage in the next cycle. After the memory's RunCycle.
  void Advance(Cycle now);
  // The next cycle with something to do, unless the memory or an issue changes it; kNever if there is none.
  Cycle NextWake(Cycle now) const;

 private:
  // The slots of one issue.
  struct Group {
    Cycle ready = 0;  // first cycle in which it may be in the memory stage
    bool memory = false;
    int count = 0;
    std::array<SlotId, kMaxLanes> slot;
    std::array<uint8_t, kMaxLanes> place;  // of a slot's first thread among the threads of the issue
  };
  struct Part {
    SlotId slot;
    LaneMask lanes;
  };
  // What goes to write-back together.
  struct Output {
    Cycle available = 0;
    Cycle hold = 0;  // write-back is taken for
    std::vector<Part> parts;
  };
  struct Returned {
    AccessId id;
    LaneMask lanes;
  };
  // First in, first out; a vector that is emptied now and then.
  template <typename T>
  class Queue {
   public:
    bool empty() const { return first_ == items_.size(); }
    size_t size() const { return items_.size() - first_; }
    const T& front() const { return items_[first_]; }
    void push(const T& item) {
      if (first_ == items_.size()) {
        items_.clear();
        first_ = 0;
      } else if (first_ >= 64) {
        items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(first_));
        first_ = 0;
      }
      items_.push_back(item);
    }
    void pop() { ++first_; }

   private:
    std::vector<T> items_;
    size_t first_ = 0;
  };
  struct Port {
    Queue<Group> on_way;  // to the memory stage
    // The memory stage.
    bool busy = false;
    Group group;
    Cycle entered = 0;
    bool passed = false;     // arithmetic: handed to the register
    Cycle leaves = 0;        // arithmetic: its last lanes leave with the end of this cycle
    uint64_t submitted = 0;  // memory: slots of the group whose access has been made
    bool accessing = false;  // an access of the group is in the memory's stage
    AccessId current = 0;
    Output building;
    // The register behind it.
    bool full = false;
    Output output;
    Queue<Returned> returned;
    Cycle write_free = 0;  // write-back is free from this cycle on
  };

  static constexpr int kNoPort = -1;
  void AdvanceStage(Port& port, int number, Cycle now);
  void EnterStage(Port& port, int number, Cycle now);
  // The next access of the group; false if there is none left.
  bool SubmitNext(Port& port, int number, Cycle now);
  // The access that was in the memory's stage has been made.
  void LeaveMemory();
  void AddParts(const Access& access, LaneMask lanes, std::vector<Part>& parts) const;
  void MoveToRegister(Port& port, Cycle now, Cycle hold);
  bool IsComplete(const Access& access) const { return (access.arrived | access.in_time) == access.mask; }
  AccessId NewAccess();
  void Delivered(AccessId id, LaneMask lanes);

  const Cycle depth_;
  const Cycle issue_cycles_;
  const size_t capacity_;  // issues on their way to the memory stage
  const bool several_;
  const bool lane_wise_;
  SmMemory& memory_;
  Core& core_;
  std::vector<Port> ports_;
  int turn_ = 0;             // the port that may use the memory's stage first
  int in_memory_ = kNoPort;  // the port whose access is in the memory's stage
  std::vector<Access> accesses_;
  std::vector<AccessId> free_accesses_;
  std::vector<Part> writing_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_SINGLE_PIPELINE_SINGLE_PIPELINE_H_
