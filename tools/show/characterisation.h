// What a recorded program does, in the numbers that decide what it can show about divergence and scheduling.
#ifndef HEDDLE_TOOLS_SHOW_CHARACTERISATION_H_
#define HEDDLE_TOOLS_SHOW_CHARACTERISATION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/machine.pb.h"
#include "tools/show/launch_study.h"
#include "tools/show/machine_report.h"
#include "traces/format/read/reader.h"

namespace heddle::tools {

// Of all recorded launches of one trace together. Instructions are those of the trace's level of code; counts are of
// thread-instructions unless said otherwise.
struct Characterisation {
  std::string trace;  // file name without folders and ending
  uint64_t launches = 0;
  uint64_t blocks = 0;
  uint64_t threads = 0;
  uint64_t bytes = 0;                // of the file
  uint64_t static_instructions = 0;  // of all programs that ran
  uint64_t thread_instructions = 0;
  // Of these:
  uint64_t memory = 0;   // loads, stores, atomics, texture accesses
  uint64_t special = 0;  // special functions and divisions
  uint64_t control = 0;  // branches, calls, returns, exits, convergence barriers of machine code
  uint64_t barriers = 0;

  // Warps of consecutive threads in an ideal memory, without a machine.
  struct Width {
    uint32_t warp_size = 0;
    uint64_t issues = 0;  // with reconvergence at post-dominators
    uint64_t least_issues =
        0;  // that any regrouping within blocks needs, threads in their home lanes (HARP, section 3.2)
  };
  std::vector<Width> widths;

  // If a program is machine code: whose code that is, its registers and what it executes.
  std::string machine_code;
  MachineRow machine;

  std::optional<CharacterisationTiming> timing;

  const Width* width(uint32_t warp_size) const;
  // Per cent: active lanes of the issued warps; nothing if none was issued.
  std::optional<double> SimdEfficiency(uint32_t warp_size) const;
  std::optional<double> LeastIssuesEfficiency(uint32_t warp_size) const;
};

struct CharacterisationOptions {
  std::vector<uint32_t> warp_sizes = {4, 8, 16, 32, 64};  // must contain 32
  std::optional<machine::v1::Machine> machine;            // without one there is no timing
};

// Errors: those of reading the trace, and of the replay.
absl::StatusOr<Characterisation> Characterise(const trace::TraceReader& reader, const CharacterisationOptions& options);

// Which of the papers' classes a program belongs to, in the words of docs/reference/workloads.md; empty without timing
// or issues.
//   CAPRI, Table 2: "divergent" below 87 % of SIMD efficiency (its own lie at 83 % and below, the others above 90 %).
//   HARP, Table 5: type C without divergence (95 % and more), else A with few threads (at most 256 per scheduler with
//   two schedulers per SM), else B.
//   BAWS, section 5: "barrier" if its warps wait at barriers for more than 15 % of their time.
//   VTW, Table 1: "unequal warps" if in more than half of the blocks the warps' instructions differ by a tenth.
std::string Classes(const Characterisation& one);

// A table in Markdown, and comma-separated values with a title line: one row per trace. Traces of machine code have one
// more table behind the first one, which the values do not have.
std::string CharacterisationMarkdown(const std::vector<Characterisation>& all);
// The table of CharacterisationMarkdown for a terminal of `width` columns, as several tables.
std::string CharacterisationText(const std::vector<Characterisation>& all, size_t width);
std::string CharacterisationCsv(const std::vector<Characterisation>& all);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_SHOW_CHARACTERISATION_H_
