// Two recordings of one program side by side: of two compilers, two levels of code, two versions of a source.
#ifndef HEDDLE_TOOLS_SHOW_COMPARISON_H_
#define HEDDLE_TOOLS_SHOW_COMPARISON_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/machine.pb.h"
#include "traces/format/read/reader.h"

namespace heddle::tools {

// One number of a kernel in both traces.
struct ComparedNumber {
  std::string key;        // "instructions.load"
  std::string title;      // for people, with the unit where it is no count: "SIMD efficiency [%]"
  int decimals = 0;       // 0: a count
  bool is_share = false;  // in per cent: the difference is in points, and no per cent are made of it
  // Absent where it is not defined, such as an efficiency without issues.
  std::optional<double> a;
  std::optional<double> b;

  std::optional<double> Difference() const;  // b - a
  std::optional<double> PerCent() const;     // 100 * (b - a) / a; absent if a is 0, or for shares
};

// All recorded launches of one kernel together.
struct ComparedKernel {
  std::string trace;   // of traces in folders: their common name there (inputs/trace_pairs.h); else empty
  std::string kernel;  // as both traces name it
  uint64_t launches = 0;
  uint64_t blocks = 0;  // recorded ones
  uint64_t threads = 0;
  // What its instructions are: "PTX 9.0 by NVVM 13.0 for sm_75".
  std::string code_a;
  std::string code_b;
  // What bounds the thread blocks of an SM: threads, blocks, registers, shared_memory, grid; empty without a machine.
  std::string residency_limit_a;
  std::string residency_limit_b;
  std::vector<ComparedNumber> numbers;

  const ComparedNumber* Find(const std::string& key) const;
};

// A kernel, or a trace of a folder, that one side has and the other lacks.
struct MissingPart {
  std::string trace;   // as in ComparedKernel
  std::string kernel;  // empty: the whole trace
  bool in_a = false;   // who has it
};

struct Comparison {
  std::vector<ComparedKernel> kernels;  // in the order of the first trace
  std::vector<MissingPart> missing;
};

// Launches are matched by the name of their kernel, and by their order among those of one name. `machine` is for what
// needs one: residency, splits of warps, transactions, cycles. Errors: no kernel in common; different numbers of
// launches of a kernel; launches that differ in grid, block, or in the thread blocks that were recorded; those of
// reading and replaying. Each says which trace, what, and what to do.
absl::StatusOr<Comparison> CompareRecordings(const trace::TraceReader& a, const trace::TraceReader& b,
                                             const std::optional<machine::v1::Machine>& machine);

// Who is compared, for the head of a report.
struct ComparedSides {
  std::string a;  // trace or folder
  std::string b;
  std::string machine;  // its name; empty without one
};

// A table for each kernel; of more than three kernels one table with their main numbers, a row for each kernel, and the
// geometric means of the ratios. For a terminal of `width` columns, or in Markdown.
std::string ComparisonText(const Comparison& comparison, const ComparedSides& sides, std::optional<size_t> width);
// One row for each number of each kernel, with a title line.
std::string ComparisonCsv(const Comparison& comparison);
// All numbers on one line. What is not defined is absent.
std::string ComparisonJson(const Comparison& comparison, const ComparedSides& sides);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_SHOW_COMPARISON_H_
