#include "tests/reference/reference_launch.h"

#include <span>

#include "tests/reference/reference_core.h"
#include "tests/reference/reference_ibuffer_core.h"
#include "tests/reference/reference_pipeline_core.h"
#include "traces/format/program/code_level.h"

namespace heddle::replay {
namespace {

std::string Describe(ReferenceLaunchRun& launch) {
  std::string where;
  launch.cores().ForEach([&](const ReferenceSm& core) { where += core.Describe(); });
  return where;
}

bool RecordsUniformValues(const trace::v1::KernelProgram& program) {
  return std::ranges::any_of(program.instruction(), [](const trace::v1::Instruction& instruction) {
    return std::ranges::any_of(instruction.operand(), [](const trace::v1::Operand& operand) {
      return operand.kind() == trace::v1::Operand::UNIFORM && !operand.constant();
    });
  });
}

struct Residency {
  uint64_t blocks = 0;
  std::string limit;
};

uint64_t RegistersPerThread(const trace::LaunchView& launch) {
  const trace::v1::KernelProgram& program = launch.program->proto();
  return program.registers_requested() != 0 ? program.registers_requested() : program.register_count();
}

// Bytes of shared memory that a block takes.
uint64_t SharedBytes(const machine::v1::Machine& machine, const trace::LaunchView& launch) {
  return uint64_t{launch.program->proto().static_shared_bytes()} + launch.launch.dynamic_shared_bytes() +
         machine.core().shared_bytes_per_block();
}

// The scarcest resource decides.
Residency ComputeResidency(const machine::v1::Machine& machine, const trace::LaunchView& launch,
                           uint64_t registers_per_thread, bool whole_grid = true) {
  const machine::v1::Core& core = machine.core();
  const uint64_t warp = core.warp_size();
  const uint64_t threads = (launch.threads_per_block + warp - 1) / warp * warp;
  const uint64_t registers = threads * ((registers_per_thread + 3) / 4 * 4);
  const uint64_t shared = SharedBytes(machine, launch);
  Residency residency{core.max_threads() / threads, "threads"};
  if (core.thesis().blocks_on_one_scheduler()) {
    residency.blocks = core.max_threads() / core.schedulers() / threads * core.schedulers();
  }
  const auto limit = [&](uint64_t blocks, const char* name) {
    if (blocks < residency.blocks) residency = {blocks, name};
  };
  limit(core.max_blocks(), "blocks");
  if (registers != 0 && core.registers() != 0) limit(core.registers() / registers, "registers");
  if (shared != 0) limit(core.shared_memory_bytes() / shared, "shared_memory");
  const uint64_t recorded = launch.totals.blocks();
  if (whole_grid && machine.dispatch().spread_small_grids() && recorded < residency.blocks * machine.sms()) {
    limit((recorded + machine.sms() - 1) / machine.sms(), "grid");
  }
  return residency;
}

// Lines of a set of the L1: of the storage that it shares, what the smallest shared memory leaves that is large enough,
// in whole ways. Blocks count as an SM holds them, whether or not the grid has as many.
uint32_t WaysOfL1(const machine::v1::Machine& machine, const trace::LaunchView& launch, uint64_t registers) {
  const machine::v1::Hierarchy& memory = machine.memory().hierarchy();
  const uint64_t way = uint64_t{memory.l1_data().sets()} * memory.l1_data().line_bytes();
  if (memory.l1_split().bytes() == 0 || way == 0) return memory.l1_data().ways();
  const uint64_t needed =
      SharedBytes(machine, launch) * ComputeResidency(machine, launch, registers, /*whole_grid=*/false).blocks;
  uint64_t left = 0;
  for (const uint64_t shared : memory.l1_split().shared_bytes()) {
    if (shared >= needed) left = std::max(left, memory.l1_split().bytes() - shared);
  }
  uint32_t ways = 0;
  while (ways < memory.l1_data().ways() && (ways + 1) * way <= left) ++ways;
  return ways;
}

}  // namespace

ReferenceDispatch::ReferenceDispatch(const CheckedConfiguration& policies, DispatchContext context, int capacity,
                                     Cycle begin, bool beside, Cores& cores, SharedState& shared,
                                     uint32_t blocks_per_cycle)
    : blocks_(context.blocks),
      capacity_(capacity),
      blocks_per_cycle_(blocks_per_cycle),
      cores_(cores),
      due_(begin),
      open_(cores.size(), !beside) {
  context.clock = &clock_;
  context.control = this;
  context.shared = MachineShared(shared);
  dispatcher_ = policies.dispatch.entry->make(context, policies.dispatch.parameters);
  shared.EndOfDispatchersFactory();
  if (begin == 0 && !beside) Round(0);
}

bool ReferenceDispatch::AnyRoom() const {
  for (size_t sm = 0; sm < cores_.size(); ++sm) {
    const ReferenceSm* const core = cores_.Find(sm);
    if (open_[sm] && (core == nullptr || core->resident() < capacity_)) return true;
  }
  return false;
}

void ReferenceDispatch::Retired(uint32_t sm, uint64_t block) {
  retired_now_ = true;
  ++retired_;
  dispatcher_->Retired(sm, block);
}

// A round is behind every cycle in which a block retired, and where the dispatcher has asked for one; but only if it
// watches SMs or could give a block, and never behind the last block.
void ReferenceDispatch::EndCycle(Cycle first) {
  const bool reason = retired_now_ || opened_now_ || due_ <= first;
  retired_now_ = false;
  opened_now_ = false;
  if (!reason || retired_ == blocks_) return;
  if (!dispatcher_->watches_sms() && (dispatcher_->done() || !AnyRoom())) return;
  Round(first);
}

void ReferenceDispatch::Round(Cycle first) {
  first_ = first;
  dispatcher_->BeginRound(first);
  const auto accepted = std::make_unique<bool[]>(cores_.size());
  uint32_t started = 0;
  const auto full = [&] { return blocks_per_cycle_ != 0 && started == blocks_per_cycle_; };
  while (!dispatcher_->done() && AnyRoom() && !full()) {
    std::vector<SmOccupancy> occupancy;
    for (size_t sm = 0; sm < cores_.size(); ++sm) {
      const ReferenceSm* const core = cores_.Find(sm);
      occupancy.push_back({core == nullptr ? 0 : core->resident(), open_[sm] ? capacity_ : 0});
    }
    const std::optional<Assignment> next =
        dispatcher_->Next(occupancy, std::span<const bool>(accepted.get(), cores_.size()));
    if (!next.has_value()) break;
    accepted[next->sm] = true;
    ++started;
    ++sent_;
    first_block_ = std::min(first_block_, first);
    cores_.At(next->sm).Admit(first, next->block, next->place);
  }
  const Cycle next = dispatcher_->NextFirst();
  if (next > first && !(full() && !dispatcher_->done() && AnyRoom())) {
    due_ = next;
  } else {
    due_ = !dispatcher_->done() && AnyRoom() ? first + 1 : kNever;
  }
  if (assigned_ || !dispatcher_->done()) return;
  assigned_ = true;
  cores_.ForEach([](ReferenceSm& core) { core.GridAssigned(); });
}

absl::StatusOr<std::unique_ptr<ReferenceLaunchRun>> ReferenceLaunchRun::Make(const ReferenceSetup& setup,
                                                                             const trace::LaunchView& view,
                                                                             SharedState& shared,
                                                                             const ReferencePlace& place) {
  auto blocks = ExpandWalk(setup.reader, view);
  if (!blocks.ok()) return blocks.status();
  std::unique_ptr<ReferenceLaunchRun> run(new ReferenceLaunchRun(setup, view, *std::move(blocks)));
  const machine::v1::Machine& machine = setup.machine;
  run->registers_ = RegistersPerThread(view);
  const Residency residency = ComputeResidency(machine, view, run->registers_);
  if (residency.blocks == 0) return absl::FailedPreconditionError("a block does not fit: " + residency.limit);
  run->residency_ = residency.blocks;
  run->limit_ = residency.limit;
  run->place_ = place;

  ReferenceLaunch& launch = run->launch_;
  launch.reader = &setup.reader;
  launch.view = &view;
  launch.program = run->predicated_.has_value() ? &run->predicated_->program : view.program;
  launch.machine = &machine;
  launch.blocks = &run->blocks_;
  launch.policies = &setup.policies;
  launch.memory = &setup.memory;
  launch.shared = &shared;
  launch.observer = setup.observer;
  launch.launch = view.launch.id();
  run->warp_progress_ = std::make_unique<ReferenceWarpProgress>(run->blocks_.size(), residency.blocks * machine.sms(),
                                                                machine.core().warp_size(), launch.KeepsWarps());
  launch.warp_progress = run->warp_progress_.get();
  launch.l1_ways = WaysOfL1(machine, view, run->registers_);
  if (!place.beside) setup.memory.BeginLaunch(launch.l1_ways);
  shared.BeginLaunch();
  // An SM, and with it its policies, is made when it gets its first block of the launch.
  const bool buffers = machine.core().front_end() == machine::v1::Core::IBUFFER;
  run->cores_ = std::make_unique<Cores>(
      machine.sms(),
      [&launch, &machine, &setup_memory = setup.memory, place, buffers,
       capacity = static_cast<int>(residency.blocks)](uint32_t sm) -> std::unique_ptr<ReferenceSm> {
        if (place.beside) setup_memory.MakeFor(place.number, launch.l1_ways);
        if (buffers) return std::make_unique<ReferenceBufferCore>(launch, sm, capacity);
        if (machine.memory().has_hierarchy()) return std::make_unique<ReferencePipelineCore>(launch, sm, capacity);
        return std::make_unique<ReferenceCore>(launch, sm, capacity);
      });
  DispatchContext context;
  context.blocks = run->blocks_.size();
  context.sms = machine.sms();
  const uint32_t warp = machine.core().warp_size();
  const auto hw_warps = static_cast<uint32_t>((view.threads_per_block + warp - 1) / warp);
  context.warps_per_block = hw_warps;
  context.blocks_per_sm = static_cast<uint32_t>(residency.blocks);
  for (const trace::v1::Dim3& size : {view.launch.grid(), view.launch.block()}) {
    context.extra_dimensions += static_cast<uint32_t>(size.y() > 1) + static_cast<uint32_t>(size.z() > 1);
  }
  context.data_mshrs = machine.memory().hierarchy().l1_data().mshrs();
  context.instructions = [progress = run->warp_progress_.get(), hw_warps](uint32_t sm, uint32_t hw_warp) {
    return progress->InstructionsOf({sm, hw_warp / hw_warps}, hw_warp);
  };
  // Until then the launch is set up, and nothing is dispatched.
  const Cycle begin = place.start + machine.dispatch().launch_cycles();
  run->dispatch_ =
      std::make_unique<ReferenceDispatch>(setup.policies, context, static_cast<int>(residency.blocks), begin,
                                          place.beside, *run->cores_, shared, machine.dispatch().blocks_per_cycle());
  return run;
}

void ReferenceLaunchRun::Drop(size_t sm) {
  if (const ReferenceSm* const core = cores_->Find(sm); core != nullptr) core->AddStatistics(statistics_);
  cores_->Drop(sm);
}

result::v1::LaunchResult ReferenceLaunchRun::Result(Cycle cycles) {
  cores_->ForEach([&](ReferenceSm& core) { core.AddStatistics(statistics_); });
  statistics_.cycles = cycles;
  const machine::v1::Machine& machine = setup_.machine;
  result::v1::LaunchResult out;
  out.set_launch(view_.launch.id());
  out.set_kernel(view_.program->name());
  if (std::string code = trace::CodeInWords(view_.program->proto()); !code.empty()) out.set_code(std::move(code));
  FillResult(statistics_, static_cast<int>(machine.core().warp_size()), out);
  if (RecordsUniformValues(view_.program->proto())) FillUniformValues(statistics_, out);
  if (machine.core().front_end() == machine::v1::Core::IBUFFER) FillBufferResult(statistics_, out);
  for (const auto& [name, value] : statistics_.memory_counters) (*out.mutable_memory_counter())[name] = value;
  const std::span<const uint64_t> counted = dispatch_->dispatcher().counters();
  const std::vector<CounterSpec>& declared = setup_.policies.dispatch.info().counters;
  for (size_t i = 0; i < declared.size(); ++i) {
    (*out.mutable_dispatch_counter())[declared[i].name] = counted[i];
  }
  if (predicated_.has_value()) out.set_predicated_off(statistics_.predicated_off);
  warp_progress_->Fill(*out.mutable_warp_progress());
  if (place_.beside) {  // they tell the blocks of full machines from the last ones
    out.mutable_warp_progress()->clear_dwr();
    out.mutable_warp_progress()->clear_dws();
  }
  out.set_blocks(blocks_.size());
  out.set_threads(blocks_.size() * view_.threads_per_block);
  out.set_blocks_per_sm(residency_);
  out.set_residency_limit(limit_);
  out.set_registers_per_thread(registers_);
  out.set_blocks_per_sm_fewer_registers(ComputeResidency(machine, view_, registers_ < 8 ? 0 : registers_ - 8).blocks);
  out.set_blocks_per_sm_more_registers(ComputeResidency(machine, view_, registers_ + 8).blocks);
  return out;
}

SharedState SharedOf(const ReferenceSetup& setup) {
  const machine::v1::Core& core = setup.machine.core();
  return SharedState({.warp_size = static_cast<int>(core.warp_size()),
                      .max_threads = static_cast<int>(core.max_threads()),
                      .ports = static_cast<int>(core.schedulers()),
                      .sms = setup.machine.sms()},
                     /*in_order=*/StateOutlivesLaunch(setup.policies));
}

absl::StatusOr<Cycle> RunAlone(const ReferenceSetup& setup, ReferenceLaunchRun& launch) {
  NoWaker waker;
  Cores& cores = launch.cores();
  ReferenceDispatch& dispatch = launch.dispatch();
  Cycle end = 0;
  const Cycle first = setup.machine.dispatch().launch_cycles();
  for (Cycle now = 0;; ++now) {
    bool stuck = true;
    dispatch.BeginCycle(now);
    setup.memory.Advance(now, waker);
    for (uint32_t sm = 0; sm < setup.machine.sms(); ++sm) {
      ReferenceSm* const core = cores.Find(sm);
      if (core == nullptr) continue;
      core->RunCycle(now, [&](uint64_t block) {
        end = core->EndOf(now);
        dispatch.Retired(sm, block);
      });
      if (!core->status().ok()) return core->status();
      stuck &= core->resident() == 0 || core->Stuck();
    }
    if (launch.AllRetired()) {
      // The launch ends when the memory has nothing under way any more.
      end = std::max(end, now);
      bool drained = setup.memory.drained();
      cores.ForEach([&](const ReferenceSm& core) { drained &= core.Drained(); });
      if (drained) return end;
      continue;
    }
    dispatch.EndCycle(now + 1);
    if (now + 1 <= first) continue;  // an SM is stuck when nothing moves in a cycle that it has had
    cores.ForEach([&](const ReferenceSm& core) { stuck &= core.resident() == 0 || core.Stuck(); });
    if ((stuck && !dispatch.Waits(now + 1)) || now > kMostCycles) {
      return absl::InternalError("deadlock in cycle " + std::to_string(now) + ": " + Describe(launch));
    }
  }
}

}  // namespace heddle::replay
