#include "tools/study/correlate/ours.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "replay/seams/types.h"
#include "traces/base/status_macros.h"

namespace heddle::tools::correlate {
namespace {

namespace v1 = result::v1;
using Former = std::function<absl::StatusOr<Term>(const OurLaunch&)>;

constexpr uint64_t kSectorBytes = 32;

absl::Status Lacks(const std::string& what) { return absl::NotFoundError(what); }

Term Sum(uint64_t count) { return {static_cast<double>(count), std::nullopt}; }
Term Quotient(uint64_t over, uint64_t by, double scale = 1) {
  return {static_cast<double>(over) * scale, static_cast<double>(by)};
}

const trace::v1::Instruction& InstructionOf(const OurLaunch& launch, const v1::InstructionCounters& counters) {
  return launch.program.instruction(static_cast<trace::Pc>(counters.pc() / replay::kInstructionBytes));
}

// The class of counters.json that an instruction belongs to. Divisions and special functions of PTX are counted with
// the arithmetic that machine code makes them of. The card counts what writes uniform registers in no class.
std::string_view ClassOf(const OurLaunch& launch, const trace::v1::Instruction& instruction) {
  const bool machine_code = launch.program.proto().level() == trace::v1::LEVEL_MACHINE;
  if (machine_code && instruction.mnemonic().starts_with('U')) return "";
  switch (instruction.op()) {
    case trace::v1::OP_FP32:
    case trace::v1::OP_SFU:
      return "fp32";
    case trace::v1::OP_FP64:
      return "fp64";
    case trace::v1::OP_FP_DIV:
      return absl::StrContains(instruction.mnemonic(), "f64") ? "fp64" : "fp32";
    case trace::v1::OP_INT_ALU:
    case trace::v1::OP_INT_MUL:
    case trace::v1::OP_INT_DIV:
      return "integer";
    case trace::v1::OP_CONVERT:
      return "conversion";
    case trace::v1::OP_LOAD:
    case trace::v1::OP_STORE:
    case trace::v1::OP_ATOMIC:
    case trace::v1::OP_TEXTURE:
      return "memory";
    case trace::v1::OP_BRANCH:
    case trace::v1::OP_CALL:
    case trace::v1::OP_RETURN:
    case trace::v1::OP_EXIT:
    case trace::v1::OP_CONVERGENCE:  // control instructions by NVIDIA's list (CUDA Binary Utilities)
      return "control";
    case trace::v1::OP_WARP:
      return "inter_thread";
    default:  // moves, barriers, fences, tensor operations
      return "misc";
  }
}

Former Class(std::string name) {
  return [name = std::move(name)](const OurLaunch& launch) -> absl::StatusOr<Term> {
    uint64_t count = 0;
    for (const v1::InstructionCounters& one : launch.result.instruction_profile().instruction()) {
      if (ClassOf(launch, InstructionOf(launch, one)) == name) {
        count += one.thread_instructions() - one.predicated_off();
      }
    }
    return Sum(count);
  };
}

absl::StatusOr<Term> DivergentBranches(const OurLaunch& launch) {
  uint64_t branches = 0;
  uint64_t splits = 0;
  for (const v1::InstructionCounters& one : launch.result.instruction_profile().instruction()) {
    if (InstructionOf(launch, one).op() != trace::v1::OP_BRANCH) continue;
    branches += one.issues();
    splits += one.splits();
  }
  return Quotient(splits, branches, kPerCent);
}

absl::StatusOr<Term> BlocksPerSm(const OurLaunch& launch) {
  if (launch.result.residency_limit() == "grid") return Lacks("the grid is smaller than what the SMs hold");
  return Sum(launch.result.blocks_per_sm());
}

// Of the profile, the memory of the instructions with this operation.
template <typename Add>
void ForOperation(const OurLaunch& launch, trace::v1::OpClass op, const Add& add) {
  for (const v1::InstructionCounters& one : launch.result.instruction_profile().instruction()) {
    if (InstructionOf(launch, one).op() == op) add(one.memory());
  }
}

absl::Status CheckHierarchy(const OurLaunch& launch) {
  if (launch.machine.memory().has_hierarchy()) return absl::OkStatus();
  return Lacks(absl::StrCat("machine ", launch.machine.name(), " has no memory hierarchy"));
}

Former SectorsPer(trace::v1::OpClass op) {
  return [op](const OurLaunch& launch) -> absl::StatusOr<Term> {
    HEDDLE_RETURN_IF_ERROR(CheckHierarchy(launch));
    for (const v1::SizeCount& size : launch.result.memory_instructions().transactions()) {
      if (size.bytes() > kSectorBytes && size.count() > 0) {
        return Lacks(absl::StrCat("machine ", launch.machine.name(), " has transactions of ", size.bytes(),
                                  " bytes, which do not tell how many sectors of 32 they touch"));
      }
    }
    uint64_t sectors = 0;
    uint64_t accesses = 0;
    ForOperation(launch, op, [&](const v1::InstructionMemory& memory) {
      sectors += memory.transactions();
      accesses += memory.data_accesses();
    });
    return Quotient(sectors, accesses);
  };
}

// A warp's access to shared memory has a part for each piece of the warp that accesses by itself.
absl::StatusOr<Term> SharedPasses(const OurLaunch& launch) {
  HEDDLE_RETURN_IF_ERROR(CheckHierarchy(launch));
  if (launch.machine.memory().hierarchy().shared().parts() != 1) return Lacks("warps access shared memory in parts");
  uint64_t passes = 0;
  uint64_t accesses = 0;
  for (const trace::v1::OpClass op : {trace::v1::OP_LOAD, trace::v1::OP_STORE}) {
    ForOperation(launch, op, [&](const v1::InstructionMemory& memory) {
      passes += memory.shared_passes();
      accesses += memory.shared_parts();
    });
  }
  return Quotient(passes, accesses);
}

absl::StatusOr<Term> L1LoadHitRate(const OurLaunch& launch) {
  HEDDLE_RETURN_IF_ERROR(CheckHierarchy(launch));
  uint64_t hits = 0;
  uint64_t all = 0;
  ForOperation(launch, trace::v1::OP_LOAD, [&](const v1::InstructionMemory& memory) {
    hits += memory.l1_hits() + memory.l1_pending_hits();
    all += memory.l1_hits() + memory.l1_pending_hits() + memory.l1_misses();
  });
  return Quotient(hits, all, kPerCent);
}

absl::StatusOr<Term> L2Sectors(const OurLaunch& launch, uint64_t requests) {
  if (!launch.result.has_l2()) return Lacks(absl::StrCat("machine ", launch.machine.name(), " has no L2"));
  const uint64_t line = launch.machine.memory().hierarchy().l1_data().line_bytes();
  if (line != kSectorBytes) {
    return Lacks(absl::StrCat("lines of ", line, " bytes do not tell how many sectors of 32 are asked for"));
  }
  return Sum(requests);
}

// Of reads, as the card's; a read of a line on its way counts as a hit.
absl::StatusOr<Term> L2HitRate(const OurLaunch& launch) {
  if (!launch.result.l2().has_cache()) return Lacks(absl::StrCat("machine ", launch.machine.name(), " has no L2"));
  const v1::L2Counters& l2 = launch.result.l2();
  return Quotient(l2.reads() - l2.read_misses(), l2.reads(), kPerCent);
}

absl::StatusOr<Term> DramBytes(const OurLaunch& launch) {
  if (!launch.result.has_dram()) return Lacks(absl::StrCat("machine ", launch.machine.name(), " has no DRAM"));
  const machine::v1::Dram& dram = launch.machine.memory().hierarchy().dram();
  const uint64_t bytes = uint64_t{dram.bus_bytes()} * std::max(1u, dram.chips_per_controller()) * dram.burst_length();
  return Sum((launch.result.dram().reads() + launch.result.dram().writes()) * bytes);
}

absl::Status CheckBuffers(const OurLaunch& launch) {
  if (launch.result.has_stalls()) return absl::OkStatus();
  return Lacks(absl::StrCat("machine ", launch.machine.name(), " has no instruction buffers"));
}

absl::StatusOr<Term> IssueSlots(const OurLaunch& launch) {
  HEDDLE_RETURN_IF_ERROR(CheckBuffers(launch));
  return Quotient(launch.result.stalls().issued(), launch.result.stalls().total(), kPerCent);
}

Former Waits(uint64_t (v1::WarpCycles::*state)() const) {
  return [state](const OurLaunch& launch) -> absl::StatusOr<Term> {
    HEDDLE_RETURN_IF_ERROR(CheckBuffers(launch));
    const v1::WarpCycles& cycles = launch.result.warp_cycles();
    return Quotient((cycles.*state)(), cycles.issue());
  };
}

const std::map<std::string, Former>& Formers() {
  static const std::map<std::string, Former> formers = [] {
    std::map<std::string, Former> all = {
        {"expected_wrong_outputs", [](const OurLaunch&) { return Sum(0); }},
        {"thread_instructions", [](const OurLaunch& launch) { return Sum(launch.result.thread_instructions()); }},
        {"warp_instructions", [](const OurLaunch& launch) { return Sum(launch.result.warp_instructions()); }},
        {"active_threads",
         [](const OurLaunch& launch) {
           const uint64_t lanes = launch.result.warp_instructions() * launch.machine.core().warp_size();
           return Quotient(launch.result.thread_instructions(), lanes, kPerCent);
         }},
        {"divergent_branches", DivergentBranches},
        {"registers", [](const OurLaunch& launch) { return Sum(launch.result.registers_per_thread()); }},
        {"blocks_per_sm", BlocksPerSm},
        {"sectors_per_load", SectorsPer(trace::v1::OP_LOAD)},
        {"sectors_per_store", SectorsPer(trace::v1::OP_STORE)},
        {"sectors_per_atomic", SectorsPer(trace::v1::OP_ATOMIC)},
        {"shared_passes", SharedPasses},
        {"l1_load_hit_rate", L1LoadHitRate},
        {"l2_read_sectors", [](const OurLaunch& launch) { return L2Sectors(launch, launch.result.l2().reads()); }},
        {"l2_write_sectors", [](const OurLaunch& launch) { return L2Sectors(launch, launch.result.l2().writes()); }},
        {"l2_hit_rate", L2HitRate},
        {"dram_bytes", DramBytes},
        {"cycles", [](const OurLaunch& launch) { return Sum(launch.result.cycles()); }},
        {"issue_slots", IssueSlots},
        {"stall.data_memory", Waits(&v1::WarpCycles::data_memory)},
        {"stall.data_arithmetic", Waits(&v1::WarpCycles::data_arithmetic)},
        {"stall.structural", Waits(&v1::WarpCycles::structural)},
        {"stall.control", Waits(&v1::WarpCycles::control)},
        {"stall.fetch", Waits(&v1::WarpCycles::fetch)},
        {"stall.barrier", Waits(&v1::WarpCycles::barrier)},
        {"stall.exit", Waits(&v1::WarpCycles::exit)},
    };
    for (const char* name : {"fp32", "fp64", "integer", "conversion", "memory", "control", "inter_thread", "misc"}) {
      all.emplace(absl::StrCat("class.", name), Class(name));
    }
    return all;
  }();
  return formers;
}

}  // namespace

absl::StatusOr<Term> OurTerm(const std::string& name, const OurLaunch& launch) {
  const auto found = Formers().find(name);
  if (found == Formers().end()) return absl::InvalidArgumentError(absl::StrCat("nothing forms ", name));
  return found->second(launch);
}

std::vector<std::string> OurNames() {
  std::vector<std::string> names;
  for (const auto& [name, former] : Formers()) names.push_back(name);
  return names;
}

}  // namespace heddle::tools::correlate
