// Traces of Accel-Sim as a trace of ours.
#ifndef HEDDLE_TOOLS_EXCHANGE_ACCELSIM_IMPORT_TRACES_H_
#define HEDDLE_TOOLS_EXCHANGE_ACCELSIM_IMPORT_TRACES_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace heddle::tools::accelsim {

struct ImportSummary {
  uint64_t launches = 0;
  uint64_t thread_instructions = 0;
  uint64_t false_guards = 0;       // of these: run with a guard that was false
  uint64_t warp_instructions = 0;  // of the traces
  std::vector<std::string> notes;  // what the traces did not say, or said twice
};

// Reads kernelslist.g in `folder` and the kernels that it names, and writes them to the trace `path`: each thread's
// instructions and addresses out of the warps' masks, the static program out of what was run (observed_program.h).
// Kernels are read twice, block after block; memory: the threads of one block. An annotation of the trace says what
// such a trace cannot support. `progress` gets kernels read so far and in all. Refuses what is incomplete or
// contradicts itself (kernel_file.h, observed_program.h), kernels of different address windows, addresses outside of
// their window.
absl::StatusOr<ImportSummary> ImportTraces(const std::string& folder, const std::string& path, int zstd_level,
                                           const std::function<void(uint64_t done, uint64_t total)>& progress);

}  // namespace heddle::tools::accelsim

#endif  // HEDDLE_TOOLS_EXCHANGE_ACCELSIM_IMPORT_TRACES_H_
