// How often the threads of a chunk ran each basic block.
#ifndef HEDDLE_TRACES_FORMAT_READ_BLOCK_RUNS_H_
#define HEDDLE_TRACES_FORMAT_READ_BLOCK_RUNS_H_

#include <cstdint>
#include <vector>

#include "traces/format/chunk/decoded_chunk.h"
#include "traces/format/program/program.h"

namespace heddle::trace {

// Adds the chunk's threads to `runs`, which has a number for each block of the program. Every path is walked once.
void AddBlockRuns(const Program& program, const DecodedChunk& chunk, std::vector<uint64_t>& runs);

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_READ_BLOCK_RUNS_H_
