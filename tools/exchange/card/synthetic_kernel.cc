#include "tools/exchange/card/synthetic_kernel.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/engine/replay.h"
#include "traces/base/status_macros.h"
#include "traces/format/chunk/thread_record.h"
#include "traces/format/read/reader.h"
#include "traces/format/write/writer.h"

namespace heddle::tools {
namespace {

namespace fs = std::filesystem;
namespace v1 = trace::v1;

// A folder that goes away with the object.
class TemporaryFolder {
 public:
  static absl::StatusOr<TemporaryFolder> Create() {
    std::error_code error;
    std::string path = (fs::temp_directory_path(error) / "heddle-synthetic-XXXXXX").string();
    if (error || mkdtemp(path.data()) == nullptr) {
      return absl::UnavailableError(absl::StrCat(path, ": cannot be made: ", std::strerror(errno)));
    }
    return TemporaryFolder(std::move(path));
  }
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  std::string File(const std::string& name) const { return absl::StrCat(path_, "/", name); }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

v1::KernelProgram ProgramOf(const SyntheticKernel& kernel) {
  v1::KernelProgram program;
  program.set_name("synthetic");
  uint32_t registers = 1;
  for (const v1::Instruction& instruction : kernel.instructions) {
    *program.add_instruction() = instruction;
    for (const uint32_t number : instruction.dst()) registers = std::max(registers, number);
    for (const uint32_t number : instruction.src()) registers = std::max(registers, number);
  }
  program.set_register_count(registers);
  v1::Instruction& last = *program.add_instruction();
  last.set_op(v1::OP_EXIT);
  last.set_mnemonic("exit");
  v1::BasicBlock& block = *program.add_block();
  block.set_instruction_count(static_cast<uint32_t>(program.instruction_size()));
  block.set_terminator(v1::EXIT);
  v1::Function& function = *program.add_function();
  function.set_name("synthetic");
  function.set_block_count(1);
  function.set_register_count(registers);
  return program;
}

void AddWindow(v1::FileHeader& header, v1::MemorySpace space, uint64_t base, uint64_t bytes) {
  v1::AddressWindow& window = *header.add_window();
  window.set_space(space);
  window.set_base(base);
  window.set_bytes(bytes);
}

v1::FileHeader HeaderOf(const SyntheticKernel& kernel) {
  v1::FileHeader header;
  header.set_producer("heddle machines");
  header.set_abstraction_level("ptx");
  AddWindow(header, v1::SPACE_SHARED, kSyntheticSharedBase, kSyntheticSharedBytes);
  if (kernel.cluster_blocks > 1) {
    AddWindow(header, v1::SPACE_CLUSTER_SHARED, kSyntheticClusterBase, kernel.cluster_blocks * kSyntheticSharedBytes);
  }
  return header;
}

v1::Launch LaunchOf(const SyntheticKernel& kernel) {
  v1::Launch launch;
  launch.mutable_block()->set_x(kernel.threads);
  launch.mutable_block()->set_y(1);
  launch.mutable_block()->set_z(1);
  *launch.mutable_grid() = launch.block();
  launch.mutable_grid()->set_x(kernel.blocks);
  if (kernel.cluster_blocks > 1) {
    *launch.mutable_cluster() = launch.grid();
    launch.mutable_cluster()->set_x(kernel.cluster_blocks);
  }
  launch.set_recorded(true);
  return launch;
}

// The addresses of one block's threads, one thread after the other.
absl::Status AddBlock(const SyntheticKernel& kernel, uint32_t block, trace::TraceWriter& writer) {
  std::vector<uint64_t> addresses;
  size_t of_thread = 0;
  for (uint32_t thread = 0; thread < kernel.threads; ++thread) {
    for (uint64_t i = 0; i < kernel.instructions.size(); ++i) {
      if (kernel.instructions[i].access_bytes() != 0) addresses.push_back(kernel.address(block, thread, i));
    }
    if (thread == 0) of_thread = addresses.size();
  }
  std::vector<trace::ThreadRecord> records(kernel.threads);
  for (uint32_t thread = 0; thread < kernel.threads; ++thread) {
    records[thread].addresses = std::span(addresses).subspan(thread * of_thread, of_thread);
  }
  return writer.AddBlock(block, records, kernel.threads * (kernel.instructions.size() + 1));
}

absl::Status WriteTrace(const std::string& path, const SyntheticKernel& kernel) {
  HEDDLE_ASSIGN_OR_RETURN(const std::unique_ptr<trace::TraceWriter> writer,
                          trace::TraceWriter::Create(path, HeaderOf(kernel)));
  HEDDLE_RETURN_IF_ERROR(writer->AddProgram(ProgramOf(kernel)).status());
  HEDDLE_RETURN_IF_ERROR(writer->BeginLaunch(LaunchOf(kernel)));
  for (uint32_t block = 0; block < kernel.blocks; ++block) {
    HEDDLE_RETURN_IF_ERROR(AddBlock(kernel, block, *writer));
  }
  HEDDLE_RETURN_IF_ERROR(writer->EndLaunch());
  return writer->Finish();
}

}  // namespace

v1::Instruction SyntheticOperation(v1::OpClass op, const char* mnemonic, uint32_t to, uint32_t from) {
  v1::Instruction instruction;
  instruction.set_op(op);
  instruction.set_mnemonic(mnemonic);
  if (to != 0) instruction.add_dst(to);
  if (from != 0) instruction.add_src(from);
  return instruction;
}

v1::Instruction SyntheticAccess(v1::OpClass op, v1::MemorySpace space, uint32_t bytes, uint32_t to, uint32_t from) {
  const char* const mnemonic = op == v1::OP_LOAD ? "ld" : op == v1::OP_STORE ? "st" : "atom.add";
  v1::Instruction instruction = SyntheticOperation(op, mnemonic, to, from);
  instruction.set_space(space);
  instruction.set_access_bytes(bytes);
  return instruction;
}

absl::StatusOr<result::v1::Result> ReplaySynthetic(const machine::v1::Machine& machine, const SyntheticKernel& kernel) {
  HEDDLE_ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Create());
  const std::string path = folder.File("kernel.htrace");
  HEDDLE_RETURN_IF_ERROR(WriteTrace(path, kernel));
  HEDDLE_ASSIGN_OR_RETURN(const std::unique_ptr<trace::TraceReader> reader, trace::TraceReader::Open(path));
  replay::ReplayOptions options;
  options.machine = machine;
  options.max_cycles = kernel.most_cycles;
  if (options.machine.memory().has_hierarchy()) {
    options.machine.mutable_memory()->mutable_hierarchy()->mutable_l1_instruction()->set_sets(0);
  }
  HEDDLE_ASSIGN_OR_RETURN(std::vector<result::v1::Result> results,
                          replay::Replay(*reader, {replay::Configuration{}}, options));
  return std::move(results.front());
}

}  // namespace heddle::tools
