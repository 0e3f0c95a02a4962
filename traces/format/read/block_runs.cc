#include "traces/format/read/block_runs.h"

#include "traces/format/chunk/walk.h"

namespace heddle::trace {

void AddBlockRuns(const Program& program, const DecodedChunk& chunk, std::vector<uint64_t>& runs) {
  std::vector<uint64_t> threads(chunk.paths.size(), 0);
  for (const uint32_t path : chunk.path_of_thread) ++threads[path];
  for (size_t p = 0; p < chunk.paths.size(); ++p) {
    const PathView& path = chunk.paths[p];
    WalkState state{path.start_block, {path.call_stack.begin(), path.call_stack.end()}, path.extent == Extent::kEnded};
    PackedDecisions decisions(path);
    uint64_t instructions = 0;
    (void)Walk(program, path.extent, decisions, state, ~uint64_t{0}, instructions,
               [&](uint32_t b, const Block&) { runs[b] += threads[p]; });
  }
}

}  // namespace heddle::trace
