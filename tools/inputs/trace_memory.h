// --trace-memory: how much decoded trace data a command keeps.
#ifndef HEDDLE_TOOLS_INPUTS_TRACE_MEMORY_H_
#define HEDDLE_TOOLS_INPUTS_TRACE_MEMORY_H_

#include <cstdint>

#include "replay/engine/replay.h"
#include "replay/trace/decoding_counters.h"

namespace heddle::tools {

// In MiB.
inline constexpr uint64_t kTraceMemory = replay::ReplayOptions::kDefaultCacheBytes >> 20;
inline constexpr uint64_t kMostTraceMemory = uint64_t{1} << 20;
inline constexpr char kTraceMemoryHelp[] =
    "MiB of decoded trace data that may be kept, by all threads; if the thread blocks on the SMs read more,\n"
    "parts are decoded again, and a note says how often";

// A note if parts of traces were decoded again for want of memory.
void NoteDecoding(const replay::DecodingCounters& decoding, uint64_t mebibytes);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_INPUTS_TRACE_MEMORY_H_
