// What `heddle capture -- PROGRAM` tells the device processes of the program, through the environment.
#ifndef HEDDLE_TRACEGEN_APPLICATION_SETTINGS_H_
#define HEDDLE_TRACEGEN_APPLICATION_SETTINGS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/trace.pb.h"

namespace heddle::tracegen {

inline constexpr char kCaptureVariable[] = "HEDDLE_CAPTURE";
// Blocks that are live at once in programs that run without `heddle capture`.
inline constexpr char kResidentBlocksVariable[] = "HEDDLE_RESIDENT_BLOCKS";
// Set: CaptureSettings::own_stacks, for these programs.
inline constexpr char kOwnStacksVariable[] = "HEDDLE_OWN_STACKS";

// Set: CaptureSettings::allow_bounds, for these programs.
inline constexpr char kAllowBoundsVariable[] = "HEDDLE_ALLOW_BOUNDS";

// Which part of a run is recorded, and where to. Everything that is not recorded is executed all the same.
struct CaptureSettings {
  std::string folder;   // for the traces of the processes: 1.htrace, 2.htrace, ... in order of their start
  std::string kernels;  // POSIX extended regular expression, found anywhere in the demangled name; empty = all
  uint64_t first_launch = 0;
  uint64_t last_launch = ~uint64_t{0};
  uint64_t max_blocks = 0;  // of a launch; 0 = all
  trace::v1::BlockSelection::Rule block_rule = trace::v1::BlockSelection::WAVES;
  uint64_t seed = 0;                         // of RANDOM
  uint64_t max_instructions = ~uint64_t{0};  // of a process; reaching it is an error of the launch
  uint32_t certify = 0;                      // every launch again under so many other orders
  bool lockstep = false;                     // threads of a warp run together
  bool own_stacks = false;                   // threads wait at barriers on stacks of their own
  bool allow_bounds = false;                 // reads outside all allocations pass
  uint32_t resident_blocks = 1;              // of a launch that are live at once
  std::string architecture;                  // whose machine code is run and recorded, such as sm_80; empty: PTX is
  int zstd_level = 3;
  unsigned threads = 1;       // that compress
  unsigned jobs = 1;          // processes that the blocks of long launches are spread over
  bool keep_partial = false;  // leave what `heddle trace repack --recover` can read
  bool progress = false;      // on stderr
  bool notes = false;         // on stderr: how the capture goes about its work
  std::string command_line;   // for the trace's header; empty = not recorded
};

// The value of the environment variable, and back. Errors: text that Encode has not made.
std::string Encode(const CaptureSettings& settings);
absl::StatusOr<CaptureSettings> DecodeSettings(const std::string& text);

// Reads "A-B", "A-", "-B" or "A" into the launches to record; "waves", "first", "even" or "random:SEED" into the choice
// of blocks. InvalidArgument says what is possible.
absl::Status ReadLaunches(const std::string& text, CaptureSettings& settings);
absl::Status ReadBlockChoice(const std::string& text, CaptureSettings& settings);
// InvalidArgument: not a regular expression.
absl::Status CheckKernels(const std::string& expression);

// What of the run is not recorded, as the trace states it; empty if all of it is.
std::string DescribeChoice(const CaptureSettings& settings);

// What a device process leaves behind beside its trace.
struct CaptureOutcome {
  std::string program;    // base name of the application
  uint64_t launches = 0;  // all, in order of the run
  uint64_t recorded = 0;  // of them
  uint64_t blocks = 0;
  uint64_t threads = 0;
  uint64_t thread_instructions = 0;
  std::string failure;   // why there is no trace, or why it ends early; empty if all went well
  bool told = false;     // the program has printed `failure` itself
  bool complete = true;  // false: there is no trace
};
std::string Encode(const CaptureOutcome& outcome);
absl::StatusOr<CaptureOutcome> DecodeOutcome(const std::string& text);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_APPLICATION_SETTINGS_H_
