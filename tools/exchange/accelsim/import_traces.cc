#include "tools/exchange/accelsim/import_traces.h"

#include <algorithm>
#include <bit>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tools/console/output.h"
#include "tools/exchange/accelsim/kernel_file.h"
#include "tools/exchange/accelsim/line_file.h"
#include "tools/exchange/accelsim/observed_program.h"
#include "traces/base/status_macros.h"
#include "traces/format/write/writer.h"

namespace heddle::tools::accelsim {
namespace {

namespace fs = std::filesystem;
using trace::ThreadRecord;
using trace::TraceWriter;
using trace::v1::MemorySpace;

constexpr char kProducer[] = "heddle " HEDDLE_VERSION;
// A block is in memory while it is read: its decisions, and 8 bytes per access.
constexpr uint64_t kMostBlockInstructions = uint64_t{64} << 20;
// Longer blocks are cut in time. The writer's own chunks may be somewhat longer than this.
constexpr uint64_t kPartInstructions = 1u << 19;
// Where traces of old tracers do not say it; beyond every address of a GPU.
constexpr uint64_t kSharedBaseUntold = uint64_t{1} << 60;
constexpr uint64_t kLocalBaseUntold = uint64_t{2} << 60;

constexpr char kLimits[] =
    "Imported from traces of machine code of warps (Accel-Sim). Immediate post-dominators and basic blocks are "
    "inferred "
    "from the flow that was observed: ways that no thread took are missing, calls and returns are jumps. Spins are "
    "frozen: how often a thread waited in a loop is what it was on the GPU. Instructions with a false guard count as "
    "run, accesses with a false guard as branched around, with joins (NOP.JOIN) between them. Barriers have number 0.";

// A line of kernelslist.g.
struct Command {
  std::string kernel;  // file; empty for a transfer
  trace::v1::Transfer transfer;
};

absl::StatusOr<std::vector<Command>> ReadKernelsList(const std::string& folder) {
  const std::string path = folder + "/kernelslist.g";
  std::error_code error;
  if (!fs::is_regular_file(path, error)) {
    return absl::NotFoundError(
        absl::StrCat(folder, ": has no kernelslist.g (Accel-Sim's post-traces-processing makes it from kernelslist)"));
  }
  HEDDLE_ASSIGN_OR_RETURN(LineReader lines, LineReader::Open(path));
  std::vector<Command> commands;
  absl::string_view line;
  while (true) {
    HEDDLE_ASSIGN_OR_RETURN(const bool more, lines.Next(line));
    if (!more) return commands;
    if (line.empty()) continue;
    Command& command = commands.emplace_back();
    if (absl::StartsWith(line, "Memcpy")) {
      const std::vector<std::string> words = absl::StrSplit(line, ',');
      uint64_t address = 0;
      uint64_t bytes = 0;
      if (words.size() != 3 || !absl::SimpleHexAtoi(words[1], &address) || !absl::SimpleAtoi(words[2], &bytes)) {
        return lines.Refuse("is no \"MemcpyHtoD,ADDRESS,BYTES\"");
      }
      if (words[0] != "MemcpyHtoD" && words[0] != "MemcpyDtoH" && words[0] != "MemcpyDtoD") {
        return lines.Refuse(absl::StrCat("\"", words[0].substr(0, 60), "\" is no known direction of a transfer"));
      }
      command.transfer.set_direction(words[0] == "MemcpyHtoD"   ? trace::v1::Transfer::HOST_TO_DEVICE
                                     : words[0] == "MemcpyDtoH" ? trace::v1::Transfer::DEVICE_TO_HOST
                                                                : trace::v1::Transfer::DEVICE_TO_DEVICE);
      command.transfer.set_address(address);
      command.transfer.set_bytes(bytes);
      continue;
    }
    const bool is_name = line.find('/') == absl::string_view::npos && !absl::StartsWith(line, ".");
    if (!is_name || !(absl::EndsWith(line, ".traceg") || absl::EndsWith(line, ".traceg.xz"))) {
      return lines.Refuse("is neither a transfer nor the name of a .traceg or .traceg.xz file in the same folder");
    }
    command.kernel = absl::StrCat(folder, "/", line);
  }
}

// What all kernels of a trace have in common.
struct Windows {
  uint64_t shared_base = kSharedBaseUntold;
  uint64_t local_base = kLocalBaseUntold;

  static Windows Of(const KernelHeader& header) {
    Windows windows;
    if (header.shared_base != 0) windows.shared_base = header.shared_base;
    if (header.local_base != 0) windows.local_base = header.local_base;
    return windows;
  }
  friend bool operator==(const Windows&, const Windows&) = default;

  // The address in our terms: shared and local addresses may stand in a trace as offsets.
  absl::StatusOr<uint64_t> AddressOf(MemorySpace space, uint64_t address) const {
    if (space != trace::v1::SPACE_SHARED && space != trace::v1::SPACE_LOCAL) return address;
    const uint64_t base = space == trace::v1::SPACE_SHARED ? shared_base : local_base;
    if (address < kWindowBytes) return base + address;
    if (address >= base && address - base < kWindowBytes) return address;
    return absl::InvalidArgumentError(
        absl::StrCat("the address 0x", absl::Hex(address), " is outside of the window of ",
                     space == trace::v1::SPACE_SHARED ? "shared" : "local", " memory at 0x", absl::Hex(base)));
  }
};

// Threads of one block, as they are read.
struct Thread {
  uint32_t at = ObservedProgram::kStart;
  std::vector<uint8_t> decisions;
  std::vector<uint64_t> addresses;
};

absl::Status NeverRan(size_t thread) {
  return absl::DataLossError(absl::StrCat("thread ", thread, " of the thread block that ends here never runs"));
}

// First reading of a kernel: its instructions and the hops between them.
absl::Status ObserveKernel(KernelFile& file, ObservedProgram& program, uint64_t& blocks) {
  std::vector<uint32_t> at;
  return file.ForEach({
      .begin_block =
          [&](uint64_t) {
            ++blocks;
            at.assign(file.header().block_threads, ObservedProgram::kStart);
            return absl::OkStatus();
          },
      .instruction = [&](uint32_t warp, const WarpInstruction& instruction) -> absl::Status {
        HEDDLE_ASSIGN_OR_RETURN(const uint32_t number, program.Observe(instruction));
        for (uint32_t left = instruction.mask; left != 0; left &= left - 1) {
          uint32_t& thread = at[warp * kWarpThreads + static_cast<uint32_t>(std::countr_zero(left))];
          program.ObserveHop(thread, number);
          thread = number;
        }
        return absl::OkStatus();
      },
      .end_block = [&]() -> absl::Status {
        for (size_t t = 0; t < at.size(); ++t) {
          if (at[t] == ObservedProgram::kStart) return NeverRan(t);
          program.ObserveHop(at[t], ObservedProgram::kEnd);
        }
        return absl::OkStatus();
      },
  });
}

// Second reading: what each thread decided and accessed goes to the writer.
class KernelCopy {
 public:
  KernelCopy(const ObservedProgram& program, const Windows& windows, TraceWriter& writer, ImportSummary& summary)
      : program_(program), windows_(windows), writer_(writer), summary_(summary) {}

  absl::Status Read(KernelFile& file) {
    const uint32_t threads = file.header().block_threads;
    return file.ForEach({
        .begin_block =
            [this, threads](uint64_t block) {
              block_ = block;
              instructions_ = 0;
              accesses_ = 0;
              cuts_.clear();
              threads_.resize(threads);
              for (Thread& thread : threads_) {
                thread.at = ObservedProgram::kStart;
                thread.decisions.clear();
                thread.addresses.clear();
              }
              return absl::OkStatus();
            },
        .instruction =
            [this](uint32_t warp, const WarpInstruction& instruction) {
              return Add(std::span(threads_).subspan(size_t{warp} * kWarpThreads), instruction);
            },
        .end_block = [this] { return EndBlock(); },
    });
  }

 private:
  absl::Status Move(Thread& thread, uint32_t to) {
    const ObservedProgram::Hop* hop = program_.HopOf(thread.at, to);
    if (hop == nullptr) return absl::DataLossError("was not there when the file was read first: it changed meanwhile");
    thread.decisions.insert(thread.decisions.end(), hop->decisions.begin(), hop->decisions.end());
    thread.at = to;
    instructions_ += hop->passed;
    summary_.false_guards += hop->passed;
    return absl::OkStatus();
  }

  absl::Status Add(std::span<Thread> warp, const WarpInstruction& instruction) {
    ++summary_.warp_instructions;
    const uint32_t number = program_.NumberOf(instruction.pc);
    instructions_ += static_cast<uint64_t>(std::popcount(instruction.mask));
    if (instructions_ > kMostBlockInstructions) {
      return absl::ResourceExhaustedError(
          absl::StrCat("the thread block runs more than ", kMostBlockInstructions, " thread-instructions"));
    }
    for (uint32_t left = instruction.mask; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      Thread& thread = warp[static_cast<size_t>(lane)];
      HEDDLE_RETURN_IF_ERROR(Move(thread, number));
      if (!program_.HasAddress(number)) continue;
      HEDDLE_ASSIGN_OR_RETURN(const auto address, windows_.AddressOf(program_.SpaceOf(number),
                                                                     instruction.address[static_cast<size_t>(lane)]));
      thread.addresses.push_back(address);
      ++accesses_;
    }
    if (std::max(instructions_, accesses_ * 2) > kPartInstructions * (cuts_.size() + 1)) {
      std::vector<Cut>& cut = cuts_.emplace_back();
      for (const Thread& thread : threads_) cut.push_back({thread.decisions.size(), thread.addresses.size()});
    }
    return absl::OkStatus();
  }

  absl::Status EndBlock() {
    for (Thread& thread : threads_) {
      HEDDLE_RETURN_IF_ERROR(Move(thread, ObservedProgram::kEnd));
    }
    std::vector<ThreadRecord> records(threads_.size());
    if (cuts_.empty()) {
      for (size_t t = 0; t < threads_.size(); ++t) {
        records[t] = {threads_[t].decisions, threads_[t].addresses, true};
      }
      return writer_.AddBlock(block_, records, instructions_);
    }
    std::vector<Cut>& end = cuts_.emplace_back();
    for (const Thread& thread : threads_) end.push_back({thread.decisions.size(), thread.addresses.size()});
    std::vector<Cut> done(threads_.size());
    std::vector<uint64_t> consumed(threads_.size(), 0);
    for (const std::vector<Cut>& cut : cuts_) {
      const bool last = &cut == &cuts_.back();
      for (size_t t = 0; t < threads_.size(); ++t) {
        const Cut from = done[t];
        records[t] = {std::span(threads_[t].decisions).subspan(from.decisions, cut[t].decisions - from.decisions),
                      std::span(threads_[t].addresses).subspan(from.addresses, cut[t].addresses - from.addresses),
                      last};
        done[t].decisions = cut[t].decisions;
      }
      HEDDLE_RETURN_IF_ERROR(writer_.AddBlockPart(block_, records, last, consumed));
      for (size_t t = 0; t < threads_.size(); ++t) done[t].addresses += consumed[t];
    }
    return absl::OkStatus();
  }

  // How far a thread had come: what it had decided and accessed.
  struct Cut {
    size_t decisions = 0;
    size_t addresses = 0;
  };

  const ObservedProgram& program_;
  const Windows& windows_;
  TraceWriter& writer_;
  ImportSummary& summary_;
  std::vector<Thread> threads_;
  std::vector<std::vector<Cut>> cuts_;  // by part of a long block, by thread
  uint64_t block_ = 0;
  uint64_t instructions_ = 0;  // thread-instructions of the block
  uint64_t accesses_ = 0;
};

// The order of launches as CUDA's streams have it: after the one before in the same stream; the default stream waits
// for all others, and all others for it.
class StreamOrder {
 public:
  void Add(uint64_t handle, uint32_t launch, trace::v1::Launch& out) {
    const auto number = static_cast<uint32_t>(numbers_.emplace(handle, numbers_.size() + 1).first->second);
    out.set_stream(handle == 0 ? 0 : number);
    std::vector<uint32_t> earlier;
    for (const auto& [other, latest] : latest_) {
      if (handle == 0 || other == 0 || other == handle) earlier.push_back(latest);
    }
    std::ranges::sort(earlier);
    out.mutable_depends_on()->Add(earlier.begin(), earlier.end());
    latest_[handle] = launch;
  }

 private:
  std::map<uint64_t, uint64_t> numbers_;  // by handle
  std::map<uint64_t, uint32_t> latest_;   // launch, by handle
};

class Import {
 public:
  Import(TraceWriter& writer, const Windows& windows, ImportSummary& summary)
      : writer_(writer), windows_(windows), summary_(summary) {}

  absl::Status AddKernel(const std::string& path) {
    const auto in_file = [&path](const absl::Status& status) {
      const bool named = status.ok() || absl::StrContains(status.message(), path);
      return named ? status : absl::Status(status.code(), absl::StrCat(path, ": ", status.message()));
    };
    ObservedProgram observed;
    HEDDLE_ASSIGN_OR_RETURN(KernelFile first, KernelFile::Open(path));
    const KernelHeader header = first.header();
    if (Windows::Of(header) != windows_) {
      return in_file(
          absl::UnimplementedError("its windows of shared and local memory lie elsewhere than those of the "
                                   "first kernel; import them one by one"));
    }
    uint64_t blocks = 0;
    HEDDLE_RETURN_IF_ERROR(ObserveKernel(first, observed, blocks));
    absl::StatusOr<trace::v1::KernelProgram> program = observed.Build(header);
    if (!program.ok()) return in_file(program.status());
    const absl::StatusOr<const trace::Program*> added = AddProgram(*std::move(program));
    if (!added.ok()) return in_file(added.status());

    trace::v1::Launch launch;
    launch.set_program((*added)->id());
    *launch.mutable_grid() = header.grid;
    *launch.mutable_block() = header.block;
    launch.set_dynamic_shared_bytes(static_cast<uint32_t>(std::min<uint64_t>(header.shared_bytes, ~uint32_t{0})));
    launch.set_recorded(true);
    if (blocks < header.grid_blocks) {
      launch.mutable_selection()->set_rule(trace::v1::BlockSelection::LISTED);
      launch.mutable_selection()->set_blocks(blocks);
      summary_.notes.push_back(
          absl::StrCat(path, ": has ", blocks, " of the ", header.grid_blocks, " thread blocks of its grid"));
    }
    if ((header.registers < 1 || header.registers > kMostRegisters) && !std::exchange(told_registers_, true)) {
      summary_.notes.push_back(
          absl::StrCat(path, ": says that a thread has ", header.registers,
                       " registers, as no GPU's has; counted are those that its instructions name"));
    }
    streams_.Add(header.stream, static_cast<uint32_t>(summary_.launches), launch);
    absl::Status status = writer_.BeginLaunch(std::move(launch));
    if (!status.ok()) return in_file(status);
    HEDDLE_ASSIGN_OR_RETURN(KernelFile second, KernelFile::Open(path));
    if (status = KernelCopy(observed, windows_, writer_, summary_).Read(second); !status.ok()) return status;
    if (status = writer_.EndLaunch(); !status.ok()) return in_file(status);
    ++summary_.launches;
    return absl::OkStatus();
  }

 private:
  // Kernels that are launched often share a program if the same was seen of them.
  absl::StatusOr<const trace::Program*> AddProgram(trace::v1::KernelProgram program) {
    std::string contents = program.SerializeAsString();
    if (const auto it = programs_.find(contents); it != programs_.end()) return it->second;
    absl::StatusOr<const trace::Program*> added = writer_.AddProgram(std::move(program));
    if (added.ok()) programs_.emplace(std::move(contents), *added);
    return added;
  }

  TraceWriter& writer_;
  const Windows windows_;
  ImportSummary& summary_;
  StreamOrder streams_;
  std::map<std::string, const trace::Program*> programs_;
  bool told_registers_ = false;
};

trace::v1::FileHeader HeaderOf(const KernelHeader& kernel, const Windows& windows) {
  trace::v1::FileHeader header;
  header.set_producer(kProducer);
  header.set_abstraction_level("sass");
  header.set_target(kernel.binary_version == 0 ? "sm_unknown" : absl::StrCat("sm_", kernel.binary_version));
  header.set_compiler(absl::StrCat("unknown; traced by NVBit ", kernel.nvbit_version, ", Accel-Sim's tracer version ",
                                   kernel.tracer_version));
  header.set_warp_width(kWarpThreads);
  for (const auto& [space, base] : {std::pair{trace::v1::SPACE_SHARED, windows.shared_base},
                                    std::pair{trace::v1::SPACE_LOCAL, windows.local_base}}) {
    trace::v1::AddressWindow& window = *header.add_window();
    window.set_space(space);
    window.set_base(base);
    window.set_bytes(kWindowBytes);
  }
  (*header.mutable_provenance())["post-dominators"] = "inferred from the observed flow";
  return header;
}

}  // namespace

absl::StatusOr<ImportSummary> ImportTraces(const std::string& folder, const std::string& path, int zstd_level,
                                           const std::function<void(uint64_t done, uint64_t total)>& progress) {
  HEDDLE_ASSIGN_OR_RETURN(const std::vector<Command> commands, ReadKernelsList(folder));
  const auto first = std::ranges::find_if(commands, [](const Command& c) { return !c.kernel.empty(); });
  if (first == commands.end()) return absl::DataLossError(absl::StrCat(folder, "/kernelslist.g: names no kernel"));
  HEDDLE_ASSIGN_OR_RETURN(const KernelFile front, KernelFile::Open(first->kernel));
  const Windows windows = Windows::Of(front.header());
  trace::WriterOptions options;
  options.zstd_level = zstd_level;
  options.threads = trace::UsualThreads();
  HEDDLE_ASSIGN_OR_RETURN(auto writer, TraceWriter::Create(path, HeaderOf(front.header(), windows), options));
  RemoveWhenInterrupted(writer->temporary_file());
  ImportSummary summary;
  Import import(*writer, windows, summary);
  trace::v1::Annotation limits;
  limits.set_key("heddle.accelsim");
  limits.set_value(kLimits);
  absl::Status status = writer->AddAnnotation(limits);
  for (size_t i = 0; i < commands.size() && status.ok(); ++i) {
    if (progress) progress(i, commands.size());
    const Command& command = commands[i];
    status = command.kernel.empty() ? writer->AddTransfer(command.transfer) : import.AddKernel(command.kernel);
  }
  summary.thread_instructions = writer->totals().thread_instructions;
  if (status.ok()) status = writer->Finish();
  writer.reset();  // removes the temporary file
  RemoveWhenInterrupted("");
  if (!status.ok()) return status;
  return summary;
}

}  // namespace heddle::tools::accelsim
