#include "traces/format/read/part_check.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace heddle::trace {

void PartCheck::Check(const ThreadPlace& place) {
  const DecodedChunk& chunk = place.chunk;
  if (chunk.part == 0) {
    states_.clear();
    if (chunk.last_part) return;
    states_.assign(chunk.path_of_thread.size(), WalkState());
  } else if (states_.empty()) {
    return;  // the part in front could not be read, which has been reported
  }
  for (size_t t = 0; t < chunk.path_of_thread.size(); ++t) {
    const PathView& path = chunk.paths[chunk.path_of_thread[t]];
    WalkState& state = states_[t];
    const bool ended = path.extent == Extent::kEnded;
    const bool meets =
        ended ? state.ended
              : !state.ended && path.start_block == state.block &&
                    std::equal(path.call_stack.begin(), path.call_stack.end(), state.stack.begin(), state.stack.end());
    if (!meets) {
      findings_.Add(
          Finding::Severity::kError, "part-continuity", [&] { return place.Of(t); },
          [&]() -> std::string {
            if (ended) return "the thread is marked as ended, but its part before did not reach an exit";
            if (state.ended) return "the thread goes on behind its exit";
            return absl::StrCat("starts at block ", path.start_block, " with ", path.call_stack.size(),
                                " calls pending, the part before stopped at block ", state.block, " with ",
                                state.stack.size());
          });
    }
    state = WalkState{path.start_block, {path.call_stack.begin(), path.call_stack.end()}, ended};
    PackedDecisions decisions(path);
    uint64_t instructions = 0;
    (void)Walk(program_, path.extent, decisions, state, ~uint64_t{0}, instructions, [](uint32_t, const Block&) {});
  }
}

}  // namespace heddle::trace
