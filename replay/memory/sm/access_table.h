// The memory instructions of an SM that are under way.
#ifndef HEDDLE_REPLAY_MEMORY_SM_ACCESS_TABLE_H_
#define HEDDLE_REPLAY_MEMORY_SM_ACCESS_TABLE_H_

#include <cstdint>

#include "replay/memory/ports/latency_histogram.h"
#include "replay/memory/ports/memory_system.h"
#include "replay/memory/sm/memory_profile.h"
#include "traces/base/pool.h"

namespace heddle::replay {

using RecordId = uint32_t;
inline constexpr RecordId kNoRecord = ~RecordId{0};

// Who gets data: lanes of an instruction.
struct Waiter {
  RecordId record = kNoRecord;  // instruction cache: the fetcher
  LaneMask lanes = 0;           // 0: a store, which needs no way to the registers
};

// From the submission of an instruction to its last data (loads), or to its last acknowledgement (stores). Tells the
// core what is done.
class AccessTable {
 public:
  explicit AccessTable(MemoryClient& client) : client_(client) {}

  // `profile` outlives this.
  void SetProfile(MemoryProfile* profile) { profile_ = profile; }

  // An instruction begins, which waits for the data of `steps` steps (stores: 0). `joined`: its lanes come together.
  RecordId Begin(const WarpAccess& access, bool joined, uint32_t steps, Cycle now) {
    const RecordId id = records_.Take();
    records_[id] = {
        .id = access.id, .pc = access.pc, .left = steps, .submitted = now, .lanes = access.lanes, .joined = joined};
    return id;
  }
  Pc pc(RecordId id) const { return records_[id].pc; }

  // Data of a step are there in cycle `at`; `returned` as for MemoryClient::LanesDone.
  void Deliver(const Waiter& waiter, Cycle at, bool returned);
  // The instruction has to wait for memory beyond the core.
  void NotifyOffCore(RecordId id) {
    Record& record = records_[id];
    if (record.off_core) return;
    record.off_core = true;
    client_.WaitsOffCore(record.id);
  }

  // A store waits for one acknowledgement more.
  void ExpectAcknowledgement(RecordId id) { ++records_[id].left; }
  // One of them comes.
  void Acknowledge(RecordId id, Cycle now) {
    Record& record = records_[id];
    if (--record.left != 0 || record.in_stage) return;
    client_.StoreAcknowledged(record.id, now);
    records_.Give(id);
  }
  // All steps of a store are made, and its data have left the stage by cycle `done`.
  void LeaveStage(RecordId id, LaneMask lanes, Cycle done);

  // Whether no instruction is under way.
  bool empty() const { return records_.idle(); }
  // Cycles from the submission of loads, atomics and texture accesses to their last data.
  const LatencyHistogram& load_to_use() const { return load_to_use_; }

 private:
  struct Record {
    AccessId id = 0;
    Pc pc = 0;
    uint32_t left = 0;  // loads: steps without data; stores: acknowledgements that are to come
    Cycle submitted = 0;
    Cycle last = 0;      // the latest data so far
    LaneMask lanes = 0;  // if they come together
    bool joined = false;
    bool returned = false;
    bool in_stage = true;
    bool off_core = false;  // the core was told
  };

  MemoryClient& client_;
  Pool<Record> records_;
  MemoryProfile* profile_ = nullptr;  // only if asked for
  LatencyHistogram load_to_use_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_SM_ACCESS_TABLE_H_
