// What all slots of an SM lack, in a number: for policies of tests that look at everything there is to see.
#ifndef HEDDLE_TESTS_REPLAY_SUM_OF_LACKS_H_
#define HEDDLE_TESTS_REPLAY_SUM_OF_LACKS_H_

#include <cstddef>
#include <cstdint>

#include "replay/seams/issue_view.h"
#include "replay/seams/warp_editor.h"
#include "replay/seams/warp_table.h"
#include "tests/random/random.h"

namespace heddle::replay {

// Changes, but for chance, with every answer of the view, with the slot that it is about and with the time. At most
// 0xffff per slot, so that sums of many do not overflow.
inline uint64_t SumOfLacks(const IssueView& view, const WarpEditor& editor) {
  const WarpTable& table = editor.table();
  uint64_t sum = 0;
  for (size_t i = 0; i < table.state.size(); ++i) {
    const auto slot = static_cast<SlotId>(i);
    if (table.state[slot] == SlotState::kFree) continue;
    const auto lack = static_cast<uint64_t>(view.LackOf(slot));
    const uint64_t awaited = view.AwaitedRegister(slot).value_or(~0u);
    sum += MixAll({editor.now(), i, lack, awaited}) & 0xffff;
  }
  return sum;
}

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_REPLAY_SUM_OF_LACKS_H_
