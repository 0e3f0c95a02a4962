#include "replay/machine/machine_check_core.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <set>
#include <string>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "replay/machine/check_range.h"
#include "replay/seams/types.h"
#include "traces/base/status_macros.h"

namespace heddle::replay {
namespace {

using machine::v1::Core;
using machine::v1::ExecutionUnits;
using machine::v1::InstructionBuffer;
using machine::v1::OperationTiming;
using machine::v1::RegisterFile;
using machine::v1::ShapeTiming;
using machine::v1::TensorTiming;
using machine::v1::ThesisPipeline;

// Bounds that keep every counter and event time far from overflow; no real machine comes near.
constexpr uint64_t kMaxBlocksPerSm = 1024;
constexpr uint64_t kMaxRegisters = 1u << 24;
constexpr uint64_t kMaxUnits = 64;
constexpr uint64_t kMaxBufferEntries = 64;
constexpr uint64_t kMaxRegisterBanks = 1024;
constexpr uint64_t kMaxCollectors = 1024;
constexpr uint64_t kMaxOperandSteps = 16;
constexpr uint64_t kLeastReadCyclesInSteps = 3;
// As many memory instructions, of some KiB each, may be on their way to the memory stage of an SM.
constexpr uint64_t kMaxMemoryIssueLatency = 1024;
constexpr uint64_t kMaxMultiplyAdds = 1u << 20;
constexpr uint64_t kMaxShape = 4096;  // rows, columns or terms of a product
constexpr uint64_t kMaxCopyBytes = 1u << 20;
constexpr uint64_t kMaxCopies = 1u << 20;
// As many cycles' arrivals at transaction barriers of an SM may have to be remembered.
constexpr uint64_t kMaxArrivalLatency = 1024;

absl::Status First(std::initializer_list<absl::Status> checks) {
  for (const absl::Status& status : checks) {
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

uint64_t IssueCycles(const Core& core) {
  return (uint64_t{core.warp_size()} + core.simd_width() - 1) / core.simd_width();
}

// An instruction cannot be done before all its lane groups have entered the pipeline.
absl::Status CheckLatency(const Core& core, const std::string& path, uint64_t cycles) {
  return CheckRange(path, cycles, IssueCycles(core), kMaxLatency,
                    "at least ceil(core.warp_size / core.simd_width), the cycles a warp takes to issue");
}

absl::Status CheckResources(const Core& core) {
  HEDDLE_RETURN_IF_ERROR(First({
      CheckRange("core.warp_size", core.warp_size(), 1, kMaxLanes),
      CheckRange("core.simd_width", core.simd_width(), 1, kMaxLanes),
      CheckRange("core.schedulers", core.schedulers(), 1, kMaxPorts),
      CheckRange("core.max_threads", core.max_threads(), 1, kMaxSlots),
      CheckRange("core.max_blocks", core.max_blocks(), 1, kMaxBlocksPerSm),
      CheckRange("core.registers", core.registers(), 0, kMaxRegisters, "0 means no limit"),
      CheckRange("core.shared_memory_bytes", core.shared_memory_bytes(), 0, kMaxSharedBytes),
      CheckRange("core.shared_bytes_per_block", core.shared_bytes_per_block(), 0, core.shared_memory_bytes(),
                 "at most core.shared_memory_bytes"),
  }));
  if (core.max_threads() % core.warp_size() != 0) {
    return Refuse("core.max_threads", core.max_threads(),
                  absl::StrCat("a multiple of core.warp_size = ", core.warp_size()));
  }
  return absl::OkStatus();
}

absl::Status CheckScriptedLatencies(const Core& core) {
  for (int i = 0; i < core.scripted_latency_size(); ++i) {
    const machine::v1::ScriptedLatency& scripted = core.scripted_latency(i);
    const std::string path = absl::StrCat("core.scripted_latency[", i, "]");
    HEDDLE_RETURN_IF_ERROR(CheckLatency(core, path + ".cycles", scripted.cycles()));
    if (scripted.last_thread() < scripted.first_thread()) {
      return Refuse(path + ".last_thread", scripted.last_thread(),
                    absl::StrCat("at least first_thread = ", scripted.first_thread()));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckSinglePipeline(const Core& core) {
  const ThesisPipeline& pipeline = core.thesis();
  if (!ThesisPipeline::BankPenalty_IsValid(pipeline.register_bank_penalty())) {
    return Refuse("core.thesis.register_bank_penalty", static_cast<uint64_t>(pipeline.register_bank_penalty()),
                  "BANK_PENALTY_NONE, BANK_PENALTY_M or BANK_PENALTY_M_MINUS_1");
  }
  if (pipeline.blocks_on_one_scheduler() && core.max_threads() % (core.schedulers() * core.warp_size()) != 0) {
    return Refuse(
        "core.max_threads", core.max_threads(),
        absl::StrCat("a multiple of core.schedulers * core.warp_size = ", core.schedulers() * core.warp_size(),
                     ": with core.thesis.blocks_on_one_scheduler each scheduler has its share"));
  }
  return First({
      CheckRange("core.pipeline_depth", core.pipeline_depth(), 1, kMaxLatency),
      CheckLatency(core, "core.pipeline_depth", core.pipeline_depth()),
      pipeline.register_read_bypass()
          ? CheckRange("core.pipeline_depth", core.pipeline_depth(), IssueCycles(core) + 1, kMaxLatency,
                       "core.thesis.register_read_bypass takes a stage away, and what is left must last as long as a "
                       "warp takes to issue")
          : absl::OkStatus(),
      CheckRange("core.thesis.pre_memory_stages", pipeline.pre_memory_stages(), 0, core.pipeline_depth() - 1,
                 "they are part of core.pipeline_depth"),
      CheckScriptedLatencies(core),
  });
}

absl::Status CheckBuffer(const InstructionBuffer& buffer) {
  if (!InstructionBuffer::FetchWhen_IsValid(buffer.fetch_when())) {
    return Refuse("core.ibuffer.fetch_when", static_cast<uint64_t>(buffer.fetch_when()), "EMPTY or FREE_SLOT");
  }
  return First({
      CheckRange("core.ibuffer.entries", buffer.entries(), 1, kMaxBufferEntries),
      CheckRange("core.ibuffer.fetch_instructions", buffer.fetch_instructions(), 1, buffer.entries(),
                 "at most core.ibuffer.entries"),
      CheckRange("core.ibuffer.fetches_per_cycle", buffer.fetches_per_cycle(), 0, kMaxUnits, "0 means 1"),
      CheckRange("core.ibuffer.reformed_warp_cycles", buffer.reformed_warp_cycles(), 1, kMaxLatency),
  });
}

absl::Status CheckDependences(const Core& core) {
  if (!Core::Dependences_IsValid(core.dependences())) {
    return Refuse("core.dependences", static_cast<uint64_t>(core.dependences()), "SCOREBOARD or CONTROL_BITS");
  }
  if (!Core::Branches_IsValid(core.branches())) {
    return Refuse("core.branches", static_cast<uint64_t>(core.branches()), "AT_RESULT or AT_ISSUE");
  }
  const RegisterFile& file = core.register_file();
  return First({
      CheckRange("core.register_file.banks", file.banks(), 0, kMaxRegisterBanks,
                 "0 means that operands are always there in time"),
      file.banks() == 0 ? CheckRange("core.register_file.read_cycles", file.read_cycles(), 0, 0,
                                     "without core.register_file.banks nothing reads for so long")
                        : CheckRange("core.register_file.read_cycles", file.read_cycles(), 1, kMaxLatency),
      file.banks() == 0 ? CheckRange("core.register_file.cache", file.cache(), 0, 0,
                                     "without core.register_file.banks there is nothing to save")
                        : absl::OkStatus(),
  });
}

absl::Status CheckTimings(const ExecutionUnits& units) {
  std::set<int> seen;
  for (int i = 0; i < units.timing_size(); ++i) {
    const OperationTiming& timing = units.timing(i);
    if (timing.operation() == OperationTiming::OPERATION_UNSPECIFIED ||
        !OperationTiming::Operation_IsValid(timing.operation())) {
      return absl::InvalidArgumentError(
          absl::StrCat("core.units.timing[", i, "].operation: must be given, such as INT_ALU"));
    }
    const std::string path =
        absl::StrCat("core.units.timing[", OperationTiming::Operation_Name(timing.operation()), "]");
    if (!seen.insert(timing.operation()).second) {
      return absl::InvalidArgumentError(absl::StrCat(path, ": stands there twice"));
    }
    if (!OperationTiming::Unit_IsValid(timing.unit())) {
      return Refuse(path + ".unit", static_cast<uint64_t>(timing.unit()),
                    "SP_UNIT, SFU_UNIT, TENSOR_UNIT, INT_UNIT or DP_UNIT");
    }
    for (const auto& [unit, count, field] : {std::tuple{OperationTiming::TENSOR_UNIT, units.tensor(), "tensor"},
                                             std::tuple{OperationTiming::INT_UNIT, units.integer(), "integer"},
                                             std::tuple{OperationTiming::DP_UNIT, units.dp(), "dp"}}) {
      if (timing.unit() != unit || count != 0) continue;
      return absl::InvalidArgumentError(absl::StrCat(path, ".unit = ", OperationTiming::Unit_Name(unit),
                                                     ": core.units.", field, " must be at least 1"));
    }
    HEDDLE_RETURN_IF_ERROR(First({
        CheckRange(path + ".latency", timing.latency(), 1, kMaxLatency),
        CheckRange(path + ".initiation_interval", timing.initiation_interval(), 1, kMaxLatency),
    }));
  }
  if (!seen.contains(OperationTiming::INT_ALU)) {
    return absl::InvalidArgumentError(
        "core.units.timing: INT_ALU must be among the operations; it stands for those that are not");
  }
  return absl::OkStatus();
}

absl::Status CheckShapes(const TensorTiming& timing, const std::string& timing_path) {
  std::set<std::array<uint32_t, 3>> seen;
  for (int i = 0; i < timing.shape_size(); ++i) {
    const ShapeTiming& shape = timing.shape(i);
    const std::string path = absl::StrCat(timing_path, ".shape[", i, "]");
    HEDDLE_RETURN_IF_ERROR(First({
        CheckRange(path + ".m", shape.m(), 1, kMaxShape),
        CheckRange(path + ".n", shape.n(), 1, kMaxShape),
        CheckRange(path + ".k", shape.k(), 1, kMaxShape),
        CheckRange(path + ".latency", shape.latency(), 0, kMaxLatency, "0 means that it follows from the rate"),
        CheckRange(path + ".initiation_interval", shape.initiation_interval(), 0, kMaxLatency,
                   "0 means that it follows from the rate"),
    }));
    if (shape.latency() == 0 && shape.initiation_interval() == 0) {
      return absl::InvalidArgumentError(absl::StrCat(path, ": must say latency or initiation_interval"));
    }
    if (!seen.insert({shape.m(), shape.n(), shape.k()}).second) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": m", shape.m(), "n", shape.n(), "k", shape.k(), " stands there twice"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckTensorTimings(const ExecutionUnits& units) {
  std::set<int> seen;
  for (int i = 0; i < units.tensor_timing_size(); ++i) {
    const TensorTiming& timing = units.tensor_timing(i);
    if (timing.elements() == TensorTiming::ELEMENTS_UNSPECIFIED || !TensorTiming::Elements_IsValid(timing.elements())) {
      return absl::InvalidArgumentError(
          absl::StrCat("core.units.tensor_timing[", i, "].elements: must be given, such as F16_INTO_F32"));
    }
    const std::string path =
        absl::StrCat("core.units.tensor_timing[", TensorTiming::Elements_Name(timing.elements()), "]");
    if (!seen.insert(timing.elements()).second) {
      return absl::InvalidArgumentError(absl::StrCat(path, ": stands there twice"));
    }
    HEDDLE_RETURN_IF_ERROR(First({
        CheckRange(path + ".multiply_adds", timing.multiply_adds(), 1, kMaxMultiplyAdds),
        CheckRange(path + ".pipeline_cycles", timing.pipeline_cycles(), 0, kMaxLatency),
        CheckShapes(timing, path),
    }));
  }
  const auto is_product = [](const OperationTiming& timing) { return timing.operation() == OperationTiming::TENSOR; };
  if (!seen.empty() && std::ranges::none_of(units.timing(), is_product)) {
    return absl::InvalidArgumentError(
        "core.units.tensor_timing: core.units.timing[TENSOR] must be there, which says the unit of products");
  }
  return absl::OkStatus();
}

absl::Status CheckAsynchronous(const Core& core) {
  const machine::v1::CopyEngine& copies = core.copies();
  const machine::v1::TransactionBarriers& barriers = core.transaction_barriers();
  return First({
      CheckRange("core.copies.issue_latency", copies.issue_latency(), 0, kMaxLatency),
      CheckRange("core.copies.write_latency", copies.write_latency(), 0, kMaxLatency),
      CheckRange("core.copies.bytes_per_cycle", copies.bytes_per_cycle(), 0, kMaxCopyBytes, "0 means no limit"),
      CheckRange("core.copies.in_flight", copies.in_flight(), 0, kMaxCopies, "0 means no limit"),
      CheckRange("core.transaction_barriers.arrival_latency", barriers.arrival_latency(), 0, kMaxArrivalLatency),
      CheckRange("core.transaction_barriers.wake_latency", barriers.wake_latency(), 0, kMaxLatency),
      CheckRange("core.block_barriers.arrival_interval", core.block_barriers().arrival_interval(), 0, kMaxLatency),
      CheckRange("core.block_barriers.release_latency", core.block_barriers().release_latency(), 0, kMaxLatency),
  });
}

absl::Status CheckOperands(const ExecutionUnits& units, uint32_t ports) {
  const uint32_t banks = units.register_banks();
  const bool in_steps = banks != 0 && units.operand_steps() != 0;
  if (units.banks_by_port() && banks % ports != 0) {
    return Refuse("core.units.register_banks", banks,
                  absl::StrCat("a multiple of core.schedulers = ", ports, ", among which banks_by_port divides them"));
  }
  return First({
      CheckRange("core.units.operand_read_cycles", units.operand_read_cycles(), in_steps ? kLeastReadCyclesInSteps : 0,
                 kMaxLatency, in_steps ? "with core.units.operand_steps an instruction asks, reads and leaves" : ""),
      CheckRange("core.units.register_banks", banks, 0, kMaxRegisterBanks,
                 "0 means that operands are always there in time"),
      CheckRange("core.units.operand_steps", units.operand_steps(), 0, kMaxOperandSteps,
                 "0 means that an instruction reads all operands of different banks at once"),
      CheckRange("core.units.sp_collectors", units.sp_collectors(), 0, kMaxCollectors, "0 means no limit"),
      CheckRange("core.units.sfu_collectors", units.sfu_collectors(), 0, kMaxCollectors, "0 means no limit"),
  });
}

absl::Status CheckUnits(const ExecutionUnits& units, uint32_t ports) {
  if (units.has_memory_issue_cycles()) {
    const uint32_t cycles = std::max(1u, units.memory_issue_cycles());
    return absl::InvalidArgumentError(
        absl::StrCat("core.units.memory_issue_cycles = ", units.memory_issue_cycles(),
                     ": is two fields now, write memory_issue_latency: ", cycles,
                     " and memory_initiation_interval: 1 (a warp per cycle) in its place"));
  }
  return First({
      CheckRange("core.units.sp", units.sp(), 1, kMaxUnits),
      CheckRange("core.units.sfu", units.sfu(), 1, kMaxUnits),
      CheckRange("core.units.write_back_cycles", units.write_back_cycles(), 0, kMaxLatency),
      CheckRange("core.units.memory_issue_latency", units.memory_issue_latency(), 1, kMaxMemoryIssueLatency,
                 "the memory stage comes after issue"),
      CheckRange("core.units.memory_initiation_interval", units.memory_initiation_interval(), 1, kMaxLatency,
                 "one warp per cycle at most"),
      CheckOperands(units, ports),
      CheckRange("core.units.tensor", units.tensor(), 0, kMaxUnits),
      CheckRange("core.units.integer", units.integer(), 0, kMaxUnits),
      CheckRange("core.units.dp", units.dp(), 0, kMaxUnits),
      CheckRange("core.units.memory_operand_read_cycles", units.memory_operand_read_cycles(), 0, kMaxLatency,
                 "0 means core.units.memory_issue_latency"),
      CheckTimings(units),
      CheckTensorTimings(units),
  });
}

}  // namespace

absl::Status CheckCore(const Core& core) {
  HEDDLE_RETURN_IF_ERROR(First({CheckResources(core), CheckAsynchronous(core)}));
  switch (core.front_end()) {
    case Core::THESIS:
      return CheckSinglePipeline(core);
    case Core::IBUFFER:
      if (core.scripted_latency_size() != 0) {
        return absl::InvalidArgumentError("core.scripted_latency: only front_end THESIS has scripted latencies");
      }
      return First({CheckBuffer(core.ibuffer()), CheckUnits(core.units(), core.schedulers()), CheckDependences(core)});
    default:
      return absl::InvalidArgumentError("core.front_end: must be THESIS or IBUFFER");
  }
}

}  // namespace heddle::replay
