// A trace of ours as traces of Accel-Sim.
#ifndef HEDDLE_TOOLS_EXCHANGE_ACCELSIM_EXPORT_TRACES_H_
#define HEDDLE_TOOLS_EXCHANGE_ACCELSIM_EXPORT_TRACES_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "traces/format/read/reader.h"

namespace heddle::tools::accelsim {

struct ExportSummary {
  uint64_t launches = 0;
  uint64_t warp_instructions = 0;
  std::vector<std::string> notes;  // what is not in the files
};

// Writes kernelslist.g and a .traceg (or .traceg.xz) per recorded launch to `folder`, which must be new or empty. Warps
// of 32 threads in linear order run as under the policy `pdom`: diverged paths one after the other, together again at
// the immediate post-dominator. PCs are 16 times the instruction's number. Machine code is written as it is, PTX as
// opcodes that stand for our classes. `progress` gets thread-instructions so far and in all. Refuses launches of which
// blocks are missing, warp operations of another width than 32, control flow that machine code cannot have, machine
// code that Accel-Sim does not know (sm_90), and barriers of some threads only.
absl::StatusOr<ExportSummary> ExportTraces(const trace::TraceReader& reader, const std::string& folder, bool compress,
                                           const std::function<void(uint64_t done, uint64_t total)>& progress);

}  // namespace heddle::tools::accelsim

#endif  // HEDDLE_TOOLS_EXCHANGE_ACCELSIM_EXPORT_TRACES_H_
