// A kernel's trace in Accel-Sim's format (.traceg): header, then for each thread block and warp the instructions that
// the warp issued, each with the mask of its lanes. The format is that of Accel-Sim's NVBit tracer after its
// post-processing, versions 3 to 5 (github.com/accel-sim/accel-sim-framework: util/tracer_nvbit/README.md, and the
// reader gpu-simulator/trace-parser/trace_parser.cc).
#ifndef HEDDLE_TOOLS_EXCHANGE_ACCELSIM_KERNEL_FILE_H_
#define HEDDLE_TOOLS_EXCHANGE_ACCELSIM_KERNEL_FILE_H_

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/trace.pb.h"
#include "tools/exchange/accelsim/line_file.h"

namespace heddle::tools::accelsim {

inline constexpr uint32_t kWarpThreads = 32;
inline constexpr uint32_t kOurPcBytes = 16;  // from an instruction to the next one in files that export writes
inline constexpr char kMovedHeader[] = "heddle moved";      // see KernelHeader.moved
inline constexpr char kGuardedHeader[] = "heddle guarded";  // see KernelHeader.guarded
// In place of NVBit's version in files that `heddle trace export` writes; our own version follows.
inline constexpr char kOurNvbitVersion[] = "none (heddle ";
inline constexpr uint32_t kOldestTracer = 3;
inline constexpr uint32_t kNewestTracer = 5;
inline constexpr uint32_t kCopiesInPairs = 5;
inline constexpr uint64_t kMostRegisters = 255;  // that a thread of any GPU has
// What Accel-Sim reserves for a thread block's shared and for a thread's local memory in the generic address space.
inline constexpr uint64_t kWindowBytes = uint64_t{16} << 20;

struct KernelHeader {
  std::string name;
  trace::v1::Dim3 grid;   // thread blocks
  trace::v1::Dim3 block;  // threads
  uint64_t grid_blocks = 0;
  uint32_t block_threads = 0;
  uint64_t shared_bytes = 0;    // per thread block, static and dynamic
  uint64_t registers = 0;       // per thread
  uint64_t binary_version = 0;  // compute capability times ten; 0 where the tracer did not know it
  uint64_t stream = 0;          // handle of the CUDA stream
  uint64_t shared_base = 0;     // of the windows in the generic address space; 0 = not known
  uint64_t local_base = 0;
  std::string nvbit_version;
  uint32_t tracer_version = 0;
  bool has_lines = false;  // every instruction begins with its source line
  // Instructions that stand elsewhere in the program that was exported, by their numbers (PC / kOurPcBytes): those from
  // `first` on from `place` on, ascending by `first`. Files of ours only; empty = all stand where they stood.
  struct Moved {
    uint32_t first = 0;
    uint32_t count = 0;
    uint32_t place = 0;
  };
  std::vector<Moved> moved;
  // Runs of instructions of machine code, ascending, that threads may pass: their predicates are not in the lines.
  // Those of one run have one predicate, and are run or passed together. Files of ours only.
  struct Run {
    uint32_t first = 0;  // number of the instruction
    uint32_t count = 0;  // 0 = it is a branch, and threads may fall through
  };
  std::vector<Run> guarded;

  // Whether `heddle trace export` wrote the file: then the immediate of a branch is the PC that it leads to.
  bool IsOurs() const;
};

// One instruction that a warp issued.
struct WarpInstruction {
  uint32_t source_line = 0;   // 0 = not known
  uint32_t pc = 0;            // bytes
  uint32_t mask = 0;          // lanes that are active and whose guard holds
  absl::string_view opcode;   // with modifiers
  std::vector<uint32_t> dst;  // register numbers, R0 = 0
  std::vector<uint32_t> src;
  uint32_t access_bytes = 0;                     // per lane; 0 = no memory access
  std::array<uint64_t, kWarpThreads> address{};  // of the lanes in `mask`
  int64_t immediate = 0;
};

// Reads a kernel's trace from its beginning to its end.
class KernelFile {
 public:
  // Reads the header. Refuses versions of the format that it does not know, and sizes that no launch has.
  static absl::StatusOr<KernelFile> Open(const std::string& path);

  const KernelHeader& header() const { return header_; }

  struct Visitor {
    std::function<absl::Status(uint64_t block)> begin_block;  // linear index in the grid
    std::function<absl::Status(uint32_t warp, const WarpInstruction& instruction)> instruction;
    std::function<absl::Status()> end_block;
  };
  // Goes through all blocks. Refuses what is incomplete or contradicts itself: counts of instructions that do not fit,
  // warps missing or twice, lanes beyond the block's threads, blocks outside the grid or not in ascending order. Errors
  // of the visitor come back with file and line in front.
  absl::Status ForEach(const Visitor& visitor);

 private:
  explicit KernelFile(LineReader lines) : lines_(std::move(lines)) {}
  absl::Status ReadHeader();
  absl::Status ReadHeaderLine(absl::string_view line);
  bool ReadMoved(absl::string_view text);
  bool ReadGuarded(absl::string_view text);
  absl::Status ReadBlock(const Visitor& visitor);
  absl::Status ParseInstruction(absl::string_view line, uint32_t lanes);
  absl::Status ParseAddresses(absl::string_view& rest);
  // A copy from global to shared memory has two lines since version kCopiesInPairs, its place in shared memory first.
  // What threads load is in the second: the first is half an instruction. `is_last`: the warp has no more lines.
  absl::Status PairCopies(bool is_last);

  LineReader lines_;
  KernelHeader header_;
  WarpInstruction instruction_;
  int64_t last_block_ = -1;
  bool is_half_ = false;  // the line that was read last is
  uint32_t half_pc_ = 0;
};

}  // namespace heddle::tools::accelsim

#endif  // HEDDLE_TOOLS_EXCHANGE_ACCELSIM_KERNEL_FILE_H_
