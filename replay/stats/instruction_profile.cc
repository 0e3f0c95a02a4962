#include "replay/stats/instruction_profile.h"

#include <bit>
#include <string>

#include "absl/strings/str_cat.h"
#include "replay/memory/sm/memory_profile.h"
#include "traces/format/program/machine_code.h"

namespace heddle::replay {
namespace {

constexpr WarpClassMask kMemoryClasses = MaskOf(WarpClass::kMemory) | MaskOf(WarpClass::kMemoryWaw);

void Sum(const result::v1::StallCycles& one, result::v1::StallCycles& sum) {
  sum.set_total(sum.total() + one.total());
  sum.set_issued(sum.issued() + one.issued());
  sum.set_structural(sum.structural() + one.structural());
  sum.set_data(sum.data() + one.data());
  sum.set_data_memory(sum.data_memory() + one.data_memory());
  sum.set_data_arithmetic(sum.data_arithmetic() + one.data_arithmetic());
  sum.set_data_waw(sum.data_waw() + one.data_waw());
  sum.set_control(sum.control() + one.control());
  sum.set_fetch(sum.fetch() + one.fetch());
  sum.set_policy(sum.policy() + one.policy());
  sum.set_barrier(sum.barrier() + one.barrier());
  sum.set_exit(sum.exit() + one.exit());
  sum.set_empty(sum.empty() + one.empty());
}

void Sum(const result::v1::SchedulerCycles& one, result::v1::SchedulerCycles& sum) {
  sum.set_total(sum.total() + one.total());
  sum.set_issued(sum.issued() + one.issued());
  sum.set_stall(sum.stall() + one.stall());
  sum.set_memory(sum.memory() + one.memory());
  sum.set_idle(sum.idle() + one.idle());
}

template <typename Cycles>
absl::Status Compare(const Cycles& sum, const Cycles& launch) {
  if (sum.SerializeAsString() == launch.SerializeAsString()) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("the cycles of the instructions add up to { ", sum.ShortDebugString(),
                                          " }, those of the launch are { ", launch.ShortDebugString(), " }"));
}

}  // namespace

PortLoss PortLossOf(WarpClassMask classes) {
  if (classes == 0) return PortLoss::kEmpty;
  switch (static_cast<WarpClass>(std::countr_zero(classes))) {
    case WarpClass::kStructural:
      return PortLoss::kStructural;
    case WarpClass::kMemory:
    case WarpClass::kMemoryWaw:
    case WarpClass::kArithmetic:
    case WarpClass::kArithmeticWaw:
      return (classes & kMemoryClasses) != 0 ? PortLoss::kDataMemory : PortLoss::kDataArithmetic;
    case WarpClass::kControl:
      return PortLoss::kControl;
    case WarpClass::kFetch:
      return PortLoss::kFetch;
    case WarpClass::kPolicy:
    case WarpClass::kPaused:
      return PortLoss::kPolicy;
    case WarpClass::kBarrier:
      return PortLoss::kBarrier;
    default:
      return PortLoss::kExit;
  }
}

WarpClassMask ClassesOf(PortLoss loss) {
  switch (loss) {
    case PortLoss::kStructural:
      return MaskOf(WarpClass::kStructural);
    case PortLoss::kDataMemory:
      return kMemoryClasses;
    case PortLoss::kDataArithmetic:
      return MaskOf(WarpClass::kArithmetic) | MaskOf(WarpClass::kArithmeticWaw);
    case PortLoss::kControl:
      return MaskOf(WarpClass::kControl);
    case PortLoss::kFetch:
      return MaskOf(WarpClass::kFetch);
    case PortLoss::kPolicy:
      return MaskOf(WarpClass::kPolicy) | MaskOf(WarpClass::kPaused);
    case PortLoss::kBarrier:
      return MaskOf(WarpClass::kBarrier);
    default:
      return 0;
  }
}

void InstructionProfile::Fill(const Counters& counters, result::v1::StallCycles& out) {
  const auto lost = [&](PortLoss loss) { return counters.lost[static_cast<size_t>(loss)]; };
  uint64_t total = counters.port_issues;
  for (const uint64_t cycles : counters.lost) total += cycles;
  out.set_total(total);
  out.set_issued(counters.port_issues);
  out.set_structural(lost(PortLoss::kStructural));
  out.set_data(lost(PortLoss::kDataMemory) + lost(PortLoss::kDataArithmetic));
  out.set_data_memory(lost(PortLoss::kDataMemory));
  out.set_data_arithmetic(lost(PortLoss::kDataArithmetic));
  out.set_data_waw(counters.waw);
  out.set_control(lost(PortLoss::kControl));
  out.set_fetch(lost(PortLoss::kFetch));
  out.set_policy(lost(PortLoss::kPolicy));
  out.set_barrier(lost(PortLoss::kBarrier));
  out.set_exit(lost(PortLoss::kExit));
  out.set_empty(lost(PortLoss::kEmpty));
}

void InstructionProfile::Fill(const Counters& counters, result::v1::SchedulerCycles& out) {
  const auto lost = [&](PortLoss loss) { return counters.lost[static_cast<size_t>(loss)]; };
  out.set_issued(counters.port_issues);
  out.set_stall(lost(PortLoss::kStall));
  out.set_memory(lost(PortLoss::kMemory));
  out.set_idle(lost(PortLoss::kIdle));
  out.set_total(out.issued() + out.stall() + out.memory() + out.idle());
}

void InstructionProfile::Fill(const trace::Program& program, const trace::v1::FileHeader& header, uint32_t warp_size,
                              bool has_buffers, const MemoryProfile* memory,
                              result::v1::InstructionProfile& out) const {
  InstructionMemoryCounters all;
  for (Pc pc = 0; pc < counters_.size(); ++pc) {
    const Counters& counters = counters_[pc];
    uint64_t cycles = counters.port_issues;
    for (const uint64_t lost : counters.lost) cycles += lost;
    if (cycles == 0 && counters.threads == 0) continue;
    const trace::v1::Instruction& instruction = program.instruction(pc);
    result::v1::InstructionCounters& one = *out.add_instruction();
    one.set_pc(uint64_t{pc} * kInstructionBytes);
    one.set_text(InstructionText(program, pc));
    if (const int file = static_cast<int>(instruction.source_file()) - 1;
        file >= 0 && file < header.source_file_size()) {
      one.set_source_file(header.source_file(file));
      one.set_source_line(instruction.source_line());
    }
    one.set_issues(counters.issues);
    one.set_thread_instructions(counters.threads);
    if (program.IsGuarded(pc)) one.set_predicated_off(counters.predicated_off);
    one.set_splits(counters.splits);
    if (counters.issues != 0) {
      one.set_lane_activity(100.0 * static_cast<double>(counters.threads) /
                            static_cast<double>(counters.issues * warp_size));
    }
    if (has_buffers) {
      Fill(counters, *one.mutable_stalls());
    } else {
      Fill(counters, *one.mutable_scheduler_cycles());
    }
    if (memory != nullptr && (*memory)[pc].accesses != 0) {
      (*memory)[pc].Fill(*one.mutable_memory());
      all.Add((*memory)[pc]);
    }
  }
  if (has_buffers) {
    Fill(elsewhere_, *out.mutable_elsewhere());
  } else {
    Fill(elsewhere_, *out.mutable_scheduler_elsewhere());
  }
  if (memory != nullptr) all.Fill(*out.mutable_memory());
}

absl::Status CheckSums(const result::v1::InstructionProfile& profile, const result::v1::LaunchResult& launch) {
  uint64_t issues = 0;
  uint64_t threads = 0;
  result::v1::StallCycles stalls = profile.elsewhere();
  result::v1::SchedulerCycles scheduler_cycles = profile.scheduler_elsewhere();
  for (const result::v1::InstructionCounters& one : profile.instruction()) {
    issues += one.issues();
    threads += one.thread_instructions();
    Sum(one.stalls(), stalls);
    Sum(one.scheduler_cycles(), scheduler_cycles);
  }
  if (issues != launch.warp_instructions() || threads != launch.thread_instructions()) {
    return absl::InternalError(absl::StrCat("the profile holds ", issues, " issues of ", threads, " threads, not ",
                                            launch.warp_instructions(), " of ", launch.thread_instructions()));
  }
  result::v1::StallCycles of_launch = launch.stalls();
  of_launch.clear_paused();  // instructions do not tell it from the rest of `policy`
  return launch.has_stalls() ? Compare(stalls, of_launch) : Compare(scheduler_cycles, launch.scheduler_cycles());
}

std::string InstructionText(const trace::Program& program, Pc pc) {
  const trace::v1::Instruction& instruction = program.instruction(pc);
  const trace::v1::Function& function =
      program.proto().function(static_cast<int>(program.block(program.block_of(pc)).function));
  std::string text = instruction.mnemonic();
  const char* separator = " ";
  for (const auto* registers : {&instruction.dst(), &instruction.src()}) {
    for (const uint32_t number : *registers) {
      absl::StrAppend(&text, separator, trace::RegisterName(function, number));
      separator = ", ";
    }
  }
  return text;
}

}  // namespace heddle::replay
