#include "tools/exchange/accelsim/export_traces.h"

#include <algorithm>
#include <bit>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/analysis/warp_paths.h"
#include "tools/exchange/accelsim/code_text.h"
#include "tools/exchange/accelsim/kernel_file.h"
#include "tools/exchange/accelsim/line_file.h"
#include "tools/exchange/accelsim/warp_issues.h"
#include "traces/base/status_macros.h"
#include "traces/format/chunk/walk.h"
#include "traces/format/edit/block_slices.h"
#include "traces/format/program/kernel_name.h"
#include "traces/format/program/operands.h"

namespace heddle::tools::accelsim {
namespace {

namespace fs = std::filesystem;
using replay::Pc;
using replay::ThreadPath;
using trace::v1::Dim3;

constexpr size_t kFlushBytes = 1 << 20;
// Where NVBit mostly finds the windows, should the trace have none.
constexpr uint64_t kUsualSharedBase = 0x7f00'0000'0000;
constexpr uint64_t kUsualLocalBase = 0x7f00'0200'0000;

uint32_t AtLeastOne(uint32_t size) { return std::max(size, 1u); }

std::string Dimensions(const Dim3& size) {
  return absl::StrCat("(", AtLeastOne(size.x()), ",", AtLeastOne(size.y()), ",", AtLeastOne(size.z()), ")");
}

uint64_t BaseOf(const trace::TraceReader& reader, trace::v1::MemorySpace space, uint64_t usual) {
  for (const trace::v1::AddressWindow& window : reader.header().window()) {
    if (window.space() == space) return window.base();
  }
  return usual;
}

// Appends addresses in the most compact of the format's forms, as the tracer does.
void AppendAddresses(uint32_t mask, const std::array<uint64_t, kWarpThreads>& address, std::string& text) {
  const int first = mask == 0 ? 0 : std::countr_zero(mask);
  const uint32_t lanes = mask >> first;
  const uint64_t base = mask == 0 ? 0 : address[static_cast<size_t>(first)];
  bool strided = mask == 0 || ((lanes & (lanes + 1)) == 0 && lanes != 1);
  const auto stride = mask == 0 || !strided ? 0 : static_cast<int64_t>(address[static_cast<size_t>(first) + 1] - base);
  strided = strided && stride >= std::numeric_limits<int32_t>::min() && stride <= std::numeric_limits<int32_t>::max();
  uint64_t before = base;
  for (uint32_t left = mask & (mask - 1); strided && left != 0; left &= left - 1) {
    const uint64_t at = address[static_cast<size_t>(std::countr_zero(left))];
    strided = at - before == static_cast<uint64_t>(stride);
    before = at;
  }
  absl::StrAppend(&text, strided ? " 1 0x" : " 2 0x", absl::Hex(base));
  if (strided) {
    absl::StrAppend(&text, " ", stride);
    return;
  }
  before = base;
  for (uint32_t left = mask & (mask - 1); left != 0; left &= left - 1) {
    const uint64_t at = address[static_cast<size_t>(std::countr_zero(left))];
    absl::StrAppend(&text, " ", static_cast<int64_t>(at - before));
    before = at;
  }
}

// One thread block: the paths of its threads, and their addresses in order.
struct BlockThread {
  trace::WalkState state;
  ThreadPath path;
  std::vector<uint64_t> addresses;
};

class LaunchExport {
 public:
  LaunchExport(const trace::TraceReader& reader, const trace::LaunchView& launch, CodeText code, LineWriter& file,
               ExportSummary& summary)
      : reader_(reader),
        launch_(launch),
        program_(*launch.program),
        code_(std::move(code)),
        pieces_(program_),
        file_(file),
        summary_(summary) {}

  absl::Status Write(const std::function<void(uint64_t)>& progress) {
    WriteHeader();
    trace::BlockSlices slices(reader_, launch_, launch_.chunks);
    std::vector<BlockThread> threads;
    while (true) {
      HEDDLE_ASSIGN_OR_RETURN(const bool more, slices.Next());
      if (!more) break;
      if (slices.part() == 0) threads.assign(launch_.threads_per_block, BlockThread());
      for (size_t t = 0; t < threads.size(); ++t) {
        HEDDLE_RETURN_IF_ERROR(Follow(slices.threads()[t], threads[t]));
      }
      if (!slices.last_part()) continue;
      HEDDLE_RETURN_IF_ERROR(WriteBlock(slices.block(), threads));
      if (progress) progress(instructions_);
    }
    return file_.Take(text_);
  }

 private:
  void WriteHeader() {
    const trace::v1::Launch& launch = launch_.launch;
    absl::StrAppend(&text_, "-kernel name = ", program_.name(), "\n-kernel id = ", launch.id() + 1,
                    "\n-grid dim = ", Dimensions(launch.grid()), "\n-block dim = ", Dimensions(launch.block()),
                    "\n-shmem = ", program_.proto().static_shared_bytes() + launch.dynamic_shared_bytes(),
                    "\n-nregs = ", program_.proto().register_count(), "\n-binary version = ", code_.binary_version,
                    "\n-cuda stream id = ", launch.stream(), "\n-shmem base_addr = 0x",
                    absl::Hex(BaseOf(reader_, trace::v1::SPACE_SHARED, kUsualSharedBase), absl::kZeroPad16),
                    "\n-local mem base_addr = 0x",
                    absl::Hex(BaseOf(reader_, trace::v1::SPACE_LOCAL, kUsualLocalBase), absl::kZeroPad16),
                    "\n-nvbit version = ", kOurNvbitVersion, HEDDLE_VERSION,
                    ")\n-accelsim tracer version = ", kNewestTracer, "\n-enable lineinfo = 0\n", code_.header,
                    "\n#traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num "
                    "[reg_srcs] mem_width [adrrescompress?] [mem_addresses] immediate\n\n");
  }

  absl::Status Follow(const trace::ThreadRecord& record, BlockThread& thread) {
    trace::ByteDecisions decisions(record.decisions.data(), record.decisions.size());
    uint64_t instructions = 0;
    const trace::WalkStatus status =
        trace::Walk(program_, record.exited ? trace::Extent::kRunsToExit : trace::Extent::kCut, decisions, thread.state,
                    std::numeric_limits<uint64_t>::max(), instructions, [&](uint32_t block, const trace::Block&) {
                      replay::AppendBlock(block, thread.state.stack, pieces_, thread.path);
                    });
    if (status != trace::WalkStatus::kOk) return absl::DataLossError(trace::WalkMessage(status));
    thread.addresses.insert(thread.addresses.end(), record.addresses.begin(), record.addresses.end());
    instructions_ += instructions;
    return absl::OkStatus();
  }

  absl::Status WriteBlock(uint64_t block, std::span<const BlockThread> threads) {
    const uint64_t x = AtLeastOne(launch_.launch.grid().x());
    const uint64_t y = AtLeastOne(launch_.launch.grid().y());
    absl::StrAppend(&text_, "\n#BEGIN_TB\n\nthread block = ", block % x, ",", block / x % y, ",", block / x / y, "\n");
    for (size_t first = 0; first < threads.size(); first += kWarpThreads) {
      const auto warp = threads.subspan(first, std::min<size_t>(kWarpThreads, threads.size() - first));
      HEDDLE_RETURN_IF_ERROR(WriteWarp(first / kWarpThreads, warp));
    }
    text_ += "\n#END_TB\n";
    return absl::OkStatus();
  }

  absl::Status WriteWarp(size_t number, std::span<const BlockThread> threads) {
    std::vector<const ThreadPath*> paths;
    for (const BlockThread& thread : threads) paths.push_back(&thread.path);
    const replay::Alignment issues = program_.proto().level() == trace::v1::LEVEL_MACHINE
                                         ? IssuesWithGuards(paths, pieces_)
                                         : replay::ReconvergingAtPostDominators(paths, pieces_);
    std::array<size_t, kWarpThreads> step{};  // of the thread's path that comes next
    uint64_t count = 0;
    for (const replay::AlignedColumn& column : issues) {
      const auto lanes = static_cast<uint32_t>(column.lanes);
      Advance(lanes, step);
      const Pc first = pieces_[column.piece].at.pc();
      for (Pc pc = first; pc < first + pieces_.weights()[column.piece]; ++pc) count += LinesOf(code_.lines[pc]);
      if (const Line* jump = JumpBehind(column.piece); jump != nullptr && Jumping(column, threads, step) != 0) ++count;
    }
    summary_.warp_instructions += count;
    absl::StrAppend(&text_, "\nwarp = ", number, "\ninsts = ", count, "\n");
    step.fill(0);
    std::array<size_t, kWarpThreads> address{};  // of its addresses
    for (const replay::AlignedColumn& column : issues) {
      const auto lanes = static_cast<uint32_t>(column.lanes);
      Advance(lanes, step);
      const Pc first = pieces_[column.piece].at.pc();
      const Pc end = first + pieces_.weights()[column.piece];
      for (Pc pc = first; pc < end; ++pc) {
        const Line& line = code_.lines[pc];
        const uint32_t mask =
            line.falls_to != trace::kNoPc ? lanes & ~GoingTo(line.falls_to, lanes, threads, step) : lanes;
        AppendLines(line, lanes, mask, threads, address);
      }
      if (const Line* jump = JumpBehind(column.piece); jump != nullptr) {
        const uint32_t mask = Jumping(column, threads, step);
        if (mask != 0) {
          absl::StrAppend(&text_, jump->pc, absl::Hex(mask, absl::kZeroPad8), jump->operands, " ", jump->immediate,
                          " \n");
        }
      }
      if (text_.size() < kFlushBytes) continue;
      HEDDLE_RETURN_IF_ERROR(file_.Take(text_));
    }
    return absl::OkStatus();
  }

  static uint64_t LinesOf(const Line& line) {
    return line.is_left_out ? 0 : std::max<uint64_t>(line.addresses.size(), 1);
  }

  // An instruction that `lanes` run. `next`, by lane: how many of its thread's numbers have been taken.
  void AppendLines(const Line& line, uint32_t lanes, uint32_t mask, std::span<const BlockThread> threads,
                   std::array<size_t, kWarpThreads>& next) {
    std::array<uint64_t, kWarpThreads> values{};
    for (size_t i = 0; i < LinesOf(line); ++i) {
      absl::StrAppend(&text_, line.pc, absl::Hex(mask, absl::kZeroPad8), line.operands);
      if (!line.addresses.empty()) {
        for (uint32_t left = lanes; left != 0; left &= left - 1) {
          const auto lane = static_cast<size_t>(std::countr_zero(left));
          values[lane] = threads[lane].addresses[next[lane] + line.addresses[i].column] - line.addresses[i].base;
        }
        AppendAddresses(lanes, values, text_);
      }
      absl::StrAppend(&text_, " ", line.immediate, " \n");
    }
    if (line.columns == 0) return;
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
      next[static_cast<size_t>(std::countr_zero(left))] += line.columns;
    }
  }

  static void Advance(uint32_t lanes, std::array<size_t, kWarpThreads>& step) {
    for (uint32_t left = lanes; left != 0; left &= left - 1) ++step[static_cast<size_t>(std::countr_zero(left))];
  }

  // The branch that only machine code has behind a piece; null if there is none.
  const Line* JumpBehind(uint32_t piece) const {
    const Pc last = pieces_[piece].at.pc() + pieces_.weights()[piece] - 1;
    const uint32_t block = program_.block_of(last);
    const std::optional<Line>& jump = code_.jumps_behind[block];
    return jump.has_value() && last + 1 == program_.block(block).first + program_.block(block).count ? &*jump : nullptr;
  }

  // The lanes that run it: at a conditional branch those that do not take that.
  uint32_t Jumping(const replay::AlignedColumn& column, std::span<const BlockThread> threads,
                   const std::array<size_t, kWarpThreads>& step) const {
    const auto lanes = static_cast<uint32_t>(column.lanes);
    const Pc falls_to = code_.lines[pieces_[column.piece].at.pc() + pieces_.weights()[column.piece] - 1].falls_to;
    return falls_to == trace::kNoPc ? lanes : GoingTo(falls_to, lanes, threads, step);
  }

  // Of the lanes those whose next step is at `pc`.
  uint32_t GoingTo(Pc pc, uint32_t lanes, std::span<const BlockThread> threads,
                   const std::array<size_t, kWarpThreads>& step) const {
    uint32_t going = 0;
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
      const auto lane = static_cast<size_t>(std::countr_zero(left));
      if (pieces_[threads[lane].path[step[lane]].piece].at.pc() == pc) going |= uint32_t{1} << lane;
    }
    return going;
  }

  const trace::TraceReader& reader_;
  const trace::LaunchView& launch_;
  const trace::Program& program_;
  const CodeText code_;
  replay::PieceTable pieces_;
  LineWriter& file_;
  ExportSummary& summary_;
  std::string text_;
  uint64_t instructions_ = 0;
};

// Whether Accel-Sim's traces can say what the instruction does.
bool HasForm(const trace::v1::Instruction& instruction, bool is_machine) {
  if (trace::IsUnusualBarrier(instruction)) return false;
  if (!is_machine) return trace::CountColumns(instruction) == (trace::Program::HasAddress(instruction) ? 1 : 0);
  switch (instruction.async().role()) {
    case trace::v1::Async::COPY:
    case trace::v1::Async::COMMIT:
    case trace::v1::Async::WAIT_GROUP:
    case trace::v1::Async::WAIT_ALL:
      return true;
    case trace::v1::Async::ROLE_UNSPECIFIED:
      // Masks and values of uniform registers are in none of its traces; that they were recorded changes nothing.
      return std::ranges::all_of(instruction.operand(), [](const trace::v1::Operand& operand) {
        return operand.kind() == trace::v1::Operand::ADDRESS || operand.kind() == trace::v1::Operand::MEMBERS ||
               operand.kind() == trace::v1::Operand::UNIFORM;
      });
    default:
      return false;
  }
}

absl::Status CheckLaunch(const trace::TraceReader& reader, const trace::LaunchView& launch) {
  const std::string place =
      absl::StrCat("launch ", launch.launch.id(), " (", trace::BriefKernelName(launch.program->name()), "): ");
  if (launch.totals.blocks() != launch.grid_blocks) {
    return absl::FailedPreconditionError(absl::StrCat(place, "has ", launch.totals.blocks(), " of the ",
                                                      launch.grid_blocks,
                                                      " thread blocks of its grid; Accel-Sim waits for all of them"));
  }
  if (launch.program->proto().uses_warp_operations() && reader.header().warp_width() != kWarpThreads) {
    return absl::FailedPreconditionError(absl::StrCat(place, "its shuffles and votes saw warps of ",
                                                      reader.header().warp_width(), " threads; Accel-Sim's have 32"));
  }
  const bool is_machine = launch.program->proto().level() == trace::v1::LEVEL_MACHINE;
  for (const trace::v1::Instruction& instruction : launch.program->proto().instruction()) {
    if (is_machine && instruction.barrier_threads() != 0) {
      return absl::UnimplementedError(absl::StrCat(place, "has a barrier of ", instruction.barrier_threads(),
                                                   " threads: barriers of Accel-Sim are those of all threads"));
    }
    if (HasForm(instruction, is_machine)) continue;
    return absl::UnimplementedError(
        absl::StrCat(place, "'", instruction.mnemonic(), "' has no form in Accel-Sim's traces"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ExportSummary> ExportTraces(const trace::TraceReader& reader, const std::string& folder, bool compress,
                                           const std::function<void(uint64_t done, uint64_t total)>& progress) {
  std::error_code error;
  if (fs::exists(folder, error) && (!fs::is_directory(folder, error) || !fs::is_empty(folder, error))) {
    return absl::InvalidArgumentError(
        absl::StrCat("--accelsim ", folder, ": is there already, and not an empty folder"));
  }
  struct Item {
    uint64_t frame;
    int launch;  // -1: something else
  };
  std::vector<Item> items;
  items.reserve(static_cast<size_t>(reader.index().launch_frame_size()) +
                static_cast<size_t>(reader.index().other_frame_size()));
  for (int i = 0; i < reader.index().launch_frame_size(); ++i) items.push_back({reader.index().launch_frame(i), i});
  for (const uint64_t frame : reader.index().other_frame()) items.push_back({frame, -1});
  std::ranges::sort(items, {}, &Item::frame);

  ExportSummary summary;
  // Everything that can be refused is refused before the first file is written.
  const WindowBases windows{BaseOf(reader, trace::v1::SPACE_SHARED, kUsualSharedBase),
                            BaseOf(reader, trace::v1::SPACE_LOCAL, kUsualLocalBase)};
  uint64_t lost_registers = 0;
  uint64_t guarded = 0;
  std::vector<CodeText> code(reader.launches().size());
  for (size_t i = 0; i < code.size(); ++i) {
    const trace::LaunchView& launch = reader.launches()[i];
    if (!launch.launch.recorded()) {
      summary.notes.push_back(absl::StrCat("launch ", i, " was not recorded and is left out"));
      continue;
    }
    HEDDLE_RETURN_IF_ERROR(CheckLaunch(reader, launch));
    absl::StatusOr<CodeText> of_program = TextOf(*launch.program, windows);
    if (!of_program.ok()) {
      return absl::Status(of_program.status().code(),
                          absl::StrCat("kernel ", launch.program->name(), ": ", of_program.status().message()));
    }
    code[i] = *std::move(of_program);
    lost_registers += code[i].lost_registers;
    guarded += code[i].guarded_computing;
  }
  if (lost_registers > 0) {
    summary.notes.push_back(absl::StrCat(lost_registers,
                                         " operands are left out: the format holds one "
                                         "destination and four sources per instruction"));
  }
  if (guarded > 0) {
    summary.notes.push_back(absl::StrCat(guarded,
                                         " guarded instructions compute only: their masks hold all active lanes, for "
                                         "the trace does not tell those with a false guard"));
  }
  fs::create_directories(folder, error);
  if (error) return absl::UnavailableError(absl::StrCat(folder, ": cannot create the folder: ", error.message()));

  std::string list;
  uint64_t done = 0;
  for (const Item& item : items) {
    if (item.launch < 0) {
      trace::v1::Record record;
      HEDDLE_RETURN_IF_ERROR(reader.ReadRecord(item.frame, record));
      if (record.has_transfer() && record.transfer().direction() == trace::v1::Transfer::HOST_TO_DEVICE) {
        absl::StrAppend(&list, "MemcpyHtoD,0x", absl::Hex(record.transfer().address(), absl::kZeroPad16), ",",
                        record.transfer().bytes(), "\n");
      }
      continue;
    }
    const trace::LaunchView& launch = reader.launches()[static_cast<size_t>(item.launch)];
    if (!launch.launch.recorded()) continue;
    const std::string name = absl::StrCat("kernel-", item.launch + 1, compress ? ".traceg.xz" : ".traceg");
    HEDDLE_ASSIGN_OR_RETURN(LineWriter file, LineWriter::Create(absl::StrCat(folder, "/", name)));
    LaunchExport writer(reader, launch, std::move(code[static_cast<size_t>(item.launch)]), file, summary);
    absl::Status status = writer.Write([&](uint64_t instructions) {
      if (progress) progress(done + instructions, reader.index().thread_instructions());
    });
    if (status.ok()) status = file.Commit();
    if (!status.ok()) return status;
    done += launch.totals.thread_instructions();
    absl::StrAppend(&list, name, "\n");
    ++summary.launches;
  }
  // Last, so that a folder with a list is complete.
  HEDDLE_ASSIGN_OR_RETURN(LineWriter file, LineWriter::Create(folder + "/kernelslist.g"));
  absl::Status status = file.Take(list);
  if (status.ok()) status = file.Commit();
  if (!status.ok()) return status;
  return summary;
}

}  // namespace heddle::tools::accelsim
