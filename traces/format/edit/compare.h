// `heddle trace diff`: whether two traces say the same, and the first place where they do not.
#ifndef HEDDLE_TRACES_FORMAT_EDIT_COMPARE_H_
#define HEDDLE_TRACES_FORMAT_EDIT_COMPARE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "traces/format/edit/copy.h"
#include "traces/format/read/reader.h"

namespace heddle::trace {

// The first difference: lowest launch, then block, then thread, then instruction of the thread. Places that the
// difference does not have are absent: two programs differ for a whole launch. Whose code a program is
// (program/code_level.h) is told in place of the first instruction that differs, or last, if all else is the same.
struct TraceDifference {
  std::optional<uint32_t> launch;
  std::optional<uint64_t> block;
  std::optional<uint32_t> thread;
  std::optional<uint64_t> instruction;  // dynamic: how many the thread ran before
  std::optional<Pc> pc;                 // index of the instruction in its program
  bool levels_differ = false;           // of the code: threads were not compared (compare_levels.h)
  std::string what;                     // such as "address 0x10 in a.htrace, 0x14 in b.htrace"

  // "launch 0, block 3, thread 5, instruction 17 (pc 136)", or "the whole trace".
  std::string Place() const;
};

// Compares what was recorded: level of the code (traces of different levels have no threads to compare), warp width,
// address windows; launches with their geometry, programs and source places; decisions and addresses of every thread.
// Chunks, cuts, models, compression, producer, provenance, transfers, certificates and annotations play no part.
// nullopt = the same. Memory: that of two decoded chunks; of blocks that are cut in time in different places, also what
// the one trace is ahead of the other, at most 2^28 decisions and addresses (ResourceExhausted above).
absl::StatusOr<std::optional<TraceDifference>> CompareTraces(const TraceReader& a, const TraceReader& b,
                                                             const ProgressCallback& progress = {});

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_EDIT_COMPARE_H_
