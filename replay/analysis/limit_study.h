// Limit studies on a recording, without a machine: how few issues could warps need?
//
// * Lane activity (HARP, section 3.2 and Figure 4): the threads of a block may be grouped into warps in any way and any
//   order. n(p, l) = times that instruction p is executed by the threads of the block whose home lane is l; a lane
//   serves one execution per issue and lanes combine freely, so instruction p needs max over l of n(p, l) issues. No
//   policy of the same scope and lane rule issues less.
// * Optimal reconvergence (Fung's thesis, section 3.3): the threads of a static warp may rejoin wherever their paths
//   allow, with full knowledge of them. Compared with reconvergence at post-dominators and with none.
#ifndef HEDDLE_REPLAY_ANALYSIS_LIMIT_STUDY_H_
#define HEDDLE_REPLAY_ANALYSIS_LIMIT_STUDY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "traces/format/read/reader.h"

namespace heddle::replay {

struct LimitOptions {
  uint32_t warp_size = 32;  // 1 to 64; threads of a warp have consecutive indices in their block
  // Lane activity.
  bool lane_fixed = true;      // threads keep their home lane; false: any lane, n(p) = sum over l, rounded up to warps
  bool swizzle = false;        // home lane (t mod W) xor (t / W mod 2) instead of t mod W
  bool scope_is_block = true;  // false: warps may mix all recorded blocks of the launch
  // Optimal reconvergence.
  bool reconvergence = true;      // false: leave it out
  uint64_t first_threads = 0;     // only warps among the first so many threads of a launch; 0 = all (Fung: 128)
  uint64_t max_cells = 64 << 20;  // table elements (bytes) of one alignment; longer warps count as PDOM
};

// A basic block's share in the lane-activity bound.
struct BlockLimit {
  uint32_t block = 0;       // index in the program
  uint64_t executions = 0;  // thread-instructions
  uint64_t issues = 0;      // of the bound
  // Issues beyond those of full warps: what even the best regrouping loses here.
  double lost_issues(uint32_t warp_size) const {
    return static_cast<double>(issues) - static_cast<double>(executions) / warp_size;
  }
};

struct LaunchLimits {
  uint32_t launch = 0;  // id
  std::string kernel;
  uint64_t thread_instructions = 0;
  uint64_t lane_activity_issues = 0;
  std::vector<BlockLimit> blocks;  // those that were executed, by index

  // Issues of the static warps in the study: never rejoining, at post-dominators, optimal. Instructions, ideal memory.
  uint64_t warps = 0;
  uint64_t studied_instructions = 0;  // thread-instructions of these warps
  uint64_t nrec_issues = 0;
  uint64_t pdom_issues = 0;
  uint64_t optimal_issues = 0;
  uint64_t heuristic_warps = 0;  // more than four different paths: the search was greedy, fewer issues may do
  uint64_t long_warps = 0;       // too long to align: counted with their PDOM issues
  uint64_t fallback_warps = 0;   // the greedy search found more issues than PDOM, whose list was taken
};

// Every recorded launch, in order of the run. Reads each chunk once; memory: one block's paths. Errors: those of
// TraceReader::ReadChunk, and InvalidArgument for a warp size out of range.
absl::StatusOr<std::vector<LaunchLimits>> StudyLimits(const trace::TraceReader& reader, const LimitOptions& options);

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_ANALYSIS_LIMIT_STUDY_H_
