#include "tests/reference/reference_engine.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "replay/memory/make_memory_system.h"
#include "replay/memory/ports/address_windows.h"
#include "replay/seams/block_dispatcher.h"
#include "tests/reference/reference_core.h"
#include "tests/reference/reference_ibuffer_core.h"
#include "tests/reference/reference_pipeline_core.h"
#include "traces/format/program/code_level.h"
#include "traces/format/program/predication.h"

namespace heddle::replay {
namespace {

constexpr Cycle kMostCycles = 50'000'000;

// The reference looks at every cycle anyway.
struct NoWaker final : SmWaker {
  void WakeSm(uint32_t /*sm*/) override {}
};

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

// The SMs of a launch, each made when it gets its first block.
class Cores {
 public:
  Cores(uint32_t sms, std::function<std::unique_ptr<ReferenceSm>(uint32_t)> make)
      : make_(std::move(make)), by_number_(sms) {}

  size_t size() const { return by_number_.size(); }
  // Null if it has had no block.
  ReferenceSm* Find(size_t sm) const { return by_number_[sm].get(); }
  ReferenceSm& At(uint32_t sm) {
    if (by_number_[sm] == nullptr) by_number_[sm] = make_(sm);
    return *by_number_[sm];
  }
  // Calls `visit` with each that is there, by number.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const auto& core : by_number_) {
      if (core != nullptr) visit(*core);
    }
  }

 private:
  const std::function<std::unique_ptr<ReferenceSm>(uint32_t)> make_;
  std::vector<std::unique_ptr<ReferenceSm>> by_number_;
};

// --- dispatch

// docs/reference/timing.md, section 2, "Rounds of dispatch", looked at in every cycle. Dispatchers of whole blocks
// only.
class ReferenceDispatch final : public SmControl {
 public:
  // An SM holds up to `capacity` blocks; the first round is that before cycle `begin`. `cores` must outlive the object.
  ReferenceDispatch(const CheckedConfiguration& policies, DispatchContext context, int capacity, Cycle begin,
                    Cores& cores, SharedState& shared);

  void BeginCycle(Cycle now) { clock_ = now; }
  // All SMs have run every cycle before `first`, the one before it last. Nothing has been dispatched behind it.
  void EndCycle(Cycle first);
  void Retired(uint32_t sm, uint64_t block);
  BlockDispatcher& dispatcher() { return *dispatcher_; }
  uint64_t retired() const { return retired_; }
  // Whether it wants a round later, whatever ends until then.
  bool Waits(Cycle first) const { return due_ != kNever && due_ > first; }

  // An SM that has not had a block yet has done nothing.
  SmActivity Activity(uint32_t sm) override {
    return cores_.Find(sm) == nullptr ? SmActivity() : cores_.At(sm).activity();
  }
  SmWarps Warps(uint32_t sm) override { return cores_.Find(sm) == nullptr ? SmWarps() : cores_.At(sm).CountWarps(); }
  SmMemoryLoad MemoryLoad(uint32_t sm) override {
    return cores_.Find(sm) == nullptr ? SmMemoryLoad() : cores_.At(sm).MemoryLoad();
  }
  uint32_t FirstHwWarp(uint32_t sm, uint64_t block) override { return cores_.At(sm).FirstHwWarpOf(block); }
  void Pause(uint32_t sm, uint64_t block) override { cores_.At(sm).SetPaused(first_, block, true); }
  void Resume(uint32_t sm, uint64_t block) override { cores_.At(sm).SetPaused(first_, block, false); }

 private:
  bool AnyRoom() const;
  void Round(Cycle first);

  const uint64_t blocks_;
  const int capacity_;
  Cores& cores_;
  Cycle clock_ = 0;
  Cycle first_ = 0;
  std::unique_ptr<BlockDispatcher> dispatcher_;
  Cycle due_;
  bool retired_now_ = false;
  bool assigned_ = false;
  uint64_t retired_ = 0;
};

ReferenceDispatch::ReferenceDispatch(const CheckedConfiguration& policies, DispatchContext context, int capacity,
                                     Cycle begin, Cores& cores, SharedState& shared)
    : blocks_(context.blocks), capacity_(capacity), cores_(cores), due_(begin) {
  context.clock = &clock_;
  context.control = this;
  context.shared = MachineShared(shared);
  dispatcher_ = policies.dispatch.entry->make(context, policies.dispatch.parameters);
  shared.EndOfDispatchersFactory();
  if (begin == 0) Round(0);
}

bool ReferenceDispatch::AnyRoom() const {
  for (size_t sm = 0; sm < cores_.size(); ++sm) {
    const ReferenceSm* const core = cores_.Find(sm);
    if (core == nullptr || core->resident() < capacity_) return true;
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
  const bool reason = retired_now_ || due_ <= first;
  retired_now_ = false;
  if (!reason || retired_ == blocks_) return;
  if (!dispatcher_->watches_sms() && (dispatcher_->done() || !AnyRoom())) return;
  Round(first);
}

void ReferenceDispatch::Round(Cycle first) {
  first_ = first;
  dispatcher_->BeginRound(first);
  const auto accepted = std::make_unique<bool[]>(cores_.size());
  while (!dispatcher_->done() && AnyRoom()) {
    std::vector<SmOccupancy> occupancy;
    for (size_t sm = 0; sm < cores_.size(); ++sm) {
      const ReferenceSm* const core = cores_.Find(sm);
      occupancy.push_back({core == nullptr ? 0 : core->resident(), capacity_});
    }
    const std::optional<Assignment> next =
        dispatcher_->Next(occupancy, std::span<const bool>(accepted.get(), cores_.size()));
    if (!next.has_value()) break;
    accepted[next->sm] = true;
    cores_.At(next->sm).Admit(first, next->block, next->place);
  }
  const Cycle next = dispatcher_->NextFirst();
  if (next > first) {
    due_ = next;
  } else {
    due_ = !dispatcher_->done() && AnyRoom() ? first + 1 : kNever;
  }
  if (assigned_ || !dispatcher_->done()) return;
  assigned_ = true;
  cores_.ForEach([](ReferenceSm& core) { core.GridAssigned(); });
}

}  // namespace

absl::StatusOr<ReferenceResult> ReplayByReference(const trace::TraceReader& reader, const Configuration& configuration,
                                                  const machine::v1::Machine& machine, IssueObserver* observer,
                                                  const ReferenceOptions& options) {
  const absl::StatusOr<CheckedConfiguration> policies = CheckConfiguration(configuration);
  if (!policies.ok()) return policies.status();
  const bool buffers = machine.core().front_end() == machine::v1::Core::IBUFFER;
  std::unique_ptr<MemorySystem> own_memory;
  if (options.memory == nullptr) {
    auto made = MakeMemorySystem(machine, AddressWindows(reader.header()), /*seed=*/0, /*force_tick=*/false);
    if (!made.ok()) return made.status();
    own_memory = *std::move(made);
  }
  MemorySystem* const memory = options.memory == nullptr ? own_memory.get() : options.memory;

  SharedState shared({.warp_size = static_cast<int>(machine.core().warp_size()),
                      .max_threads = static_cast<int>(machine.core().max_threads()),
                      .ports = static_cast<int>(machine.core().schedulers()),
                      .sms = machine.sms()},
                     /*in_order=*/StateOutlivesLaunch(*policies));
  ReferenceResult result;
  for (const trace::LaunchView& view : reader.launches()) {
    if (!view.launch.recorded()) continue;
    const auto blocks = ExpandWalk(reader, view);
    if (!blocks.ok()) return blocks.status();
    const uint64_t registers = RegistersPerThread(view);
    const Residency residency = ComputeResidency(machine, view, registers);
    if (residency.blocks == 0) return absl::FailedPreconditionError("a block does not fit: " + residency.limit);

    ReferenceLaunch launch;
    launch.reader = &reader;
    launch.view = &view;
    const std::optional<trace::PredicatedProgram> predicated = trace::Predicate(*view.program);
    launch.program = predicated.has_value() ? &predicated->program : view.program;
    launch.machine = &machine;
    launch.blocks = &*blocks;
    launch.policies = &*policies;
    launch.memory = memory;
    launch.shared = &shared;
    launch.observer = observer;
    launch.launch = view.launch.id();
    ReferenceWarpProgress warp_progress(blocks->size(), residency.blocks * machine.sms(), machine.core().warp_size(),
                                        launch.KeepsWarps());
    launch.warp_progress = &warp_progress;
    launch.l1_ways = WaysOfL1(machine, view, registers);
    memory->BeginLaunch(launch.l1_ways);
    NoWaker waker;
    shared.BeginLaunch();
    // An SM, and with it its policies, is made when it gets its first block of the launch.
    Cores cores(machine.sms(), [&](uint32_t sm) -> std::unique_ptr<ReferenceSm> {
      const int capacity = static_cast<int>(residency.blocks);
      if (buffers) return std::make_unique<ReferenceBufferCore>(launch, sm, capacity);
      if (machine.memory().has_hierarchy()) return std::make_unique<ReferencePipelineCore>(launch, sm, capacity);
      return std::make_unique<ReferenceCore>(launch, sm, capacity);
    });
    DispatchContext dispatch_context;
    dispatch_context.blocks = blocks->size();
    dispatch_context.sms = machine.sms();
    const uint32_t warp = machine.core().warp_size();
    const auto hw_warps = static_cast<uint32_t>((view.threads_per_block + warp - 1) / warp);
    dispatch_context.warps_per_block = hw_warps;
    dispatch_context.blocks_per_sm = static_cast<uint32_t>(residency.blocks);
    for (const trace::v1::Dim3& size : {view.launch.grid(), view.launch.block()}) {
      dispatch_context.extra_dimensions += static_cast<uint32_t>(size.y() > 1) + static_cast<uint32_t>(size.z() > 1);
    }
    dispatch_context.data_mshrs = machine.memory().hierarchy().l1_data().mshrs();
    dispatch_context.instructions = [&warp_progress, hw_warps](uint32_t sm, uint32_t hw_warp) {
      return warp_progress.InstructionsOf({sm, hw_warp / hw_warps}, hw_warp);
    };
    ReferenceStatistics statistics;
    // Until then the launch is set up, and nothing is dispatched.
    const Cycle first = machine.dispatch().launch_cycles();
    ReferenceDispatch dispatch(*policies, dispatch_context, static_cast<int>(residency.blocks), first, cores, shared);
    for (Cycle now = 0;; ++now) {
      bool stuck = true;
      dispatch.BeginCycle(now);
      memory->Advance(now, waker);
      for (uint32_t sm = 0; sm < machine.sms(); ++sm) {
        ReferenceSm* const core = cores.Find(sm);
        if (core == nullptr) continue;
        core->RunCycle(now, [&](uint64_t block) {
          statistics.cycles = core->EndOf(now);
          dispatch.Retired(sm, block);
        });
        if (!core->status().ok()) return core->status();
        stuck &= core->resident() == 0 || core->Stuck();
      }
      if (dispatch.retired() == blocks->size()) {
        // The launch ends when the memory has nothing under way any more.
        statistics.cycles = std::max(statistics.cycles, now);
        bool drained = memory->drained();
        cores.ForEach([&](const ReferenceSm& core) { drained &= core.Drained(); });
        if (drained) break;
        continue;
      }
      dispatch.EndCycle(now + 1);
      if (now + 1 <= first) continue;  // an SM is stuck when nothing moves in a cycle that it has had
      cores.ForEach([&](const ReferenceSm& core) { stuck &= core.resident() == 0 || core.Stuck(); });
      if ((stuck && !dispatch.Waits(now + 1)) || now > kMostCycles) {
        std::string where;
        cores.ForEach([&](const ReferenceSm& core) { where += core.Describe(); });
        return absl::InternalError("deadlock in cycle " + std::to_string(now) + ": " + where);
      }
    }
    cores.ForEach([&](ReferenceSm& core) { core.AddStatistics(statistics); });

    result::v1::LaunchResult& out = result.launches.emplace_back();
    out.set_launch(view.launch.id());
    out.set_kernel(view.program->name());
    if (std::string code = trace::CodeInWords(view.program->proto()); !code.empty()) out.set_code(std::move(code));
    FillResult(statistics, static_cast<int>(machine.core().warp_size()), out);
    if (RecordsUniformValues(view.program->proto())) FillUniformValues(statistics, out);
    if (buffers) FillBufferResult(statistics, out);
    for (const auto& [name, value] : statistics.memory_counters) (*out.mutable_memory_counter())[name] = value;
    if (options.memory == nullptr && machine.memory().has_hierarchy()) {
      if (const absl::Status ended = memory->EndLaunch(statistics.cycles, out); !ended.ok()) return ended;
    }
    const std::span<const uint64_t> counted = dispatch.dispatcher().counters();
    const std::vector<CounterSpec>& declared = policies->dispatch.info().counters;
    for (size_t i = 0; i < declared.size(); ++i) {
      (*out.mutable_dispatch_counter())[declared[i].name] = counted[i];
    }
    if (predicated.has_value()) out.set_predicated_off(statistics.predicated_off);
    warp_progress.Fill(*out.mutable_warp_progress());
    out.set_blocks(blocks->size());
    out.set_threads(blocks->size() * view.threads_per_block);
    out.set_blocks_per_sm(residency.blocks);
    out.set_residency_limit(residency.limit);
    out.set_registers_per_thread(registers);
    out.set_blocks_per_sm_fewer_registers(ComputeResidency(machine, view, registers < 8 ? 0 : registers - 8).blocks);
    out.set_blocks_per_sm_more_registers(ComputeResidency(machine, view, registers + 8).blocks);
  }
  result.total = TotalOf(result.launches, static_cast<int>(machine.core().warp_size()));
  return result;
}

}  // namespace heddle::replay
