// What a paper's kernel is computed from: which trace, how far its paths depend on the order of threads, and how many
// of its blocks an SM holds by each source of registers.
#ifndef HEDDLE_TOOLS_STUDY_REPRODUCE_KERNEL_FACTS_H_
#define HEDDLE_TOOLS_STUDY_REPRODUCE_KERNEL_FACTS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "proto/machine.pb.h"
#include "traces/format/read/reader.h"

namespace heddle::tools::reproduce {

// Registers of a thread, and how many blocks of a launch fit on an SM with them.
struct ResidencyBySource {
  uint32_t registers = 0;
  int blocks_per_sm = 0;  // 0 if not even one fits
};

struct KernelFacts {
  std::string problem;               // why there is no trace; then nothing below is set
  bool original = false;             // the paper's own program; else ours
  uint64_t thread_instructions = 0;  // of the launches that match
  // Per cent of the executed conditional and indirect branches that went elsewhere when the launches were captured
  // again under other orders of threads; nothing if a launch was not certified.
  std::optional<double> schedule_dependent;
  // Of the launch with the most threads, on the machine of the paper's baseline. Assembled: by the assembler's count
  // for sm_75, the oldest that is known; nothing if it is not.
  uint32_t threads_per_block = 0;
  ResidencyBySource counted;
  std::optional<ResidencyBySource> assembled;
};

// Above this many per cent of schedule-dependent branches a row is marked, and scores are also given without it.
inline constexpr double kMostScheduleDependent = 1;

// Facts of the launches of a trace whose kernels match the regular expression (empty = all). `baseline` may be null.
// Errors: those of the expression and of reading the trace.
absl::StatusOr<KernelFacts> FactsOf(const trace::TraceReader& reader, const std::string& kernels,
                                    const machine::v1::Machine* baseline);

}  // namespace heddle::tools::reproduce

#endif  // HEDDLE_TOOLS_STUDY_REPRODUCE_KERNEL_FACTS_H_
