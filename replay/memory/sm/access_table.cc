#include "replay/memory/sm/access_table.h"

#include <algorithm>

namespace heddle::replay {

void AccessTable::Deliver(const Waiter& waiter, Cycle at, bool returned) {
  Record& record = records_[waiter.record];
  record.last = std::max(record.last, at);
  record.returned |= returned;
  if (!record.joined) client_.LanesDone(record.id, waiter.lanes, at, returned);
  if (--record.left != 0) return;
  if (record.joined) client_.LanesDone(record.id, record.lanes, record.last, record.returned);
  load_to_use_.Record(record.last - record.submitted);
  if (profile_ != nullptr) {
    ++(*profile_)[record.pc].returns;
    (*profile_)[record.pc].load_to_use_sum += record.last - record.submitted;
  }
  records_.Give(waiter.record);
}

void AccessTable::LeaveStage(RecordId id, LaneMask lanes, Cycle done) {
  Record& record = records_[id];
  record.in_stage = false;
  client_.LanesDone(record.id, lanes, done, /*returned=*/false);
  if (record.left != 0) return;
  client_.StoreAcknowledged(record.id, done);
  records_.Give(id);
}

}  // namespace heddle::replay
