#include "tools/exchange/card/model_chain.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

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

constexpr uint64_t kLinks = 256;         // that count
constexpr uint64_t kMostLinks = 60'000;  // of a program, which has at most 65,536 instructions
constexpr uint64_t kGlobalBase = uint64_t{1} << 33;
constexpr uint64_t kSharedBase = uint64_t{1} << 60;
constexpr uint64_t kSharedBytes = 1 << 16;
constexpr uint64_t kClusterBase = uint64_t{1} << 61;
constexpr uint32_t kLoadBytes = 8;

// A folder that goes away with the object.
class TemporaryFolder {
 public:
  static absl::StatusOr<TemporaryFolder> Create() {
    std::error_code error;
    std::string path = (fs::temp_directory_path(error) / "heddle-chain-XXXXXX").string();
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

uint64_t Links(const Chain& chain) { return chain.addresses.empty() ? chain.instructions : chain.addresses.size(); }

v1::KernelProgram Program(const Chain& chain, uint64_t links) {
  v1::KernelProgram program;
  program.set_name("chain");
  program.set_register_count(1);
  for (uint64_t i = 0; i < links; ++i) {
    v1::Instruction& link = *program.add_instruction();
    link.set_op(chain.op);
    link.set_mnemonic(chain.mnemonic);
    link.add_dst(1);
    link.add_src(1);
    if (chain.addresses.empty()) continue;
    link.set_space(chain.space);
    link.set_access_bytes(kLoadBytes);
  }
  v1::Instruction& last = *program.add_instruction();
  last.set_op(v1::OP_EXIT);
  last.set_mnemonic("exit");
  v1::BasicBlock& block = *program.add_block();
  block.set_instruction_count(static_cast<uint32_t>(links + 1));
  block.set_terminator(v1::EXIT);
  v1::Function& function = *program.add_function();
  function.set_name("chain");
  function.set_block_count(1);
  function.set_register_count(1);
  return program;
}

void AddWindow(v1::FileHeader& header, v1::MemorySpace space, uint64_t base, uint64_t bytes) {
  v1::AddressWindow& window = *header.add_window();
  window.set_space(space);
  window.set_base(base);
  window.set_bytes(bytes);
}

absl::Status WriteTrace(const std::string& path, const Chain& chain, uint64_t links) {
  v1::FileHeader header;
  header.set_producer("heddle machines fit");
  header.set_abstraction_level("ptx");
  AddWindow(header, v1::SPACE_SHARED, kSharedBase, kSharedBytes);
  if (chain.blocks > 1) AddWindow(header, v1::SPACE_CLUSTER_SHARED, kClusterBase, chain.blocks * kSharedBytes);
  HEDDLE_ASSIGN_OR_RETURN(const std::unique_ptr<trace::TraceWriter> writer,
                          trace::TraceWriter::Create(path, std::move(header)));
  HEDDLE_RETURN_IF_ERROR(writer->AddProgram(Program(chain, links)).status());
  v1::Launch launch;
  launch.mutable_block()->set_x(1);
  launch.mutable_block()->set_y(1);
  launch.mutable_block()->set_z(1);
  *launch.mutable_grid() = launch.block();
  launch.mutable_grid()->set_x(chain.blocks);
  if (chain.blocks > 1) *launch.mutable_cluster() = launch.grid();
  launch.set_recorded(true);
  HEDDLE_RETURN_IF_ERROR(writer->BeginLaunch(std::move(launch)));
  for (uint32_t block = 0; block < chain.blocks; ++block) {
    std::vector<uint64_t> addresses = chain.addresses;
    addresses.resize(std::min<uint64_t>(addresses.size(), links));
    if (chain.blocks > 1) {
      for (uint64_t& address : addresses) address += (block + 1) % chain.blocks * kSharedBytes;
    }
    trace::ThreadRecord thread;
    thread.addresses = addresses;
    HEDDLE_RETURN_IF_ERROR(writer->AddBlock(block, std::span(&thread, 1), links + 1));
  }
  HEDDLE_RETURN_IF_ERROR(writer->EndLaunch());
  return writer->Finish();
}

absl::StatusOr<uint64_t> Cycles(const machine::v1::Machine& machine, const Chain& chain, uint64_t links) {
  HEDDLE_ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Create());
  const std::string path = folder.File("chain.htrace");
  HEDDLE_RETURN_IF_ERROR(WriteTrace(path, chain, links));
  HEDDLE_ASSIGN_OR_RETURN(const std::unique_ptr<trace::TraceReader> reader, trace::TraceReader::Open(path));
  replay::ReplayOptions options;
  options.machine = machine;
  // The card's chains are loops that its instruction cache holds.
  if (options.machine.memory().has_hierarchy()) {
    options.machine.mutable_memory()->mutable_hierarchy()->mutable_l1_instruction()->set_sets(0);
  }
  HEDDLE_ASSIGN_OR_RETURN(const std::vector<result::v1::Result> results,
                          replay::Replay(*reader, {replay::Configuration{}}, options));
  return results.front().total().cycles();
}

absl::StatusOr<machine::v1::Hierarchy> HierarchyOf(const machine::v1::Machine& machine) {
  if (machine.memory().has_hierarchy()) return machine.memory().hierarchy();
  return absl::InvalidArgumentError(absl::StrCat("machine ", machine.name(), " has no memory hierarchy to fit"));
}

Chain Loads(v1::MemorySpace space) {
  Chain chain;
  chain.space = space;
  return chain;
}

}  // namespace

absl::StatusOr<Chain> L1Chain(const machine::v1::Machine& machine) {
  HEDDLE_ASSIGN_OR_RETURN(const machine::v1::Hierarchy memory, HierarchyOf(machine));
  if (memory.l1_data().sets() == 0) {
    return absl::InvalidArgumentError(absl::StrCat("machine ", machine.name(), " has no L1 data cache"));
  }
  Chain chain = Loads(v1::SPACE_GLOBAL);
  chain.warm_up = 1;
  chain.addresses.assign(chain.warm_up + kLinks, kGlobalBase);
  return chain;
}

// Twice through twice what the L1 holds: the second time the L2 has all and the L1 nothing that comes next.
absl::StatusOr<Chain> L2Chain(const machine::v1::Machine& machine) {
  HEDDLE_ASSIGN_OR_RETURN(const machine::v1::Hierarchy memory, HierarchyOf(machine));
  const machine::v1::Cache& l1 = memory.l1_data();
  const machine::v1::Cache& l2 = memory.l2().cache();
  if (memory.l2().slices_per_controller() == 0) {
    return absl::InvalidArgumentError(absl::StrCat("machine ", machine.name(), " has no L2"));
  }
  const uint64_t line = std::max(l1.line_bytes(), l2.line_bytes());
  const uint64_t l1_bytes = uint64_t{l1.sets()} * l1.ways() * l1.line_bytes();
  const uint64_t lines = std::max<uint64_t>(kLinks, 2 * l1_bytes / line);
  if (2 * lines > kMostLinks) {
    return absl::InvalidArgumentError(absl::StrCat("machine ", machine.name(), ": its L1 is too large for a chain"));
  }
  Chain chain = Loads(v1::SPACE_GLOBAL);
  chain.warm_up = lines;
  for (uint64_t i = 0; i < 2 * lines; ++i) chain.addresses.push_back(kGlobalBase + (i % lines) * line);
  return chain;
}

// Lines in no order all over 256 MB, each once.
absl::StatusOr<Chain> DramChain(const machine::v1::Machine& machine) {
  HEDDLE_ASSIGN_OR_RETURN(const machine::v1::Hierarchy memory, HierarchyOf(machine));
  if (memory.ideal_beyond_l1_cycles() != 0) {
    return absl::InvalidArgumentError(absl::StrCat("machine ", machine.name(), " has no DRAM"));
  }
  Chain chain = Loads(v1::SPACE_GLOBAL);
  chain.warm_up = 1;
  constexpr uint64_t kPlaces = uint64_t{1} << 16;
  constexpr uint64_t kPlaceBytes = 4096;
  uint64_t place = 1;
  for (uint64_t i = 0; i < chain.warm_up + kLinks; ++i) {
    // Of full period modulo a power of two (Hull and Dobell).
    place = (place * 40'693 + 12'345) % kPlaces;
    chain.addresses.push_back(kGlobalBase + place * kPlaceBytes + (place % 32) * 128);
  }
  return chain;
}

absl::StatusOr<Chain> FootprintChain(const machine::v1::Machine& machine, uint64_t bytes) {
  HEDDLE_RETURN_IF_ERROR(HierarchyOf(machine).status());
  constexpr uint64_t kApart = 128;
  const uint64_t lines = std::max<uint64_t>(1, bytes / kApart);
  if (2 * lines > kMostLinks) {
    return absl::InvalidArgumentError(absl::StrCat("a footprint of ", bytes, " bytes is too large for a chain"));
  }
  Chain chain = Loads(v1::SPACE_GLOBAL);
  chain.warm_up = lines;
  for (uint64_t i = 0; i < 2 * lines; ++i) chain.addresses.push_back(kGlobalBase + (i % lines) * kApart);
  return chain;
}

absl::StatusOr<Chain> SharedChain(const machine::v1::Machine& machine) {
  HEDDLE_RETURN_IF_ERROR(HierarchyOf(machine).status());
  Chain chain = Loads(v1::SPACE_SHARED);
  chain.warm_up = 1;
  chain.addresses.assign(chain.warm_up + kLinks, kSharedBase);
  return chain;
}

absl::StatusOr<Chain> ClusterChain(const machine::v1::Machine& machine) {
  HEDDLE_RETURN_IF_ERROR(HierarchyOf(machine).status());
  if (machine.sms() < 2) {
    return absl::InvalidArgumentError(absl::StrCat("machine ", machine.name(), " has no second SM for a cluster"));
  }
  Chain chain = Loads(v1::SPACE_CLUSTER_SHARED);
  chain.blocks = 2;
  chain.warm_up = 1;
  chain.addresses.assign(chain.warm_up + kLinks, kClusterBase);
  return chain;
}

Chain OperationChain(v1::OpClass op, const std::string& mnemonic) {
  Chain chain;
  chain.op = op;
  chain.mnemonic = mnemonic;
  chain.warm_up = 1;
  chain.instructions = chain.warm_up + kLinks;
  return chain;
}

absl::StatusOr<double> CyclesPerLink(const machine::v1::Machine& machine, const Chain& chain) {
  HEDDLE_ASSIGN_OR_RETURN(const uint64_t all, Cycles(machine, chain, Links(chain)));
  HEDDLE_ASSIGN_OR_RETURN(const uint64_t warm_up, Cycles(machine, chain, chain.warm_up));
  return static_cast<double>(all - warm_up) / static_cast<double>(Links(chain) - chain.warm_up);
}

absl::StatusOr<double> EmptyLaunchCycles(const machine::v1::Machine& machine) {
  HEDDLE_ASSIGN_OR_RETURN(const uint64_t cycles, Cycles(machine, Chain{}, 0));
  return static_cast<double>(cycles);
}

}  // namespace heddle::tools
