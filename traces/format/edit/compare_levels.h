// Two recordings of one program at different levels of code, such as PTX and machine code. Their threads ran other
// instructions, so only names, source lines and counts can be compared.
#ifndef HEDDLE_TRACES_FORMAT_EDIT_COMPARE_LEVELS_H_
#define HEDDLE_TRACES_FORMAT_EDIT_COMPARE_LEVELS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "traces/format/edit/copy.h"
#include "traces/format/read/reader.h"

namespace heddle::trace {

// "machine", or the header's word for other programs: "ptx", or "sass" for imported traces.
std::string LevelOf(const TraceReader& reader, const v1::KernelProgram& program);

// Whether headers, or programs of launches with the same number, are of different levels; in words, or empty.
std::string DescribeOtherLevel(const TraceReader& a, const TraceReader& b);

// Each pair: of the first trace, of the second one.
struct LineCounts {
  std::string place;  // "bfs.cu:12"; "-" where the trace does not tell
  uint64_t instructions[2] = {};
  uint64_t thread_instructions[2] = {};
};

struct KernelCounts {
  std::string kernel;
  std::string code[2];  // level, and whose code it is; empty in a trace without the kernel
  uint64_t launches[2] = {};
  uint64_t blocks[2] = {};  // recorded, as all below
  uint64_t threads[2] = {};
  uint64_t instructions[2] = {};  // static, of all programs of this name
  uint64_t registers[2] = {};     // of a thread: the most of one of them
  uint64_t thread_instructions[2] = {};
  uint64_t accesses[2] = {};
  std::vector<LineCounts> lines;  // ascending by file and line, the one without a place first
};

// Kernels by name: those of the first trace in the order of their launches, then what only the second one has. Errors:
// those of reading chunks.
absl::StatusOr<std::vector<KernelCounts>> CompareByLine(const TraceReader& a, const TraceReader& b,
                                                        const ProgressCallback& progress = {});

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_EDIT_COMPARE_LEVELS_H_
